"""From what the scheduler says of a worker to a sample of its CPU and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taskscope.model.workers import WorkerSample
from taskscope.record import Recorder
from taskscope.sources.cluster.workers import Worker

__all__ = ["WorkerSampler"]

_MOST = 2.0**63


class WorkerSampler:
    """Tells the recorder of each worker's own measurements, each once.

    Parameters
    ----------
    recorder
        Where to tell.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._told: dict[str, float] = {}

    def take(self, worker: Worker, facts: Mapping[str, Any]) -> None:
        """Tell what a worker says, unless that was told before."""
        metrics = _mapping(facts.get("metrics"))
        measured = _number(metrics.get("time"))
        if measured is None or measured <= self._told.get(worker.address, float("-inf")):
            return
        self._told[worker.address] = measured
        clock = self._recorder.clock
        shift = clock.shift_s() - self._recorder.origin
        spilled = _mapping(metrics.get("spilled_bytes"))
        in_memory = _number(spilled.get("memory"))
        rss, held = _number(metrics.get("memory")), _number(metrics.get("managed_bytes"))
        # The worker counts what it has spilled among what it holds.
        managed = None if held is None else max(held - (in_memory or 0.0), 0.0)
        executing = _number(_mapping(metrics.get("task_counts")).get("executing")) or 0
        self._recorder.workers.append(
            WorkerSample(
                time_s=measured + worker.clock.ahead_s + shift,
                worker=worker.address,
                name=worker.name,
                n_threads=worker.n_threads,
                n_executing=int(executing),
                cpu_percent=_number(metrics.get("cpu")),
                rss_bytes=rss,
                managed_bytes=managed,
                unmanaged_bytes=None if rss is None or managed is None else max(rss - managed, 0.0),
                spilled_bytes=in_memory,
                limit_bytes=_number(facts.get("memory_limit")) or None,
            )
        )

    def leave(self, worker: Worker) -> None:
        """Tell that a worker is gone: it has no threads, and nothing of it is known."""
        if self._told.pop(worker.address, None) is not None:
            now_s = self._recorder.now_s()
            unknown = (None,) * 7
            self._recorder.workers.append(WorkerSample(now_s, worker.address, worker.name, 0, *unknown))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float | None:
    """Return a number of what a worker says of itself, None where it is none that can be meant."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < _MOST:
        return None
    return float(value)
