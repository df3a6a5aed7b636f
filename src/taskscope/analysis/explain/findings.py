"""Why a compute took as long as it did: causes with evidence, each priced by a replay without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.critical_path import CriticalPath, critical_path
from taskscope.analysis.explain.replay import (
    WhatIf,
    Workload,
    longest_chain_s,
    replayed_s,
    what_if,
    workloads,
)
from taskscope.analysis.explain.schedule import own_runs
from taskscope.analysis.quantities import format_count, format_duration, format_percent, plural, printable
from taskscope.model.recording import RecordedData

__all__ = ["Cause", "Explanation", "Finding", "explain"]

Cause: TypeAlias = Literal[
    "interpreter-lock",
    "short-tasks",
    "few-tasks",
    "long-chain",
    "stragglers",
    "large-graph",
    "client-gaps",
]

_LEAST_SHARE = 0.05
"""What is worth less of the makespan is not said."""
_BAND = 0.25
"""A price that no replay can bound is taken to be off by so much, of itself, to either side."""
_SHORT_S = 2e-3
_STRAGGLER = 3.0
_MIN_LIKE = 8
_IDLE = 0.25


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, and what it is worth.

    Parameters
    ----------
    cause
        Its name.
    worth_s, low_s, high_s
        How many seconds of the makespan would be saved without it, an estimate, and between which it lies.
        Findings may overlap: they do not add up.
    text
        What it is, in a sentence.
    advice
        What to do about it.
    evidence
        The numbers behind it, with units in their names.
    """

    cause: Cause
    worth_s: float
    low_s: float
    high_s: float
    text: str
    advice: str
    evidence: Mapping[str, object]

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"evidence": dict(self.evidence)}


@dataclass(frozen=True, slots=True)
class Explanation:
    """What was found, the most worth first.

    Parameters
    ----------
    findings
        The causes that are worth at least 5 % of the makespan.
    makespan_s
        The makespan that was looked at, in seconds.
    reason
        Why nothing can be said; None where something can.
    healthy
        What there is to say where nothing was found.
    """

    findings: tuple[Finding, ...]
    makespan_s: float
    reason: str | None
    healthy: str | None

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {
            "makespan_s": self.makespan_s,
            "reason": self.reason,
            "healthy": self.healthy,
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def __str__(self) -> str:
        """Return it as text."""
        if self.reason is not None:
            return f"cannot say why, because {self.reason}"
        if not self.findings:
            return str(self.healthy)
        return "\n".join(
            f"{f.cause}: about {format_duration(f.worth_s)} of {format_duration(self.makespan_s)} "
            f"({format_duration(f.low_s)} to {format_duration(f.high_s)})\n  {f.text}\n  {f.advice}"
            for f in self.findings
        )


def explain(recording: RecordedData, run: int | None = None) -> Explanation:
    """Return why computes took as long as they did."""
    as_recorded = what_if(recording, run=run)
    if as_recorded.reason is not None:
        return Explanation((), as_recorded.recorded_s, as_recorded.reason, None)
    look = _Look(
        recording,
        as_recorded,
        critical_path(recording, run),
        tuple(workloads(recording, own_runs(recording, run))),
    )
    least_s = _LEAST_SHARE * look.makespan_s
    found = [finding for finding in look.findings() if finding.worth_s >= max(least_s, 1e-9)]
    found.sort(key=lambda finding: -finding.worth_s)
    return Explanation(tuple(found), look.makespan_s, None, None if found else look.healthy())


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    recording: RecordedData
    case: WhatIf
    path: CriticalPath
    works: tuple[Workload, ...]

    @property
    def makespan_s(self) -> float:
        return self.case.recorded_s

    def findings(self) -> Iterator[Finding]:
        yield from self.of_waits()
        for work in self.works:
            if len(work.seconds):
                base_s = replayed_s(work)
                yield from self.of_lock(work)
                yield from self.of_short_tasks(work, base_s)
                yield from self.of_stragglers(work, base_s)
                yield from self.of_shape(work, base_s)

    def of_waits(self) -> Iterator[Finding]:
        """Say what lay outside of tasks; it is on the path, so it is worth what it took."""
        waits = self.path.wait_s
        share = {cause: format_percent(s / self.makespan_s) for cause, s in waits.items() if self.makespan_s}
        if waits.get("client"):
            yield _certain(
                "client-gaps",
                waits["client"],
                f"no compute ran for {share['client']} of the time: the program did something else",
                "build all results first and ask for them in one call: dask.compute(a, b, c)",
                {"client_s": waits["client"], "n_computes": len(self.works)},
            )
        if waits.get("graph"):
            n_tasks = sum(len(work.seconds) for work in self.works)
            yield _certain(
                "large-graph",
                waits["graph"],
                f"graphs of {format_count(n_tasks)} {plural('task', n_tasks)} were put in order or sent for "
                f"{share['graph']} of the time, before any task ran",
                "use larger chunks or partitions, so that there are fewer tasks, and pass large objects by "
                "dask.delayed or client.scatter instead of as literals",
                {"graph_s": waits["graph"], "n_tasks": n_tasks},
            )

    def of_lock(self, work: Workload) -> Iterator[Finding]:
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
                "prefixes": self.most(work.prefix, work.cpu_s),
            },
        )

    def of_short_tasks(self, work: Workload, base_s: float) -> Iterator[Finding]:
        """Say that handing over tasks took longer than the tasks."""
        mean_s, lag_s = float(work.seconds.mean()), float(work.lag_s.sum())
        if mean_s > _SHORT_S or lag_s < float(work.seconds.sum()) or work.load.is_lock_bound:
            return
        without_s = replayed_s(replace(work, lag_s=np.zeros_like(work.lag_s)))
        worth_s = max(base_s - without_s, 0.0)
        yield _certain(
            "short-tasks",
            worth_s,
            f"tasks took {format_duration(mean_s)} each, and handing them over took longer than running them",
            "use larger chunks or partitions, or put several calls into one task: 100 ms or more each",
            {
                "run": work.run.run,
                "n_tasks": len(work.seconds),
                "mean_task_s": mean_s,
                "handing_over_s": lag_s,
            },
        )

    def of_stragglers(self, work: Workload, base_s: float) -> Iterator[Finding]:
        """Say that few tasks took far longer than their like."""
        usual, is_late = _usual_s(work)
        if not is_late.any() or work.load.is_lock_bound:
            return
        worth_s = max(base_s - replayed_s(work, np.where(is_late, usual, work.seconds)), 0.0)
        n, late_s = int(is_late.sum()), float(work.seconds[is_late].sum())
        names = self.most(work.prefix[is_late], work.seconds[is_late])
        yield _certain(
            "stragglers",
            worth_s,
            f"{format_count(n)} {plural('task', n)} of {_listed(names)} took more than three times as "
            f"long as their like, {format_duration(late_s)} together",
            "split what they work on evenly (rechunk, repartition), or look what is different about them",
            {"run": work.run.run, "n_tasks": n, "seconds": late_s, "prefixes": names},
        )

    def of_shape(self, work: Workload, base_s: float) -> Iterator[Finding]:
        """Say that workers had nothing to do, for lack of tasks that could run."""
        work_s, chain_s = float(work.seconds.sum()) / work.n_workers, longest_chain_s(work)
        in_tasks_s = max(work.recorded_s - work.outside_s, 1e-9)
        is_idle = work.n_workers > 1 and 1 - work_s / in_tasks_s >= _IDLE
        if not is_idle or work.load.is_lock_bound or _usual_s(work)[1].any():
            return
        worth_s = max(base_s - work.outside_s - work_s, 0.0)
        evidence = {
            "run": work.run.run,
            "chain_s": chain_s,
            "work_per_worker_s": work_s,
            "n_tasks": len(work.seconds),
            "n_workers": work.n_workers,
        }
        if len(work.seconds) < 2 * work.n_workers:
            yield _at_most(
                "few-tasks",
                worth_s,
                f"{len(work.seconds)} {plural('task', len(work.seconds))} for {work.n_workers} workers: most "
                "of them had nothing to do",
                "use smaller chunks or partitions, so that there are several tasks for each worker",
                evidence,
            )
        elif chain_s >= 0.8 * in_tasks_s:
            yield _at_most(
                "long-chain",
                worth_s,
                f"tasks that need each other took {format_duration(chain_s)} one after the other, and the "
                "other workers waited",
                "cut the chain: combine results in a tree (split_every), or split its longest tasks",
                evidence | {"prefixes": list(self.path.prefix_s)[:3]},
            )

    def most(self, prefix: NDArray[np.int64], seconds: NDArray[np.float64]) -> list[str]:
        """Return up to three prefixes with the most time."""
        names = list(dict.fromkeys(group.prefix for group in self.recording.groups))
        sums = np.bincount(prefix, np.nan_to_num(seconds), len(names))
        return [names[i] for i in np.argsort(-sums, kind="stable")[:3].tolist() if sums[i]]

    def healthy(self) -> str:
        """Return what there is to say where nothing was found."""
        task_s = sum(float(work.seconds.sum()) for work in self.works)
        able_s = sum(work.n_workers * work.recorded_s for work in self.works)
        n = max((work.n_workers for work in self.works), default=0)
        if not able_s:
            return "nothing to gain here: no time was spent in computes"
        busy = format_percent(min(task_s / able_s, 1.0))
        workers = f"{n} {plural('worker', n)} ran tasks {busy} of the time"
        return f"nothing to gain here that is worth 5 % of the makespan: {workers}"


def _certain(cause: Cause, worth_s: float, text: str, advice: str, evidence: Mapping[str, object]) -> Finding:
    """Return a finding whose price is what was measured."""
    return Finding(cause, worth_s, worth_s * (1 - _BAND), worth_s, text, advice, evidence)


def _at_most(cause: Cause, worth_s: float, text: str, advice: str, evidence: Mapping[str, object]) -> Finding:
    """Return a finding whose worth is not known."""
    return Finding(cause, worth_s, 0.0, worth_s, text, advice, evidence)


def _longest_cpu_s(work: Workload) -> float:
    return longest_chain_s(work, np.nan_to_num(work.cpu_s))


def _usual_s(work: Workload) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the median duration of each task's prefix, and which few tasks took far longer."""
    usual = work.seconds.copy()
    is_late = np.zeros(len(usual), bool)
    for prefix in np.unique(work.prefix).tolist():
        mine = np.flatnonzero(work.prefix == prefix)
        median_s = float(np.median(work.seconds[mine]))
        late = work.seconds[mine] > max(_STRAGGLER * median_s, 1e-3)
        if len(mine) >= _MIN_LIKE and late.sum() <= 0.1 * len(mine):
            usual[mine], is_late[mine] = median_s, late
    return usual, is_late


def _listed(names: list[str]) -> str:
    return ", ".join(printable(name, 36) for name in names)
