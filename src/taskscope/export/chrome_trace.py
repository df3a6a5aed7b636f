"""A recording in the Trace Event Format, which Perfetto and ``chrome://tracing`` show.

A worker is a process, a lane a thread, a task a slice; computes are spans above them, CPU, memory and what
the scheduler held are counters, and dependencies are arrows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from taskscope.model.recording import Recording
from taskscope.model.tables import Columns

__all__ = ["write_chrome_trace"]

_US = 1e6
_LINES = 10_000
_Event = Mapping[str, object]


def write_chrome_trace(recording: Recording, file: BinaryIO) -> None:
    """Write a recording as one JSON object of events."""
    head = {
        "displayTimeUnit": "ms",
        "otherData": {
            "tool": "taskscope",
            "started_at": recording.started_at.isoformat(),
            "dropped_tasks": recording.dropped,
        },
    }
    file.write(json.dumps(head).removesuffix("}").encode())
    file.write(b',"traceEvents":[\n')
    events = _events(recording)
    separator = b""
    while lines := [json.dumps(e, separators=(",", ":"), allow_nan=False) for e in islice(events, _LINES)]:
        file.write(separator + ",\n".join(lines).encode())
        separator = b",\n"
    file.write(b"\n]}\n")


def _events(recording: Recording) -> Iterator[_Event]:
    workers = dict.fromkeys(lane.worker for lane in recording.lanes)
    pids = {worker: place for place, worker in enumerate(workers, start=1)}
    tasks = recording.table("tasks")
    return chain(
        _names(recording, pids),
        _runs(recording),
        _tasks(recording, tasks, pids),
        _resources(recording),
        _cache(recording),
        _dependencies(recording, tasks, pids),
    )


def _names(recording: Recording, pids: Mapping[str, int]) -> Iterator[_Event]:
    yield _name("process_name", 0, 0, "computes")
    for worker, pid in pids.items():
        yield _name("process_name", pid, 0, f"worker {worker}")
    for lane in recording.lanes:
        yield _name("thread_name", pids[lane.worker], lane.id, lane.label)


def _name(kind: str, pid: int, tid: int, name: str) -> _Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def _runs(recording: Recording) -> Iterator[_Event]:
    for run in recording.runs:
        stop_s = recording.now_s if run.stop_s is None else run.stop_s
        same = {"name": run.label or f"compute {run.run}", "cat": "run", "id": run.run, "pid": 0, "tid": 0}
        args = {"scheduler": run.scheduler, "status": run.status, "error": run.error}
        yield {**same, "ph": "b", "ts": _us(run.start_s - recording.zero_s), "args": args}
        yield {**same, "ph": "e", "ts": _us(stop_s - recording.zero_s)}


def _us(seconds: float) -> float:
    return round(seconds * _US, 3)


def _rows(columns: Columns, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(np.asarray(columns[name]).tolist() for name in names), strict=True)


def _ends(recording: Recording, tasks: Columns) -> NDArray[np.float64]:
    stop = np.asarray(tasks["stop_s"], np.float64)
    return np.where(np.isnan(stop), recording.now_s - recording.zero_s, stop)


_TASK = (
    "prefix",
    "key",
    "group",
    "run",
    "worker",
    "lane",
    "start_s",
    "status",
    "cpu_s",
    "result_bytes",
    "error",
)


def _tasks(recording: Recording, tasks: Columns, pids: Mapping[str, int]) -> Iterator[_Event]:
    for row, stop_s in zip(_rows(tasks, _TASK), _ends(recording, tasks).tolist(), strict=True):
        prefix, key, group, run, worker, lane, start_s, status, cpu_s, size, error = row
        args = {"key": key, "group": group, "run": run, "status": status}
        args |= {"cpu_s": cpu_s} if math.isfinite(cpu_s) else {}
        args |= {"result_bytes": size} if math.isfinite(size) else {}
        args |= {"error": error} if error is not None else {}
        yield {
            "ph": "X",
            "name": prefix,
            "cat": "compute",
            "pid": pids[worker],
            "tid": lane,
            "ts": _us(start_s),
            "dur": _us(max(stop_s - start_s, 0.0)),
            "args": args,
        }


def _resources(recording: Recording) -> Iterator[_Event]:
    rows = _rows(recording.table("resources"), ("time_s", "cpu_percent", "rss_bytes"))
    for time_s, cpu_percent, rss_bytes in rows:
        for name, value in (("CPU (%)", cpu_percent), ("memory (bytes)", rss_bytes)):
            if math.isfinite(value):
                yield _counter(name, time_s, value)


def _counter(name: str, time_s: float, value: float) -> _Event:
    return {"ph": "C", "name": name, "pid": 0, "tid": 0, "ts": _us(time_s), "args": {"value": value}}


def _cache(recording: Recording) -> Iterator[_Event]:
    """Yield what the scheduler held whenever that changed; results of unknown size do not count."""
    cache = recording.table("cache")
    sizes = np.nan_to_num(np.asarray(cache["metric"], np.float64))
    times = np.concatenate([np.asarray(cache[c], np.float64) for c in ("enter_s", "exit_s")])
    held = np.concatenate([sizes, -sizes])
    order = np.argsort(times, kind="stable")
    name = f"held by the scheduler ({recording.metadata.get('metric') or 'nbytes'})"
    for time_s, value in zip(times[order].tolist(), np.cumsum(held[order]).tolist(), strict=True):
        yield _counter(name, time_s, max(value, 0.0))


def _dependencies(recording: Recording, tasks: Columns, pids: Mapping[str, int]) -> Iterator[_Event]:
    """Yield an arrow from the end of each dependency to the start of the task that needs it."""
    ends = _ends(recording, tasks)
    starts = np.asarray(tasks["start_s"], np.float64)
    places = [(pids[lane.worker], lane.id) for lane in recording.lanes]
    lane = np.asarray(tasks["lane"], np.int64).tolist()
    for number, (needed, needing) in enumerate(_edges(recording)):
        same = {"name": "dependency", "cat": "dependency", "id": number}
        pid, tid = places[lane[needed]]
        yield {**same, "ph": "s", "pid": pid, "tid": tid, "ts": _us(float(ends[needed]))}
        pid, tid = places[lane[needing]]
        yield {**same, "ph": "f", "bp": "e", "pid": pid, "tid": tid, "ts": _us(float(starts[needing]))}


def _edges(recording: Recording) -> Iterator[tuple[int, int]]:
    """Yield the rows of each two tasks of which the second needed the first, where both are held."""
    firsts = np.cumsum([0, *map(len, recording.blocks)]).tolist()
    for run, graph in recording.graphs.items():
        row = np.full(len(graph.group), -1, np.int64)
        for block, first in zip(recording.blocks, firsts, strict=False):
            if block.run == run:
                row[block.task] = np.arange(first, first + len(block))
        needed, needing = row[graph.edges], row[graph.edge_sources()]
        both = (needed >= 0) & (needing >= 0)
        yield from zip(needed[both].tolist(), needing[both].tolist(), strict=True)
