from __future__ import annotations

import json
import math

from taskscope.jupyter.feed.cluster import ClusterStream
from taskscope.model.records import Estimate, Group, Lane, Message, PrefixProgress, Run, RunningTask
from taskscope.model.scheduled import Scheduled
from taskscope.record import LaneActivity, LaneKey, Recorder
from taskscope.wire import Batch, encode_batch
from taskscope.wire.cluster import encode_cluster
from taskscope.wire.schema import ACTIVITY_BUFFERS, BUFFERS, HELD_BUFFERS, RESOURCE_BUFFERS, WORKER_BUFFERS
from tests.support.fake_clock import FakeClock
from tests.support.run_writing import begin_run


def test_the_message_says_all_tables_in_plain_json() -> None:
    message, buffers = encode_batch(
        Batch(
            recorder="r",
            epoch="r-2",
            seq=4,
            now_s=math.inf,
            active=False,
            final=True,
            first=10,
            cursor=30,
            dropped=10,
            tasks=Recorder().tasks_since(0, 1)[1],
            groups=[Group(0, "sum-1", "sum")],
            lanes=[Lane(0, "main", 140_000_000_000_000, "main thread 1")],
            runs=[
                Run(0, "a\ud800", "Cell [3]", "threads", 4, 12, 0.5, None, "running", None, 3, 2**32 - 1),
                Run(1, None, None, None, None, 1, 0.5, math.nan, "erred", "ValueError: " + "x" * 600),
                Run(2, None, None, None, None, 1, 0.5, 2.5, "finished", None),
            ],
            progress=[
                PrefixProgress(0, "sum", 12, 3, 1, 4, 0, math.nan),
                PrefixProgress(1, "sum", 9, 0, 0, 0, 0, 0.0, Scheduled(1.5, 8, False, 1, 2, 5), 5, 2),
            ],
            estimates={0: Estimate(7.5, 7.0, 9.25, 4)},
            running=[RunningTask(0, None, 0, "k" * 600, 1.5)],
            messages=[Message(0.25, "warning", "some events may be missing")],
        )
    )
    assert buffers == [b""] * len((*BUFFERS, *RESOURCE_BUFFERS, *HELD_BUFFERS))
    assert json.loads(json.dumps(message, allow_nan=False)) == {
        "protocol": 1,
        "kind": "batch",
        "recorder": "r",
        "epoch": "r-2",
        "seq": 4,
        "now_s": None,
        "active": False,
        "final": True,
        "first": 10,
        "count": 0,
        "cursor": 30,
        "dropped": 10,
        "base_s": 0.0,
        "task_runs": [],
        "errors": [],
        "groups": [[0, "sum-1", "sum"]],
        "lanes": [[0, "main", 140_000_000_000_000, "main thread 1"]],
        "runs": [
            {
                "run": 0,
                "label": "a\\ud800",
                "cell": "Cell [3]",
                "execution_count": 3,
                "source_crc": 0xFFFFFFFF,
                "scheduler": "threads",
                "n_workers": 4,
                "n_tasks": 12,
                "start_s": 0.5,
                "stop_s": None,
                "status": "running",
                "error": None,
            },
            {
                "run": 1,
                "label": None,
                "cell": None,
                "execution_count": None,
                "source_crc": None,
                "scheduler": None,
                "n_workers": None,
                "n_tasks": 1,
                "start_s": 0.5,
                "stop_s": None,
                "status": "erred",
                "error": "ValueError: " + "x" * 500 + "…",
            },
            {
                "run": 2,
                "label": None,
                "cell": None,
                "execution_count": None,
                "source_crc": None,
                "scheduler": None,
                "n_workers": None,
                "n_tasks": 1,
                "start_s": 0.5,
                "stop_s": 2.5,
                "status": "finished",
                "error": None,
            },
        ],
        "progress": [
            [0, "sum", 12, 3, 1, 4, 0, 0, 0, None, None],
            [1, "sum", 9, 0, 0, 0, 0, 5, 2, 0.0, [1.5, 8, False, 1, 2, 5]],
        ],
        "estimates": [[0, 7.5, 7.0, 9.25, 4]],
        "running": [[0, None, 0, "k" * 512 + "…", 1.5]],
        "messages": [[0.25, "warning", "some events may be missing"]],
        "resources": {"first": 0, "count": 0, "dropped": 0, "n_cores": None, "limit_bytes": None},
        "held": {"first": 0, "count": 0, "dropped": 0, "base_s": 0.0, "runs": [], "unknown": False},
    }


def test_what_only_clusters_have_comes_after_all_others_and_only_where_there_is_any() -> None:
    clock = FakeClock()
    recorder = Recorder(clock=clock)
    log = begin_run(recorder, {"x-1": ()})
    lane = LaneKey(0, 7, label="worker 0, thread 1", worker="tcp://a:1")
    log.activities.append(
        LaneActivity("x-1", lane, 0, recorder.origin, recorder.origin + 0.5, "tcp://b:2", None, 80.0)
    )
    recorder.pull()
    facts = {"recorder": "r", "epoch": "r-2", "seq": 0, "now_s": 1.0, "active": True, "final": False}
    rows = {"first": 0, "cursor": 0, "dropped": 0, "tasks": recorder.tasks_since(0, 1)[1]}
    stream = ClusterStream(recorder)
    part = stream.next()
    message, buffers = encode_batch(Batch(**facts, **rows, cluster=part))  # type: ignore[arg-type]  # of a test
    section, after = encode_cluster(part)
    others = len((*BUFFERS, *RESOURCE_BUFFERS, *HELD_BUFFERS))
    assert (message["cluster"], buffers) == (section, [b""] * others + after)
    assert len(after) == len((*ACTIVITY_BUFFERS, *WORKER_BUFFERS))
    nothing, buffers = encode_batch(Batch(**facts, **rows, cluster=stream.next()))  # type: ignore[arg-type]  # of a test
    assert ("cluster" in nothing, len(buffers)) == (False, others)
