"""Causes that keep tasks from a core: the interpreter's lock, another lock, threads of their own, waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.evidence import Computes, is_of_shuffle, listed
from taskscope.analysis.explain.finding import Finding, at_most, measured
from taskscope.analysis.explain.load import COUNTED_S
from taskscope.analysis.explain.replay import longest_chain_s
from taskscope.analysis.explain.waits import KINDS, Kind
from taskscope.analysis.quantities import format_count, format_percent, plural

_SHORT_S = 2e-3
_AT_LOCK = 0.3
_OFF_CPU = 0.3
_BARELY_ON_CPU = 0.95
"""What has a core for less than a twentieth of the time waits for something else, however busy the cores."""
_FULL = 0.85
_QUEUED = 1.25
_OWN_PART = 0.1
_MORE_THREADS = 1.25
_MIN_SAMPLES = 3
_FOR_OTHERS: tuple[Kind, ...] = ("result", "queue", "event")
_SEEN = 0.2


def interpreter_lock(of: Computes) -> Iterator[Finding]:
    """Find that threads took turns in running Python; processes would share the cores."""
    work, load = of.work, of.work.load
    # The task in which half of the time is spent: reductions have many tasks that take next to none.
    by_length = np.sort(work.seconds)
    half = np.searchsorted(np.cumsum(by_length), by_length.sum() / 2)
    is_short = float(by_length[half]) <= _SHORT_S
    if not load.is_lock_bound or load.lock_share is None or is_short:
        return
    cores = min(load.n_cores or work.n_workers, work.n_workers)
    in_tasks_s = work.recorded_s - work.outside_s
    cpu_s = np.nan_to_num(work.cpu_s)
    alone_s = max(float(cpu_s.sum()) / cores, longest_chain_s(work, cpu_s))
    worth_s = max(in_tasks_s - alone_s, 0.0)
    rate = "" if load.cpu_rate is None else f" and kept {load.cpu_rate:.1f} cores busy"
    # Processes have to send arguments and results, which was not measured.
    yield Finding(
        "interpreter-lock",
        worth_s,
        worth_s * (0.0 if load.is_crowded else 0.5),
        worth_s,
        f"threads took turns in running Python: for {format_percent(load.lock_share)} of the time the "
        f"interpreter's lock was held; {load.concurrency:.1f} tasks ran at a time{rate}",
        'use processes: compute(scheduler="processes"), or a LocalCluster of workers with one thread each; '
        "or code that releases the interpreter's lock, as NumPy's does",
        {
            "runs": of.runs,
            "concurrency": load.concurrency,
            "cpu_rate": load.cpu_rate,
            "lock_share": load.lock_share,
            "n_cores": load.n_cores,
            "prefixes": of.known.most(work.prefix, work.seconds),
        },
    )


def lock(of: Computes) -> Iterator[Finding]:
    """Find that tasks took turns at a lock of the user's own, for which more workers do not help."""
    work = of.work
    at_lock = work.seconds * work.at_lock
    names = [
        name
        for name in of.known.most(work.prefix, at_lock)
        if work.load.waiting.get(name, {}).get("lock", 0.0) >= _AT_LOCK
    ]
    if not names:
        return
    share = float(at_lock.sum() / max(work.seconds[work.at_lock >= _AT_LOCK].sum(), 1e-9))
    yield at_most(
        "lock",
        of.saved_s(work.seconds - at_lock),
        f"tasks of {listed(names)} took turns at a lock: for {format_percent(min(share, 1.0))} of their time "
        f"they waited for it, {of.stacks.words(names, ['lock'])}",
        "more workers of this process do not help: do less while the lock is held, or use processes, each of "
        "which has its own (netCDF4 and HDF5 have one a process), or a format without one (Zarr)",
        {"runs": of.runs, "lock_s": work.load.lock_s, "share": share, "prefixes": names},
    )


def oversubscribed(of: Computes) -> Iterator[Finding]:
    """Find that tasks started threads of their own, which shared the cores with those of other tasks."""
    work, process_s = of.work, _with_own_threads_s(of)
    if process_s is None or work.load.n_cores is None:
        return
    cores, cpu_s = work.load.n_cores, float(np.nansum(work.cpu_s))
    if cpu_s < _OWN_PART * process_s:
        # The tasks waited for their threads, which did the work: nothing says that these were too many.
        return
    in_tasks_s = max(work.recorded_s - work.outside_s, 1e-9)
    used = min(process_s / in_tasks_s, cores, work.n_workers)
    least_s = work.outside_s + max(cpu_s / used, longest_chain_s(work, np.nan_to_num(work.cpu_s)))
    yield at_most(
        "oversubscribed",
        max(of.base_s - least_s, 0.0),
        f"the process kept {used:.1f} of {cores} cores busy with {process_s / max(cpu_s, 1e-9):.1f} times "
        "the CPU time of its tasks' own threads: tasks start threads of their own (BLAS, for instance)",
        _fewer_threads(of),
        {
            "runs": of.runs,
            "process_cpu_s": process_s,
            "tasks_cpu_s": cpu_s,
            "n_cores": cores,
            "cores_used": process_s / in_tasks_s,
            "prefixes": of.known.most(work.prefix, work.seconds),
        },
    )


def _fewer_threads(of: Computes) -> str:
    """Return how to have fewer threads, without the variables that are set to 1 already."""
    limits = of.known.recording.metadata.get("thread_limits")
    limits = limits if isinstance(limits, Mapping) else {}
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    unset = [f"{name}=1" for name in names if str(limits.get(name)) != "1"]
    call = "threadpoolctl.threadpool_limits(1) around the compute"
    if len(unset) < len(names):
        return f"the environment has one thread for BLAS already: use {call}, or see which library has more"
    return f"let Dask alone have the cores: set {', '.join(unset)} before NumPy is imported, or use {call}"


def _with_own_threads_s(of: Computes) -> float | None:
    """Return the CPU time of the process where cores were full, and its tasks' threads had little of it."""
    work, load, schedule = of.work, of.work.load, of.work.schedule
    is_own = load.shares_interpreter and not schedule.is_on_cluster and not load.is_lock_bound
    if load.cpu_share is None or load.n_cores is None or work.n_workers < 2 or not is_own:
        return None
    zero_s = of.known.recording.zero_s
    ends_s = [zero_s + float(t) / 1e9 for t in (schedule.start[0], schedule.stop.max())]
    samples = of.known.recording.resources.between(ends_s[0], ends_s[1])
    # Children of the process are no threads of tasks.
    samples = samples.part(~np.isnan(samples.cpu_percent) & (samples.n_processes <= 1))
    if len(samples) < _MIN_SAMPLES:
        return None
    rate = float(samples.cpu_percent.mean()) / 100
    process_s = rate * (work.recorded_s - work.outside_s)
    is_full = rate >= _FULL * load.n_cores and (load.ready or np.inf) >= _QUEUED * load.n_cores
    return process_s if is_full and process_s >= _MORE_THREADS * float(np.nansum(work.cpu_s)) else None


def waiting(of: Computes) -> Iterator[Finding]:
    """Find that tasks of some prefixes waited for something other than a core for much of their time."""
    work, load = of.work, of.work.load
    if load.cpu_share is None or load.is_lock_bound or _with_own_threads_s(of) is not None:
        return
    off_s = _off_cpu_s(of)
    waits = off_s > 0
    if not waits.any():
        return
    names = of.known.most(work.prefix, off_s)
    cpu_s = float(np.minimum(np.nan_to_num(work.cpu_s), work.seconds)[waits].sum())
    whole_s = float(work.seconds[waits].sum())
    kinds = {kind: part for name in names[:1] for kind, part in load.waiting.get(name, {}).items()}
    kind = next((kind for kind, part in kinds.items() if part >= _SEEN), None)
    place = of.stacks.words(names, [kind])
    what = f"for {KINDS[kind]}" if kind else "for files, the network or other threads"
    yield measured(
        "waiting",
        of.saved_s(work.seconds - off_s),
        f"tasks of {listed(names)} had a core for {format_percent(cpu_s / whole_s)} of their time; for the "
        f"rest they waited {what}{f', {place}' if place else ''}",
        _more_at_a_time(of, kind, int(waits.sum())),
        {"runs": of.runs, "seconds": whole_s, "cpu_s": cpu_s, "waits_for": kind, "prefixes": names},
    )


def _more_at_a_time(of: Computes, kind: Kind | None, n_tasks: int) -> str:
    if n_tasks <= of.work.n_workers and kind not in _FOR_OTHERS:
        return (
            f"there are {format_count(n_tasks)} {plural('task', n_tasks)} that wait and "
            f"{format_count(of.work.n_workers)} workers: split them, so that more wait at the same time"
        )
    twice = format_count(2 * of.work.n_workers)
    if kind in _FOR_OTHERS:
        return (
            "do not wait inside of a task for what others compute: pass it as an argument, so that Dask "
            "starts the task when it is there"
        )
    more = f"compute(num_workers={twice})"
    if of.work.schedule.is_on_cluster:
        more = f"LocalCluster(threads_per_worker={twice})"
    if kind is None:
        return f"where they wait for files or the network, run more of them at a time: {more}"
    return f"run more of them at a time: {more}"


def _off_cpu_s(of: Computes) -> NDArray[np.float64]:
    """Return for how long each task waited; nothing for prefixes that did so for less than 30 %."""
    work, load = of.work, of.work.load
    is_counted = load.ready is not None
    cpu_s = np.minimum(np.nan_to_num(work.cpu_s), work.seconds)
    whole, own = np.bincount(work.prefix, work.seconds), np.bincount(work.prefix, cpu_s)
    # A task that waits for threads of its own computes.
    idle = 1 - load.beside_share
    off_s = np.where(np.isnan(work.cpu_s), 0.0, idle * (work.takes_s - cpu_s))
    least = _OFF_CPU if is_counted or work.recorded_s >= COUNTED_S else _BARELY_ON_CPU
    for number, name in enumerate(of.known.prefixes):
        if number >= len(whole) or not whole[number]:
            continue
        mine = work.prefix == number
        seen = load.waiting.get(name, {})
        # Of tasks of a cluster the results are other tasks', which have rows of their own.
        no_wait: tuple[Kind, ...] = (
            ("lock", "process", "result") if work.schedule.is_on_cluster else ("lock", "process")
        )
        waited = sum(part for kind, part in seen.items() if kind not in no_wait)
        # A program that a task starts does its work: that is no wait.
        if max(seen.get(kind, 0.0) for kind in no_wait) >= _AT_LOCK or is_of_shuffle(name):
            off_s[mine] = 0.0
        elif waited >= _OFF_CPU:
            # Samples saw it wait: no queue for a core explains that.
            off_s[mine] = np.minimum(work.seconds - cpu_s, work.seconds * waited)[mine]
        elif idle * (whole[number] - own[number]) < least * whole[number] or (
            # Samples saw no wait, and others had cores; but next to no CPU time is a wait.
            load.is_crowded and of.stacks.places(name) and own[number] >= (1 - _BARELY_ON_CPU) * whole[number]
        ):
            off_s[mine] = 0.0
    return off_s
