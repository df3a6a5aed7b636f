"""Where on a timeline the evidence of findings is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.critical_path import CriticalPath, WaitCause
from taskscope.analysis.explain.finding import Cause, Finding
from taskscope.analysis.explain.schedule import stop_of
from taskscope.model.recording import RecordedData

MAX_SPANS = 100
"""Most waits of one finding: the longest ones."""

_WAITS: Mapping[Cause, tuple[WaitCause, ...]] = {
    "client-gaps": ("client",),
    "no-workers": ("no-worker",),
    "large-graph": ("graph",),
    "transfers": ("transfer",),
    "memory-pressure": ("disk-read", "disk-write"),
    "serialization": ("serialize", "deserialize"),
    "lost-work": ("failed-attempt",),
}
"""What is not of one compute is waits of the critical path."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one finding's evidence is.

    Parameters
    ----------
    run
        The compute; None: it is of several.
    spans_s
        When it was, in seconds after the zero of the recorder.
    prefixes
        The prefixes of its tasks; none: it is of all tasks, or of none.
    tasks
        The numbers of its tasks in the graphs of their computes, by compute, where these are certain ones.
    """

    run: int | None
    spans_s: tuple[tuple[float, float], ...]
    prefixes: tuple[str, ...] = ()
    tasks: Mapping[int, NDArray[np.int32]] = field(default_factory=dict)


def place_of(recording: RecordedData, path: CriticalPath, finding: Finding) -> Place:
    """Return where the evidence of a finding is."""
    evidence: Mapping[str, Any] = finding.evidence
    runs, prefixes = evidence.get("runs", ()), tuple(evidence.get("prefixes", ()))
    if not runs:
        waits = path.waits_s(*_WAITS.get(finding.cause, ()))
        return Place(None, _moved(_longest(waits), recording.zero_s), prefixes)
    spans = tuple((one.asked_s, stop_of(recording, one)) for one in recording.runs if one.run in runs)
    tasks: Mapping[int, NDArray[np.int32]] = {}
    if evidence.get("is_chain"):
        tasks = {number: of for number, of in path.tasks().items() if number in runs}
    elif "tasks" in evidence:
        tasks = {run: np.array(numbers, np.int32) for run, numbers in evidence["tasks"].items()}
    return Place(runs[0] if len(runs) == 1 else None, spans, prefixes, tasks)


def _longest(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return sorted(sorted(spans, key=lambda span: span[0] - span[1])[:MAX_SPANS])


def _moved(spans: Sequence[tuple[float, float]], by_s: float) -> tuple[tuple[float, float], ...]:
    return tuple((start + by_s, stop + by_s) for start, stop in spans)
