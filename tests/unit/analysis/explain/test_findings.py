from __future__ import annotations

import concurrent.futures
import json
import linecache
import math
import queue
import re
import socket
import subprocess
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import get_args

import numpy as np
import pytest

import taskscope
from taskscope.analysis.explain.finding import Cause, Explanation
from taskscope.model.keys import key_block
from taskscope.model.tables.activities import ACTIVITIES, ActivityColumns, ActivityRows
from taskscope.model.tables.records import CLUSTER, Lane, Message
from taskscope.model.tables.stacks import CLIENT, CLIENT_RUN, LineRows
from taskscope.record.tables.stacklog import with_waits
from taskscope.recording import Recording
from tests.support.recordings.schedules import with_dependencies
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def _each_sentence_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    explain = Recording.explain

    def checked(recording: Recording, run: int | None = None) -> Explanation:
        found = explain(recording, run)
        texts = [found.verdict or "", *(text for one in found for text in (one.text, one.advice))]
        sentences = [part for text in texts for part in re.split(r"\. (?=[A-Z0-9])", text)]
        assert [sentence for sentence in sentences if len(sentence.split()) > 20] == []
        return found

    monkeypatch.setattr(Recording, "explain", checked)


def filled(
    seconds: list[float],
    n_workers: int,
    *,
    lag_s: float = 0.0,
    cpu: float = 1.0,
    late_s: float = 0.0,
    percent: float = math.nan,
    ready: float = math.nan,
    active: float = math.nan,
    scheduler: str = "threads",
    **of_run: object,
) -> Recording:
    """Return a recording of independent tasks, each on the worker that is free first.

    They have this part of their time on a core, and the process uses so much CPU; so many of its threads are
    ready, and one is for this part of the time.
    """
    free = [late_s] * n_workers
    rows = []
    for i, own_s in enumerate(seconds):
        lane = free.index(min(free))
        start_s = free[lane] + (lag_s if i >= n_workers else 0.0)
        free[lane] = start_s + own_s
        rows.append(Row(key=("x", i), lane=lane, start_s=start_s, stop_s=free[lane], cpu_s=own_s * cpu))
    run = run_of(n_tasks=len(rows), stop_s=max(free), n_workers=n_workers, scheduler=scheduler)
    run = replace(run, **of_run)  # type: ignore[arg-type]  # columns of `Run`, by name
    samples = [(max(free) * i / 8, percent, 1e6, 1, 0.0, ready, active) for i in range(1, 9)]
    return recording_of(rows, [run], metadata={"n_cores": 4}, resources=samples)


def twice(second: str, first: str = TOKEN) -> Recording:
    """Return two computes of four tasks each; what they compute is in their keys."""
    rows = [
        Row(key=(f"load-{token}", i), lane=i, run=run, start_s=2.0 * run, stop_s=2.0 * run + 2.0)
        for run, token in enumerate((first, second))
        for i in range(4)
    ]
    runs = [run_of(n, n_tasks=4, n_workers=4, start_s=2.0 * n, stop_s=2.0 * n + 2.0) for n in range(2)]
    return recording_of(rows, runs)


def on_workers(times: float, *, n_used: int = 2, n_threads: int = 2) -> Recording:
    """Return a compute of workers of a thread each; on the first of them tasks take so many times longer."""
    rows = [
        Row(key=("x", n), lane=lane, start_s=i * own_s, stop_s=(i + 1) * own_s)
        for lane in range(n_used)
        for own_s in [times if lane == 0 else 1.0]
        for n, i in [(8 * lane + i, i) for i in range(8)]
    ]
    run = run_of(n_tasks=len(rows), n_workers=n_threads, scheduler=CLUSTER, stop_s=8.0 * times)
    lanes = tuple(Lane(i, f"tcp://{i}", 50 + i, f"worker {i}, thread 1") for i in range(n_used))
    return replace(recording_of(rows, [run]), lanes=lanes)


def waited_for(kind: str, seconds: float) -> Recording:
    """Return two tasks of a cluster, the second of which waits so long for something done for it."""
    rows = [Row(key="a", stop_s=2.0), Row(key="b", start_s=2.0 + seconds, stop_s=4.0 + seconds)]
    run = run_of(n_tasks=2, n_workers=1, scheduler=CLUSTER, stop_s=4.0 + seconds)
    done = ActivityRows.of(
        [(0, 1, 0, ACTIVITIES.index(kind), ZERO_S + 2.0, seconds, 0, math.nan, 0)] if seconds else []
    )
    return replace(with_dependencies(rows, {1: [0]}, [run]), activities=ActivityColumns(done, ("",)))


def lost(status: str) -> Recording:
    """Return a task that ran twice, the first time in vain, and another."""
    rows = [
        Row(key="a", stop_s=2.0, status=status),
        Row(key="a", start_s=2.0, stop_s=4.0),
        Row(key="b", start_s=4.0, stop_s=6.0),
    ]
    return twice_one(rows, 1)


def twice_one(rows: list[Row], n_workers: int) -> Recording:
    """Return a compute of two tasks, the first of which ran in the first two of three rows."""
    stop_s = max(row.stop_s for row in rows)
    run = run_of(n_tasks=2, n_workers=n_workers, scheduler=CLUSTER, stop_s=stop_s)
    recording = recording_of(rows, [run])
    (block,), graph = recording.blocks, recording.graphs[0]
    return replace(
        recording,
        blocks=(replace(block, task=np.array([0, 0, 1], "i4")),),
        graphs={
            0: replace(
                graph,
                keys=key_block(["a", "b"]),
                group=np.array([0, 1], "u4"),
                n_dependencies=np.zeros(2, "u1"),
                enter=graph.enter[:2],
                kept=np.array([1], "i4"),
            )
        },
    )


def chain(gap_s: float = 0.0) -> Recording:
    each_s = 1.0 + gap_s
    rows = [Row(key=("x", i), start_s=i * each_s, stop_s=i * each_s + 1.0) for i in range(8)]
    rows += [Row(key=("y", i), lane=1, start_s=i * each_s, stop_s=i * each_s + 0.25) for i in range(4)]
    run = run_of(n_tasks=len(rows), stop_s=8 * each_s, n_workers=2)
    return with_dependencies(rows, {i: [i - 1] for i in range(1, 8)}, [run])


def gap() -> Recording:
    rows = [Row(key="a", stop_s=1.0), Row(key="b", run=1, start_s=3.0, stop_s=4.0)]
    return recording_of(
        rows,
        [
            run_of(n_tasks=1, n_workers=1),
            run_of(1, n_tasks=1, start_s=3.0, stop_s=4.0, n_workers=1),
        ],
    )


def at_lock(share: float) -> Recording:
    """Return tasks that samples saw wait for a lock for a part of the time."""
    recording = filled([1.0] * 16, 4, cpu=0.0 if share else 1.0)
    samples = [Sample(("work", "acquire"), 3), Sample(("work",), 1)] if share else [Sample(("work",), 4)]
    stacks = stacks_of([replace(sample, seconds=0.25 * sample.count) for sample in samples])
    functions = [
        replace(function, file=threading.__file__) if function.name == "acquire" else function
        for function in stacks.functions
    ]
    return replace(recording, stacks=replace(stacks, functions=tuple(functions)))


def gap_at_lock() -> Recording:
    """Return two computes between which the program ran a function, and waited for a lock in it."""
    samples = [
        Sample(stack, 10, prefix=CLIENT, run=CLIENT_RUN, start_s=2.0, seconds=1.0)
        for stack in [("prepare",), ("prepare", "acquire")]
    ]
    stacks = stacks_of(samples)
    functions = [
        replace(function, file=threading.__file__) if function.name == "acquire" else function
        for function in stacks.functions
    ]
    return replace(gap(), stacks=replace(stacks, functions=tuple(functions)))


def step(own_s: float) -> Recording:
    """Return eight tasks on two workers, and one that needs them all."""
    rows = [Row(key=("x", i), lane=i % 2, start_s=i // 2, stop_s=i // 2 + 1.0) for i in range(8)]
    rows.append(Row(key="all", start_s=4.0, stop_s=4.0 + own_s))
    run = run_of(n_tasks=9, stop_s=4.0 + own_s, n_workers=2)
    return with_dependencies(rows, {8: list(range(8))}, [run])


def after_workers(late_s: float) -> Recording:
    """Return tasks of a cluster whose first worker came so late."""
    recording = filled([1.0] * 8, 4, late_s=late_s, scheduler=CLUSTER)
    came = Message(ZERO_S + late_s, "info", "worker a: came", "tcp://10.0.0.1:1", "came")
    lanes = tuple(replace(lane, worker="tcp://10.0.0.1:1") for lane in recording.lanes)
    return replace(recording, messages=(came,), lanes=lanes)


FAULTS = {
    "interpreter-lock": (filled([1.0] * 40, 4, cpu=0.25, lock_share=0.9), filled([1.0] * 40, 4), 7.0),
    "lock": (at_lock(0.75), at_lock(0.0), 3.0),
    "serial-step": (step(4.0), step(0.0), 2.0),
    "no-workers": (after_workers(2.0), after_workers(0.0), 2.0),
    "pool-start": (
        filled([1.0] * 8, 4, late_s=2.25, scheduler="processes", order_s=0.25, pool_start_s=2.25),
        filled([1.0] * 8, 4, late_s=2.25, scheduler="processes", order_s=0.25, pool_start_s=0.25),
        2.0,
    ),
    "short-tasks": (filled([0.001] * 400, 4, lag_s=0.003), filled([0.1] * 40, 4, lag_s=0.003), 0.297),
    "few-tasks": (filled([1.0] * 2, 4), filled([0.25] * 8, 4), 0.5),
    "long-chain": (chain(), filled([1.0] * 8, 2), 3.5),
    "stragglers": (filled([0.25] * 15 + [8.0], 4), filled([0.25] * 16, 4), 7.75),
    "large-graph": (
        filled([1.0] * 8, 4, late_s=1.0, largest_argument="load-1", largest_argument_bytes=8e6),
        filled([1.0] * 8, 4, late_s=1.0),
        1.0,
    ),
    "client-gaps": (gap(), filled([1.0] * 4, 2), 2.0),
    "waiting": (filled([1.0] * 8, 4, cpu=0.125), filled([1.0] * 8, 4), 1.0),
    "oversubscribed": (
        filled([1.0] * 8, 4, cpu=0.5, percent=400.0),
        filled([1.0] * 8, 4, percent=400.0),
        1.0,
    ),
    "recomputed": (twice(TOKEN), twice(TOKEN[::-1]), 2.0),
    "memory-pressure": (waited_for("disk-read", 1.0), waited_for("disk-read", 0.0), 1.0),
    "transfers": (waited_for("transfer", 1.0), waited_for("transfer", 0.125), 1.0),
    "serialization": (waited_for("deserialize", 1.0), waited_for("deserialize", 0.125), 1.0),
    "slow-worker": (on_workers(4.0), on_workers(1.0), 24.0),
    "idle-workers": (on_workers(1.0, n_threads=4), on_workers(1.0), 4.0),
    "lost-work": (lost("lost"), waited_for("transfer", 0.0), 2.0),
}
"""With a fault, without it, and how many seconds it cost."""


@pytest.mark.parametrize("cause", FAULTS)
def test_a_fault_is_the_first_finding_with_its_price_and_without_it_there_is_none(cause: str) -> None:
    with_it, without, worth_s = FAULTS[cause]
    first = with_it.explain().findings[0]
    assert (first.cause, round(first.worth_s, 6)) == (cause, worth_s)
    assert first.low_s <= first.worth_s <= first.high_s
    assert without.explain().findings == ()


def test_a_chain_whose_steps_begin_late_is_a_chain() -> None:
    assert [found.cause for found in chain(0.5).explain()] == ["long-chain"]


def test_a_line_that_runs_and_waits_between_computes_is_named_once() -> None:
    (found,) = gap_at_lock().explain()
    assert found.text == (
        "no compute ran for 50% of the time, between 2 computes. The program ran `prepare` of `prepare.py`"
    )


def test_a_wait_is_worth_what_the_advised_workers_gain_and_no_more() -> None:
    (found,) = filled([0.25] * 24, 2, cpu=0.0).explain()
    assert found.advice.endswith("compute(num_workers=4)")
    # Six rounds of four in place of twelve of two.
    assert (found.low_s, found.worth_s, found.high_s) == (1.125, 1.5, 1.5)


def test_processes_are_the_cure_for_turns_in_python_only_where_they_cost_less_than_they_save() -> None:
    def advice(size_bytes: float) -> str:
        rows = [
            Row(
                key=("x", i),
                lane=i % 2,
                start_s=i // 2,
                stop_s=i // 2 + 1.0,
                cpu_s=0.5,
                size_bytes=size_bytes,
            )
            for i in range(16)
        ]
        turns = replace(run_of(n_tasks=16, stop_s=8.0, n_workers=2), lock_share=0.9)
        (found,) = recording_of(rows, [turns], metadata={"n_cores": 4}).explain()
        return found.advice

    (started,) = FAULTS["pool-start"][0].explain()
    assert started.advice == (
        "start them once, client = Client(). Threads do without that, where tasks release the interpreter's "
        "lock (NumPy does)"
    )
    assert advice(math.nan).endswith("They take about 500 ms to start")
    assert advice(50e6).endswith(
        "Processes hardly pay: they take about 500 ms to start and pass up to 800 MB to each other"
    )


def test_one_task_that_waits_is_named_with_its_function() -> None:
    recording = filled([0.0625] * 8 + [2.0], 2)
    (block,) = recording.blocks
    cpu_s = np.where(block.duration > 1, 0.0, block.duration).astype(np.float32)
    recording = replace(recording, blocks=(replace(block, cpu_s=cpu_s),))
    groups = tuple(replace(group, function="fetch (In [2], line 1)") for group in recording.groups)
    found = {one.cause: one for one in replace(recording, groups=groups).explain()}
    assert found["waiting"].text == (
        "task ('x', 8) had a core for 0% of its time and waited for files, the network or other threads. "
        "It calls fetch (In [2], line 1)"
    )
    assert found["waiting"].advice == "start it before the others, or cache its result"
    assert found["stragglers"].text.endswith("It is task ('x', 8). It calls fetch (In [2], line 1)")


def test_each_cause_has_a_fault_that_shows_it() -> None:
    assert sorted(FAULTS) == sorted(get_args(Cause))


def test_calls_that_are_not_pure_are_recomputed_where_their_very_keys_run_again() -> None:
    drawn, other = "0123456a-0123-4567-89ab-0123456789ab", "0123456b-0123-4567-89ab-0123456789ab"
    (found,) = twice(drawn, drawn).explain().findings
    assert (found.cause, found.worth_s) == ("recomputed", 2.0)
    assert twice(drawn, other).explain().findings == ()
    # Who named them may have meant something else by the same name.
    assert twice("mine", "mine").explain().findings == ()


def test_processes_that_are_handed_much_between_tasks_serialize() -> None:
    found = filled([0.5] * 8, 2, lag_s=0.25, scheduler="processes").explain().findings
    assert [(f.cause, round(f.worth_s, 6)) for f in found] == [("serialization", 0.75)]


def test_what_a_pool_is_handed_one_after_the_other_is_worth_what_is_left_of_the_compute_without_it() -> None:
    """Results came in one at a time: run again, each in its own lane, they would come beside each other."""
    rows = [Row(key=("x", i), lane=i, stop_s=1.0) for i in range(2)]
    rows += [Row(key=("y", i), lane=i, start_s=3.0 + 2 * i, stop_s=4.0 + 2 * i) for i in range(2)]
    run = run_of(n_tasks=4, n_workers=2, stop_s=6.0, scheduler="processes")
    (found, *_) = with_dependencies(rows, {2: [0], 3: [1]}, [run]).explain().findings
    assert (found.cause, found.worth_s) == ("serialization", 4.0)


def test_without_transfers_tasks_may_also_get_the_cores_that_these_had() -> None:
    rows = [Row(key="a", stop_s=2.0, cpu_s=0.5), Row(key="b", start_s=3.0, stop_s=5.0, cpu_s=0.5)]
    run = run_of(n_tasks=2, n_workers=1, scheduler=CLUSTER, stop_s=5.0)
    moved = waited_for("transfer", 1.0)
    samples = [(5.0 * i / 8, 100.0, 1e6, 1, 0.0, 4.0, 1.0) for i in range(1, 9)]
    crowd = recording_of(rows, [run], metadata={"n_cores": 4}, resources=samples)
    lanes = tuple(replace(lane, worker="tcp://127.0.0.1:4000") for lane in moved.lanes)
    blocks = tuple(replace(block, cpu_s=np.full(2, 0.5, np.float32)) for block in moved.blocks)
    busy = replace(moved, lanes=lanes, blocks=blocks, resources=crowd.resources, metadata=crowd.metadata)
    (found,) = busy.explain().findings
    assert (found.cause, found.low_s, found.worth_s, found.high_s) == ("transfers", 0.75, 1.0, 4.25)


def test_what_others_threads_compute_is_not_that_tasks_wait() -> None:
    found = filled([1.0] * 8, 4, cpu=0.5, percent=400.0).explain().findings
    assert [f.cause for f in found] == ["oversubscribed"]
    found = filled([1.0] * 8, 4, cpu=0.5, percent=200.0).explain().findings
    assert [f.cause for f in found] == ["waiting"]


def test_tasks_that_sleep_wait_however_many_other_threads_of_the_process_want_a_core() -> None:
    found = filled([1.0] * 8, 4, cpu=2.0**-10, percent=60.0, ready=4.0, active=1.0).explain()
    assert ([f.cause for f in found], found.verdict) == (["waiting"], None)


def test_c_code_that_keeps_threads_of_python_from_running_is_named_with_how_long_it_did() -> None:
    def explained(*samples: tuple[float, float, float]) -> str:
        run, rows = run_of(n_tasks=1, stop_s=4.0), [Row(key="a", stop_s=4.0, cpu_s=3.9)]
        resources = [(time_s, percent, 1e6, 1, gap) for time_s, percent, gap in samples]
        return recording_of(rows, [run], resources=resources).explain().verdict or ""

    said = "C code held the interpreter's lock for 2.5 s: no other thread of Python ran"
    # Two seconds, and half of a second before the compute's end.
    assert said in explained((0.5, 90.0, 0), (2.5, 99.0, 1), (3.5, 99.0, 0), (5.0, 99.0, 1))
    others = explained((0.5, 90.0, 0), (2.5, 5.0, 1), (3.6, 99.0, 0), (4.0, 99.0, 1))
    assert "C code" not in others


def test_a_gap_in_which_tasks_began_all_along_is_no_c_code_that_held_the_lock() -> None:
    def explained(own_s: float) -> str:
        rows = [Row(key=("a", i), start_s=i * own_s, stop_s=(i + 1) * own_s) for i in range(int(4 / own_s))]
        resources = [(time_s, 99.0, 1e6, 1, gap) for time_s, gap in ((0.5, 0), (2.5, 1), (4.0, 0))]
        return (
            recording_of(rows, [run_of(n_tasks=len(rows), stop_s=4.0)], resources=resources).explain().verdict
            or ""
        )

    assert ["C code" in explained(own_s) for own_s in (2.0, 0.1)] == [True, False]


def test_what_children_of_the_process_compute_is_no_thread_of_the_tasks() -> None:
    found = filled([1.0] * 8, 4, cpu=0.5, percent=400.0)
    beside = replace(found, resources=replace(found.resources, beside_percent=np.full(8, 200.0)))
    a_child = replace(found, resources=replace(found.resources, n_processes=np.full(8, 2.0)))
    assert [[f.cause for f in each.explain()] for each in (beside, a_child)] == [
        ["waiting"],
        ["oversubscribed"],
    ]


def crowded(rows: list[Row], needs: dict[int, list[int]], n_workers: int) -> Recording:
    """Return a compute whose threads got a core for an eighth of the time in which they wanted one."""
    stop_s = max(row.stop_s for row in rows)
    run = run_of(n_tasks=len(rows), stop_s=stop_s, n_workers=n_workers)
    samples = [(stop_s * i / 8, 25.0, 1e6, 1, 0.0, 2.0, 1.0) for i in range(1, 9)]
    crowd = recording_of(rows, [run], metadata={"n_cores": 4}, resources=samples)
    return replace(with_dependencies(rows, needs, [run]), metadata=crowd.metadata, resources=crowd.resources)


def test_of_two_prefixes_on_a_busy_machine_that_one_waits_which_has_next_to_no_cpu_time() -> None:
    rows = [
        Row(key=(name, i), lane=i % 2, start_s=start_s, stop_s=start_s + 1.0, cpu_s=cpu_s)
        for i in range(8)
        for name, start_s, cpu_s in (("load", i // 2 * 2.0, 0.0), ("work", i // 2 * 2.0 + 1, 0.125))
    ]
    (found,) = crowded(rows, {2 * i + 1: [2 * i] for i in range(8)}, 2).explain().findings
    assert (found.cause, found.evidence["prefixes"]) == ("waiting", ["load"])
    # Beside the tasks the process computed for a fifteenth of the time that they had no core.
    assert found.worth_s == pytest.approx(4.0 - 4.0 / 15)


def test_a_long_chain_is_one_where_others_have_the_cores_and_that_is_said() -> None:
    rows = [Row(key=("x", i), start_s=1.25 * i, stop_s=1.25 * i + 1, cpu_s=0.125) for i in range(8)]
    recording = crowded(rows, {i: [i - 1] for i in range(1, 8)}, 2)
    found = recording.explain()
    assert [f.cause for f in found.findings] == ["long-chain"]
    assert f"  why            {found.answer}\n  and            {found.busy}\n" in recording.summary()
    busy = (
        "the machine was busy: tasks waited 88% of their time for cores that other programs used. On a "
        "quiet one it would take about "
    )
    assert (found.verdict or "").startswith(busy)
    assert str(found).splitlines()[-1] == found.verdict
    alone = crowded(
        [replace(row, lane=i % 2, start_s=i // 2, stop_s=i // 2 + 1.0) for i, row in enumerate(rows)], {}, 2
    )
    assert alone.explain().findings == ()
    assert alone.explain().answer == (
        f"{busy}500 ms instead of 4 s. Run it again when other programs are idle: they may hide causes. "
        "Tasks of x took longest, 8 s together. Run it with %%profile to see their lines"
    )


def test_a_task_that_only_lacked_a_core_is_no_straggler() -> None:
    def causes(cpu_s: list[float]) -> list[str]:
        late = filled([1.0] * 31 + [16.0], 4, percent=40.0, ready=6.0, active=1.0)
        (block,) = late.blocks
        blocks = (replace(block, cpu_s=np.array(cpu_s, np.float32)),)
        return [f.cause for f in replace(late, blocks=blocks).explain().findings]

    assert causes([0.25] * 32) == []
    assert causes([0.25] * 31 + [8.0]) == ["stragglers"]


@pytest.mark.parametrize(
    ("took_s", "n_late"),
    [
        ([0.25] * 14 + [1.0, 8.0], 1),
        ([0.25] * 13 + [1.0, 1.0, 8.0], 1),
        ([0.25] * 14 + [7.0, 8.0], None),
        ([0.25] * 30 + [7.0, 8.0], 2),
        ([0.25] * 31 + [0.8, 64.0], 1),
    ],
)
def test_where_more_than_a_tenth_is_slow_the_straggler_is_what_took_far_longer_than_any_other(
    took_s: list[float], n_late: int | None
) -> None:
    of = [f.evidence["n_tasks"] for f in filled(took_s, 4).explain().findings if f.cause == "stragglers"]
    assert of == ([] if n_late is None else [n_late])


def test_nothing_is_said_of_waits_in_less_than_counts_can_tell() -> None:
    assert not filled([0.4375] * 4, 2, cpu=0.25).explain().findings
    assert [f.cause for f in filled([0.5] * 4, 2, cpu=0.25).explain().findings] == ["waiting"]
    # So many others want no core that each turn is waited for twenty times as long as it takes.
    assert [f.cause for f in filled([0.25] * 4, 2, cpu=2.0**-5).explain().findings] == ["waiting"]


@pytest.mark.parametrize(("late_s", "causes"), [(0.03125, []), (0.0625, ["stragglers"])])
def test_what_is_worth_less_than_a_twentieth_of_a_second_is_not_said(
    late_s: float, causes: list[str]
) -> None:
    found = filled([2.0**-7] * 15 + [2.0**-7 + late_s], 4).explain().findings
    assert [f.cause for f in found] == causes


def test_to_put_many_short_tasks_in_order_is_part_of_scheduling_them() -> None:
    (found, _) = filled([2.0**-11] * 1024, 2, lag_s=2.0**-12, late_s=0.5).explain().findings
    assert (found.cause, found.evidence["outside_s"]) == ("short-tasks", pytest.approx(0.5))


def test_short_tasks_are_too_short_where_a_quarter_of_the_workers_time_goes_into_handing_them_over() -> None:
    def causes(lag_s: float) -> list[str]:
        return [f.cause for f in filled([2.0**-10] * 402, 2, lag_s=lag_s).explain().findings]

    # Two tasks found their workers free.
    assert causes(0.34 * 2.0**-10) == ["short-tasks"]
    assert causes(0.32 * 2.0**-10) == []


def test_short_tasks_that_were_held_up_now_and_then_take_what_they_had_a_core_for() -> None:
    """Each takes 2⁻¹⁰ s; a quarter of them waited for the lock for as long, and half as long again."""
    seconds = [2.5 * 2.0**-10 if i % 4 == 0 else 2.0**-10 for i in range(512)]
    shown = filled(seconds, 1, lag_s=2.0**-10)
    blocks = tuple(replace(block, cpu_s=np.full(512, 2.0**-10, np.float32)) for block in shown.blocks)
    (found, *_) = replace(shown, blocks=blocks).explain().findings
    assert found.cause == "short-tasks"
    assert found.worth_s == pytest.approx((511 + 128 * 1.5) * 2.0**-10)


def test_tasks_that_sleep_take_no_turns_whatever_else_is_ready() -> None:
    found = filled([1.0] * 40, 4, cpu=0.0078125, percent=3.0, ready=1.0, active=1.0).explain().findings
    assert "interpreter-lock" not in [f.cause for f in found]


def test_a_wait_is_worth_the_part_of_the_time_in_which_tasks_could_not_have_run() -> None:
    (found,) = filled([1.0] * 8, 4, cpu=0.5, percent=200.0, ready=3.0, active=1.0).explain().findings
    assert found.cause == "waiting"
    assert found.worth_s == pytest.approx(0.5)


def test_who_waits_for_threads_of_its_own_does_not_wait_while_those_compute() -> None:
    def causes(percent: float) -> list[str]:
        return [
            f.cause
            for f in filled([1.0] * 8, 2, cpu=0.5, percent=percent, ready=1.0, active=0.5).explain().findings
        ]

    assert causes(100.0) == ["waiting"]
    assert causes(200.0) == []


def test_more_threads_than_cores_are_too_many_where_tasks_own_threads_compute_too() -> None:
    def causes(cpu: float, ready: float) -> list[str]:
        found = filled([1.0] * 8, 4, cpu=cpu, percent=400.0, ready=ready, active=1.0).explain().findings
        return [f.cause for f in found]

    assert causes(0.5, 8.0) == ["oversubscribed"]
    # The tasks' own threads did nothing but wait for others.
    assert causes(0.0625, 8.0) == []


def test_a_task_that_runs_alone_after_many_is_a_serial_step() -> None:
    rows = [
        Row(key=("x", i), lane=i % 2, start_s=i // 2 * 0.25, stop_s=i // 2 * 0.25 + 0.25) for i in range(8)
    ]
    rows.append(Row(key="all", start_s=1.0, stop_s=5.0))
    run = run_of(n_tasks=9, stop_s=5.0, n_workers=2)
    (found,) = with_dependencies(rows, {8: list(range(8))}, [run]).explain().findings
    assert (found.cause, found.worth_s, found.evidence["tasks"]) == ("serial-step", 2.0, {0: [8]})
    assert found.text == "1 task of all ran alone for 4 s while 1 of 2 threads had nothing to do"


def test_on_a_cluster_tasks_wait_whose_workers_metered_little_on_the_cpu() -> None:
    (found,) = filled([1.0] * 8, 4, cpu=0.125, percent=400.0, scheduler=CLUSTER).explain().findings
    assert (found.cause, round(found.worth_s, 6)) == ("waiting", 0.875)
    assert "LocalCluster(threads_per_worker=8)" in found.advice
    # That all cores of this machine were used says nothing of theirs.
    assert filled([1.0] * 8, 4, percent=400.0, scheduler=CLUSTER).explain().findings == ()
    assert filled([1.0] * 8, 4, cpu=math.nan, scheduler=CLUSTER).explain().findings == ()


def test_a_large_graph_has_many_tasks_or_carries_much() -> None:
    few, many = filled([0.01] * 8, 4, late_s=0.125), filled([0.01] * 1_000, 4, late_s=0.5)
    assert few.explain().findings == ()
    (found,) = many.explain().findings
    assert (found.cause, found.worth_s, found.advice) == (
        "large-graph",
        0.5,
        "use larger chunks or partitions, so that there are fewer tasks",
    )
    # Of a pool of processes it is that they start.
    started = filled([0.01] * 1_000, 4, late_s=0.5, scheduler="processes").explain().findings
    assert [f.cause for f in started] == []


def test_workers_that_were_paused_for_lack_of_memory_are_named_with_for_how_long() -> None:
    recording = after_workers(0.0)
    one, other = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1"
    messages = (
        Message(ZERO_S, "info", "", one, "came"),
        Message(ZERO_S, "info", "", other, "came"),
        Message(ZERO_S + 0.5, "warning", "", one, "paused"),
        Message(ZERO_S + 1.0, "info", "", one, "resumed"),
        Message(ZERO_S + 1.5, "warning", "", other, "paused"),
    )
    (found,) = replace(recording, messages=messages).explain()
    assert (found.cause, found.worth_s, found.low_s, found.high_s) == ("memory-pressure", 0.5, 0.0, 0.5)
    assert found.text == "2 workers began no task for up to 500 ms, paused for lack of memory"
    assert found.evidence["paused_s"] == {one: 0.5, other: 0.5}


def test_what_a_lost_worker_had_is_worth_the_time_in_which_another_one_ran_it_again() -> None:
    rows = [
        Row(key="a", stop_s=2.0),
        Row(key="a", lane=1, start_s=2.0, stop_s=4.0),
        Row(key="b", lane=1, stop_s=2.0),
    ]
    recording = twice_one(rows, 2)
    lanes = tuple(Lane(i, f"tcp://{i}", 50 + i, f"worker {i}, thread 1") for i in range(2))
    (found,) = [f for f in replace(recording, lanes=lanes).explain().findings if f.cause == "lost-work"]
    assert (found.worth_s, found.evidence["n_tasks"]) == (2.0, 1)


def test_one_straggler_makes_no_slow_worker() -> None:
    recording = on_workers(1.0)
    (block,) = recording.blocks
    duration = block.duration.copy()
    duration[7] = 9.0
    late = replace(
        recording,
        blocks=(replace(block, duration=duration),),
        runs=(replace(recording.runs[0], stop_s=ZERO_S + 16.0),),
    )
    assert [f.cause for f in late.explain().findings] == ["stragglers"]


def test_without_a_straggler_its_worker_would_have_run_what_the_other_one_did() -> None:
    rows = [Row(key=("x", 0), stop_s=11.0)]
    rows += [Row(key=("x", i), lane=1, start_s=i - 1.0, stop_s=float(i)) for i in range(1, 12)]
    run = run_of(n_tasks=12, n_workers=2, scheduler=CLUSTER, stop_s=11.0)
    lanes = tuple(Lane(i, f"tcp://{i}", 50 + i, f"worker {i}, thread 1") for i in range(2))
    (found,) = replace(recording_of(rows, [run]), lanes=lanes).explain().findings
    assert (found.cause, found.worth_s) == ("stragglers", 5.0)


def test_a_compute_without_tasks_is_explained_like_any_other() -> None:
    rows = [Row(key=("x", i), start_s=float(i), stop_s=i + 1.0, cpu_s=1.0) for i in range(4)]
    runs = [
        run_of(n_tasks=4, n_workers=1, stop_s=4.0),
        run_of(1, n_tasks=0, n_workers=1, start_s=4.0, stop_s=4.0625),
    ]
    recording = recording_of(rows, runs)
    empty = replace(recording.graphs[0], keys=key_block([]), group=np.empty(0, "u4"))
    empty = replace(empty, n_dependencies=np.empty(0, "u1"), enter=np.empty(0), kept=np.empty(0, "i4"))
    recording = replace(recording, graphs={0: recording.graphs[0], 1: empty})
    assert (recording.explain().reason, recording.explain().findings) == (None, ())
    assert recording.what_if().makespan_s == 4.0625


def test_nothing_to_gain_is_an_answer() -> None:
    found = filled([1.0] * 8, 4).explain()
    assert str(found) == (
        "nothing to gain here that is worth 5 % of the wall time. 4 threads ran tasks 100% of the time"
    )


def test_of_a_short_compute_no_cause_is_worth_the_least_time_that_is_said() -> None:
    found = filled([2.0**-4] * 8, 4).explain()
    assert str(found) == "nothing to gain here that is worth 50 ms. 4 threads ran tasks 100% of the time"


def test_lanes_of_a_worker_that_died_and_of_its_successor_are_no_more_workers() -> None:
    rows = [
        Row(key=("x", i), lane=i, start_s=float(i // 2), stop_s=i // 2 + 1.0, cpu_s=1.0) for i in range(4)
    ]
    run = run_of(n_tasks=4, n_workers=2, scheduler=CLUSTER, stop_s=2.0)
    lanes = tuple(Lane(i, f"tcp://{i // 2}", 50 + i, f"worker {i // 2}, thread {i}") for i in range(4))
    found = replace(recording_of(rows, [run]), lanes=lanes).explain()
    assert str(found) == (
        "nothing to gain here that is worth 5 % of the wall time. 2 worker threads ran tasks 100% of the time"
    )


def test_a_wait_that_has_no_cure_does_not_contradict_that_nothing_was_found() -> None:
    rows = [Row(key=f"x-{i}", run=i, start_s=i + 0.5, stop_s=i + 1.0) for i in range(10)]
    runs = [run_of(i, n_tasks=1, n_workers=1, start_s=float(i), stop_s=i + 1.0) for i in range(10)]
    assert str(recording_of(rows, runs).explain()) == (
        "nothing to change was found that would save 5 % of the wall time. 1 thread ran tasks 50% of the "
        "time. Waits on the critical path: graph 5 s"
    )


def test_a_finding_names_the_functions_of_its_own_computes_only() -> None:
    recording = filled([1.0] * 16, 4, cpu=0.0)
    (group,) = recording.groups
    mine, other = (replace(group, function=f"work (In [{n}], line 1)") for n in (2, 1))
    (found,) = replace(recording, groups=(mine, replace(other, name="x-of-another-cell"))).explain()
    assert found.code == "tasks call work (In [2], line 1)"


def test_the_line_of_tasks_that_take_turns_in_python_is_one_that_computes() -> None:
    stacks = stacks_of([Sample(("work", "get"), seconds=0.625), Sample(("work",), seconds=0.375)])
    functions = [replace(f, file=queue.__file__) if f.name == "get" else f for f in stacks.functions]
    recording = FAULTS["interpreter-lock"][0]
    found = replace(recording, stacks=replace(stacks, functions=tuple(functions))).explain()
    assert [one.text.rpartition(". ")[2] for one in found] == ["38% of it in `work` of `work.py`"]


def test_the_path_waits_for_processes_that_start_as_for_workers() -> None:
    late = filled([1.0] * 8, 4, late_s=2.25, scheduler="processes", order_s=0.25, pool_start_s=2.25)
    assert late.critical_path().wait_s == {"no-worker": 2.0, "graph": 0.25}


def test_a_finding_is_text_with_a_cure_and_plain_values() -> None:
    found = FAULTS["stragglers"][0].explain()
    assert str(found).splitlines() == [
        "stragglers: about 7.75 s (5.81 s to 8.75 s) of 8.75 s",
        "  1 task of x took 8 s, tasks like it 250 ms each. It is task ('x', 15)",
        "  check what is different about them: the data they read, or the code they run",
    ]
    assert json.loads(json.dumps(found.to_dict()))["findings"][0]["evidence"] == {
        "runs": [0],
        "n_tasks": 1,
        "seconds": 8.0,
        "usual_s": 0.25,
        "prefixes": ["x"],
        "tasks": {"0": [15]},
    }


def test_what_cannot_be_replayed_is_not_explained() -> None:
    recording = recording_of([Row(key="x")], [run_of(n_tasks=3, status="interrupted")])
    assert str(recording.explain()) == (
        "cannot say why, because a compute did not finish: what was still to do is not known"
    )


def of_two_lengths(n_long: int, n_short: int) -> Recording:
    """Return a worker's short tasks of 2⁻¹⁰ s, each 2⁻¹⁰ s late, then long ones of a second that sleep."""
    late_s = 2.0**-9
    rows = [
        Row(key=("short", i), start_s=(i + 0.5) * late_s, stop_s=(i + 1) * late_s, cpu_s=2.0**-10)
        for i in range(n_short)
    ]
    at_s = n_short * late_s
    rows += [Row(key=("long", i), start_s=at_s + i, stop_s=at_s + i + 1, cpu_s=0.0) for i in range(n_long)]
    run = run_of(n_tasks=len(rows), n_workers=1, stop_s=at_s + n_long)
    return recording_of(rows, [run])


def test_of_short_tasks_beside_long_ones_only_the_short_ones_are_told_and_priced() -> None:
    found = {f.cause: f for f in of_two_lengths(4, 1_024).explain().findings}["short-tasks"]
    assert (found.evidence["n_tasks"], found.evidence["mean_task_s"]) == (1_024, 2.0**-10)
    # Times are kept in whole nanoseconds.
    assert found.worth_s == pytest.approx(1.0, rel=1e-4)
    assert found.text == "1,024 tasks of short took 977 µs each, and scheduling took 977 µs for each"


def test_few_short_tasks_beside_long_ones_are_not_told() -> None:
    assert "short-tasks" not in {f.cause for f in of_two_lengths(4, 999).explain().findings}


def test_a_task_that_was_late_for_nothing_hides_no_chain() -> None:
    """The chain takes 8 s; beside it one of eight tasks takes 5 ms where its like take one."""
    rows = [Row(key=("x", i), start_s=float(i), stop_s=i + 1.0) for i in range(8)]
    rows += [
        Row(key=("y", i), lane=1, start_s=float(i), stop_s=i + (0.005 if i == 3 else 0.001)) for i in range(8)
    ]
    run = run_of(n_tasks=len(rows), stop_s=8.0, n_workers=2)
    found = with_dependencies(rows, {i: [i - 1] for i in range(1, 8)}, [run]).explain()
    assert [f.cause for f in found.findings] == ["long-chain"]
    assert str(found).startswith("long-chain: up to 3.99 s of 8 s\n")


def seen_in(file: str, name: str) -> Recording:
    """Return tasks without CPU time that samples saw in a function of a library, called by theirs."""
    stacks = stacks_of([Sample(("work", name), 4, seconds=1.0)])
    functions = [
        replace(function, file=file) if function.name == name else function for function in stacks.functions
    ]
    return replace(filled([1.0] * 16, 4, cpu=0.0), stacks=replace(stacks, functions=tuple(functions)))


@pytest.mark.parametrize(
    ("module", "name", "kind", "cure"),
    [
        (socket, "readinto", "network", "run more of them at a time: compute(num_workers=8)"),
        (queue, "get", "queue", "do not wait in a task for what others compute"),
        (
            concurrent.futures._base,
            "result",
            "result",
            "do not wait in a task for what others compute",
        ),
    ],
)
def test_what_tasks_wait_for_is_named_with_the_line_and_the_cure_is_of_its_kind(
    module: ModuleType, name: str, kind: str, cure: str, tmp_path: Path
) -> None:
    recording = seen_in(str(module.__file__), name)
    (found,) = recording.explain()
    assert (found.cause, found.evidence["waits_for"]) == ("waiting", kind)
    assert found.text.endswith("100% of it in `work` of `work.py`")
    assert cure in found.advice
    recording.save(tmp_path / "redacted.taskscope", redact=True)
    (hidden,) = taskscope.load(tmp_path / "redacted.taskscope").explain()
    assert (hidden.cause, hidden.evidence["waits_for"], "work.py" in hidden.text) == ("waiting", kind, False)


def test_more_workers_are_no_cure_for_a_chain_of_waits() -> None:
    rows = [Row(key=("nap", i), lane=i % 2, start_s=float(i), stop_s=i + 1.0, cpu_s=0.0) for i in range(6)]
    run = run_of(n_tasks=6, stop_s=6.0, n_workers=2)
    needs = {i: [i - 1] for i in range(1, 6)}
    (found, *_) = with_dependencies(rows, needs, [run]).explain()
    assert found.cause == "waiting"
    assert found.advice.startswith("each needs the result of the one before, so more workers do not help")


def test_a_task_that_was_seen_to_wait_is_a_straggler_on_a_busy_machine_too() -> None:
    seen = seen_in(str(socket.__file__), "readinto")
    late = filled([0.25] * 15 + [8.0], 4, cpu=0.0, percent=25.0, ready=2.0)
    found = {f.cause: f for f in replace(late, stacks=seen.stacks).explain()}
    assert found["stragglers"].evidence["tasks"] == {0: [15]}
    assert "stragglers" in {f.cause for f in late.explain()}
    assert found["waiting"].advice == (
        "one of them waited 8 s, so more workers do not help. Wait for less in it, or split it"
    )


def test_tasks_that_are_late_are_not_all_late_for_a_small_argument() -> None:
    def worth_s(nbytes: float) -> list[float]:
        late = filled(
            [0.5] * 16,
            2,
            lag_s=0.25,
            scheduler=CLUSTER,
            largest_argument="load",
            largest_argument_bytes=nbytes,
        )
        return [round(f.worth_s, 6) for f in late.explain() if f.cause == "large-graph"]

    assert worth_s(4e6) == []
    assert worth_s(100e6) == [1.0]
    assert worth_s(500e6) == [1.75]


def test_only_the_phases_that_send_a_graph_are_its_arguments_price() -> None:
    sent = filled(
        [1.0] * 8,
        4,
        late_s=1.0,
        scheduler=CLUSTER,
        send_s=0.25,
        order_s=0.5,
        largest_argument="load",
        largest_argument_bytes=8e6,
    )
    assert [(f.cause, f.worth_s) for f in sent.explain()] == [("large-graph", 0.25)]


def test_tasks_that_seceded_are_no_more_workers() -> None:
    """Two tasks of each of two workers wait in threads of their own for tasks that they submitted."""
    rows = [Row(key=("outer", i), lane=i, start_s=0.0, stop_s=4.0, cpu_s=4.0) for i in range(4)]
    rows += [
        Row(key=("inner", i), lane=4 + i % 2, start_s=i // 2, stop_s=i // 2 + 1.0, cpu_s=1.0)
        for i in range(8)
    ]
    run = run_of(n_tasks=12, n_workers=2, scheduler=CLUSTER, stop_s=4.0)
    lanes = tuple(Lane(i, f"tcp://{i % 2}", 50 + i, f"worker {i % 2}, thread {i}") for i in range(6))
    recording = replace(recording_of(rows, [run]), lanes=lanes)
    assert recording.explain().answer.endswith(". 2 worker threads ran tasks 100% of the time")

    # Where the tasks that they wait for sleep themselves, all end sooner without that.
    samples = [Sample(("work", name), prefix=prefix) for name, prefix in (("get", "outer"), ("nap", "inner"))]
    stacks = stacks_of(samples)
    files = {"get": str(concurrent.futures._base.__file__), "nap": str(socket.__file__)}
    functions = tuple(replace(f, file=files.get(f.name, f.file)) for f in stacks.functions)
    blocks = tuple(replace(block, cpu_s=np.zeros(len(block), np.float32)) for block in recording.blocks)
    asleep = replace(recording, blocks=blocks, stacks=replace(stacks, functions=functions))
    (found,) = asleep.explain()
    assert (found.cause, found.worth_s, found.named("prefixes")) == ("waiting", 2.0, ["inner"])
    assert found.advice == "run more of them at a time: LocalCluster(threads_per_worker=2)"


REPACK = "path.write_bytes(gzip.compress(path.read_bytes()))"
ROWS = "frame.apply(lambda row: row.x, axis=1).sum().compute()"


def on_line(
    monkeypatch: pytest.MonkeyPatch, text: str, cpu: float, *, is_busy: bool, file: str = "<cell>"
) -> Recording:
    """Return tasks that samples saw on one line, with this part of the time on a core."""
    monkeypatch.setitem(linecache.cache, file, (1, None, [text], file))
    stacks = stacks_of([Sample(("work",), 16, seconds=16.0)])
    lines = LineRows.of([(0, 0, 0, 0, 1, 16, 16.0, 16.0, 16 * cpu, 16.0, 16.0, 16.0)])
    stacks = replace(stacks, functions=(replace(stacks.functions[0], file=file),), lines=lines)
    stacks = with_waits(stacks, datetime.now(UTC))
    percent, ready = (100 * 4 * cpu, 4.0) if is_busy else (math.nan, math.nan)
    return replace(filled([1.0] * 16, 4, cpu=cpu, percent=percent, ready=ready), stacks=stacks)


@pytest.mark.parametrize("text", [REPACK, ROWS])
@pytest.mark.parametrize("cpu", [0.25, 0.0625])
def test_a_line_that_reads_like_a_wait_computes_where_it_only_queued_for_a_core(
    monkeypatch: pytest.MonkeyPatch, text: str, cpu: float
) -> None:
    found = on_line(monkeypatch, text, cpu, is_busy=True).explain()
    assert found.findings == ()
    assert found.answer.startswith("the machine was busy")


@pytest.mark.parametrize(
    ("text", "kind"), [("file.read()", "file"), ("time.sleep(1)", "sleep"), (REPACK, "file")]
)
def test_a_line_that_reads_like_a_wait_is_one_with_next_to_no_cpu_time(
    monkeypatch: pytest.MonkeyPatch, text: str, kind: str
) -> None:
    quiet = on_line(monkeypatch, text, 2.0**-10, is_busy=False)
    crowd = filled([1.0] * 16, 4, percent=25.0, ready=2.0)
    for recording in (quiet, replace(quiet, resources=crowd.resources)):
        found = recording.explain()
        assert [(f.cause, f.evidence["waits_for"]) for f in found] == [("waiting", kind)]
    computes = on_line(monkeypatch, text, 0.25, is_busy=False).explain()
    assert [(f.cause, f.evidence["waits_for"]) for f in computes] == [("waiting", None)]


def test_what_reads_like_a_file_in_a_library_may_be_its_threads_that_compute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = "/env/site-packages/arrow/table.py"
    (read,) = on_line(monkeypatch, "self.reader.read(columns)", 0.0, is_busy=False, file=file).explain()
    assert (read.cause, read.evidence["waits_for"]) == ("waiting", None)
    (locked,) = on_line(monkeypatch, "with phil:", 0.0, is_busy=False, file=file).explain()
    assert locked.cause == "lock"


def test_tasks_of_a_busy_cluster_wait_where_samples_do_not_show_for_what() -> None:
    stacks = stacks_of([Sample(("wait_then_return",), 16, seconds=16.0)])
    shown = filled([1.0] * 16, 4, cpu=2.0**-7, percent=25.0, ready=2.0, scheduler=CLUSTER)
    lanes = tuple(replace(lane, worker="tcp://127.0.0.1:4000") for lane in shown.lanes)
    found = replace(shown, stacks=stacks, lanes=lanes).explain()
    assert [(f.cause, f.evidence["waits_for"]) for f in found] == [("waiting", None)]


@pytest.mark.parametrize(
    ("graph_bytes", "advice"),
    [
        (8e6, "pass large objects by client.scatter, or load them in tasks, instead of as arguments"),
        (8e3, "compute several results in one call, or use fewer and larger tasks"),
        (None, "compute several results in one call, or use fewer and larger tasks"),
    ],
)
def test_only_a_graph_of_many_bytes_has_objects_to_scatter(graph_bytes: float | None, advice: str) -> None:
    sent = filled([1.0] * 8, 4, scheduler=CLUSTER, send_s=1.0, graph_bytes=graph_bytes)
    (found,) = sent.explain()
    assert (found.cause, found.worth_s, found.advice) == ("large-graph", 1.0, advice)


@pytest.mark.parametrize(("n_tasks", "late_s", "found"), [(24, 2.0, []), (2_000, 3.0, [1.0])])
def test_a_small_graph_that_the_scheduler_began_with_late_is_no_large_one(
    n_tasks: int, late_s: float, found: list[float]
) -> None:
    seconds = [12.0 / n_tasks] * n_tasks
    late = filled(
        seconds, 8, late_s=late_s, scheduler=CLUSTER, send_s=0.0, received_s=102.25, graph_bytes=25e6
    )
    explained = late.explain()
    assert [f.worth_s for f in explained if f.cause == "large-graph"] == found
    assert explained.verdict is not None
    assert explained.verdict.endswith(
        "The scheduler began with the graph 2 s late. "
        "It may still have been forgetting the tasks of a large compute before"
    )


def test_tasks_whose_programs_do_the_work_do_not_wait() -> None:
    assert not seen_in(str(subprocess.__file__), "communicate").explain()


def test_a_busy_machine_is_not_blamed_for_waits_that_samples_saw() -> None:
    asleep = seen_in(str(socket.__file__), "readinto")
    crowd = filled([1.0] * 16, 4, percent=25.0, ready=2.0)
    found = replace(asleep, resources=crowd.resources).explain()
    assert ([f.cause for f in found], found.verdict) == (["waiting"], None)


def test_one_cause_is_one_finding_however_many_computes_have_it() -> None:
    rows = [Row(key=f"x{run}", run=run, start_s=float(run), stop_s=run + 1.0) for run in range(5)]
    runs = [run_of(run, n_tasks=1, start_s=float(run), stop_s=run + 1.0) for run in range(5)]
    (found,) = recording_of(rows, runs).explain()
    assert (found.cause, found.worth_s, found.evidence["runs"]) == ("few-tasks", 2.5, [0, 1, 2, 3, 4])
    assert found.text == "1 task of x0 for 2 threads: some were idle (and likewise in 4 more computes)"


def test_tasks_of_one_name_with_another_role_are_no_stragglers() -> None:
    """Eleven tasks feed one of the same name, which takes ten times as long as they do."""
    rows = [Row(key=("x", i), lane=i % 2, start_s=float(i // 2), stop_s=i // 2 + 1.0) for i in range(12)]
    rows.append(Row(key=("x", 12), start_s=6.0, stop_s=16.0))
    run = run_of(n_tasks=13, stop_s=16.0, n_workers=2)
    (found,) = with_dependencies(rows, {12: list(range(12))}, [run]).explain()
    assert (found.cause, found.worth_s) == ("serial-step", 5.0)
    assert "it takes 12 results at once: combine them in a tree (split_every=4)" in found.advice


def test_tasks_of_other_functions_of_the_same_name_are_no_stragglers() -> None:
    late = filled([0.25] * 15 + [8.0], 4)
    graph, (group,) = late.graphs[0], late.groups
    other = replace(group, id=1, function="lambda (In [2], line 2)")
    of = np.where(np.arange(16) == 15, 1, 0).astype("u4")
    mixed = replace(late, groups=(group, other), graphs={0: replace(graph, group=of)})
    assert "stragglers" in [found.cause for found in late.explain()]
    assert "stragglers" not in [found.cause for found in mixed.explain()]


def test_an_explanation_is_a_sequence_of_findings_and_true_if_there_is_any() -> None:
    found, nothing = FAULTS["stragglers"][0].explain(), FAULTS["stragglers"][1].explain()
    assert (len(found), bool(found), [f.cause for f in found]) == (1, True, ["stragglers"])
    assert (len(nothing), bool(nothing), list(nothing)) == (0, False, [])
    assert found.answer.startswith("stragglers: about 7.75 s of 8.75 s: 1 task of x took 8 s")
    assert "<b>stragglers: about 7.75 s" in found._repr_html_()
    assert found.to_pandas()["cause"].tolist() == ["stragglers"]


def test_a_finding_has_the_users_functions_and_the_line_that_computed() -> None:
    recording = filled([0.5] * 16, 2, cpu=0.1, called_from="In [4], line 2")
    groups = tuple(replace(group, function="load (In [3], line 1)") for group in recording.groups)
    (found, *_) = replace(recording, groups=groups).explain()
    assert found.code == "tasks call load (In [3], line 1), computed at In [4], line 2"
    assert found.code in str(replace(recording, groups=groups).explain()).split("\n  ")
