"""Causes that lie in the graph: how many tasks it has, how long they take, and which need each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.causes.rechunk import UserArray
from taskscope.analysis.explain.evidence import Computes, listed
from taskscope.analysis.explain.finding import Finding, at_most, measured
from taskscope.analysis.explain.replay import longest_chain_s
from taskscope.analysis.explain.schedule import busy_ns
from taskscope.analysis.quantities import format_bytes, format_count, format_duration, plural

_SHORT_S = 2e-3
_HANDED_OVER = 0.25
_MOST_HANDED_S = 5e-3
"""A scheduler needs no longer to hand a task over: what takes longer is something else."""
_MANY_TASKS = 1_000
_MIN_TASKS = 50
_WHOLE_S = 0.1
_WHOLE_BYTES = 100e6
"""How long a task should take, and how large a chunk should be: what the advice says."""
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


def short_tasks(of: Computes) -> Iterator[Finding]:
    """Find that handing over short tasks took much of the time that workers had for them."""
    work = of.work
    n_of = np.maximum(np.bincount(work.prefix), 1)
    is_short = (np.bincount(work.prefix, work.seconds) / n_of <= _SHORT_S)[work.prefix]
    # Few of them beside longer ones cost nothing.
    is_short |= is_short.sum() < _MANY_TASKS
    n_short, short_s = int(is_short.sum()), float(work.seconds[is_short].sum())
    # On a busy machine tasks and their scheduler wait for a core.
    stretch = work.load.stretch if work.load.is_crowded else 1.0
    lag_s = np.minimum(work.lag_s / stretch, _MOST_HANDED_S)
    # Of few tasks it is the start of workers.
    ordering_s = work.n_workers * work.outside_s * n_short / len(is_short) if n_short >= _MANY_TASKS else 0.0
    mean_s, handing_s = short_s / n_short, (float(lag_s[is_short].sum()) + ordering_s) / n_short
    if n_short < _MIN_TASKS or mean_s > _SHORT_S or handing_s < _HANDED_OVER * (handing_s + mean_s):
        return
    # Fewer tasks are also sooner in order, and their results sooner together.
    n_left = max(short_s / _WHOLE_S, work.n_workers)
    fewer = max(n_short - n_left, 0.0) / len(is_short)
    kept = replace(of, work=replace(work, lag_s=lag_s), base_s=of.base_s)
    unexplained_s = float((work.lag_s - lag_s).sum()) / work.n_workers
    in_tasks_s = kept.handed_over_s(is_short, _alone_s(of)) - unexplained_s
    names = of.known.most(work.prefix[is_short], lag_s[is_short] + work.seconds[is_short])
    which = "tasks" if is_short.all() else f"{format_count(n_short)} tasks of {listed(names)}"
    yield measured(
        "short-tasks",
        max(in_tasks_s, 0.0) + fewer * work.outside_s,
        f"{which} took {format_duration(mean_s)} each; workers waited {format_duration(handing_s)} for each "
        "to be put in order and handed over",
        _larger_chunks(of, is_short, mean_s),
        {
            "runs": of.runs,
            "n_tasks": n_short,
            "mean_task_s": mean_s,
            "handing_over_s": float(lag_s[is_short].sum()),
            "outside_s": work.outside_s,
            "prefixes": names,
        },
    )


def _alone_s(of: Computes) -> NDArray[np.float64]:
    """Return how long short tasks take that need not wait for the interpreter's lock, in seconds."""
    work = of.work
    if not work.load.shares_interpreter:
        return work.seconds
    # Where most tasks of a prefix always had a core, one that had none was held up by those that hand over.
    cpu_s = np.minimum(np.where(np.isnan(work.cpu_s), work.seconds, work.cpu_s), work.seconds)
    had_core = np.bincount(work.prefix, cpu_s >= 0.7 * work.seconds) / np.maximum(np.bincount(work.prefix), 1)
    return np.where(had_core[work.prefix] >= 0.5, cpu_s, work.seconds)


def _larger_chunks(of: Computes, chosen: NDArray[np.bool_], mean_s: float) -> str:
    """Return by how much chunks should be larger, by their size in memory where that is known."""
    schedule, n = of.work.schedule, int(chosen.sum())
    sizes = schedule.nbytes[chosen]
    largest = float(np.nanmax(sizes, initial=0.0)) if (~np.isnan(sizes)).any() else 0.0
    array, step = UserArray.of(of.work.schedule.runs), _WHOLE_S / max(mean_s, 1e-6)
    call = array and array.larger(step, 2 * of.work.n_workers)
    if call:
        return f"use larger chunks, so that each task does more: {call}"
    if largest >= 10e3:
        step = max(round(_WHOLE_BYTES / largest), 2)
        return (
            f"use larger chunks or partitions: results are {format_bytes(largest)} each at most, so about "
            f"{format_bytes(_WHOLE_BYTES)} each is 1 chunk in place of {format_count(step)}"
        )
    step = max(min(round(step), n // max(of.work.n_workers, 1)), 2)
    return (
        f"use larger chunks or partitions, or put several calls into one task: {format_count(step)} of them "
        f"in place of one are about {format_duration(step * mean_s)}"
    )


def stragglers(of: Computes) -> Iterator[Finding]:
    """Find that few tasks took far longer than tasks that do the same in the graph."""
    work = of.work
    if not of.is_late.any() or work.load.is_lock_bound:
        return
    worth_s = of.saved_anew_s(np.where(of.is_late, of.usual_s, work.seconds))
    late = np.flatnonzero(of.is_late)
    late = late[np.argsort(-work.seconds[late], kind="stable")]
    # Beside one of a second another one of ten milliseconds is not worth a word.
    until_s = np.cumsum(work.seconds[late])
    late = late[: 1 + int(np.searchsorted(until_s, _NEARLY_ALL * until_s[-1]))]
    n, late_s = len(late), float(work.seconds[late].sum())
    names = of.most(late)
    usual_s = float(np.median(of.usual_s[late]))
    what, advice = _why_late(of, late)
    yield measured(
        "stragglers",
        worth_s,
        f"{format_count(n)} {plural('task', n)} of {listed(names)} took {format_duration(late_s)}"
        f"{' together' if n > 1 else ''}, where tasks like {'it' if n == 1 else 'them'} take "
        f"{format_duration(usual_s)} each{what}",
        advice,
        {
            "runs": of.runs,
            "n_tasks": n,
            "seconds": late_s,
            "usual_s": usual_s,
            "prefixes": names,
            "tasks": of.tasks(late[:_MAX_NAMED]),
        },
    )


def _why_late(of: Computes, late: NDArray[np.int64]) -> tuple[str, str]:
    """Return by how much more data late tasks worked on, and what to do."""
    schedule = of.work.schedule
    like = np.isin(of.kind, of.kind[late]) & ~of.is_late
    for sizes, what in ((schedule.input_bytes, "inputs"), (schedule.nbytes, "results")):
        usual = float(np.nanmedian(sizes[like])) if (~np.isnan(sizes[like])).any() else 0.0
        own = sizes[late[0]]
        if usual > 0 and own >= _LARGER * usual:
            return (
                f"; its {what} are {format_bytes(own)}, theirs {format_bytes(usual)}",
                "split what they work on evenly: rechunk, or repartition by size",
            )
    return "", "look what is different about them: the data they read, or the branch of the code they take"


def idle(of: Computes) -> Iterator[Finding]:
    """Find that workers had nothing to do for lack of tasks that could run: why, by what ran meanwhile."""
    work, schedule = of.work, of.work.schedule
    begin, end = schedule.start[:1], schedule.stop.max(keepdims=True)
    in_tasks_s = int(end[0] - begin[0]) / 1e9
    busy_s = float(busy_ns(schedule, begin, end)[0]) / 1e9
    if work.n_workers < 2 or not busy_s:
        return
    # Waits between tasks, when nothing ran at all, have causes of their own.
    idle_s = busy_s * work.n_workers - float(work.seconds.sum())
    alone_ns = busy_ns(schedule, schedule.start, schedule.stop, most=1)
    alone_ns[of.is_late] = 0
    alone_s = float(alone_ns.sum()) / 1e9
    steps = _serial_steps(of, alone_ns)
    step_s = float(alone_ns[steps].sum()) / 1e9
    n, chain_s = len(work.seconds), longest_chain_s(work, np.where(of.is_late, of.usual_s, work.seconds))
    evidence: dict[str, object] = {
        "runs": of.runs,
        "alone_s": alone_s,
        "chain_s": chain_s,
        "busy_s": busy_s,
        "n_tasks": n,
        "n_workers": work.n_workers,
    }
    is_chain = n > _FEW_STEPS and chain_s >= _CHAIN * in_tasks_s and _is_chain(of, chain_s)
    is_few = n <= work.n_workers and not work.needed
    is_step = len(steps) and step_s >= max(_ALONE * busy_s, 0.5 * alone_s)
    if is_step and not is_few and len(steps) <= _FEW_STEPS:
        yield _serial_step(of, steps, step_s, evidence)
    elif idle_s < _IDLE * busy_s * work.n_workers:
        return
    elif is_chain:
        worth_s = max(of.base_s - work.outside_s - float(work.seconds.sum()) / work.n_workers, 0.0)
        text = (
            f"tasks that need each other took {format_duration(chain_s)} one after the other, and the other "
            "workers had nothing to do"
        )
        advice = "cut the chain: combine results in a tree (split_every=8), or split its longest tasks"
        evidence |= {"prefixes": [*of.known.path.prefix_s][:3], "is_chain": True}
        yield at_most("long-chain", worth_s, text, advice, evidence)
    else:
        yield from _few_tasks(of, idle_s / work.n_workers, evidence)


def _is_chain(of: Computes, chain_s: float) -> bool:
    """Return whether no single task makes up most of the longest chain."""
    return float(of.work.seconds[~of.is_late].max(initial=0.0)) < 0.5 * chain_s


def _serial_steps(of: Computes, alone_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return tasks that ran alone for long and have few tasks like them, the longest first."""
    n_like = np.bincount(of.kind)[of.kind]
    whole_ns = max(int(alone_ns.sum()), 1)
    # Of a wave the last task runs alone as well: tasks like it ran beside each other.
    is_step = (n_like < max(of.work.n_workers, 2)) & (alone_ns >= _LONG_STEP * whole_ns)
    is_step &= 2 * alone_ns >= of.work.schedule.stop - of.work.schedule.start
    steps = np.flatnonzero(is_step)
    return steps[np.argsort(-alone_ns[steps], kind="stable")]


def _serial_step(
    of: Computes, steps: NDArray[np.int64], step_s: float, evidence: dict[str, object]
) -> Finding:
    work, n, others = of.work, len(steps), of.work.n_workers - 1
    names = of.most(steps)
    text = (
        f"{format_count(n)} {plural('task', n)} of {listed(names)} ran alone for {format_duration(step_s)} "
        f"while {format_count(others)} of {format_count(work.n_workers)} workers had nothing to do: "
        "everything waits for it"
    )
    first = int(steps[0])
    n_inputs = work.n_needed[first]
    if len(work.seconds) == n:
        advice = "split its work: use smaller chunks or partitions, so that there are several tasks a worker"
    elif n_inputs >= 4:
        advice = (
            f"it takes {format_count(n_inputs)} results at once: combine them in a tree (split_every=4), or "
            "return less from each of them"
        )
    elif n_inputs:
        advice = "hand it less: smaller blocks, or a reduction in a tree (split_every) before it"
    else:
        advice = "all other tasks wait for this one: split what it reads or makes into several tasks"
    worth_s = step_s * (1 - 1 / work.n_workers)
    return at_most(
        "serial-step",
        worth_s,
        text,
        advice,
        evidence | {"step_s": step_s, "prefixes": names, "tasks": of.tasks(steps[:_MAX_NAMED])},
    )


def _few_tasks(of: Computes, idle_s: float, evidence: dict[str, object]) -> Iterator[Finding]:
    """Find that there were fewer tasks than workers, or too few for an even number for each."""
    work, schedule = of.work, of.work.schedule
    by_kind = np.bincount(of.kind, work.seconds)
    widest = int(by_kind.argmax())
    # Where steps of several kinds follow each other, the number of none of them is to blame.
    if by_kind[widest] < _MOSTLY * by_kind.sum():
        return
    n_like = int((of.kind == widest).sum())
    # Many tasks for each worker that still left it idle had to wait for something else.
    if n_like >= 3 * work.n_workers:
        return
    begin, end = schedule.start[:1], schedule.stop.max(keepdims=True)
    was_full = bool(busy_ns(schedule, begin, end, least=work.n_workers)[0])
    names = of.most(of.kind == widest)
    what = f"{format_count(n_like)} {plural('task', n_like)} of {listed(names)}"
    text = f"{what} for {format_count(work.n_workers)} workers: " + (
        "their number does not fit, so some had nothing to do" if was_full else "some had nothing to do"
    )
    pieces = 2 * work.n_workers
    array = UserArray.of(of.work.schedule.runs)
    call = array and array.smaller(pieces)
    advice = (
        f"use smaller chunks or partitions, about {format_count(pieces)} or more instead of "
        f"{format_count(n_like)}, so that there are several tasks for each worker"
    )
    advice += f": {call}" if call else ""
    yield at_most("few-tasks", idle_s, text, advice, evidence | {"prefixes": names})
