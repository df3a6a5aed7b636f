"""A file that is written while recording, so that a killed process leaves its recorded rows."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO

from taskscope.analysis.quantities import format_duration
from taskscope.model.forklock import ForkLock
from taskscope.model.guard import Guard
from taskscope.model.redaction import Redaction
from taskscope.record import Recorder
from taskscope.record.pump import Tick
from taskscope.wire.stream import NewRows
from taskscope.wire.writer import FrameWriter, TooLongError

if sys.platform != "win32":
    import fcntl

_INTERVAL_S = 0.3
"""The pause between two writes: a row is in the file after this, a tick of the pump, and writing."""

_JOIN_S = 10.0

_QUIET_S = 60.0
"""After so long without a write a file does not grow, where the file system has no locks."""


def is_growing(path: Path) -> bool:
    """Return whether a process writes to a file while it records: the system releases a killed one's lock."""
    try:
        if sys.platform == "win32":
            # An open file has its name until it is closed.
            path.rename(path)
        else:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:
        return time.time() < path.stat().st_mtime + _QUIET_S
    return False


def _lock(file: BinaryIO) -> None:
    """Lock a file that grows until it is closed."""
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_SH)


class FileStream:
    """Writes new rows at most three times a second while computes run, on a thread of its own.

    Where tasks hold the interpreter's lock it is written later: a killed file was behind by 1.45 s at most.

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
        redact: bool = False,
        fault: Callable[[str, BaseException], None] | None = None,
        most_bytes: float = math.inf,
    ) -> None:
        self._recorder = recorder
        self._fault = fault or recorder.fault
        self._most_bytes = most_bytes
        """The file grows no further once it is larger."""
        self.path = path
        self._metadata = metadata
        self._overwrite = overwrite
        self.made = False
        """Whether the file is there and of this stream."""
        self._first_run = first_run
        self._start_s = start_s
        self._redact = redact
        self.last_run: int | None = None
        """The last run that belongs to the file; None: all that come."""
        self._thread: threading.Thread | None = None
        self._starting = ForkLock()
        """What keeps the thread from being started while it is being stopped."""
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._pid = os.getpid()

    def tick(self, tick: Tick) -> None:
        """Schedule a write; called on the pump's thread."""
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

    def _run(self) -> None:
        with Guard("writing a file while recording", self._fault):
            if self._overwrite:
                self.path.unlink(missing_ok=True)
            file = self.path.open("xb")
            _lock(file)
            self.made = True
            try:
                self._write(file)
            except TooLongError as error:
                most = format_duration(error.args[0])
                self._recorder.warn(
                    "%s is not written any more while recording, only at the end: its times end "
                    f"{most} after taskscope began to record",
                    repr(str(self.path)),
                )

    def _write(self, file: BinaryIO) -> None:
        rows = growing(
            self._recorder,
            file,
            first_run=self._first_run,
            start_s=self._start_s,
            metadata=self._metadata,
            redact=self._redact,
        )
        with closing(rows), file:
            while True:
                # Before the look at the end: whoever brings it about wakes this afterwards.
                self._wake.clear()
                if self._stop.is_set() or file.tell() > self._most_bytes:
                    break
                start_s = time.monotonic()
                rows.last_run = self.last_run
                rows.write()
                took_s = time.monotonic() - start_s
                # However slow the disk, the computation has half of the time for itself.
                self._stop.wait(max(_INTERVAL_S - took_s, took_s))
                self._wake.wait()


def growing(
    recorder: Recorder,
    file: BinaryIO,
    *,
    first_run: int,
    start_s: float,
    metadata: Mapping[str, object],
    redact: bool = False,
) -> NewRows:
    """Return what writes the new rows of a recorder to a file."""
    redaction = Redaction("names" if redact else "credentials")
    writer = FrameWriter.of_file(file, recorder.date(start_s), start_s, now_s=start_s)
    writer.add_metadata(redaction.metadata(metadata))
    writer.state["cache_unknown"] = True
    return NewRows(recorder, writer, redaction, first_run=first_run, start_s=start_s)
