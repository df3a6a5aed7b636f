"""Batches of a page: new rows of a recorder, or a whole recording, as frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from taskscope.codec import LIMITS, TICK_S, Encoder, Section
from taskscope.model.keys import TEXT, KeyBlock
from taskscope.model.streams import FILE, MAX_KEY_INTS, PAGE, STOP_WAYS, StopWay
from taskscope.model.tables.activities import ActivityRows
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import Link, TaskLinks
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import (
    Estimate,
    Group,
    Lane,
    Message,
    PrefixProgress,
    Run,
    RunningTask,
    TaskBlock,
    split_flags,
)
from taskscope.model.tables.workers import WorkerSample
from taskscope.schema import Table

MAX_ERRORS = 1_000
"""Most different error texts in one message; rows with further ones share an entry."""

_MAX_KEY_BYTES = 8 * 2**20
_MAX_TASK_BYTES = 12 * 2**20
_ROW_BYTES = 44
"""As much as the numbers of a task can take, its key apart."""

_Columns: TypeAlias = dict[str, Any]


def changed_workers(
    known: dict[str, tuple[int, str, str, int]], samples: Iterable[WorkerSample]
) -> list[tuple[int, str, str, int]]:
    """Add the workers of samples to the known ones; return number, address, name, threads of the new.

    A worker that has left keeps its threads.
    """
    changed: dict[str, tuple[int, str, str, int]] = {}
    for sample in samples:
        before = known.get(sample.worker)
        number = len(known) if before is None else before[0]
        n_threads = before[3] if before is not None and not sample.n_threads else sample.n_threads
        row = (number, sample.worker, sample.name, n_threads)
        if row != before:
            changed[sample.worker] = known[sample.worker] = row
    return list(changed.values())


class Rows(NamedTuple):
    """Rows of a table from number `first` on: its class of columns, records, texts, or columns by name."""

    first: int
    rows: Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """The content of one message. Times are seconds after the recorder's zero."""

    now_s: float
    active: bool
    final: bool
    first: int
    cursor: int
    dropped: int
    tasks: TaskBlock
    groups: Sequence[Group] = ()
    lanes: Sequence[Lane] = ()
    runs: Sequence[Run] = ()
    progress: Sequence[PrefixProgress] = ()
    estimates: Mapping[int, Estimate] = field(default_factory=dict)
    stops: Mapping[int, StopWay] = field(default_factory=dict)
    running: Sequence[RunningTask] = ()
    messages: Sequence[Message] = ()
    metrics: Mapping[int, str] = field(default_factory=dict)
    """The name of the user's cache metric, by run."""
    state: Mapping[str, object] = field(default_factory=dict)
    """Further columns of the table `state`."""
    tables: Mapping[str, Rows] = field(default_factory=dict)
    """New rows of the other tables."""


def batch_message() -> dict[str, object]:
    """Return the JSON part of a message whose one buffer has a frame."""
    return {"protocol": PROTOCOL, "kind": "batch"}


class PageEncoder:
    """Makes the frames of one stream to a page; the header precedes the first.

    Examples
    --------
    >>> from taskscope.record import Recorder
    >>> _, no_tasks = Recorder().tasks_since(0, 1)
    >>> encoder = PageEncoder("r", "r-1")
    >>> frames, n_tasks = encoder.frames(
    ...     Batch(now_s=1.5, active=True, final=False, first=0, cursor=0, dropped=0, tasks=no_tasks)
    ... )
    >>> len(frames), n_tasks
    (1, 0)
    """

    def __init__(self, recorder: str, epoch: str) -> None:
        header = {"recorder": recorder, "epoch": epoch, "zero_s": 0.0}
        self._encoder = Encoder(PAGE, header)
        self._begun = False
        self._names: list[str] = []
        self._ends = dict.fromkeys(PAGE, 0)

    def frames(self, batch: Batch) -> tuple[list[bytes], int]:
        """Return the buffers of one message or more, and how many tasks are in them.

        Messages are several where tables are very long. Tasks are fewer than ``len(batch.tasks)`` where keys
        are; the rest belongs into the next batch.
        """
        self._names += [group.name for group in batch.groups]
        n_tasks = min(_fitting(batch.tasks.keys), len(batch.tasks))
        header = b"" if self._begun else self._encoder.header()
        self._begun = True
        first, *others = in_parts(self._sections(batch, n_tasks))
        return [header + self._encoder.batch(first), *map(self._encoder.batch, others)], n_tasks

    def _sections(self, batch: Batch, n_tasks: int) -> dict[str, Section]:
        tasks, errors = _task_columns(batch.tasks, n_tasks)
        found = {
            "state": Section(0, _state(batch)),
            "keys": Section(0, self._keys(batch, n_tasks)),
            "errors": Section(0, {"text": errors}),
            "tasks": Section(batch.first, tasks),
        }
        numbered: dict[str, Sequence[object]] = {
            "groups": batch.groups,
            "lanes": batch.lanes,
            "messages": batch.messages,
        }
        found |= {name: self._next(name, rows) for name, rows in numbered.items() if rows}
        whole: dict[str, _Columns] = {
            "runs": _of_records("runs", batch.runs) | {"metric": _metrics(batch)},
            "progress": progress_columns(batch.progress, wire_text),
            "estimates": _of_records("estimates", batch.estimates.values()) | {"run": list(batch.estimates)},
            "stops": {
                "run": list(batch.stops),
                "way": [STOP_WAYS.index(way) for way in batch.stops.values()],
            },
            "running": _of_records("running", batch.running)
            | {"key": np.arange(n_tasks, n_tasks + len(batch.running))},
        }
        found |= {name: Section(0, columns) for name, columns in whole.items() if _n(columns)}
        for name, (first, rows) in batch.tables.items():
            if name == "sources" and rows:
                # The first one is none.
                texts = [*([] if self._ends["sources"] else [""]), *map(wire_text, rows)]
                found[name] = self._next(name, texts, {"text": texts})
            elif name != "sources" and len(rows):
                found[name] = Section(first, self._columns(name, rows))
        return {name: section for name, section in found.items() if name in _IN_ALL or _n_rows(section)}

    def _keys(self, batch: Batch, n_tasks: int) -> _Columns:
        """Return the keys of the first tasks in their order, then those of tasks in flight."""
        tasks, running = batch.tasks, batch.running
        block = tasks.keys.take(np.arange(n_tasks))
        texts = [task.key_text for task in running]
        block = KeyBlock.concat([block, KeyBlock.of_texts(texts)]) if texts else block
        group = np.append(tasks.group[:n_tasks], np.array([task.group for task in running], np.uint32))
        run = np.append(tasks.run[:n_tasks], np.array([task.run for task in running], np.int32))
        return {"run": run, "group": group, **key_columns(block, group, len(run), self._names, wire_text)}

    def _columns(self, table: str, rows: object) -> _Columns:
        if isinstance(rows, CacheRows):
            return cache_columns(rows)
        if isinstance(rows, ResourceRows):
            return _samples(rows)
        if isinstance(rows, ActivityRows):
            start = _ticks(rows.start)
            stop = _ticks(rows.start + rows.duration)
            return activity_columns(rows, start, np.maximum(stop - start, 0))
        return dict(rows) if isinstance(rows, Mapping) else _of_records(table, cast("Iterable[object]", rows))

    def _next(self, table: str, rows: Sequence[object], columns: _Columns | None = None) -> Section:
        first = self._ends[table]
        self._ends[table] += len(rows)
        return Section(first, _of_records(table, rows) if columns is None else columns)


def _of_records(table: str, records: Iterable[object]) -> _Columns:
    return record_columns(PAGE[table], list(records), wire_text)


def record_columns(table: Table, records: Sequence[object], fit: Callable[[str], str]) -> _Columns:
    """Return the fields of records that are columns of the table; `fit` shortens texts."""
    columns: _Columns = {}
    for column in table.columns:
        if records and not hasattr(records[0], column.name):
            continue
        values = [getattr(record, column.name) for record in records]
        if column.choices:
            columns[column.name] = column.places(values)
        elif column.kind == "text":
            columns[column.name] = [None if value is None else fit(value) for value in values]
        else:
            columns[column.name] = values
    return columns


def _state(batch: Batch) -> _Columns:
    known = {"now_s": batch.now_s, "active": batch.active, "final": batch.final}
    return state_columns(known | {"n_tasks": batch.cursor, "n_dropped": batch.dropped, **batch.state})


def state_columns(known: Mapping[str, object]) -> _Columns:
    """Return the row of the table `state`, in which an unknown count of dropped rows is 0."""
    state = {
        "now_s": None,
        "active": False,
        "n_dropped": 0,
        "n_activities_dropped": 0,
        "cache_unknown": False,
    }
    return {name: [value] for name, value in (state | dict(known)).items()}


def _metrics(batch: Batch) -> list[str | None]:
    metrics = batch.metrics
    return [wire_text(metrics[run.run]) if run.run in metrics else None for run in batch.runs]


def progress_columns(rows: Sequence[PrefixProgress], fit: Callable[[str], str]) -> _Columns:
    """Return the columns of progress; `fit` shortens texts."""
    names = ("scheduled_s", "asked", "is_all", "queued", "waiting", "no_worker")
    scheduled = [(None,) * len(names) if row.scheduled is None else astuple(row.scheduled) for row in rows]
    columns = record_columns(PAGE["progress"], rows, fit)
    return columns | {name: [row[i] for row in scheduled] for i, name in enumerate(names)}


def _fitting(keys: KeyBlock) -> int:
    """Return how many tasks, from the first on, are not too much for one message; at least one."""
    n_bytes = 4 * np.where(keys.dims == TEXT, 0, keys.dims).astype(np.int64)
    n_bytes[keys.dims == TEXT] = [
        min(len(text), MAX_TEXT) * (1 if text.isascii() else 4) for text in keys.texts
    ]
    limits = ((n_bytes, _MAX_KEY_BYTES), (n_bytes + _ROW_BYTES, _MAX_TASK_BYTES))
    return max(min(int(np.searchsorted(np.cumsum(sizes), most, "right")) for sizes, most in limits), 1)


def key_columns(
    keys: KeyBlock, group: NDArray[np.uint32], n: int, names: Sequence[str], fit: Callable[[str], str]
) -> _Columns:
    """Return the columns of the first `n` keys; `names` are the groups' names, `fit` shortens texts."""
    dims = keys.dims[:n]
    if n and dims[0] <= MAX_KEY_INTS and (dims == dims[0]).all():
        # Nearly every batch of a collection.
        parts, none = keys.ints[: n * int(dims[0])].reshape(n, -1), np.zeros(n, np.int64)
        return {
            "dims": dims,
            **{f"i{i}": parts[:, i] if i < dims[0] else none for i in range(MAX_KEY_INTS)},
        }
    is_text = dims == TEXT
    lengths = np.where(is_text, 0, dims).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    texts: list[str | None] = [None] * n
    for row, text in zip(np.flatnonzero(is_text).tolist(), keys.texts, strict=False):
        texts[row] = fit(text)
    long = np.flatnonzero(~is_text & (dims > MAX_KEY_INTS))
    if len(long):
        of = [names[number] for number in group[long].tolist()]
        for row, text in zip(long.tolist(), keys.take(long).iter_text(of), strict=True):
            texts[row] = fit(text)
        dims = np.where(dims > MAX_KEY_INTS, TEXT, dims)
        lengths[long] = 0
    columns: _Columns = {"dims": dims, "key_text": texts}
    for i in range(MAX_KEY_INTS):
        rows = np.flatnonzero(lengths > i)
        columns[f"i{i}"] = np.zeros(n, np.int64)
        columns[f"i{i}"][rows] = keys.ints[starts[rows] + i]
    return columns


def _task_columns(tasks: TaskBlock, n: int) -> tuple[_Columns, list[str]]:
    """Return the columns of the first `n` rows, and the errors that these refer to by place."""
    start, stop = (_ticks(times[:n]) for times in (tasks.start, tasks.stop))
    # Clocks that step back must not make a task end before it began.
    duration = np.maximum(stop - start, 0)
    error, errors = _errors(tasks, n)
    measured = tasks.measured()
    columns = {
        "key": np.arange(n),
        "lane": tasks.lane[:n],
        **split_flags(tasks.flags[:n]),
        "duration_s": duration,
        "stop_s": stop,
        **{name: values[:n] for name, values in measured.items()},
        "cpu_s": np.clip(measured["cpu_s"][:n], 0.0, duration * TICK_S),
        "error": error,
    }
    return columns, errors


def _ticks(times: NDArray[np.float64]) -> NDArray[np.int64]:
    ticks = np.rint(np.clip(times / TICK_S, -LIMITS["value"], LIMITS["value"]))
    return ticks.astype(np.int64)


def _errors(tasks: TaskBlock, n: int) -> tuple[NDArray[np.int64], list[str]]:
    """Return the place of each row's error among the different ones, -1 without one."""
    places: dict[str, int] = {}
    error = np.full(n, -1, np.int64)
    status = tasks.status
    for row in sorted(row for row in tasks.errors if row < n and status[row]):
        text = wire_text(tasks.errors[row])
        if text not in places and len(places) >= MAX_ERRORS:
            text = f"(more than {MAX_ERRORS:,} different errors)"
        error[row] = places.setdefault(text, len(places))
    return error, list(places)


def cache_columns(rows: CacheRows) -> _Columns:
    """Return the columns of cache usage."""
    return {"time_s": rows.time, **rows.arrays()}


def _samples(samples: ResourceRows) -> _Columns:
    return {
        **samples.arrays(),
        "time_s": samples.time,
        "n_processes": np.minimum(samples.n_processes, 65535),
        "gap": np.minimum(samples.gap, 1),
    }


def activity_columns(rows: ActivityRows, start: NDArray[np.int64], duration: NDArray[np.int64]) -> _Columns:
    """Return the columns of activities, whose starts and durations are in ticks."""
    return {
        "run": rows.run,
        "lane": rows.lane,
        "group": rows.group,
        "activity": rows.kind,
        "source": rows.source.astype(np.int64) - (rows.source == 0),
        "start_s": start,
        "duration_s": duration,
        "nbytes": rows.nbytes,
    }


def worker_tables(
    known: dict[str, tuple[int, str, str, int]], samples: Sequence[WorkerSample], first: int = 0
) -> dict[str, Rows]:
    """Return the tables of workers and their samples; `known` are the workers of earlier messages."""
    workers, columns = worker_columns(known, samples, wire_text)
    return {"workers": Rows(0, workers), "worker_samples": Rows(first, columns)}


def worker_columns(
    known: dict[str, tuple[int, str, str, int]], samples: Sequence[WorkerSample], fit: Callable[[str], str]
) -> tuple[_Columns, _Columns]:
    """Return the columns of workers that are new or have changed, and of samples; `fit` shortens texts."""
    changed = [(number, fit(a), fit(b), n) for number, a, b, n in changed_workers(known, samples)]
    workers = {column.name: [row[i] for row in changed] for i, column in enumerate(FILE["workers"].columns)}
    numbers = [known[sample.worker][0] for sample in samples]
    return workers, record_columns(FILE["worker_samples"], samples, fit) | {"worker": numbers}


PART_ROWS = 65_536
"""Most rows of a table in one part."""

_PART_BYTES = 3 * 2**20
_FRAME_BYTES = 6 * 2**20
_FEW_ROWS = 400
"""So many rows fit into a frame beside its tasks, whatever texts they have."""

_ALWAYS = "state"
_IN_ALL = frozenset({"state", "keys", "errors", "tasks"})
_WITH_TASKS = frozenset({"keys", "errors", "tasks"})


def cuts(columns: Mapping[str, Any], n: int) -> list[int]:
    """Return the ends of parts of `n` rows that are of bounded size; the last one is `n`."""
    texts = [values for values in columns.values() if _is_text(values)]
    if not texts:
        return [*range(PART_ROWS, n, PART_ROWS), n]
    sizes = np.sum([[len(t) * (1 if t.isascii() else 4) if t else 0 for t in v] for v in texts], axis=0)
    if int(sizes.sum()) < _PART_BYTES:
        return [*range(PART_ROWS, n, PART_ROWS), n]
    sums, found, at = np.cumsum(sizes), [], 0
    while at < n:
        before = int(sums[at - 1]) if at else 0
        last = int(np.searchsorted(sums, before + _PART_BYTES, "right"))
        at = min(max(last, at + 1), at + PART_ROWS, n)
        found.append(at)
    return found


def text_bytes(columns: Mapping[str, Any]) -> int:
    """Return how many bytes texts take at most."""
    return sum(
        len(text) * (1 if text.isascii() else 4)
        for values in columns.values()
        if _is_text(values)
        for text in values
        if text
    )


def _is_text(values: object) -> bool:
    return isinstance(values, list) and any(isinstance(value, str) for value in values)


def in_parts(sections: Mapping[str, Section]) -> list[dict[str, Section]]:
    """Return a batch of a page as one or more; the last has the tasks and all tables that are sent whole.

    Rows that tasks refer to are sent before them.
    """
    ahead = {name: section for name, section in sections.items() if _can_go_ahead(name)}
    rest = {name: section for name, section in sections.items() if name not in ahead}
    if sum(map(_n_rows, ahead.values())) <= _FEW_ROWS:
        return [dict(sections)]
    found: list[dict[str, Section]] = []
    waiting: dict[str, Section] = {}
    n_bytes = 0
    for name, part in _parts(ahead):
        size = 8 * len(part.columns) * _n_rows(part) + text_bytes(part.columns)
        if waiting and (name in waiting or n_bytes + size > _FRAME_BYTES):
            found.append({_ALWAYS: sections[_ALWAYS], **waiting})
            waiting, n_bytes = {}, 0
        waiting[name] = part
        n_bytes += size
    if not found and n_bytes <= _PART_BYTES:
        return [dict(sections)]
    return [*found, {_ALWAYS: sections[_ALWAYS], **waiting}, rest]


def _can_go_ahead(name: str) -> bool:
    return PAGE[name].mode != "whole" and name not in _WITH_TASKS


def _parts(sections: Mapping[str, Section]) -> Iterator[tuple[str, Section]]:
    # In the order of frames: tables that are referred to first.
    for name in (name for name in PAGE if name in sections):
        first, columns = sections[name]
        is_numbered = PAGE[name].mode in {"append", "restart"}
        start = 0
        for stop in cuts(columns, _n_rows(sections[name])):
            part = {column: values[start:stop] for column, values in columns.items()}
            yield name, Section(first + start if is_numbered else 0, part)
            start = stop


def _n_rows(section: Section) -> int:
    return _n(section.columns)


def _n(columns: Mapping[str, Any]) -> int:
    return len(next(iter(columns.values())))


MAX_TEXT = 512
"""Longest text on the wire, in characters; longer ones are cut and end in an ellipsis."""


def wire_text(text: str) -> str:
    r"""Return `text` cut to `MAX_TEXT` characters, with lone surrogates escaped.

    Examples
    --------
    >>> wire_text("a\ud800b")
    'a\\ud800b'
    """
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}…"
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


PROTOCOL: Literal[1] = 1

LinkRow: TypeAlias = tuple[int | None, str]
"""row, key_text"""


class LinksRow(TypedDict):
    """A task's neighbours; the lists may be cut, the counts are of all."""

    dependencies: list[LinkRow]
    n_dependencies: int
    dependents: list[LinkRow]
    n_dependents: int


def encode_links(links: TaskLinks) -> LinksRow:
    """Return links as plain JSON.

    Examples
    --------
    >>> encode_links(TaskLinks((Link(3, "x"),), 1, (), 0))
    {'dependencies': [(3, 'x')], 'n_dependencies': 1, 'dependents': [], 'n_dependents': 0}
    """
    return {
        "dependencies": _rows(links.dependencies),
        "n_dependencies": links.n_dependencies,
        "dependents": _rows(links.dependents),
        "n_dependents": links.n_dependents,
    }


def _rows(links: Iterable[Link]) -> list[LinkRow]:
    return [(link.row, wire_text(link.key_text)) for link in links]
