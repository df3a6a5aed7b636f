"""What a page is told last of a compute is all of it, at whatever moment of folding the compute ended."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from taskscope.analysis.time_left import Estimates
from taskscope.jupyter.feed.stream import PageStream
from taskscope.model.clock import Clock
from taskscope.record import Recorder, RunLog
from taskscope.record.pump import Tick
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, independent, lane_of, write_task
from tests.support.wire_decoder import PageReader

IDLE = Tick(1.0, active=False, final=False)
KEYS = [("inc", i) for i in range(3)]


def write_last(log: RunLog) -> None:
    write_task(log, KEYS[2], log.start + 2, log.start + 3)
    lane_of(log).open = None


def end_with_last(log: RunLog) -> None:
    write_last(log)
    end_run(log)


def end_before_last(log: RunLog) -> None:
    """End it as an interrupt does, while a thread still works on a task."""
    lane_of(log).open = (KEYS[2], log.start + 2)
    end_run(log, "interrupted")


def end_without_last(log: RunLog) -> None:
    end_run(log, "erred")


def nothing(_: RunLog) -> None:
    """Nothing is written after the end."""


@pytest.mark.parametrize("look", [1, 2, 3])
@pytest.mark.parametrize(
    ("end", "later", "status", "counts"),
    [
        (end_with_last, nothing, "finished", (3, 0, 0, 0)),
        (end_before_last, write_last, "interrupted", (2, 0, 0, 1)),
        (end_without_last, nothing, "erred", (2, 0, 0, 0)),
    ],
    ids=["finished", "interrupted", "erred"],
)
def test_status_and_counts_are_those_at_the_end(
    look: int,
    end: Callable[[RunLog], None],
    later: Callable[[RunLog], None],
    status: str,
    counts: tuple[int, ...],
) -> None:
    recorders: list[Recorder] = []
    looks: list[int] = []
    clock = FakeClock()

    def perf_counter() -> float:
        # The recorder looks at the clock once rows are folded, and again once the run was described.
        if recorders and recorders[0].cursor == 2:
            looks.append(len(looks) + 1)
            if looks[-1] == look:
                end(log)
        return clock.perf_counter()

    recorder = Recorder(clock=Clock(perf_counter, clock.thread_time, clock.time))
    recorders.append(recorder)
    stream = PageStream(recorder, "rec-1", 0, Estimates(recorder))
    log = begin_run(recorder, independent(KEYS))
    for i in range(2):
        write_task(log, KEYS[i], log.start + i, log.start + i + 1)
    recorder.pull()
    page = PageReader()
    messages = [page.read(stream.next(IDLE)[1])]
    assert log.status == status

    later(log)
    recorder.pull()
    while stream.behind:
        messages.append(page.read(stream.next(IDLE)[1]))
    told_runs = [run["status"] for message in messages for run in message["runs"]]
    # Run, prefix, total, finished, erred, running, interrupted.
    told_progress = [row[:7] for message in messages for row in message["progress"]]
    assert (told_runs[-1], told_progress[-1], recorder.is_active()) == (status, (0, "inc", 3, *counts), False)
