"""When the computes of a recorder will end: gathered from it, at most twice a second for all who ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.time_left import (
    MIN_ELAPSED_S,
    Evidence,
    Levels,
    estimate_stop,
    graph_levels,
    longest_chain_s,
)
from taskscope.model.records import Estimate, Run
from taskscope.record import Recorder
from taskscope.record.writers.graph import GraphShape

__all__ = ["Estimates"]

_VALID_S = 0.5
_RECENT_TASKS = 500


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    outline: GraphShape
    levels: Levels | None


class Estimates:
    """The estimates for the computes that run.

    Parameters
    ----------
    recorder
        Where they are recorded.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._shapes: dict[int, _Shape] = {}
        self._known: dict[int, tuple[float, Estimate | None]] = {}

    def of(self, runs: Iterable[Run], now_s: float) -> Mapping[int, Estimate]:
        """Return the estimates for those of these computes that run and give evidence, by compute."""
        found: dict[int, Estimate] = {}
        for run in runs:
            if run.status != "running" or run.is_of_others:
                self._shapes.pop(run.run, None)
                self._known.pop(run.run, None)
            elif (estimate := self._current(run, now_s)) is not None:
                found[run.run] = estimate
        return found

    def _current(self, run: Run, now_s: float) -> Estimate | None:
        made_s, estimate = self._known.get(run.run, (-np.inf, None))
        if now_s - made_s < _VALID_S or now_s - run.start_s < MIN_ELAPSED_S:
            return estimate
        try:
            estimate = estimate_stop(self._evidence(run, now_s))
        except Exception as error:  # noqa: BLE001 - what is measured must reach the views without an estimate
            estimate = None
            self._recorder.fault("the estimate of a compute", error)
        self._known[run.run] = (now_s, estimate)
        return estimate

    def _evidence(self, run: Run, now_s: float) -> Evidence:
        recorder = self._recorder
        in_flight_s: dict[str, list[float]] = {}
        for task in recorder.running():
            if task.run == run.run:
                in_flight_s.setdefault(self._prefix(task.group), []).append(now_s - task.start_s)
        return Evidence(
            run=run,
            now_s=now_s,
            rows=recorder.progress(run.run, run.run),
            recent_s=self._recent_s(run.run),
            in_flight_s=in_flight_s,
            chain_s=self._chain(run.run),
        )

    def _prefix(self, group: int) -> str:
        return self._recorder.groups[group].prefix

    def _recent_s(self, run: int) -> dict[str, NDArray[np.float64]]:
        _, tasks = self._recorder.tasks_since(self._recorder.cursor - _RECENT_TASKS, _RECENT_TASKS)
        mine = tasks.run == run
        group, duration_s = tasks.group[mine], (tasks.stop - tasks.start)[mine]
        prefixes = np.array([self._prefix(g) for g in group.tolist()], object)
        return {prefix: duration_s[prefixes == prefix] for prefix in dict.fromkeys(prefixes.tolist())}

    def _chain(self, run: int) -> Callable[[Mapping[str, float]], float] | None:
        ended = self._recorder.ended(run)
        if ended is None:
            return None
        shape = self._shape(run, int(ended.max(initial=-1)) + 1)
        if shape is None or shape.levels is None:
            return None
        levels, outline = shape.levels, shape.outline

        def chain_s(seconds: Mapping[str, float]) -> float:
            of_group = np.array([seconds.get(group.prefix, 0.0) for group in self._recorder.groups])
            task_s = of_group[outline.group]
            task_s[ended] = 0.0
            task_s[outline.data] = 0.0
            return longest_chain_s(levels, task_s)

        return chain_s

    def _shape(self, run: int, n_tasks: int) -> _Shape | None:
        """Return the shape of a graph of at least so many tasks: one that is submitted bit by bit grows."""
        known = self._shapes.get(run)
        if known is None or len(known.outline.group) < n_tasks:
            outline = self._recorder.graph_shape(run)
            if outline is None or len(outline.group) < n_tasks:
                return None
            known = self._shapes[run] = _Shape(outline, graph_levels(outline.n_dependencies, outline.edges))
        return known
