"""Estimates while Dask computes, on a clock that only the tasks move: each is exact and can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dask
import pytest

from taskscope.model.records import Estimate
from taskscope.session import Session
from taskscope.widgets.estimates import Estimates
from tests.support.fake_clock import FakeClock


@pytest.fixture
def session(fake_clock: FakeClock) -> Iterator[Session]:
    session = Session(fake_clock)
    session.hold("test")
    yield session
    session.release("test")


Graph = dict[Any, Any]


def row_of_ten(f: Callable[..., None]) -> Graph:
    return {f"inc-{i}": (f, i) for i in range(10)}


def compute_and_ask(
    session: Session, clock: FakeClock, graph: Callable[[Callable[..., None]], Graph], *, at: int
) -> Mapping[int, Estimate]:
    """Run a graph whose tasks take a second each, and ask for the estimates within the task number `at`."""
    estimates, recorder = Estimates(session.recorder), session.recorder
    answers: list[Mapping[int, Estimate]] = []
    begun = 0

    def second(*_: object) -> None:
        nonlocal begun
        begun += 1
        if begun == at:
            while recorder.pull(1.0):
                pass
            answers.append(estimates.of(recorder.runs(), recorder.now_s()))
        clock.advance(1.0)

    made = graph(second)
    dask.get(made, list(made))
    while recorder.pull(1.0):
        pass
    assert estimates.of(recorder.runs(), recorder.now_s()) == {}
    (answer,) = answers
    return answer


def test_a_row_of_like_tasks_ends_when_the_rest_has_taken_as_long(
    session: Session, fake_clock: FakeClock
) -> None:
    answer = compute_and_ask(session, fake_clock, row_of_ten, at=6)
    # 5 of 10 ended, the sixth has just begun; the band is 8% of the 5 s ahead to either side.
    assert {run: (e.stop_s, round(e.earliest_s, 9), e.latest_s) for run, e in answer.items()} == {
        0: (10.0, 9.6, 10.4)
    }


def test_a_chain_takes_as_long_as_its_links_however_many_workers_there_are(
    session: Session, fake_clock: FakeClock
) -> None:
    def chain(f: Callable[..., None]) -> Graph:
        return {("inc", i): (f, ("inc", i - 1)) if i else (f, 0) for i in range(10)}

    (estimate,) = compute_and_ask(session, fake_clock, chain, at=5).values()
    assert estimate.stop_s == 10.0


def test_too_early_there_is_none(session: Session, fake_clock: FakeClock) -> None:
    answer = compute_and_ask(session, fake_clock, row_of_ten, at=3)
    assert answer == {}
