"""A file that is written while recording, so that a killed process leaves what it had recorded."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from taskscope.analysis.redaction import Redact
from taskscope.export.native.changes import Changes
from taskscope.export.native.writer import TooLongError
from taskscope.model.forklock import ForkLock
from taskscope.model.recording import RecordedData
from taskscope.record import Recorder
from taskscope.record.pump import Tick

__all__ = ["FileStream"]

_INTERVAL_S = 0.3
"""From one look to the next: what was recorded is in the file after that, a tick of the pump, and writing."""

_JOIN_S = 10.0


class FileStream:
    """Writes what is new at most three times a second while computes run, on a thread of its own.

    Where tasks hold the interpreter's lock it comes later: a killed file was behind by 1.45 s at most.

    Nothing is written of a block whose computes last less than a tenth of a second; the file is made when
    there is something to write. Its owner puts the complete recording into its place at the end.
    """

    def __init__(
        self,
        recorder: Recorder,
        path: Path,
        *,
        first_run: int,
        start_s: float,
        metadata: Mapping[str, object],
        overwrite: bool = False,
        redact: Redact = False,
    ) -> None:
        self._recorder = recorder
        self.path = path
        self._metadata = metadata
        self._overwrite = overwrite
        self.made = False
        """Whether the file is there and of this stream."""
        self._first_run = first_run
        self._start_s = start_s
        self._redact = redact
        self._file: BinaryIO | None = None
        self._changes: Changes | None = None
        self.last_run: int | None = None
        """The last run that belongs to the file; None: all that come."""
        self._thread: threading.Thread | None = None
        self._starting = ForkLock()
        """What keeps the thread from being started while it is being stopped."""
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._pid = os.getpid()

    def tick(self, tick: Tick) -> None:
        """Have something written soon; called on the pump's thread."""
        if os.getpid() != self._pid or not (tick.active or tick.final):
            return
        with self._starting:
            if self._thread is None and tick.active and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="taskscope-file", daemon=True)
                self._thread.start()
        self._wake.set()

    def stop(self) -> None:
        """End the thread and wait for it; the file is left as far as it was written."""
        if os.getpid() != self._pid:
            return
        with self._starting:
            self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_JOIN_S)

    def finish(self, recording: RecordedData) -> bool:
        """Write the rest of what was recorded, and the end, after `stop`; close the file.

        Return whether that could be done; if not, the recording is to be saved whole.
        """
        file, changes = self._file, self._changes
        if file is None or changes is None or os.getpid() != self._pid:
            return False
        try:
            if any(run.run < self._first_run for run in recording.runs):
                # Of computes from before it has no tasks.
                return False
            if not self._is_there(file):
                return False
            changes.finish(recording)
        except Exception as error:  # noqa: BLE001 - it is saved whole then, which says what is wrong
            if not isinstance(error, TooLongError):
                self._recorder.fault(f"finishing {str(self.path)!r}", error)
            return False
        finally:
            self.close()
        return True

    def _is_there(self, file: BinaryIO) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.path.lstat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Leave the file as far as it was written, and have the recorder keep nothing more for it."""
        if os.getpid() != self._pid or (self._thread is not None and self._thread.is_alive()):
            return
        if self._changes is not None:
            self._changes.close()
        if self._file is not None:
            self._file.close()
        self._file = self._changes = None

    def _run(self) -> None:
        try:
            if self._overwrite:
                self.path.unlink(missing_ok=True)
            file = self.path.open("xb")
            self.made = True
            self._write(file)
        except TooLongError as error:
            name = repr(str(self.path))
            self._recorder.warn(f"{name} is not written any more while recording, only at the end: {error}")
        except Exception as error:  # noqa: BLE001 - a full disk must not end the recording
            self._recorder.fault(f"writing {str(self.path)!r} while recording", error)

    def _write(self, file: BinaryIO) -> None:
        changes = Changes(
            self._recorder,
            file,
            first_run=self._first_run,
            start_s=self._start_s,
            metadata=self._metadata,
            redact=self._redact,
        )
        try:
            while not self._stop.is_set():
                self._wake.clear()
                start_s = time.monotonic()
                changes.last_run = self.last_run
                changes.write()
                took_s = time.monotonic() - start_s
                # However slow the disk, the computation has half of the time for itself.
                self._stop.wait(max(_INTERVAL_S - took_s, took_s))
                self._wake.wait()
        except BaseException:
            changes.close()
            file.close()
            raise
        self._file, self._changes = file, changes
