"""Which tasks ran when, by prefix: what is measured of a whole process is explained by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Run, number_prefixes

__all__ = ["OTHER_PREFIXES", "Running", "running"]

OTHER_PREFIXES = "other prefixes"
_MAX_PREFIXES = 20


@dataclass(frozen=True, slots=True, eq=False)
class Running:
    """Tasks by prefix; times are on the recorder's axis.

    Parameters
    ----------
    prefixes
        Those with the most time in tasks; what is of none of them is of the last, `OTHER_PREFIXES`.
    prefix
        The place of each task's prefix in them.
    start, seconds, cpu_s
        When each task began, how long it took, and the CPU time of its thread; NaN: unknown.
    """

    prefixes: tuple[str, ...]
    prefix: NDArray[np.int64]
    start: NDArray[np.float64]
    seconds: NDArray[np.float64]
    cpu_s: NDArray[np.float64]

    def at(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many tasks of each prefix ran at each moment: a row for each."""
        found = np.empty((len(times), len(self.prefixes)))
        for place in range(len(self.prefixes)):
            is_mine = self.prefix == place
            start, seconds = self.start[is_mine], self.seconds[is_mine]
            began = np.searchsorted(np.sort(start), times, side="right")
            found[:, place] = began - np.searchsorted(np.sort(start + seconds), times, side="right")
        return found

    def seconds_between(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for how many seconds tasks of each prefix ran from each time to the next."""
        return self._between(times, np.ones_like(self.seconds))

    def cpu_between(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the CPU time of tasks' own threads from each time to the next, evenly spread over a task."""
        rates = np.nan_to_num(self.cpu_s) / np.maximum(self.seconds, 1e-9)
        return self._between(times, rates)

    def _between(self, times: NDArray[np.float64], rate: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.empty((max(len(times) - 1, 0), len(self.prefixes)))
        for place in range(len(self.prefixes)):
            is_mine = self.prefix == place
            start, mine = self.start[is_mine], rate[is_mine]
            until = _ramps(start, mine, times) - _ramps(start + self.seconds[is_mine], mine, times)
            found[:, place] = np.maximum(np.diff(until), 0.0)
        return found


def _ramps(
    begin: NDArray[np.float64], rate: NDArray[np.float64], times: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what rates that begin one after the other, and never end, have come to at each time."""
    order = np.argsort(begin)
    # From the first on: the differences of large times would lose digits.
    zero = times[0] if len(times) else 0.0
    begin, rate = begin[order] - zero, rate[order]
    rates = np.concatenate([[0.0], np.cumsum(rate)])
    offsets = np.concatenate([[0.0], np.cumsum(rate * begin)])
    n_begun = np.searchsorted(begin, times - zero, side="right")
    found: NDArray[np.float64] = rates[n_begun] * (times - zero) - offsets[n_begun]
    return found


def running(
    recording: RecordedData, runs: Sequence[Run], is_in: Callable[[str], bool] = lambda _: True
) -> Running:
    """Return the tasks of these computes, of those workers alone that are `is_in`."""
    numbers = {run.run for run in runs}
    names, code_of = number_prefixes(recording.groups)
    blocks = [block for block in recording.blocks if block.run in numbers]
    lanes = np.array([is_in(lane.worker) for lane in recording.lanes], bool)
    empty = np.empty(0)
    parts = [(code_of[recording.graphs[b.run].group[b.task]], lanes[b.lane], b) for b in blocks]
    prefix = np.concatenate([empty.astype(np.int64), *(code[is_mine] for code, is_mine, _ in parts)])
    start = np.concatenate([empty, *(b.start[is_mine] for _, is_mine, b in parts)])
    seconds = np.concatenate([empty, *(b.duration[is_mine] for _, is_mine, b in parts)]).astype(np.float64)
    cpu_s = np.concatenate([empty, *(b.cpu_s[is_mine] for _, is_mine, b in parts)]).astype(np.float64)
    sums = np.bincount(prefix, seconds, len(names))
    n_tasks = np.bincount(prefix, minlength=len(names))
    known = [code for code in np.argsort(-sums, kind="stable").tolist() if n_tasks[code]]
    shown, rest = known[:_MAX_PREFIXES], known[_MAX_PREFIXES:]
    place = np.full(len(names), len(shown), np.int64)
    place[shown] = np.arange(len(shown))
    prefixes = (*(names[code] for code in shown), *([OTHER_PREFIXES] if rest else []))
    return Running(prefixes, place[prefix], start, seconds, cpu_s)
