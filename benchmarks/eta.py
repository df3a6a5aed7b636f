"""Is the time left honest?

Every graph of `benchmarks.eta_workloads` is computed; ten times a second the estimate is looked at, and when
the compute is over it is known when it ended. The band promises to hold about four of five true ends.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import dask.threaded

from benchmarks.eta_workloads import N_WORKERS, WORKLOADS, graph_of
from benchmarks.harness import Table, main
from taskscope.model.records import Estimate
from taskscope.session import current
from taskscope.widgets.estimates import Estimates

LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Run:
    """One compute: when it ended, and what was estimated when; seconds after its start."""

    stop_s: float
    looks: Sequence[tuple[float, Estimate]]
    n_without: int
    """Looks before there was evidence."""


class _Watcher:
    """Asks for the estimate of what runs, from a thread of its own."""

    def __init__(self) -> None:
        self._recorder = current().recorder
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

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            for run in self._recorder.runs():
                now_s = self._recorder.now_s()
                found = self._estimates.of([run], now_s).get(run.run)
                if found is not None:
                    self.looks.append((now_s, found))
                elif run.status == "running":
                    self.n_without += 1


def computed(name: str, seed: int) -> Run:
    """Compute a graph and return what was estimated meanwhile."""
    session, holder = current(), object()
    session.hold(holder)
    graph = dict(graph_of(name, seed))
    try:
        with _Watcher() as watcher:
            dask.threaded.get(graph, list(graph)[-1], num_workers=N_WORKERS)
    finally:
        (*_, run) = session.recorder.runs()
        session.release(holder)
    assert run.stop_s is not None
    zero_s = run.start_s
    looks = [
        (now_s - zero_s, Estimate(*(t - zero_s for t in (e.stop_s, e.earliest_s, e.latest_s))))
        for now_s, e in watcher.looks
        if run.start_s <= now_s < run.stop_s
    ]
    return Run(run.stop_s - zero_s, looks, watcher.n_without)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}%" if whole else ""


def _row(name: str, runs: Sequence[Run]) -> list[str]:
    looks = [(run, estimate) for run in runs for _, estimate in run.looks]
    before = sum(run.stop_s < e.earliest_s for run, e in looks)
    beyond = sum(run.stop_s > e.latest_s for run, e in looks)
    off = [abs(e.stop_s - run.stop_s) / run.stop_s for run, e in looks]
    wide = [(e.latest_s - e.earliest_s) / run.stop_s for run, e in looks]
    return [
        name,
        str(len(looks)),
        _percent(len(looks) - before - beyond, len(looks)),
        _percent(before, len(looks)),
        _percent(beyond, len(looks)),
        f"{100 * statistics.median(off):.0f}%" if off else "",
        f"{100 * statistics.median(wide):.0f}%" if wide else "",
        str(sum(run.n_without for run in runs)),
    ]


def _rows(seeds: Sequence[int]) -> Iterator[list[str]]:
    everything: list[Run] = []
    for name in WORKLOADS:
        runs = [computed(name, seed) for seed in seeds]
        everything += runs
        yield _row(name, runs)
    yield _row("**all**", everything)


def measure(*, quick: bool) -> list[Table]:
    """Return one table."""
    columns = [
        "graph",
        "looks",
        "end in the band",
        "before it",
        "beyond it",
        "off by",
        "width",
        "no estimate",
    ]
    seeds = range(1) if quick else range(5)
    note = (
        "Error and width are medians, in parts of the compute's length. Stragglers and a slow end of which "
        "nothing is seen beforehand cannot be foreseen; before there is evidence there is no estimate."
    )
    return [Table("The time left: is the true end in the band?", columns, _rows(seeds), note)]


if __name__ == "__main__":
    main(__doc__, measure)
