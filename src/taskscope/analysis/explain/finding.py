"""A cause of a compute's length, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from taskscope.analysis.quantities import format_duration

__all__ = ["BAND", "Cause", "Explanation", "Finding", "at_most", "measured"]

Cause: TypeAlias = Literal[
    "interpreter-lock",
    "oversubscribed",
    "waiting",
    "short-tasks",
    "few-tasks",
    "long-chain",
    "stragglers",
    "recomputed",
    "memory-pressure",
    "transfers",
    "serialization",
    "large-graph",
    "slow-worker",
    "idle-workers",
    "client-gaps",
    "lost-work",
]
"""Why a compute took as long as it did.

``interpreter-lock``: threads took turns in running Python. ``oversubscribed``: tasks started threads of their
own, and together they were more than the cores. ``waiting``: tasks had no core for much of their time.
``short-tasks``: handing tasks over took longer than running them. ``few-tasks``: fewer tasks than workers.
``long-chain``: tasks that need each other. ``stragglers``: few tasks took far longer than their like.
``recomputed``: the same tasks ran in several computes. ``memory-pressure``: results were written to disk and
read again. ``transfers``: results went from worker to worker. ``serialization``: arguments and results were
packed and unpacked. ``large-graph``: graphs were put in order, or sent. ``slow-worker``: one worker took
longer than the others for the same. ``idle-workers``: some got nothing though there was work.
``client-gaps``: the program did something else. ``lost-work``: tasks ran again, as a worker was lost or they
failed.
"""

BAND = 0.25
"""A price that no replay can bound is taken to be off by so much, of itself, to either side."""


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
        The causes that are worth at least 5 % of the makespan and 50 ms.
    makespan_s
        The makespan that was looked at, in seconds.
    reason
        Why nothing can be said; None where something can.
    healthy
        What there is to say where nothing was found.
    busy
        That other programs used the cores, which hides causes; None where they did not.
    """

    findings: tuple[Finding, ...]
    makespan_s: float
    reason: str | None
    healthy: str | None
    busy: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {
            "makespan_s": self.makespan_s,
            "reason": self.reason,
            "healthy": self.healthy,
            "busy": self.busy,
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def __str__(self) -> str:
        """Return it as text."""
        if self.reason is not None:
            return f"cannot say why, because {self.reason}"
        lines = [
            f"{f.cause}: {_worth(f)} of {format_duration(self.makespan_s)}\n  {f.text}\n  {f.advice}"
            for f in self.findings
        ]
        return "\n".join(filter(None, [*lines, self.healthy, self.busy]))


def _worth(finding: Finding) -> str:
    """Return a price in words."""
    if not finding.low_s:
        return f"up to {format_duration(finding.worth_s)}"
    band = f"{format_duration(finding.low_s)} to {format_duration(finding.high_s)}"
    return f"about {format_duration(finding.worth_s)} ({band})"


def measured(cause: Cause, worth_s: float, text: str, advice: str, evidence: Mapping[str, object]) -> Finding:
    """Return a finding whose price is what was measured."""
    return Finding(cause, worth_s, worth_s * (1 - BAND), worth_s * (1 + BAND), text, advice, evidence)


def at_most(cause: Cause, worth_s: float, text: str, advice: str, evidence: Mapping[str, object]) -> Finding:
    """Return a finding whose worth is not known."""
    return Finding(cause, worth_s, 0.0, worth_s, text, advice, evidence)
