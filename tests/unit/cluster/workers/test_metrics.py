"""Where the seconds of tasks went, as workers metered it; held against what tasks measure themselves."""

from __future__ import annotations

import asyncio
import math
import time
from statistics import median

from distributed import Client, get_worker
from distributed.metrics import context_meter

import taskscope
from taskscope.model.recording import RecordedData
from taskscope.model.tables.workers import Metric


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


def test_cpu_time_of_each_task_is_what_it_measures_itself(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        futures = [
            *client.map(spin, [0.002, 0.01, 0.05] * 4, range(12), key=[f"spin-{n}" for n in range(12)]),
            *client.map(rest, [0.02] * 4, range(4), key=[f"rest-{n}" for n in range(4)]),
        ]
        truth = {str(future.key): future.result() for future in futures}
        client.cancel(futures)
        del futures
    found = cpu_of_tasks(run.recording)
    assert found.keys() == truth.keys()
    assert all(cpu_s <= found[key] for key, cpu_s in truth.items()), (truth, found)
    # What calls a task and measures its result is in it, and now and then a collection of garbage.
    assert median(found[key] - cpu_s for key, cpu_s in truth.items()) < 2e-3


def cpu_of_tasks(recording: RecordedData) -> dict[str, float]:
    table = recording.table("tasks")
    return {str(key): float(cpu_s) for key, cpu_s in zip(table["key"], table["cpu_s"], strict=True)}


def fail(seconds: float) -> None:
    spin(seconds)
    raise ValueError("no")


async def coroutine(seconds: float) -> None:
    spin(seconds)
    await asyncio.sleep(0)


def test_of_a_task_that_fails_it_is_known_and_of_a_coroutine_it_is_not(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        futures = [client.submit(f, 0.02, key=f"{f.__name__}-1", pure=False) for f in (spin, fail, coroutine)]
        assert [type(future.exception()).__name__ for future in futures] == [
            "NoneType", "ValueError", "NoneType"
        ]  # fmt: skip
        client.cancel(futures)
        del futures
    found = cpu_of_tasks(run.recording)
    # That of one that fails includes the text of its traceback.
    assert all(found[f"{name}-1"] >= 0.02 for name in ("spin", "fail"))
    assert math.isnan(found["coroutine-1"])


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
