"""Which row a task is counted by that a cluster ran several times, live, held against the recording."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from taskscope.analysis.time_left import prefix_progress
from taskscope.model.records import PrefixProgress
from tests.support.fake_clock import FakeClock
from tests.unit.cluster.test_records import HERE, Told, record, stream_of

PLACE = (HERE, "worker 0")


class World:
    """One task of a run, and what happens to it."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.link = Told()
        self.recorder, self.stream, self.run = stream_of(self.link, clock)

    def send(self) -> None:
        self.run.send("x-1", PLACE, self.clock.perf_counter())

    def lose(self) -> None:
        self.run.lose("x-1", PLACE, self.clock.perf_counter(), "worker 0 died")

    def finish(self, *, is_error: bool = False) -> None:
        now = self.clock.time()
        error = {"status": "error", "exception_text": "ValueError('no')"} if is_error else {}
        self.link.records.append({**record(now - 0.5, now, now), **error})

    def fail(self) -> None:
        self.finish(is_error=True)

    def look(self) -> tuple[int, int, int, int, int]:
        """Read records; return how many finished, erred, run, are lost or interrupted, and ended again."""
        asyncio.run(self.stream.ask())
        self.stream.fold(knows_all=True)
        while self.recorder.pull(1.0):
            pass
        (row,) = self.recorder.progress()
        (recorded,) = prefix_progress(self.recorder.snapshot())
        assert counts(recorded) == counts(row)
        return counts(row)


def counts(row: PrefixProgress) -> tuple[int, int, int, int, int]:
    assert row.total == 1
    return row.finished, row.erred, row.running, row.interrupted, row.again


FINISHED, ERRED, RUNNING, LOST = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)


@pytest.mark.parametrize(
    ("happens", "expected"),
    [
        (["send", "finish"], [RUNNING, FINISHED]),
        (["finish", "finish"], [FINISHED, FINISHED]),
        (["finish", "send", "finish"], [FINISHED, RUNNING, FINISHED]),
        (
            ["finish", "send", "send", "lose", "send", "finish"],
            [FINISHED, RUNNING, RUNNING, LOST, RUNNING, FINISHED],
        ),
        (["send", "lose", "finish"], [RUNNING, LOST, FINISHED]),
        (["lose", "lose", "fail"], [LOST, LOST, ERRED]),
        (["fail", "finish", "fail", "fail"], [ERRED, FINISHED, ERRED, ERRED]),
        (["finish", "lose", "finish"], [FINISHED, LOST, FINISHED]),
    ],
)
def test_a_task_is_what_it_was_last(
    fake_clock: FakeClock, happens: list[str], expected: list[tuple[int, int, int, int]]
) -> None:
    world = World(fake_clock)
    seen = []
    for what in happens:
        fake_clock.advance(1.0)
        getattr(world, what)()
        seen.append(world.look()[:4])
    assert seen == expected


def test_a_failure_that_a_client_knows_of_before_its_record_was_read_is_counted_once(
    fake_clock: FakeClock,
) -> None:
    world = World(fake_clock)
    world.run.failed["x-1"] = "ValueError: no"
    world.fail()
    assert world.look() == (*ERRED, 0)


def test_records_that_come_together_are_of_one_task(fake_clock: FakeClock) -> None:
    world = World(fake_clock)
    for what in (world.fail, world.finish, world.finish):
        fake_clock.advance(1.0)
        what()
    assert world.look() == (*FINISHED, 2)
    for what in (world.finish, world.fail):
        fake_clock.advance(1.0)
        what()
    assert world.look() == (*ERRED, 4)


def test_whatever_happens_live_counts_are_those_of_the_recording(fake_clock: FakeClock) -> None:
    chance = random.Random(7)
    for _ in range(40):
        world = World(fake_clock)
        happen: list[Callable[[], None]] = [world.send, world.lose, world.finish, world.fail]
        for _ in range(6):
            fake_clock.advance(1.0)
            chance.choice(happen)()
            # In it the two are compared.
            assert sum(world.look()[:4]) == 1
