"""What profilers hand out: the named tuples of ``dask.diagnostics``."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, TypeVar

from dask._task_spec import Task

__all__ = ["CacheData", "ResourceData", "Results", "TaskData"]

_T = TypeVar("_T")


class TaskData(NamedTuple):
    """One task; times are seconds on the axis of ``time.perf_counter``, as in ``dask.diagnostics``."""

    key: Any
    task: Task
    start_time: float
    end_time: float
    worker_id: int | None


class ResourceData(NamedTuple):
    """One sample: its time as that of ``time.perf_counter``, memory in MB, CPU in percent, 100 per core."""

    time: float
    mem: float
    cpu: float


class CacheData(NamedTuple):
    """One result in the scheduler's cache, from when it entered to when it left, and its metric.

    The metric is None where the function that measures failed.
    """

    key: Any
    task: Task
    metric: Any
    cache_time: float
    free_time: float


class Results(list[_T]):
    """A list that can also be called, because in 2015 ``results`` was a method."""

    def __call__(self) -> Self:
        """Return itself."""
        return self
