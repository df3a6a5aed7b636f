"""What became of tasks that a worker had: told once, whichever way they went."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from taskscope.sources.cluster.connection import Event
from tests.support.clusters.recordings import rows
from tests.support.clusters.scheduler_events import HERE, THERE, World
from tests.support.fakes.clock import FakeClock

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
    assert list(run.log.submitted) == (["x"] if fate is given_to_another else [])
    fake_clock.advance(1.0)
    world.finish(run, "interrupted")
    names = {HERE: "0", THERE: "1"}
    found = rows(world.recorder.snapshot(), "tasks", "key", "status", "worker", "start_s", "stop_s")
    assert [(key, status, names.get(w, w), a, b) for key, status, w, a, b in found] == expected
