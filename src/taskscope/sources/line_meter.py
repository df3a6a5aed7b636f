"""Count and time each line of a few functions, where they run.

On Python 3.12 and later the interpreter reports events of the code of these functions only
(`sys.monitoring`, local events), so other code runs as it did. Only exceptions that leave a function or are
thrown into generators are reported of all code, and these are rare. On 3.11 nothing is counted.

The time of a line is the time from its start to the start of the next line, or to the return. Calls are
included, the meter's own work is not. A line that is started again by its own calls counts once.

This module is imported in other processes, so it imports little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from threading import get_ident
from time import perf_counter, thread_time
from types import CodeType
from typing import Any, Protocol, TypeAlias

HAS_LOCAL_EVENTS = sys.version_info >= (3, 12)
"""Whether lines can be counted without slowing code that was not named."""

SENT_AS_CODE = "<dynamic-code>"
"""The file that functions have which cloudpickle has sent."""

Place: TypeAlias = tuple[str, str, int]
"""A function: its file, its qualified name, the line where it is defined."""
Sought: TypeAlias = tuple[tuple[Place, ...], tuple[str, ...]]
"""Functions as another process can find them: their places, and the names whose place is not known."""
LineSums: TypeAlias = tuple[str, str, int, int, int, float, float, float]
"""File, function, its first line, the line, hits, seconds, CPU seconds, and seconds that counting it took."""

_NAME = "taskscope"
_TOOLS = (3, 4, 5, 2)
"""First the free tool ids, then the profilers'; never those of debuggers and coverage."""
_MOST_SENT = 500
"""Workers have new code of such a function for each task."""


class _Call:
    """A call of a measured function that has not returned."""

    __slots__ = ("began", "booked", "code", "cpu_began", "line", "sums")

    def __init__(self, code: CodeType, sums: dict[int, list[Any]]) -> None:
        self.code = code
        self.sums = sums
        self.line: int | None = None
        self.booked: list[Any] | None = None
        """The sums of that."""
        self.began = self.cpu_began = 0.0
        """When its line began, less the meter's own work before."""


class TaskLines:
    """The calls and sums of a thread in one task."""

    __slots__ = ("calls", "cpu_own", "own", "sums")

    def __init__(self) -> None:
        self.calls: list[_Call] = []
        self.sums: dict[int, tuple[Place, dict[int, list[Any]]]] = {}
        """Hits, seconds and CPU seconds by line, by the identity of the code."""
        self.own = self.cpu_own = 0.0
        """Seconds of the meter's own work."""

    def rows(self) -> list[LineSums]:
        """Return the sums of each line, including one that is being counted."""
        begun = sum(sums[0] for _, lines in self.sums.values() for sums in lines.values())
        each_s = self.own / max(begun, 1)
        return [
            (*place, line, *sums, each_s * sums[0])
            for place, lines in self.sums.values()
            for line, sums in sorted(lines.items())
        ]


class Threads(Protocol):
    """The tasks of threads, by number; a dictionary where threads report their tasks' begin and end."""

    def get(self, ident: int, /) -> TaskLines | None:
        """Return a thread's task; None where it runs none."""

    def clear(self) -> None:
        """Drop the counts of all threads."""


def place_of(code: CodeType) -> Place:
    """Return where a function is defined."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


class LineMeter:
    """Measures lines in the threads that run a task, between `begin` and `end`.

    `fault` is called with errors of the meter, which the user's code never sees; `threads` has the tasks of
    threads, by default those between `begin` and `end`.
    """

    def __init__(
        self,
        fault: Callable[[BaseException], None] = lambda _error: None,
        threads: Threads | None = None,
    ) -> None:
        self._fault = fault
        self._begun: dict[int, TaskLines] = {}
        self._threads = self._begun if threads is None else threads
        # The code objects are kept, so that no other one gets their identity.
        self._measured: dict[int, tuple[CodeType, Place]] = {}
        self._places: dict[tuple[str, int], Place] = {}
        self._names: tuple[str, ...] = ()
        self._tool: int | None = None

    def open(self) -> str | None:
        """Begin; return why that cannot be."""
        if not HAS_LOCAL_EVENTS:
            return "that needs Python 3.12 or later; recording.lines() has sampled ones, which are estimates"
        if self._tool is not None:
            return None
        monitoring = _monitoring()
        for tool in _TOOLS:
            try:
                monitoring.use_tool_id(tool, _NAME)
            except ValueError:
                continue
            self._tool = tool
            for event, callback in self._callbacks().items():
                monitoring.register_callback(tool, event, callback)
            self._follow()
            return None
        used = ", ".join(str(monitoring.get_tool(tool)) for tool in _TOOLS)
        return f"profilers have taken all tool ids of `sys.monitoring` ({used}): end one of them"

    def _callbacks(self) -> dict[int, Callable[..., object]]:
        events = _monitoring().events
        return {
            events.LINE: self._on_line,
            events.PY_START: self._guarded(self._on_start),
            events.PY_RESUME: self._guarded(self._on_resume),
            events.PY_THROW: self._guarded(self._on_throw),
            events.PY_RETURN: self._guarded(self._on_leave),
            events.PY_YIELD: self._guarded(self._on_leave),
            events.PY_UNWIND: self._guarded(self._on_leave),
        }

    def _guarded(self, step: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object) -> object:
            try:
                return step(*arguments)
            except Exception as error:  # noqa: BLE001 - it would be raised in the user's function
                self._fault(error)
                return None

        return run

    def _follow(self) -> None:
        if self._tool is not None:
            events = _monitoring().events
            sought = events.PY_START if self._places or self._names else 0
            _monitoring().set_events(self._tool, events.PY_UNWIND | events.PY_THROW | sought)
            # Events of other functions are no longer reported, neither to the next tool with this id.
            _monitoring().restart_events()

    def _report(self, code: CodeType, *, wanted: bool) -> None:
        if self._tool is not None:
            events = _monitoring().events
            lines = events.LINE | events.PY_START | events.PY_RESUME | events.PY_RETURN | events.PY_YIELD
            _monitoring().set_local_events(self._tool, code, lines if wanted else 0)

    def close(self) -> None:
        """End, and release the tool id; idempotent."""
        if self._tool is not None:
            tool, monitoring = self._tool, _monitoring()
            monitoring.set_events(tool, 0)
            for code, _ in self._measured.values():
                self._report(code, wanted=False)
            for event in self._callbacks():
                monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)
            self._tool = None
        self._places, self._names = {}, ()
        self._measured.clear()
        self._threads.clear()

    def add(self, code: CodeType, place: Place | None = None) -> None:
        """Measure this function, which is defined there."""
        if id(code) not in self._measured:
            self._measured[id(code)] = code, place or place_of(code)
            self._report(code, wanted=True)

    def forget_sent(self, going: Iterable[TaskLines]) -> None:
        """Drop functions that were sent as code and that no running task uses, once there are many."""
        measured = list(self._measured.values())
        sent = [code for code, _ in measured if code.co_filename == SENT_AS_CODE]
        if len(sent) > _MOST_SENT:
            used = {code for task in going for code in list(task.sums)}
            for code in sent:
                if id(code) not in used:
                    self._report(code, wanted=False)
                    self._measured.pop(id(code), None)

    def seek(self, sought: Sought) -> None:
        """Measure these functions once they are called: their code is unknown, or sent anew each time."""
        places, names = sought
        # Other machines have the same file in another folder.
        self._places = {(name, line): (file, name, line) for file, name, line in places}
        self._names = tuple(f".{name}" for name in names)
        self._follow()

    def _is_wanted(self, code: CodeType) -> bool:
        if id(code) in self._measured:
            return True
        place = self._places.get((code.co_qualname, code.co_firstlineno))
        if place is not None and _name_of(code.co_filename) in {_name_of(place[0]), SENT_AS_CODE}:
            self.add(code, place)
            return True
        if self._names and f".{code.co_qualname}".endswith(self._names):
            self.add(code)
            return True
        return False

    def begin(self) -> TaskLines | None:
        """Start counting for a task of this thread; return the outer task's counts, for `end`."""
        ident = get_ident()
        before = self._begun.get(ident)
        self._begun[ident] = TaskLines()
        return before

    def end(self, before: TaskLines | None) -> list[LineSums]:
        """Return the lines of this thread's task."""
        now, cpu = perf_counter(), thread_time()
        ident = get_ident()
        thread = self._begun.pop(ident, None)
        if before is not None:
            self._begun[ident] = before
        if thread is None:
            return []
        while thread.calls:
            _book(thread, thread.calls[-1], now, cpu)
            thread.calls.pop()
        return thread.rows()

    # Called by the interpreter ----------------------------------------------------------------------------

    def _on_line(self, code: CodeType, line: int) -> None:
        now, cpu = perf_counter(), thread_time()
        try:
            # It runs for each line: no more calls than these.
            thread = self._threads.get(get_ident())
            if thread is None:
                return
            calls = thread.calls
            if calls and calls[-1].code is code:
                call = calls[-1]
                _book(thread, call, now, cpu)
            else:
                # It was on its way when this began.
                call = self._enter(thread, code)
            call.line = line
            try:
                call.booked = call.sums[line]
            except KeyError:
                call.booked = call.sums[line] = [0, 0.0, 0.0]
            call.booked[0] += 1
            _begin_line(thread, call, now, cpu)
        except Exception as error:  # noqa: BLE001 - runs for each line, in the user's function
            self._fault(error)

    def _on_start(self, code: CodeType, _offset: int) -> object:
        if not self._is_wanted(code):
            return _monitoring().DISABLE
        now, cpu = perf_counter(), thread_time()
        thread = self._threads.get(get_ident())
        if thread is not None:
            _begin_line(thread, self._enter(thread, code), now, cpu)
        return None

    def _on_resume(self, code: CodeType, offset: int) -> None:
        now, cpu = perf_counter(), thread_time()
        thread = self._threads.get(get_ident())
        if thread is None:
            return
        call = self._enter(thread, code)
        # The line that it was in goes on, and is not begun again.
        call.line = _line_at(code, offset)
        call.booked = call.sums.setdefault(call.line, [0, 0.0, 0.0])
        _begin_line(thread, call, now, cpu)

    def _on_throw(self, code: CodeType, offset: int, _error: BaseException) -> None:
        if id(code) in self._measured:
            self._on_resume(code, offset)

    def _on_leave(self, code: CodeType, _offset: int, _value: object) -> None:
        # Exceptions leave functions of others, too.
        if id(code) not in self._measured:
            return
        now, cpu = perf_counter(), thread_time()
        thread = self._threads.get(get_ident())
        if thread is None:
            return
        calls = thread.calls
        if any(call.code is code for call in calls):
            left = None
            while left is not code:
                _book(thread, calls[-1], now, cpu)
                left = calls.pop().code
        thread.own += perf_counter() - now
        thread.cpu_own += thread_time() - cpu

    def _enter(self, thread: TaskLines, code: CodeType) -> _Call:
        known = thread.sums.get(id(code))
        if known is None:
            self._is_wanted(code)
            known = thread.sums[id(code)] = self._measured[id(code)][1], {}
        call = _Call(code, known[1])
        thread.calls.append(call)
        return call


def _begin_line(thread: TaskLines, call: _Call, now: float, cpu: float) -> None:
    """Start the call's line at the end of the meter's own work, which began at `now`."""
    ends, cpu_ends = perf_counter(), thread_time()
    thread.own += ends - now
    thread.cpu_own += cpu_ends - cpu
    call.began, call.cpu_began = ends - thread.own, cpu_ends - thread.cpu_own


def _book(thread: TaskLines, call: _Call, now: float, cpu: float) -> None:
    """Book the time of the line that the innermost call is in."""
    sums = call.booked
    if sums is None or (len(thread.calls) > 1 and _is_again(thread.calls)):
        return
    sums[1] += now - thread.own - call.began
    sums[2] += cpu - thread.cpu_own - call.cpu_began


def _is_again(calls: list[_Call]) -> bool:
    """Return whether the line of the innermost call has called this one."""
    *outer, call = calls
    return any(each.code is call.code and each.line == call.line for each in outer)


def _name_of(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def _line_at(code: CodeType, offset: int) -> int:
    for first, stop, line in code.co_lines():
        if first <= offset < stop:
            return line or code.co_firstlineno
    return code.co_firstlineno


def _monitoring() -> Any:  # noqa: ANN401 - not known to type checkers of 3.11
    return getattr(sys, "monitoring")  # noqa: B009 - the same
