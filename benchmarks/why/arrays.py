"""Arrays: reductions, products and decompositions of Dask's examples and tutorial, and xarray's habits."""

from __future__ import annotations

import threading
import time
import zlib
from contextlib import ExitStack
from typing import Any, cast

import dask
import dask.array as da
import numpy as np
from skimage import filters

from benchmarks.why.workload import Work

__all__ = [
    "climatology",
    "default_blas_product",
    "gaussian_map_overlap",
    "load_then_fft",
    "mean_of_random",
    "memray_beside",
    "netcdf_like_reads",
    "persist_then_three",
    "product_one_blas_thread",
    "python_ufunc",
    "qr_of_the_quickstart",
    "qr_one_blas_thread",
    "rechunk_to_slabs",
    "sixteen_threads",
    "small_chunks",
    "store_under_a_lock",
    "svd_compressed",
    "svd_of_blocks",
    "three_reductions",
    "transpose_and_mean",
]


def _random(n: int, chunk: int) -> Any:
    return da.random.default_rng(7).random((n, n), chunks=chunk)


def mean_of_random(_: ExitStack) -> Work:
    x = da.random.default_rng(1).normal(size=(10_000, 10_000), chunks=(1_000, 1_000))
    mean = x.mean(axis=0)[::100]
    return lambda: dask.compute(mean)


def transpose_and_mean(_: ExitStack) -> Work:
    x = da.random.default_rng(7).normal(size=(9_000, 9_000), chunks=(1_000, 1_000))
    return lambda: (x + x.T)[::2, 4_500:].mean(axis=1).compute()


def three_reductions(_: ExitStack) -> Work:
    x = da.random.default_rng(2).normal(size=(6_000, 6_000), chunks=(1_000, 1_000))

    def work() -> None:
        x.mean().compute()
        x.std().compute()
        x.max().compute()

    return work


def persist_then_three(_: ExitStack) -> Work:
    def work() -> None:
        x = da.random.default_rng(3).normal(size=(8_000, 8_000), chunks=(1_000, 1_000)).persist()
        x.mean().compute()
        x.std().compute()
        x.max().compute()

    return work


def qr_of_the_quickstart(_: ExitStack) -> Work:
    def work() -> None:
        a = da.random.random((10_000, 1_000), chunks=(1_000, 1_000))
        q, r = da.linalg.qr(a)
        q.dot(r).compute()

    return work


def svd_compressed(_: ExitStack) -> Work:
    x = da.random.default_rng(4).random((40_000, 2_000), chunks=(4_000, 2_000))

    def work() -> None:
        u, s, v = da.linalg.svd_compressed(x, k=20, n_power_iter=2, seed=1)
        dask.compute(u, s, v)

    return work


def svd_of_blocks(_: ExitStack) -> Work:
    """`np.linalg.svd` in 4 tasks at a time, each of which has BLAS threads of its own."""
    x = da.random.default_rng(5).random((3_600, 300), chunks=(300, 300)).persist()

    def block(b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.stack([np.linalg.svd(b)[1] for _ in range(3)])

    y = x.map_blocks(block, chunks=(3, 300), meta=np.empty((0, 0)))
    return lambda: y.compute(num_workers=4)


def default_blas_product(_: ExitStack) -> Work:
    x = _random(4_000, 1_000).persist()
    return lambda: (x @ x.T).sum().compute()


def qr_one_blas_thread(stack: ExitStack) -> Work:
    return qr_of_the_quickstart(stack)


def product_one_blas_thread(_: ExitStack) -> Work:
    x = _random(4_000, 1_000).persist()
    return lambda: (x @ x.T).sum().compute()


def gaussian_map_overlap(_: ExitStack) -> Work:
    image = _random(8_000, 1_000).persist()
    return lambda: image.map_overlap(filters.gaussian, depth=12, sigma=3).mean().compute()


def rechunk_to_slabs(_: ExitStack) -> Work:
    x = da.random.default_rng(6).random((9_000, 9_000), chunks=(9_000, 500))
    return lambda: x.rechunk((500, 9_000)).map_blocks(np.sort).sum().compute()


def small_chunks(_: ExitStack) -> Work:
    x = da.ones((3_000, 3_000), chunks=(50, 50))
    return lambda: (x + 1).sum().compute(optimize_graph=False)


def climatology(_: ExitStack) -> Work:
    """A mean of each month, as xarray's groupby makes it: pieces are chosen by index and stacked again."""
    days = da.random.default_rng(8).normal(size=(1_460, 200, 200), chunks=(73, 200, 200))
    month = np.arange(1_460) // 30 % 12

    def work() -> None:
        means = da.stack([days[np.flatnonzero(month == m)].mean(axis=0) for m in range(12)])
        (means - means.mean(axis=0)).compute()

    return work


class _Compressed:
    """A variable of a file whose library lets one thread in at a time, as HDF5 does."""

    shape, dtype, ndim = (80_000, 1_000), np.dtype("f8"), 2

    def __init__(self) -> None:
        rows = np.random.default_rng(0).integers(0, 40, (1_000, 1_000)).astype("f8")
        self._packed = zlib.compress(rows.tobytes(), 6)

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray[Any, Any]:
        rows, columns = index
        return np.frombuffer(zlib.decompress(self._packed)).reshape(1_000, 1_000)[
            : rows.stop - rows.start, columns
        ]


def netcdf_like_reads(_: ExitStack) -> Work:
    lock = threading.Lock()
    x = da.from_array(_Compressed(), chunks=(1_000, 1_000), lock=lock, meta=np.empty((0, 0)))
    return lambda: x.mean(axis=0).compute(num_workers=4)


class _SlowFile:
    """A target that takes 40 ms for each piece it is given."""

    shape, dtype = (5_000, 5_000), np.dtype("f8")

    def __setitem__(self, _index: object, value: np.ndarray[Any, Any]) -> None:
        time.sleep(0.04)


def store_under_a_lock(_: ExitStack) -> Work:
    x, target = _random(5_000, 500), cast("Any", _SlowFile())
    return lambda: da.store(x, target, lock=True)


def load_then_fft(_: ExitStack) -> Work:
    """Each block comes from a server in 80 ms, and is transformed then."""

    def load(block_info: Any = None) -> np.ndarray[Any, Any]:
        time.sleep(0.08)
        return np.ones((500, 500))

    x = da.map_blocks(load, chunks=((500,) * 40, (500,)), dtype="f8", meta=np.empty((0, 0)))
    y = x.map_blocks(lambda b: np.abs(np.fft.fft2(b)), dtype="f8", meta=np.empty((0, 0)))
    return lambda: y.sum().compute()


def python_ufunc(_: ExitStack) -> Work:
    x = _random(2_000, 250)

    def score(value: float) -> float:
        return value * 2 if value < 0.5 else value - 1

    vectorized = np.vectorize(score, otypes=["f8"])

    def block(b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.asarray([[score(v) for v in row] for row in vectorized(b).tolist()])

    scored = x.map_blocks(block, dtype="f8").map_blocks(block, dtype="f8")
    return lambda: scored.sum().compute(num_workers=4)


def memray_beside(_: ExitStack) -> Work:
    x = da.random.default_rng(9).normal(size=(10_000, 10_000), chunks=(1_000, 1_000))
    return lambda: x.mean(axis=0).compute()


def sixteen_threads(_: ExitStack) -> Work:
    """Sixteen threads on the cores there are, with work that needs a core all the time."""
    x = da.random.default_rng(10).normal(size=(10_000, 10_000), chunks=(1_000, 1_000))
    return lambda: x.std().compute(num_workers=16)
