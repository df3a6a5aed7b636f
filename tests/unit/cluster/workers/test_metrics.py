"""Where the seconds of tasks went, as workers metered it; held against what tasks measure themselves."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, get_worker
from distributed.metrics import context_meter

import taskscope
from taskscope.model.recording import RecordedData
from taskscope.model.tables.workers import Metric
from taskscope.record import Recorder, RunLog
from taskscope.sources.cluster.link import RateLimiter
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers.known import Workers
from taskscope.sources.cluster.workers.metrics import Ended, TaskCpu, WorkerMetrics
from taskscope.sources.cluster.workers.poll import WorkerPoll
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.tables import as_lists
from tests.unit.cluster.workers.test_failures import SCHEDULER, A, B, FakeWorker, Scheduler


def spin(seconds: float, _number: int = 0) -> float:
    """Return how much CPU time this took, as the task itself measures it."""
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass
    return time.thread_time() - began


def rest(seconds: float, _number: int = 0) -> float:
    """The same, off the CPU."""
    began = time.thread_time()
    time.sleep(seconds)
    return time.thread_time() - began


def cpu_of(recording: RecordedData) -> dict[str, float]:
    cpu: defaultdict[str, float] = defaultdict(float)
    for metric in recording.metrics:
        cpu[metric.prefix] += metric.seconds if metric.activity == "thread-cpu" else 0.0
    return dict(cpu)


def test_cpu_time_by_prefix_is_what_tasks_measure_themselves(client: Client) -> None:
    work = {
        "spin-a": (spin, 0.002, 50),
        "spin-b": (spin, 0.01, 20),
        "spin-c": (spin, 0.1, 2),
        "rest-a": (rest, 0.001, 40),
        "rest-b": (rest, 0.02, 10),
        "rest-c": (rest, 0.1, 2),
    }
    for _ in range(2):
        # The second time only what came since counts.
        with taskscope.profile(display=False) as run:
            futures = {
                name: client.map(f, [seconds] * n, range(n), key=[(name, i) for i in range(n)], pure=False)
                for name, (f, seconds, n) in work.items()
            }
            truth = {name: sum(client.gather(mine)) for name, mine in futures.items()}
            client.cancel([future for mine in futures.values() for future in mine])
            del futures
        found = cpu_of(run.recording)
        assert found.keys() == truth.keys()
        for name, cpu_s in truth.items():
            # What calls a task, and measures its result, is in it: less than a tenth of a millisecond each.
            n = work[name][2]
            assert cpu_s <= found[name] <= cpu_s * 1.02 + n * 0.5e-3, (name, cpu_s, found[name])


def test_cpu_time_of_single_tasks_is_what_they_measure_themselves(client: Client) -> None:
    for _ in range(3):
        with taskscope.profile(display=False) as run:
            alone = {
                name: client.submit(f, 0.2, key=f"{name}-1", pure=False)
                for name, f in (("lone-spin", spin), ("lone-rest", rest))
            }
            several = client.map(spin, [0.05] * 8, range(8), key=[("spin-e", i) for i in range(8)])
            truth = {name: future.result() for name, future in alone.items()}
            shared_s = sum(client.gather(several))
            client.cancel([*alone.values(), *several])
            del alone, several
        rows = tasks_of(run.recording)
        for name, cpu_s in truth.items():
            ((found, _, cpu_from),) = rows[name]
            # What calls a task and measures its result is in it.
            assert cpu_from == "measured"
            assert cpu_s <= found <= cpu_s * 1.01 + 0.5e-3, (name, cpu_s, found)
        assert {cpu_from for _, _, cpu_from in rows["spin-e"]} <= {"measured", "shared"}
        found_s = sum(cpu_s for cpu_s, _, _ in rows["spin-e"])
        assert shared_s <= found_s <= shared_s * 1.02 + 8 * 0.5e-3
        assert all(cpu_s <= took_s + 1e-6 for cpu_s, took_s, _ in rows["spin-e"])


def tasks_of(recording: RecordedData) -> dict[str, list[tuple[float, float, str | None]]]:
    """Return CPU time, duration, and how the one is known, of the tasks of each prefix."""
    rows: defaultdict[str, list[tuple[float, float, str | None]]] = defaultdict(list)
    table = recording.table("tasks")
    columns = (list(table[name]) for name in ("prefix", "start_s", "stop_s", "cpu_s", "cpu_from"))
    for prefix, start_s, stop_s, cpu_s, cpu_from in zip(*columns, strict=True):
        rows[prefix].append((cpu_s, stop_s - start_s, cpu_from))
    return rows


def fail(seconds: float) -> None:
    spin(seconds)
    raise ValueError("no")


async def coroutine(seconds: float) -> None:
    spin(seconds)
    await asyncio.sleep(0)


def test_of_tasks_that_fail_and_of_coroutines_it_is_not_known(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        futures = [client.submit(f, 0.02, key=f"{f.__name__}-1", pure=False) for f in (spin, fail, coroutine)]
        assert [type(future.exception()).__name__ for future in futures] == [
            "NoneType", "ValueError", "NoneType"
        ]  # fmt: skip
        client.cancel(futures)
        del futures
    rows = tasks_of(run.recording)
    known = {prefix: (cpu_s > 0.0, cpu_from) for prefix, ((cpu_s, _, cpu_from),) in rows.items()}
    assert known == {"spin": (True, "measured"), "fail": (False, None), "coroutine": (False, None)}


def ended(log: RunLog, key: str, start: float, seconds: float, reported: float) -> Ended:
    return Ended(log, key, start, seconds, reported)


def test_a_task_is_given_what_came_between_the_looks_that_it_ended_between(fake_clock: FakeClock) -> None:
    log, cpu = Recorder(clock=fake_clock).begin(), TaskCpu()

    def both(cpu_s: float, took_s: float, **others: float) -> dict[str, dict[str, float]]:
        return {"inc": {"thread-cpu": cpu_s, "thread-noncpu": took_s - cpu_s, **others}}

    def metered() -> list[object]:
        found = list(log.metered)
        log.metered.clear()
        return found

    cpu.begin(A, 10.0, ["inc-2"])
    # Before the first look, and booked by then or not.
    cpu.end(A, ended(log, "inc-1", 8.0, 1.0, 9.5))
    cpu.end(A, ended(log, "inc-2", 9.0, 0.75, 9.875))
    cpu.look(A, 12.0, [], both(0.5, 0.75))
    assert metered() == []
    # Told only after the look that has it.
    cpu.end(A, ended(log, "inc-4", 13.0, 2.0, 15.0))
    cpu.look(A, 14.0, [], both(1.0, 4.0))
    assert metered() == ["inc-2", 9.0, 0.5, False]
    cpu.end(A, ended(log, "inc-3", 10.0, 3.0, 13.0))
    cpu.end(A, ended(log, "inc-5", 12.5, 1.0, 13.5))
    # Of those that are over all was told; P2P meters itself, within of what tasks take.
    cpu.look(A, 16.0, [], both(0.25, 1.5, **{"p2p-cpu": 0.25, "p2p-disk-write": 0.25}))
    assert metered() == ["inc-3", 10.0, 0.75, True, "inc-5", 12.5, 0.25, True]
    cpu.settle(frozenset({"inc", "none"}))
    assert metered() == ["inc-4", 13.0, 0.5, False]
    # What was booked by then and is told too late is in no later sum.
    cpu.end(A, ended(log, "inc-6", 14.0, 0.5, 15.5))
    cpu.end(A, ended(log, "inc-7", 16.0, 0.5, 17.0))
    cpu.look(A, 18.0, [], both(0.375, 0.5))
    cpu.settle(frozenset({"inc"}))
    assert metered() == ["inc-7", 16.0, 0.375, False]


@pytest.mark.parametrize(
    ("seconds", "reported"),
    [
        # One ended beside it of which nobody told.
        ({"thread-cpu": 0.5, "thread-noncpu": 1.0}, 11.0),
        # It ran in a process of an executor, or another did.
        ({"executor": 1.0}, 11.0),
        ({"thread-cpu": 0.25, "thread-noncpu": 0.25, "executor": 0.5}, 11.0),
        # Of what was booked not all was told.
        ({"thread-cpu": 0.25, "thread-noncpu": 0.25}, 11.0),
        # Nobody knows when it was booked.
        ({"thread-cpu": 0.5, "thread-noncpu": 0.5}, float("nan")),
    ],
)
def test_what_cannot_be_of_those_tasks_alone_is_given_to_none(
    seconds: dict[str, float], reported: float, fake_clock: FakeClock
) -> None:
    log, cpu = Recorder(clock=fake_clock).begin(), TaskCpu()
    cpu.begin(A, 10.0, [])
    cpu.end(A, ended(log, "inc-1", 10.0, 1.0, reported))
    cpu.look(A, 12.0, [], {"inc": seconds})
    cpu.settle(frozenset({"inc"}))
    assert log.metered == []


def test_of_more_tasks_than_are_kept_it_is_not_known(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskscope.sources.cluster.workers.metrics._MOST_ENDED", 2)
    log, cpu = Recorder(clock=fake_clock).begin(), TaskCpu()
    cpu.begin(A, 10.0, [])
    for number in range(3):
        cpu.end(A, ended(log, f"inc-{number}", 10.0 + number, 1.0, 11.0 + number))
    cpu.look(A, 14.0, [], {"inc": {"thread-cpu": 3.0, "thread-noncpu": 0.0}})
    cpu.settle(frozenset({"inc"}))
    assert log.metered == []
    # A worker that is gone is forgotten, with its tasks.
    cpu.end(A, ended(log, "inc-4", 14.0, 1.0, 15.0))
    cpu.forget(frozenset())
    cpu.look(A, 16.0, [], {"inc": {"thread-cpu": 1.0, "thread-noncpu": 0.0}})
    cpu.settle(frozenset({"inc"}))
    assert log.metered == []


def test_they_are_in_files_and_in_the_summary(client: Client, tmp_path: Path) -> None:
    with taskscope.profile(display=False, save=tmp_path / "a.taskscope") as run:
        client.submit(spin, 0.05, key="whirl-1").result()
    recording = run.recording
    recording.save(tmp_path / "b.taskscope")
    assert {(m.prefix, m.activity) for m in recording.metrics} >= {
        ("whirl", "thread-cpu"),
        ("whirl", "thread-noncpu"),
    }
    for name in ("a", "b"):
        loaded = taskscope.load(tmp_path / f"{name}.taskscope")
        assert as_lists(loaded, "metrics") == as_lists(recording, "metrics")
    lines = [line.split() for line in recording.summary().splitlines()]
    (cpu,) = [line for line in lines if line[:2] == ["CPU", "time"]]
    assert cpu[3].endswith(";")
    assert cpu[6] == "off"
    assert [line[-1] for line in lines if line[:2] == ["task", "type"]] == ["CPU"]
    recording.save(tmp_path / "c.taskscope", redact=True)
    assert {m.prefix for m in taskscope.load(tmp_path / "c.taskscope").metrics}.isdisjoint({"whirl"})


def test_what_a_task_meters_itself_has_its_bytes_and_its_count(client: Client) -> None:
    def meter() -> str:
        context_meter.digest_metric("read", 0.5, "seconds")
        context_meter.digest_metric("read", 2**20, "bytes")
        context_meter.digest_metric("read", 3, "count")
        context_meter.digest_metric("read", 7, "parsecs")
        return str(get_worker().address)

    with taskscope.profile(display=False) as run:
        address = client.submit(meter, key="metering-1").result()
    (found,) = [m for m in run.recording.metrics if m.activity == "read"]
    number = run.recording.runs[0].run
    assert found == Metric(number, address, "metering", "read", 0.5, 2.0**20, 3.0)


def told(prefix: str, seconds: float) -> dict[Any, float]:
    # Of two spans, beside what is no task's.
    return {
        ("execute", "span-1", prefix, "thread-cpu", "seconds"): seconds / 2,
        ("execute", None, prefix, "thread-cpu", "seconds"): seconds / 2,
        ("gather-dep", "network", "seconds"): 9.0,
        "latency": 1.0,
    }


def run_of(recorder: Recorder, *keys: str) -> TrackedRun:
    return TrackedRun(recorder.begin(), None, None, collects=True, wake=lambda: None, keys=set(keys))


def workers_of(*addresses: str) -> dict[str, Any]:
    return {"workers": {address: {"nthreads": 1} for address in addresses}}


def test_only_what_comes_while_a_compute_goes_on_is_its_own(fake_clock: FakeClock) -> None:
    old, new = FakeWorker(A), FakeWorker(B)
    link, recorder, workers = Scheduler(old, new), Recorder(clock=fake_clock), Workers(SCHEDULER)
    metrics = WorkerMetrics(WorkerPoll(link, workers, recorder), recorder)
    limiter = RateLimiter(fake_clock.perf_counter)
    seen: list[dict[tuple[int, str, str], float]] = []

    async def look(*runs: TrackedRun) -> None:
        await metrics.ask(limiter, runs, at_once=True)
        found = recorder.metered.between(0, None)
        seen.append({(m.run, m.worker, m.prefix): m.seconds for m in found})

    async def looks() -> None:
        old.digests_total = told("inc", 40.0)
        workers.update(workers_of(A))
        await metrics.open(limiter)
        first = run_of(recorder, "inc-1")
        old.digests_total = told("inc", 42.0)
        await look(first)
        # One that comes later has done nothing before.
        new.digests_total = told("inc", 1.0)
        workers.update(workers_of(A, B))
        await look(first)
        # Of two the last one, and what is of neither is nobody's.
        second = run_of(recorder, "inc-2")
        old.digests_total = told("inc", 43.0) | told("of others", 5.0)
        await look(first, second)
        first.over = second.over = 0.0
        await look(first, second)
        # Started anew at its address.
        old.digests_total = told("inc", 0.5)
        await look(run_of(recorder, "inc-3"), run_of(recorder, "of others-1"))

    asyncio.run(looks())
    assert seen == [
        {(0, A, "inc"): 2.0},
        {(0, A, "inc"): 2.0, (0, B, "inc"): 1.0},
        {(0, A, "inc"): 2.0, (0, B, "inc"): 1.0, (1, A, "inc"): 1.0},
        {(0, A, "inc"): 2.0, (0, B, "inc"): 1.0, (1, A, "inc"): 1.0},
        {(0, A, "inc"): 2.0, (0, B, "inc"): 1.0, (1, A, "inc"): 1.0, (2, A, "inc"): 0.5},
    ]
    assert recorder.messages == []


def test_a_worker_that_tells_what_cannot_be_read_is_named_and_the_others_are_taken(
    fake_clock: FakeClock,
) -> None:
    bad, good = FakeWorker(A), FakeWorker(B)
    bad.digests_total, good.digests_total = told("inc", float("nan")), told("inc", 2.0)
    link, recorder, workers = Scheduler(bad, good), Recorder(clock=fake_clock), Workers(SCHEDULER)
    metrics = WorkerMetrics(WorkerPoll(link, workers, recorder), recorder)
    workers.update(workers_of(A, B))
    run = run_of(recorder, "inc-1")
    asyncio.run(metrics.ask(RateLimiter(fake_clock.perf_counter), [run], at_once=True))
    assert [(m.worker, m.seconds) for m in recorder.metered.between(0, None)] == [(B, 2.0)]
    why = "ValueError: a number must be at least 0 and below 2**53, got nan"
    assert [message.text for message in recorder.messages] == [
        f"what {workers.get(A).label} reported of its metrics is left out: {why}"
    ]


def test_workers_that_do_not_tell_are_asked_no_more_and_that_is_said(fake_clock: FakeClock) -> None:
    link, recorder, workers = Scheduler(FakeWorker(A)), Recorder(clock=fake_clock), Workers(SCHEDULER)
    link.refusing.add(A)
    workers.update(workers_of(A))
    metrics = WorkerMetrics(WorkerPoll(link, workers, recorder), recorder)

    async def looks() -> None:
        for _ in range(3):
            await metrics.ask(RateLimiter(fake_clock.perf_counter), [run_of(recorder, "inc-1")], at_once=True)

    asyncio.run(looks())
    assert link.n_asked == 1
    assert [message.text for message in recorder.messages] == [
        "workers do not report their metrics (not allowed), so CPU time is not known"
    ]


def test_sums_beyond_the_bound_are_left_out_and_that_is_said(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskscope.record.tables.metrics._MAX_ROWS", 2)
    recorder = Recorder(clock=fake_clock)
    for prefix in ("a", "b", "c", "a"):
        recorder.metered.add(0, A, prefix, "thread-cpu", "seconds", 1.0)
    found = [(m.prefix, m.seconds) for m in recorder.metered.between(0, None)]
    assert (found, len(recorder.messages)) == ([("a", 2.0), ("b", 1.0)], 1)
