"""A cluster of many workers costs in proportion to their number, wherever a message of each arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from taskscope.sources.cluster.connection import Event
from taskscope.sources.cluster.plugin import SchedulerObserver, news_pace_s, pack
from tests.support.clusters.scheduler_events import World
from tests.support.counting import calls_of, growth
from tests.support.fakes.clock import FakeClock

FEW, MANY = 40, 160
NAME = "taskscope-many"


def addresses(n: int) -> list[str]:
    return [f"tcp://10.0.{number // 200}.{number % 200}:4000" for number in range(n)]


def world_of(n: int, clock: FakeClock) -> World:
    """Return a scheduler with so many workers beside its two, each of which runs a task."""
    world = World(clock)
    keys = [f"x-{number}" for number in range(n)]
    world.begin(keys)
    world.tell(*world.graph(dict.fromkeys(keys, ())))
    for address, key in zip(addresses(n), keys, strict=True):
        world.workers.come(address, address, 1)
        world.tell(world.send(key, address))
    return world


def running(n: int, clock: FakeClock) -> Sequence[Event]:
    """Return a message of each worker with the task that it runs."""
    return [
        ("news", address, pack({"running": [(5, f"x-{number}", clock.time())]}))
        for number, address in enumerate(addresses(n))
    ]


def test_messages_with_running_tasks_are_read_in_proportion_to_the_workers(fake_clock: FakeClock) -> None:
    def work_of(n: int) -> Callable[[], object]:
        world, events = world_of(n, fake_clock), running(n, fake_clock)
        return lambda: world.tell(*events)

    assert growth(work_of, FEW, MANY) < 1.2 * MANY / FEW


def test_each_running_task_is_where_its_worker_runs_it_until_the_worker_sends_another_or_leaves(
    fake_clock: FakeClock,
) -> None:
    world = world_of(3, fake_clock)
    (run,) = world.tasks._runs
    one, two, three = addresses(3)
    world.tell(*running(3, fake_clock))
    assert {key: lane.worker for key, (lane, _) in run.log.running_on.items()} == {
        "x-0": one,
        "x-1": two,
        "x-2": three,
    }
    world.tell(("news", two, pack({"running": []})), ("life", three, fake_clock.time(), "gone", False))
    assert {key: lane.worker for key, (lane, _) in run.log.running_on.items()} == {"x-0": one}


def test_how_many_threads_there_are_is_known_without_a_walk_over_the_workers(fake_clock: FakeClock) -> None:
    # Threads of the user's read it while workers come and leave.
    few, many = world_of(2, fake_clock).workers, world_of(100, fake_clock).workers
    assert calls_of(lambda: few.n_threads) == calls_of(lambda: many.n_threads)
    here = addresses(1)[0]
    before = many.n_threads
    many.come(here, "again", 4)
    assert many.n_threads == before + 3
    many.record_sample(many.get(here), {"name": "again", "n_threads": 6})
    assert many.n_threads == before + 5
    many.leave(here, 0.0)
    many.leave(here, 0.0)
    many.record_sample(many.get(here), {"name": "again", "n_threads": 2})
    assert many.n_threads == before - 1


class Loop(asyncio.SelectorEventLoop):
    """Counts the timers that are started."""

    n_timers = 0

    def call_later(self, *arguments: Any, **options: Any) -> Any:  # type: ignore[override]  # passed on as it is
        self.n_timers += 1
        return super().call_later(*arguments, **options)


def observed(n: int) -> tuple[SchedulerObserver, dict[str, list[dict[str, Any]]]]:
    """Return the observer of a scheduler with so many workers, and the messages that each of them gets."""
    sent: dict[str, list[dict[str, Any]]] = {address: [] for address in addresses(n)}
    scheduler = SimpleNamespace(
        address="tcp://10.9.0.1:8786",
        tasks={},
        plugins={NAME: None},
        handlers={},
        stream_handlers={},
        worker_plugins={},
        workers=dict.fromkeys(sent),
        stream_comms={address: SimpleNamespace(send=messages.append) for address, messages in sent.items()},
        get_events=lambda _worker: (),
    )
    observer = SchedulerObserver(scheduler, NAME, 10, b"")
    observer.lines = SimpleNamespace(close=lambda: None)  # type: ignore[assignment]  # no log is read
    return observer, sent


def come(observer: SchedulerObserver) -> None:
    for address in observer.scheduler.workers:
        observer.launch(address)


def leave(observer: SchedulerObserver) -> None:
    for address in list(observer.scheduler.workers):
        del observer.scheduler.workers[address]
        observer.remove_worker(observer.scheduler, address)


def ended(n: int) -> tuple[Callable[[], object], Loop, SchedulerObserver]:
    """Return what takes the last messages of so many workers, after the observer has ended."""
    loop = Loop()
    observer, sent = observed(n)
    come(observer)

    async def end() -> None:
        observer.end()

    loop.run_until_complete(end())
    loop.n_timers = 0

    async def say_goodbye() -> None:
        for address in sent:
            observer.take(address, "end")

    return lambda: loop.run_until_complete(say_goodbye()), loop, observer


@pytest.mark.parametrize("of", [come, leave])
def test_workers_that_come_or_leave_cost_the_scheduler_in_proportion_to_their_number(
    of: Callable[[SchedulerObserver], None],
) -> None:
    def work_of(n: int) -> Callable[[], object]:
        observer, _ = observed(n)
        if of is leave:
            come(observer)
        return lambda: of(observer)

    # The pace of news changes each time that they are a quarter more, or less.
    assert growth(work_of, 4 * FEW, 4 * MANY) < 1.5 * MANY / FEW


def test_the_last_messages_of_workers_cost_the_scheduler_in_proportion_to_their_number() -> None:
    loops: list[Loop] = []

    def work_of(n: int) -> Callable[[], object]:
        goodbyes, loop, observer = ended(n)
        loops.append(loop)
        observer.scheduler.stream_handlers[NAME] = observer.take
        return goodbyes

    try:
        assert growth(work_of, FEW, MANY) < 1.2 * MANY / FEW
        assert [loop.n_timers for loop in loops] == [0, 0]
    finally:
        for loop in loops:
            loop.close()


def test_a_worker_that_sends_no_last_message_is_waited_for_by_one_timer_and_dropped_when_it_has_left() -> (
    None
):
    goodbyes, loop, observer = ended(3)
    handlers = observer.scheduler.stream_handlers
    handlers[NAME] = observer.take
    try:
        observer.known["tcp://10.0.0.1:1"] = None
        goodbyes()
        assert (list(handlers), loop.n_timers) == ([NAME], 0)
        loop.call_soon(observer.drop_gone)
        loop.run_until_complete(asyncio.sleep(0))
        assert list(handlers) == []
    finally:
        loop.close()


def test_many_workers_send_news_more_seldom_and_not_at_one_time() -> None:
    assert [news_pace_s(n) for n in (0, 50, 1_000)] == [1.0, 1.0, 20.0]
    observer, sent = observed(400)
    come(observer)
    paces = {next(m["pace_s"] for m in reversed(messages) if "pace_s" in m) for messages in sent.values()}
    assert len(paces) == 1
    assert paces.pop() == pytest.approx(8.0, rel=0.25)
    # One of each machine compares its clock.
    assert {sum(m["what"] == "compare" for m in messages) for messages in sent.values()} == {1}
