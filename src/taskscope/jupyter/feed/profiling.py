"""Sends pages the call stacks of the computes that they show."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from taskscope.jupyter.feed.pages import Page
from taskscope.options import Options
from taskscope.report.profile import packed_profile
from taskscope.session import Session

_PAUSE_S = 1.0
"""How long an answer is good for: it is worked out once a second, whatever the number of pages."""
_MAX_ANSWERS = 8


class Profiling:
    """Has stacks sampled while a page wants them, up to the end of its lease."""

    def __init__(self, session: Session, *, clock: Callable[[], float]) -> None:
        self._session = session
        self._clock = clock
        self._lock = threading.RLock()
        self._answers: dict[tuple[int, int | None], tuple[float, Mapping[str, object]]] = {}

    def profile(self, page: Page, first_run: int, last_run: int | None) -> Mapping[str, object]:
        """Return the samples of a window of computes as a flame graph draws them."""
        self._hold(page)
        with self._lock:
            made_s, answer = self._answers.pop((first_run, last_run), (-_PAUSE_S, {}))
            if not answer or self._clock() - made_s >= _PAUSE_S:
                stacks = self._session.recorder.stacks.between(first_run, last_run)
                made_s, answer = self._clock(), {"profile": packed_profile(stacks), "note": None}
            self._answers[first_run, last_run] = made_s, answer
            while len(self._answers) > _MAX_ANSWERS:
                del self._answers[next(iter(self._answers))]
            return answer

    def _hold(self, page: Page) -> None:
        if not page.at_end:
            self._session.hold(page, Options(stacks=True))
            page.at_end.append(lambda: self._session.release(page))
