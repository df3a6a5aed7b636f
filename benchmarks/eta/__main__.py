"""Is the time left honest?

Every graph of `benchmarks.eta.workloads` is computed; ten times a second the estimate is looked at, and when
the compute is over it is known when it ended. The band promises to hold about four of five true ends. Of
tasks of prefixes of which none has ended it promises nothing, and the widget says how many are ahead; a miss
is put down to them only if all tasks of the prefixes seen by then had ended within the band.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import dask.threaded
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.eta.workloads import N_WORKERS, WORKLOADS, Graph, graph_of
from benchmarks.harness import Table, main
from taskscope.analysis.progress import Estimates
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Estimate
from taskscope.options import Options
from taskscope.session import current

LOOK_S = 0.1
Get: TypeAlias = Callable[[Graph, Any], object]
"""Computes a key of a graph."""


@dataclass(frozen=True, slots=True)
class Run:
    """One compute: when it ended, and what was estimated when; seconds after its start."""

    stop_s: float
    looks: Sequence[tuple[float, Estimate]]
    n_without: int
    """Looks before there was evidence."""
    seen: Sequence[tuple[float, float]]
    """Per group: when its first task ended, and its last one."""

    def known_stop_s(self, now_s: float) -> float:
        """Return when the tasks of the prefixes seen by now had ended."""
        return max((last_s for first_s, last_s in self.seen if first_s <= now_s), default=0.0)


class _Watcher:
    """Asks for the estimate of what runs, from a thread of its own."""

    def __init__(self) -> None:
        self._recorder = current().recorder
        # As the live views do: while nothing reads, rows wait.
        self._unsubscribe = current().pump.subscribe(lambda _tick: None)
        self._estimates = Estimates(self._recorder)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.looks: list[tuple[float, Estimate]] = []
        self.n_without = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._unsubscribe()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            for run in self._recorder.runs():
                now_s = self._recorder.now_s()
                found = self._estimates.of([run], now_s).get(run.run)
                if found is not None:
                    self.looks.append((now_s, found))
                elif run.status == "running":
                    self.n_without += 1


def _on_threads(graph: Graph, key: Any) -> object:
    return dask.threaded.get(graph, key, num_workers=N_WORKERS)


def computed(name: str, seed: int, get: Get = _on_threads) -> Run:
    """Compute a graph and return what was estimated meanwhile."""
    session, holder = current(), object()
    session.hold(holder, Options())
    graph = dict(graph_of(name, seed))
    try:
        with _Watcher() as watcher:
            get(graph, list(graph)[-1])
        session.cluster.settle()
    finally:
        (*_, run) = session.recorder.runs()
        seen = _seen(session.recorder.snapshot(run.run, run.run))
        session.release(holder)
    assert run.stop_s is not None
    zero_s = run.start_s
    looks = [
        (
            now_s - zero_s,
            Estimate(e.stop_s - zero_s, e.earliest_s - zero_s, e.latest_s - zero_s, e.n_unseen),
        )
        for now_s, e in watcher.looks
        if run.start_s <= now_s < run.stop_s
    ]
    return Run(run.stop_s - zero_s, looks, watcher.n_without, seen)


def _seen(recording: RecordedData) -> list[tuple[float, float]]:
    """Return per group when its first task and its last one ended, in seconds after the compute's start."""
    (run,) = recording.runs
    tasks = recording.tasks
    prefixes = np.array([recording.groups[group].prefix for group in tasks.group.tolist()], object)
    stop_s = tasks.stop - run.start_s
    of_each = (stop_s[prefixes == prefix] for prefix in dict.fromkeys(prefixes.tolist()))
    return [(float(stops.min()), float(stops.max())) for stops in of_each]


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}%" if whole else ""


def _row(name: str, runs: Sequence[Run]) -> list[str]:
    looks = [(run, estimate) for run in runs for _, estimate in run.looks]
    before = sum(run.stop_s < e.earliest_s for run, e in looks)
    beyond = [
        run.known_stop_s(now_s) <= e.latest_s and e.n_unseen > 0
        for run in runs
        for now_s, e in run.looks
        if run.stop_s > e.latest_s
    ]
    off = [abs(e.stop_s - run.stop_s) / run.stop_s for run, e in looks]
    wide = [(e.latest_s - e.earliest_s) / run.stop_s for run, e in looks]
    return [
        name,
        str(len(looks)),
        _percent(len(looks) - before - len(beyond), len(looks)),
        _percent(before, len(looks)),
        _percent(len(beyond) - sum(beyond), len(looks)),
        _percent(sum(beyond), len(looks)),
        f"{100 * statistics.median(off):.0f}%" if off else "",
        f"{100 * statistics.median(wide):.0f}%" if wide else "",
        str(sum(run.n_without for run in runs)),
    ]


def _rows(seeds: Sequence[int], get: Get = _on_threads) -> Iterator[list[str]]:
    everything: list[Run] = []
    for name in WORKLOADS:
        runs = [computed(name, seed, get) for seed in seeds]
        everything += runs
        yield _row(name, runs)
    yield _row("**all**", everything)


def _rows_on_cluster(seeds: Sequence[int]) -> Iterator[list[str]]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=N_WORKERS // 2, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield from _rows(seeds, client.get)


def measure(*, quick: bool) -> list[Table]:
    """Return a table of threads, and one of a cluster."""
    columns = [
        "graph",
        "looks",
        "end in the band",
        "before it",
        "beyond it",
        "through unseen prefixes",
        "off by",
        "width",
        "no estimate",
    ]
    seeds, on_cluster = range(1), range(1)
    note = (
        "Error and width are medians, in parts of the compute's length. A first straggler cannot be "
        "foreseen. Through unseen prefixes: the end was beyond the band, all tasks of the prefixes seen by "
        "then had ended in it, and the widget said that it may take longer, as tasks of prefixes not seen "
        "yet were ahead. Before there is evidence there is no estimate."
    )
    return [
        Table("The time left: is the true end in the band?", columns, _rows(seeds), note),
        Table(
            "The same on two workers of two threads",
            columns,
            _rows_on_cluster(on_cluster),
            "As above; what has ended is known as late as the scheduler tells it.",
        ),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
