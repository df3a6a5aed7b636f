"""What the main thread does, asked from another one; these tests fail when Dask moves where it waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import dask
import pytest
from distributed import Client, Event, wait

from taskscope.jupyter.adapter.interrupting import main_waits_for_dask


def seen_during(act: Callable[[Callable[[], bool]], object]) -> bool:
    """Return what another thread was told while `act` ran a task that asked it."""
    with ThreadPoolExecutor(1) as other:
        seen: list[bool] = []

        def ask() -> bool:
            seen.append(other.submit(main_waits_for_dask).result())
            return True

        act(ask)
    return seen[0]


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_local_compute_of_the_main_thread_is_waited_for(scheduler: str) -> None:
    assert seen_during(lambda ask: dask.delayed(ask)().compute(scheduler=scheduler))


def test_a_compute_in_another_thread_is_not() -> None:
    def in_a_thread(ask: Callable[[], bool]) -> None:
        thread = threading.Thread(target=lambda: dask.delayed(ask)().compute(scheduler="threads"))
        thread.start()
        thread.join()

    assert not seen_during(in_a_thread)


def test_a_cluster_is_waited_for_by_who_asks_for_results() -> None:
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
        go = Event("go", client=client)
        future = client.submit(lambda: Event("go").wait(30))
        background = main_waits_for_dask()
        seen: list[bool] = []

        def look() -> None:
            # The main thread gets to where it waits in its own time.
            while not main_waits_for_dask():
                time.sleep(0.001)
            seen.append(True)
            go.set()

        threading.Thread(target=look).start()
        wait(future)
    assert (background, seen) == (False, [True])
