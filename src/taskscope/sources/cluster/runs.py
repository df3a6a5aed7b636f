"""Computes on a cluster: which tasks are one run, and the runs of this process's clients.

A graph of `dask.compute` or ``persist`` is a run. Tasks of ``submit`` and ``map`` from one client, label and
cell are one run together while any of them is unfinished; otherwise a loop that submits would make a run per
task. Threads that submit and wait, and the thread that polls, meet in `Computes`.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Literal, NamedTuple

from taskscope.model.errortext import describe
from taskscope.model.guard import Guard
from taskscope.model.keys import split_key
from taskscope.model.tables.columns import NEEDED, NOT_HELD, SKIPPED
from taskscope.model.tables.records import CLUSTER, ERRED, FINISHED, LOST
from taskscope.record import GraphSource, LaneKey, Recorder, RunLog
from taskscope.sources.cell import Cell, calling_line, current_cell, current_execution
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Call, Submission
from taskscope.sources.local.source import run_label

_MOST_CODES = 1_000
_DONE = ("finished", "error", "cancelled", "lost")


@dataclass(slots=True, eq=False)
class RunTask:
    """A task of a run."""

    status: int | None = None
    """The status of its row that counts; None before it has one, and while it is in flight again."""
    nbytes: float | None = None
    """The size of its result, NaN where unknown; None while it has not finished."""
    need: int = NEEDED
    """Whether it has to run, as a place in `NEEDS`."""
    is_descendant: bool = False
    """Whether a task of the run submitted it, which handles its failure."""


class _Released(NamedTuple):
    """The state of a task when its future was released."""

    status: str
    exception: BaseException | None


class Returned(NamedTuple):
    """A task that a worker does not have any more, without a record of its end."""

    start: float
    place: tuple[str, str]
    seen: float
    lane: LaneKey | None = None
    """The thread that runs it to its end; None: unknown."""


@dataclass(slots=True, eq=False)
class TrackedRun:
    """One run while it goes on."""

    log: RunLog
    client: Any
    call: object
    collects: bool
    wake: Callable[[], None]
    waiting: dict[Hashable, Any] = field(default_factory=dict)
    """The states of requested keys that were not done when they were read last, in the order of requests."""
    tasks: dict[Hashable, RunTask] = field(default_factory=dict)
    """Its tasks, from when their graph arrived."""
    failed: dict[Hashable, str] = field(default_factory=dict)
    given_up: dict[Hashable, bool] = field(default_factory=dict)
    """Requested keys whose futures were released (True) or cancelled, while tasks may still need them."""
    unfinished: set[Hashable] = field(default_factory=set)
    """Cancelled keys that were not needed any more before they had finished."""
    data: set[Hashable] = field(default_factory=set)
    """Results of earlier runs, or scattered data, that its tasks need."""
    functions: dict[object, str | None] = field(default_factory=dict)
    """The user's functions that its tasks call, as in `GraphSource`."""
    codes: set[CodeType] = field(default_factory=set)
    """The code of these functions."""
    coming: set[Hashable] = field(default_factory=set)
    """Requested keys of graphs that have not arrived."""
    n_skipped: int = 0
    waiting_for: dict[str, Counter[str]] = field(default_factory=dict)
    """How many of its tasks no worker has, by prefix and the state that they are in."""
    n_expected: int = 0
    """How many of its graphs are on their way to the scheduler, or back from it."""
    n_attempts: Counter[Hashable] = field(default_factory=Counter)
    """How many attempts of each of its tasks failed and were followed by another."""
    lacks_records: bool = False
    """Whether records of its tasks may be missing: those without one may have run all the same."""
    given_back: dict[Hashable, Returned] = field(default_factory=dict)
    has_released: bool = False
    """Whether futures were released before their tasks had finished."""
    last_stop: float = 0.0
    is_known: bool = False
    answered: float | None = None
    """When it was seen that none of its futures is waited for any more, None before."""
    over: float | None = None
    """When it was over, None before."""
    status: str | None = None
    error: str | None = None
    is_cancelled: bool = False
    """Whether a person had its futures cancelled."""

    __hash__ = object.__hash__

    def note_functions(self, submission: Submission) -> None:
        """Note the user's functions that further tasks call."""
        named = submission.functions.items()
        others = {name: text for name, text in named if self.functions.setdefault(name, text) != text}
        for key in submission.keys if others else ():
            if (name := split_key(key)[0]) in others:
                self.functions[key] = others[name]
        if len(self.codes) < _MOST_CODES:
            self.codes.update(submission.codes)

    def ask(self, states: Mapping[Hashable, Any]) -> None:
        """Wait for these keys, too."""
        self.waiting.update(states)
        self.coming.update(key for key in states if key not in self.tasks)

    def released(self, key: Hashable, state: Any) -> None:
        """Keep what a released future's state was, if its key is waited for: the state changes with that."""
        waited_for: Any = self.waiting.get(key)
        if self.call is None and waited_for is state:
            self.waiting[key] = _Released(state.status, state.exception if state.status == "error" else None)

    def returned(self, now: float, error: BaseException | None) -> None:
        self.over = now
        if isinstance(error, KeyboardInterrupt) or (error is not None and self.is_cancelled):
            self.status = "interrupted"
        else:
            self.status = "finished" if error is None else "erred"
        self.error = None if error is None else describe(error)

    def look(self, now: float) -> None:
        """Check whether the requested keys are done, as far as the first that is not."""
        if self.call is not None or self.answered is not None:
            return
        while self.waiting:
            key: Hashable = next(iter(self.waiting))
            state: Any = self.waiting[key]
            is_released = type(state) is _Released
            status: str = "cancelled" if state is None else state.status
            if status not in _DONE and not is_released:
                return
            # It may have been requested again since.
            if self.waiting[key] is state:
                del self.waiting[key]
            if state is not None and status == "error":
                self.failed.setdefault(key, describe(state.exception))
            elif status != "finished":
                self.given_up[key] = is_released
                self.has_released |= is_released
        self.answered = now
        if not self.given_up:
            self.over = now

    def _count_by(self, key: Hashable, status: int | None) -> None:
        """Count a task by its next row instead of the last one."""
        task = self.tasks[key]
        if task.status is not None:
            self.log.superseded.extend((key, task.status))
        task.status = status
        self.need(key)

    def end_task(self, key: Hashable, nbytes: float, error: str | None) -> bool:
        """Register that a task ended, before its row is recorded; return whether it finished first."""
        self._count_by(key, FINISHED if error is None else ERRED)
        self.failed.pop(key, None)
        if error is not None:
            self.failed[key] = error
            return False
        task = self.tasks[key]
        is_first, task.nbytes = task.nbytes is None, nbytes
        self.given_back.pop(key, None)
        return is_first

    def nbytes(self, key: Hashable) -> float:
        """Return the size of the result of a task, NaN where it is not known."""
        task = self.tasks.get(key)
        return math.nan if task is None or task.nbytes is None else task.nbytes

    def send(self, key: Hashable, place: tuple[str, str], now: float) -> None:
        self.given_back.pop(key, None)
        self._count_by(key, None)
        self.log.sent_to[key] = place
        self.log.submitted.setdefault(key, now)

    def give_back(self, key: Hashable, now: float) -> Returned | None:
        """Note that a worker has a task no more, but is there: the task has ended, or was cancelled.

        Return it where its end was not recorded.
        """
        start = self.log.submitted.pop(key, None)
        place = self.log.sent_to.pop(key, ("", ""))
        if start is None or self.tasks[key].nbytes is not None or key in self.failed:
            return None
        returned = self.given_back[key] = Returned(start, place, now)
        return returned

    def lose(self, key: Hashable, place: tuple[str, str], moment: float, why: str) -> None:
        log, returned = self.log, self.given_back.pop(key, None)
        self._count_by(key, LOST)
        start = log.submitted.setdefault(key, moment if returned is None else returned.start)
        log.sent_to[key] = place
        log.end_unreported(key, max(moment, start), "lost", why)

    def is_seen(self, key: Hashable) -> bool:
        """Return whether a task was seen to run, or to be sent to a worker."""
        return self.tasks[key].nbytes is not None or key in self.failed or self._was_sent(key)

    def _was_sent(self, key: Hashable) -> bool:
        return key in self.log.submitted or key in self.given_back or self.tasks[key].status == LOST

    def skip(self, keys: Iterable[Hashable]) -> None:
        """Register that tasks do not have to run."""
        self._record_need([key for key in keys if key in self.tasks], SKIPPED)

    def need(self, key: Hashable) -> None:
        """Register that a task is to run, or has run."""
        if self.n_skipped and self.tasks[key].need != NEEDED:
            self._record_need([key], NEEDED)

    def _record_need(self, keys: Iterable[Hashable], need: int) -> None:
        for key in keys:
            before = self.tasks[key].need
            if before != need:
                self.tasks[key].need = need
                self.n_skipped += (need == SKIPPED) - (before == SKIPPED)
                self.log.needs.extend((key, need))
        self.count()

    def count(self) -> None:
        self.log.n_tasks = len(self.tasks) + len(self.coming) - self.n_skipped

    @property
    def _failures(self) -> list[str]:
        mine = ((self.tasks.get(key), error) for key, error in self.failed.items())
        return [error for task, error in mine if task is None or not task.is_descendant]

    @property
    def outcome(self) -> str:
        if self.status is not None:
            return self.status
        if self._failures:
            return "erred"
        given_up = [key for key, is_released in self.given_up.items() if not is_released]
        tasks = (self.tasks.get(key) for key in (*self.unfinished, *given_up))
        is_cut = any(task is None or (task.need == NEEDED and task.nbytes is None) for task in tasks)
        return "interrupted" if is_cut else "finished"

    def end(self, now: float, *, is_gone: bool = False) -> None:
        """Record the end of the run, after the last events were read or the scheduler `is_gone`."""
        log, status = self.log, self.outcome
        if not self.lacks_records and status == "finished" and not is_gone:
            self._end_unseen()
        if status == "finished" and (is_gone or self.lacks_records):
            # The client has its results: when its last tasks ended cannot be known any more.
            log.submitted.clear()
            log.sent_to.clear()
        for key in list(log.submitted):
            log.end_unreported(key, now, "interrupted")
        if status == "interrupted":
            self._end_given_back("interrupted")
        elif self.has_released:
            self._end_given_back("released")
        log.n_tasks = len(self.tasks) - self.n_skipped
        log.error = self.error or next(iter(self._failures), None)
        log.status = status
        over = now if self.over is None else self.over
        if self.call is None and self.status is None and status != "interrupted" and self.last_stop:
            # Futures are checked now and then: they were done when the last task was.
            over = min(over, self.last_stop)
        log.stop = max(log.start, over)

    def _end_unseen(self) -> None:
        """Record that the other tasks did not have to run: there are records of all tasks that ran."""
        unseen = [k for k, task in self.tasks.items() if task.need == NEEDED and not self.is_seen(k)]
        self._record_need(unseen, NOT_HELD if self.has_released else SKIPPED)

    def _end_given_back(self, status: Literal["interrupted", "released"]) -> None:
        """Record tasks that were cancelled or released while a worker ran them, which no event contains."""
        log = self.log
        for key, (start, place, seen, lane) in self.given_back.items():
            if key not in self.failed:
                log.submitted[key], log.sent_to[key] = start, place
                log.running_on = log.running_on if lane is None else {key: (lane, start)}
                log.end_unreported(key, seen, status)


def announce(
    run: TrackedRun,
    graph: Mapping[Hashable, Collection[Hashable]],
    kept: Collection[Hashable],
    spans: Mapping[str, str | None] | None = None,
    data: Mapping[Hashable, float] | None = None,
) -> None:
    """Add tasks to a run's graph, the data that they need, and spans of groups; known keys are left out."""
    new = {key: needed for key, needed in graph.items() if key not in run.tasks}
    run.tasks.update((key, RunTask()) for key in new)
    sizes = {key: size for key, size in (data or {}).items() if key not in run.tasks and key not in run.data}
    announced = {key: needed for key, needed in new.items() if key not in run.data}
    run.data.update(sizes)
    requested = frozenset(key for key in kept if key in announced)
    source = GraphSource(
        {**announced, **dict.fromkeys(sizes, ())},
        requested,
        sizes,
        grows=True,
        spans=spans or {},
        functions=run.functions,
    )
    run.coming.difference_update(new)
    run.count()
    if not run.is_known:
        run.is_known = True
        run.log.graph_source = source
    elif source.dependencies:
        run.log.graph_growth.append(source)


class Origin(NamedTuple):
    """Where work is submitted: label, cell and line of the submitting thread."""

    label: str | None
    cell: Cell
    execution: str | None
    thread: int
    line: str | None

    @classmethod
    def here(cls, guard: Guard) -> Origin:
        """Return that of this thread; what cannot be observed of it is unknown."""
        cell = guard.value(current_cell, Cell(None, None, None))
        execution, line = guard.value(current_execution, None), guard.value(calling_line, None)
        return cls(run_label.get(), cell, execution, threading.get_ident(), line)


class Computes:
    """The runs of this process's clients: which there are, and which are over for their users."""

    def __init__(self, recorder: Recorder, on_stop: Callable[[object], None]) -> None:
        self._recorder = recorder
        self._on_stop = on_stop
        self._lock = threading.Lock()
        """Held while it is decided whether a run has been answered."""
        self._joinable: dict[tuple[Hashable, ...], TrackedRun] = {}
        self._calls: dict[int, list[TrackedRun]] = {}
        self.n_returned = 0
        """How many waiting calls have returned."""
        self._n_handed_over = 0
        """How many calls are handing work to a scheduler."""
        self._going: set[TrackedRun] = set()

    def handing_over(self) -> None:
        """Register that a client is about to submit work, or to retry what failed."""
        with self._lock:
            self._n_handed_over += 1

    def handed_over(self) -> None:
        with self._lock:
            # An observer that was added in between did not see the call's begin.
            self._n_handed_over = max(self._n_handed_over - 1, 0)

    def part(self) -> None:
        with self._lock:
            self._joinable.clear()

    def going(self) -> set[int]:
        with self._lock:
            return {run.log.run for run in self._going}

    def is_waited_for(self, number: int) -> bool:
        with self._lock:
            return any(run.call is not None and run.over is None for run in self._numbered(number))

    def is_over(self, number: int) -> bool:
        """Return whether a run has ended for its user, and only its last records are missing."""
        with self._lock:
            return any(run.over is not None for run in self._numbered(number))

    def cancel(self, number: int) -> None:
        """Cancel the futures of a run that have not finished; nothing where it has ended."""
        with self._lock:
            for run in self._numbered(number):
                run.is_cancelled = True
                adapter.cancel(run.client, list(run.waiting))

    def _numbered(self, number: int) -> list[TrackedRun]:
        return [run for run in self._going if run.log.run == number]

    def not_over(self) -> set[int]:
        now = self._recorder.clock.perf_counter()
        with self._lock:
            for run in self._going:
                run.look(now)
            going = {run.log.run: run.over for run in self._going}
        return {number for number, over in going.items() if over is None}

    def is_submitting(self) -> bool:
        return self._n_handed_over > 0

    def take(
        self, submission: Submission, origin: Origin, n_threads: int | None, wake: Callable[[], None]
    ) -> tuple[TrackedRun, bool]:
        """Return the run that a submission is part of, and whether it begins it."""
        place = (id(submission.client), origin.label, origin.cell)
        states = adapter.future_states(submission.client, submission.keys)
        with self._lock:
            run = self._joinable.get(place) if _is_joining(submission) else None
            if run is not None:
                run.look(self._recorder.clock.perf_counter())
            is_new = run is None or run.answered is not None or run.over is not None
            if run is None or is_new:
                log = self._recorder.begin()
                log.label, log.scheduler, log.is_held_elsewhere = origin.label, CLUSTER, True
                log.cell, log.execution_count, log.source_crc = origin.cell
                log.execution, log.thread, log.called_from = origin.execution, origin.thread, origin.line
                log.n_workers = n_threads
                run = TrackedRun(log, submission.client, submission.call, submission.single, wake)
                log.before |= submission.before
                if submission.is_retry:
                    # The scheduler's events may precede this call.
                    log.start = min(log.start, submission.began)
                if submission.single:
                    self._joinable[place] = run
                if submission.call is not None:
                    self._calls.setdefault(id(submission.call), []).append(run)
            self._going.add(run)
            with self._recorder.guard("the functions of a graph"):
                run.note_functions(submission)
            run.log.note_graph(submission.graph_bytes, submission.largest_argument)
            if submission.is_retry:
                for key in states:
                    run.failed.pop(key, None)
            run.ask(states)
            # A widget may show this before the scheduler is read next.
            run.count()
        return run, is_new

    def released(self, key: Hashable, state: Any) -> None:
        """Register that a future was released; takes no lock, on the client's event loop."""
        for run in tuple(self._going):
            run.released(key, state)

    def returned(self, call: Call, error: BaseException | None) -> None:
        now = self._recorder.clock.perf_counter()
        with self._lock:
            runs = self._calls.get(id(call), [])
            self.n_returned += bool(runs)
            for run in runs:
                run.returned(now, error)
        for run in runs:
            run.wake()
        self._calls.pop(id(call), None)

    def look(self, runs: Sequence[TrackedRun]) -> None:
        now = self._recorder.clock.perf_counter()
        with self._lock:
            for run in runs:
                run.look(now)

    def ended(self, run: TrackedRun) -> None:
        """Forget a run that has ended, and report that."""
        with self._lock:
            self._joinable = {place: other for place, other in self._joinable.items() if other is not run}
            self._going.discard(run)
        with self._recorder.guard("the end of a compute"):
            self._on_stop(run.log)

    def clear(self) -> None:
        with self._lock:
            self._joinable.clear()
            self._calls.clear()
            self._going.clear()
            self._n_handed_over = 0


def _is_joining(submission: Submission) -> bool:
    return submission.single and submission.call is None
