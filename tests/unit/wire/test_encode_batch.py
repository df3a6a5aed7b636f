from __future__ import annotations

import json
import math

from taskscope.model.records import Estimate, Group, Lane, Message, PrefixProgress, Run, RunningTask
from taskscope.wire import Batch, encode_batch, no_tasks
from taskscope.wire.schema import BUFFERS, HELD_BUFFERS, RESOURCE_BUFFERS


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
            tasks=no_tasks(),
            groups=[Group(0, "sum-1", "sum")],
            lanes=[Lane(0, "main", 140_000_000_000_000, "main thread 1")],
            runs=[
                Run(0, "a\ud800", "Cell [3]", "threads", 4, 12, 0.5, None, "running", None, 3, 2**32 - 1),
                Run(1, None, None, None, None, 1, 0.5, math.nan, "erred", "ValueError: " + "x" * 600),
            ],
            progress=[PrefixProgress(0, "sum", 12, 3, 1, 4, 0, math.nan)],
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
        ],
        "progress": [[0, "sum", 12, 3, 1, 4, 0, None]],
        "estimates": [[0, 7.5, 7.0, 9.25, 4]],
        "running": [[0, None, 0, "k" * 512 + "…", 1.5]],
        "messages": [[0.25, "warning", "some events may be missing"]],
        "resources": {"first": 0, "count": 0, "dropped": 0, "n_cores": None, "limit_bytes": None},
        "held": {"first": 0, "count": 0, "dropped": 0, "base_s": 0.0, "runs": [], "unknown": False},
    }
