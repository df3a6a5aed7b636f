"""Causes around tasks: the program, graphs, starting workers; memory, transfers, lost and slow workers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cluster import lives_of, paused_s
from taskscope.analysis.explain.finding import (
    BAND,
    Finding,
    Part,
    Whole,
    at_most,
    listed,
    measured,
)
from taskscope.analysis.explain.schedule import Schedule, key_texts
from taskscope.analysis.explain.waits import Stacks
from taskscope.analysis.explain.what_if import priced_s
from taskscope.analysis.memory import memory_peak
from taskscope.analysis.quantities import (
    counted,
    format_bytes,
    format_count,
    format_duration,
    plural,
    printable,
)
from taskscope.analysis.totals import BeforeTasks, measure_before_tasks, stop_of
from taskscope.model.tables.columns import distinct, median
from taskscope.model.tables.records import Run
from taskscope.model.tables.stacks import CLIENT, CLIENT_RUN

_MANY_TASKS = 1_000
_LONG_FOR_FEW_S = 0.25
"""A cluster needs some ten milliseconds before the first task of any graph."""
_LARGE_ARGUMENT = 1e6
_MOST_DISPATCH_S = 20e-3
"""The longest that a scheduler takes to dispatch a task."""
_OR_THREADS = ". Threads do without that, where tasks release the interpreter's lock (NumPy does)"
_SENT_BPS = 100e6
"""How many bytes a second are packed, sent and unpacked at least."""


def client_gaps(whole: Whole) -> Iterator[Finding]:
    """Find that no compute ran; the gaps are on the path, so they cost their length."""
    client_s = whole.waited_s("client")
    if not client_s:
        return
    gaps = [(start_s, stop_s) for start_s, stop_s in whole.path.waits_s("client")]
    places = Stacks(whole.recording, [CLIENT_RUN], gaps).places(CLIENT)
    # One line may both run and wait.
    where = ", ".join(list(dict.fromkeys(place.text for place in places))[:2])
    n = sum(len(schedule.runs) for schedule in whole.schedules)
    what = f". The program ran {where}" if where else ""
    yield measured(
        "client-gaps",
        client_s,
        f"no compute ran for {whole.share(client_s)} of the time, between {format_count(n)} computes{what}",
        "compute all results in one call, dask.compute(a, b, c), or move the work between them into tasks",
        {"client_s": client_s, "n_computes": n, "where": where or None},
    )


def no_workers(whole: Whole) -> Iterator[Finding]:
    """Find that the cluster had no worker."""
    without_s = whole.waited_s("no-worker")
    if without_s and any(schedule.is_on_cluster for schedule in whole.schedules):
        yield measured(
            "no-workers",
            without_s,
            f"the cluster had no worker for {format_duration(without_s)}, and tasks were ready",
            "wait for workers before the compute: client.wait_for_workers(1), or cluster.adapt(minimum=1)",
            {"no_worker_s": without_s},
        )


def pool_start(whole: Whole) -> Iterator[Finding]:
    """Find that processes were started before any task ran."""
    runs = [run for schedule in whole.schedules for run in schedule.runs if run.scheduler == "processes"]
    # To put tasks in order is part of scheduling them.
    start_s = sum(max(run.pool_start_s - (run.order_s or 0.0), 0.0) for run in runs if run.pool_start_s)
    n = len(runs)
    each = f", anew for each of {format_count(n)} computes" if n > 1 else ""
    if start_s:
        workers = max(run.n_workers or 1 for run in runs)
        yield measured(
            "pool-start",
            start_s,
            f"{whole.share(start_s)} of the time passed until {format_count(workers)} "
            f"{plural('process', workers)} had started{each}",
            f"start them once, client = Client(){_OR_THREADS}",
            {"start_s": start_s, "n_computes": n, "runs": [run.run for run in runs]},
        )


def large_graph(whole: Whole) -> Iterator[Finding]:
    """Find that no task ran while graphs were made ready, for they had many tasks or carried much."""
    graph_s, n_tasks = whole.waited_s("graph"), sum(len(schedule.seconds) for schedule in whole.schedules)
    runs = _of_graphs(whole)
    before = measure_before_tasks(whole.recording, runs)
    evidence: dict[str, object] = {"graph_s": graph_s, "n_tasks": n_tasks}
    if before is not None:
        evidence["phases_s"] = before.phases_s
    phases = "" if before is None else f", mostly {before.longest()}"
    # Building a graph and waiting for a worker do not depend on the size of its data.
    sent = ("send", "travel", "materialize")
    own_s = 0.0 if before is None else sum(before.phases_s.get(phase, 0.0) for phase in sent)
    large = max(runs, key=lambda run: run.largest_argument_bytes or 0.0, default=None)
    if large is not None and (large.largest_argument_bytes or 0.0) >= _LARGE_ARGUMENT:
        yield from _large_argument(whole, large, min(own_s or graph_s, graph_s), evidence)
        return
    late_s = _late_s(before, runs)
    graph_s, own_s = max(graph_s - late_s, 0.0), own_s - late_s
    if before is not None and late_s:
        on_time = {**before.phases_s, "travel": before.phases_s["travel"] - late_s}
        phases = f", mostly {replace(before, phases_s=on_time).longest()}"
        evidence["late_s"] = late_s
    if runs and n_tasks >= _MANY_TASKS and graph_s:
        n, share = format_count(n_tasks), whole.share(graph_s)
        text = f"ordering and sending graphs of {n} tasks took {share} of the time{phases}"
        # How large they should be is said of tasks that are too short: two findings would differ.
        fewer = "use larger chunks or partitions, so that there are fewer tasks"
        yield measured("large-graph", graph_s, text, fewer, evidence)
    elif before is not None and graph_s >= _LONG_FOR_FEW_S:
        carried = sum(run.graph_bytes or 0.0 for run in runs)
        if own_s >= 0.5 * graph_s:
            yield measured(
                "large-graph",
                min(own_s, graph_s),
                f"{whole.share(graph_s)} of the time passed before any task ran, with only "
                f"{counted(n_tasks, 'task')}{phases}",
                "pass large objects by client.scatter, or load them in tasks, instead of as arguments"
                if carried >= _LARGE_ARGUMENT
                else "compute several results in one call, or use fewer and larger tasks",
                evidence,
            )


def _of_graphs(whole: Whole) -> list[Run]:
    return [run for schedule in whole.schedules for run in schedule.runs if run.scheduler != "processes"]


def _late_s(before: BeforeTasks | None, runs: Sequence[Run]) -> float:
    """Return how much longer graphs were on their way than sending their bytes takes, where that is long."""
    travel_s = 0.0 if before is None else before.phases_s.get("travel", 0.0)
    late_s = travel_s - sum(run.graph_bytes or 0.0 for run in runs) / _SENT_BPS
    return late_s if late_s >= _LONG_FOR_FEW_S else 0.0


def late_scheduler(whole: Whole) -> str | None:
    """Return how late a scheduler began with graphs that it had been sent, where that took long."""
    runs = _of_graphs(whole)
    late_s = min(_late_s(measure_before_tasks(whole.recording, runs), runs), whole.waited_s("graph"))
    if late_s < _LONG_FOR_FEW_S or any(
        (run.largest_argument_bytes or 0.0) >= _LARGE_ARGUMENT for run in runs
    ):
        return None
    graphs, late = plural("graph", len(runs)), format_duration(late_s)
    why = "It may still have been forgetting the tasks of a large compute before"
    return f"The scheduler began with the {graphs} {late} late. {why}"


def _large_argument(whole: Whole, run: Run, sent_s: float, evidence: dict[str, object]) -> Iterator[Finding]:
    """Find that arguments in the graph were sent, before tasks and between tasks of `submit`."""
    lags = [schedule.lag_s[schedule.lag_s > _MOST_DISPATCH_S] for schedule in whole.schedules]
    is_slow = any(len(of) for of in lags)
    carried = run.graph_bytes or run.largest_argument_bytes or 0.0
    # Tasks may be late for other reasons, too.
    seconds = sent_s + (min(whole.waited_s("dispatch"), carried / _SENT_BPS) if is_slow else 0.0)
    key = printable(run.largest_argument or "a task", 60)
    yield measured(
        "large-graph",
        seconds,
        f"packing and sending {format_bytes(carried)} with the graph took {whole.share(seconds)} of the "
        f"time. The largest argument, {format_bytes(run.largest_argument_bytes)}, is in task {key}",
        "send it once, future = client.scatter(data, broadcast=True), or load it in tasks",
        evidence
        | {
            "graph_bytes": run.graph_bytes,
            "largest_argument": run.largest_argument,
            "largest_argument_bytes": run.largest_argument_bytes,
        },
    )


_TOKEN = re.compile("[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The token of a key: a hash of the computation, or random for a call that is not pure."""


def _fused_keys(part: Part, keys: NDArray[np.object_]) -> list[list[str]]:
    """Return the keys of the steps that are fused into each task."""
    groups = part.whole.recording.groups
    names = [(groups[number].name, groups[number].fused) for number in part.schedule.group.tolist()]
    return [
        [key.replace(name, inner, 1) for inner in fused.split()] if fused else []
        for key, (name, fused) in zip(keys, names, strict=True)
    ]


def recomputed(parts: list[Part]) -> Iterator[Finding]:
    """Find tasks whose keys, which contain Dask's token, had run in a compute before."""
    seen: set[str] = set()
    is_certain = True
    worth_s, n_again, again_s = 0.0, 0, 0.0
    names: dict[str, None] = {}
    runs: list[int] = []
    for part in parts if len(parts) > 1 else ():
        schedule = part.schedule
        keys = np.empty(len(schedule), object)
        for run in distinct(schedule.run).tolist():
            mine = schedule.run == run
            keys[mine] = key_texts(part.whole.recording, run, schedule.number[mine])
        fused = _fused_keys(part, keys)
        is_again = np.array([key in seen for key in keys], bool)
        is_begun = ~is_again & np.array([not seen.isdisjoint(inner) for inner in fused], bool)
        is_certain &= not is_begun.any()
        is_again |= is_begun
        seen.update(key for key in chain(keys, *fused) if _TOKEN.search(key))
        if is_again.any():
            worth_s += part.saved_s(np.where(is_again, 0.0, schedule.seconds))
            n_again += int(is_again.sum())
            again_s += float(schedule.seconds[is_again].sum())
            names |= dict.fromkeys(part.most(is_again))
            runs += part.runs
    if n_again:
        tasks = f"{counted(n_again, 'task')} of {listed(list(names)[:3])}"
        # Dask fuses steps into one task, and only a part of it had run before.
        yield (measured if is_certain else at_most)(
            "recomputed",
            worth_s,
            f"{tasks} {'' if is_certain else 'began with a step that '}had run in a compute before, "
            f"{format_duration(again_s)} together",
            "compute the results in one call, dask.compute(a, b, c), or keep their shared part: "
            "x = x.persist()",
            {"n_tasks": n_again, "seconds": again_s, "prefixes": list(names)[:3]},
        )


_SLOWER = 1.5
_MIN_TASKS = 4
_IDLE = 0.25
_BETWEEN_S = 2e-3


def memory_pressure(whole: Whole) -> Iterator[Finding]:
    """Find that tasks waited for results on disk, and that workers began no task for lack of memory."""
    recording, disk_s = whole.recording, whole.waited_s("disk-read", "disk-write")
    runs = [run for schedule in whole.schedules for run in schedule.runs if run.is_on_cluster]
    start_s = min((run.asked_s for run in runs), default=0.0)
    paused = paused_s(recording, start_s, max((stop_of(recording, run) for run in runs), default=0.0))
    # While some workers are paused, the others may have run the tasks.
    lost_s = sum(paused.values()) / max(len(lives_of(recording)), 1)
    if not disk_s and not lost_s:
        return
    spilled = max((sample.spilled_bytes or 0.0 for sample in recording.workers), default=0.0)
    texts = []
    if disk_s:
        share, most = whole.share(disk_s), format_bytes(spilled)
        texts += [f"tasks waited {share} of the time for results that workers had spilled to disk"]
        texts += [f"One worker had spilled up to {most}"] * (spilled > 0)
    if paused:
        longest, workers = format_duration(max(paused.values())), counted(len(paused), "worker")
        texts += [f"{workers} began no task for up to {longest}, paused for lack of memory"]
    yield Finding(
        "memory-pressure",
        disk_s or lost_s,
        disk_s * (1 - BAND),
        disk_s * (1 + BAND) + lost_s,
        ". ".join(texts),
        "use smaller chunks or partitions, or give workers more memory: LocalCluster(memory_limit=…)",
        {
            "disk_s": disk_s,
            "spilled_bytes": spilled,
            "paused_s": paused,
            "at_the_peak": memory_peak(recording).words(),
        },
    )


def transfers(whole: Whole, parts: list[Part]) -> Iterator[Finding]:
    """Find that tasks waited for results of other workers."""
    moved_s = whole.waited_s("transfer")
    if moved_s:
        nbytes = sum(t.nbytes or 0.0 for t in whole.recording.transfers if t.direction == "incoming")
        # Threads that send and receive use cores that tasks then wait for; how much was not measured.
        crowded_s = sum(part.saved_s(part.schedule.takes_s) for part in parts)
        yield Finding(
            "transfers",
            moved_s,
            moved_s * (1 - BAND),
            moved_s * (1 + BAND) + crowded_s,
            f"tasks waited {whole.share(moved_s)} of the time for results of other workers "
            f"({format_bytes(nbytes)} in all)",
            "use fewer and larger workers, chunks along the reduced axis, and no needless rechunk or shuffle",
            {"transfer_s": moved_s, "nbytes": nbytes, "queued_s": crowded_s},
        )


def serialization(whole: Whole, parts: list[Part]) -> Iterator[Finding]:
    """Find that arguments and results were packed and unpacked, by workers or by a pool of processes."""
    packed_s = whole.waited_s("serialize", "deserialize")
    # A pool receives arguments and returns results where its tasks are short, too: that is another cause.
    between_s = sum(
        part.dispatched_s(np.ones(len(part.schedule.seconds), bool))
        for part in parts
        if part.schedule.scheduler == "processes"
        and part.schedule.seconds.mean() > _BETWEEN_S
        and median(part.schedule.lag_s) > _BETWEEN_S
    )
    if packed_s or between_s:
        seconds = packed_s + between_s
        yield measured(
            "serialization",
            seconds,
            f"packing, sending and unpacking arguments and results took {whole.share(seconds)} of the time",
            "load data in tasks and return only what is needed" + (_OR_THREADS if between_s else ""),
            {"workers_s": packed_s, "pool_s": between_s},
        )


def lost_work(whole: Whole, parts: list[Part]) -> Iterator[Finding]:
    """Find that tasks ran more than once, for a worker was lost or they failed and were tried again."""
    failed_s = whole.waited_s("failed-attempt")
    worth_s, n_again, again_s = failed_s, 0, 0.0
    for part in parts:
        schedule = part.schedule
        # It would have had to run once only: before, or later, whichever of the two is on the longer way.
        is_again, others = _repeated(schedule.task[::-1])[::-1], _repeated(schedule.task)
        if is_again.any():
            worth_s += max(part.saved_s(np.where(one, 0.0, schedule.seconds)) for one in (is_again, others))
            n_again += int(is_again.sum())
            again_s += float(schedule.seconds[is_again].sum())
    if worth_s:
        lost = f"{counted(n_again, 'task')} ran in vain as workers were lost"
        texts = [
            *([f"{lost} ({format_duration(again_s)})"] if n_again else []),
            *([f"failed attempts took {format_duration(failed_s)}"] if failed_s else []),
        ]
        yield measured(
            "lost-work",
            worth_s,
            ", and ".join(texts),
            "see recording.messages and the workers' logs; where memory was short, use smaller chunks",
            {"n_tasks": n_again, "seconds": again_s, "failed_attempt_s": failed_s},
        )


def _repeated(tasks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of these executions have one of the same task before them."""
    found = np.ones(len(tasks), bool)
    found[np.unique(tasks, return_index=True)[1]] = False
    return found


_COMPARABLE_S = 1e-3
"""Least time of tasks whose ratio says something of a worker: sleep takes less CPU time."""


def slow_worker(part: Part) -> Iterator[Finding]:
    """Find that one worker took longer than the others for tasks of the same prefixes."""
    schedule = part.schedule
    if len(schedule.threads) < 2:
        return
    # Where other programs had the cores, workers did not get them alike: only CPU time compares.
    takes_s = np.nan_to_num(schedule.cpu_s) if schedule.load.is_crowded else schedule.takes_s
    usual_s = _usual_elsewhere_s(schedule, takes_s)
    times = takes_s / np.where(usual_s >= _COMPARABLE_S, usual_s, np.nan)
    ratio, n_tasks = np.zeros(len(schedule.threads)), np.zeros(len(schedule.threads), np.int64)
    for worker in range(len(schedule.threads)):
        known_times = times[(schedule.pool == worker) & ~np.isnan(times)]
        n_tasks[worker] = len(known_times)
        if len(known_times) >= _MIN_TASKS:
            # Not their sum: one straggler makes no slow worker.
            ratio[worker] = median(known_times)
    slowest = int(np.argmax(ratio))
    if ratio[slowest] < _SLOWER:
        return
    is_mine = (schedule.pool == slowest) & ~np.isnan(times)
    seconds = np.where(is_mine, schedule.seconds / ratio[slowest], schedule.seconds)
    worth_s = part.saved_anew_s(seconds)
    name = schedule.workers[slowest]
    yield measured(
        "slow-worker",
        worth_s,
        f"worker {printable(name, 36)} took {ratio[slowest]:.1f} times as long as the others for the "
        "same tasks",
        "check what else runs on its machine, or retire it: client.retire_workers([address])",
        {
            "worker": name,
            "times": float(ratio[slowest]),
            "n_tasks": int(n_tasks[slowest]),
            "prefixes": part.most(is_mine),
        },
    )


def _usual_elsewhere_s(schedule: Schedule, takes_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what tasks of the same prefix take on other workers: the median of those workers' medians.

    NaN where few ran there. A worker's own median counts once, however many tasks it had: linear in tasks.
    """
    n_pools = len(schedule.workers)
    order = np.lexsort((takes_s, schedule.pool, schedule.prefix))
    where = (schedule.prefix * n_pools + schedule.pool)[order]
    pairs, first, counts = np.unique(where, return_index=True, return_counts=True)
    sorted_s = takes_s[order]
    medians_s = (sorted_s[first + (counts - 1) // 2] + sorted_s[first + counts // 2]) / 2
    usual_s = np.full(len(pairs), np.nan)
    for prefix in distinct(pairs // n_pools).tolist():
        mine = np.flatnonzero(pairs // n_pools == prefix)
        is_enough = counts[mine].sum() - counts[mine] >= _MIN_TASKS
        usual_s[mine] = np.where(is_enough, _medians_without(medians_s[mine]), np.nan)
    found = np.empty(len(takes_s))
    found[order] = np.repeat(usual_s, counts)
    return found


def _medians_without(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value the median of the others; NaN where there are none."""
    n = len(values)
    if n < 2:
        return np.full(n, np.nan)
    order = np.argsort(values, kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    ascending, found = values[order], np.zeros(n)
    for middle in ((n - 2) // 2, (n - 1) // 2):
        found += ascending[middle + (place <= middle)] / 2
    return found


def idle_workers(part: Part) -> Iterator[Finding]:
    """Find that some threads of a cluster ran nothing though there were many tasks."""
    schedule = part.schedule
    recording = part.whole.recording
    begin_s, end_s = (recording.zero_s + float(t) / 1e9 for t in (schedule.start[0], schedule.stop.max()))
    half_s = (end_s - begin_s) / 2
    lives = lives_of(recording).values()
    # Workers that an adaptive cluster had only for a while could not run tasks all the time.
    n_there = sum(life.n_threads for life in lives if life.seconds(begin_s, end_s) >= half_s)
    n_threads = n_there or max((run.n_workers or 0 for run in schedule.runs), default=0)
    n_idle = n_threads - len(distinct(schedule.lane))
    if not schedule.is_on_cluster or n_idle < _IDLE * n_threads or len(schedule.seconds) < 2 * n_threads:
        return
    worth_s = max(schedule.recorded_s - priced_s(schedule, n_workers=n_threads), 0.0)
    yield at_most(
        "idle-workers",
        worth_s,
        f"{n_idle} of {n_threads} worker threads ran nothing, though there were "
        f"{format_count(len(schedule.seconds))} tasks",
        "check whether workers= or resources= bind tasks, or spread their data: client.rebalance()",
        {"n_idle": n_idle, "n_threads": n_threads, "n_tasks": len(schedule.seconds)},
    )
