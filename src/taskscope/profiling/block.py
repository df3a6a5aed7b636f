"""One profiled block of code: from its start to the last row that arrives after its end."""

from __future__ import annotations

import functools
import logging
import math
import threading
from asyncio import CancelledError
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from taskscope.analysis.calls.lines import lines_text
from taskscope.analysis.calls.proportion import in_proportion, lacks_profile
from taskscope.analysis.clip import clipped
from taskscope.analysis.quantities import format_count, plural
from taskscope.analysis.redaction import Redaction
from taskscope.export import FileStream, check_target, save
from taskscope.model.errortext import describe
from taskscope.model.tables.records import Message
from taskscope.options import ProfileOptions, functions_named
from taskscope.profiling.background import Background
from taskscope.profiling.cluster_profile import wait_for_profile
from taskscope.profiling.output import Output, Terminal
from taskscope.recording import Recording
from taskscope.session import Session
from taskscope.sources.cell import current_execution, in_kernel
from taskscope.sources.local.memory import check_memory
from taskscope.sources.local.source import run_label

_log = logging.getLogger("taskscope")

_Ending: TypeAlias = Mapping[str, object]
"""What a recording says of how its block ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockOptions(ProfileOptions):
    """Options of a profiled block that can work here and now."""

    def __post_init__(self) -> None:
        """Check the values, and that the files can be written."""
        ProfileOptions.__post_init__(self)
        Redaction.of(self.redact)
        if self.memory:
            check_memory()
        for path in self.files:
            check_target(path, overwrite=self.overwrite)


class Block:
    """A window of the recorder, and where it is shown: nothing in either ever reaches the user's code."""

    def __init__(self, session: Session, options: BlockOptions) -> None:  # noqa: PLR0915 - one line for each attribute
        self.session = session
        self.options = options
        self.first_run = 0
        self.last_run: int | None = None
        """The last compute of it; None before the end."""
        self._left_s = math.inf
        """When it ended, where a cluster went on with computes of it."""
        self._start_s = 0.0
        self._going_before: dict[int, int] = {}
        """The computes that were going on when it began, with how many tasks ended of each."""
        self._going_after: set[int] | None = None
        """Those that were going on when it ended; None before."""
        self._begun_by: tuple[int, str | None] = (0, None)
        """The thread that runs it, and the request by which a kernel does."""
        self.has_begun = False
        """Whether it was started, if only in part."""
        self._outer_label: tuple[str | None] | None = None
        """The label outside, while the block has its own."""
        self.result: Recording | None = None
        """What was recorded; None before the end."""
        self._left: Recording | None = None
        """What was recorded when the block ended, if it was not complete then."""
        self.is_due = False
        """Whether its end did not wait for what clusters have yet to tell."""
        self._ended_s = math.inf
        """When it ended, where clusters are asked after that for what belongs to it."""
        self._background: Background | None = None
        self._streams: list[FileStream] = []
        self._finished: set[Path] = set()
        """The files that were written while recording, and completed."""
        self._output = Output()

    def start(self) -> None:
        """Open the window and show it; whatever comes of it, `leave`, `stop` or `close` has to be called."""
        # Before it is held: what a client waits for already becomes a compute of this block.
        self.first_run = self.session.recorder.next_run
        self._start_s = self.session.recorder.now_s()
        self._begun_by = (threading.get_ident(), current_execution())
        going = self.session.cluster.not_over() | self._in_threads(of_earlier=True)
        self._going_before = {run: self._n_ended(run) for run in going}
        self.has_begun = True
        self.session.hold(self, self.options)
        self.session.sampler.block_started(self, with_client=self.options.stacks)
        self._outer_label = (run_label.get(),)
        run_label.set(self.options.label)
        for path in self.options.files:
            target = Path(path).expanduser()
            if target.suffix.lower() == ".taskscope":
                self._write_while_recording(target)
        with self.session.recorder.guard("showing a block"):
            output = _choose_output(self.options)
            output.start(self)
            self._output = output

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

    @property
    def first_shown(self) -> int:
        """The first compute to show while it lasts: what clusters were going on with is shown, too."""
        return min(self._going_before, default=self.first_run)

    def leave(self, error: BaseException | None, left_s: float | None = None) -> Recording | None:
        """End the block, save, and show the result; None if that failed. Idempotent.

        If a cluster has rows yet to send, or goes on with its computes, that happens when all has arrived,
        and the recording's ``completion`` then has all of it. `left_s` is the number of seconds for which
        schedulers may still be waited for; None where they were not waited for yet.
        """
        if not self.has_begun:
            return None
        recording: Recording | None = None
        try:
            with self.session.recorder.guard("showing a result"):
                recording = self._leave(error, left_s)
                if not self.completes_itself():
                    self._output.finish(recording)
                elif not self.is_due:
                    self._output.go_on(recording)
                self._show_lines(recording)
        finally:
            self.close()
        return recording

    def show(self, recording: Recording) -> None:
        """Show the result of a block that was stopped."""
        self._output.finish(recording)
        self._show_lines(recording)

    def _show_lines(self, recording: Recording) -> None:
        functions = functions_named(self.options.lines)
        if functions is not None:
            self._output.show_text(lines_text(recording, functions))

    def _leave(self, error: BaseException | None, left_s: float | None) -> Recording:
        """End the block, or begin to wait for what completes it."""
        if self._left is not None:
            return self._left
        self._leave_label()
        last_run = self.session.recorder.next_run - 1
        ending = _ending(error)
        so_far, complete = functools.partial(self._window, ending), functools.partial(self._complete, ending)
        self._background = background = Background(
            self.session, lambda: self._going(last_run), so_far, complete, self._output.go_on, self._completed
        )
        background.then(self._show_complete)
        if left_s is None and self._may_return():
            self._go_on(last_run)
            self._ended_s = self._left_s
            self.is_due = True
            self._output.keep_place()
            self._left = recording = Recording.due(background)
            background.begin(recording)
            return recording
        if left_s is None:
            left_s = self.session.cluster.settle()
        if not background.going():
            return self._stop(ending, left_s)
        self._go_on(last_run)
        recording = replace(self._window(ending), completion=background)
        background.start()
        self._left = recording
        return recording

    def _show_complete(self, recording: Recording) -> None:
        try:
            self._output.finish(recording)
        finally:
            self._output.close()

    def _may_return(self) -> bool:
        """Return whether the block's thread need not wait for what clusters have yet to tell."""
        cluster = self.session.cluster
        if cluster.patience_s is not None:
            # Nor could it: they may need it to answer.
            return cluster.owes_answers
        # Lines are shown below the result, now or never.
        can_wait = self._output.can_wait and functions_named(self.options.lines) is None
        # A file is expected to be there after the block.
        if not can_wait or self.options.files:
            return False
        return cluster.owes_answers or self._ran_on_cluster()

    def _ran_on_cluster(self) -> bool:
        # Runs are read on a thread of their own; a block that met no scheduler begins none for it.
        if not self.session.cluster.schedulers.all():
            return False
        runs = self.session.recorder.runs(self.first_run, self.last_run)
        return any(run.is_on_cluster for run in runs)

    def _go_on(self, last_run: int) -> None:
        """Have nothing that is submitted after it be part of the block."""
        self.last_run = last_run
        for stream in self._streams:
            stream.last_run = last_run
        # What is seen to be over later was not when it ended.
        self._going_after = self.session.cluster.not_over() | self._in_threads(of_earlier=True)
        self._left_s = self.session.recorder.now_s()
        # Its files are there by now, or their folder is not: they are checked where a block begins.
        self.session.hold(self, replace(self.options, save=None))

    def _going(self, last_run: int) -> set[int]:
        """Return those of its computes that clusters, or threads that its cell has begun, go on with."""
        going = self.session.cluster.going() | self._in_threads(of_earlier=False)
        return {run for run in going if self.first_run <= run <= last_run}

    def _in_threads(self, *, of_earlier: bool) -> set[int]:
        """Return the computes that other threads than the block's go on with, of its cell or of earlier ones.

        Outside of cells nobody knows who has begun a thread.
        """
        thread, execution = self._begun_by
        recorder = self.session.recorder
        # It lets those in that have just begun.
        recorder.runs(self.first_run)
        logs = [log for log in recorder.going() if not log.is_held_elsewhere]
        return {
            log.run
            for log in logs
            if None not in (execution, log.execution)
            and log.thread != thread
            and (log.execution != execution) == of_earlier
        }

    def _complete(self, ending: _Ending, left_s: float | None) -> Recording:
        """Stop the block, when all that was waited for after it is there."""
        if left_s is None:
            self._ended_s = math.inf
        try:
            try:
                if left_s is None:
                    left_s = self.session.cluster.settle_in_background()
                recording = self._cut(ending, left_s)
            finally:
                self._shut()
            return self._saved(recording)
        except Exception as failure:  # noqa: BLE001 - who waits for it must hear
            self.session.recorder.fault("completing a recording", failure)
            return self._window(ending)

    def _completed(self, recording: Recording) -> None:
        self.result = recording

    def completes_itself(self) -> bool:
        """Return whether it was left, and completes itself; if not, it does not from now on."""
        return self._background is not None and not self._background.withdraw()

    def close(self) -> None:
        """Close the window as it stands, if it is open; nothing is saved or shown. Idempotent.

        A block that was left goes on, and completes itself.
        """
        if not self.completes_itself():
            with self.session.recorder.guard("showing a result"):
                self._output.close()
            self._close_window()

    def _close_window(self) -> None:
        if self.completes_itself():
            return
        self._left = None
        try:
            if self.has_begun and self.result is None:
                self.result = self._as_it_stands()
        finally:
            self._shut()

    def _as_it_stands(self) -> Recording:
        going = self.session.cluster.going()
        recording = self._window(_ending(KeyboardInterrupt()))
        if going.isdisjoint(run.run for run in recording.runs):
            return recording
        text = "interrupted before the cluster's last answers: tasks may be missing here, or shown as running"
        return self._with_warning(recording, text)

    def _shut(self) -> None:
        try:
            self._leave_label()
            self._end_streams()
            for stream in self._streams:
                stream.close()
        finally:
            self.session.release(self)

    def stop(self, error: BaseException | None, left_s: float | None = None) -> Recording:
        """Close the window and save; once more changes nothing.

        A file that cannot be written is logged and noted in the recording, which is returned all the same.
        """
        return self._stop(_ending(error), left_s)

    def _stop(self, ending: _Ending, left_s: float | None) -> Recording:
        if self.result is not None:
            return self.result
        try:
            self.result = self._cut(ending, left_s)
        finally:
            self._close_window()
        self.result = self._saved(self.result)
        return self.result

    def _cut(self, ending: _Ending, left_s: float | None) -> Recording:
        """Return what was recorded, once what has ended on clusters was read."""
        self._leave_label()
        self._end_streams()
        if left_s is None:
            left_s = self.session.cluster.settle()
        if self.options.memory:
            # What was at the peak is known once that is over.
            self.session.end_memory(self, replace(self.options, memory=False, save=None))
        recording = self._window(ending)
        # Who does not answer is not asked for more.
        if self.options.stacks and left_s > 0 and lacks_profile(recording):
            recording = Recording.of(wait_for_profile(recording, left_s))
        # While the recorder has it all: nobody may need that after the block.
        self._finished = {stream.path for stream in self._streams if stream.finish(recording)}
        return recording

    def _saved(self, recording: Recording) -> Recording:
        made = {stream.path for stream in self._streams if stream.made}
        for path in self.options.files:
            target = Path(path).expanduser()
            if target in self._finished:
                continue
            try:
                overwrite = self.options.overwrite or target in made
                save(recording, path, overwrite=overwrite, redact=self.options.redact)
            except Exception as failure:  # noqa: BLE001 - the result of hours must not be lost over a file
                text = f"not saved: {describe(failure)}"
                _log.error(text)
                recording = self._with_warning(recording, text)
        return recording

    @property
    def ended(self) -> Recording | None:
        """What was recorded by its end, or is complete by now; None before the end."""
        return self.result or self._left

    @property
    def recording(self) -> Recording:
        """What was recorded; before the end, and while computes of it go on, what was recorded so far."""
        if self.result is not None:
            return self.result
        background = self._background
        if self._left is not None and background is not None and not background.is_going:
            return self._left
        self.session.cluster.settle()
        return replace(self._window({}), completion=background)

    def _window(self, ending: _Ending) -> Recording:
        recorder = self.session.recorder
        wall_s = min(self._left_s, recorder.now_s()) - self._start_s
        metadata = {**self._metadata(), "wall_s": wall_s, **ending}
        last_run = recorder.next_run - 1 if self.last_run is None else self.last_run
        earlier = self._earlier_runs(last_run)
        recording = recorder.snapshot(
            min(earlier, default=self.first_run),
            last_run,
            start_s=self._start_s,
            stop_s=recorder.now_s(),
            metadata=metadata,
        )
        if earlier:
            n_ended = {run: self._going_before[run] for run in earlier}
            recording = clipped(recording, self.first_run, n_ended)
        resources = recording.resources.between(self._start_s, self._ended_s)
        messages = (*recording.messages, *self._stuck(last_run))
        recording = replace(recording, resources=resources, messages=messages)
        return Recording.of(in_proportion(recording))

    def _stuck(self, last_run: int) -> list[Message]:
        """Return what is to be said of tasks that wait for a worker that may never come."""
        recorder = self.session.recorder
        logs = [log for log in recorder.going() if self.first_run <= log.run <= last_run]
        n = sum(said.no_worker for log in logs for said in log.scheduled.values())
        tasks = f"{format_count(n)} {plural('task', n)}"
        text = f"no worker can run {tasks}: none has the resources or the address asked for, or there is none"
        return [Message(recorder.now_s(), "warning", text)] if n else []

    def _n_ended(self, run: int) -> int:
        progress = self.session.recorder.progress(run, run)
        return sum(prefix.total - prefix.ahead - prefix.running for prefix in progress)

    def _earlier_runs(self, last_run: int) -> set[int]:
        """Return the computes from before that the block seems to wait for."""
        # They were going on when it began, and ended in it, or it began none of its own.
        if not self._going_before:
            return set()
        runs = self.session.recorder.runs(min(self._going_before), last_run)
        has_own = any(run.run >= self.first_run for run in runs)
        # Whether they had ended is as their clients knew: by a cluster's clock they may have, long before.
        going = self._going_after
        going = {run.run for run in runs if run.stop_s is None} if going is None else going
        return {
            run.run for run in runs if run.run in self._going_before and not (has_own and run.run in going)
        }

    def _metadata(self) -> dict[str, object]:
        return {**self.session.metadata(), "label": self.options.label}

    def _with_warning(self, recording: Recording, text: str) -> Recording:
        message = Message(self.session.recorder.now_s(), "warning", text)
        return replace(recording, messages=(*recording.messages, message))


def _ending(error: BaseException | None) -> _Ending:
    """Return it without the exception, whose frames have all that the user's functions had."""
    if error is None:
        return {}
    is_interrupt = isinstance(error, KeyboardInterrupt | CancelledError)
    return {"error": describe(error), "interrupted": is_interrupt}


def _choose_output(options: BlockOptions) -> Output:
    """Return where a block that starts here and now shows itself."""
    if not options.display:
        return Output()
    if not in_kernel():
        return Terminal()
    from taskscope.profiling.cell_output import CellOutput

    return CellOutput(options.panel)
