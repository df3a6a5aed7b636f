"""Tells pages why the computes that they show took as long as they did, once these have ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.critical_path import CriticalPath, critical_path
from taskscope.analysis.explain.finding import Explanation
from taskscope.analysis.explain.findings import explain
from taskscope.analysis.explain.places import place_of
from taskscope.analysis.summary import MAX_EXPLAINED
from taskscope.jupyter.feed.verbs import BadRequestError, Explain
from taskscope.model.errortext import describe
from taskscope.model.tables.records import Run
from taskscope.recording import Recording, recorded
from taskscope.session import Session

__all__ = ["REST", "Explaining"]

REST = 100.0
"""How many times as long as an answer took nothing is worked out after it, so that it takes 1 % of a core."""

_MAX_ANSWERS = 8


class Explaining:
    """Explains computes of a session, on the thread that asks, which is the page's subshell.

    Parameters
    ----------
    session
        What records them.
    clock
        Seconds on an axis of its own.
    """

    def __init__(self, session: Session, *, clock: Callable[[], float]) -> None:
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._rests_until_s = float("-inf")
        self._answers: dict[object, Mapping[str, object]] = {}

    def explain(self, request: Explain) -> Mapping[str, object]:
        """Return the explanation, None where there is none to give, or in how many seconds to ask again."""
        listed = self._session.recorder.runs(request.first_run, request.last_run)
        runs = [run for run in listed if not run.is_of_others]
        if not runs or any(run.status == "running" for run in runs):
            return {"explanation": None}
        if sum(run.n_tasks for run in runs) > MAX_EXPLAINED:
            return {"explanation": None}
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
                # What other clients did meanwhile is among what they follow each other in.
                between = self._session.recorder.runs(runs[0].run, runs[-1].run)
                recording = recorded(self._session, between)
                return self._answer(recording, explain(recording), critical_path(recording))
            finally:
                ended_s = self._clock()
                self._rests_until_s = ended_s + REST * (ended_s - begun_s)
        except Exception as error:  # whatever it is, the page is told, and shows nothing
            raise BadRequestError(describe(error)) from error

    def _answer(
        self, recording: Recording, explanation: Explanation, path: CriticalPath
    ) -> Mapping[str, object]:
        places = [place_of(recording, path, finding) for finding in explanation.findings]
        return {
            "makespan_s": explanation.makespan_s,
            "findings": [
                {
                    "cause": finding.cause,
                    "worth_s": finding.worth_s,
                    "low_s": finding.low_s,
                    "high_s": finding.high_s,
                    "text": finding.text,
                    "advice": finding.advice,
                    "run": place.run,
                    "spans_s": [list(span) for span in place.spans_s],
                    "prefixes": list(place.prefixes),
                    "rows": self._rows(place.tasks),
                }
                for finding, place in zip(explanation.findings, places, strict=True)
            ],
            "path": None
            if path.reason is not None
            else {
                "rows": self._rows(path.tasks()),
                "task_s": path.task_s,
                "waits_s": [list(wait) for wait in path.wait_s.items()],
            },
        }

    def _rows(self, tasks: Mapping[int, NDArray[np.int32]]) -> list[int]:
        """Return the recorder's rows of tasks, by which a page knows them."""
        rows_of = self._session.recorder.rows_of
        return sorted(row for run, numbers in tasks.items() for row in rows_of(run, numbers).values())
