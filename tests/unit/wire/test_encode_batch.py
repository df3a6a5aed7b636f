from __future__ import annotations

import math
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from taskscope.codec import BATCH, HEADER, LIMITS, Decoder, Section, budget_for, read_frames
from taskscope.model.keys import KeyBlock
from taskscope.model.streams import PAGE
from taskscope.model.tables.records import (
    BEFORE,
    Estimate,
    Group,
    Lane,
    Message,
    PrefixProgress,
    Run,
    RunningTask,
    TaskBlock,
)
from taskscope.model.tables.workers import Scheduled
from taskscope.record import Recorder
from taskscope.wire import Batch, PageEncoder
from tests.support.recordings.task_blocks import Row, block_of
from tests.support.wire_decoder import PageReader


def test_the_message_says_all_tables() -> None:
    buffers, n_tasks = PageEncoder("r", "r-2").frames(
        Batch(
            now_s=math.inf,
            active=False,
            final=True,
            first=10,
            cursor=30,
            dropped=10,
            tasks=Recorder().tasks_since(0, 1)[1],
            groups=[Group(0, "sum-1", "sum", 7)],
            lanes=[Lane(0, "main", 140_000_000_000_000, "main thread 1")],
            runs=[
                Run(0, "a\ud800", "Cell [3]", "threads", 4, 12, 0.5, None, "running", None, 3, 2**32 - 1),
                Run(1, None, None, None, None, 1, 0.5, math.nan, "erred", "ValueError: " + "x" * 600),
                Run(2, None, None, None, None, 1, 0.5, 2.5, "finished", None),
            ],
            progress=[
                PrefixProgress(0, "sum", 12, 3, 1, 4, 0, math.nan, first_s=0.5),
                PrefixProgress(1, "sum", 9, 0, 0, 0, 0, 0.0, Scheduled(1.5, 8, False, 1, 2, 5), 5, 2),
            ],
            estimates={0: Estimate(7.5, 7.0, 9.25, 4)},
            stops={0: "cancel", 1: "thread"},
            running=[RunningTask(0, None, 0, "k" * 600, 1.5)],
            messages=[Message(0.25, "warning", "some events may be missing")],
        )
    )
    assert n_tasks == 0
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
        "groups": [(0, "sum-1", "sum", 7)],
        "lanes": [(0, "main", 140_000_000_000_000, "main thread 1")],
        "runs": [
            {
                "run": 0,
                "label": "a\\ud800",
                "cell": "Cell [3]",
                "execution_count": 3,
                "source_crc": 0xFFFFFFFF,
                "lock_wait_s": None,
                **dict.fromkeys(BEFORE),
                **dict.fromkeys(("lock_share", "graph_bytes", "largest_argument", "largest_argument_bytes")),
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
                "lock_wait_s": None,
                **dict.fromkeys(BEFORE),
                **dict.fromkeys(("lock_share", "graph_bytes", "largest_argument", "largest_argument_bytes")),
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
                "lock_wait_s": None,
                **dict.fromkeys(BEFORE),
                **dict.fromkeys(("lock_share", "graph_bytes", "largest_argument", "largest_argument_bytes")),
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
            (0, "sum", 12, 3, 1, 4, 0, 0, 0, None, 0.5, None),
            (1, "sum", 9, 0, 0, 0, 0, 5, 2, 0.0, None, (1.5, 8, False, 1, 2, 5)),
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


def sections_of(buffers: list[bytes]) -> list[dict[str, Section]]:
    """Return what each frame says: none is too large, and each refers only to what was told."""
    stream = b"".join(buffers)
    budget = budget_for(len(stream))
    decoder = Decoder(PAGE, budget)
    found = []
    frames = read_frames(BytesIO(stream), budget)
    for _ in range(1 + len(buffers)):
        kind, content = next(frames)
        if kind == HEADER:
            decoder.header(content)
        else:
            assert kind == BATCH
            found.append(decoder.batch(content))
    return found


def joined(sections: list[dict[str, Section]], table: str, column: str) -> list[object]:
    return [value for said in sections if table in said for value in said[table].columns[column]]


def batch_of(tasks: TaskBlock, **tables: Any) -> Batch:
    n = len(tasks)
    return Batch(now_s=1.0, active=True, final=False, first=0, cursor=n, dropped=0, tasks=tasks, **tables)


def test_tables_that_are_too_much_for_one_message_go_ahead_of_the_tasks_that_refer_to_them() -> None:
    n_groups, n_prefixes = 40_000, 270_000
    groups = [Group(i, f"{i:06}" + "g" * 300, "p" * 300, i) for i in range(n_groups)]
    progress = [PrefixProgress(0, f"load-{i}", 1, 1, 0, 0, 0, 0.5) for i in range(n_prefixes)]
    tasks = block_of([Row(key="last", group=n_groups - 1, status="erred", error="ValueError: no")])
    run = Run(0, None, None, "threads", 4, 1, 0.5, None, "running", None)
    running = [RunningTask(0, None, n_groups - 1, "x", 0.5)]
    lanes = [Lane(0, "main", 1, "thread 1")]
    buffers, n_tasks = PageEncoder("r", "r-1").frames(
        batch_of(tasks, groups=groups, progress=progress, runs=[run], running=running, lanes=lanes)
    )
    sections = sections_of(buffers)
    assert n_tasks == 1
    assert joined(sections, "groups", "name") == [group.name for group in groups]
    assert joined(sections, "progress", "prefix") == [row.prefix for row in progress]
    assert sections[-1].keys() == {"state", "running", "errors", "tasks"}
    assert [said.keys() & {"lanes", "runs"} for said in sections].count({"lanes", "runs"}) == 1


@pytest.mark.parametrize(("n_dims", "n_fitting"), [(2, 241_979), (8, 165_564)])
def test_tasks_whose_numbers_are_all_large_are_as_many_as_a_message_holds(
    n_dims: int, n_fitting: int
) -> None:
    n = 250_000
    chance = np.random.default_rng(0)
    whole = chance.integers(0, 2**31, (n, 1 + n_dims), np.int32)
    tasks = TaskBlock(
        run=whole[:, 0],
        group=chance.integers(0, 2**16, n, np.uint32),
        lane=chance.integers(0, 8_000, n, np.uint16),
        start=chance.uniform(0, 4e8, n),
        stop=chance.uniform(4e8, 4.4e8, n),
        cpu_s=chance.uniform(0, 1e6, n).astype(np.float32),
        nbytes=np.floor(chance.uniform(0, 2**52, n)),
        flags=chance.integers(0, 4, n, np.uint8),
        keys=KeyBlock(np.full(n, n_dims, np.uint8), whole[:, 1:].reshape(-1), ()),
        errors={},
    )
    groups = [Group(i, f"g-{i}", "g") for i in range(2**16)]
    lanes = [Lane(i, "main", i, "") for i in range(8_000)]
    buffers, n_tasks = PageEncoder("r", "r-1").frames(batch_of(tasks, groups=groups, lanes=lanes))
    assert n_tasks == n_fitting
    assert len(buffers[-1]) < LIMITS["frame"]
    found = sections_of(buffers)[-1]["tasks"].columns
    assert np.array_equal(np.asarray(found["run"]), tasks.run[:n_tasks])
