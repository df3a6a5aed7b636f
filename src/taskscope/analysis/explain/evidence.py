"""What causes are looked for in: a recording, its critical path, and its computes to run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.critical_path import CriticalPath, WaitCause
from taskscope.analysis.explain.replay import Workload, replayed_s
from taskscope.analysis.quantities import format_percent, printable
from taskscope.model.recording import RecordedData

__all__ = ["Evidence", "Usual", "listed", "usual_of"]

_STRAGGLER = 3.0
_FEW = 0.1
_LEAST_S = 1e-3
_MIN_LIKE = 8


class Usual(NamedTuple):
    """The median duration of each task's prefix, and which few tasks took far longer."""

    seconds: NDArray[np.float64]
    is_late: NDArray[np.bool_]


def usual_of(work: Workload) -> Usual:
    """Return how long the tasks of a compute usually take; a prefix of few tasks has no such time."""
    usual = work.seconds.copy()
    is_late = np.zeros(len(usual), bool)
    for prefix in np.unique(work.prefix).tolist():
        mine = np.flatnonzero(work.prefix == prefix)
        if len(mine) >= _MIN_LIKE:
            usual[mine] = float(np.median(work.seconds[mine]))
            # Not those that only had to wait longer for a core than their like.
            is_late[mine] = _few_late(work.seconds[mine]) & _few_late(work.takes_s[mine])
    return Usual(usual, is_late)


def _few_late(took_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which few took far longer than the median; where many did, which took far longer than any other."""
    late: NDArray[np.bool_] = took_s > max(_STRAGGLER * float(np.median(took_s)), _LEAST_S)
    n_few = int(_FEW * len(took_s))
    if late.sum() > n_few:
        n_few = max(n_few, 1)
        late &= took_s > _STRAGGLER * float(np.sort(took_s)[-1 - n_few])
    return late


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Computes that are looked at together.

    Parameters
    ----------
    recording
        Where they are.
    makespan_s
        How long they took, what lay between them included.
    path
        Their critical path.
    works
        They, the earliest first.
    prefixes
        What tasks' prefixes are called, by their number in `works`.
    base_s
        How long a replay of each takes as it was, by its number.
    usual
        How long its tasks usually take, likewise.
    """

    recording: RecordedData
    makespan_s: float
    path: CriticalPath
    works: tuple[Workload, ...]
    prefixes: tuple[str, ...]
    base_s: Mapping[int, float]
    usual: Mapping[int, Usual]

    def saved_s(self, work: Workload, seconds: NDArray[np.float64] | None = None) -> float:
        """Return how much shorter a compute is when it is run again so, or its tasks take so long."""
        return max(self.base_s[work.run.run] - replayed_s(work, seconds), 0.0)

    def saved_anew_s(self, work: Workload, seconds: NDArray[np.float64]) -> float:
        """Return the same where workers would then be given more, or less, than they were."""
        return max(self.saved_s(each, seconds) for each in (work, work.with_workers(work.n_workers)))

    def handed_over_s(
        self, work: Workload, at_once: NDArray[np.bool_], seconds: NDArray[np.float64] | None = None
    ) -> float:
        """Return how much shorter a compute is if these tasks begin as soon as they can, or all take so long.

        It is held against what was recorded, not against a replay: how waits that are left out would have
        come about when it is run again, does not matter.
        """
        without = replace(work, lag_s=np.where(at_once, 0.0, work.lag_s))
        return max(work.recorded_s - replayed_s(without, seconds), 0.0)

    def waited_s(self, *causes: WaitCause) -> float:
        """Return how long the critical path waited for these."""
        waits = self.path.wait_s
        return sum(waits.get(cause, 0.0) for cause in causes)

    def share(self, seconds: float) -> str:
        """Return a part of the makespan in words."""
        return format_percent(seconds / self.makespan_s if self.makespan_s else 0.0)

    def most(self, prefix: NDArray[np.int64], seconds: NDArray[np.float64]) -> list[str]:
        """Return up to three prefixes with the most time."""
        sums = np.bincount(prefix, np.nan_to_num(seconds), len(self.prefixes))
        return [self.prefixes[i] for i in np.argsort(-sums, kind="stable")[:3].tolist() if sums[i]]


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence."""
    return ", ".join(printable(name, 36) for name in names)
