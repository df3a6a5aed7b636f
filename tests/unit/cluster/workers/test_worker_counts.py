"""Lines of named functions, counted and timed in tasks on workers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster

import taskscope
from taskscope.options import Named
from taskscope.recording import Recording
from taskscope.sources.cluster.connection import News, Plugins
from taskscope.sources.cluster.scheduler import WatchedScheduler
from taskscope.sources.line_meter import HAS_LOCAL_EVENTS
from tests.support.computes.process_tasks import total
from tests.support.waiting import PATIENCE_S, until

needs_events = pytest.mark.skipif(not HAS_LOCAL_EVENTS, reason="sys.monitoring came with Python 3.12")


def step(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


HAS_STEPPED = threading.Event()


def step_once(n: int) -> int:
    HAS_STEPPED.set()
    return n


def fails(n: int) -> int:
    if n == 2:
        raise ValueError("on purpose")
    return n


FIRST = step.__code__.co_firstlineno
STEP_OF_3 = {1: 1, 2: 4, 3: 3, 4: 1}


def left_behind(dask_worker: Any = None) -> list[str]:
    import sys

    tools = getattr(sys, "monitoring", None)
    used = [f"tool {n}" for n in (2, 3, 4, 5) if tools is not None and tools.get_tool(n) is not None]
    return [*used, *map(str, vars(sys.modules["distributed.worker"]).get("taskscope_counters", {}))]


def has_nothing_left(client: Client) -> bool:
    return not any(client.run(left_behind).values())


def computed(named: Named, *numbers: int, function: Any = step, key: str = "step") -> Recording:
    with taskscope.profile(lines=[named], display=False) as run:
        task = dask.delayed(function)
        dask.compute(*(task(n, dask_key_name=f"{key}-{i}") for i, n in enumerate(numbers)))
    return run.recording


def hits(recording: Recording, key: str | None = None, first: int = FIRST) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in recording.measured_lines:
        if key in {None, each.key}:
            found[each.line - first] = found.get(each.line - first, 0) + each.hits
    return found


@pytest.fixture(params=[False, True], ids=["threads", "processes"])
def workers(request: pytest.FixtureRequest) -> Any:
    shape: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": ":0"}
    cluster = LocalCluster(processes=request.param, protocol="tcp://", **shape)
    with cluster, Client(cluster) as client:
        yield client
        until(lambda: has_nothing_left(client))


@needs_events
@pytest.mark.parametrize("named", [step, "step"])
def test_each_line_of_a_named_function_is_counted_in_each_task(workers: Client, named: Named) -> None:
    for name in ("one", "other"):
        recording = computed(named, *[3] * 40, key=name)
        assert recording.messages == ()
        assert {key: hits(recording, key) for key in recording.to_pandas("tasks").key} == {
            f"{name}-{i}": STEP_OF_3 for i in range(40)
        }
        tasks = recording.to_pandas("tasks")
        for key, taken_s in zip(tasks.key, tasks.stop_s - tasks.start_s, strict=True):
            mine = [each for each in recording.measured_lines if each.key == key]
            assert 0 < sum(each.seconds for each in mine) <= taken_s
            assert {(each.file, each.function) for each in mine} == {(__file__, "step")}
        assert {each.worker for each in recording.measured_lines} <= {
            *workers.scheduler_info(n_workers=-1)["workers"]
        }
        assert recording.lines(function=step).functions[0].lines[1].hits == 160


@needs_events
def test_lines_are_counted_where_workers_are_being_told_to_rest_as_a_block_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, begin = Plugins.read, WatchedScheduler.begin_wanted
    is_resting, may_rest, rests = threading.Event(), threading.Event(), threading.Event()

    async def read_late(self: Plugins, *arguments: Any, **options: Any) -> News:
        if rests.is_set():
            # It has the options of the block, too.
            await asyncio.to_thread(HAS_STEPPED.wait)
        if not options.get("may_rest") or rests.is_set():
            return await read(self, *arguments, **options)
        is_resting.set()
        await asyncio.to_thread(may_rest.wait)
        news = await read(self, *arguments, **options)
        rests.set()
        return news

    async def begin_first(self: WatchedScheduler) -> None:
        begun = asyncio.ensure_future(begin(self))
        # For as long as it would take, if it could be before the workers rest.
        await asyncio.wait([begun], timeout=0.5)
        may_rest.set()
        await asyncio.to_thread(rests.wait)
        await begun

    monkeypatch.setattr(Plugins, "read", read_late)
    monkeypatch.setattr(WatchedScheduler, "begin_wanted", begin_first)
    first = step_once.__code__.co_firstlineno
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        with taskscope.profile(display=False):
            assert dask.delayed(abs)(-1).compute() == 1
        is_resting.wait()
        recording = computed(step_once, 3, function=step_once)
        assert hits(recording, "step-0", first) == {1: 1, 2: 1}
        until(lambda: has_nothing_left(client))


@needs_events
def test_lines_up_to_an_exception_are_counted_and_the_next_task_is_counted_anew(workers: Client) -> None:
    first = fails.__code__.co_firstlineno
    with (
        pytest.raises(ValueError, match="on purpose"),
        taskscope.profile(lines=[fails], display=False) as run,
    ):
        dask.delayed(fails)(2, dask_key_name="failing-1").compute()
    assert hits(run.recording, "failing-1", first) == {1: 1, 2: 1}
    assert all(each.seconds > 0 for each in run.recording.measured_lines)
    recording = computed(fails, 1, function=fails, key="after")
    assert hits(recording, "after-0", first) == {1: 1, 3: 1}


@needs_events
def test_a_function_that_was_sent_as_code_is_counted_with_its_file_where_it_is_defined(
    workers: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("def mine(n):\n    m = n\n    return m\n", "/some/where/cell.py", "exec"), names)
    monkeypatch.setattr(sys.modules["__main__"], "mine", names["mine"], raising=False)
    recording = computed(names["mine"], *[1] * 8, function=names["mine"])
    assert hits(recording, first=0) == {2: 8, 3: 8}
    assert {each.file for each in recording.measured_lines} == {"/some/where/cell.py"}
    assert recording.messages == ()


@needs_events
def test_a_function_that_is_not_named_and_a_task_of_another_client_are_not_counted(workers: Client) -> None:
    with (
        taskscope.profile(lines=[total], display=False) as run,
        subprocess.Popen([sys.executable, "-c", OTHER, str(workers.scheduler.address)]) as other,  # type: ignore[union-attr]
    ):
        dask.delayed(step)(3, dask_key_name="step-1").compute()
        assert other.wait(PATIENCE_S) == 0
    assert run.recording.measured_lines == ()


OTHER = """
import sys
from distributed import Client

with Client(sys.argv[1]) as client:
    from tests.support.computes.process_tasks import total
    client.submit(total, [1, 2]).result()
"""


@pytest.mark.skipif(HAS_LOCAL_EVENTS, reason="from Python 3.12 on lines are counted")
def test_before_python_3_12_it_is_said_that_lines_are_not_counted_on_workers(client: Client) -> None:
    recording = computed(step, 3)
    assert recording.measured_lines == ()
    (message,) = recording.messages
    assert message.text.partition(";")[0] == "lines are not counted: that needs Python 3.12 or later"
