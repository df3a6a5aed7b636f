"""A progress bar: how far computes are, as text on a terminal or a widget in a notebook."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sized
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from dask.utils import format_time

from taskscope.diagnostics.callback import Callback
from taskscope.errors import OptionError
from taskscope.model.forklock import ForkLock
from taskscope.model.import_notice import ImportNotice
from taskscope.options import Options
from taskscope.record import Recorder
from taskscope.session import current
from taskscope.sources.cell import in_kernel
from taskscope.sources.cluster import CLIENTS, Call, Submission, may_have_clients, release, watch
from taskscope.sources.cluster.adapter import Observer
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.scheduler import is_nested

if TYPE_CHECKING:
    from taskscope.diagnostics.notebook_bar import NotebookBar

__all__ = ["ProgressBar", "Tally", "TextBar", "TextOut", "bar_text", "state_counts"]

_Counts: TypeAlias = Callable[[], tuple[int, int]]
"""How many tasks have finished, and how many there are."""
_OPTIONS = Options(dt="any", metric="any")
_AHEAD = ("ready", "waiting", "running")
_JOIN_S = 1.0
_MAX_WIDTH = 1_000
_log = logging.getLogger("taskscope")


class Tally:
    """The computes that run at the same time, counted as one."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._lock = ForkLock()
        self._counts: dict[int, _Counts] = {}
        self._ended = (0, 0)
        self._failed = False

    def begin(self, compute: int) -> bool:
        """Note that a compute begins; return whether it is the only one."""
        with self._lock:
            if self._pid != os.getpid():
                # A forked child has none of its parent's computes.
                self._pid, self._counts = os.getpid(), {}
            first = not self._counts
            if first:
                self._ended, self._failed = (0, 0), False
            self._counts[compute] = lambda: (0, 0)
            return first

    def watch(self, compute: int, counts: _Counts) -> None:
        if compute in self._counts:
            self._counts[compute] = counts

    def end(self, compute: int, *, failed: bool) -> None:
        """Note that a compute has ended, and forget how it was counted; once more changes nothing."""
        with self._lock:
            counts = self._counts.pop(compute, None)
            if counts is not None:
                done, total = counts()
                self._ended = (self._ended[0] + done, self._ended[1] + total)
                self._failed |= failed

    @property
    def is_empty(self) -> bool:
        return not self._counts

    @property
    def fraction(self) -> float:
        """Finished tasks as a share of all, from 0 to 1; 1 only once all computes have ended well."""
        counts = [self._ended, *(count() for count in list(self._counts.values()))]
        done, total = (sum(part) for part in zip(*counts, strict=True))
        if not self._counts and not self._failed:
            return 1.0
        return min(done / total, 0.999) if total else 0.0


def state_counts(state: Mapping[str, Sized]) -> tuple[int, int]:
    """Count by the state of a local scheduler, which is empty where it failed early."""
    if not state:
        return 0, 0
    done = len(state["finished"])
    return done, done + sum(len(state[part]) for part in _AHEAD)


def _run_counts(recorder: Recorder, run: int) -> tuple[int, int]:
    rows = recorder.progress(run, run)
    return sum(row.finished for row in rows), sum(row.total for row in rows)


class TextOut(Protocol):
    """What a bar is written to."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


def bar_text(fraction: float, elapsed_s: float, width: int) -> str:
    """Return the line, without what ends it.

    Examples
    --------
    >>> bar_text(0.5, 17.12, 10)
    '[#####     ] | 50% Completed | 17.12 s'
    """
    filled = "#" * int(width * fraction)
    return f"[{filled:<{width}}] | {int(100 * fraction)}% Completed | {format_time(elapsed_s)}"


class TextBar:
    """Draws on a terminal every `dt` seconds, from a moment on, while computes last, and at their end."""

    def __init__(
        self, out: TextOut | None, text: Callable[..., str], visible_from_s: float, dt: float
    ) -> None:
        # Without a console, as in a window application on Windows, there is no stdout.
        self._out = out
        self._text = text
        self._visible_from_s = visible_from_s
        self._dt = dt
        self._length = 0
        self._stop = threading.Event()
        self._ended = False
        self.thread = threading.Thread(target=self._run, name="taskscope-progress", daemon=True)

    def start(self) -> None:
        """Draw from now on."""
        self.thread.start()

    def end(self) -> None:
        """Stop drawing, and write the last line; once more changes nothing."""
        self._stop.set()
        # An interrupt may have come before it was started.
        if self.thread.ident is not None:
            self.thread.join(_JOIN_S)
        if not self._ended and time.perf_counter() >= self._visible_from_s:
            self._ended = True
            self._write(f"{self._line(is_over=True)}\n")

    def _run(self) -> None:
        while not self._stop.wait(self._dt):
            if time.perf_counter() >= self._visible_from_s:
                self._write(self._line())

    def _line(self, *, is_over: bool = False) -> str:
        text = self._text(is_over=is_over)
        # A shorter line must cover what a longer one left.
        padded, self._length = f"\r{text:<{self._length}}", len(text)
        return padded

    def _write(self, text: str) -> None:
        if self._out is None:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except Exception as error:  # noqa: BLE001 - whatever the user gave as out must not end the compute
            self._out = None
            _log.warning("the progress bar stopped, because it could not be written: %s", error)


class _ClusterComputes(Observer):
    """Has a bar count the calls of clients that are waited for, on the thread that waits."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar
        self._calls: set[int] = set()
        self._notice = ImportNotice(CLIENTS, self._follow)

    def open(self) -> None:
        """Watch from now on, or from when there may be clients."""
        if may_have_clients():
            self._follow()
        else:
            self._notice.wait()

    def _follow(self) -> None:
        # The session first: it begins the run that is followed here, and may see the import after us.
        session = current()
        session.hold(self._bar, _OPTIONS)
        session.cluster.attach()
        watch(self)

    def close(self) -> None:
        self._notice.cancel()
        release(self)

    def submitted(self, submission: Submission) -> None:
        call, session = submission.call, current()
        run = None if call is None else session.cluster.run_of(call)
        if run is not None and id(call) not in self._calls:
            self._calls.add(id(call))
            self._bar._begin_compute(id(call), run)
            self._bar._tally.watch(id(call), partial(_run_counts, session.recorder, run))

    def returned(self, call: Call, error: BaseException | None) -> None:
        if id(call) in self._calls:
            self._calls.discard(id(call))
            self._bar._end_compute(id(call), failed=error is not None)

    def fault(self, where: str, error: BaseException) -> None:
        current().recorder.fault(where, error)


class ProgressBar(Callback):
    """Shows how far computes are.

    Parameters
    ----------
    minimum
        Seconds that a compute must last to be shown at all, 0 by default.
    width
        Characters of the bar itself, 40 by default.
    dt
        Seconds between updates, 0.1 by default.
    out
        Where to write, such as ``sys.stderr``. By default ``sys.stdout``, and in a notebook a widget.

    Raises
    ------
    OptionError
        If a value cannot work.

    Notes
    -----
    ``last_duration`` is the seconds that the last compute took. Computes that run at the same time share the
    bar. It has no hook per task, holds on to no result, and writes only every `dt` and at the end.

    Examples
    --------
    >>> import dask
    >>> with ProgressBar() as pbar:  # doctest: +SKIP
    ...     dask.get({"x": (abs, -1)}, "x")
    [########################################] | 100% Completed | 102.3 us
    """

    def __init__(
        self, minimum: float = 0, width: int = 40, dt: float = 0.1, out: TextOut | None = None
    ) -> None:
        super().__init__()
        self._minimum_s = _checked("minimum", minimum, lowest=0.0)
        self._dt = _checked("dt", dt, lowest=1e-3)
        if type(width) is not int or not 0 <= width <= _MAX_WIDTH:
            raise OptionError(f"width must be a number of characters from 0 to {_MAX_WIDTH:,}, got {width!r}")
        self._width = width
        self._given_out = out
        self._tally = Tally()
        self._bar: TextBar | NotebookBar | None = None
        """What shows the computes that run."""
        self._timer = threading.Thread()
        self._started = 0.0
        self._owners: set[object] = set()
        self._hooks = self._callback
        self._on_clusters = _ClusterComputes(self)  # type: ignore[abstract]  # what it does not say does nothing
        self.last_duration: float = 0.0

    @property
    def _running(self) -> bool:
        # Tests of dask.diagnostics ask for it by this name.
        return self._bar is not None

    def _register_hooks(self, owner: object) -> None:
        if self._is_for_notebook():
            from taskscope.jupyter.feed import current as current_feed

            # What a widget shows is recorded, also of local computes.
            current().hold(self, _OPTIONS)
            current_feed().open()
        self._owners.add(owner)
        self._on_clusters.open()
        registration.install(self._hooks)

    def _unregister_hooks(self, owner: object) -> None:
        if self._owners <= {owner}:
            registration.uninstall(self._hooks)
            self._on_clusters.close()
            current().release(self)
        self._owners.discard(owner)

    def _is_for_notebook(self) -> bool:
        return self._given_out is None and in_kernel()

    def _new_bar(self, run: int | None) -> TextBar | NotebookBar:
        visible_from_s = self._started + self._minimum_s
        # Given as a callback of one compute it holds no session.
        if self._owners and self._is_for_notebook():
            from taskscope.diagnostics.notebook_bar import NotebookBar

            return NotebookBar(self._text, visible_from_s, run)
        out = sys.stdout if self._given_out is None else self._given_out
        bar = TextBar(out, self._text, visible_from_s, self._dt)
        self._timer = bar.thread
        return bar

    def _text(self, *, is_over: bool = False) -> str:
        # Only the end draws 100 %: the timer's turn may come when the last compute has just been counted.
        fraction = self._tally.fraction if is_over else min(self._tally.fraction, 0.999)
        return bar_text(fraction, time.perf_counter() - self._started, self._width)

    # Called by Dask's schedulers: these must never raise ---------------------------------------------------

    def _start(self, dsk: Mapping[Any, Any]) -> None:
        if not is_nested():
            self._begin_compute(id(dsk))

    def _start_state(self, dsk: Mapping[Any, Any], state: Mapping[str, Any]) -> None:
        self._tally.watch(id(dsk), partial(state_counts, state))

    def _finish(self, dsk: Mapping[Any, Any], _state: Mapping[str, Any], errored: bool) -> None:  # noqa: FBT001 - Dask calls it so
        self._end_compute(id(dsk), failed=errored)

    def _begin_compute(self, compute: int, run: int | None = None) -> None:
        try:
            if self._tally.begin(compute):
                # An interrupt may have kept the one before from ending.
                self._end_bar()
                self._started = time.perf_counter()
                self._bar = self._new_bar(run)
                self._bar.start()
        except Exception as error:  # noqa: BLE001 - a hook that raises would end the user's compute
            current().recorder.fault("the progress bar", error)

    def _end_compute(self, compute: int, *, failed: bool) -> None:
        try:
            self._tally.end(compute, failed=failed)
            # Not only when that was the last one: an interrupt may have come when the last one ended.
            if self._tally.is_empty:
                self._end_bar()
        except Exception as error:  # noqa: BLE001 - see _begin_compute
            current().recorder.fault("the progress bar", error)

    def _end_bar(self) -> None:
        bar = self._bar
        if bar is not None:
            self.last_duration = time.perf_counter() - self._started
            bar.end()
            # Another thread may have begun the next one meanwhile.
            if self._bar is bar:
                self._bar = None


def _checked(name: str, value: object, lowest: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not lowest <= value < float("inf"):
        raise OptionError(f"{name} must be a number of seconds, at least {lowest:g}, got {value!r}")
    return float(value)
