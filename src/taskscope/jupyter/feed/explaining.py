"""Tells pages why the computes that they show took as long as they did, once these have ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from taskscope.analysis.display.page_explanation import explanation_for_page
from taskscope.analysis.explain.findings import explain
from taskscope.analysis.quantities import format_count
from taskscope.analysis.summary import MAX_EXPLAINED
from taskscope.jupyter.feed.verbs import BadRequestError
from taskscope.model.errortext import describe
from taskscope.model.forklock import ForkLock
from taskscope.model.tables.records import Run
from taskscope.recording import recorded
from taskscope.session import Session

REST = 100.0
"""How many times as long as an answer took nothing is worked out after it, so that it takes 1 % of a core."""

_MAX_ANSWERS = 8


class Explaining:
    """Explains computes of a session, on the thread that asks, which is the page's subshell."""

    def __init__(self, session: Session, *, clock: Callable[[], float]) -> None:
        self._session = session
        self._clock = clock
        self._lock = ForkLock()
        self._rests_until_s = float("-inf")
        self._answers: dict[object, Mapping[str, object]] = {}

    def explain(self, first_run: int, last_run: int | None) -> Mapping[str, object]:
        """Return the explanation, why there is none to give, or in how many seconds to ask again."""
        runs = self._session.recorder.runs(first_run, last_run)
        reason = _reason_against(runs)
        if reason is not None:
            return {"explanation": None, "reason": reason}
        asked = tuple((run.run, run.status, run.stop_s) for run in runs)
        # Pages and views that ask for the same share the answer.
        with self._lock:
            if asked not in self._answers:
                wait_s = self._rests_until_s - self._clock()
                if wait_s > 0:
                    return {"wait_s": wait_s}
                self._remember(asked, self._explained(runs))
            return {"explanation": self._answers[asked]}

    def _remember(self, asked: object, answer: Mapping[str, object]) -> None:
        self._answers[asked] = answer
        while len(self._answers) > _MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]

    def _explained(self, runs: list[Run]) -> Mapping[str, object]:
        try:
            self._session.cluster.catch_up()
            begun_s = self._clock()
            try:
                between = self._session.recorder.runs(runs[0].run, runs[-1].run)
                recording = recorded(self._session, between)
                rows_of = self._session.recorder.rows_of
                return explanation_for_page(recording, explain(recording), rows_of)
            finally:
                ended_s = self._clock()
                self._rests_until_s = ended_s + REST * (ended_s - begun_s)
        except Exception as error:  # whatever it is, the page is told, and shows nothing
            raise BadRequestError(describe(error)) from error


def _reason_against(runs: list[Run]) -> str | None:
    """Return why these computes are not explained; None where they are."""
    if not runs:
        return "these computes are no longer kept"
    if any(run.status == "running" for run in runs):
        return "these computes still run"
    n_tasks = sum(run.n_tasks for run in runs)
    if n_tasks > MAX_EXPLAINED:
        return (
            f"these computes have {format_count(n_tasks)} tasks, a page shows it of at most "
            f"{format_count(MAX_EXPLAINED)}; recording.critical_path() has no such limit"
        )
    return None
