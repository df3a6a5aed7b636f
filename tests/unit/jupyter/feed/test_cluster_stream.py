"""What a page is told of a cluster, from recorders into which it was written by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taskscope.jupyter.feed.cluster import ClusterStream
from taskscope.model.workers import WorkerSample
from taskscope.record import LaneActivity, LaneKey, Recorder, RunLog
from taskscope.wire.cluster import encode_cluster
from taskscope.wire.schema import ACTIVITY_BUFFERS, WORKER_BUFFERS
from tests.support.fake_clock import FakeClock
from tests.support.run_writing import begin_run, end_run

CODES = dict(zip((*ACTIVITY_BUFFERS, *WORKER_BUFFERS), "HBHHdfdIdHdIHfdddd", strict=True))
LANE = LaneKey(0, 7, label="worker 0, thread 1", worker="tcp://a:1")


def decoded(stream: ClusterStream) -> tuple[dict[str, Any], dict[str, list[float]]]:
    section, buffers = encode_cluster(stream.next())
    columns = {
        name: np.frombuffer(buffer, np.dtype(code)).tolist()
        for (name, code), buffer in zip(CODES.items(), buffers, strict=True)
    }
    return dict(section), columns


def transfer(key: str, start: float, token: int | None, nbytes: float = math.nan) -> LaneActivity:
    return LaneActivity(key, LANE, 0, start, start + 0.5, "tcp://b:2", token, nbytes)


def a_recorder() -> tuple[Recorder, RunLog]:
    recorder = Recorder(clock=FakeClock())
    return recorder, begin_run(recorder, {"x-1": (), "y-2": ("x-1",)})


def pull(recorder: Recorder) -> None:
    while recorder.pull():
        pass


def test_activities_are_told_once_with_group_and_source() -> None:
    recorder, log = a_recorder()
    stream = ClusterStream(recorder)
    log.activities.append(transfer("y-2", recorder.origin + 1.0, None, 80.0))
    pull(recorder)
    section, columns = decoded(stream)
    assert section["activities"] == {
        "first": 0,
        "count": 1,
        "dropped": 0,
        "n_completed": 0,
        "runs": [(0, 1)],
        "sources": [(1, "tcp://b:2")],
    }
    groups = [recorder.groups[int(g)].name for g in columns["activity_group"]]
    assert (groups, columns["activity_source"], columns["activity_kind"]) == (["y"], [1], [0])
    assert (columns["activity_start_s"], columns["activity_duration_s"]) == ([1.0], [0.5])
    assert columns["activity_nbytes"] == [80.0]
    assert (stream.behind, stream.next().is_empty) == (False, True)


def test_bytes_that_become_known_later_are_told_to_those_who_have_the_row() -> None:
    recorder, log = a_recorder()
    early = ClusterStream(recorder)
    log.activities.append(transfer("y-2", recorder.origin + 1.0, 1))
    pull(recorder)
    _, first = decoded(early)
    assert [math.isnan(n) for n in first["activity_nbytes"]] == [True]
    log.activity_bytes.append((1, 8e6))
    pull(recorder)
    assert early.behind
    section, then = decoded(early)
    assert (section["activities"]["count"], section["activities"]["n_completed"]) == (0, 1)
    assert (then["completed_row"], then["completed_nbytes"]) == ([0], [8e6])
    section, late = decoded(ClusterStream(recorder))
    assert (late["activity_nbytes"], section["activities"]["n_completed"]) == ([8e6], 0)
    end_run(log)
    pull(recorder)


def test_samples_are_told_once_and_a_worker_whenever_it_is_called_something_else() -> None:
    recorder, _ = a_recorder()
    stream = ClusterStream(recorder)

    def said(time_s: float, worker: str, name: str, n_threads: int = 2) -> None:
        rest = (None, 1.5, 3.0, 2.0, 1.0, None, 4.0)
        recorder.workers.append(WorkerSample(time_s, worker, name, n_threads, *rest))

    said(1.0, "tcp://a:1", "0")
    said(1.5, "tcp://b:2", "tcp://b:2")
    section, columns = decoded(stream)
    assert section["workers"] == {
        "first": 0,
        "count": 2,
        "workers": [(0, "tcp://a:1", "0", 2), (1, "tcp://b:2", "tcp://b:2", 2)],
    }
    assert (columns["worker"], columns["worker_time_s"]) == ([0, 1], [1.0, 1.5])
    assert (columns["worker_n_executing"], columns["worker_limit_bytes"]) == ([65535] * 2, [4.0] * 2)
    assert [math.isnan(n) for n in columns["worker_spilled_bytes"]] == [True, True]
    said(2.0, "tcp://b:2", "b")
    said(2.5, "tcp://a:1", "0", n_threads=0)
    section, columns = decoded(stream)
    assert section["workers"] == {"first": 2, "count": 2, "workers": [(1, "tcp://b:2", "b", 2)]}
    assert (columns["worker"], columns["worker_n_threads"]) == ([1, 0], [2, 0])
