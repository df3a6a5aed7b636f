"""A recording of a run with every kind of row, one that runs, and nothing known of either."""

from __future__ import annotations

import math
import os

from taskscope.model.tables.process import ResourceRows
from taskscope.record import LaneKey, Recorder, UnseenTask
from taskscope.recording import Recording
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, write_task

METADATA = {"pid": 4242, "memory_limit_bytes": 2**34}


def recording_of_every_row(clock: FakeClock) -> Recording:
    recorder = Recorder(clock=clock)
    clock.advance(10.0)
    log = begin_run(
        recorder,
        {"given": (), ("load-1", 0): (), ("load-1", 1): (), "total-ab12": (("load-1", 0), "given")},
        kept={"total-ab12"},
        data={"given": 64.0},
    )
    log.label, log.cell, log.scheduler, log.n_workers = "quick", "cell-1", "threads", 2
    write_task(log, ("load-1", 0), 110.5, 111.0, cpu=0.25, size=800.0, thread=7)
    log.fail("total-ab12", LaneKey(os.getpid(), 7, 0, "thread 7"), 111.0, 111.5, 0.125, ValueError("no"))
    log.unseen.append(UnseenTask(("load-1", 1), 110.25, 112.0, "lost", None))
    log.error = "ValueError: no"
    clock.advance(2.0)
    end_run(log, "erred")
    recorder.resources.append(ResourceRows.of([(10.0, math.nan, 1e6, 1, False)]))
    recorder.resources.append(ResourceRows.of([(12.0, 150.0, 2e6, 3, True, 2.5, 3e6, 25.0)]))
    recorder.warn("mind the gap")
    begin_run(recorder, {"later": ()}, kept={"later"})
    return Recording.of(recorder.snapshot(start_s=10.0, metadata=METADATA))


def empty_recording() -> Recording:
    return Recording.of(Recorder(clock=FakeClock()).snapshot())
