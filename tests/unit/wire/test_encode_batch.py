from __future__ import annotations

import math

from taskscope.model.records import Estimate, Group, Lane, Message, PrefixProgress, Run, RunningTask
from taskscope.model.workers import Scheduled
from taskscope.record import Recorder
from taskscope.wire import Batch, PageEncoder
from tests.support.wire_decoder import PageReader


def test_the_message_says_all_tables() -> None:
    message, buffers, n_tasks = PageEncoder("r", "r-2").message(
        Batch(
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
            stops={0: "cancel", 1: "thread"},
            running=[RunningTask(0, None, 0, "k" * 600, 1.5)],
            messages=[Message(0.25, "warning", "some events may be missing")],
        )
    )
    assert (message, n_tasks) == ({"protocol": 1, "kind": "batch"}, 0)
    told = PageReader().read(buffers)
    del told["tables"]
    assert told == {
        "recorder": "r",
        "epoch": "r-2",
        "seq": 0,
        "now_s": None,
        "active": False,
        "final": True,
        "first": 30,
        "count": 0,
        "cursor": 30,
        "dropped": 10,
        "errors": [],
        "groups": [(0, "sum-1", "sum")],
        "lanes": [(0, "main", 140_000_000_000_000, "main thread 1")],
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
                "metric": None,
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
                "metric": None,
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
                "metric": None,
            },
        ],
        "progress": [
            (0, "sum", 12, 3, 1, 4, 0, 0, 0, None, None),
            (1, "sum", 9, 0, 0, 0, 0, 5, 2, 0.0, (1.5, 8, False, 1, 2, 5)),
        ],
        "estimates": [(0, 7.5, 7.0, 9.25, 4)],
        "stops": [(0, "cancel"), (1, "thread")],
        "running": [(0, None, 0, "k" * 512 + "…", 1.5)],
        "messages": [(0.25, "warning", "some events may be missing")],
        "rows": [],
        "state": {
            "now_s": None,
            "active": 0,
            "final": 1,
            "n_tasks": 30,
            "n_dropped": 10,
            "n_activities_dropped": 0,
            "n_cores": None,
            "limit_bytes": None,
            "cache_unknown": 0,
        },
        "firsts": dict.fromkeys(
            ("state", "groups", "lanes", "runs", "progress", "estimates", "stops", "running", "messages"), 0
        ),
    }
