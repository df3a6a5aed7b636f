"""The names in Dask's scheduler loop that are read; these tests fail when Dask changes them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from typing import Any

import dask
import dask.local
import pytest

from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.scheduler import Scheduler, find_scheduler
from tests.support.computes.process_tasks import pid


def found_in(compute: Callable[[], object]) -> list[Scheduler]:
    """Return what the hooks of a compute find, at its start and at the start of its state."""
    found: list[Scheduler] = []
    hooks = (lambda _dsk: found.append(find_scheduler()), lambda *_: found.append(find_scheduler()))
    callback = (*hooks, None, None, None)
    registration.install(callback)
    try:
        compute()
    finally:
        registration.uninstall(callback)
    return found


class HomeMade(Executor):
    _max_workers = 3

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


GRAPH = {"a": (pid,), "b": (pid,), ("c", 0): (pid,)}
KEYS: Any = ["a", ["b", ("c", 0)]]
REQUESTED = frozenset({"a", "b", ("c", 0)})


def test_dask_still_has_the_names_that_are_read() -> None:
    names = dask.local.get_async.__code__.co_varnames
    assert {"submit", "num_workers", "results", "key", "failed"} <= {
        *names,
        *dask.local.get_async.__code__.co_cellvars,
    }


def test_the_synchronous_scheduler_is_known() -> None:
    assert found_in(lambda: dask.get(GRAPH, KEYS)) == [Scheduler("synchronous", 1, REQUESTED)] * 2


def test_threads_are_known_with_their_number() -> None:
    graph = dask.delayed(pid)()
    found = found_in(lambda: graph.compute(scheduler="threads", num_workers=3))
    assert found == [Scheduler("threads", 3, frozenset({graph.key}))] * 2


def test_a_bare_thread_pool_is_known(thread_pool: ThreadPoolExecutor) -> None:
    graph = dask.delayed(pid)()
    assert found_in(lambda: graph.compute(scheduler=thread_pool))[0] == Scheduler(
        "threads", 4, frozenset({graph.key})
    )


def test_a_pool_of_threads_of_multiprocessing_is_one_of_threads() -> None:
    graph = dask.delayed(pid)()
    with ThreadPool(3) as pool:
        found = found_in(lambda: graph.compute(scheduler="threads", pool=pool))
        pool.close()
        pool.join()
    assert found[0] == Scheduler("threads", 3, frozenset({graph.key}))


@pytest.mark.parametrize("bare", [True, False])
def test_processes_are_known(processes: ProcessPoolExecutor, *, bare: bool) -> None:
    graph = dask.delayed(pid)()
    options = {"scheduler": processes} if bare else {"scheduler": "processes", "pool": processes}
    assert found_in(lambda: graph.compute(**options))[0] == Scheduler("processes", 2, frozenset({graph.key}))


def test_any_other_executor_is_known_by_its_class() -> None:
    graph = dask.delayed(pid)()
    assert found_in(lambda: graph.compute(scheduler=HomeMade()))[0] == Scheduler(
        "HomeMade", 3, frozenset({graph.key})
    )


def test_outside_of_a_compute_nothing_is_known() -> None:
    assert find_scheduler() == Scheduler(None, None, None)
