"""Where time went before the first task of computes ran: in this process, on a scheduler, for a worker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taskscope.analysis.quantities import format_duration
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Run

PHASE_WORDS = {
    "send": "sending the graph",
    "travel": "on its way",
    "materialize": "making its tasks",
    "order": "ordering them",
    "initialize": "taking them in",
    "wait": "until a worker began",
}
"""The phases, in order."""


@dataclass(frozen=True, slots=True)
class BeforeTasks:
    """How long computes took before their first task, and what for."""

    seconds: float
    phases_s: dict[str, float]

    def words(self) -> str:
        """Return the phases in words, without phases of less than a hundredth.

        Examples
        --------
        >>> BeforeTasks(12.0, {"send": 3.0, "materialize": 8.0, "order": 0.02, "wait": 0.98}).words()
        '3 s sending the graph, 8 s making its tasks, 980 ms until a worker began'
        """
        return ", ".join(
            f"{format_duration(seconds)} {PHASE_WORDS[phase]}"
            for phase, seconds in self.phases_s.items()
            if seconds >= self.seconds / 100
        )


def measure_before_tasks(recording: RecordedData, runs: Sequence[Run] | None = None) -> BeforeTasks | None:
    """Return where the time went before the first task; None where nothing of it was measured."""
    first_s = _first_tasks(recording)
    seconds, phases_s = 0.0, defaultdict[str, float](float)
    for run in recording.runs if runs is None else runs:
        phases = list(phases_of(run, first_s.get(run.run)))
        for phase, start_s, stop_s in phases:
            phases_s[phase] += stop_s - start_s
        if phases:
            seconds += max(first_s.get(run.run, phases[-1][2]) - run.asked_s, 0.0)
    return BeforeTasks(seconds, {p: phases_s[p] for p in PHASE_WORDS if p in phases_s}) if phases_s else None


def phases_of(run: Run, first_s: float | None) -> Iterator[tuple[str, float, float]]:
    """Yield each known phase before the first task, with its begin and end."""
    at_s = run.asked_s
    if run.send_s is not None:
        yield "send", at_s, at_s + run.send_s
    elif run.order_s is None:
        return
    at_s = run.start_s
    if run.received_s is not None and run.received_s > at_s:
        yield "travel", at_s, run.received_s
        at_s = run.received_s
    steps = ("materialize", run.materialize_s), ("order", run.order_s), ("initialize", run.initialize_s)
    for phase, took_s in steps:
        if took_s is not None:
            yield phase, at_s, at_s + took_s
            at_s += took_s
    if first_s is not None and run.order_s is not None and first_s > at_s:
        yield "wait", at_s, first_s


def _first_tasks(recording: RecordedData) -> dict[int, float]:
    """Return when the first task of each compute began."""
    found: dict[int, float] = {}
    for block in recording.blocks:
        if len(block):
            found[block.run] = min(found.get(block.run, float("inf")), float(block.start.min()))
    return found
