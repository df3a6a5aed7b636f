"""The profilers of ``dask.diagnostics``: what the recorder saw while they were entered or registered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from taskscope.analysis.colours import prefix_colours
from taskscope.diagnostics.callback import Callback
from taskscope.diagnostics.results import (
    CacheData,
    ResourceData,
    Results,
    TaskData,
    cache_data,
    held_results,
    resource_data,
    task_data,
    task_texts,
)
from taskscope.diagnostics.visualize import Drawn
from taskscope.diagnostics.window import ExplicitHooks, Metric, Sampling, Window
from taskscope.errors import OptionError, TaskscopeError
from taskscope.options import Options
from taskscope.recording import Recording
from taskscope.sources.local.adapter.registration import CallbackTuple

if TYPE_CHECKING:
    from bokeh.plotting import figure

__all__ = ["CacheProfiler", "Profiler", "RecordedProfiler", "ResourceProfiler"]


class RecordedProfiler(Drawn, Callback):
    """A profiler that watches while it is entered or registered; `metric` is a function of each result."""

    start_time: float | None
    """When watching began, in seconds of ``time.perf_counter``; None before."""
    end_time: float | None
    """When watching ended; None before."""

    def __init__(self, options: Options, metric: Metric | None = None) -> None:
        super().__init__()
        self._window = Window(options, metric)
        self._explicit = ExplicitHooks(self._window)
        self._results: Any = None
        self._results_state: tuple[object, ...] | None = None
        self.start_time = None
        self.end_time = None

    @property
    def recording(self) -> Recording:
        """Everything that was recorded while this profiler watched, failed and interrupted tasks included."""
        return Recording.of(self._window.recording())

    def _enter(self, owner: object) -> None:
        if len(self._entered()) == 1:
            self.clear()
            self.start_time = time.perf_counter()
        self._window.open(owner)

    def _exit(self, owner: object) -> None:
        self._window.close(owner)
        self.end_time = time.perf_counter()

    def register(self) -> None:
        """Watch every compute from now on; once more changes nothing."""
        if self.start_time is None:
            self.start_time = time.perf_counter()
        self._window.open(self._registration())

    def unregister(self) -> None:
        """End what `register` began; without it nothing happens."""
        if self._window.close(self._registration()):
            self.end_time = time.perf_counter()

    def clear(self) -> None:
        """Forget what was recorded; of a compute in flight, what ends from now on is recorded still."""
        self._window.clear()
        self._results = None
        self.start_time = time.perf_counter() if self._window.is_open else None
        self.end_time = None

    def close(self) -> None:
        """Do nothing: no process or thread of this profiler outlives a compute. It may be called any time."""

    def span(self) -> tuple[float, float]:
        now = time.perf_counter()
        start = now if self.start_time is None else self.start_time
        return start, now if self.end_time is None else self.end_time

    def prefixes(self) -> list[str]:
        return list(prefix_colours(self.recording))

    @property
    def _callback(self) -> CallbackTuple:
        """The form for ``dask.callbacks.add_callbacks`` and for ``compute(callbacks=…)``."""
        return self._explicit.callback

    def _cached(self) -> Any:
        """Return the results, made anew only if there is something new."""
        state = self._window.state()
        if self._results is None or state != self._results_state:
            self._results = self._made()
            self._results_state = state
        return self._results

    def _made(self) -> Any:
        raise NotImplementedError


class Profiler(RecordedProfiler):
    """Records every task, timed by the worker that ran it.

    Parameters
    ----------
    get
        A scheduler, such as ``dask.threaded.get``, for the `get` of this profiler; not needed otherwise.

    Raises
    ------
    OptionError
        If `get` is not a function.

    Notes
    -----
    ``results`` has the tasks that finished, of the computes that no task started; ``recording`` has all.

    Examples
    --------
    >>> import dask
    >>> with Profiler() as prof:
    ...     dask.get({"x": 1, "y": (max, "x", 10), "z": (min, "y", 2)}, "z")
    2
    >>> [(row.key, row.task) for row in prof.results]
    [('y', <Task 'y' max('x')>), ('z', <Task 'z' min('y')>)]
    """

    def __init__(self, get: Callable[..., Any] | None = None) -> None:
        if get is not None and not callable(get):
            raise OptionError(f"get must be a scheduler such as dask.threaded.get, got {get!r}")
        super().__init__(Options(dt="any", metric="any"))
        self._get = get

    @property
    def results(self) -> Results[TaskData]:
        """The finished tasks, by compute and start."""
        results: Results[TaskData] = self._cached()
        return results

    def get(self, dsk: Any, keys: Any, **options: Any) -> Any:
        """Compute with this profiler's scheduler and record it: ``x.compute(scheduler=prof.get)``.

        Parameters
        ----------
        dsk, keys, options
            As of the scheduler.

        Raises
        ------
        TaskscopeError
            If the profiler was made without a scheduler.
        """
        if self._get is None:
            raise TaskscopeError(
                "this Profiler has no scheduler: write Profiler(dask.threaded.get), "
                "or `with Profiler() as prof:` around the compute"
            )
        owner = object()
        try:
            self._window.open(owner)
            return self._get(dsk, keys, **options)
        finally:
            self._window.close(owner)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        """Return the Gantt chart of this time, in seconds of ``time.perf_counter``."""
        from taskscope.charts import MAX_GLYPHS, plot_tasks

        window = self._window
        recording, origin = window.recording(), window.recorder.origin
        texts = task_texts(recording, window.runs) if sum(map(len, recording.blocks)) <= MAX_GLYPHS else None
        return plot_tasks(recording, zero_s - origin, until_s - origin, texts=texts, **options)

    def _made(self) -> Results[TaskData]:
        window = self._window
        return task_data(window.recording(), window.runs, window.recorder.origin, window.cleared_s)


class CacheProfiler(RecordedProfiler):
    """Records how long every result stays in the scheduler's cache.

    Parameters
    ----------
    metric
        What a result counts: a function of it, such as ``cachey.nbytes``; by default every result counts 1.
    metric_name
        Its name in plots; by default that of the function, or ``count``.

    Raises
    ------
    OptionError
        If `metric` is not a function.

    Notes
    -----
    The metric is called in the thread that computes, once per task. Where it raises, the value is None and
    the compute goes on. The cost of a task does not depend on how many results are held or were released.

    Examples
    --------
    >>> import dask
    >>> with CacheProfiler(metric=lambda result: 2 * result, metric_name="twice") as cprof:
    ...     dask.get({"x": (abs, -1), "y": (max, "x", 10)}, "y")
    10
    >>> [(row.key, row.metric) for row in cprof.results]
    [('x', 2), ('y', 20)]
    """

    def __init__(self, metric: Metric | None = None, metric_name: str | None = None) -> None:
        if metric is not None and not callable(metric):
            raise OptionError(f"metric must be a function of a result, such as cachey.nbytes, got {metric!r}")
        super().__init__(Options(dt="any", metric="any"), metric)
        self._counts = metric is None
        self._metric_name = metric_name or _name(metric)

    @property
    def results(self) -> Results[CacheData]:
        """The results that were held, by when they left."""
        results: Results[CacheData] = self._cached()
        return results

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        """Return the chart of this time, in seconds of ``time.perf_counter``."""
        from taskscope.charts import plot_cache

        window = self._window
        held = held_results(window.recording(), window.runs, window.cleared_s, counts=self._counts)
        origin = window.recorder.origin
        return plot_cache(held, self._metric_name, zero_s - origin, until_s - origin, **options)

    def _made(self) -> Results[CacheData]:
        window = self._window
        return cache_data(
            window.recording(), window.runs, window.recorder.origin, window.cleared_s, counts=self._counts
        )


def _name(metric: Metric | None) -> str:
    if metric is None:
        return "count"
    return str(getattr(metric, "__name__", type(metric).__name__))


class ResourceProfiler(RecordedProfiler):
    """Samples CPU and memory: throughout a ``with`` block, or while a compute runs if registered.

    Parameters
    ----------
    dt
        Seconds between samples, 1 by default. If something else samples too, the shorter interval holds.

    Raises
    ------
    OptionError
        If `dt` is not a positive number of seconds.

    Notes
    -----
    Besides, the first and the last moment of a block or a compute are sampled, so that a short one has a
    result. CPU use is the mean since the sample before, so the first sample has none, and is left out of
    ``results``; it is in ``recording``. Inside of a block ``results`` is empty, as in ``dask.diagnostics``.

    Examples
    --------
    >>> import dask
    >>> with ResourceProfiler(dt=0.5) as rprof:
    ...     dask.get({"x": (abs, -1)}, "x")
    1
    >>> len(rprof.results) > 0
    True
    """

    has_prefixes = False

    def __init__(self, dt: float = 1) -> None:
        super().__init__(Options(dt=dt, metric="any"))
        self._spans_s: dict[object, tuple[float, float]] = {}
        self._entered_s = 0.0
        self._sampling = Sampling()
        self._assigned: Results[ResourceData] | None = None

    @property
    def results(self) -> Results[ResourceData]:
        """The samples. What is assigned here is drawn instead."""
        if self._assigned is not None:
            return self._assigned
        results: Results[ResourceData] = self._cached()
        return results

    @results.setter
    def results(self, rows: Iterable[tuple[float, float, float]]) -> None:
        self._assigned = Results(ResourceData(*row) for row in rows)

    def _enter(self, owner: object) -> None:
        super()._enter(owner)
        if len(self._entered()) == 1:
            self._entered_s = self._window.recorder.now_s()
            self._sampling.begin()

    def _exit(self, owner: object) -> None:
        if len(self._entered()) == 1:
            self._sampling.end()
            self._spans_s[owner] = (self._entered_s, self._window.recorder.now_s())
        super()._exit(owner)

    def clear(self) -> None:
        """Forget all samples."""
        super().clear()
        self._spans_s.clear()
        self._entered_s = self._window.recorder.now_s()
        self._assigned = None

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        """Return the chart of this time, in seconds of ``time.perf_counter``."""
        from taskscope.charts import plot_resources

        return plot_resources(self.results, zero_s, until_s, **options)

    def _is_running(self) -> bool:
        return bool(self._entered()) or any(run.stop_s is None for run in self._window.runs.values())

    def _made(self) -> Results[ResourceData]:
        window = self._window
        spans_s = list(self._spans_s.values())
        if not self._entered():
            runs = window.runs.values()
            spans_s += [(max(r.start_s, window.cleared_s), r.stop_s) for r in runs if r.stop_s is not None]
        return resource_data(window.recording(), spans_s, window.recorder.origin)
