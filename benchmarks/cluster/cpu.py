"""CPU time of a cluster's tasks against what the tasks measure themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from distributed import Client, LocalCluster

import taskscope
from benchmarks.harness import Table, spread

__all__ = ["measure_cpu"]


def spin(seconds: float, _number: int) -> float:
    """Return how much CPU time this took, as the task itself measures it."""
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass
    return time.thread_time() - began


def rest(seconds: float, _number: int) -> float:
    """The same, half of the time off the CPU."""
    began = time.thread_time()
    time.sleep(seconds / 2)
    while time.thread_time() - began < seconds / 2:
        pass
    return time.thread_time() - began


@dataclass(frozen=True, slots=True)
class _Kind:
    """Tasks of one prefix."""

    name: str
    function: Callable[[float, int], float]
    seconds: float
    n: int


_KINDS = (
    _Kind("spin-short", spin, 0.005, 400),
    _Kind("spin-long", spin, 0.1, 20),
    _Kind("rest-short", rest, 0.01, 200),
    _Kind("rest-long", rest, 0.1, 20),
    _Kind("spin-alone", spin, 0.5, 1),
    _Kind("rest-alone", rest, 0.5, 1),
)


def measure_cpu(rounds: int) -> Table:
    return Table(
        f"CPU time of tasks of six prefixes, {rounds} rounds",
        (
            "prefix",
            "tasks",
            "CPU time",
            "recorded of it",
            "a task's error at the 90th percentile",
        ),
        _rows(rounds),
        "The truth is `time.thread_time` inside of the tasks; what calls them, and measures their results, "
        "is in what workers meter.",
    )


def _rows(rounds: int) -> Iterator[tuple[str, ...]]:
    found: dict[str, list[tuple[float, float, float]]] = {kind.name: [] for kind in _KINDS}
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        for _ in range(rounds):
            for name, figures in _measure(client).items():
                found[name].append(figures)
    for kind in _KINDS:
        truth, ratio, error = (np.array(column) for column in zip(*found[kind.name], strict=True))
        yield (
            kind.name,
            str(kind.n),
            f"{np.median(truth):.3f} s",
            spread(list(100 * ratio), "{:.2f} %"),
            spread(list(100 * error), "{:.1f} %"),
        )


def _measure(client: Client) -> dict[str, tuple[float, float, float]]:
    with taskscope.profile(display=False) as run:
        futures = {
            kind.name: client.map(
                kind.function,
                [kind.seconds] * kind.n,
                range(kind.n),
                key=[(kind.name, number) for number in range(kind.n)],
                pure=False,
            )
            for kind in _KINDS
        }
        truth = {name: np.array(client.gather(mine)) for name, mine in futures.items()}
        client.cancel([future for mine in futures.values() for future in mine])
        del futures
    tasks = run.recording.to_pandas("tasks")
    figures = {}
    for name, own in truth.items():
        mine = tasks[tasks.prefix == name]
        number = mine.key.str.extract(r", (\d+)\)")[0].astype(int).to_numpy()
        cpu_s = mine.cpu_s.to_numpy()
        error = np.abs(cpu_s - own[number]) / own[number]
        all_s = float(own.sum())
        figures[name] = (
            all_s,
            float(cpu_s.sum()) / all_s,
            float(np.quantile(error, 0.9)),
        )
    return figures
