"""Recordings that nobody computed: a million tasks in the shape that a scheduler with free workers makes."""

from __future__ import annotations

import heapq
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import KeyBlock
from taskscope.model.tables.columns import GraphColumns, RowBlock, narrow_sizes, narrow_times
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import CLUSTER, Group, Lane, Run
from taskscope.recording import Recording

__all__ = ["synthetic"]

LANES = 16
MEAN_S = 0.005
PREFIXES = ("random", "mean", "mean_agg", "sum", "transpose", "dot", "getitem", "add", "store", "rechunk")
SIZES = np.array([8e6, 8e4, 4e6, 8, 1e6, 2e6, 16e6, 32, 1e3, 5e5])


def synthetic(n: int, *, is_random: bool, seed: int = 0, n_workers: int | None = None) -> Recording:
    """Return a finished recording of `n` tasks of ten groups in 16 lanes, which last 5 ms in the mean.

    With `n_workers` these are workers of a cluster on one machine, of two threads each.

    Durations, pauses and CPU shares are random. Groups come in turns and their keys in order, or, with
    `is_random`, both are random, too: about the worst that a page can be asked to hold.
    """
    chance = np.random.default_rng(seed)
    duration = chance.gamma(2, MEAN_S / 2, n)
    lanes = _threads() if n_workers is None else _workers(n_workers)
    start, lane = _scheduled(duration, chance.gamma(2, 15e-6, n), len(lanes))
    n_groups = len(PREFIXES)
    group = chance.integers(0, n_groups, n) if is_random else np.arange(n) // 1000 % n_groups
    within = _numbered(group)
    if is_random:
        for number in range(n_groups):
            mine = group == number
            within[mine] = chance.permutation(within[mine])
    side = int(np.ceil(np.sqrt(n / n_groups)))
    ints = np.column_stack([within // side, within % side]).astype(np.int32)
    stop = start + duration
    scheduler = "threads" if n_workers is None else CLUSTER
    ended = np.argsort(stop, kind="stable")
    block = RowBlock(
        run=0,
        task=ended.astype(np.int32),
        start=start[ended],
        duration=duration[ended].astype(np.float32),
        cpu_s=(duration * chance.beta(8, 1, n))[ended].astype(np.float32),
        nbytes=narrow_sizes(SIZES[group[ended]]),
        lane=lane[ended],
        flags=np.zeros(n, np.uint8),
    )
    return Recording(
        started_at=datetime.now(UTC),
        zero_s=0.0,
        runs=(Run(0, None, None, scheduler, len(lanes), n, 0.0, float(stop.max()), "finished", None),),
        groups=tuple(Group(i, f"{name}-{i:032x}", name) for i, name in enumerate(PREFIXES)),
        lanes=lanes,
        blocks=tuple(block.part(slice(first, first + 4096)) for first in range(0, n, 4096)),
        graphs={0: _graph(ints, group, stop)},
        resources=ResourceRows.empty(),
        messages=(),
        now_s=float(stop.max()),
        dropped=0,
        metadata={"label": "synthetic"},
    )


def _threads() -> tuple[Lane, ...]:
    return tuple(Lane(i, "1234", 100 + i, f"ThreadPoolExecutor-0_{i}") for i in range(LANES))


def _workers(n: int) -> tuple[Lane, ...]:
    return tuple(Lane(i, f"tcp://127.0.0.1:{40_000 + i // 2}", 100 + i, f"Thread-{i}") for i in range(2 * n))


def _scheduled(
    duration: NDArray[np.float64], pause: NDArray[np.float64], n_lanes: int
) -> tuple[NDArray[np.float64], NDArray[np.uint16]]:
    """Return when and where each task starts: after a pause, on the lane that is free first."""
    free = [(0.0, lane) for lane in range(n_lanes)]
    starts, lanes = [], []
    for took_s, pause_s in zip(duration.tolist(), pause.tolist(), strict=True):
        since_s, lane = free[0]
        starts.append(since_s + pause_s)
        lanes.append(lane)
        heapq.heapreplace(free, (since_s + pause_s + took_s, lane))
    return np.array(starts), np.array(lanes, np.uint16)


def _numbered(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of each task among those of its group."""
    counts = np.bincount(group)
    numbers = np.empty(len(group), np.int64)
    numbers[np.argsort(group, kind="stable")] = np.concatenate([np.arange(count) for count in counts])
    return numbers


def _graph(ints: NDArray[np.int32], group: NDArray[np.int64], stop: NDArray[np.float64]) -> GraphColumns:
    """Return a graph in which each task needs the one before it and the seventeenth before."""
    n = len(ints)
    task = np.arange(n)
    return GraphColumns(
        keys=KeyBlock(np.full(n, 2, np.uint8), ints.ravel(), ()),
        group=group.astype(np.uint32),
        n_dependencies=np.full(n, 2, np.uint8),
        edges=np.column_stack([np.maximum(task - 17, 0), np.maximum(task - 1, 0)]).astype(np.int32).ravel(),
        enter=narrow_times(stop + 1e-5, 0.0),
        enter_zero=0.0,
        kept=np.array([n - 1], np.int32),
        data=np.empty(0, np.int32),
        data_sizes=np.empty(0),
        values=None,
    )
