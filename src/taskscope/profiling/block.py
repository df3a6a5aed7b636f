"""A window of the recorder that opens where a block of code starts and closes where it ends."""

from __future__ import annotations

import logging
from asyncio import CancelledError
from dataclasses import replace
from pathlib import Path

from taskscope.export import FileStream, save
from taskscope.model.errortext import describe
from taskscope.model.records import Message
from taskscope.profiling.cluster_profile import in_proportion, lacks_profile, wait_for_profile
from taskscope.profiling.options import BlockOptions
from taskscope.recording import Recording
from taskscope.session import Session
from taskscope.sources.local.source import run_label

__all__ = ["Block"]

_log = logging.getLogger("taskscope")


class Block:
    """One profiled block."""

    def __init__(self, session: Session, options: BlockOptions) -> None:
        self.session = session
        self.options = options
        self.first_run = 0
        self._start_s = 0.0
        self.has_begun = False
        """Whether it was started, if only in part."""
        self._outer_label: tuple[str | None] | None = None
        """The label outside, while the block has its own."""
        self.result: Recording | None = None
        """What was recorded; None before the end."""
        self._streams: list[FileStream] = []

    def start(self) -> None:
        """Open the window; whatever comes of it, `stop` or `close` has to be called."""
        # Before it is held: what a client waits for already becomes a compute of this block.
        self.first_run = self.session.recorder.next_run
        self._start_s = self.session.recorder.now_s()
        self.has_begun = True
        self.session.hold(self, self.options)
        self._outer_label = (run_label.get(),)
        run_label.set(self.options.label)
        for path in self.options.files:
            target = Path(path).expanduser()
            if target.suffix.lower() == ".taskscope":
                self._write_while_recording(target)

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
        # Not reset by its token: a cell with await ends in another context than it began in.
        if self._outer_label is not None:
            run_label.set(*self._outer_label)
            self._outer_label = None

    def close(self) -> None:
        """Close the window as it stands, if it is open; nothing is saved. Once more changes nothing."""
        self._leave_label()
        self._end_streams()
        try:
            if self.has_begun and self.result is None:
                self.result = self._window(KeyboardInterrupt())
        finally:
            self.session.release(self)

    def stop(self, error: BaseException | None, left_s: float | None = None) -> Recording:
        """Close the window and save; once more changes nothing.

        A file that cannot be written is logged and noted in the recording, which is returned all the same.
        """
        if self.result is not None:
            return self.result
        self._leave_label()
        self._end_streams()
        try:
            if left_s is None:
                left_s = self.session.cluster.settle()
            recording = self._window(error)
            # Who does not answer is not asked for more.
            if self.options.stacks and left_s > 0 and lacks_profile(recording):
                recording = Recording.of(wait_for_profile(recording, left_s))
            self.result = recording
        finally:
            self.close()
        made = {stream.path for stream in self._streams if stream.made}
        for path in self.options.files:
            try:
                own = Path(path).expanduser() in made
                overwrite = self.options.overwrite or own
                save(recording, path, overwrite=overwrite, redact=self.options.redact)
            except Exception as failure:  # noqa: BLE001 - the result of hours must not be lost over a file
                recording = self.result = self._note(recording, describe(failure))
        return recording

    @property
    def recording(self) -> Recording:
        """What was recorded; before the end, what was recorded so far."""
        if self.result is None:
            self.session.cluster.settle()
            return self._window(None)
        return self.result

    def _window(self, error: BaseException | None) -> Recording:
        recorder = self.session.recorder
        metadata = self._metadata()
        if error is not None:
            metadata["error"] = describe(error)
            metadata["interrupted"] = isinstance(error, KeyboardInterrupt | CancelledError)
        last_run = recorder.next_run - 1
        recording = recorder.snapshot(
            self.first_run, last_run, start_s=self._start_s, stop_s=recorder.now_s(), metadata=metadata
        )
        return Recording.of(in_proportion(recording))

    def _metadata(self) -> dict[str, object]:
        return {**self.session.metadata(), "label": self.options.label}

    def _note(self, recording: Recording, failure: str) -> Recording:
        text = f"not saved: {failure}"
        _log.error(text)
        message = Message(self.session.recorder.now_s(), "warning", text)
        return replace(recording, messages=(*recording.messages, message))
