"""Is what `what_if(workers=k)` says what a compute really takes with k workers?

Graphs of tasks that sleep are computed for real in 1 to 16 threads. Each recording is asked for each other
number of threads, and for its own; what it says is compared with what that compute took.
"""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import dask
import numpy as np
from dask.delayed import Delayed

import taskscope
from benchmarks.harness import Table, main
from taskscope.recording import Recording

_WORKERS = (1, 2, 4, 8, 16)
_MEAN_S = 0.03


def _slept(seconds: float, *_: object) -> float:
    time.sleep(seconds)
    return seconds


_task = dask.delayed(_slept, pure=False)


def _alike(_random: np.random.Generator) -> list[Delayed]:
    return [_task(_MEAN_S) for _ in range(64)]


def _scattered(random: np.random.Generator) -> list[Delayed]:
    return [_task(s) for s in random.lognormal(math.log(_MEAN_S), 0.6, 64).tolist()]


def _reduced(random: np.random.Generator) -> list[Delayed]:
    """Parts, combined in a tree."""
    parts = [_task(s) for s in random.uniform(0.5, 1.5, 32) * _MEAN_S]
    while len(parts) > 1:
        parts = [_task(_MEAN_S, *pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    return parts


def _chains(random: np.random.Generator) -> list[Delayed]:
    found = []
    for length in random.integers(2, 14, 8).tolist():
        last = _task(_MEAN_S)
        for own_s in random.uniform(0.5, 1.5, length).tolist():
            last = _task(own_s * _MEAN_S, last)
        found.append(last)
    return found


def _layers(random: np.random.Generator) -> list[Delayed]:
    """Each task needs up to three of the layer before."""
    layer = [_task(_MEAN_S) for _ in range(12)]
    for _ in range(5):
        layer = [
            _task(own_s, *(layer[i] for i in random.choice(12, random.integers(1, 4), replace=False)))
            for own_s in random.uniform(0.5, 1.5, 12) * _MEAN_S
        ]
    return layer


_GRAPHS: tuple[Callable[[np.random.Generator], list[Delayed]], ...] = (
    _alike,
    _scattered,
    _reduced,
    _chains,
    _layers,
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one recording said of a number of threads, and what these took."""

    recorded_at: int
    workers: int
    error: float
    is_held: bool


def _recorded(tasks: list[Delayed], workers: int) -> Recording:
    with taskscope.profile(display=False) as block:
        dask.compute(*tasks, scheduler="threads", num_workers=workers, optimize_graph=False)
    return block.recording


def _asked(seeds: Sequence[int]) -> Iterator[_Asked]:
    for graph, seed in itertools.product(_GRAPHS, seeds):
        tasks = graph(np.random.default_rng(seed))
        recordings = {workers: _recorded(tasks, workers) for workers in _WORKERS}
        took_s = {workers: of.what_if().recorded_s for workers, of in recordings.items()}
        for at, workers in itertools.product(_WORKERS, _WORKERS):
            said = recordings[at].what_if(workers=workers)
            if said.makespan_s is None or said.low_s is None or said.high_s is None:
                raise RuntimeError(f"what_if(workers={workers}) said nothing: {said.reason}")
            error = abs(said.makespan_s - took_s[workers]) / took_s[workers]
            is_held = said.low_s <= took_s[workers] <= said.high_s
            yield _Asked(at, workers, error, is_held)


def _rows(seeds: Sequence[int]) -> Iterator[tuple[str, ...]]:
    asked = list(_asked(seeds))
    for at in _WORKERS:
        mine = [one for one in asked if one.recorded_at == at and one.workers != at]
        yield _row(str(at), "each other", mine)
    yield _row("**all**", "each other", [one for one in asked if one.workers != one.recorded_at])
    yield _row("**all**", "the same", [one for one in asked if one.workers == one.recorded_at])


def _row(recorded_at: str, workers: str, asked: Sequence[_Asked]) -> tuple[str, ...]:
    errors = [one.error for one in asked]
    return (
        recorded_at,
        workers,
        str(len(asked)),
        f"{statistics.median(errors):.1%}",
        f"{float(np.quantile(errors, 0.9)):.1%}",
        f"{max(errors):.1%}",
        f"{sum(one.is_held for one in asked) / len(asked):.0%}",
    )


def measure(*, quick: bool) -> list[Table]:
    """Return one table."""
    columns = (
        "recorded in threads",
        "asked for threads",
        "answers",
        "median error",
        "90th percentile",
        "largest",
        "band holds it",
    )
    note = (
        "Error: in parts of what the compute took with so many threads. Asked for: at other numbers a "
        "median of 5 % at most, 10 % at the 90th percentile, and a band that holds 80 %; at the same, 2 %."
    )
    return [Table("Graphs of sleeping tasks", columns, _rows(range(1 if quick else 2)), note)]


if __name__ == "__main__":
    main(__doc__, measure)
