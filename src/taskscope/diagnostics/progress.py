"""A progress bar: how far computes are, as text on a terminal or a widget in a notebook."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import dask.diagnostics
from dask.utils import format_time

from taskscope.analysis.progress import live_states
from taskscope.analysis.quantities import printable
from taskscope.diagnostics.callback import Callback
from taskscope.errors import OptionError
from taskscope.model.guard import Guard
from taskscope.model.import_notice import ImportNotice
from taskscope.options import DiagnosticOptions, Options
from taskscope.profiling.textbar import TextBar
from taskscope.record import Recorder
from taskscope.session import current
from taskscope.sources.cell import in_kernel
from taskscope.sources.cluster import CLIENTS, Call, may_have_clients
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.source import run_label

if TYPE_CHECKING:
    from taskscope.jupyter.widgets import ProgressWidget

_Counts: TypeAlias = Callable[[], tuple[int, int]]
"""How many tasks have finished, and how many there are."""
_OPTIONS, _OF_CLUSTERS = Options(dt="any", metric="any"), DiagnosticOptions()
_DT, _MAX_WIDTH = 0.1, 1_000
_log = logging.getLogger("taskscope")


class ProgressBar(Callback, dask.diagnostics.ProgressBar):
    """Shows how far computes are: of the local schedulers, and all that clients compute on clusters.

    Parameters
    ----------
    minimum
        Seconds that a compute must last to be shown at all, 0 by default.
    width
        Characters of the bar itself, 40 by default.
    dt
        Seconds between updates: by default 0.1 on a terminal and in a notebook, 10 elsewhere.
    out
        Where to write, such as ``sys.stderr``. By default ``sys.stdout``, and in a notebook a widget.
    logger
        A logger that gets whole lines, at level INFO, instead.

    Raises
    ------
    OptionError
        If a value cannot work.

    Notes
    -----
    ``last_duration`` is the seconds that the last compute took. Computes that run at the same time share a
    bar. It has no hook per task, and writes only every `dt` and at the end. To a pipe, a file or a logger it
    writes whole lines: of computes that take a second one at the start, then one every `dt`, and one at the
    end. In a block with a label the bar has it. On a terminal it makes way for log records.

    Examples
    --------
    >>> import dask
    >>> with ProgressBar() as pbar:  # doctest: +SKIP
    ...     dask.get({"x": (abs, -1)}, "x")
    [########################################] | 100% Completed | 102.3 us
    """

    # Dask's own flushes at each task.
    _pretask = None  # type: ignore[assignment]  # no hook

    def __init__(
        self,
        minimum: float = 0,
        width: int = 40,
        dt: float | None = None,
        out: Any = None,
        *,
        logger: logging.Logger | None = None,
    ) -> None:
        if type(width) is not int or not 0 <= width <= _MAX_WIDTH:
            raise OptionError(f"width must be a number of characters from 0 to {_MAX_WIDTH:,}, got {width!r}")
        if out is not None and not hasattr(out, "write"):
            raise OptionError(f"out must be a stream to write to, such as sys.stderr, got {out!r:.80}")
        if logger is not None and not hasattr(logger, "info"):
            raise OptionError(f"logger must be a logger of the module logging, got {logger!r:.80}")
        self._minimum = _checked("minimum", minimum, lowest=0.0)
        self._dt = None if dt is None else _checked("dt", dt, lowest=1e-3)
        self._width = width
        self.shows_widget = out is None and logger is None and in_kernel()
        # Without a console, as in a window application on Windows, there is no stdout.
        self._text = TextBar(out or sys.stdout, terminal_dt=_DT, dt=self._dt, logger=logger)
        self.last_duration: float = 0.0  # type: ignore[assignment]  # Dask's begins with 0
        self._timer = threading.Thread()
        self._owners: set[object] = set()
        # Called at the end of each compute, whatever other callbacks raise there.
        self._at_end = (None, None, None, None, self._finish)
        self._on_clusters = _ClusterComputes(self)
        self._lock = threading.RLock()
        self._counts: dict[Hashable, _Counts] = {}
        self._ended = (0, 0)
        self._failed = self._running = False
        self._over = threading.Event()
        self._label = ""
        self._cell: _CellLine | None = None

    def _begin(self, owner: object) -> None:
        if self.shows_widget:
            # A widget shows recorded computes, local ones included.
            current().hold(self, _OPTIONS)
        self._owners.add(owner)
        self._on_clusters.open()
        registration.install(self._at_end)
        registration.register(owner, (self._start, self._start_state, None, None, None))

    def _end(self, owner: object) -> None:
        registration.unregister(owner)
        if self._owners <= {owner}:
            registration.uninstall(self._at_end)
            self._on_clusters.close()
            current().release(self)
        self._owners.discard(owner)

    # Called by Dask's schedulers: these must never raise ---------------------------------------------------

    def _start(self, dsk: Mapping[Any, Any]) -> None:
        self.begin(id(dsk), lambda: (0, 0))

    def _start_state(self, dsk: Mapping[Any, Any], state: Mapping[str, Any]) -> None:
        if id(dsk) in self._counts:
            self._counts[id(dsk)] = partial(_state_counts, state)

    def _finish(self, dsk: Mapping[Any, Any], _state: Mapping[str, Any], errored: bool) -> None:  # noqa: FBT001 - Dask calls it so
        self.finish(id(dsk), failed=errored)

    def begin(self, compute: Hashable, counts: _Counts, first_run: int | None = None) -> None:
        """Show a compute, in the bar of running computes or in one of its own."""
        with current().recorder.guard("the progress bar"), self._lock:
            is_first = not self._counts
            self._counts[compute] = counts
            if is_first:
                # An interrupt may have kept the bar before from ending.
                self._end_bar()
                self._ended, self._failed = (0, 0), False
                self._label = f"{printable(label, 40)} " if (label := run_label.get()) else ""
                self._over = threading.Event()
                # Given as a callback of one compute it holds no session.
                self._cell = _CellLine(first_run) if self._owners and self.shows_widget else None
                self._began = time.perf_counter()
                self._running = True
                self._text.start()
                if self._cell is None:
                    self._text.watch()
                self._timer = threading.Thread(target=self._redraw, name="taskscope-progress", daemon=True)
                self._timer.start()

    def finish(self, compute: Hashable, *, failed: bool) -> None:
        """End a compute, and the bar with the last one; idempotent."""
        with current().recorder.guard("the progress bar"), self._lock:
            counts = self._counts.pop(compute, None)
            if counts is not None:
                done, total = counts()
                self._ended = (self._ended[0] + done, self._ended[1] + total)
                self._failed |= failed
            if not self._counts:
                self._end_bar()

    def _end_bar(self) -> None:
        if self._running:
            self._running = False
            self._over.set()
            # Its last draw may wait for the lock of a stream that the caller holds.
            self._timer.join(1.0)
            self.last_duration = elapsed = time.perf_counter() - self._began
            # Only the end draws 100 %: the timer may draw when the last compute has just been counted.
            self._draw(self._share() if self._failed else 1.0, elapsed, is_over=True)
            self._text.close()
            self._cell = None

    def _redraw(self) -> None:
        over, bar = self._over, self._text
        while not over.wait(bar.left_s(time.perf_counter())):
            if bar.is_due(time.perf_counter()):
                elapsed_s = time.perf_counter() - self._began
                self._draw(min(self._share(), 0.999), elapsed_s, state=self._live_state())

    def _live_state(self) -> str:
        """Return what keeps the computes on clusters from going on, in words."""
        recorder = current().recorder
        runs = [found for run in self._on_clusters.shown for found in recorder.runs(run, run)]
        return next(iter(live_states(recorder, runs, recorder.now_s()).values()), "") if runs else ""

    def _share(self) -> float:
        counts = [self._ended, *(count() for count in list(self._counts.values()))]
        done, total = (sum(part) for part in zip(*counts, strict=True))
        return done / total if total else 0.0

    def _draw(self, frac: float, elapsed: float, *, is_over: bool = False, state: str = "") -> None:
        if elapsed < self._minimum:
            return
        bar = f"{'#' * int(self._width * frac):<{self._width}}"
        done = f"{int(100 * frac)}% Completed | {format_time(elapsed)}{state and f' | {state}'}"
        text = f"{self._label}[{bar}] | {done}"
        if self._cell is not None:
            with Guard("the progress bar", self._stop_showing):
                self._cell.draw(text, is_over=is_over)
        elif is_over:
            self._text.end(text)
        else:
            self._text.draw(text)

    def _stop_showing(self, _where: str, error: BaseException) -> None:
        self._cell = None
        _log.warning("the progress bar stopped, because it could not be shown: %s", error)


class _CellLine:
    """The bar of one burst of computes under the cell that started it: a widget, and text at the end."""

    def __init__(self, first_run: int | None) -> None:
        from taskscope.jupyter.feed import current as current_feed
        from taskscope.jupyter.widgets.output import WidgetOutput

        feed = current_feed()
        feed.open()
        self._first_run = feed.session.recorder.next_run if first_run is None else first_run
        # The cell of an output is part of a thread's context, and this one is the cell's.
        self._context = copy_context()
        self._output = WidgetOutput(feed, self._as_widget, self._as_text, moves=True)
        self._text, self._is_shown = "", False
        self._widget: ProgressWidget | None = None

    def draw(self, text: str, *, is_over: bool) -> None:
        """Show the widget; at the end leave text in its place, or print a line if there is none."""
        self._text = text
        if is_over:
            self._end()
        elif not self._is_shown:
            self._is_shown = True
            self._context.run(self._output.start)

    def _end(self) -> None:
        try:
            if self._is_shown:
                self._output.finish(self._as_text())
            else:
                print(self._text)  # noqa: T201 - front ends group printed lines, so many are cheap
        finally:
            if self._widget is not None:
                self._widget.close()

    def _as_widget(self) -> dict[str, Any]:
        from taskscope.jupyter.widgets import ProgressWidget
        from taskscope.jupyter.widgets.values import RunRange

        if self._widget is None:
            self._widget = ProgressWidget(window=RunRange(self._first_run))
        bundle: dict[str, Any] = self._widget._repr_mimebundle_()
        return {**bundle, **self._as_text()}

    def _as_text(self) -> dict[str, str]:
        return {"text/plain": self._text}


class _ClusterComputes:
    """Has a bar show the computes of clients: calls that wait until they return, others until they end."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar
        self._runs: dict[int, Call | None] = {}
        """The runs that are shown, and the calls that wait for them."""
        self._notice = ImportNotice(CLIENTS, self._follow)
        self._forget: Callable[[], None] = lambda: None

    @property
    def shown(self) -> list[int]:
        """The runs in the bar."""
        return list(self._runs)

    def open(self) -> None:
        """Watch clients, or wait until there may be some."""
        if may_have_clients():
            self._follow()
        else:
            self._notice.wait()

    def _follow(self) -> None:
        # The session first: it begins the run that is followed here, and may see the import after this.
        session = current()
        session.hold(self._bar, _OPTIONS if self._bar.shows_widget else _OF_CLUSTERS)
        session.cluster.attach()
        session.cluster.followers[self] = None
        self._forget = session.at_compute_end(self._end_what_is_over)

    def close(self) -> None:
        self._notice.cancel()
        current().cluster.followers.pop(self, None)
        self._forget()
        if self._runs:
            current().cluster.settle()
            for run in list(self._runs):
                self._end(run)

    def submitted(self, run: int, call: Call | None) -> None:
        if run not in self._runs:
            self._runs[run] = call
            self._bar.begin(("cluster", run), partial(_run_counts, current().recorder, run), run)

    def returned(self, call: Call, error: BaseException | None) -> None:
        for run in [run for run, waiting in self._runs.items() if waiting is call]:
            self._runs.pop(run)
            self._bar.finish(("cluster", run), failed=error is not None)

    def _end_what_is_over(self) -> None:
        going = current().cluster.computes.going()
        for run in [run for run, call in list(self._runs.items()) if call is None and run not in going]:
            self._end(run)

    def _end(self, run: int) -> None:
        self._runs.pop(run, None)
        recorder = current().recorder
        recorder.pull_all()
        done, total = _run_counts(recorder, run)
        # The tasks of one that goes on need not be known yet.
        is_over = run not in current().cluster.computes.going()
        self._bar.finish(("cluster", run), failed=done < total or not is_over)


def _state_counts(state: Mapping[str, Any]) -> tuple[int, int]:
    """Count by the state of a local scheduler, which is empty where it failed early."""
    done = len(state["finished"]) if state else 0
    return done, done + sum(len(state[part]) for part in ("ready", "waiting", "running") if state)


def _run_counts(recorder: Recorder, run: int) -> tuple[int, int]:
    rows = recorder.progress(run, run)
    return sum(row.finished for row in rows), sum(row.total for row in rows)


def _checked(name: str, value: object, lowest: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not lowest <= value < float("inf"):
        raise OptionError(f"{name} must be a number of seconds, at least {lowest:g}, got {value!r}")
    return float(value)
