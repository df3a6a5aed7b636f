"""Causes before tasks and between computes: the program, large graphs, a pool or workers that start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.before_tasks import PHASE_WORDS, measure_before_tasks
from taskscope.analysis.explain.causes.rechunk import UserArray
from taskscope.analysis.explain.evidence import Computes, Evidence, listed
from taskscope.analysis.explain.finding import Finding, at_most, measured
from taskscope.analysis.explain.schedule import key_texts
from taskscope.analysis.explain.waits import CLIENT, Stacks
from taskscope.analysis.quantities import format_bytes, format_count, format_duration, plural, printable
from taskscope.model.tables.records import Run

_MANY_TASKS = 1_000
_LONG_FOR_FEW_S = 0.25
"""A cluster needs some ten milliseconds before the first task of any graph."""
_LARGE_ARGUMENT = 1e6
_MOST_DISPATCH_S = 20e-3
"""A scheduler needs no longer to hand a task over."""


def client_gaps(known: Evidence) -> Iterator[Finding]:
    """Find that the program did something else; it is on the path, so it cost what it took."""
    client_s = known.waited_s("client")
    if not client_s:
        return
    gaps = [(start_s, stop_s) for start_s, stop_s in known.path.waits_s("client")]
    places = Stacks(known.recording, [-1], gaps).places(CLIENT)
    where = ", ".join(place.text for place in places[:2])
    n = sum(len(work.schedule.runs) for work in known.works)
    what = f": {where}" if where else ""
    yield measured(
        "client-gaps",
        client_s,
        f"no compute ran for {known.share(client_s)} of the time, between {format_count(n)} computes the "
        f"program did something else{what}",
        "build all results first and ask for them in one call, dask.compute(a, b, c); or move what the "
        "program does between computes into tasks",
        {"client_s": client_s, "n_computes": n, "where": where or None},
    )


def no_workers(known: Evidence) -> Iterator[Finding]:
    """Find that the cluster had no worker."""
    without_s = known.waited_s("no-worker")
    if without_s:
        yield measured(
            "no-workers",
            without_s,
            f"no worker for {format_duration(without_s)}: tasks were ready, and the cluster had none to run "
            "them",
            "start workers before the compute, and wait for them: client.wait_for_workers(1); of an adaptive "
            "cluster keep one: cluster.adapt(minimum=1)",
            {"no_worker_s": without_s},
        )


def pool_start(known: Evidence) -> Iterator[Finding]:
    """Find that processes were started before any task ran."""
    runs = [run for work in known.works for run in work.schedule.runs if run.scheduler == "processes"]
    # To put tasks in order is part of scheduling them.
    start_s = sum(max(run.pool_start_s - (run.order_s or 0.0), 0.0) for run in runs if run.pool_start_s)
    n = len(runs)
    each = f", anew for each of {format_count(n)} computes" if n > 1 else ""
    if start_s:
        workers = max(run.n_workers or 1 for run in runs)
        yield measured(
            "pool-start",
            start_s,
            f"{known.share(start_s)} of the time went by until {format_count(workers)} "
            f"{plural('process', workers)} had started{each}: they import what tasks need first",
            "start them once: client = Client() is used by all computes that follow; or use threads, "
            'compute(scheduler="threads"), where the code releases the interpreter\'s lock',
            {"start_s": start_s, "n_computes": n, "runs": [run.run for run in runs]},
        )


def large_graph(known: Evidence) -> Iterator[Finding]:
    """Find that no task ran while graphs were made ready, for they had many tasks or carried much."""
    graph_s, n_tasks = known.waited_s("graph"), sum(len(work.seconds) for work in known.works)
    runs = [run for work in known.works for run in work.schedule.runs if run.scheduler != "processes"]
    before = measure_before_tasks(known.recording, runs)
    evidence: dict[str, object] = {"graph_s": graph_s, "n_tasks": n_tasks}
    if before is not None:
        evidence["phases_s"] = before.phases_s
    phases = "" if before is None else before.words()
    large = max(runs, key=lambda run: run.largest_argument_bytes or 0.0, default=None)
    if large is not None and (large.largest_argument_bytes or 0.0) >= _LARGE_ARGUMENT:
        yield from _large_argument(known, large, graph_s, evidence)
    elif runs and n_tasks >= _MANY_TASKS and graph_s:
        n, share = format_count(n_tasks), known.share(graph_s)
        text = f"graphs of {n} tasks were put in order or sent for {share} of the time, before any task ran"
        text += f": {phases}" if phases else ""
        fewer = "use larger chunks or partitions, so that there are fewer tasks"
        array = UserArray.of(runs)
        call = array and array.larger(n_tasks / _MANY_TASKS, 2)
        fewer += f": {call}" if call else ""
        yield measured("large-graph", graph_s, text, fewer, evidence)
    elif before is not None and graph_s >= _LONG_FOR_FEW_S:
        # Neither building a graph nor waiting for a worker depends on what the graph carries.
        sent_s = {phase: before.phases_s.get(phase, 0.0) for phase in ("send", "travel", "materialize")}
        own_s = sum(sent_s.values())
        carried = sum(run.graph_bytes or 0.0 for run in runs)
        if own_s >= 0.5 * graph_s:
            yield measured(
                "large-graph",
                min(own_s, graph_s),
                f"before any task ran {known.share(graph_s)} of the time went by, with "
                f"{format_count(n_tasks)} {plural('task', n_tasks)} only: {phases}",
                "pass large objects by client.scatter, or load them inside of tasks, instead of as arguments"
                if carried >= _LARGE_ARGUMENT
                else f"most of it was {PHASE_WORDS[max(sent_s, key=sent_s.__getitem__)]}: compute several "
                "results in one call, or use fewer and larger tasks",
                evidence,
            )


def _large_argument(
    known: Evidence, run: Run, graph_s: float, evidence: dict[str, object]
) -> Iterator[Finding]:
    """Find that arguments in the graph were sent, before tasks and between those that `submit` sends."""
    lags = [work.lag_s[work.lag_s > _MOST_DISPATCH_S] for work in known.works]
    is_slow = any(len(of) for of in lags)
    seconds = graph_s + (known.waited_s("dispatch") if is_slow else 0.0)
    carried = run.graph_bytes or run.largest_argument_bytes
    key = printable(run.largest_argument or "a task", 60)
    yield measured(
        "large-graph",
        seconds,
        f"the graph carried {format_bytes(carried)}: the largest argument, "
        f"{format_bytes(run.largest_argument_bytes)}, is in task {key}; it was packed and sent for "
        f"{known.share(seconds)} of the time",
        "send it once and pass the future: future = client.scatter(data, broadcast=True); or load it inside "
        "of tasks",
        evidence
        | {
            "graph_bytes": run.graph_bytes,
            "largest_argument": run.largest_argument,
            "largest_argument_bytes": run.largest_argument_bytes,
        },
    )


_TOKEN = re.compile("[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The token that Dask makes of what is computed, or draws for a call that is not pure."""


def _fused_keys(of: Computes, keys: NDArray[np.object_]) -> list[list[str]]:
    """Return the keys of the steps that are fused into each task."""
    groups = of.known.recording.groups
    names = [(groups[number].name, groups[number].fused) for number in of.work.schedule.group.tolist()]
    return [
        [key.replace(name, inner, 1) for inner in fused.split()] if fused else []
        for key, (name, fused) in zip(keys, names, strict=True)
    ]


def recomputed(computes: list[Computes]) -> Iterator[Finding]:
    """Find that tasks ran whose keys, with Dask's token of what they compute, ran in a compute before."""
    seen: set[str] = set()
    is_certain = True
    worth_s, n_again, again_s = 0.0, 0, 0.0
    names: dict[str, None] = {}
    runs: list[int] = []
    for of in computes if len(computes) > 1 else ():
        work, schedule = of.work, of.work.schedule
        keys = np.empty(len(schedule), object)
        for run in np.unique(schedule.run).tolist():
            mine = schedule.run == run
            keys[mine] = key_texts(of.known.recording, run, schedule.number[mine])
        fused = _fused_keys(of, keys)
        is_again = np.array([key in seen for key in keys], bool)
        is_begun = ~is_again & np.array([not seen.isdisjoint(inner) for inner in fused], bool)
        is_certain &= not is_begun.any()
        is_again |= is_begun
        seen.update(key for key in chain(keys, *fused) if _TOKEN.search(key))
        if is_again.any():
            worth_s += of.saved_s(np.where(is_again, 0.0, work.seconds))
            n_again += int(is_again.sum())
            again_s += float(work.seconds[is_again].sum())
            names |= dict.fromkeys(of.most(is_again))
            runs += of.runs
    if n_again:
        tasks = f"{format_count(n_again)} {plural('task', n_again)} of {listed(list(names)[:3])}"
        # Dask fuses steps into one task, of which only a part ran before.
        yield (measured if is_certain else at_most)(
            "recomputed",
            worth_s,
            f"{tasks} ran that had run in a compute before, {format_duration(again_s)} together"
            if is_certain
            else f"{tasks} began with a step that had run in a compute before; they took "
            f"{format_duration(again_s)} together",
            "ask for the results in one call, dask.compute(a, b, c), or keep what they share: "
            "x = x.persist()",
            {"n_tasks": n_again, "seconds": again_s, "prefixes": list(names)[:3]},
        )
