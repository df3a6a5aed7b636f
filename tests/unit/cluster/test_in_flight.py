"""What became of tasks that a worker had: told once, whichever way they went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from taskscope.record import Recorder
from taskscope.sources.cluster.inflight import InFlight
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.others import Others
from taskscope.sources.cluster.ownership import Ownership
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.runs import TrackedRun, announce
from taskscope.sources.cluster.watched import Watched
from taskscope.sources.cluster.workers import Workers
from tests.support.fake_clock import FakeClock

ADDRESS = "tcp://10.0.0.2:1"
Processing = Mapping[str, list[str]]


class Told(Link):
    """A scheduler that says what it is told to."""

    def __init__(self) -> None:
        super().__init__("tcp://10.0.0.1:8786", {})
        self.processing: Processing = {}
        self.events: list[tuple[float, Any]] = []

    async def ask(self, op: str, **arguments: Any) -> Any:
        return self.processing if op == "processing" else self.events


def interrupted(run: TrackedRun, told: Told, moment: float) -> None:
    run.unfinished.add("x")


def down_with_its_worker(run: TrackedRun, told: Told, moment: float) -> None:
    run.unfinished.add("x")
    told.events.append((moment, {"action": "remove-worker", "expected": True, "processing-tasks": {"x": 1}}))


def failed(run: TrackedRun, told: Told, moment: float) -> None:
    run.failed["x"] = "ValueError: no"


def given_to_another(run: TrackedRun, told: Told, moment: float) -> None:
    run.unfinished.add("x")
    told.processing = {ADDRESS: [], "tcp://10.0.0.3:1": ["x"]}


@pytest.mark.parametrize(
    ("fate", "expected"),
    [
        (interrupted, [("x", "interrupted", 1.0, 2.0)]),
        (down_with_its_worker, [("x", "lost", 1.0, 1.5)]),
        (failed, []),
        (given_to_another, [("x", "interrupted", 3.0, 4.0)]),
    ],
)
def test_a_task_that_its_worker_has_no_more_and_that_no_record_tells_of(
    fake_clock: FakeClock,
    fate: Callable[[TrackedRun, Told, float], None],
    expected: list[tuple[str, str, float, float]],
) -> None:
    recorder, told, ownership = Recorder(clock=fake_clock), Told(), Ownership()
    workers, pace = Workers("tcp://10.0.0.1:8786"), Pace(fake_clock.perf_counter)
    others = Others(recorder, workers, ownership.past, lambda: None)
    in_flight = InFlight(Watched(told, workers, ownership, recorder), others, lambda: True)
    run = TrackedRun(recorder.begin(), None, None, True, lambda: None)
    announce(run, {"x": ()}, ("x",))
    ownership.take(run, ["x"])

    def look() -> None:
        asyncio.run(in_flight.ask(pace))
        fake_clock.advance(1.0)

    fake_clock.advance(1.0)
    looks: list[Processing] = [{ADDRESS: ["x"]}, {ADDRESS: []}]
    for processing in looks:
        told.processing = processing
        look()
    fate(run, told, fake_clock.time() - 1.5)
    look()
    asyncio.run(in_flight.ask_losses([ADDRESS]))
    run.end(fake_clock.perf_counter())
    recorder.pull(1.0)
    recording = recorder.snapshot()
    table = recording.table("tasks")
    columns = ("key", "status", "start_s", "stop_s")
    assert list(zip(*(table[column] for column in columns), strict=True)) == expected


def test_of_very_many_tasks_at_workers_all_are_counted_and_those_that_ended_since_are_not(
    fake_clock: FakeClock,
) -> None:
    recorder, told, ownership = Recorder(clock=fake_clock), Told(), Ownership()
    workers, pace = Workers("tcp://10.0.0.1:8786"), Pace(fake_clock.perf_counter)
    others = Others(recorder, workers, ownership.past, lambda: None)
    in_flight = InFlight(Watched(told, workers, ownership, recorder), others, lambda: True)
    run = TrackedRun(recorder.begin(), None, None, True, lambda: None)
    keys = [f"{prefix}-{i}" for prefix, n in (("a", 2_000), ("b", 1_500)) for i in range(n)]
    announce(run, dict.fromkeys(keys, ()), ())
    ownership.take(run, keys)
    told.processing = {ADDRESS: keys}

    def running() -> dict[str, int]:
        while recorder.pull(1.0):
            pass
        return {row.prefix: row.running for row in recorder.progress()}

    asyncio.run(in_flight.ask(pace))
    assert running() == {"a": 2_000, "b": 1_500}
    assert len(recorder.running()) == 1_000
    for key in keys[:1_900]:
        run.log.end_unreported(key, fake_clock.perf_counter(), "finished")
    assert running() == {"a": 100, "b": 1_500}
    fake_clock.advance(1.0)
    told.processing = {ADDRESS: keys[-3:]}
    asyncio.run(in_flight.ask(pace))
    assert running() == {"a": 0, "b": 3}
