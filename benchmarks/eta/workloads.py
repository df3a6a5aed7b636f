"""Graphs whose tasks sleep, easy and hard to foresee: what an estimate of the time left is measured on."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from dask.order import order

__all__ = ["N_WORKERS", "WORKLOADS", "Graph", "graph_of"]

N_WORKERS = 4

Graph = Mapping[Any, Any]


def nap(seconds: float, *_: object) -> float:
    """Take so long."""
    time.sleep(seconds)
    return seconds


def _spread(draw: Callable[[random.Random, float], float], n: int) -> Callable[[random.Random], Graph]:
    """Return independent tasks; `draw` gives a duration, told how far in the order of running the task is."""

    def build(rng: random.Random) -> Graph:
        keys = [("work-1", i) for i in range(n)]
        end: dict[Any, Any] = {"end-1": (nap, 0.0, *keys)}
        # Dask does not run them in the order of their numbers.
        rank = order(dict.fromkeys(keys, (nap, 0.0)) | end)
        return {
            key: (nap, draw(rng, i / n)) for i, key in enumerate(sorted(keys, key=rank.__getitem__))
        } | end

    return build


def _phases(*phases: tuple[str, int, float]) -> Callable[[random.Random], Graph]:
    """Return phases, each of which begins when the one before is over."""

    def build(rng: random.Random) -> Graph:
        graph: dict[Any, Any] = {}
        before: list[Any] = []
        for name, n, seconds in phases:
            keys = [(f"{name}-1", i) for i in range(n)]
            graph |= {key: (nap, seconds * rng.uniform(0.7, 1.3), *before) for key in keys}
            before = [f"{name}-gate-1"]
            graph[before[0]] = (nap, 0.0, *keys)
        return graph

    return build


def _chains(n_chains: int, length: int, seconds: float) -> Callable[[random.Random], Graph]:
    def build(rng: random.Random) -> Graph:
        graph: dict[Any, Any] = {
            (f"link{j % 3}-1", i, j): (nap, seconds * rng.uniform(0.5, 1.5))
            + (((f"link{(j - 1) % 3}-1", i, j - 1),) if j else ())
            for i in range(n_chains)
            for j in range(length)
        }
        ends = [(f"link{(length - 1) % 3}-1", i, length - 1) for i in range(n_chains)]
        return graph | {"end-1": (nap, 0.0, *ends)}

    return build


def _tree(n: int, leaf_s: float, join_s: float) -> Callable[[random.Random], Graph]:
    def build(rng: random.Random) -> Graph:
        level = [("leaf-1", i) for i in range(n)]
        graph: dict[Any, Any] = {key: (nap, leaf_s * rng.uniform(0.5, 1.5)) for key in level}
        depth = 0
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [(f"join-{depth}", i) for i in range(len(pairs))]
            graph |= {key: (nap, join_s, *pair) for key, pair in zip(level, pairs, strict=True)}
            depth += 1
        return graph

    return build


def _shuffle(n: int, seconds: float) -> Callable[[random.Random], Graph]:
    def build(rng: random.Random) -> Graph:
        graph: dict[Any, Any] = {("read-1", i): (nap, seconds * rng.lognormvariate(0, 0.5)) for i in range(n)}
        graph |= {("split-1", i): (nap, seconds / 4, ("read-1", i)) for i in range(n)}
        splits = [("split-1", i) for i in range(n)]
        gathers = [("gather-1", i) for i in range(n)]
        graph |= {key: (nap, 1.5 * seconds * rng.lognormvariate(0, 0.5), *splits) for key in gathers}
        return graph | {"end-1": (nap, 0.0, *gathers)}

    return build


WORKLOADS: Mapping[str, Callable[[random.Random], Graph]] = {
    "equal tasks": _spread(lambda rng, _: 0.03, 500),
    "lognormal tasks": _spread(lambda rng, _: 0.02 * rng.lognormvariate(0, 1.0), 500),
    "slower and slower": _spread(lambda rng, at: 0.01 + 0.06 * at, 400),
    "faster and faster": _spread(lambda rng, at: 0.07 - 0.06 * at, 400),
    "slow and quick ones": _spread(lambda rng, _: rng.choice((0.005, 0.1)), 300),
    "rare stragglers": _spread(lambda rng, _: 1.0 if rng.random() < 0.02 else 0.03, 400),
    "one straggler": _spread(lambda rng, at: 2.5 if at > 0.6 and rng.random() < 0.005 else 0.03, 400),
    "phases": _phases(("load", 120, 0.03), ("scale", 60, 0.08), ("join", 200, 0.02)),
    "slow end": _phases(("load", 300, 0.03), ("sum", 2, 1.2)),
    "serial end": _phases(("load", 200, 0.04), *((f"step{i}", 1, 0.25) for i in range(6))),
    "chains": _chains(8, 40, 0.04),
    "few chains": _chains(3, 60, 0.05),
    "tree": _tree(256, 0.04, 0.03),
    "shuffle": _shuffle(60, 0.08),
}
"""By name: builds a graph of about 2 to 6 s with `N_WORKERS` workers."""


def graph_of(name: str, seed: int) -> Graph:
    """Return the graph of a workload; the same for the same seed."""
    return WORKLOADS[name](random.Random(seed))
