"""A profiled block of code, from its start to the last row that arrives after its end.

When a compute on a cluster returns, the scheduler's last records of it arrive within some ten milliseconds as
a rule, within four seconds at the most. A reader of the recording waits for them (`Block.fill`); the block's
own thread does not, nor does it make the recording of very many tasks. Futures that the block has not waited
for, and threads that its cell has started, may compute for hours after that: reading returns the recorded
rows, and `Block.wait` waits.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
from asyncio import CancelledError
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from inspect import cleandoc
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from taskscope.analysis.calls import in_proportion
from taskscope.analysis.clip import clipped
from taskscope.analysis.code_lines import lines_text
from taskscope.analysis.quantities import counted
from taskscope.errors import OptionError, StillRunningError, TaskscopeError
from taskscope.export import FileStream, check_target, save
from taskscope.model.errortext import describe
from taskscope.model.forklock import ForkLock
from taskscope.model.guard import Guard
from taskscope.model.tables.records import Message
from taskscope.options import ProfileOptions, functions_named, parameters_section, takes_options
from taskscope.profiling.output import Output, choose_output
from taskscope.record import Recorder
from taskscope.record.messages import warning
from taskscope.recording import Recording
from taskscope.session import Session, current
from taskscope.sources.cell import current_execution
from taskscope.sources.local.memory import check_memory
from taskscope.sources.local.source import run_label

_log = logging.getLogger("taskscope")

_MANY_TASKS = 50_000
"""With more tasks another thread completes a block."""

_FEW_TASKS = 1_000
"""With at most so many, rows that nothing reads stay as they were appended: about 400 bytes a task."""

_ANSWERS_S = 5.0
"""How long a reader waits: longer than the last records take where nothing holds a scheduler up."""

_Stage: TypeAlias = Literal["open", "closed", "answers", "going", "ending", "over"]
"""`closed` on the block's own thread; `answers` and the later ones on other threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockOptions(ProfileOptions):
    """Options of a profiled block that can work here and now."""

    def __post_init__(self) -> None:
        """Check the values, and that the files can be written."""
        ProfileOptions.__post_init__(self)
        if self.memory:
            check_memory()
        for path in self.files:
            check_target(path, overwrite=self.overwrite)


class Block:
    """A window of the recorder, and its output: nothing in either ever reaches the user's code.

    ``async with`` waits for clusters' schedulers while the caller's event loop goes on, where one may live.
    """

    def __init__(  # noqa: PLR0915 - one line for each attribute
        self,
        options: BlockOptions,
        terminal: Callable[[Session, logging.Logger | None], Output] | None = None,
    ) -> None:
        self.session = current()
        self._terminal = terminal
        self.options = options
        self.first_run = 0
        self.last_run: int | None = None
        """The last compute that belongs to it; None before its end."""
        self._left: Recording | None = None
        """The recording that was returned before it was complete."""
        self._due: Recording | None = None
        """The same, while it has no rows."""
        self.result: Recording | None = None
        """The complete recording; None before."""
        self._unread: Callable[[], Recording] | None = None
        """Makes the fields of `result`, which has none yet."""
        self._has_begun = False
        self._stage: _Stage = "open"
        self._start_s = 0.0
        self._left_s = math.inf
        """When it ended, if its recording was not made then."""
        self._goes_on = False
        """Whether computes of it outlived it."""
        self._ending: dict[str, object] = {}
        self._going_before: dict[int, int] = {}
        """The computes that ran when it began, with the number of their ended tasks."""
        self._going_after: set[int] | None = None
        """The computes that ran when it ended; None before."""
        self._outer_label: tuple[str | None] | None = None
        """The label outside, while the block has its own."""
        self._streams: list[FileStream] = []
        self._output = Output()
        self._callbacks: list[Callable[[Recording], None]] = [self._show_complete]
        self._unsubscribe: Callable[[], None] = lambda: None
        self._answered, self._is_over = threading.Event(), threading.Event()
        self._lock = ForkLock()
        self._pid = os.getpid()

    # From its start to its end ----------------------------------------------------------------------------

    def start(self) -> None:
        """Open the window and show it; even if that fails, the caller calls `leave`, `stop` or `close`."""
        if self._has_begun:
            raise TaskscopeError(f"this {type(self).__name__} was used before; make a new one for each block")
        # Before it is held: futures that a client waits for already become a compute of this block.
        self.first_run = self.session.recorder.open_window()
        self._start_s = self.session.recorder.now_s()
        self._begun_by = (threading.get_ident(), current_execution())
        """The block's thread, and the kernel's request that it runs for."""
        going = self.session.cluster.computes.not_over() | self._in_threads(of_earlier=True)
        self._going_before = {run: self._n_ended(run) for run in going}
        self._has_begun = True
        self.session.hold(self, self.options)
        self.session.sampler.block_started(self, with_client=self.options.stacks)
        self._outer_label = (run_label.get(),)
        run_label.set(self.options.label)
        for path in self.options.files:
            target = Path(path).expanduser()
            if target.suffix.lower() == ".taskscope":
                self._write_while_recording(target)
        with self.session.recorder.guard("showing a block"):
            options = self.options
            output = choose_output(
                self.session, options.panel, self._terminal, display=options.display, logger=options.logger
            )
            output.start(min(going, default=self.first_run))
            self._output = output

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self.close)
            self.start()
            stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.end(error, is_settled=False)
        finally:
            self.close()

    async def __aenter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self.close)
            self.start()
            await self.session.cluster.ready()
            stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.session.cluster.settled()
            self.end(error, is_settled=True)
        finally:
            self.close()

    def end(self, error: BaseException | None, *, is_settled: bool) -> None:
        """End the block of a ``with`` statement."""
        self.leave(error, is_settled=is_settled)

    def leave(self, error: BaseException | None, *, is_settled: bool = False) -> Recording | None:
        """End the block, save, and show the result; None if that failed. Idempotent.

        If a cluster has rows yet to send, or runs computes of it, that happens when all has arrived, and
        `then` of the recording's ``completion`` has the complete one. `is_settled`: schedulers have answered.
        """
        if not self._has_begun:
            return None
        recording: Recording | None = None
        try:
            with self.session.recorder.guard("showing a result"):
                recording = self._left or self.result or self._leave(error, is_settled=is_settled)
        finally:
            self.close()
        return recording

    def _leave(self, error: BaseException | None, *, is_settled: bool) -> Recording:
        self._ending = _ending(error)
        self._leave_label()
        last_run = self.session.recorder.next_run - 1
        if not is_settled and self._may_return():
            self._keep(last_run)
            self._output.keep_place()
            self._left = self._due = Recording.due(self)
            self._begin_completing()
            return self._left
        if not is_settled:
            self.session.cluster.settle()
        if not self._going(last_run):
            if error is None and self._may_be_unread():
                return self._leave_unread(last_run)
            recording = self.stop(error, is_settled=True)
            self.show(recording)
            return recording
        self._keep(last_run)
        recording = self._go_on()
        self._show_lines(recording)
        return recording

    def _may_be_unread(self) -> bool:
        """Return whether its recording can be made by its first reader: nothing changes it until then."""
        shows = self._output.shows or functions_named(self.options.lines) is not None
        if shows or self.options.files or self.options.memory or self._going_before:
            return False
        if self.session.holders != [self]:
            # The rows of later computes may replace its own.
            return False
        runs = self.session.recorder.runs(self.first_run)
        are_over = all(run.status == "finished" and not run.is_on_cluster for run in runs)
        return are_over and sum(run.n_tasks for run in runs) <= _FEW_TASKS

    def _leave_unread(self, last_run: int) -> Recording:
        recorder = self.session.recorder
        self._left_s = recorder.now_s()
        self._unread = partial(self._window_at, recorder, self._left_s, last_run, self._metadata())
        self.result = unread = Recording.due(self)
        return unread

    def _read(self) -> None:
        """Make the recording that was left unread; idempotent."""
        with self._lock:
            if self._unread is not None and self.result is not None:
                self.result.take(replace(self._unread(), now_s=self._left_s))
                self._unread = None

    def _go_on(self) -> Recording:
        """Show the rows there are, and complete the recording when its computes have ended."""
        self._goes_on = True
        self._left = left = self._put(replace(self._window(), completion=self))
        with self.session.recorder.guard("showing a result"):
            self._output.go_on(left, self.last_run)
        self._watch()
        return left

    def stop(self, error: BaseException | None, *, is_settled: bool = False) -> Recording:
        """Close the window and save, without showing anything; idempotent.

        A file that cannot be written is logged and noted in the recording, which is returned all the same.
        """
        self._ending = _ending(error)
        if self.result is None:
            try:
                self.result = self._cut(is_settled=is_settled)
            finally:
                self._close_window()
            self.result = self._saved(self.result)
        return self.result

    def show(self, recording: Recording) -> None:
        """Show the result of a block that was stopped."""
        self._output.finish(recording)
        self._show_lines(recording)

    def end_live_view(self) -> None:
        """Show no more progress; idempotent."""
        with self.session.recorder.guard("showing a result"):
            self._output.close()

    def close(self) -> None:
        """Close the window, if it is open, without saving or showing; idempotent.

        A block that other threads complete is left to them.
        """
        if not self._completes_itself():
            self.end_live_view()
            self._close_window()

    def _completes_itself(self) -> bool:
        """Return whether other threads complete it; if not, it is closed on this one."""
        with self._lock:
            if self._stage == "open":
                self._stage = "closed"
            return self._stage != "closed"

    def _close_window(self) -> None:
        if self._completes_itself():
            return
        self._left = None
        self._all_answered()
        try:
            if self._has_begun and self.result is None:
                self.result = self._interrupted()
        finally:
            self._release()

    def _interrupted(self) -> Recording:
        going = self.session.cluster.computes.going()
        self._ending = _ending(KeyboardInterrupt())
        recording = self._window()
        text = "interrupted before the cluster's last records: tasks may be missing, or shown as running"
        is_whole = going.isdisjoint(run.run for run in recording.runs)
        return recording if is_whole else self._with_warning(recording, text)

    def _may_return(self) -> bool:
        """Return whether the block's thread need not wait for clusters' last records, or for many rows."""
        cluster = self.session.cluster
        if cluster.patience_s is not None:
            # Nor could it: schedulers may need this thread to answer.
            return cluster.owes_answers
        # Lines are shown below the result, now or never; a file has to be there after the block.
        can_wait = self._output.can_wait and functions_named(self.options.lines) is None
        if not can_wait or self.options.files or cluster.owes_answers:
            return can_wait and not self.options.files
        runs = self.session.recorder.runs(self.first_run)
        is_large = sum(run.n_tasks for run in runs) > _MANY_TASKS and not self.options.memory
        return is_large or any(run.is_on_cluster for run in runs)

    def _keep(self, last_run: int) -> None:
        """Hold the session after the end of the block, for computes up to this one."""
        self.last_run = last_run
        for stream in self._streams:
            stream.last_run = last_run
        # A compute whose end is seen later had not ended.
        self._going_after = self.session.cluster.computes.not_over() | self._in_threads(of_earlier=True)
        self._left_s = self.session.recorder.now_s()
        # A block checks its files where it begins; they exist now.
        self.session.hold(self, replace(self.options, save=None))

    # From its end to its last row -------------------------------------------------------------------------

    def _begin_completing(self) -> None:
        """Wait for clusters' last records on a thread."""
        self.session.cluster.awaited.add(self._answered)
        try:
            # Python waits for it at its end: so the cluster is there.
            threading.Thread(target=self._take_answers, name="taskscope-block").start()
        except RuntimeError:
            # While the interpreter shuts down there are no new threads.
            self._take_answers()

    def _take_answers(self) -> None:
        with self._lock:
            if self._stage != "open":
                return
            self._stage = "answers"
        try:
            self.session.cluster.settle_in_background()
            if self._going(self.last_run or 0):
                self._go_on()
            else:
                self._complete(is_settled=True)
        finally:
            self._all_answered()

    def _watch(self) -> None:
        """Complete it when its computes have ended, or Python does."""
        self._answered.set()
        atexit.register(self._end)
        self._unsubscribe = self.session.at_compute_end(self._check)
        self._stage = "going"
        # The last one may have ended before.
        self._check()

    def _check(self) -> None:
        if self._stage == "going" and not self._going(self.last_run or 0):
            # This thread may be a scheduler's, which the recording has to wait for.
            threading.Thread(target=self._end, name="taskscope-block", daemon=True).start()

    def _end(self) -> None:
        with self._lock:
            if self._stage != "going" or os.getpid() != self._pid:
                return
            self._stage = "ending"
        self._unsubscribe()
        atexit.unregister(self._end)
        self._complete(is_settled=False)

    def _complete(self, *, is_settled: bool) -> None:
        recording = None
        with self.session.recorder.guard("completing a recording"):
            try:
                if not is_settled:
                    self.session.cluster.settle_in_background()
                recording = self._cut(is_settled=True)
            finally:
                self._release()
            recording = self._saved(recording)
        recording = self._put(recording or self._window())
        with self._lock:
            self.result = recording
            self._stage = "over"
            callbacks, self._callbacks = self._callbacks, []
        self._answered.set()
        for callback in callbacks:
            with self.session.recorder.guard("showing a result"):
                callback(recording)
        self._is_over.set()

    def _put(self, recording: Recording) -> Recording:
        """Return the recording that was returned without rows, with these in it; else this one."""
        with self._lock:
            due, self._due = self._due, None
            if due is None:
                return recording
            due.take(recording)
        return due

    def _all_answered(self) -> None:
        self._answered.set()
        self.session.cluster.awaited.discard(self._answered)

    def _show_complete(self, recording: Recording) -> None:
        try:
            self._output.finish(recording)
        finally:
            self._output.close()

    def then(self, callback: Callable[[Recording], None]) -> None:
        """Call `callback` with the complete recording, at once if it is."""
        with self._lock:
            if self.result is None:
                self._callbacks.append(callback)
                return
        callback(self.result)

    def fill(self, due: Recording) -> None:
        """Return once `due` has the rows of clusters' last records, or after five seconds those there are."""
        if due is self.result:
            self.session.read_unread()
            # In a forked child the session has forgotten it.
            self._read()
            return
        patience_s = self.session.cluster.patience_s
        self._answered.wait(_ANSWERS_S if patience_s is None else patience_s)
        with self._lock:
            if due is not self._due:
                return
            # The complete recording is another one.
            self._due = None
        due.take(replace(self._window(), completion=self))

    def wait(self, timeout: float | None = None) -> Recording:
        """Return the recording once it is complete; see `taskscope.Recording.wait`."""
        timeout = _checked(timeout)
        if self._left is None:
            # It is complete, or still open: no other thread completes it.
            return self.recording
        if not self._is_over.is_set() and self.session.cluster.run_here:
            raise StillRunningError(
                "the scheduler runs in this thread's event loop, which cannot go on while it is waited for; "
                "write: await asyncio.to_thread(recording.wait)"
            )
        if not self._is_over.wait(timeout):
            if not self._answered.is_set():
                raise StillRunningError(
                    f"after {timeout:g} s, the cluster's last answers are on their way; wait longer"
                )
            n = len(self._going(self.last_run or 0))
            raise StillRunningError(
                f"after {timeout:g} s, computes that still run in the background: {n}; "
                "wait longer, or cancel the futures of a cluster"
            )
        assert self.result is not None
        return self.result

    # Its recording ----------------------------------------------------------------------------------------

    @property
    def ended(self) -> Recording | None:
        """The recording, complete or not; None before the end."""
        return self.result or self._left

    @property
    def recording(self) -> Recording:
        """The recording; inside of the block, and while a cluster computes for it, of the rows there are.

        Raises
        ------
        TaskscopeError
            If the block has not started.
        """
        if self.result is not None:
            return self.result
        if not self._has_begun:
            raise TaskscopeError(f"nothing is recorded yet: write `with {type(self).__name__}() as run: ...`")
        if self._left is not None and self._stage not in {"going", "ending"}:
            return self._left
        self.session.cluster.settle()
        return replace(self._window(), completion=None if self._left is None else self)

    def _cut(self, *, is_settled: bool) -> Recording:
        """Return the recording, once clusters' records of ended computes were read."""
        self._leave_label()
        self._end_streams()
        if not is_settled:
            self.session.cluster.settle()
        if self.options.memory:
            # The allocations at the peak are known once recording them has ended.
            self.session.end_memory(self, replace(self.options, memory=False, save=None))
        return self._window()

    def _saved(self, recording: Recording) -> Recording:
        made = {stream.path for stream in self._streams if stream.made}
        failures: list[BaseException] = []
        for path in self.options.files:
            with Guard("saving", lambda _where, error: failures.append(error)):
                overwrite = self.options.overwrite or Path(path).expanduser() in made
                save(recording, path, overwrite=overwrite, redact=self.options.redact)
        for error in failures:
            recording = self._with_warning(recording, "not saved: %s", error)
            _log.error(recording.messages[-1].text)
        return recording

    def _window(self) -> Recording:
        recorder = self.session.recorder
        last_run = recorder.next_run - 1 if self.last_run is None else self.last_run
        return self._window_at(recorder, recorder.now_s(), last_run, self._metadata())

    def _window_at(
        self, recorder: Recorder, now_s: float, last_run: int, metadata: Mapping[str, object]
    ) -> Recording:
        wall_s = min(self._left_s, now_s) - self._start_s
        earlier = self._earlier_runs(last_run)
        recording = recorder.snapshot(
            min(earlier, default=self.first_run),
            last_run,
            start_s=self._start_s,
            stop_s=now_s,
            metadata={**metadata, "wall_s": wall_s, **self._ending},
        )
        if earlier:
            n_ended = {run: self._going_before[run] for run in earlier}
            recording = clipped(recording, self.first_run, n_ended)
        resources = recording.resources.between(self._start_s, math.inf if self._goes_on else self._left_s)
        messages = (*recording.messages, *self._stuck(last_run))
        recording = replace(recording, resources=resources, messages=messages)
        return Recording.of(in_proportion(recording))

    def _stuck(self, last_run: int) -> list[Message]:
        """Return a warning about tasks that no worker of the cluster can run."""
        recorder = self.session.recorder
        logs = [log for log in recorder.going() if self.first_run <= log.run <= last_run]
        n = sum(state.no_worker for log in logs for state in log.scheduled.values())
        why = "there is none, or none with the requested resources or address"
        text = f"no worker can run {counted(n, 'task')}: {why}"
        return [warning(recorder.now_s(), text)] if n else []

    def _n_ended(self, run: int) -> int:
        return sum(row.ended for row in self.session.recorder.progress(run, run))

    def _going(self, last_run: int) -> set[int]:
        """Return its unfinished computes on clusters and on threads that its cell has started."""
        going = self.session.cluster.computes.going() | self._in_threads(of_earlier=False)
        return {run for run in going if self.first_run <= run <= last_run}

    def _in_threads(self, *, of_earlier: bool) -> set[int]:
        """Return the unfinished computes of other threads, started by its cell or by earlier ones.

        Outside of cells a thread's origin is unknown.
        """
        thread, execution = self._begun_by
        recorder = self.session.recorder
        # Reading runs adds new ones.
        recorder.runs(self.first_run)
        logs = [log for log in recorder.going() if not log.is_held_elsewhere]
        return {
            log.run
            for log in logs
            if None not in (execution, log.execution)
            and log.thread != thread
            and (log.execution != execution) == of_earlier
        }

    def _earlier_runs(self, last_run: int) -> set[int]:
        """Return the computes from before that the block seems to wait for.

        They ran when it began, and ended in it, or it began none of its own.
        """
        if not self._going_before:
            return set()
        runs = self.session.recorder.runs(min(self._going_before), last_run)
        has_own = any(run.run >= self.first_run for run in runs)
        # As their clients saw it: by a cluster's clock they may have ended long before.
        going = self._going_after
        going = {run.run for run in runs if run.stop_s is None} if going is None else going
        return {
            run.run for run in runs if run.run in self._going_before and not (has_own and run.run in going)
        }

    def _metadata(self) -> dict[str, object]:
        return {**self.session.metadata(), "label": self.options.label}

    def _with_warning(self, recording: Recording, words: str, *names: object) -> Recording:
        message = warning(self.session.recorder.now_s(), words, *names)
        return replace(recording, messages=(*recording.messages, message))

    # Opening and closing ----------------------------------------------------------------------------------

    def _write_while_recording(self, path: Path) -> None:
        stream = FileStream(
            self.session.recorder,
            path,
            first_run=self.first_run,
            start_s=self._start_s,
            metadata=self._metadata(),
            overwrite=self.options.overwrite,
            redact=self.options.redact,
        )
        self._streams.append(stream)
        self.session.pump.subscribe(stream.tick)

    def _end_streams(self) -> None:
        for stream in self._streams:
            self.session.pump.unsubscribe(stream.tick)
            stream.stop()

    def _leave_label(self) -> None:
        self.session.sampler.block_stopped(self)
        # Not reset by its token: a cell with await ends in another context than it began in.
        if self._outer_label is not None:
            run_label.set(*self._outer_label)
            self._outer_label = None

    def _release(self) -> None:
        try:
            self._leave_label()
            self._end_streams()
        finally:
            if self._has_begun:
                self.session.recorder.close_window(self.first_run)
            self.session.release(self, None if self._unread is None else self._read)

    def _show_lines(self, recording: Recording) -> None:
        functions = functions_named(self.options.lines)
        if functions is not None:
            self._output.show_text(lines_text(recording, functions))


def _ending(error: BaseException | None) -> dict[str, object]:
    """Return the metadata of a block's end, without the exception, which keeps its frames alive."""
    if error is None:
        return {}
    is_interrupt = isinstance(error, KeyboardInterrupt | CancelledError)
    return {"error": describe(error), "interrupted": is_interrupt}


def _checked(timeout: object) -> float | None:
    if timeout is None or (isinstance(timeout, int | float) and 0 <= timeout <= threading.TIMEOUT_MAX):
        return timeout
    raise OptionError(f"timeout must be seconds, or None to wait for as long as it takes; got {timeout!r}")


class profile(Block):  # noqa: N801 - read as a verb: with taskscope.profile() as run
    """Record every Dask compute of a block, and show it.

    Parameters
    ----------
    {parameters}

    Raises
    ------
    OptionError, FileError
        At once, if an option cannot work or the file could not be written.

    Notes
    -----
    An exception of the block is always raised unchanged. A file that cannot be written at the end is
    logged, and noted in the recording, which stays usable. Computes that other threads start during the block
    are part of it. Blocks may be nested. With an asynchronous client ``async with`` waits, at the beginning
    and at the end, for the scheduler without holding up the event loop; ``with`` may miss its first and last
    tasks.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(label="one", display=False) as run:
    ...     dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    3
    >>> run.recording.runs[0].label
    'one'
    """

    @takes_options(BlockOptions)
    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - typed by the decorator
        super().__init__(BlockOptions(**options))

    def __repr__(self) -> str:
        """Return the summary, or why there is none."""
        if not self._has_begun:
            return "taskscope.profile: not started yet"
        return "taskscope.profile: not finished yet" if self.ended is None else self.ended.summary()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the recording's own view, or why there is none."""
        return {"text/plain": repr(self)} if self.ended is None else self.ended._repr_mimebundle_()


if profile.__doc__:
    # Python 3.13 takes the indentation out of docstrings, older ones do not.
    profile.__doc__ = cleandoc(profile.__doc__).replace("{parameters}", parameters_section())
