"""What is recorded of the scheduler of a compute, which Dask does not say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.pool import ThreadPool
from typing import Any

import dask
import pytest

import taskscope
from tests.support.computes.local_computes import process_pool, run_facts
from tests.support.computes.process_tasks import pid

Options = dict[str, Any]


class HomeMade(Executor):
    _max_workers = 3

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def threads_of_multiprocessing() -> Iterator[ThreadPool]:
    with ThreadPool(3) as pool:
        yield pool
        pool.close()
        pool.join()


@pytest.mark.parametrize(
    ("pool_of", "options_of", "expected"),
    [
        (None, lambda _: {"scheduler": "synchronous"}, ("synchronous", 1)),
        (None, lambda _: {"scheduler": "threads", "num_workers": 3}, ("threads", 3)),
        (lambda: ThreadPoolExecutor(4), lambda pool: {"scheduler": pool}, ("threads", 4)),
        (threads_of_multiprocessing, lambda pool: {"scheduler": "threads", "pool": pool}, ("threads", 3)),
        (process_pool, lambda pool: {"scheduler": pool}, ("processes", 2)),
        (process_pool, lambda pool: {"scheduler": "processes", "pool": pool}, ("processes", 2)),
        (HomeMade, lambda pool: {"scheduler": pool}, ("HomeMade", 3)),
    ],
    ids=["synchronous", "threads", "executor", "ThreadPool", "bare processes", "processes", "home-made"],
)
def test_a_compute_has_its_scheduler_and_how_many_workers_that_has(
    run: taskscope.profile,
    pool_of: Callable[[], Any] | None,
    options_of: Callable[[Any], Options],
    expected: tuple[str, int],
) -> None:
    graph = dask.delayed(pid)()
    if pool_of is None:
        graph.compute(**options_of(None))
    else:
        with pool_of() as pool:
            graph.compute(**options_of(pool))
    assert run_facts(run, "scheduler", "n_workers") == [expected]
