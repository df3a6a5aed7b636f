"""The history: long computes as files of one folder, off unless a person turns it on.

The folder has a bounded size; its oldest files are deleted first. Several kernels may share it.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from taskscope.analysis.quantities import format_bytes
from taskscope.export.saved import notebook_folder
from taskscope.model.forklock import ForkLock, Single
from taskscope.model.guard import Guard
from taskscope.model.tables.records import Run
from taskscope.options import HistoryOptions
from taskscope.record.pump import Tick
from taskscope.session import Session
from taskscope.session import current as current_session

if TYPE_CHECKING:
    from taskscope.export import FileStream
    from taskscope.recording import Recording

_FOLDER = "taskscope-history"
_BOUND_EVERY_S = 1.0
_NAME = re.compile(r".+-(?P<time>\d{8}-\d{6})-(?P<cell>[0-9a-f]{8})[0-9a-f]{4}\.taskscope")
"""The name of a file of the history; other files of its folder are never deleted."""


class History:
    """Writes the long computes of a session to files while it is on.

    A file grows while its compute runs, and is replaced by the complete recording at the end.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._options = HistoryOptions()
        self._folder: Path | None = None
        self._unsubscribe: Callable[[], None] = lambda: None
        self._version = self._next_run = 0
        self._going: dict[int, Run] = {}
        """The computes whose end was not seen."""
        self._streams: dict[int, FileStream] = {}
        """The growing files of the long ones of these."""
        self._bounded_s = -math.inf
        """When old files were last removed to make room for growing ones."""
        self._has_warned = False
        self._completing = threading.Lock()
        self._changing = ForkLock()
        """What keeps a tick from beginning a file while the history is turned off."""

    @property
    def folder(self) -> Path:
        """The folder of the files; while the history is off, the default one."""
        return self._folder or notebook_folder() / _FOLDER

    def turn_on(self, options: HistoryOptions | None = None) -> None:
        """Keep each long compute that has not ended; without options, nothing changes where it is on."""
        if options is None and self._folder is not None:
            return
        self.turn_off()
        self._has_warned = False
        from taskscope.recording import recorded  # noqa: F401 - imported now, not while a compute runs

        self._options = options or HistoryOptions()
        chosen = self._options.folder
        self._folder = self.folder if chosen is None else Path(chosen).expanduser().absolute()
        recorder = self._session.recorder
        self._version, self._next_run = recorder.version, recorder.next_run
        self._going = {run.run: run for run in recorder.runs() if run.stop_s is None}
        self._unsubscribe = self._session.pump.subscribe(self._tick)

    def turn_off(self) -> None:
        """Keep no more computes; the files of unfinished ones are left as far as they were written."""
        with self._changing:
            self._unsubscribe()
            self._folder = None
            streams = list(self._streams.values())
            self._streams.clear()
        for stream in streams:
            stream.stop()

    def before(self, run: Run) -> Recording | None:
        """Return the last kept recording of a compute's cell from before this compute."""
        if run.cell is None or run.cell.startswith("In ["):
            # Each session has an `In [1]`.
            return None
        from taskscope.recording import load

        for path in reversed(history_files(self.folder)):
            found = _NAME.fullmatch(path.name)
            if found and found["cell"] == _checksum(run.cell) and found["time"] < self._time(run):
                return load(path)
        return None

    def _tick(self, tick: Tick) -> None:
        with self._changing:
            if self._folder is not None:
                self._follow(tick)

    def _follow(self, tick: Tick) -> None:
        self._version, changed = self._session.recorder.runs_since(self._version)
        self._going |= {r.run: r for r in changed if r.run >= self._next_run or r.run in self._going}
        self._next_run = max([self._next_run, *(run.run + 1 for run in changed)])
        for number, run in list(self._going.items()):
            took_s = (tick.now_s if run.stop_s is None else run.stop_s) - run.start_s
            if number not in self._streams and took_s >= self._options.longer_s:
                self._streams[number] = self._begin(run)
            stream = self._streams.get(number)
            if run.stop_s is None:
                if stream is not None:
                    stream.tick(tick)
                continue
            del self._going[number]
            if stream is not None:
                del self._streams[number]
                _start(self._complete, number, stream)
        if self._streams and tick.now_s >= self._bounded_s + _BOUND_EVERY_S:
            self._bounded_s = tick.now_s
            _start(self._bound)

    def _begin(self, run: Run) -> FileStream:
        from taskscope.export import FileStream

        prompt = "" if run.execution_count is None else f"In-{run.execution_count}"
        name = as_file_name(run.label or "") or prompt or "compute"
        suffix = f"{_checksum(run.cell)}{secrets.token_hex(2)}"
        with suppress(OSError):
            # Opening the file fails, too.
            self.folder.mkdir(parents=True, exist_ok=True)
        stream = FileStream(
            self._session.recorder,
            self.folder / f"{notebook_name()}-{name}-{self._time(run)}-{suffix}.taskscope",
            first_run=run.run,
            start_s=run.start_s,
            metadata={**self._session.metadata(), "label": run.label},
            fault=self._fault,
            most_bytes=self._options.most_bytes,
        )
        stream.last_run = run.run
        return stream

    def _complete(self, number: int, stream: FileStream) -> None:
        """Put the complete recording into the place of the file that grew, and delete the oldest files."""
        from taskscope.recording import recorded

        stream.stop()
        path, most = stream.path, self._options.most_bytes
        with self._completing, Guard("keeping a compute", self._fault):
            self._session.cluster.settle_in_background()
            if runs := self._session.recorder.runs(number, number):
                recorded(self._session, runs).save(path, overwrite=True)
                if path.stat().st_size > most:
                    path.unlink()
                    text = f"a recording larger than the history's {format_bytes(most)} was not kept"
                    self._session.recorder.warn(text)
            _delete_oldest(path.parent, most)

    def _bound(self) -> None:
        with self._completing, Guard("bounding the history", self._fault):
            _delete_oldest(self.folder, self._options.most_bytes)

    def _fault(self, where: str, error: BaseException) -> None:
        """Warn once if the folder cannot be written: each file would fail."""
        if not isinstance(error, OSError):
            self._session.recorder.fault(where, error)
        elif not self._has_warned:
            self._has_warned = True
            self._session.recorder.warn("long computes are not kept: %s", error)

    def _time(self, run: Run) -> str:
        moment = self._session.recorder.date(run.start_s)
        return f"{moment.astimezone():%Y%m%d-%H%M%S}"


def history_files(folder: Path) -> list[Path]:
    """Return the files of a history, oldest first; none where there is no such folder."""
    found: dict[Path, str] = {}
    with suppress(OSError):
        found = {path: match["time"] for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))}
    return sorted(found, key=lambda path: (found[path], path.name))


def notebook_name() -> str:
    """Return the name of the notebook, as a part of files' names."""
    return as_file_name(Path(os.environ.get("JPY_SESSION_NAME", "")).stem) or "dask"


def as_file_name(text: str) -> str:
    """Return a text as a part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", text)[:60].strip("-.")


def _checksum(cell: str | None) -> str:
    return f"{zlib.crc32((cell or '').encode()):08x}"


def _start(target: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=target, args=arguments, name="taskscope-history", daemon=True).start()


def _delete_oldest(folder: Path, most_bytes: float) -> None:
    """Delete the oldest files until the others have at most so many bytes; those that grow stay."""
    from taskscope.export import is_growing

    sizes: dict[Path, int] = {}
    for path in history_files(folder):
        # Another kernel may delete it at the same time.
        with suppress(FileNotFoundError):
            sizes[path] = path.stat().st_size
    n_bytes = sum(sizes.values())
    for path, size in sizes.items():
        if n_bytes > most_bytes:
            with suppress(FileNotFoundError):
                if not is_growing(path):
                    path.unlink()
                    n_bytes -= size


current = Single(lambda: History(current_session())).get
"""Return the history of this process's session, made on the first call."""
