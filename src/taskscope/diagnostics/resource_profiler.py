"""Record CPU and memory of this process and its children."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from taskscope.diagnostics.recorded import RecordedProfiler
from taskscope.diagnostics.results import ResourceData, Results, resource_data
from taskscope.options import Options
from taskscope.record.pump import Tick
from taskscope.session import current

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
        self._spans_s: dict[object, tuple[float, float]] = {}
        self._entered_s = 0.0
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
            session = current()
            session.sampler.compute_started(self)
            self._entered_s = session.recorder.now_s()
            session.pump.subscribe(self._tick)
            session.pump.wake()

    def _exit(self, owner: object) -> None:
        if len(self._entered()) == 1:
            session = current()
            session.pump.unsubscribe(self._tick)
            session.sampler.compute_stopped(self)
            self._spans_s[owner] = (self._entered_s, session.recorder.now_s())
        super()._exit(owner)

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
        return bool(self._entered()) or any(run.stop_s is None for run in self._watch.runs.values())

    def _made(self) -> Results[ResourceData]:
        watch = self._watch
        spans_s = list(self._spans_s.values())
        if not self._entered():
            runs = watch.runs.values()
            spans_s += [(max(r.start_s, watch.cleared_s), r.stop_s) for r in runs if r.stop_s is not None]
        return resource_data(watch.recording(), spans_s, watch.recorder.origin)
