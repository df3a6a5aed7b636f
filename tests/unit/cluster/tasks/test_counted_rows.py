"""Which row a task is counted by that a cluster ran several times, live, held against the recording."""

from __future__ import annotations

import random
from collections.abc import Callable

from taskscope.analysis.totals import prefix_progress
from taskscope.model.tables.records import PrefixProgress
from tests.support.clusters.scheduler_events import World
from tests.support.fakes.clock import FakeClock


class OneTask(World):
    """One task of a run, and what happens to it."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.run = self.begin(["x-1"])
        self.events = self.graph({"x-1": ()})

    def sent(self) -> None:
        self.events.append(self.send("x-1"))

    def lost(self) -> None:
        self.events.append(self.lose("x-1"))

    def finished(self) -> None:
        self.events.append(self.end("x-1"))

    def failed(self) -> None:
        self.events.append(self.end("x-1", error="ValueError('no')"))

    def look(self) -> tuple[int, int, int, int, int]:
        """Read what happened; return how many finished, erred, run, are lost or cut short, and ran again."""
        events, self.events = self.events, []
        self.tell(*events)
        (row,) = self.recorder.progress()
        (recorded,) = prefix_progress(self.recorder.snapshot())
        assert counts(recorded) == counts(row)
        return counts(row)


def counts(row: PrefixProgress) -> tuple[int, int, int, int, int]:
    assert row.total == 1
    return row.finished, row.erred, row.running, row.interrupted, row.again


FINISHED, ERRED, RUNNING, LOST = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)


def test_whatever_happens_live_counts_are_those_of_the_recording(fake_clock: FakeClock) -> None:
    chance = random.Random(7)
    for _ in range(40):
        world = OneTask(fake_clock)
        happen: list[Callable[[], None]] = [world.sent, world.lost, world.finished, world.failed]
        for _ in range(6):
            fake_clock.advance(1.0)
            chance.choice(happen)()
            # In it the two are compared.
            assert sum(world.look()[:4]) == 1
