"""A recording put together from the frames of a file, complete or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import DamagedFileError
from taskscope.export.activities import ActivityParts, check_activities, transfers_of
from taskscope.export.checks import (
    check_columns,
    check_metadata,
    check_record,
    check_recording,
    require,
    seconds,
    whole_number,
)
from taskscope.export.grown import GrownGraphs, rows_in_flight
from taskscope.export.holdings import check_holdings, holdings_of
from taskscope.export.pack import keys_of, unpack, unpack_json
from taskscope.export.schema import GRAPH, KEYS, RECORDS, ROWS, SAMPLES
from taskscope.export.stacks import StackParts
from taskscope.export.streamed import StreamedTasks
from taskscope.model.columns import GraphColumns, RowBlock
from taskscope.model.recording import RecordedData
from taskscope.model.records import Message, Run
from taskscope.model.resources import ResourceRows

__all__ = ["Assembly"]

_Columns = Mapping[str, NDArray[Any]]


class Assembly:
    """Takes frames in order, and gives the recording of as many as came."""

    def __init__(self) -> None:
        self._head: dict[str, Any] | None = None
        self._last: dict[str, Any] | None = None
        self._now_s = 0.0
        self._records: dict[str, list[Any]] = {table: [] for table in RECORDS}
        self._graphs: dict[int, list[tuple[dict[str, Any], _Columns]]] = defaultdict(list)
        self._blocks: list[RowBlock] = []
        self._streamed = StreamedTasks()
        self._grown = GrownGraphs()
        self._running: object = []
        self._samples: list[_Columns] = []
        self._holdings: list[bytes] = []
        self._stacks = StackParts()
        self._activities = ActivityParts()

    @property
    def begun(self) -> bool:
        """Whether the frame that everything else needs has come."""
        return self._head is not None

    def add(self, kind: str, content: bytes) -> None:
        """Take the next frame.

        Raises
        ------
        DamagedFileError
            If it is none that this version knows, or contradicts itself.
        """
        take: dict[str, Callable[[bytes], None]] = {
            "RECS": self._add_records,
            "GRPH": self._add_graph,
            "ROWS": self._add_rows,
            "TASK": self._streamed.add,
            "PART": self._grown.add,
            "LAND": self._grown.land,
            "SMPL": self._add_samples,
            "HOLD": self._holdings.append,
            "STCK": self._stacks.add,
            "STKP": self._stacks.add_part,
            "ACTV": self._activities.add,
            "ACTP": self._activities.add_part,
            "ACTB": self._activities.add_sizes,
            "TICK": self._add_tick,
            "LAST": self._add_last,
        }
        if not self.begun:
            require(kind == "HEAD", "a file begins with its head")
            self._head = _checked_head(unpack_json(content))
            self._now_s = self._head["zero_s"]
            return
        require(kind in take, f"a part of kind {kind!r} is not known")
        take[kind](content)

    def _add_records(self, content: bytes) -> None:
        value = unpack_json(content)
        table, rows = value.get("table"), value.get("rows")
        require(isinstance(table, str) and isinstance(rows, list), "a table has a name and rows")
        assert isinstance(table, str)
        assert isinstance(rows, list)
        found = [check_record(table, row) for row in rows]
        if table == "messages":
            self._records[table].clear()
        self._records[table].extend(found)

    def _add_graph(self, content: bytes) -> None:
        head, columns = unpack(content, GRAPH)
        self._graphs[whole_number(head.get("run"), "the number of a run")].append((head, columns))

    def _add_rows(self, content: bytes) -> None:
        head, columns = unpack(content, ROWS)
        require(columns.keys() == ROWS.keys(), "tasks have all columns")
        require(len({len(c) for c in columns.values()}) == 1, "columns of tasks must be equally long")
        check_columns(RowBlock, columns)
        self._blocks.append(RowBlock(whole_number(head.get("run"), "the number of a run"), **columns))

    def _add_samples(self, content: bytes) -> None:
        _, columns = unpack(content, SAMPLES)
        self._samples.append(columns)

    def _add_tick(self, content: bytes) -> None:
        value = unpack_json(content)
        self._now_s = seconds(value.get("now_s"), "now_s")
        if self._names_its_keys:
            self._streamed.set_running(value.get("running"))
        else:
            self._running = value.get("running")

    def _add_last(self, content: bytes) -> None:
        self._last = unpack_json(content)
        self._now_s = seconds(self._last.get("now_s"), "now_s")

    def recording(self, problem: str | None) -> RecordedData:
        """Return what has come; `problem` says why that is not all.

        Raises
        ------
        DamagedFileError
            If it contradicts itself.
        """
        require(self._head is not None, "a file begins with its head")
        assert self._head is not None
        errors: dict[int, dict[int, str]] = defaultdict(dict)
        for row in self._records["errors"]:
            errors[row.run][row.task] = row.text
        graphs = {run: graph for run in self._graphs if (graph := self._graph(run, errors[run])) is not None}
        graphs |= self._grown.graphs(errors)
        blocks = [block for block in self._blocks if block.run in graphs]
        if problem is None:
            require(len(blocks) == len(self._blocks), "tasks have a graph")
        if problem is not None:
            # What has ended after the last look at what was in flight ended later than that.
            self._now_s = max([self._now_s, *(float((b.start + b.duration).max()) for b in blocks if len(b))])
        synthetic, streamed = self._streamed.tables(
            self._now_s, errors, {run.run for run in self._records["runs"]}
        )
        running = rows_in_flight(self._running, blocks, self._now_s)
        recording = RecordedData(
            started_at=datetime.fromisoformat(self._head["started_at"]),
            zero_s=self._head["zero_s"],
            runs=tuple({run.run: run for run in self._records["runs"]}.values()),
            groups=tuple(self._records["groups"]),
            lanes=tuple(self._records["lanes"]),
            blocks=(*blocks, *running, *streamed),
            graphs={**graphs, **synthetic},
            resources=_joined_samples(self._samples),
            messages=tuple(self._records["messages"]),
            totals=tuple(self._records["totals"]),
            now_s=self._now_s,
            dropped=self._dropped(blocks),
            metadata=self._head["metadata"],
            stacks=self._stacks.columns(self._records),
            activities=self._activities.columns(self._records),
            transfers=transfers_of(self._records),
            workers=tuple(self._records["workers"]),
            holdings=holdings_of(self._holdings),
            unknown=frozenset(self._head["unknown"] or ()),
        )
        check_recording(recording)
        check_activities(recording)
        check_holdings(recording)
        return recording if problem is None else self._cut_off(recording, problem)

    def _dropped(self, blocks: Sequence[RowBlock]) -> int:
        assert self._head is not None
        if self._last is not None:
            return whole_number(self._last.get("dropped"), "the number of dropped tasks")
        return max((self._head["n_rows"] or 0) - sum(map(len, blocks)), 0)

    def _graph(self, run: int, errors: dict[int, str]) -> GraphColumns | None:
        """Return the graph of a run, None where parts of it are missing."""
        head, _ = self._graphs[run][0]
        columns: dict[str, NDArray[Any]] = {}
        for name in {name for _, piece in self._graphs[run] for name in piece}:
            columns[name] = np.concatenate([piece[name] for _, piece in self._graphs[run] if name in piece])
        lengths = {name: len(values) for name, values in columns.items()}
        if lengths != head.get("lengths") or not (GRAPH.keys() - {"values", "spared"}) <= columns.keys():
            return None
        return GraphColumns(
            keys=keys_of({name: columns.pop(name) for name in KEYS}),
            enter_zero=seconds(head.get("enter_zero"), "enter_zero"),
            values=columns.pop("values", None),
            errors=errors,
            known=head.get("known") is not False,
            **columns,
        )

    def _cut_off(self, recording: RecordedData, problem: str) -> RecordedData:
        assert self._head is not None
        text = f"this file is not complete: {problem}; what follows after that is missing"
        runs, unknown = recording.runs, recording.unknown | frozenset(self._unknown(recording))
        if self._head["streamed"]:
            runs = tuple(_ended(run, recording.now_s) for run in runs)
        if self._names_its_keys:
            text += (
                ", and so are dependencies, cache, call stacks and transfers, which are written at the end"
            )
        elif unknown:
            text += f"; unknown in part or whole: {', '.join(sorted(unknown))}"
        return replace(
            recording,
            runs=runs,
            unknown=unknown,
            messages=(*recording.messages, Message(recording.now_s, "warning", text)),
            metadata={**recording.metadata, "truncated": True},
        )

    @property
    def _names_its_keys(self) -> bool:
        """Whether the file was written while recording by version 1, in which tasks named their own keys."""
        assert self._head is not None
        return bool(self._head["streamed"]) and self._head["unknown"] is None

    def _unknown(self, recording: RecordedData) -> Iterator[str]:
        """Yield the names of tables that would not be as they are if the file were complete."""
        assert self._head is not None
        graphs = recording.graphs
        lacking = any(run.n_tasks and run.run not in graphs for run in recording.runs)
        # A compute may not have counted its tasks when its first keys are written.
        if lacking or not all(graph.known for graph in graphs.values()):
            yield from ("cache", "dependencies")
        sizes = {
            "stacks": len(recording.stacks.rows),
            "activities": len(recording.activities.rows),
            "transfers": len(recording.transfers),
            "workers": len(recording.workers),
            "resources": len(recording.resources),
        }
        if self._names_its_keys or not self._head["streamed"]:
            yield from (name for name, size in sizes.items() if not size)
        elif not sizes["stacks"] and any(run.is_on_cluster for run in recording.runs):
            # A cluster's scheduler is asked for them when the block ends.
            yield "stacks"


def _ended(run: Run, now_s: float) -> Run:
    return replace(run, status="interrupted", stop_s=now_s) if run.status == "running" else run


def _checked_head(head: dict[str, Any]) -> dict[str, Any]:
    head["zero_s"] = seconds(head.get("zero_s"), "zero_s")
    check_metadata(head.get("metadata"))
    unknown = head.setdefault("unknown", None)
    if unknown is not None:
        is_list = isinstance(unknown, list) and all(isinstance(name, str) for name in unknown)
        require(is_list, "what is unknown is a list of names")
    if head.get("n_rows") is not None:
        whole_number(head["n_rows"], "n_rows")
    try:
        started_at = datetime.fromisoformat(head["started_at"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFileError(f"it does not say when it was recorded: {error}") from error
    require(started_at.tzinfo is not None, "started_at must have a time zone")
    # Any zone and any time after it can then be told.
    require(1970 < started_at.year < 3000, "started_at must be a possible date")
    return {"streamed": False, "n_rows": None, **head}


def _joined_samples(parts: Sequence[_Columns]) -> ResourceRows:
    for columns in parts:
        require(columns.keys() == SAMPLES.keys(), "samples have all columns")
        require(len({len(c) for c in columns.values()}) == 1, "columns of samples must be equally long")
    return ResourceRows.concat([ResourceRows(**columns) for columns in parts])
