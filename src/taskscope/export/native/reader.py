"""A ``.taskscope`` file as it is read, complete or not: checked, and put together to a recording."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.codec import (
    Budget,
    CutOffError,
    Decoder,
    Section,
    budget_for,
    read_frames,
)
from taskscope.errors import DamagedFileError, FileError, OptionError
from taskscope.export.native.columns import (
    ByRun,
    Keys,
    as_runs,
    counts_of,
    grown,
    is_sorted,
    narrowed,
    require,
    spans_of,
    task_columns,
    whole_numbers,
)
from taskscope.model.keys import KeyBlock
from taskscope.model.recording import RecordedData
from taskscope.model.streams import FILE, RECORDS, STREAMED
from taskscope.model.tables.activities import NO_ACTIVITIES, ActivityColumns, ActivityRows, Transfer
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import (
    MEASURED,
    NEEDED,
    NOT_HELD,
    SKIPPED,
    GraphColumns,
    RowBlock,
    narrow_times,
    round_down_f4,
    stored_measures,
)
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import (
    INTERRUPTED,
    RUNNING,
    Message,
    Run,
    join_flags,
)
from taskscope.model.tables.stacks import (
    CLIENT_RUN,
    NO_STACKS,
    Function,
    LineRows,
    StackColumns,
    StackRows,
)
from taskscope.model.tables.workers import WorkerSample
from taskscope.options import checked_path
from taskscope.schema import Column, Rows, columns_of, unknown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Columns: TypeAlias = Mapping[str, Any]
_R = TypeVar("_R", bound="DataclassInstance")
_Rows = TypeVar("_Rows", bound=Rows)

_RECORD_BYTES = 400
"""About the memory of a record, and …"""

_GRAPH_BYTES = 3_000
"""… of a graph or a block, however few rows it has."""

_MOST_S = 3e9
"""95 years."""

_TABLES = {name: table for name, table in FILE.items() if name not in {"progress", "seconds"}}
"""The tables that a recording is made of; it works the others out of them."""

_PUBLIC_NAMES = {"worker_samples": "workers", "running": "tasks"}

_OF_RECORDS = {*RECORDS, "workers", "worker_samples", "functions"}


def load(path: str | PathLike[str], *, partial: bool = False, max_bytes: int | None = None) -> RecordedData:
    """Return the recording in a ``.taskscope`` file; see `taskscope.load`."""
    target = checked_path(path)
    if max_bytes is not None and (type(max_bytes) is not int or max_bytes < 1):
        raise OptionError(f"max_bytes must be a positive whole number of bytes, got {max_bytes!r:.80}")
    try:
        with target.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            budget = budget_for(size) if max_bytes is None else Budget(max_bytes)
            return read(file, budget, partial=partial)
    except DamagedFileError as error:
        raise DamagedFileError(f"cannot load {str(target)!r}: {error}") from error
    except OSError as error:
        raise FileError(f"cannot read {str(target)!r}: {error.strerror or error}") from error


def read(file: BinaryIO, budget: Budget, *, partial: bool = False) -> RecordedData:
    """Return the recording in a file; `partial`: up to where it is damaged."""
    try:
        return _read(file, budget, partial=partial)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise DamagedFileError(f"it contradicts itself: {error!r}") from error


def _read(file: BinaryIO, budget: Budget, *, partial: bool) -> RecordedData:
    decoder = Decoder(_TABLES, budget)
    tables: _Tables | None = None
    problem = None
    try:
        for _, content in read_frames(file, budget):
            if tables is None:
                tables = _Tables(_head(decoder.header(content)), budget)
            else:
                tables.add(decoder.batch(content))
    except DamagedFileError as error:
        # The file of a killed process always ends early.
        is_killed = tables is not None and tables.grows and isinstance(error, CutOffError)
        if tables is None or (tables.is_empty and not is_killed):
            raise
        if not (partial or is_killed):
            raise DamagedFileError(f"{error}; partial=True (--partial) reads the parts before it") from error
        problem = str(error)
    assert tables is not None
    return tables.recording(problem)


def _head(head: dict[str, Any]) -> dict[str, Any]:
    """Return the header with checked types."""
    zero_s = head.get("zero_s")
    try:
        started_at = datetime.fromisoformat(str(head.get("started_at")))
    except ValueError as error:
        raise DamagedFileError(f"it does not say when it was recorded: {error}") from error
    is_number = type(zero_s) in {int, float} and abs(zero_s or 0.0) < _MOST_S
    require(is_number, "zero_s must be a number of seconds")
    require(started_at.tzinfo is not None, "started_at must have a time zone")
    require(isinstance(head.get("grows"), bool), "grows must be true or false")
    n_rows = head.get("rows", {})
    is_counted = isinstance(n_rows, dict) and all(type(n) is int for n in n_rows.values())
    require(is_counted, "rows must be numbers of rows by table")
    return {**head, "zero_s": float(zero_s or 0.0), "started_at": started_at, "rows": n_rows}


class _Tables:
    """Adds batches in order, and makes a recording of them."""

    def __init__(self, head: dict[str, Any], budget: Budget) -> None:
        self._head = head
        self._budget = budget
        self.is_empty = True
        self._columns: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
        self._ends = dict.fromkeys(_TABLES, 0)
        self._firsts = {"tasks": 0, "activities": 0}
        """The number of the first row, where earlier ones were dropped."""
        self._runs: dict[int, Run] = {}
        self._graphs: dict[int, _Columns] = {}
        self._worker_rows: dict[int, _Columns] = {}
        counts = dict.fromkeys(("n_tasks", "n_dropped", "n_activities_dropped"), 0)
        self._state: _Columns = {"now_s": head["zero_s"], **counts}

    @property
    def grows(self) -> bool:
        """Whether the file is of a process that recorded when it was written."""
        return bool(self._head["grows"])

    def add(self, batch: Mapping[str, Section]) -> None:
        """Take the next batch, if it can follow the ones before."""
        self.is_empty = False
        for name, table in _TABLES.items():
            if table.mode == "whole":
                self._columns[name], self._ends[name] = {}, 0
        for name, section in batch.items():
            columns = section.columns
            n = len(next(iter(columns.values())))
            self._budget.charge(n * (_RECORD_BYTES if name in _OF_RECORDS else 0))
            match FILE[name].mode:
                case "by key":
                    self._replace(name, columns, n)
                case "append" | "restart":
                    self._follow(name, section, n)
                case _:
                    self._columns[name], self._ends[name] = dict(columns), n
        if "state" in batch:
            self._state = {name: values[0] for name, values in batch["state"].columns.items()}

    def _follow(self, name: str, section: Section, n: int) -> None:
        """Append rows, or begin anew with them."""
        if name in self._firsts and not self._ends[name]:
            self._ends[name] = self._firsts[name] = section.first
        if name in {"messages", "metadata", "sampling"} and section.first == 0:
            self._columns[name], self._ends[name] = {}, 0
        require(section.first == self._ends[name], f"rows of {name} follow each other")
        self._ends[name] += n
        self._append(name, section.columns)

    def _append(self, name: str, columns: _Columns) -> None:
        if name == "landed":
            # In its place at once: rows of a key and a time would take twice the room.
            self._columns["keys"]["enter"][np.asarray(columns["key"], np.int32)] = columns["time_s"]
            return
        read = self._columns[name]
        for column, values in narrowed(name, columns).items():
            read[column] = grown(read[column], values) if column in read else values

    def _replace(self, name: str, columns: _Columns, n: int) -> None:
        for row in rows_of(columns, n):
            if name == "runs":
                self._runs[int(row["run"])] = record_of(Run, row, "runs")
            elif name == "graphs":
                self._budget.charge(_GRAPH_BYTES)
                self._graphs[int(row["run"])] = row
            else:
                self._worker_rows[int(row["worker"])] = row

    def _column(self, table: str, column: str) -> NDArray[Any]:
        """Return a column and release it."""
        values: NDArray[Any] = self._columns[table].pop(column, np.empty(0, np.int64))
        return values

    def _texts(self, table: str, column: str) -> list[Any]:
        texts: list[Any] = self._columns[table].get(column, [])
        return texts

    def _records(self, table: str, declared: type[_R]) -> Iterator[_R]:
        columns = self._columns[table]
        has_id = any(field.name == "id" for field in fields(declared))
        for place, row in enumerate(rows_of(columns, len(next(iter(columns.values()), ())))):
            yield record_of(declared, {"id": place, **row} if has_id else row, table)

    def recording(self, problem: str | None) -> RecordedData:
        """Return the recording of all batches; `problem` is why there are no more."""
        require(self._graphs.keys() <= self._runs.keys(), "a graph belongs to a run")
        keys = Keys(self._column("keys", "run"), sorted(self._graphs))
        tasks = task_columns(self._column)
        now_s = float(self._state["now_s"])
        require(not np.isnan(now_s), "a batch says how late it is")
        if problem is not None:
            # Tasks may have ended after the last frame's time.
            now_s = (tasks["start"] + tasks["duration"]).max(initial=now_s).item()
        # Before the graphs, which take most room.
        holdings = self._holdings()
        graphs = dict(self._made_graphs(keys, tasks))
        blocks = list(self._blocks(keys, tasks))
        blocks += self._blocks(
            keys, self._in_flight(tasks, now_s, RUNNING if problem is None else INTERRUPTED)
        )
        records: dict[str, Any] = {
            name: tuple(self._records(name, record)) for name, record in RECORDS.items() if name != "runs"
        }
        records |= {"runs": tuple(self._runs.values()), "transfers": self._transfers(records["transfers"])}
        recording = RecordedData(
            started_at=self._head["started_at"],
            zero_s=self._head["zero_s"],
            **records,
            blocks=tuple(blocks),
            graphs=graphs,
            resources=self._stored(ResourceRows, "resources"),
            now_s=now_s,
            dropped=self._dropped(problem, len(tasks["key"])),
            metadata=self._metadata(),
            stacks=self._stacks(),
            activities=self._activities(keys),
            workers=tuple(self._worker_samples()),
            holdings=holdings,
            unknown=frozenset(self._texts("unknown", "name")),
        )
        return recording if problem is None else self._cut_off(recording, problem)

    def _dropped(self, problem: str | None, n_tasks: int) -> int:
        dropped = int(self._state["n_dropped"])
        return dropped if problem is None else max(int(self._state["n_tasks"]) - n_tasks, dropped)

    def _metadata(self) -> dict[str, Any]:
        text = "".join(self._texts("metadata", "text")) or "{}"
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DamagedFileError(f"its metadata are no JSON: {error}") from error
        require(isinstance(found, dict), "metadata must be an object")
        return dict(found)

    def _blocks(self, keys: Keys, rows: _Columns) -> Iterator[RowBlock]:
        """Yield tasks in their order, one block for consecutive tasks of one run."""
        run, task = keys.found(rows["key"])
        order: NDArray[np.intp] | None = None
        if not is_sorted(run) and np.count_nonzero(run[1:] != run[:-1]) > 1_000 + len(run) // 100:
            order = np.argsort(run, kind="stable")
            run = run[order]
        spans = spans_of(run)
        self._budget.charge(_GRAPH_BYTES * len(spans))
        columns = {**rows, "task": task}
        if order is not None:
            columns = {name: values[order] for name, values in columns.items()}
        for first, last in spans:
            part = {name: values[first:last] for name, values in columns.items()}
            yield RowBlock(
                int(run[first]),
                part["task"],
                part["start"],
                part["duration"],
                part["lane"],
                part["flags"],
                **stored_measures(part, last - first),
            )

    def _in_flight(self, tasks: _Columns, now_s: float, status: int) -> _Columns:
        """Return the tasks in flight that have no later end, until now."""
        key, start = self._column("running", "key"), self._column("running", "start_s")
        lane, observed = self._column("running", "lane"), self._column("running", "observed_by")
        is_whole = np.isfinite(start).all() and np.isfinite(lane).all()
        require(is_whole, "a task in flight has a lane and a start")
        new = np.ones(len(key), bool) if status == RUNNING else ~np.isin(key, tasks["key"])
        n = int(np.count_nonzero(new))
        return {
            "key": key[new].astype(np.int32),
            "start": start[new].astype(np.float64),
            "duration": round_down_f4(np.maximum(now_s - start[new], 0.0)),
            **dict.fromkeys(MEASURED, np.full(n, np.nan)),
            "lane": lane[new].astype(np.uint16),
            "flags": join_flags({"status": status, "observed_by": observed[new]}),
        }

    def _entered(self, keys: Keys, data: ByRun) -> dict[int, NDArray[Any]]:
        """Return when each key of a graph entered the cache; data did when the compute began."""
        landed = self._column("keys", "enter").astype(np.float64, copy=False)
        found = {}
        for run, said in self._graphs.items():
            start_s, of, enter = float(said["start_s"]), data.of(run)[1], landed[keys.rows(run)]
            enter[of] = np.where(np.isnan(enter[of]), start_s, enter[of])
            found[run] = narrow_times(enter, start_s)
        return found

    def _made_graphs(self, keys: Keys, tasks: _Columns) -> Iterator[tuple[int, GraphColumns]]:
        data = keys.by_run(self._column("data", "key"))
        # First, for nothing takes more room, and then that is free.
        entered = self._entered(keys, data)
        groups, dims = self._column("keys", "group"), self._column("keys", "dims")
        ints = self._column("keys", "ints")
        texts = self._texts("keys", "key_text")
        blocks = keys.blocks(dims, ints, texts)
        needing, kept, valued, skipped = (
            keys.by_run(self._column(name, "key")) for name in ("dependencies", "kept", "valued", "skipped")
        )
        needed, sizes = self._column("dependencies", "dependency"), self._column("data", "nbytes")
        values = self._column("valued", "value")
        needs = self._column("skipped", "need")
        errors = self._errors(keys, tasks)
        require((keys.found(needed)[0] == needing.run).all(), "a key needs those of its own graph")
        for run, said in self._graphs.items():
            n, start_s, is_known = keys.n(run), float(said["start_s"]), bool(said["is_known"])
            data_rows, data_of = data.of(run)
            rows, of = needing.of(run)
            is_valued = len(valued.of(run)[1]) or said["is_valued"]
            need = skipped.spread(run, n, needs, NEEDED) if len(skipped.of(run)[1]) else np.empty(0)
            yield (
                run,
                GraphColumns(
                    keys=blocks.get(run, KeyBlock.concat([])),
                    group=groups[keys.rows(run)].astype(np.uint32, copy=False),
                    n_dependencies=counts_of(of, n) if is_known else np.zeros(n, np.uint8),
                    edges=keys.numbers(needed[rows]) if is_known else np.empty(0, np.int32),
                    enter=entered[run] if is_known else np.full(n, np.nan),
                    enter_zero=start_s,
                    kept=kept.of(run)[1] if is_known else np.empty(0, np.int32),
                    data=data_of,
                    data_sizes=sizes[data_rows].astype(np.float64),
                    values=valued.spread(run, n, values, np.nan) if is_valued and is_known else None,
                    skipped=np.flatnonzero(need == SKIPPED).astype(np.int32),
                    released=np.flatnonzero(need == NOT_HELD).astype(np.int32),
                    errors=errors.get(run, {}),
                    known=is_known,
                ),
            )

    def _errors(self, keys: Keys, tasks: _Columns) -> dict[int, dict[int, str]]:
        texts = self._texts("errors", "text")
        errors: dict[int, dict[int, str]] = defaultdict(dict)
        rows = np.flatnonzero(tasks["error"] >= 0)
        run, task = keys.found(tasks["key"][rows])
        for own, number, text in zip(run.tolist(), task.tolist(), tasks["error"][rows].tolist(), strict=True):
            errors[own][number] = texts[text]
        return errors

    def _stored(self, declared: type[_Rows], table: str, **others: NDArray[Any]) -> _Rows:
        """Return rows of a table in the types that they are kept in."""
        known: dict[str, NDArray[Any]] = {}
        for c in columns_of(declared):
            values = others[c.name] if c.name in others else self._column(table, STREAMED.get(c.name, c.name))
            is_unsigned = np.dtype(c.stored[0]).kind == "u"
            require(not is_unsigned or (values >= 0).all(), f"{table} has no {c.name} below 0")
            known[c.name] = stored_as(c, values)
        n = max(map(len, known.values()))
        # Older files do not have all of them.
        lacking = {
            name: np.full(n, unknown(v.dtype.str), v.dtype) for name, v in known.items() if len(v) != n
        }
        return declared(**known | lacking)

    def _holdings(self) -> CacheRows:
        """Return the cache usage of clusters; that of this process follows from its graphs."""
        rows = self._stored(CacheRows, "cache")
        require((rows.nbytes >= 0).all(), "results are counted")
        on_cluster = [run.run for run in self._runs.values() if run.is_on_cluster]
        # A file that grows has no others.
        mine = rows if self.grows else rows.part(np.isin(rows.run, on_cluster))
        return replace(mine, value=np.zeros(len(mine)), n_unvalued=mine.n_keys)

    def _activities(self, keys: Keys) -> ActivityColumns:
        key = self._column("activities", "key").astype(np.int64)
        if not len(key):
            return NO_ACTIVITIES
        run, task = keys.found(key)
        rows = self._stored(
            ActivityRows,
            "activities",
            run=run,
            task=task,
            duration=round_down_f4(self._column("activities", "duration_s")),
            source=np.nan_to_num(self._column("activities", "source"), nan=0.0),
        )
        sources = tuple(self._texts("sources", "text"))
        return ActivityColumns(rows, sources, int(self._state["n_activities_dropped"]))

    def _transfers(self, transfers: Sequence[Transfer]) -> tuple[Transfer, ...]:
        keys: dict[int, list[str]] = defaultdict(list)
        for number, text in zip(
            self._column("transfer_keys", "transfer").tolist(),
            self._texts("transfer_keys", "text"),
            strict=True,
        ):
            keys[number].append(text)
        return tuple(
            replace(transfer, keys=tuple(keys.get(number, ()))) for number, transfer in enumerate(transfers)
        )

    def _worker_samples(self) -> Iterator[WorkerSample]:
        for sample in self._records("worker_samples", WorkerSample):
            # Here it is still a number.
            row = self._worker_rows.get(int(sample.worker))
            require(row is not None, "the worker of a sample must be known")
            assert row is not None
            yield replace(sample, worker=row["address"], name=row["name"])

    def _stacks(self) -> StackColumns:
        sampling = self._columns["sampling"]
        if not sampling:
            require(not self._ends["stacks"], "samples say how they were taken")
            return NO_STACKS
        (*_, said) = rows_of(sampling, len(sampling["n_dropped"]))
        for name in (column.name for column in FILE["stacks"].columns):
            parts = self._column("stacks", name), self._column("open_stacks", name)
            self._columns["stacks"][name] = np.concatenate(parts)
        parent = whole_numbers(self._column("calls", "parent"))
        require((parent < np.arange(len(parent))).all(), "calls stand after their caller")
        stacks = StackColumns(
            functions=tuple(self._records("functions", Function)),
            parent=parent,
            function=self._column("calls", "function").astype(np.int32),
            prefixes=tuple(self._texts("stack_prefixes", "name")),
            workers=tuple(self._texts("stack_workers", "name")),
            rows=self._stored(
                StackRows, "stacks", run=as_runs(self._column("stacks", "run"), least=CLIENT_RUN)
            ),
            interval_s=float(said["interval_s"]),
            cycle_s=None if said["cycle_s"] is None else float(said["cycle_s"]),
            dropped=int(said["n_dropped"]),
            lines=self._stored(LineRows, "lines"),
        )
        # Samples of earlier computes have calls, too, and repeated samples have them twice.
        return stacks.pruned() if self.grows else stacks

    def _cut_off(self, recording: RecordedData, problem: str) -> RecordedData:
        text = f"this file is not complete: {problem}; what follows after that is missing"
        runs, unknown = recording.runs, recording.unknown | frozenset(self._unknown(recording))
        if self.grows:
            runs = tuple(_ended(run, recording.now_s) for run in runs)
        if unknown:
            text += f"; unknown in part or whole: {', '.join(sorted(unknown))}"
        return replace(
            recording,
            runs=runs,
            unknown=unknown,
            messages=(*recording.messages, Message(recording.now_s, "warning", text)),
            metadata={**recording.metadata, "truncated": True},
        )

    def _unknown(self, recording: RecordedData) -> Iterator[str]:
        """Yield the names of tables that would not be as they are if the file were complete."""
        graphs = recording.graphs
        lacking = any(run.n_tasks and run.run not in graphs for run in recording.runs)
        # A compute may not have counted its tasks when its first keys are written.
        if lacking or not all(graph.known for graph in graphs.values()):
            yield from ("cache", "dependencies")
        if not self.grows:
            yield from self._short_tables()
        elif recording.is_on_cluster:
            # Samples of clusters are requested when the block ends, and what workers metered is written last.
            yield from () if len(recording.stacks.rows) else ("stacks",)
            yield from () if recording.metrics else ("metrics",)

    def _short_tables(self) -> Iterator[str]:
        """Yield the public names of tables that have fewer rows than the header says."""
        for name in _TABLES:
            if self._ends[name] - self._firsts.get(name, 0) < self._head["rows"].get(name, 0):
                yield _PUBLIC_NAMES.get(name, name)


def stored_as(column: Column, values: NDArray[Any]) -> NDArray[Any]:
    """Return values in the type that they are kept in, whole numbers that are unknown as -1."""
    kept = np.dtype(column.stored[0])
    return (values if kept.kind == "f" else np.nan_to_num(values, nan=-1.0)).astype(kept)


def rows_of(columns: _Columns, n: int) -> Iterator[dict[str, Any]]:
    """Yield rows; unknown values are None."""
    values = [v.tolist() if isinstance(v, np.ndarray) else v for v in columns.values()]
    for row in zip(*values, strict=True) if n else ():
        yield {
            name: None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - NaN is not
            for name, value in zip(columns, row, strict=True)
        }


def record_of(declared: type[_R], row: Mapping[str, Any], table: str) -> _R:
    """Return a record of a row."""
    columns = {column.name: column for column in FILE[table].columns}
    names = {field.name for field in fields(declared)}
    # An older file lacks columns, whose values are then the class's own.
    known = {name: value for name, value in row.items() if name in names and (name != "n_runs" or value)}
    values = {name: _value(columns.get(name), value) for name, value in known.items()}
    if declared is Transfer:
        values["keys"] = ()
    if declared is WorkerSample:
        values["name"] = ""
    return declared(**values)


def _value(column: Column | None, value: object) -> object:
    if column is None or value is None:
        return value
    if column.choices:
        return column.choices[int(value)]  # type: ignore[call-overload]  # a place
    return int(value) if column.kind == "whole number" else value  # type: ignore[call-overload]  # a number


def _ended(run: Run, now_s: float) -> Run:
    return replace(run, status="interrupted", stop_s=now_s) if run.status == "running" else run
