"""Why a compute took as long as it did: causes with evidence, each priced by a replay without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from taskscope.analysis.explain import causes, cluster_causes
from taskscope.analysis.explain.critical_path import critical_path
from taskscope.analysis.explain.evidence import Evidence, usual_of
from taskscope.analysis.explain.finding import Explanation, Finding
from taskscope.analysis.explain.replay import makespan_of, replayed_s, why_not, workloads
from taskscope.analysis.explain.schedule import own_runs
from taskscope.analysis.quantities import format_percent, plural
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import number_prefixes

__all__ = ["explain"]

_LEAST_SHARE = 0.05
_LEAST_S = 0.05
"""What is worth less of the makespan, or less than this, is not said: single turns at a core cost as much."""
_BUSY = 0.25
_OF_ALL = (
    causes.client_gaps,
    causes.large_graph,
    causes.recomputed,
    cluster_causes.memory_pressure,
    cluster_causes.transfers,
    cluster_causes.serialization,
    cluster_causes.lost_work,
)
"""Looked for in all computes together."""
_OF_EACH = (
    causes.interpreter_lock,
    causes.oversubscribed,
    causes.waiting,
    causes.short_tasks,
    causes.stragglers,
    causes.few_tasks_or_long_chain,
    cluster_causes.slow_worker,
    cluster_causes.idle_workers,
)
"""Looked for in each compute."""


def explain(recording: RecordedData, run: int | None = None) -> Explanation:
    """Return why computes took as long as they did."""
    runs = own_runs(recording, run)
    makespan_s, reason = makespan_of(recording, runs), why_not(recording, runs)
    if reason is not None:
        return Explanation((), makespan_s, reason, None)
    path, works = critical_path(recording, run), tuple(workloads(recording, runs))
    known = Evidence(
        recording,
        makespan_s,
        path,
        works,
        number_prefixes(recording.groups)[0],
        base_s={work.run.run: replayed_s(work) for work in works},
        usual={work.run.run: usual_of(work) for work in works},
    )
    least_s = max(_LEAST_SHARE * known.makespan_s, _LEAST_S)
    found = [_within(finding, makespan_s) for finding in _findings(known)]
    found = [finding for finding in found if finding.worth_s >= least_s]
    found.sort(key=lambda finding: -finding.worth_s)
    healthy = None if found else _healthy(known)
    return Explanation(tuple(found), known.makespan_s, None, healthy, _busy(known))


def _findings(known: Evidence) -> Iterator[Finding]:
    for of_all in _OF_ALL:
        yield from of_all(known)
    for work in known.works:
        if len(work.seconds):
            for of_each in _OF_EACH:
                yield from of_each(known, work)


def _within(finding: Finding, makespan_s: float) -> Finding:
    """Return a finding worth no more than all: a replay takes longer where clocks of machines disagree."""
    low_s, worth_s, high_s = (min(s, makespan_s) for s in (finding.low_s, finding.worth_s, finding.high_s))
    return replace(finding, low_s=low_s, worth_s=worth_s, high_s=high_s)


def _healthy(known: Evidence) -> str:
    """Return what there is to say where nothing was found."""
    task_s = sum(float(work.seconds.sum()) for work in known.works)
    able_s = sum(work.n_workers * work.recorded_s for work in known.works)
    n = max((work.n_workers for work in known.works), default=0)
    if not able_s:
        return "nothing to gain here: no time was spent in computes"
    busy = format_percent(min(task_s / able_s, 1.0))
    workers = f"{n} {plural('worker', n)} ran tasks {busy} of the time"
    return f"nothing to gain here that is worth 5 % of the wall time: {workers}"


def _busy(known: Evidence) -> str | None:
    """Return for which part of their time tasks lacked a core that others had, where it is much."""
    works = [work for work in known.works if work.load.had_less_than_cores]
    lacked_s = sum(float((work.seconds - work.takes_s).sum()) for work in works)
    share = lacked_s / max(sum(float(work.seconds.sum()) for work in known.works), 1e-9)
    if share < _BUSY:
        return None
    return (
        f"the machine was busy: for {format_percent(share)} of their time tasks waited for cores that other "
        "programs used, so some causes may not show"
    )
