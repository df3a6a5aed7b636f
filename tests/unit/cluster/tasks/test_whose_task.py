"""Which tasks are those of other clients, and of which that cannot be said."""

from __future__ import annotations

from collections import Counter

import pytest

from taskscope.sources.cluster import tasks
from tests.support.clusters.scheduler_events import THEIRS, World
from tests.support.fakes.clock import FakeClock

OTHERS = "distributed, other clients"


def told(world: World) -> Counter[tuple[str | None, str, str]]:
    recording = world.recorder.snapshot()
    schedulers = {run.run: run.scheduler for run in recording.runs}
    table = recording.table("tasks")
    rows = zip(table["run"], table["key"], table["prefix"], strict=True)
    return Counter((schedulers[int(run)], str(key), str(prefix)) for run, key, prefix in rows)


def watching(clock: FakeClock, *, is_exact: bool = True) -> World:
    """Return a scheduler of which the tasks of other clients are wanted."""
    world = World(clock, is_exact=is_exact)
    world.others.follow(clock.perf_counter())
    return world


def test_a_graph_of_ours_is_waited_for_and_one_of_others_is_not(fake_clock: FakeClock) -> None:
    world = watching(fake_clock)
    theirs = [*world.graph({"z-1": ()}, client=THEIRS), world.end("z-1")]
    ours = [*world.graph({"x-1": ()}), world.end("x-1")]
    later = [*world.graph({"z-2": ()}, client=THEIRS), world.end("z-2")]
    world.tell(*theirs, *ours, *later, knows_all=False)
    first = Counter({(OTHERS, "z-1", "z (other clients)"): 1})
    assert told(world) == first
    world.begin(["x-1"])
    world.tell(knows_all=False)
    assert told(world) == first + Counter({(None, "x-1", "x"): 1, (OTHERS, "z-2", "z (other clients)"): 1})


def test_where_it_is_only_asked_what_is_nobody_s_waits_until_it_is_certain_that_it_is_not_ours(
    fake_clock: FakeClock,
) -> None:
    world = watching(fake_clock, is_exact=False)
    run = world.begin()
    world.tasks.know(run, {"x-1": ()}, ["x-1"])
    world.tell(*(world.end(key) for key in ("x-1", "y-1", "z-1")), knows_all=False)
    for _ in range(3):
        world.tell(knows_all=False)
    world.tasks.know(run, {"y-1": ()}, ["y-1"])
    expected = Counter(
        {(None, "x-1", "x"): 1, (None, "y-1", "y"): 1, (OTHERS, "z-1", "z (other clients)"): 1}
    )
    for _ in range(2):
        world.tell()
        assert told(world) == expected


@pytest.mark.parametrize("is_exact", [True, False])
def test_what_was_read_before_they_were_wanted_is_not_theirs(
    fake_clock: FakeClock, *, is_exact: bool
) -> None:
    world = World(fake_clock, is_exact=is_exact)
    world.tell(world.end("before"), knows_all=False)
    world.tasks.set_apart()
    world.others.follow(fake_clock.perf_counter())
    world.tell(world.end("after"))
    assert told(world) == Counter({(OTHERS, "after", "after (other clients)"): 1})


def test_a_task_of_a_run_that_is_over_and_that_runs_again_is_not_theirs(fake_clock: FakeClock) -> None:
    world = watching(fake_clock)
    run = world.begin(["x-1"])
    world.tell(*world.graph({"x-1": ()}))
    world.finish(run, "interrupted")
    world.tell(world.end("x-1"), world.end("x-2"))
    assert told(world) == Counter({(OTHERS, "x-2", "x (other clients)"): 1})


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_task_that_a_worker_has_becomes_ours_when_we_ask_for_it_and_none_is_interrupted(
    fake_clock: FakeClock, *, is_exact: bool
) -> None:
    world = watching(fake_clock, is_exact=is_exact)
    recorder = world.recorder
    world.tell(world.send("shared"), world.send("theirs"))
    assert sorted(task.key_text for task in recorder.running()) == ["shared", "theirs"]
    run = world.begin()
    if is_exact:
        world.hand_over(run, ["shared"])
        world.tell(*world.graph({"shared": ()}, states={"shared": "processing"}))
    else:
        world.tasks.know(run, {"shared": ()}, ["shared"])
        world.tell()
    owners = {task.key_text: task.run for task in recorder.running()}
    assert owners == {"shared": run.log.run, "theirs": run.log.run - 1}
    world.others.follow(None)
    recorder.pull(1.0)
    assert [task.key_text for task in recorder.running()] == ["shared"]
    (theirs,) = (r for r in recorder.runs() if r.is_of_others)
    assert (theirs.status, theirs.n_tasks, recorder.snapshot(theirs.run, theirs.run).tasks.run.tolist()) == (
        "finished",
        0,
        [],
    )


def test_a_run_of_theirs_has_so_many_tasks_and_another_one_follows(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_MOST_KEYS", 2)
    world = watching(fake_clock)
    for i in range(3):
        world.tell(world.end(("s", i)))
    runs = [(r.run, r.status) for r in world.recorder.snapshot().runs if r.is_of_others]
    assert runs == [(0, "finished"), (1, "running")]
    assert sum(told(world).values()) == 3


def test_what_is_forgotten_is_known_no_more_and_what_was_lost_neither(fake_clock: FakeClock) -> None:
    world = World(fake_clock)
    for number in range(3):
        keys = [f"x-{number}-{i}" for i in range(100)]
        run = world.begin(keys)
        world.tell(*world.graph(dict.fromkeys(keys, ())), *map(world.end, keys))
        if number < 2:
            world.finish(run)
            world.tell(*(world.state(key, "forgotten") for key in keys[: 50 + 50 * number]))
    assert len(world.tasks._tasks) == 150
    world.tell(lost=7)
    assert len(world.tasks._tasks) == 100
