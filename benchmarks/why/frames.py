"""DataFrames, and files of tables."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

from benchmarks.why.workload import Work

__all__ = [
    "apply_rows",
    "csv_by_the_python_engine",
    "csv_groupby",
    "csv_three_statistics",
    "merge_by_tasks",
    "one_partition",
    "parquet_mean",
    "set_index",
    "skewed_partition",
    "timeseries_groupby",
    "write_parquet",
]


def _table(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": rng.integers(0, 1_000, n),
            "group": rng.integers(0, 20, n),
            "x": rng.random(n),
            "y": rng.random(n),
        }
    )


def _folder(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory()))


def _csv_files(stack: ExitStack, n_files: int, n_rows: int) -> str:
    folder = _folder(stack)
    for i in range(n_files):
        _table(n_rows, i).to_csv(folder / f"{i}.csv", index=False)
    return str(folder / "*.csv")


def timeseries_groupby(_: ExitStack) -> Work:
    df = dask.datasets.timeseries("2000-01-01", "2000-03-01", freq="1s", partition_freq="1d")
    return lambda: df.groupby("name").x.std().compute()


def csv_groupby(stack: ExitStack) -> Work:
    pattern = _csv_files(stack, 12, 600_000)
    return lambda: dd.read_csv(pattern).groupby("group").x.mean().compute()


def csv_three_statistics(stack: ExitStack) -> Work:
    pattern = _csv_files(stack, 6, 500_000)

    def work() -> None:
        df = dd.read_csv(pattern)
        df.x.mean().compute()
        df.x.std().compute()
        df.y.max().compute()

    return work


def csv_by_the_python_engine(stack: ExitStack) -> Work:
    pattern = _csv_files(stack, 8, 30_000)
    return lambda: dd.read_csv(pattern, engine="python").x.sum().compute(num_workers=4)


def parquet_mean(stack: ExitStack) -> Work:
    folder = _folder(stack)
    for i in range(16):
        _table(1_000_000, i).to_parquet(folder / f"{i:02}.parquet")
    return lambda: dd.read_parquet(folder).groupby("id")[["x", "y"]].mean().compute()


def write_parquet(stack: ExitStack) -> Work:
    folder = _folder(stack)
    df = dd.from_pandas(_table(3_000_000), npartitions=12)
    return lambda: df.to_parquet(folder / "out")


def merge_by_tasks(_: ExitStack) -> Work:
    left = dd.from_pandas(_table(3_000_000, 1), npartitions=12)
    right = dd.from_pandas(_table(6_000, 2), npartitions=6)

    def work() -> None:
        with dask.config.set({"dataframe.shuffle.method": "tasks"}):
            left.merge(right, on="id", shuffle_method="tasks", broadcast=False).x_x.sum().compute()

    return work


def set_index(_: ExitStack) -> Work:
    """`set_index` of made-up data: once for the divisions, once for the rows."""
    df = dask.datasets.timeseries("2000-01-01", "2000-02-10", freq="1s", partition_freq="1d")

    def work() -> None:
        with dask.config.set({"dataframe.shuffle.method": "tasks"}):
            df.set_index("x").y.sum().compute()

    return work


def apply_rows(_: ExitStack) -> Work:
    df = dd.from_pandas(_table(160_000), npartitions=8)
    return lambda: (
        df.apply(lambda row: row.x if row.y > 0.5 else -row.x, axis=1, meta=("z", "f8")).sum().compute()
    )


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["x", "y"])


def one_partition(_: ExitStack) -> Work:
    df = dd.from_pandas(_table(4_000_000), npartitions=1)
    return lambda: df.map_partitions(_sorted, meta=_table(0)).y.sum().compute()


def skewed_partition(_: ExitStack) -> Work:
    """One of thirty partitions has most of the rows, and it comes last."""
    parts = [_table(60_000, i) for i in range(29)] + [_table(2_500_000, 99)]
    df = dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0].iloc[:0], verify_meta=False)
    return lambda: df.map_partitions(_sorted, meta=_table(0)).y.sum().compute()
