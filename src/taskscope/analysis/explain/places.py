"""Where on a timeline the evidence of findings is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.critical_path import CriticalPath, WaitCause
from taskscope.analysis.explain.finding import Cause, Finding
from taskscope.model.recording import RecordedData

__all__ = ["MAX_SPANS", "Place", "place_of"]

MAX_SPANS = 100
"""Most waits of one finding: the longest ones."""

_WAITS: Mapping[Cause, tuple[WaitCause, ...]] = {
    "client-gaps": ("client",),
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
    run, prefixes = evidence.get("run"), tuple(evidence.get("prefixes", ()))
    if run is None:
        waits = path.waits_s(*_WAITS.get(finding.cause, ()))
        return Place(None, _moved(_longest(waits), recording.zero_s), prefixes)
    [span] = [
        (one.asked_s, recording.now_s if one.stop_s is None else one.stop_s)
        for one in recording.runs
        if one.run == run
    ]
    tasks: Mapping[int, NDArray[np.int32]] = {}
    if finding.cause == "long-chain":
        tasks = {number: of for number, of in path.tasks().items() if number == run}
    elif "tasks" in evidence:
        tasks = {run: np.array(evidence["tasks"], np.int32)}
    return Place(run, (span,), prefixes, tasks)


def _longest(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return sorted(sorted(spans, key=lambda span: span[0] - span[1])[:MAX_SPANS])


def _moved(spans: Sequence[tuple[float, float]], by_s: float) -> tuple[tuple[float, float], ...]:
    return tuple((start + by_s, stop + by_s) for start, stop in spans)
