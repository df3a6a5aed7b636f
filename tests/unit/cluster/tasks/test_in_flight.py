"""What became of tasks that a worker had: told once, whichever way they went."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import pytest

from taskscope.sources.cluster.observer import Event
from tests.support.clusters.scheduler_events import HERE, THERE, World
from tests.support.fakes.clock import FakeClock
from tests.unit.cluster.tasks.test_computes import rows

Fate = Callable[[World], list[Event]]


def released(world: World) -> list[Event]:
    return [world.state("x", "released")]


def down_with_its_worker(world: World) -> list[Event]:
    return [world.lose("x", expected=True), world.state("x", "released")]


def failed(world: World) -> list[Event]:
    return [world.end("x", error="ValueError('no')"), world.state("x", "released")]


def given_to_another(world: World) -> list[Event]:
    return [world.state("x", "waiting"), world.send("x", THERE)]


@pytest.mark.parametrize(
    ("fate", "expected"),
    [
        (released, [("x", "interrupted", "0", 1.0, 3.0)]),
        (down_with_its_worker, [("x", "lost", "0", 1.0, 3.0)]),
        (failed, [("x", "erred", "0", 2.5, 3.0)]),
        (given_to_another, [("x", "interrupted", "1", 3.0, 4.0)]),
    ],
)
def test_a_task_that_its_worker_has_no_more(
    fake_clock: FakeClock, fate: Fate, expected: list[tuple[str, str, str, float, float]]
) -> None:
    world = World(fake_clock)
    run = world.begin(["x"])
    world.tell(*world.graph({"x": ()}))
    fake_clock.advance(1.0)
    world.tell(world.send("x"))
    fake_clock.advance(2.0)
    world.tell(*fate(world))
    assert world.tasks.processing == ({"x": run} if fate is given_to_another else {})
    fake_clock.advance(1.0)
    world.finish(run, "interrupted")
    names = {HERE: "0", THERE: "1"}
    found = rows(world.recorder.snapshot(), "tasks", "key", "status", "worker", "start_s", "stop_s")
    assert [(key, status, names.get(w, w), a, b) for key, status, w, a, b in found] == expected


def test_when_a_worker_was_given_a_task_is_by_the_clock_of_the_scheduler(fake_clock: FakeClock) -> None:
    world = World(fake_clock)
    world.begin(["x"])
    world.tell(*world.graph({"x": ()}))
    fake_clock.advance(1.0)
    sent = world.send("x")
    fake_clock.advance(5.0)
    world.tell(sent)
    assert [(task.key_text, task.start_s) for task in world.recorder.running()] == [("x", 1.0)]


def test_of_very_many_tasks_at_workers_all_are_counted_and_those_that_ended_since_are_not(
    fake_clock: FakeClock,
) -> None:
    world = World(fake_clock)
    keys = [f"{prefix}-{i}" for prefix, n in (("a", 2_000), ("b", 1_500)) for i in range(n)]
    run = world.begin(keys)

    def running() -> dict[str, int]:
        while world.recorder.pull(1.0):
            pass
        return {row.prefix: row.running for row in world.recorder.progress()}

    sent = [world.send(key) for key in keys]
    world.tell(*chain(world.graph(dict.fromkeys(keys, ())), sent))
    assert running() == {"a": 2_000, "b": 1_500}
    assert len(world.recorder.running()) == 1_000
    for key in keys[:1_900]:
        run.log.end_unreported(key, fake_clock.perf_counter(), "finished")
    assert running() == {"a": 100, "b": 1_500}
