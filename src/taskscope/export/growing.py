"""What a recorder has learnt of tasks and their graphs since the last time, as frames of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.redaction import Redaction
from taskscope.export.pack import keys_columns, pack
from taskscope.export.records import record_frames
from taskscope.export.schema import InFlight
from taskscope.model.columns import RowBlock
from taskscope.record.follower import Follower
from taskscope.record.writers.graph import GraphPart, Landed

__all__ = ["GrowingTasks"]

_ROWS_PER_FRAME = 10_000
_MAX_RUNNING = 200


class GrowingTasks:
    """Says each thing once, keys before whatever names them by number.

    Parameters
    ----------
    follower
        What to tell of.
    redaction
        What becomes of texts.
    """

    def __init__(self, follower: Follower, redaction: Redaction) -> None:
        self._follower = follower
        self._redaction = redaction
        self._kept: dict[int, NDArray[np.int32]] = {}
        self.in_flight: list[InFlight] = []
        """The tasks in flight when frames were last made."""

    def next(self) -> Iterator[list[tuple[str, bytes]]]:
        """Yield frames with everything that is new, in batches of bounded size."""
        yield self._batch()
        while self._follower.has_more_rows:
            yield self._batch()

    def _batch(self) -> list[tuple[str, bytes]]:
        follower = self._follower
        rows = follower.rows(_ROWS_PER_FRAME)
        landed = list(follower.landed())
        self.in_flight = list(_running(follower.in_flight(_MAX_RUNNING)))
        # Read last, for all of these name keys; written first.
        graphs = [self._graph_frame(run, part) for run, part in follower.graphs()]
        return [*graphs, *self._row_frames(rows), *map(_landed_frame, landed)]

    def _graph_frame(self, run: int, part: GraphPart) -> tuple[str, bytes]:
        columns: dict[str, NDArray[Any]] = {}
        if len(part.keys):
            columns |= keys_columns(self._redaction.keys(part.keys))
            columns |= {"group": part.group, "data": part.data, "data_sizes": part.data_sizes}
        if len(part.links.n_dependencies):
            columns |= {"n_dependencies": part.links.n_dependencies, "edges": part.links.edges}
        if part.kept is not None:
            known = self._kept.get(run, np.empty(0, np.int32))
            columns["kept"] = np.setdiff1d(part.kept, known).astype(np.int32)
            self._kept[run] = part.kept
        head = {"run": run, "start": part.start, "n_keys": part.n_keys, "settled": part.place.settled}
        return "PART", pack(head, columns)

    def _row_frames(self, rows: Sequence[tuple[RowBlock, dict[int, str]]]) -> Iterator[tuple[str, bytes]]:
        for block, errors in rows:
            yield "ROWS", pack({"run": block.run}, block.arrays())
            texts = (
                {"run": block.run, "task": t, "text": self._redaction.remark(e)} for t, e in errors.items()
            )
            yield from record_frames("errors", texts)


def _running(blocks: Sequence[RowBlock]) -> Iterator[InFlight]:
    for block in blocks:
        columns = (block.lane, block.task, block.start, block.flags)
        for lane, task, start, flags in zip(*(c[:_MAX_RUNNING].tolist() for c in columns), strict=True):
            yield block.run, lane, task, start, flags


def _landed_frame(landed: Landed) -> tuple[str, bytes]:
    columns: dict[str, NDArray[Any]] = {"task": landed.tasks}
    if landed.enter is not None:
        columns["enter"] = landed.enter
    if landed.values is not None:
        columns["values"] = landed.values
    if landed.spared is not None:
        columns["spared"] = landed.spared.astype(np.uint8)
    return "LAND", pack({"run": landed.run}, columns)
