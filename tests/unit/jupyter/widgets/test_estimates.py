"""Estimates while Dask computes, on a clock that only the tasks move: each is exact and can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dask
import pytest

from taskscope.analysis.time_left import Estimates
from taskscope.model.tables.records import Estimate
from taskscope.record import GraphSource, LaneKey
from taskscope.session import Session
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import report_task


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
    (estimate,) = compute_and_ask(session, fake_clock, row_of_ten, at=6).values()
    # 5 of 10 ended, the sixth has just begun; the band is 15 % of the 5 s ahead to either side, and 5 tasks
    # give their mean to about 12 %, or 20 % nine times in ten.
    assert (estimate.stop_s, estimate.earliest_s, estimate.latest_s) == pytest.approx(
        (10.0, 8.6, 11.8), abs=0.5
    )


def test_a_chain_takes_as_long_as_its_links_however_many_workers_there_are(
    session: Session, fake_clock: FakeClock
) -> None:
    def chain(f: Callable[..., None]) -> Graph:
        return {("inc", i): (f, ("inc", i - 1)) if i else (f, 0) for i in range(10)}

    (estimate,) = compute_and_ask(session, fake_clock, chain, at=5).values()
    assert estimate.stop_s == pytest.approx(10.0, abs=0.4)


def test_too_early_there_is_none(session: Session, fake_clock: FakeClock) -> None:
    answer = compute_and_ask(session, fake_clock, row_of_ten, at=3)
    assert answer == {}


def submit_one_by_one(session: Session, clock: FakeClock) -> list[tuple[float, float] | None]:
    """Let a graph grow by a task of a second and its successor, and ask after each when it all will end."""
    recorder, estimates = session.recorder, Estimates(session.recorder)
    log = recorder.begin()
    log.graph_source = GraphSource({"inc-0": ()}, frozenset(["inc-0"]), {}, grows=True)
    answers: list[tuple[float, float] | None] = []
    for i in range(7):
        log.graph_growth.append(GraphSource({f"inc-{i + 1}": (f"inc-{i}",)}, frozenset(), {}, grows=True))
        clock.advance(1.0)
        now, log.n_tasks = clock.perf_counter(), i + 2
        report_task(log, f"inc-{i}", LaneKey(1, 1), now - 1.0, now)
        log.landed.extend((f"inc-{i}", now))
        while recorder.pull(1.0):
            pass
        estimate = estimates.of(recorder.runs(), recorder.now_s()).get(log.run)
        answers.append(None if estimate is None else (recorder.now_s(), estimate.stop_s))
    log.stop, log.status = clock.perf_counter(), "finished"
    return answers


def test_of_a_graph_that_grows_the_estimate_follows(session: Session, fake_clock: FakeClock) -> None:
    answers = submit_one_by_one(session, fake_clock)
    left_s = [None if answer is None else answer[1] - answer[0] for answer in answers[3:]]
    assert left_s == pytest.approx([1.0] * 4, abs=0.2)
    assert session.recorder.messages == []


def test_a_fault_of_the_estimate_is_told_and_leaves_the_rest(
    session: Session, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise IndexError("index 5 is out of bounds")

    monkeypatch.setattr("taskscope.analysis.time_left.estimate_stop", broken)
    assert submit_one_by_one(session, fake_clock) == [None] * 7
    (message,) = session.recorder.messages
    assert message.text.startswith("taskscope failed in the estimate of a compute: IndexError")
