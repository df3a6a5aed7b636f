"""Clusters on this machine: futures, persist, adaptive, spilling, tasks that start tasks."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster, as_completed, worker_client

from benchmarks.why.workload import Work, blocks_for, count_in_python, hash_blocks

__all__ = [
    "adaptive_from_zero",
    "array_of_two_workers",
    "completed_one_by_one",
    "futures_that_overlap",
    "gradient_descent",
    "large_literal",
    "map_and_submit",
    "merge_on_two_workers",
    "no_workers_yet",
    "persist_then_mean",
    "persist_waits_then_mean",
    "pure_python_in_a_worker",
    "scatter_then_map",
    "spilling",
    "tasks_of_tasks",
    "tiny_futures",
]


def _client(stack: ExitStack, n_workers: int = 2, threads: int = 1, **options: Any) -> Client:
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=threads, dashboard_address=None, **options)
    client = Client(stack.enter_context(cluster))
    stack.enter_context(client)
    # So that workers have imported what tasks need, as they have after a notebook's first cell.
    client.run(_import_numpy_and_pandas)
    return client


def _import_numpy_and_pandas() -> int:
    return len(dir(da)) + len(dir(dd))


def _wait_then_return(block: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    time.sleep(0.05)
    return block


def persist_waits_then_mean(stack: ExitStack) -> Work:
    _client(stack, 1, 2)

    def work() -> None:
        x = da.ones((800, 800), chunks=100).map_blocks(_wait_then_return, dtype=float).persist()
        x.mean().compute()

    return work


def persist_then_mean(stack: ExitStack) -> Work:
    _client(stack)

    def work() -> None:
        x = da.random.default_rng(1).normal(size=(10_000, 10_000), chunks=(1_000, 1_000)).persist()
        x.mean(axis=0).compute()

    return work


def futures_that_overlap(stack: ExitStack) -> Work:
    client = _client(stack)
    x = da.random.default_rng(2).normal(size=(8_000, 8_000), chunks=(1_000, 1_000))

    def work() -> None:
        client.gather([client.compute(x.mean()), client.compute(x.std())])

    return work


def map_and_submit(stack: ExitStack) -> Work:
    client = _client(stack)

    def work() -> None:
        parts = client.map(hash_blocks, [blocks_for(0.05)] * 48, pure=False)
        client.submit(sum, parts).result()

    return work


def adaptive_from_zero(stack: ExitStack) -> Work:
    cluster = stack.enter_context(LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None))
    client = stack.enter_context(Client(cluster))
    cluster.adapt(minimum=0, maximum=2, interval="200ms")
    return lambda: client.gather(client.map(hash_blocks, [blocks_for(0.05)] * 40, pure=False))


def no_workers_yet(stack: ExitStack) -> Work:
    cluster = stack.enter_context(LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None))
    client = stack.enter_context(Client(cluster))

    def work() -> None:
        threading.Timer(2.0, cluster.scale, [2]).start()
        client.gather(client.map(hash_blocks, [blocks_for(0.02)] * 20, pure=False))

    return work


def spilling(stack: ExitStack) -> Work:
    _client(stack, 1, 1, memory_limit="700MiB")

    def large(i: int) -> np.ndarray[Any, Any]:
        return np.full(5_000_000, float(i))

    def used(part: np.ndarray[Any, Any], _sizes: list[int]) -> float:
        return float(part[::512].sum())

    def work() -> None:
        parts = [dask.delayed(large)(i) for i in range(26)]
        sizes = [dask.delayed(np.size)(part) for part in parts]
        dask.compute(*[dask.delayed(used)(part, sizes) for part in parts])

    return work


def _whole(n_tasks: int, n_blocks: int) -> int:
    with worker_client() as client:
        return sum(client.gather(client.map(hash_blocks, [n_blocks] * n_tasks, pure=False)))


def tasks_of_tasks(stack: ExitStack) -> Work:
    client = _client(stack)
    return lambda: client.submit(_whole, 40, blocks_for(0.06), pure=False).result()


def _rows_sum(table: np.ndarray[Any, Any], i: int, n_blocks: int) -> float:
    return float(table[i : i + 1_000].sum()) + hash_blocks(n_blocks)


def scatter_then_map(stack: ExitStack) -> Work:
    client = _client(stack)
    table = np.random.default_rng(0).random((200_000, 40))

    def work() -> None:
        shared = client.scatter(table, broadcast=True)
        client.gather([client.submit(_rows_sum, shared, i, blocks_for(0.04), pure=False) for i in range(50)])

    return work


def large_literal(stack: ExitStack) -> Work:
    client = _client(stack)
    table = np.random.default_rng(0).random((400_000, 40))
    return lambda: client.gather(
        [client.submit(_rows_sum, table, i, blocks_for(0.04), pure=False) for i in range(8)]
    )


def merge_on_two_workers(stack: ExitStack) -> Work:
    _client(stack)
    rng = np.random.default_rng(0)
    n = 1_500_000
    rows = pd.DataFrame({"id": rng.integers(0, n, n), "x": rng.random(n)})
    other = pd.DataFrame({"id": np.arange(n), "y": rng.random(n)})

    left = dd.from_pandas(rows, npartitions=10, sort=False).persist()
    right = dd.from_pandas(other, npartitions=10, sort=False).persist()
    return lambda: left.merge(right, on="id").groupby("id").y.sum().max().compute()


def array_of_two_workers(stack: ExitStack) -> Work:
    """`x + x.T`: each worker needs blocks of the other."""
    _client(stack)
    x = da.random.default_rng(3).random((7_000, 7_000), chunks=(1_000, 1_000))
    return lambda: (x + x.T).std(axis=0).compute()


def pure_python_in_a_worker(stack: ExitStack) -> Work:
    client = _client(stack, 1, 4)
    return lambda: client.gather(client.map(count_in_python, [1_200_000] * 40, range(40), pure=False))


def _increment(i: int) -> int:
    return i + 1


def tiny_futures(stack: ExitStack) -> Work:
    client = _client(stack)
    return lambda: client.gather(client.map(_increment, range(3_000), pure=False))


def completed_one_by_one(stack: ExitStack) -> Work:
    """The client reads each result as it comes; workers go on."""
    client = _client(stack)

    def work() -> int:
        futures = client.map(hash_blocks, [blocks_for(0.06)] * 50, pure=False)
        return sum(result for _, result in as_completed(futures, with_results=True))

    return work


def gradient_descent(stack: ExitStack) -> Work:
    """Twenty small computes, each of which needs the one before."""
    _client(stack)
    rng = da.random.default_rng(4)

    def work() -> None:
        x = rng.random((40_000, 20), chunks=(5_000, 20)).persist()
        y = x.sum(axis=1).persist()
        beta = np.zeros(20)
        for _ in range(20):
            gradient = x.T @ (x @ beta - y) / 40_000
            beta -= 0.1 * np.asarray(gradient.compute())

    return work
