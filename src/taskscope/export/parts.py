"""A recording as named tables of plain columns, and back: what a ``.taskscope`` file holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import GraphColumns, RowBlock, narrow_sizes
from taskscope.model.keys import KeyBlock
from taskscope.model.recording import Recording
from taskscope.model.records import Group, GroupTotal, Lane, Message, Run

__all__ = ["Part", "from_parts", "header", "to_parts"]

Part: TypeAlias = Mapping[str, "NDArray[Any] | list[str]"]

_ROW_COLUMNS = ("task", "start", "duration", "cpu", "lane", "flags")
_RECORDS = {
    "runs": Run,
    "groups": Group,
    "lanes": Lane,
    "messages": Message,
    "totals": GroupTotal,
}


def header(recording: Recording) -> dict[str, object]:
    """Return everything that is no large column, ready for JSON."""
    records = {name: [asdict(record) for record in getattr(recording, name)] for name in _RECORDS}
    return {
        "started_at": recording.started_at.isoformat(),
        "zero_s": recording.zero_s,
        "now_s": recording.now_s,
        "dropped": recording.dropped,
        "metadata": dict(recording.metadata),
        "graph_zeros": {str(run): graph.enter_zero for run, graph in recording.graphs.items()},
        "graph_errors": {str(run): graph.errors for run, graph in recording.graphs.items()},
        **records,
    }


def to_parts(recording: Recording) -> dict[str, Part]:
    """Return the large columns as tables."""
    blocks, graphs = recording.blocks, recording.graphs
    rows = {name: _join([getattr(b, name) for b in blocks]) for name in _ROW_COLUMNS}
    rows["run"] = _join([np.full(len(b), b.run, np.int32) for b in blocks])
    rows["size"] = _join([b.sizes() for b in blocks])
    return {
        "rows": rows,
        "keys": {
            "run": _repeat({run: len(g.group) for run, g in graphs.items()}),
            "group": _join([g.group for g in graphs.values()]),
            "dims": _join([g.keys.dims for g in graphs.values()]),
            "n_dependencies": _join([g.n_dependencies.astype(np.uint32) for g in graphs.values()]),
            "enter": _join([g.enter_times() for g in graphs.values()]),
            "value": _join([_values(g) for g in graphs.values()]),
        },
        "key_ints": _ragged({run: g.keys.ints for run, g in graphs.items()}),
        "key_texts": {
            "run": _repeat({run: len(g.keys.texts) for run, g in graphs.items()}),
            "value": [text for g in graphs.values() for text in g.keys.texts],
        },
        "edges": _ragged({run: g.edges for run, g in graphs.items()}),
        "kept": _ragged({run: g.kept for run, g in graphs.items()}),
        "data": _ragged({run: g.data for run, g in graphs.items()})
        | {"size": _join([g.data_sizes for g in graphs.values()])},
        "resources": {str(i): recording.resources[:, i].copy() for i in range(recording.resources.shape[1])},
    }


def from_parts(head: Mapping[str, Any], parts: Mapping[str, Mapping[str, Any]]) -> Recording:
    """Return the recording that `header` and `to_parts` were taken from."""
    records = {name: tuple(kind(**row) for row in head[name]) for name, kind in _RECORDS.items()}
    resources = parts["resources"]
    return Recording(
        started_at=datetime.fromisoformat(head["started_at"]),
        zero_s=float(head["zero_s"]),
        blocks=tuple(_block(int(run), parts["rows"]) for run in np.unique(parts["rows"]["run"])),
        graphs={int(run): _graph(int(run), head, parts) for run in head["graph_zeros"]},
        resources=np.column_stack([resources[str(i)] for i in range(len(resources))]),
        now_s=float(head["now_s"]),
        dropped=int(head["dropped"]),
        metadata=dict(head["metadata"]),
        **records,
    )


def _block(run: int, rows: Mapping[str, NDArray[Any]]) -> RowBlock:
    mine = rows["run"] == run
    columns = {name: rows[name][mine] for name in _ROW_COLUMNS}
    return RowBlock(run=run, size=narrow_sizes(rows["size"][mine]), **columns)


def _graph(run: int, head: Mapping[str, Any], parts: Mapping[str, Mapping[str, Any]]) -> GraphColumns:
    def of(part: str, column: str = "value") -> NDArray[Any]:
        mine: NDArray[Any] = np.asarray(parts[part][column])[np.asarray(parts[part]["run"]) == run]
        return mine

    texts = tuple(str(text) for text in of("key_texts"))
    values = of("keys", "value")
    return GraphColumns(
        keys=KeyBlock(of("keys", "dims"), of("key_ints"), texts),
        group=of("keys", "group"),
        n_dependencies=of("keys", "n_dependencies"),
        edges=of("edges"),
        enter=of("keys", "enter"),
        enter_zero=float(head["graph_zeros"][str(run)]),
        kept=of("kept"),
        data=of("data"),
        data_sizes=of("data", "size"),
        values=None if np.isnan(values).all() else values,
        errors={int(task): text for task, text in head["graph_errors"][str(run)].items()},
    )


def _values(graph: GraphColumns) -> NDArray[np.floating[Any]]:
    return np.full(len(graph.group), np.nan, np.float32) if graph.values is None else graph.values


def _join(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0)


def _repeat(lengths: Mapping[int, int]) -> NDArray[np.int32]:
    return np.repeat(np.array(list(lengths), np.int32), list(lengths.values()))


def _ragged(arrays: Mapping[int, NDArray[Any]]) -> dict[str, NDArray[Any] | list[str]]:
    return {"run": _repeat({run: len(a) for run, a in arrays.items()}), "value": _join(list(arrays.values()))}
