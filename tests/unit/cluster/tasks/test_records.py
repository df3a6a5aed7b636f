"""What the scheduler says, without a scheduler: records, clocks, when it is asked, whose keys are whose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from taskscope.model.clock import Clock
from taskscope.model.errortext import MAX_ERROR_TEXT
from taskscope.model.tables.activities import ACTIVITIES
from taskscope.sources.cluster.executions import COMPUTE, Executions, error_text, read_executions
from taskscope.sources.cluster.link import RateLimiter
from taskscope.sources.cluster.workers.clocks import Exchange, HostClocks, WorkerClock
from tests.support.clusters.scheduler_events import HERE, SCHEDULER, THERE, World, record
from tests.support.fakes.clock import FakeClock
from tests.unit.cluster.tasks.test_computes import rows


def executions(*records: Mapping[str, Any]) -> Executions:
    told, errors = read_executions(records)
    assert errors == []
    return told


def test_records_become_columns() -> None:
    steps = (
        {"action": "transfer", "start": 1.0, "stop": 2.0, "source": THERE},
        {"action": "compute", "start": 2.0, "stop": 3.5},
        {"action": "disk-write", "start": 5.0, "stop": 4.0},
        {"action": "of a later release", "start": 5.0, "stop": 6.0},
    )
    failed = {"status": "error", "exception_text": "ValueError('no')", "stimulus_id": "odd", "thread": None}
    told = executions(record(0, 0, 3.25, key=("x-1", 0), startstops=steps), record(7.0, 8.0, 8.5, **failed))
    assert (told.keys, told.workers, told.threads) == ([("x-1", 0), "x-1"], [HERE, HERE], [5, 0])
    assert (told.errors, told.stepped) == ({1: "ValueError: no"}, [0])
    assert [str(n) for n in (*told.nbytes, *told.reported)] == ["80.0", "nan", "3.25", "nan"]
    assert told.steps.owner.tolist() == [0, 0, 0, 0, 1]
    assert told.steps.kind.tolist() == [
        *map(ACTIVITIES.index, ("transfer",)),
        COMPUTE,
        *map(ACTIVITIES.index, ("disk-write", "other")),
        COMPUTE,
    ]
    assert told.steps.start.tolist() == [1.0, 2.0, 5.0, 5.0, 7.0]
    assert told.steps.stop.tolist() == [2.0, 3.5, 5.0, 6.0, 8.0]
    assert told.steps.source == [THERE, None, None, None, None]
    assert (told.computed.tolist(), told.computed_stop.tolist()) == ([1, 4], [3.5, 8.0])


def test_a_thread_whose_number_takes_64_bits_is_a_thread() -> None:
    assert executions(record(0.0, 1.0, 1.0, thread=2**63 + 5)).threads == [5]


@pytest.mark.parametrize("missing", ["key", "worker", "status", "startstops"])
def test_what_is_no_record_is_refused(missing: str) -> None:
    broken = record(1.0, 2.0, 2.0)
    del broken[missing]
    told, errors = read_executions([record(1.0, 2.0, 2.0), broken, record(3.0, 4.0, 4.0)])
    assert told.computed_stop.tolist() == [2.0, 4.0]
    assert [type(error) for error in errors] == [KeyError]


def test_an_error_has_its_type_and_its_message_and_an_end() -> None:
    assert error_text("ValueError('no <b>luck</b>')") == "ValueError: no <b>luck</b>"
    assert error_text("KeyError(('a', 1))") == "KeyError(('a', 1))"
    assert error_text("Odd\ud800") == "Odd\\ud800"
    assert len(error_text("E" * 10_000)) == MAX_ERROR_TEXT + 1


def test_times_are_the_scheduler_s_own_where_its_clock_is_the_worker_s() -> None:
    hosts = HostClocks(SCHEDULER)
    here, there = WorkerClock(hosts, HERE), WorkerClock(hosts, THERE)
    for clock in (here, there):
        for correction in (0.25, 0.5, 0.75):
            clock.note(100.0, correction)
    # What is put in the place of 0.5 s that were added; and of nothing, on disk.
    assert (here.shift_s(0.5), here.ahead_s) == (-0.5, 0.0)
    # Elsewhere what the worker took it for is all there is.
    assert (there.shift_s(0.5), there.ahead_s) == (0.0, 0.5)

    elsewhere = hosts.host(THERE)
    assert elsewhere is not None
    elsewhere.note([Exchange(10.0, 10.125, 10.25), Exchange(10.0, 12.0, 13.0)], 0.0)
    assert (there.shift_s(0.5), there.ahead_s) == (-0.5, 0.0)
    elsewhere.note([Exchange(20.0, 22.0, 20.0)], 10.0)
    assert (there.shift_s(0.5), there.ahead_s) == (1.5, 2.0)
    # The scheduler's own clock may be ahead of this machine's.
    hosts.scheduler.note([Exchange(30.0, 37.0, 30.0)], 0.0)
    assert (here.shift_s(0.5), here.ahead_s) == (-7.5, -7.0)
    assert (there.shift_s(0.5), there.ahead_s, there.shift_s(math.nan)) == (-5.5, -5.0, -7.0)


def test_what_a_worker_logged_is_corrected_by_what_it_added_then() -> None:
    clock = WorkerClock(HostClocks(SCHEDULER), HERE)
    assert clock.logged_shift_s(100.0) == 0.0
    for stop, correction in ((100.0, 0.25), (110.0, 0.5)):
        clock.note(stop, correction)
    assert [clock.logged_shift_s(stop) for stop in (90.0, 104.0, 106.0, 120.0)] == [-0.25, -0.25, -0.5, -0.5]


def test_a_loopback_address_is_this_machine_unless_its_clock_shows_that_it_is_a_tunnel() -> None:
    hosts = HostClocks("tcp://127.0.0.1:8786")
    hosts.scheduler.note([Exchange(10.0, 10.0, 10.5)], 0.0)
    assert hosts.scheduler_ahead_s == 0.0
    hosts.scheduler.note([Exchange(11.0, 13.0, 11.5)], 1.0)
    assert hosts.scheduler_ahead_s == 1.75


def world(clock: Clock) -> World:
    """Return a scheduler that was handed a task called ``x-1``."""
    found = World(clock)
    found.begin(["x-1"])
    found.tell(*found.graph({"x-1": ()}))
    return found


def test_a_clock_that_is_set_is_told_and_no_task_takes_less_than_no_time(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    asked = world(fake_clock)
    asked.tell(("end", record(now + 5.0, now + 1.0, now + 1.0)))
    table = asked.recorder.snapshot().table("tasks")
    assert [stop - start for start, stop in zip(table["start_s"], table["stop_s"], strict=True)] == [0.0]
    assert asked.said == ["the clock of worker 0 was set back: times of its tasks are uncertain"]


def test_a_step_of_this_machine_s_clock_is_told_once(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    stepped = [0.0]
    clock = Clock(fake_clock.perf_counter, fake_clock.thread_time, lambda: fake_clock.time() + stepped[0])
    asked = world(clock)
    asked.tell(("end", record(now, now + 1.0, now + 1.0)))
    stepped[0] = 60.0
    for _ in range(2):
        asked.tell(("end", record(now + 61.0, now + 62.0, now + 62.0)))
    assert asked.said == ["the clock of this machine was set by +60.0 s: times around that are uncertain"]
    starts = list(asked.recorder.snapshot().table("tasks")["start_s"])
    assert starts == pytest.approx([0.0, 1.0, 1.0])


@pytest.mark.parametrize("broken", [{"key": "x-1"}, {"key": ["x-1"]}, "no record"])
def test_a_broken_record_is_a_fault_and_the_others_are_told(fake_clock: FakeClock, broken: Any) -> None:
    now = fake_clock.time()
    asked = world(fake_clock)
    asked.tell(("end", broken), ("end", record(now, now + 1, now + 1)))
    assert len(asked.recorder.snapshot().tasks) == 1
    assert [text.partition(":")[0] for text in asked.said] == [
        "taskscope failed in reading a record of the task stream"
    ]


def test_a_task_whose_record_cannot_be_read_was_not_interrupted(fake_clock: FakeClock) -> None:
    asked = world(fake_clock)
    run = asked.begin(["x-1", "x-2"])
    asked.tell(*asked.graph({"x-1": (), "x-2": ()}), asked.send("x-1"), asked.send("x-2", THERE))
    now = fake_clock.time()
    asked.tell(asked.end("x-1"), ("end", record(now, now, now, key="x-2", worker=THERE, thread=-1)))
    asked.finish(run, "finished")
    assert rows(asked.recorder.snapshot(), "tasks", "key", "status") == [("x-1", "finished")]
    assert run.log.n_tasks == 2


def test_a_scheduler_that_answers_slowly_is_asked_less_often() -> None:
    now = [0.0]
    limiter = RateLimiter(lambda: now[0])
    pauses = []
    for took_s in (0.001, 0.02, 0.08, 5.0):
        with limiter:
            now[0] += took_s
        pauses.append(limiter.pause_s())
    assert pauses == pytest.approx([0.2, 0.4, 1.6, 2.0])
    assert [limiter.is_due("x", 1.0), limiter.is_due("x", 1.0)] == [True, False]
    now[0] += 1.0
    assert limiter.is_due("x", 1.0)
    assert not math.isnan(limiter.pause_s())


def test_a_message_that_takes_long_is_due_seldom_and_one_slow_answer_is_not_believed() -> None:
    now = [0.0]
    limiter = RateLimiter(lambda: now[0])

    def waited_s(took_s: float) -> float:
        with limiter.limited("x"):
            now[0] += took_s
        began = now[0]
        while not limiter.is_due("x", 0.0):
            now[0] += 1.0
        return now[0] - began

    found = [waited_s(took_s) for took_s in (0.02, 0.5, 0.02, 0.01, 0.02, 0.02, 0.02, 0.02)]
    assert found == pytest.approx([0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 4.0])


@pytest.mark.parametrize(
    "odd",
    [
        {"thread": 2**64},
        {"thread": -1},
        {"key": {"not": "hashable"}},
        {"nbytes": 10**400},
        {"startstops": ({"action": "compute", "start": float("nan"), "stop": 2.0},)},
        {"startstops": 7},
    ],
    ids=lambda odd: next(iter(odd)),
)
def test_what_a_worker_told_of_one_task_that_cannot_be_meant_is_left_out_alone(odd: dict[str, Any]) -> None:
    good = [record(1.0, 2.0, 2.5, key="x-1"), record(2.0, 3.0, 3.5, key="x-3")]
    told, errors = read_executions([good[0], record(1.0, 2.0, 2.5, **{"key": "x-2", **odd}), good[1]])
    assert (told.keys, len(errors)) == (["x-1", "x-3"], 1)


def test_what_a_worker_tells_of_one_task_is_bounded() -> None:
    transfer = {"action": "transfer", "start": 1.0, "stop": 1.5, "source": THERE}
    compute = {"action": "compute", "start": 2.0, "stop": 3.0}
    odd = record(0, 0, 3.25 + 11 * 86_400, startstops=(*[transfer] * 100_000, compute, transfer))
    failed = record(1.0, 2.0, 2.5, status="error", exception_text=f"ValueError('{'x' * 50_000_000}')")
    told = executions(odd, failed)
    assert (told.n_cut, len(told.steps.owner), told.computed_stop.tolist()) == (1, 1_001, [3.0, 2.0])
    assert told.errors == {1: f"ValueError('{'x' * 488}…"}
    assert [str(moment) for moment in told.reported] == ["nan", "2.5"]
