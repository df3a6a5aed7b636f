"""A compute of a cluster, spelled out, of which some tasks do not have to run and others run again."""

from __future__ import annotations

from collections.abc import Callable

from taskscope.model.tables.columns import NEEDED, SKIPPED
from taskscope.model.tables.records import CLUSTER, FINISHED, LOST
from taskscope.record import GraphSource, LaneKey, Recorder, RunLog
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import report_task

__all__ = ["finish", "lose", "record_repeated_tasks"]

_LANE = LaneKey(0, 7, label="worker 0, thread 1", worker="tcp://10.0.0.1:4001")
_GRAPH: dict[object, tuple[object, ...]] = {
    "base-0": (),
    "base-1": (),
    "add-0": ("base-0",),
    "add-1": ("base-1",),
    "add-2": (),
    "sum-0": ("add-0", "add-1", "add-2"),
}


def finish(log: RunLog, key: str, at: float) -> None:
    """Write that a task ran for a second from then on, in seconds after the start of the run."""
    start = log.start + at
    report_task(log, key, _LANE, start, start + 1.0)
    log.landed.extend((key, start + 1.0))


def lose(log: RunLog, key: str, at: float) -> None:
    """Write that a task went down with its worker half a second after it was sent there."""
    log.submitted[key] = log.start + at
    log.sent_to[key] = ("tcp://10.0.0.2:4002", "worker 1")
    log.end_unreported(key, log.start + at + 0.5, "lost", "worker 1 died")


def record_repeated_tasks(
    clock: FakeClock, watch: Callable[[Recorder], None] = lambda _: None
) -> tuple[Recorder, RunLog]:
    """Record it, and have somebody look whenever there is something new.

    The cluster has ``add-0``, so ``base-0`` is not needed, and is said to have ``add-1``, which is lost and
    computed again with what it needs. ``add-2`` is lost with its worker, runs, and its result is lost, too.
    """
    recorder = Recorder(clock=clock)
    log = recorder.begin()
    log.scheduler, log.is_held_elsewhere, log.n_workers = CLUSTER, True, 2
    log.graph_source = GraphSource(_GRAPH, frozenset(["sum-0"]), {})

    def look() -> None:
        while recorder.pull(1.0):
            pass
        watch(recorder)

    log.n_tasks = 2
    for key in ("base-0", "base-1", "add-0", "add-1"):
        log.needs.extend((key, SKIPPED))
    lose(log, "add-2", 0.0)
    look()
    log.n_tasks = 4
    log.needs.extend(("base-1", NEEDED, "add-1", NEEDED))
    log.superseded.extend(("add-2", LOST))
    for at, key in ((1.0, "base-1"), (2.0, "add-2"), (3.0, "add-1")):
        finish(log, key, at)
    look()
    log.superseded.extend(("add-2", FINISHED))
    finish(log, "add-2", 4.0)
    finish(log, "sum-0", 5.0)
    clock.advance(6.0)
    look()
    log.stop, log.status = log.start + 6.0, "finished"
    look()
    return recorder, log
