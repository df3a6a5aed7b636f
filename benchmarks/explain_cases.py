"""Computes with a fault and the same without it, by the cause that explains them; add a case as a line here.

Work is hashing, which lets go of the interpreter's lock and needs no data; how much of it a second is, is
measured first.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import dask
import numpy as np
from dask.delayed import Delayed
from distributed import Client, LocalCluster, get_worker

from taskscope.analysis.explain.finding import Cause

__all__ = ["CASES", "Case", "Where", "small_cluster"]

Where: TypeAlias = Literal["threads", "processes", "cluster"]
_CHUNK = bytes(1 << 20)
_fresh = itertools.count()
"""Keeps what one compute runs apart from what others have run."""


@functools.cache
def _chunks_per_s() -> float:
    began = time.thread_time()
    for _ in range(200):
        hashlib.sha256(_CHUNK)
    return 200 / (time.thread_time() - began)


def work(n_chunks: int, *_: object) -> int:
    """Hash so much."""
    for _chunk in range(n_chunks):
        hashlib.sha256(_CHUNK)
    return n_chunks


def _chunks(seconds: float) -> int:
    return max(round(seconds * _chunks_per_s()), 1)


def _tasks(seconds: list[float], function: Callable[..., object] = work) -> list[Delayed]:
    made = dask.delayed(function, pure=False)
    return [made(_chunks(own_s)) for own_s in seconds]


def _computed(tasks: list[Delayed], **options: Any) -> None:
    dask.compute(*tasks, optimize_graph=False, **options)


def _in_python(n_chunks: int) -> int:
    n = 0
    until = time.thread_time() + n_chunks / _chunks_per_s()
    while time.thread_time() < until:
        n += 1
    return n


def _in_threads(n_chunks: int) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [n_chunks // 8 or 1] * 8))


def _after_sleep(n_chunks: int) -> int:
    time.sleep(0.05)
    return work(n_chunks)


def interpreter_lock(*, is_faulty: bool) -> None:
    _computed(_tasks([0.05] * 24, _in_python if is_faulty else work))


def oversubscribed(*, is_faulty: bool) -> None:
    _computed(_tasks([0.1] * 24, _in_threads if is_faulty else work))


def waiting(*, is_faulty: bool) -> None:
    _computed(_tasks([0.05] * 24, _after_sleep if is_faulty else work))


def short_tasks(*, is_faulty: bool) -> None:
    nothing = dask.delayed(int, pure=False)
    _computed([nothing() for _ in range(6_000)] if is_faulty else _tasks([0.05] * 12))


def few_tasks(*, is_faulty: bool) -> None:
    _computed(_tasks([1.0] if is_faulty else [0.125] * 8))


def long_chain(*, is_faulty: bool) -> None:
    made = dask.delayed(work, pure=False)
    tasks: list[Delayed] = []
    for _ in range(20):
        tasks.append(made(_chunks(0.05), *(tasks[-1:] if is_faulty else [])))
    _computed(tasks)


def stragglers(*, is_faulty: bool) -> None:
    _computed(_tasks([0.03] * 39 + [1.5 if is_faulty else 0.03]))


def recomputed(*, is_faulty: bool) -> None:
    made = dask.delayed(work, pure=True)
    fresh = next(_fresh)
    parts = [made(_chunks(0.05), fresh, i) for i in range(12)]
    results = [dask.delayed(function, pure=True)(parts) for function in (sum, max)]
    if is_faulty:
        for result in results:
            _computed([result])
    else:
        _computed(results)


def client_gaps(*, is_faulty: bool) -> None:
    for _ in range(2):
        _computed(_tasks([0.05] * 8))
        time.sleep(0.5 if is_faulty else 0.0)
    _computed(_tasks([0.05] * 2))


def serialization(*, is_faulty: bool) -> None:
    made = dask.delayed(_megabytes, pure=False)
    parts = [made(60 if is_faulty else 0, _chunks(0.05)) for _ in range(8)]
    _computed([dask.delayed(len, pure=False)(part) for part in parts], num_workers=2)


def _megabytes(n: int, n_chunks: int) -> np.ndarray[Any, Any]:
    work(n_chunks)
    return np.ones((n << 20) // 8)


def transfers(*, is_faulty: bool) -> None:
    client = Client.current()
    made_on = [*client.scheduler_info()["workers"]] * 3
    read_on = made_on[1:] + made_on[:1] if is_faulty else made_on
    work_of = functools.partial(client.submit, pure=False)
    parts = [work_of(_megabytes, 100, _chunks(0.02), workers=[worker]) for worker in made_on]
    client.gather([work_of(len, part, workers=[there]) for part, there in zip(parts, read_on, strict=True)])


def large_graph(*, is_faulty: bool) -> None:
    literals = [np.random.default_rng(i).random(4_000_000 if is_faulty else 10) for i in range(4)]
    made = dask.delayed(lambda n_chunks, literal: (work(n_chunks), len(literal)), pure=False)
    dask.compute(*(made(_chunks(0.05), literal) for literal in literals))


def slow_worker(*, is_faulty: bool) -> None:
    client, fresh = Client.current(), next(_fresh)
    client.gather(
        client.map(
            functools.partial(_on_first, 4 if is_faulty else 1, fresh), [_chunks(0.04)] * 40, pure=False
        )
    )


def _on_first(times: int, _fresh: int, n_chunks: int) -> int:
    return work(n_chunks * times if get_worker().name == 0 else n_chunks)


def idle_workers(*, is_faulty: bool) -> None:
    client = Client.current()
    first, *_ = client.scheduler_info()["workers"]
    bound = [first] if is_faulty else None
    client.gather(client.map(work, [_chunks(0.05)] * 24, pure=False, workers=bound))


def lost_work(*, is_faulty: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        of = functools.partial(_at_second, folder if is_faulty else None)
        client = Client.current()
        client.gather(client.map(of, [_chunks(0.2)] * 6, range(6), pure=False, retries=1))


def _at_second(folder: str | None, n_chunks: int, number: int) -> int:
    work(n_chunks)
    # A file, as the second attempt may be on the other worker.
    if folder is not None and not (tried := Path(folder, str(number))).exists():
        tried.touch()
        raise ValueError("not yet")
    return number


class Compute(Protocol):
    """Computes something, with the fault or without it."""

    def __call__(self, *, is_faulty: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class Case:
    """A fault, where it is planted, and what computes with it, or without."""

    cause: Cause
    where: Where
    compute: Compute


CASES = (
    Case("interpreter-lock", "threads", interpreter_lock),
    Case("oversubscribed", "threads", oversubscribed),
    Case("waiting", "threads", waiting),
    Case("short-tasks", "threads", short_tasks),
    Case("few-tasks", "threads", few_tasks),
    Case("few-tasks", "cluster", few_tasks),
    Case("long-chain", "threads", long_chain),
    Case("long-chain", "cluster", long_chain),
    Case("stragglers", "threads", stragglers),
    Case("stragglers", "cluster", stragglers),
    Case("recomputed", "threads", recomputed),
    Case("client-gaps", "threads", client_gaps),
    Case("client-gaps", "cluster", client_gaps),
    Case("serialization", "processes", serialization),
    Case("transfers", "cluster", transfers),
    Case("large-graph", "cluster", large_graph),
    Case("slow-worker", "cluster", slow_worker),
    Case("idle-workers", "cluster", idle_workers),
    Case("lost-work", "cluster", lost_work),
)


def small_cluster() -> LocalCluster:
    """Return two workers with a thread each."""
    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
