"""A notebook that a program runs, with no page: what it keeps under a profiled cell is complete."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.kernel import executed

SETUP = """
import asyncio
import dask
import taskscope
from distributed import Client
from tests.support.waiting import be_patient
be_patient()
%load_ext taskscope
def compute(n):
    return dask.compute(*[dask.delayed(abs)(i, dask_key_name=f"abs-{i}") for i in range(n)])[-1]
"""
CLUSTER = 'client = Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")'

IN_LOOP = """
options = dict(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")
asyncio_client = await Client(asynchronous=True, **options)
"""
AWAITS = 'await asyncio_client.gather([asyncio_client.submit(abs, -i, key=f"own-{i}") for i in range(5)])'


def outputs_of(*cells: str) -> list[list[dict[str, Any]]]:
    """Return the outputs of the cells, which run after those that all need."""
    return executed(SETUP, *cells)[1:]


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    return [output["data"]["text/plain"] for output in outputs]


@pytest.fixture(scope="module")
def shown() -> list[list[dict[str, Any]]]:
    return outputs_of(
        IN_LOOP,
        f"%%profile -o own -q\n{AWAITS}",
        "complete = await asyncio.to_thread(own.wait)\n"
        "sorted(complete.table('tasks')['key']), [run.status for run in complete.runs], complete.messages",
        "await asyncio_client.close()",
        CLUSTER,
        "%%profile\ncompute(3)",
        "%%profile -o run\ncompute(5)",
    )


def test_a_cell_with_await_is_recorded_from_its_first_task_on_while_its_event_loop_goes_on(
    shown: list[list[dict[str, Any]]],
) -> None:
    keys = [f"own-{i}" for i in range(5)]
    # The scheduler lives in the loop that runs the cell, and was met by it.
    assert texts(shown[1]) == ["[0, 1, 2, 3, 4]"]
    assert texts(shown[2]) == [str((keys, ["finished"], ()))]


def test_the_picture_under_the_last_cell_is_complete_where_a_program_runs_the_notebook(
    shown: list[list[dict[str, Any]]],
) -> None:
    summary, value = texts(shown[-1])
    assert summary.startswith("taskscope · finished · distributed · 2 worker threads · 1 compute · 5 tasks\n")
    assert value == "4"
