"""Record which task and source line had allocated the memory of the peak, with memray.

memray records the Python stack of each allocation, and has no tasks. So a task is called through two small
functions whose line numbers are the digits of its number, to the base of a thousand.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import count
from operator import attrgetter
from pathlib import Path
from types import FunctionType
from typing import Any, TypeAlias

from taskscope.errors import MissingDependencyError, required
from taskscope.model.guard import Guard
from taskscope.model.keys import key_text, split_key
from taskscope.model.source_lines import file_of, is_of_library
from taskscope.model.tables.process import PeakLine
from taskscope.record import Recorder
from taskscope.sources.local.lines import MeteredTask

_Frame: TypeAlias = tuple[str, str, int]
"""Function, file, line."""
_Place: TypeAlias = tuple[int | None, str | None, str | None, int | None]
"""The number of a task, file, function, line."""
_Caller: TypeAlias = Callable[..., Any]

_NOT_RECORDED = "memory is not recorded by task and line"
_THOUSANDS, _ONES = "<taskscope: thousands>", "<taskscope: task>"
_BASE = 1000
_MAX_TASKS = _BASE * _BASE
_MAX_ROWS = 20_000
_COMPLETE = 0.99
_OURS = str(Path(__file__).parents[2])


def check_memory() -> None:
    """Raise where memory cannot be recorded by task and line.

    Raises
    ------
    MissingDependencyError
        If memray is not there, or not for this platform.
    """
    if sys.platform == "win32":
        raise MissingDependencyError("memory=True needs memray, which there is for Linux and macOS only")
    with required("memory=True", "memray", "'taskscope[memory]'"):
        import memray  # noqa: F401


class MemorySource:
    """Records the lines of the peak while a block needs them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._tracking: _Tracking | None = None
        self._n_wanting = 0

    @property
    def is_recording(self) -> bool:
        return self._tracking is not None

    @property
    def natives(self) -> frozenset[int]:
        """Kernel ids of the threads of memray while it records."""
        return frozenset() if self._tracking is None else self._tracking.natives

    def want(self, n_wanting: int) -> None:
        if n_wanting or self._n_wanting or self._tracking is not None:
            self._want(n_wanting, _why_not())

    def _want(self, n_wanting: int, why_not: str | None) -> None:
        before, self._n_wanting = self._n_wanting, n_wanting
        # Errors of memray, or a full disk.
        with Guard("memray", lambda _where, error: self.refuse("%s", error)):
            if n_wanting > max(before, 1):
                self._recorder.warn(
                    f"{_NOT_RECORDED} for each of several blocks: the one that ends last has it"
                )
            if n_wanting and not before:
                self._start(why_not)
            elif not n_wanting:
                self._stop()

    def _start(self, why_not: str | None) -> None:
        if why_not is None:
            self._tracking = _Tracking.begun()
        else:
            self.refuse(why_not, at_start=True)

    def _stop(self) -> None:
        tracking, self._tracking = self._tracking, None
        if tracking is not None:
            self._recorder.peak_lines.add(tracking.ended().rows)

    def refuse(self, why: str, *names: object, at_start: bool = False) -> None:
        self._recorder.messages_log.refuse(f"{_NOT_RECORDED}: {why}", *names, at_start=at_start)

    def forget(self) -> None:
        tracking, self._tracking, self._n_wanting = self._tracking, None, 0
        if tracking is not None:
            tracking.left_behind()

    def calls_as(self, run: int, key: object) -> _Caller | None:
        """Return what calls a function with two values, so that stacks name the task; None: nothing does."""
        tracking = self._tracking
        with self._recorder.guard("recording memory"):
            return None if tracking is None else tracking.numbered(run, key)
        return None


def _why_not() -> str | None:
    """Return what keeps memray from recording in this thread."""
    hook = threading.getprofile()
    if str(getattr(hook, "__module__", "")).startswith("memray"):
        return "memray records already in this process, which can have one recorder of it: end it first"
    if hook is not None or sys.getprofile() is not None:
        return "another profiler is running, which memray would stop: end it first"
    return None


class NumberedTask(MeteredTask):
    """A task that is seen in stacks while memory is recorded."""

    __slots__ = ()

    def __call__(self, values: object = ()) -> object:
        memory = self.log.memory
        call = None if memory is None else memory.calls_as(self.log.run, self.key)
        if call is None:
            return MeteredTask.__call__(self, values)
        return call(MeteredTask.__call__, self, values)


_left_behind: list[object] = []
"""Trackers of a parent process, which must not be ended, not even by being freed, in its children."""


class _Tracking:
    """One tracker of memray, from its begin to its end."""

    def __init__(self, folder: Path, tracker: Any) -> None:  # noqa: ANN401 - memray is optional
        self._folder = folder
        self._tracker = tracker
        self._hook = threading.getprofile()
        self.natives: frozenset[int] = frozenset()
        """Kernel ids of memray's own threads, Linux only."""
        self._numbers = count()
        self._tasks: dict[int, tuple[int, object]] = {}
        self._thousands: dict[int, _Caller] = {}
        self._ones: dict[int, _Caller] = {}
        self._sums: dict[_Place, tuple[int, int]] = {}

    @classmethod
    def begun(cls) -> _Tracking:
        import memray

        folder = Path(tempfile.mkdtemp(prefix="taskscope-memory-"))
        with ExitStack() as unless_begun:
            unless_begun.callback(shutil.rmtree, folder, ignore_errors=True)
            tracker = memray.Tracker(
                destination=memray.FileDestination(folder / "allocations.bin", overwrite=True),
                native_traces=False,
                follow_fork=False,
                # Only the allocations of the peak are written, at the end.
                file_format=memray.FileFormat.AGGREGATED_ALLOCATIONS,
            )
            before = _natives()
            tracking = cls(folder, tracker)
            tracker.__enter__()
            of_python = {thread.native_id for thread in threading.enumerate()}
            tracking.natives = frozenset(_natives() - before - of_python)
            unless_begun.pop_all()
        return tracking

    def ended(self) -> _Tracking:
        """End, with the allocations of the peak."""
        import memray

        try:
            self._tracker.__exit__(None, None, None)
            with memray.FileReader(self._folder / "allocations.bin") as reader:
                self._sums = _by_place(reader.get_high_watermark_allocation_records(merge_threads=True))
                _check_complete(self._sums, reader.metadata.peak_memory)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        return self

    def left_behind(self) -> None:
        """Detach the threads of a forked child from memray; the parent goes on recording."""
        _left_behind.append(self._tracker)
        threading.setprofile(self._hook)

    def numbered(self, run: int, key: object) -> _Caller | None:
        """Return what calls a task so that stacks have its number; None: there were too many."""
        number = next(self._numbers)
        if number >= _MAX_TASKS:
            return None
        self._tasks[number] = run, key
        thousands, ones = divmod(number, _BASE)
        outer = self._thousands.get(thousands)
        if outer is None:
            outer = self._thousands.setdefault(thousands, _calling_at(_THOUSANDS, thousands))
        inner = self._ones.get(ones)
        if inner is None:
            inner = self._ones.setdefault(ones, _calling_at(_ONES, ones))
        return partial(outer, inner)

    def rows(self, peak: int) -> list[PeakLine]:
        """Return the rows of the peak, the largest first, allocations of no task last."""
        of_tasks = [(place, sums) for place, sums in self._sums.items() if place[0] is not None]
        rows = [self._row(peak, place, *sums) for place, sums in of_tasks]
        rows.sort(key=attrgetter("nbytes"), reverse=True)
        others = [sums for place, sums in self._sums.items() if place[0] is None]
        nbytes, n = sum(sums[0] for sums in others), sum(sums[1] for sums in others)
        rest = [PeakLine(peak, None, None, None, None, None, None, nbytes, n)] if nbytes else []
        return [*rows[:_MAX_ROWS], *_without_keys(rows[_MAX_ROWS:]), *rest]

    def _row(self, peak: int, place: _Place, nbytes: int, n_allocations: int) -> PeakLine:
        number, file, function, line = place
        assert number is not None
        run, key = self._tasks[number]
        return PeakLine(
            peak,
            run,
            key_text(key),
            key_text(split_key(key)[1]),
            None if file is None else file_of(key_text(file)),
            None if function is None else key_text(function),
            line,
            nbytes,
            n_allocations,
        )


def _natives() -> set[int]:
    """Return the kernel ids of this process's threads; nothing off Linux."""
    tasks = Path("/proc/self/task")
    return {int(thread.name) for thread in tasks.iterdir()} if tasks.exists() else set()


_call: Callable[..., Any] = lambda function, *values: function(*values)  # noqa: E731 - it must be one line


def _calling_at(file: str, digit: int) -> _Caller:
    """Return a function whose frame has this file, and this number as its line."""
    # Line numbers begin with one. The function stays as long as memray may read its frame.
    code = _call.__code__.replace(co_filename=file, co_name="task", co_firstlineno=digit + 1)
    return FunctionType(code, {})


def _by_place(records: Iterable[Any]) -> dict[_Place, tuple[int, int]]:
    """Return bytes and allocations by task and line."""
    sums: defaultdict[_Place, list[int]] = defaultdict(lambda: [0, 0])
    for record in records:
        each = sums[_place_of(record.stack_trace())]
        each[0] += record.size
        each[1] += record.n_allocations
    return {place: (nbytes, n) for place, (nbytes, n) in sums.items()}


def _check_complete(sums: Mapping[_Place, tuple[int, int]], peak_bytes: int) -> None:
    """Raise where memray, which only prints that, could not write what there was."""
    if sum(nbytes for nbytes, _ in sums.values()) < max(peak_bytes * _COMPLETE, 1):
        raise OSError(f"memray could not write it to {tempfile.gettempdir()!r}: the disk may be full")


def _place_of(stack: Sequence[_Frame]) -> _Place:
    """Return the task of a stack, the innermost call first, and the innermost line of the user's code."""
    depth = next((i for i, frame in enumerate(stack) if frame[1] == _ONES), None)
    if depth is None or depth + 1 >= len(stack) or stack[depth + 1][1] != _THOUSANDS:
        return None, None, None, None
    number = (stack[depth + 1][2] - 1) * _BASE + stack[depth][2] - 1
    frames = [frame for frame in stack[:depth] if not frame[1].startswith(_OURS)]
    own = next((frame for frame in frames if not is_of_library(frame[1])), None)
    function, file, line = own or next(iter(frames), (None, None, None))
    return number, file, function, line


def _without_keys(rows: Iterable[PeakLine]) -> list[PeakLine]:
    """Return rows added up over the tasks of a prefix."""
    sums: dict[PeakLine, list[int]] = {}
    for row in rows:
        each = sums.setdefault(replace(row, key=None, nbytes=0, n_allocations=0), [0, 0])
        each[0] += row.nbytes
        each[1] += row.n_allocations
    return [replace(row, nbytes=nbytes, n_allocations=n) for row, (nbytes, n) in sums.items()]
