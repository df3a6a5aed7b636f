"""A finished recording as frames, of a file or an offline page, and an explanation for a page."""

from __future__ import annotations

import base64
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cluster import seconds_by_prefix
from taskscope.analysis.explain.critical_path import CriticalPath, WaitCause, critical_path
from taskscope.analysis.explain.finding import Cause, Explanation, Finding
from taskscope.analysis.memory import cache_metrics, cache_rows
from taskscope.analysis.quantities import format_count
from taskscope.analysis.totals import prefix_progress, stop_of
from taskscope.codec import TICK_S, Encoder
from taskscope.model.keys import plain_text
from taskscope.model.recording import RecordedData
from taskscope.model.streams import PAGE, RECORDS
from taskscope.model.tables.cache_usage import CacheRows, TimeBins
from taskscope.model.tables.columns import GraphColumns, RowBlock, distinct
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import RUNNING, flag_codes
from taskscope.model.tables.workers import WorkerSample
from taskscope.wire import batch_message
from taskscope.wire.writer import Columns, FrameWriter

MAX_SAMPLES = 2_000
"""Samples sent of a recording, about 23 bytes each."""

_STRETCHES = 200


def thin_samples(samples: ResourceRows, limit: int = MAX_SAMPLES) -> ResourceRows:
    """Return at most about `limit` samples.

    Of each stretch the extremes of CPU and memory and the last sample stay, and so do the samples on both
    sides of every gap and break. A sample's CPU remains the mean of its own interval.
    """
    if len(samples) <= limit:
        return samples
    stretch = np.arange(len(samples)) * (limit // 5) // len(samples)
    broken = np.flatnonzero((samples.gap != 0) | np.isnan(samples.cpu_percent))
    cpu = np.nan_to_num(samples.cpu_percent, nan=-1.0)
    kept = _extremes(stretch, cpu, samples.rss_bytes, -samples.rss_bytes)
    return samples.part(distinct(np.concatenate((kept, broken, np.maximum(broken - 1, 0)))))


def _extremes(cell: NDArray[np.int64], *columns: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of the last row of each cell, and of the largest value in each column."""
    kept = []
    for column in (np.arange(len(cell)), *columns):
        order = np.lexsort((column, cell))
        kept.append(order[np.append(np.diff(cell[order]) != 0, True)])
    return np.concatenate(kept)


def few_cache_rows(recording: RecordedData) -> CacheRows:
    """Return cache usage in a few hundred stretches; times on the recorder's axis."""
    longest_s = max((stop_of(recording, run) - run.start_s for run in recording.runs), default=0.0)
    return cache_rows(recording, TimeBins(max(longest_s / _STRETCHES, 1e-6), _STRETCHES))


def whole_fact(recording: RecordedData, name: str) -> int | None:
    """Return a fact of the metadata that is a positive whole number; None where it is unknown."""
    value = recording.metadata.get(name)
    return value if type(value) is int and value > 0 else None


def rows_of(recording: RecordedData, run: int, tasks: NDArray[np.int32]) -> dict[int, int]:
    """Return the rows of these tasks of a compute by their numbers; tasks without a row are left out."""
    found: dict[int, int] = {}
    first = 0
    for block in _ended_and_in_flight(recording)[0]:
        if block.run == run:
            places = np.flatnonzero(np.isin(block.task, tasks))
            found |= dict(zip(block.task[places].tolist(), (first + places).tolist(), strict=True))
        first += len(block)
    return found


def _ended_and_in_flight(recording: RecordedData) -> tuple[list[RowBlock], list[RowBlock]]:
    """Return the blocks without the tasks that were in flight at the snapshot, and with these alone."""
    running = [flag_codes(block.flags, "status") == RUNNING for block in recording.blocks]
    pairs = list(zip(recording.blocks, running, strict=True))
    return [block.part(~is_running) for block, is_running in pairs], [block.part(at) for block, at in pairs]


MAX_ACTIVITIES = 50_000
"""Activities sent of a recording, about 27 bytes each before they are deflated: the longest ones."""

MAX_WORKER_SAMPLES = 20_000
"""About as many samples of workers are sent of a recording, 53 bytes each."""


def activity_groups(recording: RecordedData) -> NDArray[np.uint32]:
    """Return the group of the task of every activity."""
    rows = recording.activities.rows
    groups = np.zeros(len(rows), np.uint32)
    for run in distinct(rows.run).tolist():
        mine = rows.run == run
        groups[mine] = recording.graphs[run].group[rows.task[mine]]
    return groups


def few_samples(samples: Sequence[WorkerSample], limit: int = MAX_WORKER_SAMPLES) -> Sequence[WorkerSample]:
    """Return at most about `limit` samples: of each worker and stretch the last, and the one of most memory.

    The sample of a worker's end stays.
    """
    if len(samples) <= limit:
        return samples
    names, worker = np.unique([sample.worker for sample in samples], return_inverse=True)
    n_stretches = max(limit // (2 * len(names)), 1)
    time_s = np.array([sample.time_s for sample in samples])
    share = (time_s - time_s[0]) / max(time_s.max() - time_s[0], 1e-9)
    cell = worker * (n_stretches + 1) + (share * n_stretches).astype(np.int64)
    kept = _extremes(cell, np.array([sample.rss_bytes or 0.0 for sample in samples]))
    gone = [place for place, sample in enumerate(samples) if not sample.n_threads]
    return [samples[place] for place in sorted({*kept.tolist(), *gone})]


def _few(recording: RecordedData) -> RecordedData:
    """Return the recording with as many samples and activities as a page shows, and what it leaves out."""
    rows = recording.activities.rows
    longest = rows.part(np.argsort(-rows.duration, kind="stable")[:MAX_ACTIVITIES])
    longest = longest.part(np.argsort(longest.start, kind="stable"))
    dropped = recording.activities.dropped + len(rows) - len(longest)
    return replace(
        recording,
        resources=thin_samples(recording.resources),
        workers=tuple(few_samples(recording.workers)),
        activities=replace(recording.activities, rows=longest, dropped=dropped),
        dropped=0,
    )


def recorded_frames(
    recording: RecordedData,
    tick_s: float = TICK_S,
    *,
    has_links: bool = True,
    path: Mapping[str, Columns] = MappingProxyType({}),
) -> list[bytes]:
    """Return the frames of an offline page; the first one begins with the header.

    Groups and lanes are numbered from 0. Without `has_links` dependencies are left out; `path` are the tables
    of the critical path.
    """
    frames: list[bytes] = []
    shown = _few(recording)
    tables = PAGE if has_links else {n: t for n, t in PAGE.items() if n not in {"dependencies", "graphs"}}
    header = {"recorder": "static", "epoch": "static-0", "zero_s": recording.zero_s}
    # The same recording is the same page each time.
    encoder = partial(Encoder, stream=0)
    first_rows = {"activities": shown.activities.dropped}
    writer = FrameWriter(frames.append, header, encoder, tables=tables, tick_s=tick_s, first_rows=first_rows)
    for table, columns in path.items():
        writer.add(table, columns)
    _write(shown, writer, *_ended_and_in_flight(shown))
    return [frames[0] + frames[1], *frames[2:]]


def recorded_messages(recording: RecordedData) -> list[dict[str, object]]:
    """Return these frames as messages of the feed with their buffers."""
    return [{"message": batch_message(), "buffers": [frames]} for frames in recorded_frames(recording)]


_MOST_PARTS = 10
_LEAST_PART = 300
"""A file has its tasks in so many parts, of at least so many each: of a cut file, the whole ones are read."""


def write(recording: RecordedData, file: BinaryIO) -> None:
    """Write a recording as one complete file."""
    ended, in_flight = _ended_and_in_flight(recording)
    n_tasks, n_running = (sum(map(len, blocks)) for blocks in (ended, in_flight))
    writer = FrameWriter.of_file(
        file,
        recording.started_at,
        recording.zero_s,
        now_s=recording.now_s,
        first_rows={"tasks": recording.dropped, "activities": recording.activities.dropped},
        n_rows={"tasks": n_tasks, "running": n_running, **_n_rows(recording)},
    )
    n_parts = min(max(n_tasks // _LEAST_PART, 1), _MOST_PARTS)
    _write(recording, writer, ended, in_flight, math.ceil(n_tasks / n_parts) or 1)


def _n_rows(recording: RecordedData) -> dict[str, int]:
    """Return how many rows other tables have in the file; the reader of a cut one knows which it lacks."""
    others = (name for name in RECORDS if name not in _FIRST)
    return {
        "resources": len(recording.resources),
        "stacks": len(recording.stacks.rows),
        "lines": len(recording.stacks.lines),
        "activities": len(recording.activities.rows),
        "transfers": len(recording.transfers),
        "worker_samples": len(recording.workers),
        **{name: len(getattr(recording, name)) for name in others},
    }


_FIRST = {"runs", "messages", "groups", "lanes", "transfers"}
"""Tables of records that others refer to, or that are written with others."""


def _write(
    recording: RecordedData,
    writer: FrameWriter,
    ended: Sequence[RowBlock],
    in_flight: Sequence[RowBlock],
    part_tasks: int = sys.maxsize,
) -> None:
    """Write what refers to no key, then the tasks, `part_tasks` a part, with their graphs."""
    writer.state = {
        "now_s": recording.now_s,
        "n_tasks": recording.dropped + sum(map(len, ended)),
        "n_dropped": recording.dropped,
        "n_activities_dropped": recording.activities.dropped,
        "n_cores": whole_fact(recording, "n_cores"),
        "limit_bytes": whole_fact(recording, "memory_limit_bytes"),
        "cache_unknown": "cache" in recording.unknown,
    }
    if recording.unknown:
        writer.standing["unknown"] = {"name": sorted(recording.unknown)}
    _add_without_keys(recording, writer)
    parts = list(_parts(ended, part_tasks))
    for part in parts:
        if len(parts) > 1:
            writer.frame()
        for block in part:
            graph = recording.graphs[block.run]
            _add_graph(writer, block.run, graph, int(block.task.max()) + 1)
            writer.add_tasks(block, graph.errors)
    for run, graph in recording.graphs.items():
        _add_graph(writer, run, graph, len(graph.keys))
    if len(recording.activities.rows):
        writer.add_sources(recording.activities.sources)
        writer.add_activities(replace(recording.activities.rows, group=activity_groups(recording)))
    writer.standing["running"] = writer.running_columns(in_flight)
    writer.frame(is_last=True)


def _add_without_keys(recording: RecordedData, writer: FrameWriter) -> None:
    writer.add_metadata(recording.metadata)
    writer.add_groups(recording.groups)
    for table in ("messages", "lanes"):
        writer.add_records(table, getattr(recording, table))
    metrics = cache_metrics(recording)
    writer.add_runs(recording.runs, [metrics.get(run.run) for run in recording.runs])
    writer.add_rows("resources", recording.resources)
    writer.add_stacks(recording.stacks)
    writer.add_workers(recording.workers)
    writer.add_transfers(recording.transfers)
    for table in (name for name in RECORDS if name not in _FIRST):
        writer.add_records(table, getattr(recording, table))
    writer.add_records("seconds", seconds_by_prefix(recording))
    writer.add_progress(prefix_progress(recording))
    writer.add_rows("cache", few_cache_rows(recording))


def _parts(blocks: Sequence[RowBlock], part_tasks: int) -> Iterator[list[RowBlock]]:
    """Yield the tasks in their order, in parts of so many; the last one may have fewer."""
    part: list[RowBlock] = []
    left = part_tasks
    for block in blocks:
        first = 0
        while first < len(block):
            piece = block.part(slice(first, first + left))
            part.append(piece)
            first, left = first + len(piece), left - len(piece)
            if not left:
                yield part
                part, left = [], part_tasks
    if part:
        yield part


def _add_graph(writer: FrameWriter, run: int, graph: GraphColumns, stop: int) -> None:
    """Add the keys before number `stop` that are not added yet; after the last key the rest of the graph."""
    first, n_keys = writer.n_keys(run), len(graph.keys)
    if first >= stop and n_keys:
        return
    is_valued = graph.values is not None
    writer.add_graph(run, graph.enter_zero, is_known=False, is_valued=is_valued)
    is_whole = stop - first == n_keys
    writer.add_keys(
        run, graph.keys if is_whole else graph.keys.take(np.arange(first, stop)), graph.group[first:stop]
    )
    if stop < n_keys:
        return
    writer.add_links(run, 0, graph.n_dependencies, graph.edges)
    writer.add_by_key("kept", run, graph.kept)
    writer.add_by_key("data", run, graph.data, nbytes=graph.data_sizes)
    enter = graph.enter_times()
    landed = np.flatnonzero(~np.isnan(enter))
    writer.add_by_key("landed", run, landed, time_s=enter[landed])
    if graph.values is not None:
        valued = np.flatnonzero(~np.isnan(graph.values))
        writer.add_by_key("valued", run, valued, value=graph.values[valued])
    unneeded, needs = graph.needs()
    writer.add_by_key("skipped", run, unneeded, need=needs)
    if graph.known:
        writer.add_graph(run, graph.enter_zero, is_known=True, is_valued=is_valued)


_MAX_SPANS = 100
"""Most waits of one finding: the longest ones."""

_WAITS: Mapping[Cause, tuple[WaitCause, ...]] = {
    "client-gaps": ("client",),
    "no-workers": ("no-worker",),
    "pool-start": ("no-worker",),
    "large-graph": ("graph",),
    "transfers": ("transfer",),
    "memory-pressure": ("disk-read", "disk-write"),
    "serialization": ("serialize", "deserialize"),
    "lost-work": ("failed-attempt",),
}
"""The waits of the critical path for causes that belong to no single compute."""


MAX_STEPS = 30_000
"""Most steps of a path in a page; of more, text would take a second to make, and a page to read."""

RowsOf = Callable[[int, NDArray[np.int32]], Mapping[int, int]]
"""Returns the page's rows of tasks of a compute, by their numbers in its graph."""


def explanation_for_page(
    recording: RecordedData, explanation: Explanation, rows_of: RowsOf
) -> Mapping[str, object]:
    """Return findings and the path, times in seconds after the zero of the recorder."""
    path = critical_path(recording)
    return {
        "makespan_s": explanation.makespan_s,
        "answer": explanation.answer,
        "busy": explanation.busy,
        "findings": [_finding(recording, path, finding, rows_of) for finding in explanation.findings],
        "path": _path_for_page(path, rows_of, recording.zero_s),
    }


PathTables: TypeAlias = Mapping[str, Columns]
"""The critical path as tables of a page, by their names."""


def path_tables(path: CriticalPath, rows_of: RowsOf, zero_s: float) -> PathTables | str:
    """Return the path as tables of a page, times moved by `zero_s`, or the reason why there is none."""
    steps = path.steps
    if not steps:
        return "no Dask computation ran here"
    if len(steps) > MAX_STEPS:
        return (
            f"the critical path has {format_count(len(steps))} steps, a page shows one of at "
            f"most {format_count(MAX_STEPS)}; recording.critical_path() has no such limit"
        )
    rows: dict[int | None, Iterator[int | None]] = {
        run: map(rows_of(run, tasks).get, tasks.tolist()) for run, tasks in path.tasks().items()
    }
    waits = [step.kind == "wait" for step in steps]
    whats = [step.cause if step.kind == "wait" else step.prefix for step in steps]
    names = {what: number for number, what in enumerate(dict.fromkeys(whats))}
    return {
        "path_names": {"text": [plain_text(str(name)) for name in names]},
        "path": {
            "stop_s": [zero_s + at for at in (steps[0].start_s, *(s.start_s + s.duration_s for s in steps))],
            "name": [None, *(names[what] for what in whats)],
            "is_wait": [True, *waits],
            "row": [None, *(None if s.kind == "wait" else next(rows[s.run]) for s in steps)],
        },
    }


def _path_for_page(path: CriticalPath, rows_of: RowsOf, zero_s: float) -> Mapping[str, str]:
    """Return the frames of a stream with the path, in base64, or the reason why there is none."""
    tables = path_tables(path, rows_of, zero_s)
    if isinstance(tables, str):
        return {"reason": tables}
    frames: list[bytes] = []
    writer = FrameWriter.of_page(frames.append, "path", "")
    for table, columns in tables.items():
        writer.add(table, columns)
    writer.frame()
    return {"frames": base64.b64encode(b"".join(frames)).decode("ascii")}


def _finding(
    recording: RecordedData, path: CriticalPath, finding: Finding, rows_of: RowsOf
) -> Mapping[str, object]:
    evidence: Mapping[str, Any] = finding.evidence
    runs, prefixes = evidence.get("runs", ()), evidence.get("prefixes", ())
    spans_s = [(one.asked_s, stop_of(recording, one)) for one in recording.runs if one.run in runs]
    if not runs:
        waits = sorted(path.waits_s(*_WAITS.get(finding.cause, ())), key=lambda wait: wait[0] - wait[1])
        spans_s = [(a + recording.zero_s, b + recording.zero_s) for a, b in sorted(waits[:_MAX_SPANS])]
    tasks: Mapping[int, NDArray[np.int32]] = {}
    if evidence.get("is_chain"):
        tasks = {run: numbers for run, numbers in path.tasks().items() if run in runs}
    elif runs and "tasks" in evidence:
        tasks = {run: np.array(numbers, np.int32) for run, numbers in evidence["tasks"].items()}
    rows = [row for run, numbers in tasks.items() for row in rows_of(run, numbers).values()]
    return {
        "cause": finding.cause,
        "worth_s": finding.worth_s,
        "low_s": finding.low_s,
        "high_s": finding.high_s,
        "text": finding.text,
        "advice": finding.advice,
        "run": runs[0] if len(runs) == 1 else None,
        "spans_s": [list(span) for span in spans_s],
        "prefixes": list(prefixes),
        "rows": sorted(rows) if len(rows) <= MAX_STEPS else [],
    }
