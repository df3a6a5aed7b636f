"""Why computes took as long as they did: causes with evidence, each priced by a replay without it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.clip import within
from taskscope.analysis.explain import causes_around_tasks as around
from taskscope.analysis.explain import causes_in_tasks as inside
from taskscope.analysis.explain.critical_path import critical_path
from taskscope.analysis.explain.finding import Cause, Explanation, Finding, Part, Whole, listed
from taskscope.analysis.explain.schedule import Schedule, kept, makespan_of, schedules_of
from taskscope.analysis.explain.what_if import quiet_s, why_not
from taskscope.analysis.quantities import (
    format_count,
    format_duration,
    format_percent,
    plural,
    printable,
)
from taskscope.analysis.totals import count_workers, in_c_s
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import distinct
from taskscope.model.tables.records import IN_THREADS

_LEAST_SHARE = 0.05
_LEAST_S = 0.05
_LEAST_IN_C_S = 0.5
"""A smaller share of the makespan, or less time, is left out: single turns at a core cost as much."""
_MOST_OF_GAP = 0.5
_BUSY = 0.25
_WELL_USED = 0.7
_MOSTLY = 0.5
_MAX_PLACES = 2
_OF_EACH = (
    inside.interpreter_lock,
    inside.lock,
    inside.oversubscribed,
    inside.waiting,
    inside.short_tasks,
    inside.stragglers,
    inside.idle,
    around.slow_worker,
    around.idle_workers,
)
"""Looked for in computes that are one graph; the others in all computes together."""
_PLACED: frozenset[Cause] = frozenset(
    {"interpreter-lock", "stragglers", "serial-step", "few-tasks", "long-chain", "slow-worker"}
)
"""Causes whose sentence ends with the line that samples saw most."""
_COMPUTING: frozenset[Cause] = frozenset({"interpreter-lock", "oversubscribed"})
"""Causes in which a line that waits has no part."""


def explain(
    recording: RecordedData,
    run: int | None = None,
    *,
    start_s: float | None = None,
    stop_s: float | None = None,
    span: str | None = None,
) -> Explanation:
    """Return why it took as long as it did: causes with evidence, the most worth first.

    Parameters
    ----------
    run
        The number of a compute; by default all of them, with the time between them.
    start_s, stop_s
        The part of the time to explain, in seconds after the recording's start; by default all of it.
    span
        The name of a ``distributed.span``: the time from its first task to its last one is explained.

    Returns
    -------
    Explanation
        Findings that are worth at least 5 % of the makespan and 50 ms, each with what it is worth in
        seconds, an estimate, and a cure; or the reason why there is no answer. It prints as text.

    Raises
    ------
    UnknownNameError
        If there is no such compute or span.
    OptionError
        If nothing was recorded in that part of the time.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> run.recording.explain().reason is None
    True

    Notes
    -----
    The causes are those of `taskscope.analysis.explain.finding.Cause`. The worth of a finding is the
    difference of two replays (see `what_if`), or time measured on the critical path. Findings may
    overlap.
    """
    if (start_s, stop_s, span) != (None, None, None):
        recording = within(recording, start_s, stop_s, span)
    with kept(recording):
        return _explained(recording, run)


def _explained(recording: RecordedData, run: int | None) -> Explanation:
    makespan_s, reason = makespan_of(recording, run), why_not(recording, run)
    if reason is not None:
        return Explanation((), makespan_s, reason)
    whole = Whole(recording, makespan_s, critical_path(recording, run), schedules_of(recording, run))
    least_s = max(_LEAST_SHARE * makespan_s, _LEAST_S)
    found = [_within(finding, makespan_s) for finding in _joined(_findings(whole))]
    found = sorted((f for f in found if f.worth_s >= least_s), key=lambda f: -f.worth_s)
    found = [replace(finding, code=_code(recording, run, finding)) for finding in found]
    others_s, note = _waited_for_others(recording, run, makespan_s)
    if others_s >= _MOSTLY * makespan_s:
        # Its own tasks have little influence on its duration.
        return Explanation((), makespan_s, None, note)
    busy, late = _busy(whole), around.late_scheduler(whole)
    verdict = None if found else _verdict(whole)
    if busy:
        hidden = [] if found else ["Run it again when other programs are idle: they may hide causes"]
        verdict = ". ".join([busy, *hidden, *_longest(whole)])
    in_c = None if busy else _in_c(whole)
    verdict = ". ".join(text for text in (note, verdict, in_c, late) if text) or None
    return Explanation(tuple(found), makespan_s, None, verdict, busy)


def _findings(whole: Whole) -> Iterator[Finding]:
    parts = [Part.of(whole, schedule) for schedule in whole.schedules if len(schedule)]
    yield from around.client_gaps(whole)
    yield from around.no_workers(whole)
    yield from around.pool_start(whole)
    yield from around.large_graph(whole)
    yield from around.recomputed(parts)
    yield from around.memory_pressure(whole)
    yield from around.transfers(whole, parts)
    yield from around.serialization(whole, parts)
    yield from around.lost_work(whole, parts)
    for part in parts:
        for cause in _OF_EACH:
            for finding in cause(part):
                yield _placed(part, finding)


def _placed(part: Part, finding: Finding) -> Finding:
    """Return a finding of these computes, with the line that most samples of its tasks saw."""
    evidence = {"runs": part.runs, **finding.evidence}
    kinds = (None,) if finding.cause in _COMPUTING else None
    where = part.stacks.words(finding.named("prefixes"), kinds)
    if where:
        evidence["where"] = where
    is_said = where and finding.cause in _PLACED
    return replace(finding, text=f"{finding.text}. {where}" if is_said else finding.text, evidence=evidence)


def _code(recording: RecordedData, run: int | None, finding: Finding) -> str | None:
    """Return the user's functions in the tasks of a finding, and the lines that computed, in words."""
    numbers = finding.named("runs") or [one.run for one in recording.runs if run in (None, one.run)]
    graphs = [recording.graphs[number] for number in numbers if number in recording.graphs]
    seen = {place for graph in graphs for place in distinct(graph.group).tolist()}
    groups = [recording.groups[place] for place in sorted(seen)]
    functions = _few(
        group.function for prefix in finding.named("prefixes") for group in groups if group.prefix == prefix
    )
    lines = _few(one.called_from for one in recording.runs if one.run in numbers)
    parts = [
        *([f"tasks call {functions}"] if functions else []),
        *([f"computed at {lines}"] if lines else []),
    ]
    return ", ".join(parts) or None


def _few(texts: Iterable[str | None]) -> str:
    known = [printable(text, 80) for text in dict.fromkeys(texts) if text is not None]
    return ", ".join(known[:_MAX_PLACES]) + (", …" if len(known) > _MAX_PLACES else "")


def _joined(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Return one finding a cause: of several computes the one that cost most, with what all of them cost."""
    by_cause: defaultdict[Cause, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_cause[finding.cause].append(finding)
    for same in by_cause.values():
        most = max(same, key=lambda finding: finding.worth_s)
        costly = [finding for finding in same if finding.worth_s >= 0.1 * most.worth_s]
        if len(costly) > 1:
            n = len(costly) - 1
            runs = [number for finding in costly for number in finding.named("runs")]
            most = replace(
                most,
                worth_s=sum(finding.worth_s for finding in costly),
                low_s=sum(finding.low_s for finding in costly),
                high_s=sum(finding.high_s for finding in costly),
                text=f"{most.text} (and likewise in {format_count(n)} more {plural('compute', n)})",
                evidence={**most.evidence, "runs": runs},
            )
        yield most


def _within(finding: Finding, makespan_s: float) -> Finding:
    """Return a finding that cost no more than all: where clocks disagree a replay takes longer."""
    low_s, worth_s, high_s = (min(s, makespan_s) for s in (finding.low_s, finding.worth_s, finding.high_s))
    return replace(finding, low_s=low_s, worth_s=worth_s, high_s=high_s)


def _waited_for_others(
    recording: RecordedData, run: int | None, makespan_s: float
) -> tuple[float, str | None]:
    """Return for how long one compute waited for tasks of others that ran beside it, and that in words."""
    own = next((one for one in recording.runs if one.run == run), None)
    if own is None:
        return 0.0, None
    start_s = own.asked_s - recording.zero_s
    stop_s = start_s + makespan_s
    waited: defaultdict[int, float] = defaultdict(float)
    for step in critical_path(recording).steps:
        if step.run is not None and step.run != run and step.kind == "task":
            shared_s = min(step.start_s + step.duration_s, stop_s) - max(step.start_s, start_s)
            waited[step.run] += max(shared_s, 0.0)
    whole_s = sum(waited.values())
    if whole_s < max(_LEAST_SHARE * makespan_s, _LEAST_S):
        return 0.0, None
    others = [other for other in waited if waited[other]]
    return whole_s, (
        f"compute {run} waited {format_duration(whole_s)} of {format_duration(makespan_s)} for tasks of "
        f"{plural('compute', len(others))} {', '.join(map(str, others))}. explain() of all computes takes "
        "them as one graph"
    )


def _lacked_s(schedule: Schedule) -> float:
    """Return for how long tasks had no core and were not seen to wait for something else."""
    waits = schedule.load.waiting
    shares = np.array([min(sum(waits.get(name, {}).values()), 1.0) for name in schedule.names])
    waited_s = float((schedule.seconds * shares[schedule.prefix]).sum())
    return max(float((schedule.seconds - schedule.takes_s).sum()) - waited_s, 0.0)


def _busy(whole: Whole) -> str | None:
    """Return how busy other programs kept the machine, where that took much time."""
    crowded = [schedule for schedule in whole.schedules if schedule.load.is_crowded]
    if not crowded:
        return None
    task_s = sum(float(schedule.seconds.sum()) for schedule in whole.schedules)
    lacked_s = sum(map(_lacked_s, crowded))
    between_s = whole.makespan_s - sum(schedule.recorded_s for schedule in whole.schedules)
    calm_s = min(between_s + sum(map(quiet_s, whole.schedules)), whole.makespan_s)
    if lacked_s < _BUSY * max(task_s, 1e-9) or calm_s > (1 - _LEAST_SHARE) * whole.makespan_s:
        return None
    return (
        f"the machine was busy: tasks waited {format_percent(lacked_s / task_s)} of their time for cores "
        f"that other programs used. On a quiet one it would take about {format_duration(calm_s)} instead "
        f"of {format_duration(whole.makespan_s)}"
    )


def _in_c(whole: Whole) -> str | None:
    """Return for how long C code kept threads of Python from running, where that took much time."""
    samples, held_s = whole.recording.resources, 0.0
    seconds = np.where(_has_steps(whole, samples.time, in_c_s(samples)), 0.0, in_c_s(samples))
    for run in whole.recording.runs:
        if not run.is_on_cluster:
            began_s = np.maximum(samples.time - seconds, run.start_s)
            ended_s = np.minimum(samples.time, math.inf if run.stop_s is None else run.stop_s)
            held_s += float(np.clip(ended_s - began_s, 0.0, seconds).sum())
    held_s = min(held_s, whole.makespan_s)
    if held_s < max(_LEAST_SHARE * whole.makespan_s, _LEAST_IN_C_S):
        return None
    took = format_duration(held_s)
    return f"C code held the interpreter's lock for {took}: no other thread of Python ran"


def _has_steps(whole: Whole, stop_s: NDArray[np.float64], seconds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return in which of these spans tasks began or ended all along, which needs the interpreter's lock."""
    tasks = whole.recording.tasks
    here = np.isin(tasks.run, [run.run for run in whole.recording.runs if run.scheduler in IN_THREADS])
    steps_s = np.sort(np.concatenate([tasks.start[here], tasks.stop[here]])) + whole.recording.zero_s
    found = np.zeros(len(stop_s), bool)
    for i in np.flatnonzero(seconds):
        within = steps_s[(steps_s > stop_s[i] - seconds[i]) & (steps_s < stop_s[i])]
        longest_s = np.diff(within, prepend=stop_s[i] - seconds[i], append=stop_s[i]).max()
        found[i] = longest_s < _MOST_OF_GAP * seconds[i]
    return found


def _longest(whole: Whole) -> Iterator[str]:
    """Yield which tasks took most of the time, and how their lines become known where they are not."""
    prefix, seconds = (
        np.concatenate([getattr(schedule, what) for schedule in whole.schedules])
        for what in ("prefix", "seconds")
    )
    for name in whole.most(prefix, seconds)[:1]:
        own_s = float(seconds[prefix == whole.prefixes.index(name)].sum())
        functions = _few(group.function for group in whole.recording.groups if group.prefix == name)
        calls = f", and call {functions}" if functions else ""
        yield f"Tasks of {listed([name])} took longest, {format_duration(own_s)} together{calls}"
        if not len(whole.recording.stacks.rows):
            yield "Run it with %%profile to see their lines"


def _verdict(whole: Whole) -> str | None:
    """Return how well the workers were used, where nothing was found."""
    task_s = sum(float(schedule.seconds.sum()) for schedule in whole.schedules)
    able_s = sum(schedule.n_threads * schedule.recorded_s for schedule in whole.schedules)
    if not able_s:
        return "nothing to gain here: no time was spent in computes"
    n = max(schedule.n_threads for schedule in whole.schedules)
    used = min(task_s / able_s, 1.0)
    schedulers = {run.scheduler for run in whole.recording.runs if run.scheduler is not None}
    workers = f"{count_workers(n, schedulers)} ran tasks {format_percent(used)} of the time"
    waits = list(whole.path.wait_s.items())[:2]
    is_short = _LEAST_SHARE * whole.makespan_s < _LEAST_S
    least = format_duration(_LEAST_S) if is_short else "5 % of the wall time"
    if used >= _WELL_USED or not waits:
        return f"nothing to gain here that is worth {least}. {workers}"
    rest = ", ".join(f"{cause} {format_duration(seconds)}" for cause, seconds in waits)
    nothing = f"nothing to change was found that would save {least}"
    return f"{nothing}. {workers}. Waits on the critical path: {rest}"
