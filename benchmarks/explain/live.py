"""How much of a core do findings take that a page shows while computes follow each other?

A page asks for them as soon as a compute has ended, and again when it is told to. What is counted is the CPU
time of the thread that answers, over all the time that goes by until it may be asked once more.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import dask

from benchmarks.harness import Table, main, spread
from taskscope.jupyter.feed.actions import Answers
from taskscope.session import Session, current

_N_ANSWERS = 3


@dataclass(slots=True)
class _Page:
    """Asks for the findings of the latest compute."""

    session: Session
    explaining: Answers = field(init=False)
    answers_s: list[float] = field(default_factory=list)
    """CPU time of each answer."""
    refusals_s: float = 0.0

    def __post_init__(self) -> None:
        self.explaining = Answers(self.session, clock=time.perf_counter)

    def asked(self) -> Mapping[str, object]:
        """Return an answer, or in how many seconds to ask again."""
        number = self.session.recorder.runs()[-1].run
        begun_s = time.thread_time()
        answer = self.explaining.explain(number, number)
        took_s = time.thread_time() - begun_s
        if "wait_s" in answer:
            self.refusals_s += took_s
        else:
            self.answers_s.append(took_s)
        return answer

    def answered(self) -> None:
        """Ask until there is an answer."""
        while "wait_s" in (answer := self.asked()):
            time.sleep(float(str(answer["wait_s"])))


def _compute(n_tasks: int) -> None:
    """Compute halves that need each other in pairs, and a sum of them all."""
    parts = [dask.delayed(abs, pure=False)(i) for i in range(n_tasks // 2)]
    pairs = [dask.delayed(max, pure=False)(*pair) for pair in itertools.pairwise(parts)]
    dask.compute(*pairs, scheduler="threads", num_workers=2, optimize_graph=False)


def _row(n_tasks: int) -> tuple[str, ...]:
    session, holder = current(), object()
    session.hold(holder)
    try:
        page = _Page(session)
        begun_s = time.perf_counter()
        for _ in range(_N_ANSWERS):
            _compute(n_tasks)
            page.answered()
        _compute(n_tasks)
        # Until this has gone by it is told to wait.
        went_by_s = time.perf_counter() - begun_s + float(str(page.asked()["wait_s"]))
    finally:
        session.release(holder)
    share = (sum(page.answers_s) + page.refusals_s) / went_by_s
    each = spread([1e3 * took_s for took_s in page.answers_s], "{:.0f}")
    return f"{n_tasks:,}", each, f"{went_by_s:.0f} s", f"{share:.2%}"


def measure(*, quick: bool) -> list[Table]:
    """Return one table."""
    columns = ("tasks", f"CPU time of each of {_N_ANSWERS} answers, ms", "went by", "of a core")
    rows: Iterator[tuple[str, ...]] = map(_row, (1_000,) if quick else (1_000, 10_000))
    note = "Asked for: at most 1 % of a core. While a compute runs nothing is worked out."
    return [Table("Findings that a page shows", columns, rows, note)]


if __name__ == "__main__":
    main(__doc__, measure)
