"""Causes at workers of a cluster, or processes: memory, transfers, serialization, lost work, slow workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.evidence import Computes, Evidence
from taskscope.analysis.explain.finding import BAND, Finding, at_most, measured
from taskscope.analysis.explain.replay import Workload, replayed_s
from taskscope.analysis.explain.workers import lives_of
from taskscope.analysis.memory import memory_peak
from taskscope.analysis.quantities import format_bytes, format_count, format_duration, plural, printable

_SLOWER = 1.5
_MIN_TASKS = 4
_IDLE = 0.25
_BETWEEN_S = 2e-3


def memory_pressure(known: Evidence) -> Iterator[Finding]:
    """Find that tasks waited for results that had been written to disk."""
    disk_s = known.waited_s("disk-read", "disk-write")
    if disk_s:
        spilled = max((sample.spilled_bytes or 0.0 for sample in known.recording.workers), default=0.0)
        yield measured(
            "memory-pressure",
            disk_s,
            f"tasks waited for {known.share(disk_s)} of the time for results that workers had no memory for "
            f"and wrote to disk (up to {format_bytes(spilled)} of one)",
            "use smaller chunks or partitions, hold fewer results at a time (do not persist all of them), or "
            "give workers more memory: LocalCluster(memory_limit=…)",
            {
                "disk_s": disk_s,
                "spilled_bytes": spilled,
                "at_the_peak": memory_peak(known.recording).words(),
            },
        )


def transfers(known: Evidence, computes: list[Computes]) -> Iterator[Finding]:
    """Find that tasks waited for results of other workers."""
    moved_s = known.waited_s("transfer")
    if moved_s:
        nbytes = sum(t.nbytes or 0.0 for t in known.recording.transfers if t.direction == "incoming")
        # Threads that send and receive use cores that tasks then wait for; how much was not measured.
        crowded_s = sum(of.saved_s(of.work.takes_s) for of in computes)
        yield Finding(
            "transfers",
            moved_s,
            moved_s * (1 - BAND),
            moved_s * (1 + BAND) + crowded_s,
            f"tasks waited for {known.share(moved_s)} of the time for results of other workers "
            f"({format_bytes(nbytes)} in all)",
            "keep together what belongs together: fewer and larger workers, chunks along the axis that is "
            "reduced, no rechunk or shuffle that is not needed; reduce first, then combine",
            {"transfer_s": moved_s, "nbytes": nbytes, "queued_s": crowded_s},
        )


def serialization(known: Evidence, computes: list[Computes]) -> Iterator[Finding]:
    """Find that arguments and results were packed and unpacked, by workers or by a pool of processes."""
    packed_s = known.waited_s("serialize", "deserialize")
    # A pool receives arguments and returns results where its tasks are short, too: that is another cause.
    between_s = sum(
        of.handed_over_s(np.ones(len(of.work.seconds), bool))
        for of in computes
        if of.work.schedule.scheduler == "processes"
        and of.work.seconds.mean() > _BETWEEN_S
        and np.median(of.work.lag_s) > _BETWEEN_S
    )
    if packed_s or between_s:
        seconds = packed_s + between_s
        yield measured(
            "serialization",
            seconds,
            f"for {known.share(seconds)} of the time arguments and results were packed, sent and unpacked",
            "send less: load data inside of tasks, return what is needed only, fuse steps into one task; "
            'with a pool of processes try threads, compute(scheduler="threads"), which send nothing',
            {"workers_s": packed_s, "pool_s": between_s},
        )


def lost_work(known: Evidence, computes: list[Computes]) -> Iterator[Finding]:
    """Find that tasks ran more than once, for a worker was lost or they failed and were tried again."""
    failed_s = known.waited_s("failed-attempt")
    worth_s, n_again, again_s = failed_s, 0, 0.0
    for of in computes:
        work = of.work
        is_again = _was_in_vain(work)
        if is_again.any():
            # It would have had to run once only: before, or later, whichever of the two is on the longer way.
            other = _ran_before(work)
            worth_s += max(of.saved_s(np.where(one, 0.0, work.seconds)) for one in (is_again, other))
            n_again += int(is_again.sum())
            again_s += float(work.seconds[is_again].sum())
    if worth_s:
        lost = f"{format_count(n_again)} {plural('task', n_again)} ran in vain as workers were lost"
        parts = [
            *([f"{lost} ({format_duration(again_s)})"] if n_again else []),
            *([f"attempts that failed were waited for for {format_duration(failed_s)}"] if failed_s else []),
        ]
        yield measured(
            "lost-work",
            worth_s,
            ", and ".join(parts),
            "see in recording.messages and the workers' logs why they were lost (memory, most often): "
            "smaller chunks, or more memory for each; keep what is dear with client.replicate or on disk",
            {"n_tasks": n_again, "seconds": again_s, "failed_attempt_s": failed_s},
        )


def _was_in_vain(work: Workload) -> NDArray[np.bool_]:
    """Return which executions were followed by another of the same task."""
    last = np.zeros(int(work.schedule.task.max(initial=-1)) + 1, np.int64)
    last[work.schedule.task] = np.arange(len(work.schedule))
    found: NDArray[np.bool_] = last[work.schedule.task] != np.arange(len(work.schedule))
    return found


def _ran_before(work: Workload) -> NDArray[np.bool_]:
    """Return which executions came after another of the same task."""
    n = len(work.schedule)
    first = np.full(int(work.schedule.task.max(initial=-1)) + 1, n, np.int64)
    np.minimum.at(first, work.schedule.task, np.arange(n))
    found: NDArray[np.bool_] = first[work.schedule.task] != np.arange(n)
    return found


def slow_worker(of: Computes) -> Iterator[Finding]:
    """Find that one worker took longer than the others for tasks of the same prefixes."""
    work = of.work
    if len(work.threads) < 2:
        return
    if work.load.is_crowded:
        # Where other programs had the cores, workers did not get them alike: only CPU time compares.
        work = replace(work, takes_s=np.nan_to_num(work.cpu_s))
    times = work.takes_s / np.maximum(_usual_elsewhere_s(work), 1e-12)
    ratio, n_tasks = np.zeros(len(work.threads)), np.zeros(len(work.threads), np.int64)
    for worker in range(len(work.threads)):
        known_times = times[(work.pool == worker) & ~np.isnan(times)]
        n_tasks[worker] = len(known_times)
        if len(known_times) >= _MIN_TASKS:
            # Not their sum: one straggler makes no slow worker.
            ratio[worker] = np.median(known_times)
    slowest = int(np.argmax(ratio))
    if ratio[slowest] < _SLOWER:
        return
    is_mine = (work.pool == slowest) & ~np.isnan(times)
    seconds = np.where(is_mine, work.seconds / ratio[slowest], work.seconds)
    worth_s = of.saved_anew_s(seconds)
    name = work.workers[slowest]
    yield measured(
        "slow-worker",
        worth_s,
        f"worker {printable(name, 36)} took {ratio[slowest]:.1f} times as long as the others for the "
        "same tasks",
        "see what else runs on its machine, or leave it out: client.retire_workers([address])",
        {
            "runs": of.runs,
            "worker": name,
            "times": float(ratio[slowest]),
            "n_tasks": int(n_tasks[slowest]),
            "prefixes": of.most(is_mine),
        },
    )


def _usual_elsewhere_s(work: Workload) -> NDArray[np.float64]:
    """Return the median of tasks of the same prefix on other workers; NaN where none ran."""
    found = np.full(len(work.seconds), np.nan)
    for prefix in np.unique(work.prefix).tolist():
        mine = np.flatnonzero(work.prefix == prefix)
        for pool in np.unique(work.pool[mine]).tolist():
            others = mine[work.pool[mine] != pool]
            if len(others) >= _MIN_TASKS:
                found[mine[work.pool[mine] == pool]] = np.median(work.takes_s[others])
    return found


def idle_workers(of: Computes) -> Iterator[Finding]:
    """Find that some threads of a cluster ran nothing though there were many tasks."""
    work, schedule = of.work, of.work.schedule
    recording = of.known.recording
    begin_s, end_s = (recording.zero_s + float(t) / 1e9 for t in (schedule.start[0], schedule.stop.max()))
    half_s = (end_s - begin_s) / 2
    lives = lives_of(recording).values()
    # Workers that an adaptive cluster had only for a while could not run tasks all the time.
    n_there = sum(life.n_threads for life in lives if life.seconds(begin_s, end_s) >= half_s)
    n_threads = n_there or max((run.n_workers or 0 for run in schedule.runs), default=0)
    n_idle = n_threads - len(np.unique(schedule.lane))
    if not schedule.is_on_cluster or n_idle < _IDLE * n_threads or len(work.seconds) < 2 * n_threads:
        return
    worth_s = max(work.recorded_s - replayed_s(work.with_workers(n_threads)), 0.0)
    yield at_most(
        "idle-workers",
        worth_s,
        f"{n_idle} of {n_threads} worker threads ran nothing, though there were "
        f"{format_count(len(work.seconds))} tasks",
        "see whether tasks are bound to workers (workers=, resources=, allow_other_workers=False), or need "
        "data that one worker has: client.rebalance(), or scatter(…, broadcast=True)",
        {"runs": of.runs, "n_idle": n_idle, "n_threads": n_threads, "n_tasks": len(work.seconds)},
    )
