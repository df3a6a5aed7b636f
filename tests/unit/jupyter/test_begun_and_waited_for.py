"""What one cell begins, on a cluster or in a thread, and a later one waits for, in a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.support.kernel import Kernel, running_kernel

SETUP = """
import asyncio
import dask, taskscope
from dask.distributed import Client, Event, as_completed, fire_and_forget, wait
from distributed import SchedulerPlugin
from tests.support.waiting import be_patient
be_patient()
%load_ext taskscope

def gated(name):
    Event("gate").wait()
    return name

class Truth(SchedulerPlugin):
    ran = []
    def transition(self, key, start, finish, *args, **kwargs):
        if start == "processing" and finish in {"memory", "erred"}:
            self.ran.append(str(key))

async def known(keys, dask_scheduler):
    while not all(key in dask_scheduler.tasks for key in keys):
        await asyncio.sleep(0.01)

def keys(recording):
    return sorted(recording.to_pandas("tasks")["key"])
"""
IN_LOOP = "its event loop"
CLUSTERS = {
    "threads": 'client = Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")',
    "processes": 'client = Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")',
    IN_LOOP: "client = await Client(n_workers=1, threads_per_worker=2, processes=False, "
    'dashboard_address=":0", asynchronous=True)',
}
FOLLOWED = "truth = Truth(); client.cluster.scheduler.add_plugin(truth)"


@dataclass(frozen=True)
class Way:
    """A cell that begins four tasks, which a gate holds up, and one that waits for them once it is open."""

    begins: str
    waits: str


DELAYED = "[dask.delayed(gated)(i) for i in range(4)]"
SUBMITTED = "[client.submit(gated, i, pure=False) for i in range(4)]"
# A scheduler still reading a graph drops the wish to keep its keys, and the tasks when their futures go.
FORGOTTEN = (
    f"fs = {SUBMITTED}; client.run_on_scheduler(known, [f.key for f in fs]); fire_and_forget(fs); del fs"
)
MAPPED = "client.map(gated, range(4), pure=False)"
WAYS = {
    "map, gather": Way(f"fs = {MAPPED}", "client.gather(fs)"),
    "map, wait": Way(f"fs = {MAPPED}", "wait(fs)"),
    "submit, result": Way(f"fs = {SUBMITTED}", "[f.result() for f in fs]"),
    "submit, results let go one by one": Way(f"fs = {SUBMITTED}", "while fs:\n    fs.pop().result()"),
    "submit, as_completed": Way(f"fs = as_completed({SUBMITTED})", "for f in fs:\n    f.result()"),
    "persist, compute": Way(f"kept = dask.persist(*{DELAYED})", "dask.compute(*kept)"),
    "compute, gather": Way(f"fs = client.compute({DELAYED})", "client.gather(fs)"),
    "compute(sync=False), result": Way(
        f"fs = client.compute({DELAYED}, sync=False)", "[f.result() for f in fs]"
    ),
    "fire and forget": Way(FORGOTTEN, "begun.wait(60)"),
    "a compute of its own beside it": Way(
        f"fs = {MAPPED}", "dask.delayed(abs)(-1).compute(); client.gather(fs)"
    ),
}
AWAITED = {
    "map, gather": Way(f"fs = {MAPPED}", "await client.gather(fs)"),
    "submit, await": Way(f"fs = {SUBMITTED}", "for f in fs:\n    await f"),
    "submit, wait": Way(f"fs = {SUBMITTED}", "await wait(fs)"),
    "submit, as_completed": Way(f"fs = {SUBMITTED}", "async for f in as_completed(fs):\n    await f"),
    "persist, compute": Way(f"kept = client.persist({DELAYED})", "await client.gather(client.compute(kept))"),
    "compute, gather": Way(f"fs = client.compute({DELAYED})", "await asyncio.gather(*fs)"),
}
CASES = [("threads", way) for way in WAYS] + [(IN_LOOP, way) for way in AWAITED]
CASES += [("processes", way) for way in ("map, gather", "persist, compute", "fire and forget")]


@pytest.fixture(scope="module")
def kernels() -> Iterator[dict[str, Kernel]]:
    """The kernels that were needed so far, by where their cluster's scheduler runs."""
    with running_kernel() as threads, running_kernel() as processes, running_kernel() as loop:
        kernels = dict(zip(CLUSTERS, (threads, processes, loop), strict=True))
        for kind, kernel in kernels.items():
            for code in (SETUP, CLUSTERS[kind], FOLLOWED):
                assert kernel.run(code).reply["status"] == "ok"
        yield kernels
        for kind, kernel in kernels.items():
            kernel.run("await client.close()" if kind == IN_LOOP else "client.shutdown()")


def cell(kernel: Kernel, code: str) -> str:
    """Run a cell that fails and prints nothing; return its value as text."""
    said = kernel.run(code)
    assert (said.reply["status"], said.of("stream", "error")) == ("ok", [])
    return said.text() if said.of("execute_result") else ""


@pytest.mark.parametrize(("kind", "way"), CASES)
def test_a_cells_recording_is_whole_and_the_cell_that_waits_shows_it(
    kernels: dict[str, Kernel], tmp_path: Path, kind: str, way: str
) -> None:
    cells = (AWAITED if kind == IN_LOOP else WAYS)[way]
    awaits = "await " if kind == IN_LOOP else ""
    path = tmp_path / "begun.taskscope"

    run = partial(cell, kernels[kind])
    run(f"gate = Event('gate', client=client); {awaits}gate.clear(); truth.ran.clear()")
    run(f"%%profile -o begun -q -D {path}\n{cells.begins}\nbegan_in = len(In) - 1")
    assert run("left = begun; left.summary().splitlines()[-1].strip()") == (
        "'4 tasks still running in the background'"
    )
    run(f"%%profile -o waited -q\n{awaits}gate.set()\n{cells.waits}\nNone")
    run("complete = " + ("await asyncio.to_thread(left.wait, 60)" if awaits else "left.wait(60)"))
    run("waited = " + ("await asyncio.to_thread(waited.wait, 60)" if awaits else "waited.wait(60)"))
    assert run(f"keys(complete) == keys(taskscope.load({str(path)!r})), begun is complete") == "(True, True)"
    assert run(
        "keys(complete) == sorted(k for k in truth.ran if k in keys(complete)), len(keys(complete))"
    ) == ("(True, 4)")
    assert run("[(run.status, run.execution_count == began_in) for run in complete.runs]") == (
        "[('finished', True)]"
    )
    assert run("sorted(set(truth.ran) ^ set(keys(waited))), waited.runs[0].execution_count == began_in") == (
        "([], True)"
    )


THREAD = """
import threading
import dask, taskscope
%load_ext taskscope
gate, begun = threading.Event(), threading.Semaphore(0)

def gated(i):
    begun.release()
    gate.wait()
    return i

def compute():
    dask.compute(*[dask.delayed(gated)(i) for i in range(4)], scheduler="threads", num_workers=2)
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with running_kernel() as kernel:
        yield kernel


def test_what_a_thread_computes_that_a_cell_has_begun_is_followed_as_well(
    kernel: Kernel, tmp_path: Path
) -> None:
    path = tmp_path / "begun.taskscope"

    run = partial(cell, kernel)
    run(THREAD)
    begins = "thread = threading.Thread(target=compute); thread.start(); begun.acquire(); begun.acquire();"
    run(f"%%profile -o begun_here -q -D {path}\n{begins}")
    assert run("left = begun_here; left.summary().splitlines()[-1].strip()") == (
        "'4 tasks still running in the background'"
    )
    run("%%profile -o beside -q\ndask.delayed(abs)(-1).compute(scheduler='sync');")
    assert run("[run.n_tasks for run in beside.runs]") == "[1]"
    run("%%profile -o waited -q\ngate.set(); thread.join()")
    run("complete = left.wait(60)")
    finished = "[(run.run, run.n_tasks, run.status) for run in {}.runs]"
    assert run(finished.format("complete")) == "[(0, 4, 'finished')]"
    assert run(finished.format("waited")) == "[(0, 4, 'finished')]"
    assert (
        run(f"begun_here is complete, len(taskscope.load({str(path)!r}).to_pandas('tasks'))") == "(True, 4)"
    )
