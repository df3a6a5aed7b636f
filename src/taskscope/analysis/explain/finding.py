"""A cause of a compute's length, and the answer that it is part of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from taskscope.analysis.quantities import format_duration
from taskscope.analysis.result import Result, Section, columns_of

Cause: TypeAlias = Literal[
    "interpreter-lock",
    "lock",
    "oversubscribed",
    "waiting",
    "short-tasks",
    "few-tasks",
    "serial-step",
    "long-chain",
    "stragglers",
    "recomputed",
    "memory-pressure",
    "transfers",
    "serialization",
    "large-graph",
    "no-workers",
    "pool-start",
    "slow-worker",
    "idle-workers",
    "client-gaps",
    "lost-work",
]
"""Why a compute took as long as it did.

``interpreter-lock``: threads took turns in running Python. ``lock``: tasks took turns at a lock of the user's
own. ``oversubscribed``: tasks started threads of their own, and together they were more than the cores.
``waiting``: tasks waited for files, the network, sleep or others. ``short-tasks``: handing tasks over took
longer than running them. ``few-tasks``: fewer tasks than workers. ``serial-step``: a step unlike all others
ran alone. ``long-chain``: tasks that need each other. ``stragglers``: few tasks took far longer than those
like them. ``recomputed``: the same tasks ran in several computes. ``memory-pressure``: results went to disk.
``transfers``: results went from worker to worker. ``serialization``: arguments and results
were packed and unpacked. ``large-graph``: graphs were put in order, or sent. ``no-workers``: the cluster had
no worker. ``pool-start``: processes were started. ``slow-worker``: one worker took longer than the others for
the same. ``idle-workers``: some workers ran nothing though there was work. ``client-gaps``: the program did
something else. ``lost-work``: tasks ran again, as a worker was lost or they failed.
"""

BAND = 0.25
"""A price that no replay can bound is taken to be off by so much, of itself, to either side."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, and how many seconds it cost.

    Parameters
    ----------
    cause
        Its name.
    worth_s, low_s, high_s
        How many seconds of the makespan would be saved without it, an estimate, and between which it lies.
        Findings may overlap: they do not add up.
    text
        What happened, in a sentence.
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

    def worth(self, makespan_s: float, *, has_band: bool = False) -> str:
        """Return how much of a makespan it cost, in words."""
        worth, whole = format_duration(self.worth_s), format_duration(makespan_s)
        if not self.low_s:
            return f"up to {worth} of {whole}"
        band = f" ({format_duration(self.low_s)} to {format_duration(self.high_s)})" if has_band else ""
        return f"about {worth}{band} of {whole}"


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Result):
    """What was found, the most worth first: a sequence of findings that is true if there is any.

    Parameters
    ----------
    findings
        The causes that cost at least 5 % of the makespan and 50 ms.
    makespan_s
        The makespan that is explained, in seconds.
    reason
        Why nothing can be said; None where something can.
    verdict
        One sentence where nothing was found, or of a busy machine; None where there is nothing to say.
    """

    findings: tuple[Finding, ...]
    makespan_s: float
    reason: str | None = None
    verdict: str | None = None

    def __iter__(self) -> Iterator[Finding]:
        """Iterate over the findings, the most worth first."""
        return iter(self.findings)

    def __len__(self) -> int:
        """Return the number of findings."""
        return len(self.findings)

    def __getitem__(self, place: int) -> Finding:
        """Return a finding by its place."""
        return self.findings[place]

    @property
    def answer(self) -> str:
        """The explanation in one sentence."""
        if self.reason is not None:
            return f"cannot say why, because {self.reason}"
        if not self.findings:
            return self.verdict or "nothing to gain here"
        first = self.findings[0]
        return f"{first.cause}: {first.worth(self.makespan_s)}: {first.text}"

    def table(self) -> dict[str, list[object]]:
        """Return the findings as columns, without their evidence."""
        return columns_of(self.findings, "cause", "worth_s", "low_s", "high_s", "text", "advice")

    def sections(self) -> Iterator[Section]:
        """Yield a card for each finding, then the verdict."""
        for found in self.findings:
            worth = found.worth(self.makespan_s, has_band=True)
            yield Section(f"{found.cause}: {worth}", notes=(found.text, found.advice))
        if not self.findings:
            yield Section(self.answer)
        elif self.verdict:
            yield Section(self.verdict)


def measured(cause: Cause, worth_s: float, text: str, advice: str, evidence: Mapping[str, object]) -> Finding:
    """Return a finding whose price is what was measured."""
    return Finding(cause, worth_s, worth_s * (1 - BAND), worth_s * (1 + BAND), text, advice, evidence)


def at_most(cause: Cause, worth_s: float, text: str, advice: str, evidence: Mapping[str, object]) -> Finding:
    """Return a finding of which only the most that it can have cost is known."""
    return Finding(cause, worth_s, 0.0, worth_s, text, advice, evidence)
