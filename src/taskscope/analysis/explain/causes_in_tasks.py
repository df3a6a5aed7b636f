"""Causes in tasks and their graph: locks, waits, cores; number, length and order of tasks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.finding import (
    BAND,
    Finding,
    Part,
    UserArray,
    at_most,
    is_of_shuffle,
    listed,
    measured,
)
from taskscope.analysis.explain.schedule import COUNTED_S, Schedule, busy_ns, key_texts, on_core_s
from taskscope.analysis.explain.waits import WAIT_WORDS
from taskscope.analysis.explain.what_if import longest_chain_s, priced_s
from taskscope.analysis.quantities import (
    counted,
    format_bytes,
    format_count,
    format_duration,
    format_percent,
    printable,
)
from taskscope.analysis.totals import count_workers
from taskscope.model.tables.columns import median
from taskscope.model.tables.stacks import Wait

_SHORT_S = 2e-3
_AT_LOCK = 0.3
_OFF_CPU = 0.3
_BARELY_ON_CPU = 0.95
"""A task with a core for less than a twentieth of its time waits, however busy the cores are."""
_FULL = 0.85
_QUEUED = 1.25
_OWN_PART = 0.1
_MORE_THREADS = 1.25
_MIN_SAMPLES = 3
_POOL_START_S = 0.5
"""About how long processes need to start Python and import Dask."""
_PASSED_BPS = 100e6
"""How many bytes a second processes pack, send and unpack, about."""
_PASSED_BYTES = 10e6
_FOR_OTHERS: tuple[Wait, ...] = ("result", "queue", "event")
_SEEN = 0.2
_NO_MORE = 0.1


def interpreter_lock(part: Part) -> Iterator[Finding]:
    """Find that threads took turns in running Python; processes would share the cores."""
    schedule, load = part.schedule, part.schedule.load
    # The task in which half of the time is spent: reductions have many tasks that take next to none.
    by_length = np.sort(schedule.seconds)
    half = np.searchsorted(np.cumsum(by_length), by_length.sum() / 2)
    is_short = float(by_length[half]) <= _SHORT_S
    if not load.is_lock_bound or load.lock_share is None or is_short:
        return
    cores = min(load.n_cores or schedule.n_threads, schedule.n_threads)
    in_tasks_s = schedule.recorded_s - schedule.outside_s
    cpu_s = np.nan_to_num(schedule.cpu_s)
    alone_s = max(float(cpu_s.sum()) / cores, longest_chain_s(schedule, cpu_s))
    worth_s = max(in_tasks_s - alone_s, 0.0)
    n, rate = load.concurrency, load.cpu_rate
    kept = "" if rate is None else f". {n:.1f} tasks ran at a time, but used only {rate:.1f} cores together"
    passed_bytes = float(np.nansum(schedule.nbytes) + np.nansum(schedule.input_bytes))
    passing_s = passed_bytes / _PASSED_BPS
    cost_s = passing_s + (0.0 if schedule.is_on_cluster else _POOL_START_S)
    pays = cost_s < 0.5 * worth_s
    low_s = max(0.5 * worth_s - cost_s, 0.0) if pays and not load.is_crowded else 0.0
    starts = "" if schedule.is_on_cluster else f"take about {format_duration(_POOL_START_S)} to start"
    passes = f"pass up to {format_bytes(passed_bytes)} to each other" if passed_bytes >= _PASSED_BYTES else ""
    costs = " and ".join(text for text in (starts, passes) if text)
    processes = 'compute(scheduler="processes"), or a LocalCluster of workers with one thread each'
    # Code that releases the lock costs nothing; processes cost their start and what they pass.
    yield Finding(
        "interpreter-lock",
        max(worth_s - cost_s, 0.0) if pays else worth_s,
        low_s,
        worth_s,
        "threads took turns in running Python: the interpreter's lock (GIL) was held "
        f"{format_percent(load.lock_share)} of the time{kept}",
        f"use processes, {processes}{f'. They {costs}' if costs else ''}"
        if pays
        else "use functions that release the lock (NumPy or Arrow columns). Processes hardly pay: they "
        f"{costs}",
        {
            "concurrency": load.concurrency,
            "cpu_rate": load.cpu_rate,
            "lock_share": load.lock_share,
            "n_cores": load.n_cores,
            "prefixes": part.whole.most(schedule.prefix, schedule.seconds),
        },
    )


def lock(part: Part) -> Iterator[Finding]:
    """Find tasks that took turns at a lock of the user's own, where more workers do not help."""
    schedule = part.schedule
    at_lock = schedule.seconds * schedule.at_lock
    names = [
        name
        for name in part.whole.most(schedule.prefix, at_lock)
        if schedule.load.waiting.get(name, {}).get("lock", 0.0) >= _AT_LOCK
    ]
    if not names:
        return
    share = float(at_lock.sum() / max(schedule.seconds[schedule.at_lock >= _AT_LOCK].sum(), 1e-9))
    yield at_most(
        "lock",
        part.saved_s(schedule.seconds - at_lock),
        f"tasks of {listed(names)} waited {format_percent(min(share, 1.0))} of their time for a lock. "
        f"{part.stacks.words(names, ['lock'])}",
        "do less while the lock is held, use processes, which netCDF4 and HDF5 lock apart, or Zarr",
        {"lock_s": schedule.load.lock_s, "share": share, "prefixes": names},
    )


def oversubscribed(part: Part) -> Iterator[Finding]:
    """Find that tasks started threads of their own, which shared the cores with other tasks."""
    schedule, process_s = part.schedule, _with_own_threads_s(part)
    if process_s is None or schedule.load.n_cores is None:
        return
    cores, cpu_s = schedule.load.n_cores, float(np.nansum(schedule.cpu_s))
    if cpu_s < _OWN_PART * process_s:
        # The tasks waited for their threads, which did the work: they need not have been too many.
        return
    in_tasks_s = max(schedule.recorded_s - schedule.outside_s, 1e-9)
    used = min(process_s / in_tasks_s, cores, schedule.n_threads)
    least_s = schedule.outside_s + max(cpu_s / used, longest_chain_s(schedule, np.nan_to_num(schedule.cpu_s)))
    yield at_most(
        "oversubscribed",
        max(part.base_s - least_s, 0.0),
        f"tasks start threads of their own (BLAS, for instance). The process took "
        f"{process_s / max(cpu_s, 1e-9):.1f} times the CPU time of its tasks. "
        f"It kept {used:.1f} of {cores} cores busy",
        "give BLAS one thread: threadpoolctl.threadpool_limits(1) around the compute, or "
        "OPENBLAS_NUM_THREADS=1, MKL_NUM_THREADS=1, OMP_NUM_THREADS=1 before NumPy is imported",
        {
            "process_cpu_s": process_s,
            "tasks_cpu_s": cpu_s,
            "n_cores": cores,
            "cores_used": process_s / in_tasks_s,
            "prefixes": part.whole.most(schedule.prefix, schedule.seconds),
        },
    )


def _with_own_threads_s(part: Part) -> float | None:
    """Return the CPU time of the process where cores were full, and its tasks' threads had little of it."""
    schedule, load = part.schedule, part.schedule.load
    is_own = load.shares_interpreter and not schedule.is_on_cluster and not load.is_lock_bound
    if load.cpu_share is None or load.n_cores is None or schedule.n_threads < 2 or not is_own:
        return None
    zero_s = part.whole.recording.zero_s
    ends_s = [zero_s + float(t) / 1e9 for t in (schedule.start[0], schedule.stop.max())]
    samples = part.whole.recording.resources.between(ends_s[0], ends_s[1])
    samples = samples.part(~np.isnan(samples.cpu_percent))
    if len(samples) < _MIN_SAMPLES:
        return None
    # Children of the process are no threads of tasks.
    rate = float((samples.cpu_percent - np.nan_to_num(samples.beside_percent)).mean()) / 100
    process_s = rate * (schedule.recorded_s - schedule.outside_s)
    is_full = rate >= _FULL * load.n_cores and (load.ready or np.inf) >= _QUEUED * load.n_cores
    return process_s if is_full and process_s >= _MORE_THREADS * float(np.nansum(schedule.cpu_s)) else None


def waiting(part: Part) -> Iterator[Finding]:
    """Find that tasks of some prefixes waited for something other than a core for much of their time."""
    schedule, load = part.schedule, part.schedule.load
    if load.cpu_share is None or load.is_lock_bound or _with_own_threads_s(part) is not None:
        return
    off_s = _off_cpu_s(part)
    waits = off_s > 0
    if not waits.any():
        return
    names = part.whole.most(schedule.prefix, off_s)
    cpu_s = float(np.minimum(np.nan_to_num(schedule.cpu_s), schedule.seconds)[waits].sum())
    whole_s = float(schedule.seconds[waits].sum())
    kinds = {kind: part for name in names[:1] for kind, part in load.waiting.get(name, {}).items()}
    kind = next((kind for kind, part in kinds.items() if part >= _SEEN), None)
    place = part.stacks.words(names, [kind])
    what = f"for {WAIT_WORDS[kind]}" if kind else "for files, the network or other threads"
    worth_s = part.saved_s(schedule.seconds - off_s)
    if schedule.is_on_cluster:
        # Tasks that wait for these, as in a `worker_client`, end sooner, too.
        shares = np.array([load.waiting.get(name, {}).get("result", 0.0) for name in schedule.names])
        left_s = schedule.seconds * (1 - np.minimum(shares[schedule.prefix], 1.0)) - off_s
        worth_s = part.saved_s(np.maximum(left_s, 0.0))
    n = int(np.count_nonzero(waits))
    more_s = part.base_s - priced_s(schedule, n_workers=2 * schedule.n_threads)
    one_by_one = more_s < _NO_MORE * worth_s and _one_by_one(schedule, off_s, worth_s)
    is_capped = kind not in _FOR_OTHERS and not one_by_one and n > schedule.n_threads
    if is_capped:
        # No more than the advised workers gain, which are twice as many.
        worth_s = worth_s / 2 if schedule.is_on_cluster else min(worth_s, more_s)
    who, called, their = f"tasks of {listed(names)}", "", "their"
    if n == 1:
        (who, called), their = _named(part, int(waits.argmax())), "its"
    yield Finding(
        "waiting",
        worth_s,
        worth_s * (1 - BAND),
        worth_s if is_capped else worth_s * (1 + BAND),
        f"{who} had a core for {format_percent(cpu_s / whole_s)} of {their} time and "
        f"waited {what}{called}{f'. {place}' if place else ''}",
        (kind not in _FOR_OTHERS and one_by_one) or _more_at_a_time(part, kind, n),
        {"seconds": whole_s, "cpu_s": cpu_s, "waits_for": kind, "prefixes": names},
    )


def _named(part: Part, place: int) -> tuple[str, str]:
    """Return a task by its key, and a sentence with the user's function that it calls, where one is known."""
    schedule, groups = part.schedule, part.whole.recording.groups
    (key,) = key_texts(part.whole.recording, int(schedule.run[place]), schedule.number[[place]])
    function = groups[schedule.group[place]].function
    return f"task {printable(key, 60)}", f". It calls {printable(function, 80)}" if function else ""


def _one_by_one(schedule: Schedule, off_s: NDArray[np.float64], worth_s: float) -> str | None:
    """Return the advice for waits that no more workers can shorten: a chain, or a long one."""
    if longest_chain_s(schedule, off_s) > off_s.max():
        return (
            "each needs the result of the one before, so more workers do not help. "
            "Wait for less in each, or make them independent"
        )
    if off_s.max() < _MOSTLY * worth_s or np.count_nonzero(off_s) <= schedule.n_threads:
        return None
    longest = format_duration(float(off_s.max()))
    return f"one of them waited {longest}, so more workers do not help. Wait for less in it, or split it"


def _more_at_a_time(part: Part, kind: Wait | None, n_tasks: int) -> str:
    if n_tasks == 1 and kind not in _FOR_OTHERS:
        return "start it before the others, or cache its result"
    if n_tasks <= part.schedule.n_threads and kind not in _FOR_OTHERS:
        return (
            f"all {format_count(n_tasks)} of them can wait at the same time. Start them before the others, "
            "or cache their results"
        )
    twice = 2 * -(-part.schedule.n_threads // len(part.schedule.threads))
    if kind in _FOR_OTHERS:
        return (
            "do not wait in a task for what others compute. Pass it as an argument, and Dask starts the task "
            "in time"
        )
    # Computes beside each other have threads of their own.
    own = max((run.n_workers or 0 for run in part.schedule.runs), default=0)
    more = f"compute(num_workers={format_count(2 * own or twice)})"
    if part.schedule.is_on_cluster:
        more = f"LocalCluster(threads_per_worker={format_count(twice)})"
    if kind is None:
        return f"where they wait for files or the network, run more of them at a time: {more}"
    return f"run more of them at a time: {more}"


def _off_cpu_s(part: Part) -> NDArray[np.float64]:
    """Return for how long each task waited; nothing for prefixes that did so for less than 30 %."""
    schedule, load = part.schedule, part.schedule.load
    is_counted = load.ready is not None
    cpu_s = np.minimum(np.nan_to_num(schedule.cpu_s), schedule.seconds)
    whole, own = np.bincount(schedule.prefix, schedule.seconds), np.bincount(schedule.prefix, cpu_s)
    # A task that waits for threads of its own computes.
    idle = 1 - load.beside_share
    off_s = np.where(np.isnan(schedule.cpu_s), 0.0, idle * (schedule.takes_s - cpu_s))
    least = _OFF_CPU if is_counted or schedule.recorded_s >= COUNTED_S else _BARELY_ON_CPU
    for number, name in enumerate(schedule.names):
        if number >= len(whole) or not whole[number]:
            continue
        had_core = own[number] >= (1 - _BARELY_ON_CPU) * whole[number]
        mine = schedule.prefix == number
        seen = load.waiting.get(name, {})
        # Of tasks of a cluster the results are other tasks', which have rows of their own.
        no_wait: tuple[Wait, ...] = (
            ("lock", "process", "result") if schedule.is_on_cluster else ("lock", "process")
        )
        waited = sum(part for kind, part in seen.items() if kind not in no_wait)
        # A program that a task starts does its work: that is no wait.
        if max(seen.get(kind, 0.0) for kind in no_wait) >= _AT_LOCK or is_of_shuffle(name):
            off_s[mine] = 0.0
        elif waited >= _OFF_CPU:
            # Samples saw it wait: no queue for a core explains that.
            off_s[mine] = np.minimum(schedule.seconds - cpu_s, schedule.seconds * waited)[mine]
        elif idle * (whole[number] - own[number]) < least * whole[number] or (
            # Samples saw no wait, and others had cores; but next to no CPU time is a wait.
            load.is_crowded and part.stacks.places(name) and had_core
        ):
            off_s[mine] = 0.0
    return off_s


_HANDED_OVER = 0.25
_MOST_HANDED_S = 5e-3
"""The longest that a scheduler takes to dispatch a task."""
_MANY_TASKS = 1_000
_MIN_TASKS = 50
_WHOLE_S = 0.1
_WHOLE_BYTES = 100e6
"""How long a task should take, and how large a chunk should be, by the advice."""
_FOR_EACH = 4
"""So many tasks are left for each thread by the advice, at least."""
_LARGE_RESULT = 10e3
_NEARLY_ALL = 0.98
_MAX_NAMED = 100
"""Most tasks that evidence names by their numbers in the graph."""
_IDLE = 0.25
_ALONE = 0.25
_LONG_STEP = 0.1
_CHAIN = 0.8
_FEW_STEPS = 3
_MOSTLY = 0.6
_LARGER = 3.0


def short_tasks(part: Part) -> Iterator[Finding]:
    """Find that handing over short tasks took much of the time that workers had for them."""
    schedule = part.schedule
    n_of = np.maximum(np.bincount(schedule.prefix), 1)
    is_short = (np.bincount(schedule.prefix, schedule.seconds) / n_of <= _SHORT_S)[schedule.prefix]
    # Few of them beside longer ones cost nothing.
    is_short |= is_short.sum() < _MANY_TASKS
    n_short, short_s = int(is_short.sum()), float(schedule.seconds[is_short].sum())
    # On a busy machine tasks and their scheduler wait for a core.
    stretch = schedule.load.stretch if schedule.load.is_crowded else 1.0
    lag_s = np.minimum(schedule.lag_s / stretch, _MOST_HANDED_S)
    # Of few tasks it is the start of workers.
    ordering_s = schedule.n_threads * schedule.outside_s * n_short / len(is_short)
    ordering_s *= n_short >= _MANY_TASKS
    mean_s, handing_s = short_s / n_short, (float(lag_s[is_short].sum()) + ordering_s) / n_short
    if n_short < _MIN_TASKS or mean_s > _SHORT_S or handing_s < _HANDED_OVER * (handing_s + mean_s):
        return
    # Fewer tasks are also sooner in order, and their results sooner together.
    n_left = max(short_s / _WHOLE_S, schedule.n_threads)
    fewer = max(n_short - n_left, 0.0) / len(is_short)
    unexplained_s = float((schedule.lag_s - lag_s).sum()) / schedule.n_threads
    in_tasks_s = part.dispatched_s(is_short, _alone_s(part), lag_s) - unexplained_s
    names = part.whole.most(schedule.prefix[is_short], lag_s[is_short] + schedule.seconds[is_short])
    which = "tasks" if is_short.all() else f"{format_count(n_short)} tasks of {listed(names)}"
    yield measured(
        "short-tasks",
        max(in_tasks_s, 0.0) + fewer * schedule.outside_s,
        f"{which} took {format_duration(mean_s)} each, and scheduling took {format_duration(handing_s)} "
        "for each",
        _larger_chunks(part, is_short, mean_s),
        {
            "n_tasks": n_short,
            "mean_task_s": mean_s,
            "handing_over_s": float(lag_s[is_short].sum()),
            "outside_s": schedule.outside_s,
            "prefixes": names,
        },
    )


def _alone_s(part: Part) -> NDArray[np.float64]:
    """Return how long short tasks take that need not wait for the interpreter's lock, in seconds."""
    schedule = part.schedule
    if not schedule.load.shares_interpreter:
        return schedule.seconds
    # Where most tasks of a prefix always had a core, one without a core waited for the scheduler.
    cpu_s, prefix = on_core_s(schedule.seconds, schedule.cpu_s), schedule.prefix
    had_core = np.bincount(prefix, cpu_s >= 0.7 * schedule.seconds) / np.maximum(np.bincount(prefix), 1)
    return np.where(had_core[prefix] >= 0.5, cpu_s, schedule.seconds)


def _larger_chunks(part: Part, chosen: NDArray[np.bool_], mean_s: float) -> str:
    """Return by how much chunks should be larger, by their size in memory where that is known."""
    schedule, n = part.schedule, int(chosen.sum())
    sizes = schedule.nbytes[chosen]
    largest = float(np.nanmax(sizes, initial=0.0)) if (~np.isnan(sizes)).any() else 0.0
    array, step = UserArray.of(part.schedule.runs), _WHOLE_S / max(mean_s, 1e-6)
    n_left = _FOR_EACH * schedule.n_threads
    call = array and array.larger(step, n_left)
    if call:
        return f"use larger chunks, so that each task does more: {call}"
    # As many tasks of one kind as there are chunks.
    at_most_of = int(np.bincount(schedule.group[chosen]).max()) // n_left
    step_of_size = min(round(_WHOLE_BYTES / largest), at_most_of) if largest >= _LARGE_RESULT else 0
    if step_of_size > 1:
        return (
            f"use larger chunks or partitions: 1 of about {format_bytes(step_of_size * largest)} in place of "
            f"{format_count(step_of_size)} of {format_bytes(largest)} at most"
        )
    step = max(min(round(step), n // n_left), 2)
    return (
        f"use larger chunks or partitions, or put {format_count(step)} calls into one task of about "
        f"{format_duration(step * mean_s)}"
    )


def stragglers(part: Part) -> Iterator[Finding]:
    """Find that few tasks took far longer than tasks that do the same in the graph."""
    schedule = part.schedule
    if not part.is_late.any() or schedule.load.is_lock_bound:
        return
    worth_s = part.saved_anew_s(np.where(part.is_late, part.usual_s, schedule.seconds))
    late = np.flatnonzero(part.is_late)
    late = late[np.argsort(-schedule.seconds[late], kind="stable")]
    # Beside one of a second another one of ten milliseconds is not worth a word.
    until_s = np.cumsum(schedule.seconds[late])
    late = late[: 1 + int(np.searchsorted(until_s, _NEARLY_ALL * until_s[-1]))]
    n, late_s = len(late), float(schedule.seconds[late].sum())
    names = part.most(late)
    usual_s = median(part.usual_s[late])
    what, advice = _why_late(part, late)
    yield measured(
        "stragglers",
        worth_s,
        f"{counted(n, 'task')} of {listed(names)} took {format_duration(late_s)}"
        f"{' together' if n > 1 else ''}, tasks like {'it' if n == 1 else 'them'} "
        f"{format_duration(usual_s)} each{what}. {'The longest' if n > 1 else 'It'} is "
        f"{''.join(_named(part, int(late[0])))}",
        advice,
        {
            "n_tasks": n,
            "seconds": late_s,
            "usual_s": usual_s,
            "prefixes": names,
            "tasks": part.tasks(late[:_MAX_NAMED]),
        },
    )


def _why_late(part: Part, late: NDArray[np.int64]) -> tuple[str, str]:
    """Return how much larger the inputs of late tasks were, and the advice."""
    schedule = part.schedule
    like = np.isin(part.kind, part.kind[late]) & ~part.is_late
    for sizes, what in ((schedule.input_bytes, "inputs"), (schedule.nbytes, "results")):
        usual = median(sizes[like & ~np.isnan(sizes)]) if (~np.isnan(sizes[like])).any() else 0.0
        own = sizes[late[0]]
        if usual > 0 and own >= _LARGER * usual:
            return (
                f". Its {what} are {format_bytes(own)}, theirs {format_bytes(usual)}",
                "split the data evenly: rechunk, or repartition by size",
            )
    return "", "check what is different about them: the data they read, or the code they run"


def idle(part: Part) -> Iterator[Finding]:
    """Find that workers were idle for lack of ready tasks, and the shape of the graph that caused it."""
    schedule = part.schedule
    begin, end = schedule.start[:1], schedule.stop.max(keepdims=True)
    busy_s = float(busy_ns(schedule, begin, end)[0]) / 1e9
    if schedule.n_threads < 2 or not busy_s:
        return
    # Waits between tasks, when nothing ran at all, have causes of their own.
    idle_s = busy_s * schedule.n_threads - float(schedule.seconds.sum())
    alone_ns = busy_ns(schedule, schedule.start, schedule.stop, most=1)
    alone_ns[part.is_late] = 0
    alone_s = float(alone_ns.sum()) / 1e9
    steps = _serial_steps(part, alone_ns)
    step_s = float(alone_ns[steps].sum()) / 1e9
    n = len(schedule.seconds)
    is_few = n <= schedule.n_threads and not len(schedule.needed)
    is_step = not is_few and 0 < len(steps) <= _FEW_STEPS and step_s >= max(_ALONE * busy_s, 0.5 * alone_s)
    if not is_step and idle_s < _IDLE * busy_s * schedule.n_threads:
        return
    chain_s = longest_chain_s(schedule, np.where(part.is_late, part.usual_s, schedule.seconds))
    evidence: dict[str, object] = {
        "alone_s": alone_s,
        "chain_s": chain_s,
        "busy_s": busy_s,
        "n_tasks": n,
        "n_workers": schedule.n_threads,
    }
    is_chain = n > _FEW_STEPS and chain_s >= _CHAIN * busy_s and _is_chain(part, chain_s)
    if is_step:
        yield _serial_step(part, steps, step_s, evidence)
    elif is_chain:
        least_s = schedule.outside_s + float(schedule.seconds.sum()) / schedule.n_threads
        worth_s = max(part.base_s - least_s, 0.0)
        text = (
            f"a chain of tasks that need each other took {format_duration(chain_s)}, and the other workers "
            "were idle"
        )
        advice = "combine results in a tree (split_every=8), or split the longest tasks of the chain"
        evidence |= {"prefixes": [*part.whole.path.prefix_s][:3], "is_chain": True}
        yield at_most("long-chain", worth_s, text, advice, evidence)
    else:
        yield from _few_tasks(part, idle_s / schedule.n_threads, evidence)


def _is_chain(part: Part, chain_s: float) -> bool:
    """Return whether no single task makes up most of the longest chain."""
    return float(part.schedule.seconds[~part.is_late].max(initial=0.0)) < 0.5 * chain_s


def _serial_steps(part: Part, alone_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return tasks that ran alone for long and have few tasks like them, the longest first."""
    n_like = np.bincount(part.kind)[part.kind]
    whole_ns = max(int(alone_ns.sum()), 1)
    # Of a wave the last task runs alone as well: tasks like it ran beside each other.
    is_step = (n_like < max(part.schedule.n_threads, 2)) & (alone_ns >= _LONG_STEP * whole_ns)
    is_step &= 2 * alone_ns >= part.schedule.stop - part.schedule.start
    steps = np.flatnonzero(is_step)
    return steps[np.argsort(-alone_ns[steps], kind="stable")]


def _workers(schedule: Schedule) -> str:
    return count_workers(schedule.n_threads, (run.scheduler for run in schedule.runs if run.scheduler))


def _serial_step(part: Part, steps: NDArray[np.int64], step_s: float, evidence: dict[str, object]) -> Finding:
    schedule, n, others = part.schedule, len(steps), part.schedule.n_threads - 1
    names = part.most(steps)
    text = (
        f"{counted(n, 'task')} of {listed(names)} ran alone for {format_duration(step_s)} "
        f"while {format_count(others)} of {_workers(schedule)} had nothing to do"
    )
    first = int(steps[0])
    n_inputs = int(schedule.n_needed[first])
    if len(schedule.seconds) == n:
        advice = "use smaller chunks or partitions, so that there are several tasks for each worker"
    elif n_inputs >= 4:
        advice = f"it takes {format_count(n_inputs)} results at once: combine them in a tree (split_every=4)"
    elif n_inputs:
        advice = "give it less data: smaller blocks, or a reduction in a tree (split_every) before it"
    else:
        advice = "split the data that it reads or makes into several tasks, as all others wait for it"
    worth_s = step_s * (1 - 1 / schedule.n_threads)
    return at_most(
        "serial-step",
        worth_s,
        text,
        advice,
        evidence | {"step_s": step_s, "prefixes": names, "tasks": part.tasks(steps[:_MAX_NAMED])},
    )


def _few_tasks(part: Part, idle_s: float, evidence: dict[str, object]) -> Iterator[Finding]:
    """Find that there were fewer tasks than workers, or too few for an even number for each."""
    schedule = part.schedule
    by_kind = np.bincount(part.kind, schedule.seconds)
    widest = int(by_kind.argmax())
    # Where steps of several kinds follow each other, the number of none of them is to blame.
    if by_kind[widest] < _MOSTLY * by_kind.sum():
        return
    n_like = int((part.kind == widest).sum())
    # Many tasks for each worker that still left it idle had to wait for something else, or for each other.
    kind, n_threads = part.kind, schedule.n_threads
    if n_like >= 3 * n_threads or ((kind[schedule.by] == widest) & (kind[schedule.needed] == widest)).any():
        return
    begin, end = schedule.start[:1], schedule.stop.max(keepdims=True)
    was_full = bool(busy_ns(schedule, begin, end, least=n_threads)[0])
    names = part.most(part.kind == widest)
    what = f"{counted(n_like, 'task')} of {listed(names)}"
    text = f"{what} for {_workers(schedule)}: " + (
        "their number does not divide evenly, so some were idle" if was_full else "some were idle"
    )
    pieces = n_threads * max(2, n_like // n_threads + 1)
    array = UserArray.of(part.schedule.runs)
    call = array and array.smaller(pieces)
    advice = (
        f"use smaller chunks or partitions, about {format_count(pieces)} or more instead of "
        f"{format_count(n_like)}"
    )
    advice += f": {call}" if call else ""
    yield at_most("few-tasks", idle_s, text, advice, evidence | {"prefixes": names})
