"""What causes are looked for in: a recording, its critical path, and its computes to run again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.critical_path import CriticalPath, WaitCause
from taskscope.analysis.explain.replay import Workload, replayed_s
from taskscope.analysis.explain.schedule import Schedule
from taskscope.analysis.explain.waits import Stacks
from taskscope.analysis.quantities import format_percent, printable
from taskscope.model.recording import RecordedData

_STRAGGLER = 3.0
_FEW = 0.1
_LEAST_S = 1e-3
_MIN_LIKE = 8
_BESIDE = 0.5
_LATE_SHARE = 0.03


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All computes that are explained: how long they took, what lay between them included, and their path."""

    recording: RecordedData
    makespan_s: float
    path: CriticalPath
    works: tuple[Workload, ...]
    prefixes: tuple[str, ...]

    def waited_s(self, *causes: WaitCause) -> float:
        """Return how long the critical path waited for these."""
        waits = self.path.wait_s
        return sum(waits.get(cause, 0.0) for cause in causes)

    def share(self, seconds: float) -> str:
        """Return a part of the makespan in words."""
        return format_percent(min(seconds / self.makespan_s, 1.0) if self.makespan_s else 0.0)

    def most(self, prefix: NDArray[np.int64], seconds: NDArray[np.float64]) -> list[str]:
        """Return up to three prefixes with the most time."""
        sums = np.bincount(prefix, np.nan_to_num(seconds), len(self.prefixes))
        return [self.prefixes[i] for i in np.argsort(-sums, kind="stable")[:3].tolist() if sums[i]]


@dataclass(frozen=True, slots=True, eq=False)
class Computes:
    """Computes that overlap, which are one graph, and what their tasks usually take."""

    known: Evidence
    work: Workload
    base_s: float
    """How long a replay of them takes as they were."""
    kind: NDArray[np.int64]
    """A number for each task, the same for tasks that are alike."""
    usual_s: NDArray[np.float64]
    """The median of the tasks that are like each; its own duration where these are few."""
    is_late: NDArray[np.bool_]
    """Which few tasks took far longer than tasks like them."""

    @classmethod
    def of(cls, known: Evidence, work: Workload) -> Computes:
        """Return them with what is needed to look for causes."""
        kind = kinds_of(work.schedule)
        usual_s, is_late = work.seconds.copy(), np.zeros(len(kind), bool)
        for number in np.flatnonzero(np.bincount(kind, minlength=1) >= _MIN_LIKE).tolist():
            mine = np.flatnonzero(kind == number)
            usual_s[mine] = float(np.median(work.seconds[mine]))
            # Not those that only had to wait longer for a core.
            is_late[mine] = _few_late(work.seconds[mine]) & _few_late(work.takes_s[mine])
            # Nor those that had to wait for threads of their own, which others kept from a core.
            if work.load.is_crowded or work.load.beside_share >= _BESIDE:
                own_s = np.nan_to_num(work.cpu_s[mine])
                later_s = work.seconds[mine] - usual_s[mine]
                is_late[mine] &= _few_late(own_s) & (own_s - np.median(own_s) >= 0.5 * later_s)
        is_late &= work.seconds >= _LATE_SHARE * known.makespan_s
        is_late &= ~np.array([is_of_shuffle(name) for name in known.prefixes], bool)[work.prefix]
        return cls(known, work, replayed_s(work), kind, usual_s, is_late)

    @property
    def stacks(self) -> Stacks:
        """The samples of their tasks."""
        return self.work.load.stacks

    @property
    def runs(self) -> list[int]:
        """The numbers of the computes."""
        return [run.run for run in self.work.schedule.runs]

    def tasks(self, places: NDArray[np.integer]) -> Mapping[int, list[int]]:
        """Return the numbers of tasks in the graphs of their computes, by compute."""
        run, number = self.work.schedule.run[places], self.work.schedule.number[places]
        return {one: sorted(set(number[run == one].tolist())) for one in np.unique(run).tolist()}

    def most(self, chosen: NDArray[np.bool_] | NDArray[np.integer]) -> list[str]:
        """Return up to three prefixes of these tasks, those with the most time."""
        return self.known.most(self.work.prefix[chosen], self.work.seconds[chosen])

    def saved_s(self, seconds: NDArray[np.float64]) -> float:
        """Return how much shorter the computes are when their tasks take so long."""
        return max(self.base_s - replayed_s(self.work, seconds), 0.0)

    def saved_anew_s(self, seconds: NDArray[np.float64]) -> float:
        """Return the same where workers would then run more tasks, or fewer, than they did."""
        anew = self.work.with_workers(self.work.n_workers)
        return max(self.saved_s(seconds), self.base_s - replayed_s(anew, seconds))

    def handed_over_s(self, at_once: NDArray[np.bool_], seconds: NDArray[np.float64] | None = None) -> float:
        """Return how much shorter the computes are if these tasks begin as soon as they can.

        It is compared with the recording, not with a replay: how waits that are left out would have come
        about does not matter.
        """
        without = replace(self.work, lag_s=np.where(at_once, 0.0, self.work.lag_s))
        return max(self.work.recorded_s - replayed_s(without, seconds), 0.0)


def kinds_of(schedule: Schedule) -> NDArray[np.int64]:
    """Return a number for each task, the same for tasks of a group with the same role in the graph.

    That is about as many inputs, inputs of the same groups, and dependents of the same groups.
    """
    n = len(schedule)
    if not n:
        return np.empty(0, np.int64)
    by, group = schedule.by(), schedule.group
    rank = np.ceil(np.log2(schedule.n_needed + 1)).astype(np.int64)
    columns = (group, rank, _mixed(by, group[schedule.needed], n), _mixed(schedule.needed, group[by], n))
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1)


def _mixed(place: NDArray[np.int64], group: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return a number for each place that stands for the set of groups at it."""
    pairs = np.unique(np.stack((place, group)), axis=1)
    # Sums of large odd multiples differ for different sets, but for once in 2⁶⁴.
    mixed = (pairs[1].astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    found = np.zeros(n, np.uint64)
    np.add.at(found, pairs[0], mixed * np.uint64(0xBF58476D1CE4E5B9))
    return found.astype(np.int64)


def _few_late(took_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which few took far longer than the median; where many did, which took far longer than those."""
    late: NDArray[np.bool_] = took_s > max(_STRAGGLER * float(np.median(took_s)), _LEAST_S)
    n_few = int(_FEW * len(took_s))
    if late.sum() > n_few:
        n_few = max(n_few, 1)
        late &= took_s > _STRAGGLER * float(np.sort(took_s)[-1 - n_few])
    return late


_SHUFFLE = re.compile(r"p2p|(^|-)(shuffle|barrier|transfer|unpack)(-|$)")


def is_of_shuffle(prefix: str) -> bool:
    """Return whether tasks of a prefix are those of distributed's shuffle, which wait for each other."""
    return _SHUFFLE.search(prefix) is not None


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence."""
    return ", ".join(printable(name, 36) for name in names)
