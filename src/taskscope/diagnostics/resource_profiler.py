"""Record CPU and memory of this process and its children."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from taskscope.diagnostics.recorded import RecordedProfiler
from taskscope.diagnostics.resourcedata import resource_data
from taskscope.diagnostics.results import ResourceData, Results
from taskscope.recorder.pump import Tick
from taskscope.session import Options, current

if TYPE_CHECKING:
    from bokeh.plotting import figure

__all__ = ["ResourceProfiler"]


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
        self._spans_s: list[tuple[float, float]] = []
        self._entered_s = 0.0
        self._unsubscribe: Callable[[], None] | None = None
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

    def __enter__(self) -> Self:
        super().__enter__()
        if self._n_entered == 1:
            session = current()
            session.sampler.compute_started()
            self._entered_s = session.recorder.now_s()
            self._unsubscribe = session.pump.subscribe(self._tick)
            session.pump.wake()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._n_entered == 1:
            session = current()
            if self._unsubscribe is not None:
                self._unsubscribe()
            session.sampler.compute_stopped()
            self._spans_s.append((self._entered_s, session.recorder.now_s()))
        super().__exit__(kind, error, trace)

    def clear(self) -> None:
        """Forget all samples."""
        super().clear()
        self._spans_s.clear()
        self._entered_s = self._watch.recorder.now_s()
        self._assigned = None

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        """Return the chart of this time, in seconds of ``time.perf_counter``."""
        from taskscope.charts import plot_resources

        return plot_resources(self.results, zero_s, until_s, **options)

    def _tick(self, _: Tick) -> None:
        # Without a compute nobody else sees to it that samples are taken and read.
        session = current()
        session.sampler.tick()
        session.pump.wake()

    def _is_running(self) -> bool:
        return bool(self._n_entered) or any(run.stop_s is None for run in self._watch.runs.values())

    def _made(self) -> Results[ResourceData]:
        watch = self._watch
        spans_s = list(self._spans_s)
        if not self._n_entered:
            runs = watch.runs.values()
            spans_s += [(max(r.start_s, watch.cleared_s), r.stop_s) for r in runs if r.stop_s is not None]
        return resource_data(watch.recording(), spans_s, watch.recorder.origin)
