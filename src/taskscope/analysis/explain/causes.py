"""Causes that any scheduler may have, each found by measured evidence and priced by a replay without it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.before_tasks import measure_before_tasks
from taskscope.analysis.explain.evidence import Evidence, listed
from taskscope.analysis.explain.finding import Finding, at_most, measured
from taskscope.analysis.explain.load import COUNTED_S, on_core_s
from taskscope.analysis.explain.replay import Workload, longest_chain_s, replayed_s
from taskscope.analysis.quantities import format_count, format_duration, format_percent, plural

__all__ = [
    "client_gaps",
    "few_tasks_or_long_chain",
    "interpreter_lock",
    "large_graph",
    "oversubscribed",
    "recomputed",
    "short_tasks",
    "stragglers",
    "waiting",
]

_SHORT_S = 2e-3
_HANDED_OVER = 0.25
_MOSTLY = 0.7
_MOST = 0.5
_WHOLE_S = 0.1
"""How long a task should take: what the advice says."""
_NEARLY_ALL = 0.98
_MAX_NAMED = 100
"""Most tasks that evidence names by their numbers in the graph."""
_IDLE = 0.25
_OFF_CPU = 0.3
_BARELY_ON_CPU = 0.95
"""Who has a core for less than a twentieth of the time waits for something else, however many want cores."""
_FULL = 0.85
_QUEUED = 1.25
_ALONE = 0.75
_OWN_PART = 0.1
_MORE_THREADS = 1.5
_MIN_SAMPLES = 3
_MANY_TASKS = 1_000
_LONG_FOR_FEW_S = 0.25
"""A cluster needs some ten milliseconds before the first task of any graph."""


def client_gaps(known: Evidence) -> Iterator[Finding]:
    """Say that the program did something else; it is on the path, so it is worth what it took."""
    client_s = known.waited_s("client")
    if client_s:
        yield measured(
            "client-gaps",
            client_s,
            f"no compute ran for {known.share(client_s)} of the time: the program did something else",
            "build all results first and ask for them in one call: dask.compute(a, b, c)",
            {"client_s": client_s, "n_computes": len(known.works)},
        )


def large_graph(known: Evidence) -> Iterator[Finding]:
    """Say that no task ran while graphs were made ready, for they had many tasks or carried much."""
    graph_s, n_tasks = known.waited_s("graph"), sum(len(work.seconds) for work in known.works)
    n, share = format_count(n_tasks), known.share(graph_s)
    if all(work.run.scheduler == "processes" for work in known.works):
        # Most of it is the start of the pool, and nobody knows how much.
        return
    before = measure_before_tasks(known.recording, [work.run for work in known.works])
    measured_words = "" if before is None else before.words()
    if n_tasks >= _MANY_TASKS:
        text = f"graphs of {n} tasks were put in order or sent for {share} of the time, before any task ran"
        text += f": {measured_words}" if measured_words else ""
        advice = "use larger chunks or partitions, so that there are fewer tasks"
    elif graph_s >= _LONG_FOR_FEW_S:
        text = (
            f"before any task ran {share} of the time went by, with {n} {plural('task', n_tasks)} only: "
            + (measured_words or "what they carry was sent, or workers got ready")
        )
        advice = (
            "pass large objects by client.scatter, or load them inside of tasks, instead of as arguments; "
            "workers that are new import what they need first"
        )
    else:
        return
    evidence: dict[str, object] = {"graph_s": graph_s, "n_tasks": n_tasks}
    if before is not None:
        evidence["phases_s"] = before.phases_s
    if graph_s:
        yield measured("large-graph", graph_s, text, advice, evidence)


_TOKEN = re.compile("[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What Dask makes of what is computed, or draws for a call that is not pure."""


def recomputed(known: Evidence) -> Iterator[Finding]:
    """Say that tasks ran whose keys, with Dask's token of what they compute, had run in a compute before."""
    if len(known.works) < 2:
        return
    seen: set[str] = set()
    worth_s, n_again, again_s = 0.0, 0, 0.0
    names: dict[str, None] = {}
    for work in known.works:
        if not len(work.task):
            continue
        keys = _keys(known, work)
        is_again = np.array([key in seen for key in keys], bool)
        seen.update(key for key in keys if _TOKEN.search(key))
        if is_again.any():
            worth_s += known.saved_s(work, np.where(is_again, 0.0, work.seconds))
            n_again += int(is_again.sum())
            again_s += float(work.seconds[is_again].sum())
            names |= dict.fromkeys(known.most(work.prefix[is_again], work.seconds[is_again]))
    if n_again:
        yield measured(
            "recomputed",
            worth_s,
            f"{format_count(n_again)} {plural('task', n_again)} of {listed(list(names)[:3])} ran "
            f"that had run in a compute before, {format_duration(again_s)} together",
            "ask for the results in one call, dask.compute(a, b, c), or keep what they share: "
            "x = x.persist()",
            {"n_tasks": n_again, "seconds": again_s, "prefixes": list(names)[:3]},
        )


def _keys(known: Evidence, work: Workload) -> list[str]:
    graph = known.recording.graphs[work.run.run]
    groups = known.recording.groups
    names = [groups[group].name for group in graph.group[work.task].tolist()]
    return list(graph.keys.take(work.task).iter_text(names))


def interpreter_lock(known: Evidence, work: Workload) -> Iterator[Finding]:
    """Say that threads took turns; processes would share the cores."""
    load = work.load
    if not load.is_lock_bound or load.cpu_rate is None:
        return
    cores = min(load.n_cores or work.n_workers, work.n_workers)
    in_tasks_s = work.recorded_s - work.outside_s
    cpu_s = float(np.nansum(work.cpu_s))
    alone_s = max(cpu_s / cores, _longest_cpu_s(work))
    worth_s = max(in_tasks_s - alone_s, 0.0)
    # Processes have to send arguments and results, which was not measured.
    yield Finding(
        "interpreter-lock",
        worth_s,
        worth_s * 0.5,
        worth_s,
        f"{load.concurrency:.1f} tasks ran at a time and kept {load.cpu_rate:.1f} cores busy: they took "
        "turns in running Python",
        'use processes: compute(scheduler="processes"), or a LocalCluster; or code that lets go of the '
        "interpreter's lock, as NumPy's does",
        {
            "run": work.run.run,
            "concurrency": load.concurrency,
            "cpu_rate": load.cpu_rate,
            "n_cores": load.n_cores,
            "prefixes": known.most(work.prefix, work.cpu_s),
        },
    )


def oversubscribed(known: Evidence, work: Workload) -> Iterator[Finding]:
    """Say that tasks started threads of their own, which shared the cores with those of other tasks."""
    process_s, cores = _with_own_threads_s(known, work), work.load.n_cores
    if process_s is None or cores is None:
        return
    cpu_s = float(np.nansum(work.cpu_s))
    if cpu_s < _OWN_PART * process_s:
        # The tasks waited for their threads, which did the work: nothing says that these were too many.
        return
    in_tasks_s = max(work.recorded_s - work.outside_s, 1e-9)
    # What of it was work, and what only threads in each other's way, nobody has measured: it is mostly that
    # where the tasks' own threads computed beside them. Cores that other programs had are not to be gained.
    used = min(process_s / in_tasks_s, cores, work.n_workers)
    least_s = work.outside_s + max(cpu_s / used, _longest_cpu_s(work))
    high_s = max(known.base_s[work.run.run] - least_s, 0.0)
    yield Finding(
        "oversubscribed",
        high_s,
        0.0,
        high_s,
        f"the process used {process_s / max(cpu_s, 1e-9):.1f} times the CPU time of its tasks' own threads, "
        f"more than {cores} cores had time for: tasks start threads of their own (BLAS, for instance)",
        "let Dask alone have the cores: set OPENBLAS_NUM_THREADS=1, MKL_NUM_THREADS=1 and OMP_NUM_THREADS=1 "
        "before NumPy is imported, or use threadpoolctl.threadpool_limits(1)",
        {
            "run": work.run.run,
            "process_cpu_s": process_s,
            "tasks_cpu_s": cpu_s,
            "n_cores": cores,
            "cores_used": process_s / in_tasks_s,
        },
    )


def _with_own_threads_s(known: Evidence, work: Workload) -> float | None:
    """Return the CPU time of the process, where cores were short and its tasks' threads had little of it."""
    run, load = work.run, work.load
    if load.cpu_share is None or load.n_cores is None or work.n_workers < 2 or run.scheduler == "processes":
        return None
    samples = known.recording.resources.between(run.start_s, run.stop_s or run.start_s)
    percent = samples.cpu_percent[~np.isnan(samples.cpu_percent)]
    if len(percent) < _MIN_SAMPLES:
        return None
    process_s = float(percent.mean()) / 100 * work.recorded_s
    if load.ready is None:
        is_full = process_s >= _FULL * load.n_cores * work.recorded_s
    else:
        is_full = load.ready >= _QUEUED * load.n_cores
    return process_s if is_full and process_s >= _MORE_THREADS * float(np.nansum(work.cpu_s)) else None


def waiting(known: Evidence, work: Workload) -> Iterator[Finding]:
    """Say that tasks of some prefixes had no core for much of their time."""
    load = work.load
    if load.cpu_share is None or load.is_lock_bound or _with_own_threads_s(known, work) is not None:
        return
    is_uncounted = load.ready is None and (work.recorded_s < COUNTED_S or _is_counted_elsewhere(known, work))
    cpu_s = np.minimum(np.nan_to_num(work.cpu_s), work.seconds)
    whole, own = np.bincount(work.prefix, work.seconds), np.bincount(work.prefix, cpu_s)
    # Who waits for threads of its own computes.
    idle = 1 - load.beside_share
    least = _BARELY_ON_CPU if is_uncounted else _OFF_CPU
    waits = (idle * (whole - own) >= least * np.maximum(whole, 1e-12))[work.prefix]
    waits &= ~np.isnan(work.cpu_s)
    # Dask cannot help that others had the cores.
    off_s = np.where(waits, idle * (work.takes_s - cpu_s), 0.0)
    if not off_s.any():
        return
    worth_s = known.saved_s(work, work.seconds - off_s)
    names = known.most(work.prefix, off_s)
    share = format_percent(float(cpu_s[waits].sum() / work.seconds[waits].sum()))
    cure = "run more of them at a time: compute(num_workers=…)"
    if work.run.is_on_cluster:
        cure = "give workers more threads; where they take turns in running Python, have more of one thread"
    yield measured(
        "waiting",
        worth_s,
        f"tasks of {listed(names)} had a core for {share} of their time: for the rest they waited, for "
        "files, the network, a lock or sleep, or for a core that other programs used",
        f"where they wait for files or the network, {cure}; recording.profile() says in which functions they "
        "were",
        {
            "run": work.run.run,
            "seconds": float(work.seconds[waits].sum()),
            "cpu_s": float(cpu_s[waits].sum()),
            "prefixes": names,
        },
    )


def _is_counted_elsewhere(known: Evidence, work: Workload) -> bool:
    """Say whether ready threads of this machine were counted, though not in this compute."""
    is_here = not work.run.is_on_cluster
    return is_here and not np.isnan(known.recording.resources.ready_threads).all()


def short_tasks(known: Evidence, work: Workload) -> Iterator[Finding]:
    """Say that handing over short tasks took much of the time that workers had for them."""
    is_short = (_means(work.prefix, work.seconds) <= _SHORT_S)[work.prefix]
    # Few of them beside longer ones cost nothing.
    is_short |= is_short.sum() < _MANY_TASKS
    n_short, short_s = int(is_short.sum()), float(work.seconds[is_short].sum())
    lag_s = float(work.lag_s[is_short].sum())
    # Of few tasks it is the start of workers.
    ordering_s = work.n_workers * work.outside_s * n_short / len(is_short) if n_short >= _MANY_TASKS else 0.0
    mean_s, handing_s = short_s / n_short, (lag_s + ordering_s) / n_short
    if mean_s > _SHORT_S or handing_s < _HANDED_OVER * (handing_s + mean_s) or work.load.is_lock_bound:
        return
    # Fewer tasks are also sooner in order, and their results sooner together.
    n_left = max(short_s / _WHOLE_S, work.n_workers)
    fewer = max(n_short - n_left, 0.0) / len(is_short)
    worth_s = known.handed_over_s(work, is_short, _alone_s(work)) + fewer * work.outside_s
    names = known.most(work.prefix[is_short], work.lag_s[is_short])
    which = "tasks" if is_short.all() else f"{format_count(n_short)} tasks of {listed(names)}"
    yield measured(
        "short-tasks",
        worth_s,
        f"{which} took {format_duration(mean_s)} each; workers waited {format_duration(handing_s)} for each "
        "to be put in order and handed over",
        "use larger chunks or partitions, or put several calls into one task: 100 ms or more each",
        {
            "run": work.run.run,
            "n_tasks": n_short,
            "mean_task_s": mean_s,
            "handing_over_s": lag_s,
            "outside_s": work.outside_s,
            "prefixes": names,
        },
    )


def _means(prefix: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each prefix, by its number."""
    means: NDArray[np.float64] = np.bincount(prefix, values) / np.maximum(np.bincount(prefix), 1)
    return means


def _alone_s(work: Workload) -> NDArray[np.float64]:
    """Return how long short tasks take that need not wait for the interpreter's lock, in seconds.

    Where most tasks of a prefix had a core all the time, who had none for once was held up by the threads
    that hand tasks over.
    """
    if not work.load.has_lock:
        return work.seconds
    cpu_s = on_core_s(work.seconds, work.cpu_s)
    had_core = _means(work.prefix, (cpu_s >= _MOSTLY * work.seconds).astype(np.float64))
    return np.where(had_core[work.prefix] >= _MOST, cpu_s, work.seconds)


def stragglers(known: Evidence, work: Workload) -> Iterator[Finding]:
    """Say that few tasks took far longer than their like."""
    usual, is_late = known.usual[work.run.run]
    if not is_late.any() or work.load.is_lock_bound:
        return
    worth_s = known.saved_anew_s(work, np.where(is_late, usual, work.seconds))
    late = np.flatnonzero(is_late)
    late = late[np.argsort(-work.seconds[late], kind="stable")]
    # Beside one of a second another one of ten milliseconds is not worth a word.
    until_s = np.cumsum(work.seconds[late])
    late = late[: 1 + int(np.searchsorted(until_s, _NEARLY_ALL * until_s[-1]))]
    n, late_s, worst = len(late), float(work.seconds[late].sum()), late[:_MAX_NAMED]
    names = known.most(work.prefix[late], work.seconds[late])
    yield measured(
        "stragglers",
        worth_s,
        f"{format_count(n)} {plural('task', n)} of {listed(names)} took more than three times as "
        f"long as their like, {format_duration(late_s)} together",
        "split what they work on evenly (rechunk, repartition), or look what is different about them",
        {
            "run": work.run.run,
            "n_tasks": n,
            "seconds": late_s,
            "prefixes": names,
            "tasks": sorted(set(work.task[worst].tolist())),
        },
    )


def few_tasks_or_long_chain(known: Evidence, work: Workload) -> Iterator[Finding]:
    """Say that workers had nothing to do, for lack of tasks that could run."""
    # If nobody else had used the cores, and no task had taken longer than its like: are workers idle still?
    usual, is_late = known.usual[work.run.run]
    calm = work.undisturbed()
    takes = np.where(is_late, np.minimum(usual, calm.seconds), calm.seconds)
    calm = replace(calm, seconds=takes)
    work_s, chain_s = float(takes.sum()) / work.n_workers, longest_chain_s(calm)
    in_tasks_s = max(replayed_s(calm) - work.outside_s, 1e-9)
    idle_s = (in_tasks_s - work_s) * work.n_workers
    is_idle = work.n_workers > 1 and 1 - work_s / in_tasks_s >= _IDLE
    if not is_idle or work.load.is_lock_bound:
        return
    least_s = work.outside_s + float(work.seconds.sum()) / work.n_workers
    worth_s = max(known.base_s[work.run.run] - least_s, 0.0)
    evidence: dict[str, object] = {
        "run": work.run.run,
        "chain_s": chain_s,
        "work_per_worker_s": work_s,
        "n_tasks": len(work.seconds),
        "n_workers": work.n_workers,
    }
    few = "use smaller chunks or partitions, so that there are several tasks for each worker"
    longest = int(np.argmax(takes))
    longest_s = float(takes[longest])
    if len(work.seconds) < 2 * work.n_workers:
        n = len(work.seconds)
        text = f"{n} {plural('task', n)} for {work.n_workers} workers: most of them had nothing to do"
        yield at_most("few-tasks", worth_s, text, few, evidence)
    elif longest_s >= _ALONE * chain_s and longest_s * (work.n_workers - 1) >= _ALONE * idle_s:
        took = format_duration(float(work.seconds[longest]))
        text = f"one task took {took}, while the other workers had nothing to do"
        evidence |= {"prefixes": known.most(work.prefix[[longest]], work.seconds[[longest]])}
        evidence |= {"tasks": [int(work.task[longest])]}
        yield at_most("few-tasks", worth_s, text, few, evidence)
    elif chain_s >= 0.8 * in_tasks_s:
        yield at_most(
            "long-chain",
            worth_s,
            f"tasks that need each other took {format_duration(chain_s)} one after the other, and the "
            "other workers waited",
            "cut the chain: combine results in a tree (split_every), or split its longest tasks",
            evidence | {"prefixes": list(known.path.prefix_s)[:3]},
        )


def _longest_cpu_s(work: Workload) -> float:
    return longest_chain_s(work, np.nan_to_num(work.cpu_s))
