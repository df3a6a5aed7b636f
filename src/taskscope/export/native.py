"""A whole recording in the format ``.taskscope``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, BinaryIO

from numpy.typing import NDArray

from taskscope.export.activities import activity_frames
from taskscope.export.frames import LAST, FrameWriter
from taskscope.export.holdings import holding_frames
from taskscope.export.pack import keys_columns, pack, pack_json, pieces
from taskscope.export.records import record_frames
from taskscope.export.schema import Head, Last
from taskscope.export.stacks import stack_frames
from taskscope.model.columns import GraphColumns, RowBlock
from taskscope.model.recording import RecordedData

__all__ = ["write"]

_ROWS_PER_FRAME = 65_536


def write(recording: RecordedData, file: BinaryIO) -> None:
    """Write a recording as one complete file."""
    frames = FrameWriter(file)
    for kind, content in _frames(recording):
        frames.write(kind, content)


def _frames(recording: RecordedData) -> Iterator[tuple[str, bytes]]:
    yield "HEAD", pack_json(_head(recording))
    for table in ("runs", "groups", "lanes", "messages", "totals"):
        yield from record_frames(table, map(asdict, getattr(recording, table)))
    for run, graph in recording.graphs.items():
        yield from _graph_frames(run, graph)
        yield from _row_frames([block for block in recording.blocks if block.run == run])
    for piece in pieces(recording.resources.arrays()):
        yield "SMPL", pack({}, piece)
    yield from holding_frames(recording.holdings)
    yield from stack_frames(recording.stacks)
    yield from activity_frames(recording)
    last: Last = {"now_s": recording.now_s, "dropped": recording.dropped}
    yield LAST, pack_json(last)


def _head(recording: RecordedData) -> Head:
    return {
        "started_at": recording.started_at.isoformat(),
        "zero_s": recording.zero_s,
        "metadata": dict(recording.metadata),
        "streamed": False,
        "n_rows": sum(map(len, recording.blocks)),
        "unknown": sorted(recording.unknown),
    }


def _graph_frames(run: int, graph: GraphColumns) -> Iterator[tuple[str, bytes]]:
    columns: dict[str, NDArray[Any]] = {
        "group": graph.group,
        "n_dependencies": graph.n_dependencies,
        "edges": graph.edges,
        "enter": graph.enter,
        "kept": graph.kept,
        "data": graph.data,
        "data_sizes": graph.data_sizes,
        **({} if graph.values is None else {"values": graph.values}),
        **({"spared": graph.spared} if len(graph.spared) else {}),
        **keys_columns(graph.keys),
    }
    lengths = {name: len(values) for name, values in columns.items()}
    head: dict[str, object] = {"run": run, "enter_zero": graph.enter_zero, "known": graph.known}
    for piece in pieces(columns):
        yield "GRPH", pack({**head, "lengths": lengths}, piece)
    errors = ({"run": run, "task": task, "text": text} for task, text in graph.errors.items())
    yield from record_frames("errors", errors)


def _row_frames(blocks: Sequence[RowBlock]) -> Iterator[tuple[str, bytes]]:
    for block in _joined(blocks):
        for first in range(0, len(block), _ROWS_PER_FRAME):
            rows = slice(first, first + _ROWS_PER_FRAME)
            columns = {name: values[rows] for name, values in block.arrays().items()}
            yield "ROWS", pack({"run": block.run}, columns)


def _joined(blocks: Sequence[RowBlock]) -> Iterator[RowBlock]:
    """Yield small neighbours as one block."""
    waiting: list[RowBlock] = []
    for block in blocks:
        waiting.append(block)
        if sum(map(len, waiting)) >= _ROWS_PER_FRAME:
            yield RowBlock.concat(waiting)
            waiting = []
    if waiting:
        yield RowBlock.concat(waiting)
