"""Actions of a page on the computes it shows: stop, save, compare, explain, and sample their call stacks.

They run on the thread of the request, the page's subshell. An answer from a third thread would make ipykernel
send the page's next requests to that thread's shell: a comm is received where it last sent.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from taskscope.analysis.quantities import format_count
from taskscope.errors import ExistingFileError
from taskscope.export.saved import notebook_folder
from taskscope.history import History, as_file_name, notebook_name
from taskscope.jupyter.feed.pages import Page
from taskscope.jupyter.feed.requests import BadRequestError, FileFormat
from taskscope.model.errortext import describe
from taskscope.model.forklock import ForkLock
from taskscope.model.recording import RecordedData
from taskscope.model.streams import StopWay
from taskscope.model.tables.records import Run
from taskscope.options import Options
from taskscope.record import RunLog
from taskscope.session import Session

if TYPE_CHECKING:
    from taskscope.recording import Recording

PATIENCE_S = 5.0
"""How long a compute may take to stop before a further request interrupts or cancels it again."""


class Stopping:
    """Stops computes."""

    def __init__(
        self,
        session: Session,
        *,
        execution: Callable[[], str | None],
        clock: Callable[[], float],
        interrupt: Callable[[], None],
        is_waiting: Callable[[], bool],
    ) -> None:
        self._session = session
        self._execution = execution
        self._clock = clock
        self._interrupt = interrupt
        self._is_waiting = is_waiting
        self._asked: dict[int, tuple[StopWay, float]] = {}
        """What was requested last for each compute that has not ended, and when."""

    def ways(self) -> dict[int, StopWay]:
        """Return how each compute of this process that goes on can be stopped, by its number."""
        ways: dict[int, StopWay] = {}
        for log in self._session.recorder.going():
            way = self._way(log)
            if self._is_stopping(log.run, way):
                ways[log.run] = "asked"
            elif way is not None:
                ways[log.run] = way
        return ways

    def stop(self, run: int, asked: StopWay, *, is_heard: bool) -> None:
        """Stop a compute in the way that a page shows; `is_heard`: whether the request arrived at once."""
        ways = {log.run: self._way(log) for log in self._session.recorder.going()}
        way, is_stopping = ways.get(run), run in ways and self._is_stopping(run, ways[run])
        if way is None and not is_stopping:
            raise BadRequestError("it has ended")
        if is_stopping:
            before, at = self._asked[run]
            if way is None or self._clock() - at < PATIENCE_S:
                return
            asked = before
        if way not in (asked, "either"):
            raise BadRequestError("its cell has ended, or runs something else")
        if asked == "cancel":
            self._session.cluster.computes.cancel(run)
        elif not is_heard:
            raise BadRequestError("this kernel gets messages only between cells; interrupt it from the menu")
        elif self._is_of_this_moment(run):
            self._interrupt()
        else:
            raise BadRequestError("its cell runs something else")
        still = {number: before for number, before in self._asked.items() if number in ways}
        self._asked = {**still, run: (asked, self._clock())}

    def _is_stopping(self, run: int, way: StopWay | None) -> bool:
        """Return whether the last request may still end a compute."""
        asked, _ = self._asked.get(run, (None, 0.0))
        return asked is not None and way in (None, asked, "either")

    def _way(self, log: RunLog) -> StopWay | None:
        """Return how to stop a compute; None where only its last records are missing."""
        is_of_main = log.thread == threading.main_thread().ident
        if not log.is_held_elsewhere:
            return "interrupt" if is_of_main else "thread"
        computes = self._session.cluster.computes
        if computes.is_over(log.run):
            return None
        if is_of_main and computes.is_waited_for(log.run):
            return "interrupt"
        return "either" if is_of_main and self._is_of_running_cell(log) else "cancel"

    def _is_of_running_cell(self, log: RunLog) -> bool:
        return log.execution is not None and log.execution == self._execution()

    def _is_of_this_moment(self, run: int) -> bool:
        """Return whether an interrupt of the main thread would reach this compute, or its cell."""
        logs = [log for log in self._session.recorder.going() if log.run == run]
        return any(self._is_of_running_cell(log) for log in logs) or self._is_waiting()


_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")

_MAX_ANSWERS = 8

MAX_PAGE_CHARS = 2_000_000
"""Longest comparison that is sent to a page: the server lets a kernel send some megabytes at a time."""

_MAX_SAME_NAME = 100
_EXTENSIONS: Mapping[FileFormat, str] = {"taskscope": ".taskscope", "html": ".html", "trace": ".pftrace"}


class Keeping:
    """Writes and compares recordings of a session."""

    def __init__(
        self,
        session: Session,
        *,
        history: History | None = None,
        folder: Callable[[], Path] | None = None,
        clock: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._session = session
        self._history = history or History(session)
        self._folder = folder or notebook_folder
        self._clock = clock
        self._saving = ForkLock()
        self._saved: dict[object, Path] = {}
        """The files of ended computes: several menus of a page save the same ones."""

    def save(self, first_run: int, last_run: int | None, format_: FileFormat) -> Path:
        """Write a file, or find the one that was written of the same ended computes, and return its path."""
        with _errors_for_page(self._session), self._saving:
            runs = self._runs(first_run, last_run)
            saved = format_, *runs
            if saved not in self._saved or not self._saved[saved].exists():
                path = self._save(runs, _EXTENSIONS[format_])
                if any(run.stop_s is None for run in runs):
                    return path
                self._saved[saved] = path
                _keep_latest(self._saved)
            return self._saved[saved]

    def _save(self, runs: list[Run], extension: str) -> Path:
        recording = _recording(self._session, runs)
        stem = f"{notebook_name()}-{_name(runs)}-{self._clock():%Y%m%d-%H%M%S}"
        for number in range(1, _MAX_SAME_NAME):
            path = self._folder() / f"{stem}{f'-{number}' if number > 1 else ''}{extension}"
            with suppress(ExistingFileError):
                recording.save(path)
                return path
        raise ExistingFileError(f"cannot write {stem!r}: {_MAX_SAME_NAME - 1} files of that name exist")

    def compare(self, first_run: int, last_run: int | None) -> str:
        """Return a page that compares the computes of a cell with its execution before.

        Where the session has none, the longest compute is compared with the last one of the history.
        """
        from taskscope.recording import compare
        from taskscope.report.comparison import comparison_page

        with _errors_for_page(self._session):
            page = comparison_page(compare(*self._executions(self._runs(first_run, last_run))))
        if len(page) > MAX_PAGE_CHARS:
            raise BadRequestError(
                f"the comparison is too long for the page ({len(page):,} characters);"
                " taskscope.compare(before, after) has it"
            )
        return page

    def story(self, first_run: int, last_run: int | None, key: str) -> list[tuple[str, ...]]:
        """Return when and what happened to a task, in words, line by line."""
        with _errors_for_page(self._session):
            shown = _recording(self._session, self._runs(first_run, last_run)).story(key).shown
            return [*shown.rows] or [("", shown.title)]

    def _runs(self, first_run: int, last_run: int | None) -> list[Run]:
        runs = self._session.recorder.runs(first_run, last_run)
        if not runs:
            raise BadRequestError("none of these computes is still kept: max_tasks was reached")
        return runs

    def _executions(self, shown: list[Run]) -> tuple[Recording, Recording]:
        """Return the recording of a cell's execution before, and of all computes of the shown one."""
        of_cells = {(run.cell, run.execution_count) for run in shown}
        cell, count = next(iter(of_cells))
        if len(of_cells) > 1 or cell is None or count is None:
            raise BadRequestError("these computes are not of one cell: show one of them, then compare")
        all_runs = [run for run in self._session.recorder.runs() if run.cell == cell]
        earlier = [run for run in all_runs if run.run < shown[0].run and run.execution_count != count]
        after = [run for run in all_runs if run.execution_count == count]
        if not earlier:
            longest = max(after, key=lambda run: math.inf if run.stop_s is None else run.stop_s - run.start_s)
            if (kept := self._history.before(longest)) is not None:
                return kept, _recording(self._session, [longest])
            raise BadRequestError("this cell has computed only once, as far as is recorded: run it again")
        before = [run for run in earlier if run.execution_count == earlier[-1].execution_count]
        return _recording(self._session, before), _recording(self._session, after)


def _name(runs: list[Run]) -> str:
    """Return the name of computes: their label, their cell's prompt, or "computes"."""
    labels, counts = {run.label for run in runs}, {run.execution_count for run in runs}
    label, count = next(iter(labels)), next(iter(counts))
    if len(labels) == 1 and label and as_file_name(label):
        return as_file_name(label)
    return f"In-{count}" if len(counts) == 1 and count is not None else "computes"


REST = 100.0
"""For how many times the duration of an explanation none is made after it: they take 1 % of a core."""

_PAUSE_S = 1.0
"""How long an answer with samples is returned again: it is made once a second, for any number of pages."""


class Answers:
    """Explanations and sampled call stacks of computes; pages and views of the same computes share them."""

    def __init__(self, session: Session, *, clock: Callable[[], float]) -> None:
        self._session = session
        self._clock = clock
        self._lock = ForkLock()
        self._rests_until_s = float("-inf")
        self._explanations: dict[object, Mapping[str, object]] = {}
        self._profiles: dict[object, tuple[float, Mapping[str, object]]] = {}

    def explain(
        self, first_run: int, last_run: int | None, start_s: float | None = None, stop_s: float | None = None
    ) -> Mapping[str, object]:
        """Return the explanation, why there is none, or after how many seconds to request it again.

        A range of time is in seconds after the recorder's zero.
        """
        runs = self._session.recorder.runs(first_run, last_run)
        reason = _reason_against(runs)
        if reason is not None:
            return {"explanation": None, "reason": reason}
        state = (*((run.run, run.status, run.stop_s) for run in runs), start_s, stop_s)
        with self._lock:
            if state not in self._explanations:
                wait_s = self._rests_until_s - self._clock()
                if wait_s > 0:
                    return {"wait_s": wait_s}
                self._explanations[state] = self._explained(runs, start_s, stop_s)
                _keep_latest(self._explanations)
            return {"explanation": self._explanations[state]}

    def _explained(
        self, runs: list[Run], start_s: float | None, stop_s: float | None
    ) -> Mapping[str, object]:
        from taskscope.analysis.clip import within
        from taskscope.analysis.display.page_tables import explanation_for_page
        from taskscope.analysis.explain.findings import explain

        begun_s = self._clock()
        try:
            with _errors_for_page(self._session):
                recording: RecordedData = _recording(self._session, runs)
                rows_of, zero_s = self._session.recorder.rows_of, recording.zero_s
                if (start_s, stop_s) != (None, None):
                    first_s, last_s = (None if at is None else at - zero_s for at in (start_s, stop_s))
                    recording = within(recording, first_s, last_s)
                return explanation_for_page(recording, explain(recording), rows_of)
        finally:
            ended_s = self._clock()
            self._rests_until_s = ended_s + REST * (ended_s - begun_s)

    def profile(self, page: Page, first_run: int, last_run: int | None) -> Mapping[str, object]:
        """Return the samples of computes as a flame graph has them; stacks are sampled until `page.end()`."""
        from taskscope.report.page import packed_profile

        if not page.at_end:
            self._session.hold(page, Options(stacks=True))
            page.at_end.append(lambda: self._session.release(page))
        with self._lock:
            made_s, answer = self._profiles.pop((first_run, last_run), (-_PAUSE_S, {}))
            if not answer or self._clock() - made_s >= _PAUSE_S:
                stacks = self._session.recorder.stacks.between(first_run, last_run)
                made_s, answer = self._clock(), {"profile": packed_profile(stacks), "note": None}
            self._profiles[first_run, last_run] = made_s, answer
            _keep_latest(self._profiles)
            return answer


def _reason_against(runs: list[Run]) -> str | None:
    """Return why these computes are not explained; None where they are."""
    from taskscope.analysis.summary import MAX_EXPLAINED

    if not runs:
        return "these computes are no longer kept"
    if any(run.status == "running" for run in runs):
        return "these computes still run"
    n_tasks = sum(run.n_tasks for run in runs)
    if n_tasks <= MAX_EXPLAINED:
        return None
    return (
        f"these computes have {format_count(n_tasks)} tasks, a page shows it of at most "
        f"{format_count(MAX_EXPLAINED)}; recording.critical_path() has no such limit"
    )


@contextmanager
def _errors_for_page(session: Session) -> Iterator[None]:
    """Read clusters' last records, and raise any error of the block as one that the page shows."""
    try:
        session.cluster.catch_up()
        yield
    except BadRequestError:
        raise
    except Exception as error:
        raise BadRequestError(describe(error)) from error


def _recording(session: Session, runs: list[Run]) -> Recording:
    from taskscope.recording import recorded

    return recorded(session, session.recorder.runs(runs[0].run, runs[-1].run))


def _keep_latest(answers: dict[_Key, _Answer]) -> None:
    while len(answers) > _MAX_ANSWERS:
        del answers[next(iter(answers))]
