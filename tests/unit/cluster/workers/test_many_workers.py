"""A cluster of many workers costs in proportion to their number, wherever a message of each arrives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from taskscope.sources.cluster.connection import Event
from taskscope.sources.cluster.plugin import SchedulerObserver, news_pace_s, pack
from tests.support.clusters.scheduler_events import World
from tests.support.counting import growth
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


def test_many_workers_send_news_more_seldom_and_not_at_one_time() -> None:
    assert [news_pace_s(n) for n in (0, 50, 1_000)] == [1.0, 1.0, 20.0]
    observer, sent = observed(400)
    come(observer)
    paces = {next(m["pace_s"] for m in reversed(messages) if "pace_s" in m) for messages in sent.values()}
    assert len(paces) == 1
    assert paces.pop() == pytest.approx(8.0, rel=0.25)
    # One of each machine compares its clock.
    assert {sum(m["what"] == "compare" for m in messages) for messages in sent.values()} == {1}
