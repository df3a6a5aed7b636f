"""Make `TaskData` of a recording."""

from __future__ import annotations

from collections.abc import Mapping

from taskscope.diagnostics.results import Results, TaskData
from taskscope.diagnostics.tasktext import TaskText, graph_texts
from taskscope.diagnostics.watch import WatchedRun
from taskscope.model.columns import split_flags
from taskscope.model.recording import RecordedData
from taskscope.model.records import FINISHED

__all__ = ["task_data", "task_texts"]


def task_data(
    recording: RecordedData, runs: Mapping[int, WatchedRun], origin: float, since_s: float
) -> Results[TaskData]:
    """Return the tasks that finished in these runs after `since_s`, by run and start.

    Parameters
    ----------
    recording
        Where they are.
    runs
        Which runs.
    origin
        The recorder's zero on the axis of ``time.perf_counter``.
    since_s
        Seconds after the recorder's zero.
    """
    texts = graph_texts(recording, runs)
    workers = _workers(recording)
    found: dict[int, list[TaskData]] = {run: [] for run in texts}
    for block in recording.blocks:
        of_run = texts.get(block.run)
        if of_run is None:
            continue
        stop = block.start + block.duration
        mine = (split_flags(block.flags)[0] == FINISHED) & (stop >= since_s)
        tasks = block.task[mine].tolist()
        columns = (of_run.keys(tasks), tasks, block.start[mine] + origin, stop[mine] + origin)
        keys, tasks, starts, stops = (c if isinstance(c, list) else c.tolist() for c in columns)
        worker = workers[block.run]
        found[block.run].extend(
            TaskData(key, TaskText(key, of_run, task), start, end, worker[lane])
            for key, task, start, end, lane in zip(
                keys, tasks, starts, stops, block.lane[mine].tolist(), strict=True
            )
        )
    return Results(row for rows in found.values() for row in sorted(rows, key=lambda r: r.start_time))


def task_texts(recording: RecordedData, runs: Mapping[int, WatchedRun]) -> list[str]:
    """Return what each task of a recording calls, in the order of `Recording.tasks`, or its prefix."""
    texts = graph_texts(recording, runs)
    found: list[str] = []
    for block in recording.blocks:
        of_run = texts.get(block.run)
        if of_run is None:
            group = recording.graphs[block.run].group[block.task]
            found += [recording.groups[i].prefix for i in group.tolist()]
        else:
            found += map(of_run.call, block.task.tolist())
    return found


def _workers(recording: RecordedData) -> dict[int, list[int | None]]:
    """Return the worker id of every lane, by run: what each scheduler calls its workers."""
    # A task that no worker reported has a lane with a negative thread.
    threads = [lane.thread if lane.thread >= 0 else None for lane in recording.lanes]
    # A cluster's worker is known by its address, and its threads are what runs its tasks.
    local = [lane.thread >= 0 and lane.worker.isdecimal() for lane in recording.lanes]
    processes = [int(n.worker) if here else None for n, here in zip(recording.lanes, local, strict=True)]
    alone: list[int | None] = [None] * len(recording.lanes)
    ids = {"synchronous": alone, "processes": processes}
    return {run.run: ids.get(run.scheduler or "", threads) for run in recording.runs}
