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
from taskscope.record import Recorder
from taskscope.sources.cluster.link import Pace
from taskscope.sources.cluster.metrics import WorkerMetrics
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.worker_poll import WorkerPoll
from taskscope.sources.cluster.workers import Workers
from tests.support.fake_clock import FakeClock
from tests.support.tables import as_lists
from tests.unit.cluster.test_failures import SCHEDULER, A, B, FakeWorker, Scheduler


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
    (execute,) = [line for line in lines if line[:1] == ["execute"]]
    assert cpu[4:] == ["in", "tasks", "that", "finished"]
    assert execute[3:6:2] == [*cpu[2:3], "CPU,"]
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
    pace = Pace(fake_clock.perf_counter)
    seen: list[dict[tuple[int, str, str], float]] = []

    async def look(*runs: TrackedRun) -> None:
        await metrics.ask(pace, runs, at_once=True)
        found = recorder.metered.between(0, None)
        seen.append({(m.run, m.worker, m.prefix): m.seconds for m in found})

    async def looks() -> None:
        old.digests_total = told("inc", 40.0)
        workers.update(workers_of(A))
        await metrics.open(pace)
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
    asyncio.run(metrics.ask(Pace(fake_clock.perf_counter), [run], at_once=True))
    assert [(m.worker, m.seconds) for m in recorder.metered.between(0, None)] == [(B, 2.0)]
    why = "ValueError: what was metered must be finite, got nan"
    assert [message.text for message in recorder.messages] == [
        f"what {workers.get(A).label} told of its metrics is left out: {why}"
    ]


def test_workers_that_do_not_tell_are_asked_no_more_and_that_is_said(fake_clock: FakeClock) -> None:
    link, recorder, workers = Scheduler(FakeWorker(A)), Recorder(clock=fake_clock), Workers(SCHEDULER)
    link.refusing.add(A)
    workers.update(workers_of(A))
    metrics = WorkerMetrics(WorkerPoll(link, workers, recorder), recorder)

    async def looks() -> None:
        for _ in range(3):
            await metrics.ask(Pace(fake_clock.perf_counter), [run_of(recorder, "inc-1")], at_once=True)

    asyncio.run(looks())
    assert link.n_asked == 1
    assert [message.text for message in recorder.messages] == [
        "workers do not tell what they meter (not allowed), so CPU time is not known"
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
