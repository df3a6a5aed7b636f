"""What all profilers have in common: when they watch, what they keep, and how they are drawn."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from taskscope.analysis.colours import prefix_colours
from taskscope.diagnostics.callback import Callback
from taskscope.diagnostics.explicit import ExplicitHooks
from taskscope.diagnostics.watch import Metric, Watch
from taskscope.recording import Recording
from taskscope.session import Options
from taskscope.sources.registration import CallbackTuple

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM
    from bokeh.plotting import figure

__all__ = ["RecordedProfiler"]


class RecordedProfiler(Callback):
    """A profiler that watches while it is entered or registered.

    Parameters
    ----------
    options
        What it wants recorded.
    metric
        A function of every task's result, None for none.
    """

    has_prefixes = True
    """Whether the figure is coloured by prefix."""

    start_time: float | None
    """When watching began, in seconds of ``time.perf_counter``; None before."""
    end_time: float | None
    """When watching ended; None before."""

    def __init__(self, options: Options, metric: Metric | None = None) -> None:
        super().__init__()
        self._watch = Watch(options, metric)
        self._explicit = ExplicitHooks(self._watch)
        self._results: Any = None
        self._results_state: tuple[object, ...] | None = None
        self.start_time = None
        self.end_time = None

    @property
    def recording(self) -> Recording:
        """Everything that was recorded while this profiler watched, failed and interrupted tasks included."""
        return Recording.of(self._watch.recording())

    def _enter(self, owner: object) -> None:
        if len(self._entered()) == 1:
            self.clear()
            self.start_time = time.perf_counter()
        self._watch.open(owner)

    def _exit(self, owner: object) -> None:
        self._watch.close(owner)
        self.end_time = time.perf_counter()

    def register(self) -> None:
        """Watch every compute from now on; once more changes nothing."""
        if self.start_time is None:
            self.start_time = time.perf_counter()
        self._watch.open(self._registration())

    def unregister(self) -> None:
        """End what `register` began; without it nothing happens."""
        if self._watch.close(self._registration()):
            self.end_time = time.perf_counter()

    def clear(self) -> None:
        """Forget what was recorded; of a compute in flight, what ends from now on is recorded still."""
        self._watch.clear()
        self._results = None
        self.start_time = time.perf_counter() if self._watch.is_open else None
        self.end_time = None

    def close(self) -> None:
        """Do nothing: no process or thread of this profiler outlives a compute. It may be called any time."""

    def visualize(self, **options: Any) -> LayoutDOM:
        """Show, and outside of notebooks save, the plot; see `taskscope.diagnostics.visualize`."""
        from taskscope.diagnostics.drawing import visualize

        return visualize(self, **options)

    def plot(self, **options: Any) -> figure:
        """Return the Bokeh figure; options are those of `visualize` that draw."""
        return self.draw(*self.span(), **options)

    def _plot(self, **options: Any) -> figure:
        return self.plot(**options)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        """Return the Bokeh figure of this time, in seconds of ``time.perf_counter``."""
        raise NotImplementedError

    def span(self) -> tuple[float, float]:
        """Return from when to when there is something to draw, in seconds of ``time.perf_counter``."""
        now = time.perf_counter()
        start = now if self.start_time is None else self.start_time
        return start, now if self.end_time is None else self.end_time

    def prefixes(self) -> list[str]:
        """Return the prefixes of the tasks, by first appearance."""
        return list(prefix_colours(self.recording))

    @property
    def _callback(self) -> CallbackTuple:
        """The form for ``dask.callbacks.add_callbacks`` and for ``compute(callbacks=…)``."""
        return self._explicit.callback

    def _cached(self) -> Any:
        """Return the results, made anew only if there is something new."""
        state = self._watch.state()
        if self._results is None or state != self._results_state:
            self._results = self._made()
            self._results_state = state
        return self._results

    def _made(self) -> Any:
        raise NotImplementedError
