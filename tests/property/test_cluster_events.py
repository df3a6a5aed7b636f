"""Whatever a scheduler tells, in any order and pieces: each execution of ours is recorded once, no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskscope.analysis.totals import prefix_progress
from taskscope.record import Recorder
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.connection import News
from taskscope.sources.cluster.executions import Execution, ExecutionWriter
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers import Workers
from tests.support.clusters.scheduler_events import World
from tests.support.fakes.clock import FakeClock

OWNED = {"a": 0, "b": 0, ("c", 1): 1, "</script>": 1}
FOREIGN = ("stranger", ("stranger", 1))
WORKERS = ("tcp://10.0.0.1:1", "tcp://10.0.0.2:1", "tcp://10.0.0.3:1")
N_THREADS = 2
SHARES = ("transfer", "disk-read")


@dataclass(frozen=True)
class Ran:
    """A worker ran a task, well or badly, perhaps after a transfer."""

    key: Hashable
    worker: int
    thread: int
    error: bool = False
    before: str | None = None


@dataclass(frozen=True)
class Broken:
    """The scheduler has a record that is none."""


@dataclass(frozen=True)
class Look:
    """It is asked what is new."""


@dataclass(frozen=True)
class Forgets:
    """It lets go of its oldest records but so many."""

    kept: int


Event = Ran | Broken | Look | Forgets
events = st.lists(
    st.one_of(
        st.builds(
            Ran,
            st.sampled_from([*OWNED, *FOREIGN]),
            st.integers(0, len(WORKERS) - 1),
            st.integers(1, N_THREADS),
            st.booleans(),
            st.sampled_from([None, *SHARES]),
        ),
        st.just(Broken()),
        st.just(Look()),
        st.builds(Forgets, st.integers(0, 3)),
    ),
    max_size=30,
)


@dataclass
class Scheduler:
    """A scheduler that these events happen to, and what is to be recorded of them."""

    clock: FakeClock
    owned: Mapping[Any, int]
    """The runs of keys; others are nobody's."""
    records: list[Sequence[Any]] = field(default_factory=list)
    n_forgotten: int = 0
    n_seen: int = 0
    n_lost: int = 0
    truth: list[Ran | None] = field(default_factory=list)
    expected: Counter[tuple[int, str, str, str]] = field(default_factory=Counter)

    def read(self, cursor: int) -> News:
        first = max(self.n_seen, self.n_forgotten)
        self.n_lost += first - self.n_seen
        events = [("end", *record, None) for record in self.records[first:]]
        return News(cursor, cursor + len(events), events, self.n_lost)

    def add(self, event: Ran | Broken) -> None:
        self.clock.advance(1.0)
        self.truth.append(event if isinstance(event, Ran) else None)
        self.records.append(
            _record(event, self.clock.time()) if isinstance(event, Ran) else ["a", *[None] * 6]
        )

    def seen(self) -> None:
        """Note what a look finds now."""
        for ran in self.truth[max(self.n_seen, self.n_forgotten) :]:
            if ran is not None and ran.key in self.owned:
                status = "erred" if ran.error else "finished"
                self.expected[self.owned[ran.key], str(ran.key), WORKERS[ran.worker], status] += 1
        self.n_seen = len(self.truth)


def _record(ran: Ran, now: float) -> list[Any]:
    steps: list[dict[str, Any]] = [{"action": "compute", "start": now - 0.5, "stop": now}]
    if ran.before is not None:
        steps.insert(0, {"action": ran.before, "start": now - 0.9, "stop": now - 0.6, "source": WORKERS[0]})
    return [
        ran.key,
        WORKERS[ran.worker],
        ran.thread,
        8,
        "ValueError('no')" if ran.error else None,
        steps,
        None,
    ]


def recorded(happened: Sequence[Event]) -> tuple[Scheduler, Recorder]:
    """Feed events to the source as a scheduler would, and look once more at the end."""
    clock = FakeClock()
    scheduler = Scheduler(clock, OWNED)
    world = World(clock)
    for number, worker in enumerate(WORKERS):
        world.workers.come(worker, str(number), N_THREADS)
    runs = [world.begin(collects=False) for _ in range(2)]
    for number, run in enumerate(runs):
        keys = [key for key, owner in OWNED.items() if owner == number]
        submission = Submission(None, frozenset(keys), None, single=False, is_known=True)
        world.tasks.expect(run, submission, is_early=False)
    for event in (*happened, Look()):
        match event:
            case Ran() | Broken():
                scheduler.add(event)
            case Forgets(kept):
                scheduler.n_forgotten = max(scheduler.n_forgotten, len(scheduler.records) - kept)
            case Look():
                world.tasks.take(scheduler.read(world.tasks.cursor))
                scheduler.seen()
                world.tasks.fold(knows_all=True)
    for run in runs:
        run.end(clock.perf_counter())
    return scheduler, world.recorder


def check(happened: Sequence[Event]) -> None:
    scheduler, recorder = recorded(happened)
    recording = recorder.snapshot()
    table = recording.table("tasks")
    workers = {str(i): address for i, address in enumerate(WORKERS)}
    found_rows = zip(
        *(table[c] for c in ("run", "key", "worker", "status", "start_s", "stop_s")), strict=True
    )
    found: Counter[tuple[int, str, str, str]] = Counter()
    for run, key, worker, status, start, stop in found_rows:
        assert stop >= start
        found[int(run), str(key), workers.get(str(worker), str(worker)), str(status)] += 1
    assert found == scheduler.expected
    # Each task counts once, as what it was last, however often it ran.
    live, after = (
        [replace(row, duration_s=round(row.duration_s, 3)) for row in progress]
        for progress in (recorder.progress(), prefix_progress(recording))
    )
    assert live == after
    assert sum(row.finished + row.erred for row in live) == len({(run, key) for run, key, _, _ in found})
    assert recorder.is_active() is False


@settings(max_examples=150)
@given(happened=events)
def test_whatever_a_scheduler_tells_every_execution_is_recorded_once(happened: list[Event]) -> None:
    check(happened)


MANY: list[Event] = [
    *(Ran(key, number % 3, 1, error=number == 2) for number, key in enumerate([*OWNED, *FOREIGN])),
    Look(),
    *(Ran(key, 1, 2) for key in OWNED),
]


def skipping_a_record(patch: pytest.MonkeyPatch) -> None:
    def careless(writer: ExecutionWriter, execution: Execution, run: TrackedRun) -> None:
        if execution.key != "b":
            write(writer, execution, run)

    write = ExecutionWriter.write
    patch.setattr(ExecutionWriter, "write", careless)


def writing_twice(patch: pytest.MonkeyPatch) -> None:
    def careless(writer: ExecutionWriter, execution: Execution, run: TrackedRun) -> None:
        write(writer, copy(execution), run)
        write(writer, execution, run)

    write = ExecutionWriter.write
    patch.setattr(ExecutionWriter, "write", careless)


def mixing_workers(patch: pytest.MonkeyPatch) -> None:
    get = Workers.get
    patch.setattr(Workers, "get", lambda workers, _address: get(workers, WORKERS[0]))


def dropping_errors(patch: pytest.MonkeyPatch) -> None:
    def careless(writer: ExecutionWriter, record: Sequence[Any]) -> Execution:
        return replace(read(writer, record), error=None)

    read = ExecutionWriter.read
    patch.setattr(ExecutionWriter, "read", careless)


@pytest.mark.parametrize("seed_bug", [skipping_a_record, writing_twice, mixing_workers, dropping_errors])
def test_a_seeded_bug_fails_the_property(
    monkeypatch: pytest.MonkeyPatch, seed_bug: Callable[[pytest.MonkeyPatch], None]
) -> None:
    check(MANY)
    seed_bug(monkeypatch)
    with pytest.raises(AssertionError):
        check(MANY)
