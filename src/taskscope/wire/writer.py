"""Rows in, frames out: of pages, files, and offline pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.codec import LIMITS, Encoder, Section, Values, is_constant, repeated
from taskscope.codec import TICK_S as PAGE_TICK_S
from taskscope.model.clock import TICK_S
from taskscope.model.keys import TEXT, KeyBlock, plain_text
from taskscope.model.streams import ALL, FILE, MAX_KEY_INTS, PAGE, STOP_WAYS, STREAMED, StopWay
from taskscope.model.tables.activities import ActivityRows, Transfer
from taskscope.model.tables.columns import RowBlock, distinct
from taskscope.model.tables.records import (
    Estimate,
    Group,
    PrefixProgress,
    Run,
    RunningTask,
    flag_codes,
    split_flags,
)
from taskscope.model.tables.stacks import Function, StackColumns
from taskscope.model.tables.workers import WorkerSample
from taskscope.model.version import __version__
from taskscope.schema import Rows, Table

_LEVEL = 1
_BYTES = 6 * 2**20
"""A frame is written once about so much waits for it."""

_PAGE_BYTES = 12 * 2**20
"""A message to a page has one frame, and pages get few messages a second."""

_LIVE = {name: table for name, table in PAGE.items() if name not in {"graphs", "dependencies"}}
"""The tables of a live page; it requests the dependencies of a task."""

_PIECE = 4_000
_MAX_ERRORS = 10_000
_MAX_FACTS = 4 * 2**20
_MAX_FACT = 2**16


_STATE: Mapping[str, object] = {
    "now_s": None,
    "active": False,
    "n_dropped": 0,
    "n_activities_dropped": 0,
    "cache_unknown": False,
}
"""Columns of the table `state`, in which an unknown count of dropped rows is 0."""


Columns: TypeAlias = Mapping[str, Any]


def _record_columns(table: str, records: Sequence[object]) -> dict[str, Any]:
    """Return the fields of records that are columns of the table."""
    columns: dict[str, Any] = {}
    for column in ALL[table].columns:
        if not (column.page or column.file) or (records and not hasattr(records[0], column.name)):
            continue
        values = [getattr(record, column.name) for record in records]
        if column.choices:
            columns[column.name] = column.places(values)
        elif column.kind == "text":
            columns[column.name] = [None if value is None else plain_text(value) for value in values]
        else:
            columns[column.name] = values
    return columns


def _progress_columns(rows: Sequence[PrefixProgress]) -> dict[str, Any]:
    """Return the columns of progress."""
    names = ("scheduled_s", "asked", "is_all", "queued", "waiting", "no_worker")
    scheduled = [(None,) * len(names) if row.scheduled is None else astuple(row.scheduled) for row in rows]
    columns = _record_columns("progress", rows)
    return columns | {name: [row[i] for row in scheduled] for i, name in enumerate(names)}


def _key_columns(keys: KeyBlock, group: NDArray[np.uint32], n: int, names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of the first `n` keys; `names` are the groups' names."""
    dims = keys.dims[:n]
    if n and dims[0] <= MAX_KEY_INTS and (dims == dims[0]).all():
        # Nearly every batch of a collection.
        parts, none = keys.ints[: n * int(dims[0])].reshape(n, -1), repeated(np.zeros(1, np.int64), n)
        return {
            "dims": repeated(dims[:1], n),
            **{f"i{i}": parts[:, i] if i < dims[0] else none for i in range(MAX_KEY_INTS)},
        }
    is_text = dims == TEXT
    lengths = np.where(is_text, 0, dims).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    texts: list[str | None] = [None] * n
    for row, text in zip(np.flatnonzero(is_text).tolist(), keys.texts, strict=False):
        texts[row] = plain_text(text)
    long = np.flatnonzero(~is_text & (dims > MAX_KEY_INTS))
    if len(long):
        of = [names[number] for number in group[long].tolist()]
        for row, text in zip(long.tolist(), keys.take(long).to_text(of), strict=True):
            texts[row] = plain_text(text)
        dims = np.where(dims > MAX_KEY_INTS, TEXT, dims)
        lengths[long] = 0
    columns: dict[str, Any] = {"dims": dims, "key_text": texts}
    for i in range(MAX_KEY_INTS):
        rows = np.flatnonzero(lengths > i)
        columns[f"i{i}"] = np.zeros(n, np.int64)
        columns[f"i{i}"][rows] = keys.ints[starts[rows] + i]
    return columns


def row_columns(rows: Rows) -> dict[str, Any]:
    """Return the columns of rows by the names that they have in a stream."""
    return {STREAMED.get(name, name): values for name, values in rows.arrays().items()}


class _KnownWorkers:
    """The workers whose rows a stream has, by address."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str, str, int]] = {}

    def columns(self, samples: Sequence[WorkerSample]) -> tuple[Columns, Columns]:
        """Return the columns of workers that are new or have changed, and of samples."""
        changed = [(number, plain_text(a), plain_text(b), n) for number, a, b, n in self._changed(samples)]
        names = [column.name for column in ALL["workers"].columns]
        workers = {name: [row[i] for row in changed] for i, name in enumerate(names)}
        numbers = [self._known[sample.worker][0] for sample in samples]
        return workers, _record_columns("worker_samples", samples) | {"worker": numbers}

    def _changed(self, samples: Iterable[WorkerSample]) -> list[tuple[int, str, str, int]]:
        changed: dict[str, tuple[int, str, str, int]] = {}
        for sample in samples:
            before = self._known.get(sample.worker)
            number = len(self._known) if before is None else before[0]
            # A worker that has left keeps its threads.
            n_threads = before[3] if before is not None and not sample.n_threads else sample.n_threads
            row = (number, sample.worker, sample.name, n_threads)
            if row != before:
                changed[sample.worker] = self._known[sample.worker] = row
        return list(changed.values())


_PART_ROWS = 65_536
"""Most rows of a table in one part."""

_PART_BYTES = 3 * 2**20


def _cuts(columns: Mapping[str, Any], n: int) -> list[int]:
    """Return the ends of parts of `n` rows that are of bounded size; the last one is `n`."""
    texts = [values for values in columns.values() if _is_text(values)]
    if not texts:
        return [*range(_PART_ROWS, n, _PART_ROWS), n]
    sizes = np.sum([[len(t) * (1 if t.isascii() else 4) if t else 0 for t in v] for v in texts], axis=0)
    if int(sizes.sum()) < _PART_BYTES:
        return [*range(_PART_ROWS, n, _PART_ROWS), n]
    sums, found, at = np.cumsum(sizes), [], 0
    while at < n:
        before = int(sums[at - 1]) if at else 0
        last = int(np.searchsorted(sums, before + _PART_BYTES, "right"))
        at = min(max(last, at + 1), at + _PART_ROWS, n)
        found.append(at)
    return found


def _bytes_of(columns: Mapping[str, Any], n: int) -> int:
    """Return about how many bytes `n` rows take at most, of which columns of one number take none."""
    n_columns = sum(not (isinstance(v, np.ndarray) and is_constant(v)) for v in columns.values())
    texts = (text for values in columns.values() if _is_text(values) for text in values if text)
    return 4 * n * n_columns + sum(len(text) * (1 if text.isascii() else 4) for text in texts)


def _is_text(values: object) -> bool:
    return isinstance(values, list) and any(isinstance(value, str) for value in values)


class TooLongError(ValueError):
    """A recorder has become older than the latest time that its file can have, in seconds."""


def tick_for(now_s: float) -> float:
    """Return the tick of a file's times: the recorder's, coarser where times twice as late need it.

    They are 2 ns from 24 days after a recorder's zero on, 4 ns from 48 days on, and so forth; times that are
    recorded so late are about as far apart themselves (see `whole_ticks`).
    """
    tick_s = TICK_S
    while now_s >= LIMITS["value"] / 2 * tick_s:
        tick_s *= 2
    return tick_s


class FrameWriter:
    """Writes rows in frames of bounded size; a row has to be added before rows that refer to it."""

    def __init__(
        self,
        put: Callable[[bytes], object],
        header: Mapping[str, object],
        encoder: Callable[..., Encoder],
        *,
        tables: Mapping[str, Table] = FILE,
        tick_s: float,
        first_rows: Mapping[str, int] | None = None,
        most: tuple[int, int] | None = None,
    ) -> None:
        self._put = put
        self.tables = tables
        self.has_graphs = "kept" in tables
        """Whether tasks and activities refer to keys of whole graphs."""
        self._tick_s = tick_s
        self._most = most or (_PART_ROWS, _BYTES)
        """Rows of a table and bytes in a frame."""
        self._encoder = encoder(tables, header, tick_s=tick_s)
        self._added = Counter(first_rows)
        """How many rows of each table there are, and so the number of the next."""
        self._waiting: dict[str, list[Columns]] = {}
        self._n_bytes = 0
        self._group_names: list[str] = []
        self._keys: dict[int, _KeyRows] = {}
        self._graphs: dict[int, bool] = {}
        """Whether all of each graph was added."""
        self._errors: dict[str, int] = {}
        self._workers = _KnownWorkers()
        self.state: dict[str, object] = {}
        """Columns of the table `state`."""
        self.standing: dict[str, Columns] = {}
        """Tables that are in every frame."""
        self._put(self._encoder.header())

    @classmethod
    def of_file(
        cls,
        file: BinaryIO,
        started_at: datetime,
        zero_s: float,
        *,
        now_s: float,
        first_rows: Mapping[str, int] | None = None,
        n_rows: Mapping[str, int] | None = None,
    ) -> Self:
        """Return the writer of a file; `n_rows` are the numbers of its rows, None while it grows."""
        header = {
            "made_by": f"taskscope {__version__}",
            # A page reads it like any stream of a recorder.
            "recorder": "file",
            "epoch": "file-0",
            "started_at": started_at.isoformat(),
            "zero_s": zero_s,
            "grows": n_rows is None,
            **({} if n_rows is None else {"rows": n_rows}),
        }

        def put(frame: bytes) -> None:
            # In one call, so that a kill between two leaves whole frames more often.
            file.write(frame)
            file.flush()

        encoder = partial(Encoder, level=_LEVEL)
        return cls(put, header, encoder, tick_s=tick_for(now_s), first_rows=first_rows)

    @classmethod
    def of_page(cls, put: Callable[[bytes], object], recorder: str, epoch: str) -> Self:
        """Return the writer of a live page, to which `restart` is called before each message."""
        header = {"recorder": recorder, "epoch": epoch, "zero_s": 0.0}
        most = (LIMITS["rows"], _PAGE_BYTES)
        return cls(put, header, Encoder, tables=_LIVE, tick_s=PAGE_TICK_S, most=most)

    def restart(self) -> None:
        """Begin a message to a page: its tasks refer to keys and errors in this message only."""
        self._added["keys"] = self._added["errors"] = 0
        self._errors.clear()
        self.standing.clear()

    def frame(self, *, is_last: bool = False) -> None:
        """Write the waiting rows, and the state."""
        known: dict[str, Any] = {**_STATE, "final": is_last, "n_tasks": self._added["tasks"], **self.state}
        batch = {name: Section(0, columns) for name, columns in self.standing.items() if _length(columns)}
        for name, parts in self._waiting.items():
            n = sum(map(_length, parts))
            first = self._added[name] - n if self.tables[name].mode in {"append", "restart"} else 0
            batch[name] = Section(first, _joined(parts))
        batch["state"] = Section(0, {name: [value] for name, value in known.items()})
        most_s = LIMITS["value"] * self._tick_s
        if (known["now_s"] or 0.0) >= most_s:
            raise TooLongError(most_s)
        self._waiting, self._n_bytes = {}, 0
        self._put(self._encoder.batch(batch, is_last=is_last))

    def add(self, table: str, columns: Columns, first: int | None = None) -> None:
        """Add rows to the next frame, or to as many as they need, if the stream has such a table.

        With `first` they are numbered from there on: rows before were dropped.
        """
        n = _length(columns) if table in self.tables else 0
        if first is not None and n and first != self._added[table]:
            if table in self._waiting:
                self.frame()
            self._added[table] = first
        start = 0
        for stop in _cuts(columns, n) if n else ():
            part = {name: values[start:stop] for name, values in columns.items()}
            size = _bytes_of(part, stop - start)
            n_waiting = sum(map(_length, self._waiting.get(table, ())))
            is_full = (n_waiting + stop - start, self._n_bytes + size)
            if self._waiting and any(n > most for n, most in zip(is_full, self._most, strict=True)):
                self.frame()
            self._waiting.setdefault(table, []).append(part)
            self._n_bytes += size
            self._added[table] += stop - start
            start = stop

    def add_records(self, table: str, records: Iterable[object]) -> None:
        """Add records whose fields are the columns of the table."""
        records = list(records) if table in self.tables else []
        if records:
            self.add(table, _record_columns(table, records))

    def add_runs(self, runs: Sequence[Run], metrics: Sequence[str | None]) -> None:
        """Add computes, each with the name of the user's cache metric."""
        if runs:
            columns = _record_columns("runs", runs)
            self.add("runs", columns | {"metric": [None if m is None else plain_text(m) for m in metrics]})

    def replace_records(self, table: str, records: Sequence[object]) -> None:
        """Add records instead of all that were added before."""
        self.replace(table, _record_columns(table, records))

    def replace(self, table: str, columns: Columns) -> None:
        """Add rows instead of all that were added before."""
        self._waiting.pop(table, None)
        self._added[table] = 0
        self.add(table, columns)

    def add_groups(self, groups: Sequence[Group]) -> None:
        """Add groups."""
        self._group_names += [group.name for group in groups]
        self.add_records("groups", groups)

    def add_metadata(self, metadata: Mapping[str, object]) -> None:
        """Add all facts, of very long ones only their length: all have to be in one frame."""
        text = _json(metadata)
        if len(text) > _MAX_FACTS:
            text = _json({name: _short(value) for name, value in metadata.items()})
        self.add("metadata", {"text": [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]})

    def add_graph(self, run: int, start_s: float, *, is_known: bool, is_valued: bool = False) -> None:
        """Add whether all of a graph was added, if that is new."""
        if self._graphs.get(run) is not is_known:
            self._graphs[run] = is_known
            row = {"run": [run], "start_s": [start_s], "is_known": [is_known], "is_valued": [is_valued]}
            self.add("graphs", row)

    def add_keys(self, run: int, keys: KeyBlock, group: NDArray[np.uint32]) -> None:
        """Add the next keys of a graph."""
        if len(keys):
            self._keys.setdefault(run, _KeyRows()).append(self._added["keys"], len(keys))
            self._add_keys(repeated(np.array([run]), len(keys)), keys, group)

    def _add_keys(self, run: NDArray[Any], keys: KeyBlock, group: NDArray[np.uint32]) -> None:
        columns = _key_columns(keys, group, len(keys), self._group_names)
        no_text = repeated(np.array([-1]), len(keys))
        self.add("keys", {"run": run, "group": group, "key_text": no_text, **columns})

    def n_keys(self, run: int) -> int:
        """Return how many keys of a graph were added."""
        return self._keys[run].n if run in self._keys else 0

    def key_rows(self, run: int, tasks: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the rows of keys by their numbers in the graph."""
        return self._keys[run].of(tasks) if len(tasks) else np.empty(0, np.int64)

    def add_by_key(self, table: str, run: int, tasks: NDArray[np.integer], **columns: Values) -> None:
        """Add rows of a table of keys by their numbers in the graph."""
        if len(tasks):
            self.add(table, {"key": self.key_rows(run, tasks), **columns})

    def add_links(
        self, run: int, first: int, n_dependencies: NDArray[np.integer], edges: NDArray[np.int32]
    ) -> None:
        """Add the dependencies of keys from number `first` on."""
        tasks = np.repeat(np.arange(first, first + len(n_dependencies)), n_dependencies)
        self.add_by_key("dependencies", run, tasks, dependency=self.key_rows(run, edges))

    def add_tasks(self, block: RowBlock, errors: Mapping[int, str]) -> None:
        """Add tasks whose keys were added, with their errors."""
        if len(block):
            self._add_tasks(self.key_rows(block.run, block.task), block, errors)

    def add_tasks_with_keys(
        self,
        first: int,
        block: RowBlock,
        errors: Mapping[int, str],
        keys: KeyBlock,
        group: NDArray[np.uint32],
    ) -> None:
        """Add tasks from number `first` on, and their keys before them."""
        n, row = len(block), self._added["keys"]
        if n:
            self._add_keys(repeated(np.array([block.run]), n), keys, group)
            self._add_tasks(np.arange(row, row + n), block, errors, first)

    def _add_tasks(
        self, keys: NDArray[np.integer], block: RowBlock, errors: Mapping[int, str], first: int | None = None
    ) -> None:
        start, duration = self._span(block.start, block.duration)
        codes = split_flags(block.flags)
        columns = {
            "key": keys,
            "lane": block.lane,
            **codes,
            "duration_s": duration,
            "stop_s": start + duration,
            **block.measured(),
            "error": self._error_rows(block.task, codes["status"], errors),
        }
        self.add("tasks", columns, first)

    def _span(
        self, start: NDArray[np.float64], duration: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return starts and durations in ticks."""
        # Start and stop are rounded each, so that rounding makes no two overlap.
        most = LIMITS["value"] // 2
        first = np.rint(np.clip(start / self._tick_s, -most, most)).astype(np.int64)
        last = np.rint(np.clip((start + duration) / self._tick_s, -most, most)).astype(np.int64)
        return first, np.maximum(last - first, 0)

    def _error_rows(
        self, tasks: NDArray[np.int32], status: NDArray[np.uint8], errors: Mapping[int, str]
    ) -> NDArray[np.int64]:
        rows = np.full(len(tasks), -1, np.int64)
        failed = np.flatnonzero(status) if errors else np.empty(0, np.int64)
        new: list[str] = []
        first = self._added["errors"]
        for place, task in zip(failed.tolist(), tasks[failed].tolist(), strict=True):
            if task not in errors:
                continue
            text = plain_text(errors[task])
            if text not in self._errors:
                if len(self._errors) >= _MAX_ERRORS:
                    self._errors.clear()
                self._errors[text] = first + len(new)
                new.append(text)
            rows[place] = self._errors[text]
        if new:
            self.add("errors", {"text": new})
        return rows

    def running_columns(self, blocks: Sequence[RowBlock]) -> Columns:
        """Return the columns of tasks in flight whose keys were added."""
        none = np.empty(0, np.int64)
        return {
            "key": np.concatenate([none, *(self.key_rows(b.run, b.task) for b in blocks)]),
            "lane": np.concatenate([none, *(b.lane for b in blocks)]),
            "observed_by": np.concatenate([none, *(flag_codes(b.flags, "observed_by") for b in blocks)]),
            "start_s": np.concatenate([np.empty(0), *(b.start for b in blocks)]),
        }

    def set_running(self, tasks: Sequence[RunningTask]) -> None:
        """Set the tasks in flight of a page, whose keys are added behind those of its tasks."""
        if tasks:
            row, run = self._added["keys"], np.array([task.run for task in tasks])
            texts = tuple(task.key_text for task in tasks)
            keys = KeyBlock(np.full(len(tasks), TEXT, np.uint8), np.empty(0, np.int32), texts)
            self._add_keys(run, keys, np.array([task.group for task in tasks], np.uint32))
            columns = _record_columns("running", tasks)
            self.standing["running"] = columns | {"key": np.arange(row, row + len(tasks))}

    def set_live(
        self, estimates: Mapping[int, Estimate], stops: Mapping[int, StopWay], states: Mapping[int, str]
    ) -> None:
        """Set when computes will end, how they can be stopped, and what keeps them from going on, by run."""
        columns = _record_columns("estimates", list(estimates.values()))
        self.standing["estimates"] = {"run": list(estimates), **columns}
        ways = [STOP_WAYS.index(way) for way in stops.values()]
        self.standing["stops"] = {"run": list(stops), "way": ways}
        self.standing["live_states"] = {"run": list(states), "text": list(states.values())}

    def add_activities(self, rows: ActivityRows, first: int | None = None) -> None:
        """Add activities; in a file their keys were added."""
        if not len(rows):
            return
        start, duration = self._span(rows.start, rows.duration)
        columns = row_columns(rows) | {
            "start_s": start,
            "duration_s": duration,
            "source": rows.source.astype(np.int64) - (rows.source == 0),
        }
        if self.has_graphs:
            key = np.empty(len(rows), np.int64)
            for run in distinct(rows.run).tolist():
                mine = rows.run == run
                key[mine] = self.key_rows(run, rows.task[mine])
            columns["key"] = key
        self.add("activities", columns, first)

    def add_sources(self, texts: Sequence[str]) -> None:
        """Add what activities come from."""
        self._add_texts("sources", texts, "text")

    def _add_texts(self, table: str, texts: Sequence[str], column: str = "name") -> None:
        if texts:
            self.add(table, {column: list(map(plain_text, texts))})

    def add_rows(self, table: str, rows: Rows, first: int | None = None) -> None:
        """Add rows whose arrays are the columns of the table; numbers in them are rows of the file."""
        if len(rows):
            self.add(table, row_columns(rows), first)

    def add_progress(self, rows: Sequence[PrefixProgress]) -> None:
        """Add progress that is new or has changed."""
        if rows:
            self.add("progress", _progress_columns(rows))

    def add_workers(self, samples: Sequence[WorkerSample], first: int | None = None) -> None:
        """Add samples of workers."""
        workers, columns = self._workers.columns(samples)
        self.add("workers", workers)
        self.add("worker_samples", columns, first)

    def add_transfers(self, transfers: Sequence[Transfer]) -> None:
        """Add transfers, and the keys of their results."""
        first = self._added["transfers"]
        self.add_records("transfers", transfers)
        keys = [(first + i, plain_text(key)) for i, t in enumerate(transfers) for key in t.keys]
        if keys:
            self.add("transfer_keys", {"transfer": [n for n, _ in keys], "text": [t for _, t in keys]})

    def add_calls(
        self,
        functions: Sequence[Function],
        parent: NDArray[np.int32],
        function: NDArray[np.int32],
        prefixes: Sequence[str],
        workers: Sequence[str],
    ) -> None:
        """Add functions, calls, and names of prefixes and workers; numbers are rows of the file."""
        self.add_records("functions", functions)
        if len(parent):
            self.add("calls", {"parent": parent, "function": function})
        self._add_texts("stack_prefixes", prefixes)
        self._add_texts("stack_workers", workers)

    def add_sampling(self, interval_s: float, cycle_s: float | None, n_dropped: int) -> None:
        """Add how call stacks were sampled."""
        row = {"interval_s": [interval_s], "cycle_s": [cycle_s], "n_dropped": [n_dropped]}
        self.replace("sampling", row)

    def add_stacks(self, stacks: StackColumns) -> None:
        """Add all samples of a recording; none where nothing sampled."""
        if stacks.interval_s is not None:
            self.add_sampling(stacks.interval_s, stacks.cycle_s, stacks.dropped)
            self.add_calls(stacks.functions, stacks.parent, stacks.function, stacks.prefixes, stacks.workers)
            self.add_rows("stacks", stacks.rows)
            self.add_rows("lines", stacks.lines)


class _KeyRows:
    """Which rows of `keys` the keys of one graph have, by their numbers in it."""

    def __init__(self) -> None:
        self._first: list[int] = []
        self._shift: list[int] = []
        self.n = 0

    def append(self, first_row: int, n: int) -> None:
        if not self._first or self._shift[-1] != first_row - self.n:
            self._first.append(self.n)
            self._shift.append(first_row - self.n)
        self.n += n

    def of(self, tasks: NDArray[np.integer]) -> NDArray[np.int64]:
        numbers = tasks.astype(np.int64)
        if len(self._first) == 1:
            return numbers + self._shift[0]
        place = np.searchsorted(self._first, numbers, "right") - 1
        rows: NDArray[np.int64] = numbers + np.array(self._shift)[place]
        return rows


def _json(value: object) -> str:
    return json.dumps(value, default=str, separators=(",", ":"))


def _short(fact: object) -> object:
    n = len(_json(fact))
    return fact if n <= _MAX_FACT else f"(left out: it is too long for a file, {n:,} characters of JSON)"


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def _joined(parts: Sequence[Columns]) -> Columns:
    if len(parts) == 1:
        return parts[0]
    return {name: _concatenated([part[name] for part in parts]) for name in parts[0]}


def _concatenated(values: Sequence[Values]) -> Values:
    if any(isinstance(part, list) for part in values):
        # A part without any text is an array.
        return [v for part in values for v in (part if isinstance(part, list) else [None] * len(part))]
    return np.concatenate([np.asarray(part) for part in values])
