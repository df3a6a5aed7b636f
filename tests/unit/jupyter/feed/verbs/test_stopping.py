"""Which computes can be stopped how, and that nothing else of the user's is: as recorded, then for real."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import dask
import pytest
from distributed import CancelledError, Client, Event, wait

from taskscope.jupyter.feed.actions import Stopping
from taskscope.jupyter.feed.requests import BadRequestError
from taskscope.model.streams import StopWay
from taskscope.record import RunLog
from taskscope.session import Session, current
from tests.support.recordings.run_writing import begin_run, end_run
from tests.support.waiting import be_patient, until

CELL, LATER = "request 1", "request 2"


class World:
    """Stopping on a session, where the test says which cell runs and what is waited for."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.now_s = 0.0
        self.interrupts = 0
        self.execution: str | None = CELL
        self.is_waiting = True
        self.stopping = Stopping(
            session,
            execution=lambda: self.execution,
            clock=lambda: self.now_s,
            interrupt=self._interrupt,
            is_waiting=lambda: self.is_waiting,
        )

    def _interrupt(self) -> None:
        self.interrupts += 1

    def begin(self, scheduler: str = "threads", *, in_thread: bool = False) -> RunLog:
        made: list[RunLog] = []
        begin: Callable[[], None] = lambda: made.append(begin_run(self.session.recorder, {"x": ()}))  # noqa: E731
        if in_thread:
            thread = threading.Thread(target=begin)
            thread.start()
            thread.join()
        else:
            begin()
        log = made[0]
        log.scheduler, log.execution = scheduler, CELL
        log.is_held_elsewhere = scheduler != "threads"
        self.session.recorder.pull()
        return log

    def refusal(self, run: int, way: StopWay, *, is_heard: bool = True) -> str:
        with pytest.raises(BadRequestError) as refused:
            self.stopping.stop(run, way, is_heard=is_heard)
        return str(refused.value)


@pytest.fixture
def world() -> World:
    return World(Session())


def test_a_compute_that_is_over_stops_nothing(world: World) -> None:
    log = world.begin()
    end_run(log)
    assert (world.stopping.ways(), world.refusal(log.run, "interrupt")) == ({}, "it has ended")
    assert world.interrupts == 0


def test_a_cell_that_does_something_else_by_now_is_left_alone(world: World) -> None:
    log = world.begin()
    world.execution, world.is_waiting = LATER, False
    assert world.refusal(log.run, "interrupt") == "its cell runs something else"
    world.execution = CELL
    assert world.refusal(log.run, "interrupt", is_heard=False) == (
        "this kernel gets messages only between cells; interrupt it from the menu"
    )
    assert world.interrupts == 0


def test_a_compute_is_being_stopped_until_it_ends_and_asked_again_after_a_while(world: World) -> None:
    log = world.begin()
    seen = []
    for world.now_s in (0.0, 4.9, 60.0):
        way = world.stopping.ways()[log.run]
        world.stopping.stop(log.run, "interrupt", is_heard=True)
        seen.append((way, world.interrupts))
    end_run(log)
    assert (seen, world.stopping.ways()) == ([("interrupt", 1), ("asked", 1), ("asked", 2)], {})


def gated(i: int) -> int:
    Event("stopping").wait()
    return i


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    be_patient(monkeypatch.setattr)
    with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
        # Its threads are there before a test could be blamed for them.
        client.gather(client.map(time.sleep, [0.1] * 4, pure=False))
        session = current()
        session.hold(client)
        yield client
        Event("stopping", client=client).set()
        session.release(client)


def going(world: World) -> list[int]:
    world.session.recorder.pull()
    return [log.run for log in world.session.recorder.going()]


def test_cancelling_takes_the_futures_of_one_compute_that_have_not_finished(client: Client) -> None:
    world = World(current())
    world.execution = None
    done = client.submit(int, 7, pure=False)
    kept = dask.persist(*[dask.delayed(gated)(i) for i in range(3)])
    wait(done)
    until(lambda: len(going(world)) == 1)
    (first,) = going(world)
    current().cluster.computes.part()
    others = client.map(gated, range(10, 12))
    until(lambda: len(going(world)) == 2)
    second = max(going(world))
    assert world.stopping.ways() == {first: "cancel", second: "cancel"}
    world.stopping.stop(first, "cancel", is_heard=True)
    until(lambda: going(world) == [second])
    with pytest.raises(CancelledError):
        dask.compute(*kept)
    Event("stopping", client=client).set()
    assert (client.gather(others), done.result()) == ([10, 11], 7)
    until(lambda: going(world) == [])
    ended = {run.run: (run.status, run.error) for run in current().recorder.runs()}
    assert (ended[first], ended[second]) == (("interrupted", None), ("finished", None))
    assert world.interrupts == 0


def test_a_compute_that_another_thread_waits_for_is_cancelled_and_raises_there(client: Client) -> None:
    world = World(current())
    raised: list[type[BaseException]] = []

    def compute() -> None:
        try:
            dask.compute(*[dask.delayed(gated)(i) for i in range(3)])
        except BaseException as error:  # noqa: BLE001 - what it is is the question
            raised.append(type(error))

    thread = threading.Thread(target=compute)
    thread.start()
    until(lambda: len(going(world)) == 1)
    (run,) = going(world)
    assert world.stopping.ways() == {run: "cancel"}
    world.stopping.stop(run, "cancel", is_heard=True)
    thread.join()
    until(lambda: going(world) == [])
    (ended,) = current().recorder.runs(run, run)
    assert (issubclass(raised[0], CancelledError), ended.status) == (True, "interrupted")
