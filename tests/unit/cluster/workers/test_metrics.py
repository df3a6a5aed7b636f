"""Where the seconds of tasks went, as workers metered it; held against what tasks measure themselves."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from pathlib import Path

from distributed import Client, get_worker
from distributed.metrics import context_meter

import taskscope
from taskscope.model.recording import RecordedData
from taskscope.model.tables.workers import Metric
from tests.support.recordings.tables import as_lists


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
