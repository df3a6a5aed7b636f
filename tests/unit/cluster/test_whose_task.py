"""Which tasks are those of other clients, and of which that cannot be said."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from taskscope.record import Recorder
from taskscope.sources.cluster import others, past
from taskscope.sources.cluster.inflight import InFlight
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.past import PastKeys
from taskscope.sources.cluster.runs import announce
from taskscope.sources.cluster.watched import Watched
from tests.support.fake_clock import FakeClock
from tests.unit.cluster.test_records import Told, read, record, stream_of


def told(recorder: Recorder) -> Counter[tuple[str | None, str, str]]:
    recording = recorder.snapshot()
    schedulers = {run.run: run.scheduler for run in recording.runs}
    table = recording.table("tasks")
    rows = zip(table["run"], table["key"], table["prefix"], strict=True)
    return Counter((schedulers[int(run)], str(key), str(prefix)) for run, key, prefix in rows)


OTHERS = "distributed, other clients"


def test_what_is_nobody_s_waits_until_it_is_certain_that_it_is_not_ours(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    link = Told(*(record(now, now + 1, now + 1, key=key) for key in ("x-1", "y-1", "z-1")))
    recorder, stream, run = stream_of(link, fake_clock)
    stream._others.follow(fake_clock.perf_counter())
    asyncio.run(stream.ask())
    for _ in range(3):
        stream.fold(knows_all=False)
    announce(run, {"y-1": ()}, ["y-1"])
    stream._ownership.take(run, ["y-1"])
    stream.fold(knows_all=True)
    expected = Counter(
        {(None, "x-1", "x"): 1, (None, "y-1", "y"): 1, (OTHERS, "z-1", "z (other clients)"): 1}
    )
    assert told(recorder) == expected
    stream.fold(knows_all=True)
    assert told(recorder) == expected


def test_what_was_read_before_they_were_wanted_is_not_theirs(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    link = Told(record(now, now + 1, now + 1, key="before"))
    recorder, stream, _ = stream_of(link, fake_clock)
    read(stream)
    stream.set_apart()
    stream._others.follow(fake_clock.perf_counter())
    link.records.append(record(now, now + 1, now + 1, key="after"))
    for _ in range(2):
        read(stream)
    assert told(recorder) == Counter({(OTHERS, "after", "after (other clients)"): 1})


def test_a_task_of_a_run_that_is_over_and_that_runs_again_is_not_theirs(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    link = Told()
    recorder, stream, run = stream_of(link, fake_clock)
    stream._others.follow(fake_clock.perf_counter())
    stream._ownership.forget(run)
    link.records += [record(now, now + 1, now + 1, key=key) for key in ("x-1", "x-2")]
    for _ in range(2):
        read(stream)
    assert told(recorder) == Counter({(OTHERS, "x-2", "x (other clients)"): 1})


def test_a_task_that_a_worker_has_becomes_ours_when_we_ask_for_it_and_none_is_interrupted(
    fake_clock: FakeClock,
) -> None:
    link = Processing()
    recorder, stream, run = stream_of(link, fake_clock)
    ownership, strangers = stream._ownership, stream._others
    strangers.follow(fake_clock.perf_counter())
    certain = [False]
    in_flight = InFlight(Watched(link, stream._workers, ownership, recorder), strangers, lambda: certain[0])
    pace = Pace(fake_clock.perf_counter)
    running = []
    for is_certain in (False, True):
        certain[0] = is_certain
        asyncio.run(in_flight.ask(pace))
        recorder.pull(1.0)
        running.append(sorted(task.key_text for task in recorder.running()))
        fake_clock.advance(1.0)
    assert running == [[], ["shared", "theirs"]]
    announce(run, {"shared": ()}, ["shared"])
    ownership.take(run, ["shared"])
    strangers.give_up({"shared": ()})
    asyncio.run(in_flight.ask(pace))
    recorder.pull(1.0)
    owners = {task.key_text: task.run for task in recorder.running()}
    assert owners == {"shared": run.log.run, "theirs": run.log.run + 1}
    strangers.follow(None)
    recorder.pull(1.0)
    assert [task.key_text for task in recorder.running()] == ["shared"]
    (theirs,) = (r for r in recorder.runs() if r.is_of_others)
    assert (theirs.status, theirs.n_tasks, recorder.snapshot(theirs.run).tasks.run.tolist()) == (
        "finished",
        0,
        [],
    )


class Processing(Told):
    """A scheduler whose worker has two tasks."""

    async def ask(self, op: str, **arguments: object) -> object:
        assert op == "processing"
        return {"tcp://10.0.0.2:1": ["shared", "theirs"]}


def test_a_run_of_theirs_has_so_many_tasks_and_another_one_follows(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(others, "_MAX_KEYS", 2)
    now = fake_clock.time()
    link = Told()
    recorder, stream, run = stream_of(link, fake_clock)
    stream._others.follow(fake_clock.perf_counter())
    for i in range(3):
        link.records.append(record(now, now + 1, now + 1, key=("s", i)))
        read(stream)
    runs = [(r.run - run.log.run, r.status) for r in recorder.snapshot().runs if r.is_of_others]
    assert runs == [(1, "finished"), (2, "running")]
    assert sum(told(recorder).values()) == 3


def test_keys_are_remembered_and_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "_MAX_KEYS", 4)
    monkeypatch.setattr(past, "_PART", 2)
    keys = PastKeys()
    assert keys.have(["a"]) == [False]
    for part in (["a"], [("x", 1), 7], ["b", "c"], []):
        keys.add(part)
    assert keys.have(["a", ("x", 1), 7, "b", "c", "d"]) == [False, False, False, True, True, False]
    assert keys.have([]) == []
