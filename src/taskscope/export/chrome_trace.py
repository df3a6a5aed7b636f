"""A recording in the Trace Event Format, which Perfetto and ``chrome://tracing`` show.

A worker is a process, a lane a thread, a task a slice; computes and other activities of workers are spans,
CPU, memory and cache usage are counters, and dependencies are arrows.

Events are written as text, column by column: a million tasks make several million events, and making objects
of these first takes four times as long. Times are whole nanoseconds until they are written, in microseconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from taskscope.model.recording import RecordedData
from taskscope.model.tables.activities import ACTIVITIES, FAILED_ATTEMPT
from taskscope.model.tables.records import RUNNING, STATUSES

_LINES = 10_000
_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_Places = list[str]
_Ns = NDArray[np.int64]


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
    file.write(b',"traceEvents":[\n')
    events = _events(recording)
    separator = b""
    while lines := list(islice(events, _LINES)):
        file.write(separator + ",\n".join(lines).encode())
        separator = b",\n"
    file.write(b"\n]}\n")


def _events(recording: RecordedData) -> Iterator[str]:
    workers = dict.fromkeys(lane.worker for lane in recording.lanes)
    pids = {worker: place for place, worker in enumerate(workers, start=1)}
    places = [f'"pid":{pids[lane.worker]},"tid":{lane.id}' for lane in recording.lanes]
    start, stop = _times(recording)
    return chain(
        _names(recording, pids),
        _runs(recording),
        _tasks(recording, places, start, stop),
        _activities(recording, places),
        _resources(recording),
        _cache(recording),
        _dependencies(recording, places, start, stop),
    )


def _ns(seconds: NDArray[np.float64]) -> _Ns:
    return np.rint(seconds * 1e9).astype(np.int64)


def _us(ns: _Ns) -> list[float]:
    us: list[float] = (ns / 1000).tolist()
    return us


def _times(recording: RecordedData) -> tuple[_Ns, _Ns]:
    """Return each task's start and end; tasks in flight end now."""
    tasks = recording.tasks
    now_s = recording.now_s - recording.zero_s
    start = _ns(tasks.start)
    return start, np.maximum(_ns(np.where(tasks.status == RUNNING, now_s, tasks.stop)), start)


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
        start_us, stop_us = _us(_ns(np.array([run.start_s, stop_s]) - recording.zero_s))
        yield _json({**same, "ph": "b", "ts": start_us, "args": args})
        yield _json({**same, "ph": "e", "ts": stop_us})


def _tasks(recording: RecordedData, places: _Places, start: _Ns, stop: _Ns) -> Iterator[str]:
    tasks = recording.tasks
    names = [g.name for g in recording.groups]
    heads = [f'"name":{_json(g.prefix)},"cat":"compute"' for g in recording.groups]
    groups = [f'"group":{_json(name)}' for name in names]
    statuses = [f'"status":{_json(status)}' for status in STATUSES]
    group = tasks.group.tolist()
    rows = zip(
        group,
        tasks.keys.iter_text([names[i] for i in group]),
        tasks.lane.tolist(),
        tasks.run.tolist(),
        tasks.status.tolist(),
        _us(start),
        _us(stop - start),
        _known('"cpu_s"', np.round(tasks.cpu_s.astype(np.float64), 9)),
        _known('"result_bytes"', tasks.sizes()),
        _errors(tasks.errors, len(group)),
        strict=True,
    )
    for g, key, lane, run, status, ts, dur, cpu, size, error in rows:
        yield (
            f'{{"ph":"X",{heads[g]},{places[lane]},"ts":{ts},"dur":{dur},"args":'
            f'{{"key":{_json(key)},{groups[g]},"run":{run},{statuses[status]}{cpu}{size}{error}}}}}'
        )


def _known(name: str, values: NDArray[np.floating]) -> Iterator[str]:
    """Yield each value as a further member of an object; nothing where it is not known."""
    return (f",{name}:{value}" if math.isfinite(value) else "" for value in values.tolist())


def _errors(errors: Mapping[int, str], n: int) -> Iterator[str]:
    return (f',"error":{_json(errors[row])}' if row in errors else "" for row in range(n))


def _activities(recording: RecordedData, places: _Places) -> Iterator[str]:
    """Yield workers' activities besides computing, which may overlap, as spans of their process."""
    columns = recording.activities
    rows = columns.rows
    start = _ns(rows.start - recording.zero_s)
    stop = np.maximum(_ns(rows.start + rows.duration - recording.zero_s), start)
    causes = ["error" if kind == FAILED_ATTEMPT else "source" for kind in range(len(ACTIVITIES))]
    sources = [_json(source or None) for source in columns.sources]
    # A span's number is its own among spans of all kinds.
    first = 1 + max((run.run for run in recording.runs), default=0)
    values = zip(
        rows.kind.tolist(), rows.lane.tolist(), rows.run.tolist(), rows.source.tolist(),
        _known('"nbytes"', rows.nbytes), _us(start), _us(stop), strict=True,
    )  # fmt: skip
    for number, (kind, lane, run, source, nbytes, start_us, stop_us) in enumerate(values, start=first):
        cause = f'"{causes[kind]}":{sources[source]}'
        same = f'"name":"{ACTIVITIES[kind]}","cat":"activity","id":{number},{places[lane]}'
        yield f'{{"ph":"b",{same},"ts":{start_us},"args":{{"run":{run},{cause}{nbytes}}}}}'
        yield f'{{"ph":"e",{same},"ts":{stop_us}}}'


def _resources(recording: RecordedData) -> Iterator[str]:
    table = recording.table("resources")
    for name, column in (("CPU (%)", "cpu_percent"), ("memory (bytes)", "rss_bytes")):
        values = np.asarray(table[column], np.float64)
        known = np.isfinite(values)
        yield from _counter(name, np.asarray(table["time_s"], np.float64)[known], values[known])


def _counter(name: str, times_s: NDArray[np.float64], values: NDArray[np.float64]) -> Iterator[str]:
    head = f'{{"ph":"C","name":{_json(name)},"pid":0,"tid":0,"ts":'
    for ts, value in zip(_us(_ns(times_s)), values.tolist(), strict=True):
        yield f'{head}{ts},"args":{{"value":{value}}}}}'


def _cache(recording: RecordedData) -> Iterator[str]:
    """Yield cache usage at each change; results of unknown size do not count."""
    cache = recording.table("cache")
    exits = np.asarray(cache["exit_s"], np.float64)
    known = ~np.isnan(exits)
    enter, sizes = (np.asarray(cache[name], np.float64)[known] for name in ("enter_s", "metric"))
    metric = recording.metadata.get("metric") or "nbytes"
    yield from _amounts(f"results in memory ({metric})", enter, exits[known], np.nan_to_num(sizes))
    seen = recording.holdings
    start, stop = seen.time - recording.zero_s, seen.until(recording.now_s) - recording.zero_s
    yield from _amounts("results in workers' memory (nbytes)", start, stop, seen.nbytes)


def _amounts(
    name: str, start: NDArray[np.float64], stop: NDArray[np.float64], amount: NDArray[np.float64]
) -> Iterator[str]:
    """Yield the sum of amounts at each change, each amount from its start to its stop."""
    times, changes = np.concatenate([start, stop]), np.concatenate([amount, -amount])
    order = np.argsort(times, kind="stable")
    return _counter(name, times[order], np.maximum(np.cumsum(changes[order]), 0.0))


def _dependencies(recording: RecordedData, places: _Places, start: _Ns, stop: _Ns) -> Iterator[str]:
    """Yield an arrow from the end of each dependency to the start of the task that needs it."""
    lane = recording.tasks.lane
    same = '"name":"dependency","cat":"dependency","id":'
    number = 0
    for needed, needing in _edges(recording):
        rows = zip(
            lane[needed].tolist(), _us(stop[needed]), lane[needing].tolist(), _us(start[needing]), strict=True
        )
        for from_lane, from_us, to_lane, to_us in rows:
            yield f'{{"ph":"s",{same}{number},{places[from_lane]},"ts":{from_us}}}'
            yield f'{{"ph":"f","bp":"e",{same}{number},{places[to_lane]},"ts":{to_us}}}'
            number += 1


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
