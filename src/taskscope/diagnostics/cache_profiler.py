"""Record the scheduler's cache: when each result entered and left it, and how much it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskscope.diagnostics.recorded import RecordedProfiler
from taskscope.diagnostics.results import CacheData, Results, cache_data, held_results
from taskscope.diagnostics.watch import Metric
from taskscope.errors import OptionError
from taskscope.options import Options

if TYPE_CHECKING:
    from bokeh.plotting import figure

__all__ = ["CacheProfiler"]


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

        watch = self._watch
        held = held_results(watch.recording(), watch.runs, watch.cleared_s, counts=self._counts)
        origin = watch.recorder.origin
        return plot_cache(held, self._metric_name, zero_s - origin, until_s - origin, **options)

    def _made(self) -> Results[CacheData]:
        watch = self._watch
        return cache_data(
            watch.recording(), watch.runs, watch.recorder.origin, watch.cleared_s, counts=self._counts
        )


def _name(metric: Metric | None) -> str:
    if metric is None:
        return "count"
    return str(getattr(metric, "__name__", type(metric).__name__))
