"""A recording in the Trace Event Format, which Perfetto and ``chrome://tracing`` show.

A worker is a process, a lane a thread, a task a slice; computes and other activities of workers are spans,
CPU, memory and cache usage are counters, and dependencies are arrows.

Events are written as text, ten thousand at once: a million tasks make several million events. Times are whole
nanoseconds until they are written, in microseconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import chain
from json.encoder import encode_basestring_ascii
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.dataframes import text_column
from taskscope.model.recording import RecordedData, cache_usage
from taskscope.model.tables.activities import ACTIVITIES, FAILED_ATTEMPT
from taskscope.model.tables.records import RUNNING, STATUSES, TaskBlock

_AT_ONCE = 10_000
_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_Ns = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Column: TypeAlias = "NDArray[Any] | list[str]"


def write_chrome_trace(recording: RecordedData, file: BinaryIO) -> None:
    """Write a recording as one JSON object of events."""
    head = {
        "displayTimeUnit": "ms",
        "otherData": {
            "tool": "taskscope",
            "started_at": recording.started_at.isoformat(),
            "dropped_tasks": recording.dropped,
        },
    }
    file.write(_json(head).removesuffix("}").encode())
    separator = b',"traceEvents":[\n'
    for events in _events(recording):
        file.write(separator + events.encode())
        separator = b",\n"
    file.write(b"\n]}\n")


def _events(recording: RecordedData) -> Iterator[str]:
    workers = dict.fromkeys(lane.worker for lane in recording.lanes)
    pids = {worker: place for place, worker in enumerate(workers, start=1)}
    places = text_column([f'"pid":{pids[lane.worker]},"tid":{lane.id}' for lane in recording.lanes])
    tasks = recording.tasks
    start, stop = _times(recording, tasks)
    return chain(
        _names(recording, pids),
        _runs(recording),
        _tasks(recording, tasks, places[tasks.lane], start, stop),
        _activities(recording, places),
        _counts(recording),
        _dependencies(recording, places[tasks.lane], start / 1000, stop / 1000),
    )


def _filled(form: str, *columns: _Column) -> Iterator[str]:
    """Yield many events at once: the form, filled with the values of each row."""
    for first in range(0, len(columns[0]), _AT_ONCE):
        parts = [column[first : first + _AT_ONCE] for column in columns]
        rows = zip(*(part if isinstance(part, list) else part.tolist() for part in parts), strict=True)
        yield ",\n".join([form] * len(parts[0])) % tuple(chain.from_iterable(rows))


def nanoseconds(seconds: NDArray[np.float64]) -> _Ns:
    """Return times as whole nanoseconds."""
    return np.rint(seconds * 1e9).astype(np.int64)


def _times(recording: RecordedData, tasks: TaskBlock) -> tuple[_Ns, _Ns]:
    """Return each task's start and end; tasks in flight end now."""
    now_s = recording.now_s - recording.zero_s
    start = nanoseconds(tasks.start)
    return start, np.maximum(nanoseconds(np.where(tasks.status == RUNNING, now_s, tasks.stop)), start)


def _names(recording: RecordedData, pids: Mapping[str, int]) -> Iterator[str]:
    yield _name("process_name", 0, 0, "computes")
    for worker, pid in pids.items():
        yield _name("process_name", pid, 0, f"worker {worker}")
    for lane in recording.lanes:
        yield _name("thread_name", pids[lane.worker], lane.id, lane.label)


def _name(kind: str, pid: int, tid: int, name: str) -> str:
    return _json({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}})


def _runs(recording: RecordedData) -> Iterator[str]:
    for run in recording.runs:
        stop_s = recording.now_s if run.stop_s is None else run.stop_s
        same = {"name": run.label or f"compute {run.run}", "cat": "run", "id": run.run, "pid": 0, "tid": 0}
        args = {"scheduler": run.scheduler, "status": run.status, "error": run.error}
        start_us, stop_us = (nanoseconds(np.array([run.start_s, stop_s]) - recording.zero_s) / 1000).tolist()
        yield _json({**same, "ph": "b", "ts": start_us, "args": args})
        yield _json({**same, "ph": "e", "ts": stop_us})


def _tasks(
    recording: RecordedData, tasks: TaskBlock, places: NDArray[np.object_], start: _Ns, stop: _Ns
) -> Iterator[str]:
    names = text_column([g.name for g in recording.groups])[tasks.group].tolist()
    heads = [
        f'"name":{_json(g.prefix)},"cat":"compute","args":{{"group":{_json(g.name)}' for g in recording.groups
    ]
    cpu_form, cpu_s = _known('"cpu_s":%.9f', tasks.cpu_s.astype(np.float64))
    size_form, sizes = _known('"result_bytes":%d', tasks.sizes())
    errors = [""] * len(tasks)
    for row, error in tasks.errors.items():
        errors[row] = f',"error":{_json(error)}'
    return _filled(
        f'{{"ph":"X",%s,"key":%s,"run":%d,"status":"%s"{cpu_form}{size_form}%s}},%s,"ts":%.3f,"dur":%.3f}}',
        text_column(heads)[tasks.group],
        list(map(encode_basestring_ascii, tasks.keys.to_text(names).tolist())),
        tasks.run,
        text_column(STATUSES)[tasks.status],
        cpu_s,
        sizes,
        errors,
        places,
        start / 1000,
        (stop - start) / 1000,
    )


def _known(form: str, values: _Floats) -> tuple[str, _Column]:
    """Return a form and a column of values as a further member of objects; nothing where it is not known."""
    known = np.isfinite(values)
    if known.all():
        return f",{form}", values
    return "%s", [f",{form}" % value if math.isfinite(value) else "" for value in values.tolist()]


def _activities(recording: RecordedData, places: NDArray[np.object_]) -> Iterator[str]:
    """Yield workers' activities besides computing, which may overlap, as spans of their process."""
    columns = recording.activities
    rows = columns.rows
    start = nanoseconds(rows.start - recording.zero_s)
    stop = np.maximum(nanoseconds(rows.start + rows.duration - recording.zero_s), start)
    causes = ["error" if kind == FAILED_ATTEMPT else "source" for kind in range(len(ACTIVITIES))]
    # A span's number is its own among spans of all kinds.
    first = 1 + max((run.run for run in recording.runs), default=0)
    same = [text_column(ACTIVITIES)[rows.kind], np.arange(first, first + len(rows)), places[rows.lane]]
    nbytes_form, nbytes = _known('"nbytes":%d', rows.nbytes)
    named = '"name":"%s","cat":"activity","id":%d,%s,"ts":%.3f'
    return _filled(
        f'{{"ph":"b",{named},"args":{{"run":%d,"%s":%s{nbytes_form}}}}},\n{{"ph":"e",{named}}}',
        *same,
        start / 1000,
        rows.run,
        text_column(causes)[rows.kind],
        text_column([_json(source or None) for source in columns.sources])[rows.source],
        nbytes,
        *same,
        stop / 1000,
    )


class Counter(NamedTuple):
    """A value at each of its changes."""

    name: str
    time: _Ns
    values: NDArray[np.float64]


def counters(recording: RecordedData) -> Iterator[Counter]:
    """Yield CPU, memory and cache usage; results of unknown size do not count."""
    samples = recording.resources
    for name, values in (("CPU (%)", samples.cpu_percent), ("memory (bytes)", samples.rss_bytes)):
        known = np.isfinite(values)
        yield Counter(name, nanoseconds(samples.time[known] - recording.zero_s), values[known])
    usage = [columns for _, _, columns in cache_usage(recording)]
    amount, start, stop = (
        np.concatenate([np.empty(0), *(columns[name] for columns in usage)])
        for name in ("metric", "enter_s", "exit_s")
    )
    known = ~np.isnan(stop)
    metric = recording.metadata.get("metric") or "nbytes"
    yield _sums(f"results in memory ({metric})", start[known], stop[known], np.nan_to_num(amount[known]))
    seen, zero_s = recording.holdings, recording.zero_s
    yield _sums(
        "results in workers' memory (nbytes)",
        seen.time - zero_s,
        seen.until(recording.now_s) - zero_s,
        seen.nbytes,
    )


def _sums(
    name: str, start: NDArray[np.float64], stop: NDArray[np.float64], amount: NDArray[np.float64]
) -> Counter:
    """Return the sum of amounts at each change, each amount from its start to its stop."""
    times, changes = nanoseconds(np.concatenate([start, stop])), np.concatenate([amount, -amount])
    order = np.argsort(times, kind="stable")
    times, sums = times[order], np.maximum(np.cumsum(changes[order]), 0.0)
    # Changes at one moment make one event.
    is_last = np.diff(times, append=-1) != 0
    return Counter(name, times[is_last], sums[is_last])


def _counts(recording: RecordedData) -> Iterator[str]:
    for counter in counters(recording):
        name = _json(counter.name).replace("%", "%%")
        form = f'{{"ph":"C","name":{name},"pid":0,"tid":0,"ts":%.3f,"args":{{"value":%r}}}}'
        yield from _filled(form, counter.time / 1000, counter.values)


def _dependencies(
    recording: RecordedData, places: NDArray[np.object_], start: _Floats, stop: _Floats
) -> Iterator[str]:
    """Yield an arrow from the end of each dependency to the start of the task that needs it."""
    named = '"name":"dependency","cat":"dependency","id":%d,%s,"ts":%.3f'
    form = f'{{"ph":"s",{named}}},\n{{"ph":"f","bp":"e",{named}}}'
    first = 0
    for needed, needing in _edges(recording):
        numbers = np.arange(first, first + len(needed))
        ends = places[needed], stop[needed], numbers, places[needing], start[needing]
        yield from _filled(form, numbers, *ends)
        first += len(needed)


def _edges(recording: RecordedData) -> Iterator[tuple[_Ns, _Ns]]:
    """Yield, for each run, the rows of each task and the task that it needed."""
    firsts = np.cumsum([0, *map(len, recording.blocks)]).tolist()
    for run, graph in recording.graphs.items():
        row = np.full(len(graph.group), -1, np.int64)
        for block, first in zip(recording.blocks, firsts, strict=False):
            if block.run == run:
                row[block.task] = np.arange(first, first + len(block))
        needed, needing = row[graph.edges], row[graph.edge_sources()]
        both = (needed >= 0) & (needing >= 0)
        yield needed[both], needing[both]
