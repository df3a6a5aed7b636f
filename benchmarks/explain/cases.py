"""Computes with a fault and the same without it, by the cause that explains them; add a case as a line here.

Work is hashing, which lets go of the interpreter's lock and needs no data; how much of it a second is, is
measured first.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from distributed import Client, LocalCluster, get_worker
from skimage import data, filters, measure, morphology

from taskscope.analysis.explain.finding import Cause

__all__ = ["CASES", "Case", "Where", "Workers"]

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


def _in_python(n_chunks: int, *_: object) -> int:
    n = 0
    until = time.thread_time() + n_chunks / _chunks_per_s()
    while time.thread_time() < until:
        n += 1
    return n


def _after_sleep(n_chunks: int) -> int:
    time.sleep(0.05)
    return work(n_chunks)


def interpreter_lock(*, is_faulty: bool) -> None:
    _computed(_tasks([0.05] * 24, _in_python if is_faulty else work))


def mostly_in_python(*, is_faulty: bool) -> None:
    """Two prefixes, one after the other; the one in Python takes most of the time."""
    first = [dask.delayed(work, pure=False)(_chunks(0.01)) for _ in range(40)]
    made = dask.delayed(_in_python if is_faulty else work, pure=False)
    _computed([made(_chunks(0.03), part) for part in first])


def oversubscribed(*, is_faulty: bool) -> None:
    with _blas_threads(2 if is_faulty else 1):
        _computed([dask.delayed(_svds, pure=False)(2, i) for i in range(24)])


def oversubscribed_products(*, is_faulty: bool) -> None:
    """`x @ x.T` of an array, in more threads than there are cores, each of which asks BLAS for threads."""
    x = da.random.default_rng(next(_fresh)).random((4_000, 4_000), chunks=1_000)
    with _blas_threads(2 if is_faulty else 1):
        (x @ x.T).sum().compute(num_workers=4)


def _svds(n: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).random((400, 400))
    for _ in range(n):
        np.linalg.svd(matrix)


@contextmanager
def _blas_threads(n: int) -> Iterator[None]:
    """Give NumPy's BLAS so many threads meanwhile; it starts with one, as `python -m benchmarks` says."""
    (path,) = Path(np.__file__).parents[1].joinpath("numpy.libs").glob("libscipy_openblas*")
    blas = ctypes.CDLL(str(path))
    blas.scipy_openblas_set_num_threads64_(n)
    try:
        yield
    finally:
        blas.scipy_openblas_set_num_threads64_(1)


def waiting(*, is_faulty: bool) -> None:
    _computed(_tasks([0.05] * 24, _after_sleep if is_faulty else work))


def waiting_to_load(*, is_faulty: bool) -> None:
    """One prefix waits and has next to no CPU time, the other computes."""
    load = dask.delayed(_slept, pure=False)
    made = dask.delayed(work, pure=False)
    _computed([made(_chunks(0.03), load(0.04 if is_faulty else 0.0, i)) for i in range(30)])


def _slept(seconds: float, number: int) -> int:
    time.sleep(seconds)
    return number


def short_tasks(*, is_faulty: bool) -> None:
    """So many bytes are hashed in thousands of tasks, or in some."""
    n_tasks = 6_000 if is_faulty else 24
    made = dask.delayed(_hashed, pure=False)
    _computed([made(6_000 // n_tasks) for _ in range(n_tasks)])


def _hashed(times: int) -> None:
    for _ in range(times):
        hashlib.sha256(_CHUNK[:20_000])


def short_tasks_of_workers(*, is_faulty: bool) -> None:
    n_tasks = 800 if is_faulty else 8
    client = Client.current()
    client.gather(client.map(_hashed, [8_000 // n_tasks] * n_tasks, pure=False))


def few_tasks(*, is_faulty: bool) -> None:
    _computed(_tasks([1.0] if is_faulty else [0.125] * 8))


def few_after_many(*, is_faulty: bool) -> None:
    """One large task follows many; it could be split."""
    made = dask.delayed(_combined, pure=False)
    parts = _tasks([0.02] * 20)
    _computed([made(_chunks(own_s), *parts) for own_s in ([0.8] if is_faulty else [0.1] * 8)])


def _combined(n_chunks: int, *_parts: int) -> int:
    return work(n_chunks)


def long_chain(*, is_faulty: bool) -> None:
    made = dask.delayed(work, pure=False)
    tasks: list[Delayed] = []
    for _ in range(20):
        tasks.append(made(_chunks(0.05), *(tasks[-1:] if is_faulty else [])))
    _computed(tasks)


def reduced_one_by_one(*, is_faulty: bool) -> None:
    """Parts are combined one after the other, or in a tree."""
    made = dask.delayed(work, pure=False)
    parts = _tasks([0.02] * 16)
    if is_faulty:
        found = parts[0]
        for part in parts[1:]:
            found = made(_chunks(0.06), found, part)
    else:
        while len(parts) > 1:
            parts = [made(_chunks(0.06), *pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
        (found,) = parts
    _computed([found])


def swept(*, is_faulty: bool) -> None:
    """A sweep of parameters, three of which take far longer, after each other as they come last."""
    slow = 0.7 if is_faulty else 0.01
    _computed(_tasks([0.01] * 60 + [slow] * 3))


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


def recomputed_statistics(*, is_faulty: bool) -> None:
    """Statistics of one array, each asked for by itself, or together."""
    fresh = next(_fresh)
    x = da.map_blocks(_block_of, fresh, chunks=((2_000,) * 16,), dtype="f8", meta=np.empty(0))
    found = [x.mean(), x.std(), x.max()]
    if is_faulty:
        for one in found:
            one.compute()
    else:
        dask.compute(*found)


def _block_of(fresh: int, block_info: Any = None) -> np.ndarray[Any, Any]:
    work(_chunks(0.04))
    return np.full(2_000, float(fresh))


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
    literals = [np.random.default_rng(i).random(16_000_000 if is_faulty else 10) for i in range(4)]
    made = dask.delayed(lambda n_chunks, literal: (work(n_chunks), len(literal)), pure=False)
    dask.compute(*(made(_chunks(0.05), literal) for literal in literals))


def memory_pressure(*, is_faulty: bool) -> None:
    """All parts are held until the last is there, more than there is memory for; or each is used at once."""
    made, used = dask.delayed(_megabytes, pure=False), dask.delayed(_used, pure=False)
    parts = [made(50, _chunks(0.02)) for _ in range(26)]
    until = [dask.delayed(_size, pure=False)(part) for part in parts] if is_faulty else []
    _computed([used(part, until) for part in parts])


def _used(part: np.ndarray[Any, Any], _sizes: list[int]) -> float:
    return float(part[::512].sum())


def _size(part: np.ndarray[Any, Any]) -> int:
    return part.nbytes


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


def qr(*, is_faulty: bool) -> None:
    """The QR decomposition of the first notebook, and the same of needlessly small chunks."""
    a = da.random.default_rng(0).random((100_000, 100), chunks=(250 if is_faulty else 12_500, 100))
    q, r = da.linalg.qr(a)
    dask.compute((q.T @ q).sum(), r.sum())


def product(*, is_faulty: bool) -> None:
    """`a @ a.T` of an array that is asked for twice."""
    a = da.random.default_rng(next(_fresh)).random((3_200, 3_200), chunks=800)
    whole = a @ a.T
    if is_faulty:
        whole.mean().compute()
        whole.std().compute()
    else:
        dask.compute(whole.mean(), whole.std())


def overlapped(*, is_faulty: bool) -> None:
    """A filter that needs its neighbours' edges; one block takes far longer, or none."""
    x = da.zeros((64, 20_000), chunks=(4, 20_000))
    slow = functools.partial(_filtered, 1.2 if is_faulty else 0.05)
    da.map_overlap(slow, x, depth=1, boundary="nearest", dtype="f8", meta=np.empty((0, 0))).sum().compute()


def _filtered(first_s: float, x: np.ndarray[Any, Any], block_info: Any = None) -> np.ndarray[Any, Any]:
    is_first = block_info[0]["chunk-location"][0] == 15
    work(_chunks(first_s if is_first else 0.05))
    return (x + np.roll(x, 1, 0)) / 2


def shuffled(*, is_faulty: bool) -> None:
    """Rows are shuffled by a key, then worked on; many have no key, or these are left out."""
    n_with, n_without = 16_000, 24_000 if is_faulty else 0
    random = np.random.default_rng(next(_fresh))
    key = random.permutation(np.r_[np.arange(n_with) % 64, np.full(n_without, -1)])
    frame = pd.DataFrame({"key": key, "x": random.random(len(key))})
    rows = dd.from_pandas(frame, npartitions=16).shuffle("key", npartitions=16)
    rows.map_partitions(_row_by_row, meta=("x", "f8")).sum().compute()


def _row_by_row(rows: pd.DataFrame) -> pd.Series[float]:
    work(_chunks(len(rows) * 0.05e-3))
    return rows.x


def segmented(*, is_faulty: bool) -> None:
    """Images are smoothed, split at a threshold, cleaned and labelled; one of them is far larger, or none."""
    pipeline = [
        dask.delayed(function, pure=False)
        for function in (_image, _smoothed, _foreground, _cleaned, _regions)
    ]
    found = []
    for i in range(24):
        image: Any = 1_600 if is_faulty and i == 23 else 300
        for step in pipeline:
            image = step(image)
        found.append(image)
    _computed(found)


def _image(size: int) -> Any:
    return data.binary_blobs(size, volume_fraction=0.3, rng=size) + np.random.default_rng(size).random(
        (size, size)
    )


def _smoothed(image: np.ndarray[Any, Any]) -> Any:
    return filters.gaussian(image, 3)


def _foreground(image: np.ndarray[Any, Any]) -> Any:
    return image > filters.threshold_otsu(image)


def _cleaned(image: np.ndarray[Any, Any]) -> Any:
    return morphology.opening(image, morphology.disk(5))


def _regions(image: np.ndarray[Any, Any]) -> int:
    regions = measure.regionprops_table(measure.label(image), properties=("area", "eccentricity"))
    return len(regions["area"])


class Compute(Protocol):
    """Computes something, with the fault or without it."""

    __name__: str

    def __call__(self, *, is_faulty: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class Workers:
    """The workers of a cluster; without a memory limit they have all there is."""

    n: int = 2
    threads: int = 1
    memory_bytes: int = 0

    def cluster(self) -> LocalCluster:
        """Start them."""
        return LocalCluster(
            n_workers=self.n,
            threads_per_worker=self.threads,
            memory_limit=self.memory_bytes,
            dashboard_address=":0",
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A fault, where it is planted, and what computes with it, or without."""

    cause: Cause
    where: Where
    compute: Compute
    workers: Workers = Workers()
    """Of a cluster."""
    unseen: str = ""
    """Why nothing of it is recorded; then nothing is to be said."""


_FUSED = "Dask fuses what the computes share into tasks of other keys"
CASES = (
    Case("interpreter-lock", "threads", interpreter_lock),
    Case("interpreter-lock", "threads", mostly_in_python),
    Case("oversubscribed", "threads", oversubscribed),
    Case("oversubscribed", "threads", oversubscribed_products),
    Case("waiting", "threads", waiting),
    Case("waiting", "threads", waiting_to_load),
    Case("short-tasks", "threads", short_tasks),
    Case("few-tasks", "threads", few_tasks),
    Case("serial-step", "threads", few_after_many),
    Case("long-chain", "threads", long_chain),
    Case("long-chain", "threads", reduced_one_by_one),
    Case("stragglers", "threads", stragglers),
    Case("stragglers", "threads", swept),
    Case("recomputed", "threads", recomputed),
    Case("recomputed", "threads", recomputed_statistics, unseen=_FUSED),
    Case("client-gaps", "threads", client_gaps),
    Case("short-tasks", "threads", qr),
    Case("recomputed", "threads", product),
    Case("stragglers", "threads", overlapped),
    Case("stragglers", "threads", shuffled),
    Case("stragglers", "threads", segmented),
    Case("serialization", "processes", serialization),
    Case("few-tasks", "processes", few_tasks),
    Case("stragglers", "processes", stragglers),
    Case("waiting", "processes", waiting),
    Case("waiting", "cluster", waiting),
    Case("short-tasks", "cluster", short_tasks_of_workers),
    Case("few-tasks", "cluster", few_tasks),
    Case("long-chain", "cluster", long_chain),
    Case("stragglers", "cluster", stragglers),
    Case("recomputed", "cluster", recomputed),
    Case("client-gaps", "cluster", client_gaps),
    Case("transfers", "cluster", transfers),
    Case("large-graph", "cluster", large_graph),
    Case("slow-worker", "cluster", slow_worker),
    Case("idle-workers", "cluster", idle_workers),
    Case("lost-work", "cluster", lost_work),
    Case("interpreter-lock", "cluster", interpreter_lock, Workers(1, 2)),
    Case("memory-pressure", "cluster", memory_pressure, Workers(2, 1, 900 << 20)),
)
