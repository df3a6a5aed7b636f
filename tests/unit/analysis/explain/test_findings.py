"""What `explain` finds: a table of recordings with causes, prices and evidence, and a golden text a cause.

Run with ``TASKSCOPE_WRITE_FIXTURES=1`` after a deliberate change of a sentence.
"""

from __future__ import annotations

import concurrent.futures
import json
import linecache
import math
import os
import queue
import re
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest

import taskscope
from taskscope.analysis.explain.finding import Cause
from taskscope.model.keys import key_block
from taskscope.model.tables.activities import ACTIVITIES, ActivityColumns, ActivityRows
from taskscope.model.tables.records import CLUSTER, Lane, Message
from taskscope.model.tables.stacks import CLIENT, CLIENT_RUN, LineRows, StackColumns
from taskscope.record.tables.stacklog import with_waits
from taskscope.recording import Recording
from tests.support.recordings.schedules import with_dependencies
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row

GOLDEN = Path(__file__).parents[3] / "fixtures" / "findings.txt"
ONE, OTHER = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1"

# ---------------------------------------------------------------------------------------------- recordings


def lanes_of(workers: Sequence[int]) -> tuple[Lane, ...]:
    """Return a lane for each of these workers of a cluster, by number."""
    return tuple(Lane(i, f"tcp://{w}", 50 + i, f"worker {w}, thread {i}") for i, w in enumerate(workers))


def filled(
    seconds: list[float],
    n_workers: int,
    *,
    lag_s: float = 0.0,
    cpu: float | Sequence[float] = 1.0,
    late_s: float = 0.0,
    percent: float = math.nan,
    ready: float = math.nan,
    active: float = math.nan,
    scheduler: str = "threads",
    function: str | None = None,
    **of_run: Any,
) -> Recording:
    """Return a recording of independent tasks, each on the worker that is free first.

    They have this part of their time on a core, or so many seconds each; the process uses so much CPU; so
    many of its threads are ready, and one is for this part of the time.
    """
    free, rows = [late_s] * n_workers, []
    cpu_s = [own_s * cpu for own_s in seconds] if isinstance(cpu, float) else cpu
    for i, own_s in enumerate(seconds):
        lane = free.index(min(free))
        start_s = free[lane] + (lag_s if i >= n_workers else 0.0)
        free[lane] = start_s + own_s
        rows.append(Row(key=("x", i), lane=lane, start_s=start_s, stop_s=free[lane], cpu_s=cpu_s[i]))
    run = run_of(n_tasks=len(rows), stop_s=max(free), n_workers=n_workers, scheduler=scheduler)
    samples = [(max(free) * i / 8, percent, 1e6, 1, 0.0, ready, active) for i in range(1, 9)]
    found = recording_of(rows, [replace(run, **of_run)], metadata={"n_cores": 4}, resources=samples)
    return replace(found, groups=tuple(replace(group, function=function) for group in found.groups))


def graph_of(
    rows: list[Row],
    n_workers: int,
    needs: Mapping[int, Sequence[int]] | None = None,
    *,
    workers: Sequence[int] | None = None,
    **of_run: Any,
) -> Recording:
    """Return a compute of these tasks, which need those of others; each lane is of one of these workers."""
    scheduler = "threads" if workers is None else CLUSTER
    run = run_of(
        n_tasks=len(rows), n_workers=n_workers, stop_s=max(r.stop_s for r in rows), scheduler=scheduler
    )
    found = with_dependencies(rows, needs or {}, [replace(run, **of_run)])
    return found if workers is None else replace(found, lanes=lanes_of(workers))


def in_pairs(name: str, seconds: list[float], at_s: float = 0.0, cpu: float = math.nan) -> list[Row]:
    """Return tasks of two lanes, two at a time."""
    begin = [at_s + sum(seconds[: i // 2 * 2 : 2]) for i in range(len(seconds))]
    return [
        Row(key=(name, i), lane=i % 2, start_s=begin[i], stop_s=begin[i] + s, cpu_s=cpu * s)
        for i, s in enumerate(seconds)
    ]


def in_a_row(name: str, n: int, step_s: float = 1.0, took_s: float = 1.0, **other: Any) -> list[Row]:
    return [Row(key=(name, i), start_s=i * step_s, stop_s=i * step_s + took_s, **other) for i in range(n)]


def chained(n: int) -> dict[int, list[int]]:
    return {i: [i - 1] for i in range(1, n)}


def twice(second: str, first: str) -> Recording:
    """Return two computes of four tasks each; what they compute is in their keys."""
    rows = [
        Row(key=(f"load-{token}", i), lane=i, run=run, start_s=2.0 * run, stop_s=2.0 * run + 2.0)
        for run, token in enumerate((first, second))
        for i in range(4)
    ]
    runs = [run_of(n, n_tasks=4, n_workers=4, start_s=2.0 * n, stop_s=2.0 * n + 2.0) for n in range(2)]
    return recording_of(rows, runs)


def on_workers(times: float, *, n_threads: int = 2, usual_s: float = 1.0) -> Recording:
    """Return a compute of two workers of a thread each; on the first, tasks take so many times longer."""
    rows = [
        Row(key=("x", 8 * lane + i), lane=lane, start_s=i * own_s, stop_s=(i + 1) * own_s)
        for lane, own_s in enumerate((times * usual_s, usual_s))
        for i in range(8)
    ]
    return graph_of(rows, n_threads, workers=(0, 1))


def waited_for(kind: str, seconds: float) -> Recording:
    """Return two tasks of a cluster, the second of which waits so long for something done for it."""
    rows = [Row(key="a", stop_s=2.0), Row(key="b", start_s=2.0 + seconds, stop_s=4.0 + seconds)]
    done = [(0, 1, 0, ACTIVITIES.index(kind), ZERO_S + 2.0, seconds, 0, math.nan, 0)] if seconds else []
    activities = ActivityColumns(ActivityRows.of(done), ("",))
    return replace(graph_of(rows, 1, {1: [0]}, scheduler=CLUSTER), activities=activities)


def run_twice(rows: list[Row], workers: Sequence[int], n_workers: int = 1) -> Recording:
    """Return a compute of two tasks, the first of which ran in the first two of three rows."""
    run = run_of(n_tasks=2, n_workers=n_workers, scheduler=CLUSTER, stop_s=max(row.stop_s for row in rows))
    recording = recording_of(rows, [run])
    (block,), graph = recording.blocks, recording.graphs[0]
    known: Any = {
        "keys": key_block(["a", "b"]),
        "group": np.array([0, 1], "u4"),
        "n_dependencies": np.zeros(2, "u1"),
        "enter": graph.enter[:2],
        "kept": np.array([1], "i4"),
    }
    blocks = (replace(block, task=np.array([0, 0, 1], "i4")),)
    return replace(recording, blocks=blocks, graphs={0: replace(graph, **known)}, lanes=lanes_of(workers))


def lost(status: str) -> Recording:
    """Return a task that ran twice, the first time in vain, and another."""
    first = Row(key="a", stop_s=2.0, status=status)
    rest = [Row(key=key, start_s=at, stop_s=at + 2.0) for key, at in (("a", 2.0), ("b", 4.0))]
    return run_twice([first, *rest], (0,))


def chain(gap_s: float = 0.0) -> Recording:
    rows = in_a_row("x", 8, 1.0 + gap_s) + in_a_row("y", 4, 1.0 + gap_s, 0.25, lane=1)
    return graph_of(rows, 2, chained(8), stop_s=ZERO_S + 8 * (1.0 + gap_s))


def gap() -> Recording:
    rows = [Row(key="a", stop_s=1.0), Row(key="b", run=1, start_s=3.0, stop_s=4.0)]
    runs = [run_of(run, n_tasks=1, start_s=3.0 * run, stop_s=3.0 * run + 1, n_workers=1) for run in range(2)]
    return recording_of(rows, runs)


def located(recording: Recording, stacks: StackColumns, **files: str | None) -> Recording:
    """Return a recording with these samples, whose functions of these names are in these files."""
    functions = tuple(replace(f, file=files.get(f.name) or f.file) for f in stacks.functions)
    return replace(recording, stacks=replace(stacks, functions=functions))


def at_lock(share: float) -> Recording:
    """Return tasks that samples saw wait for a lock for a part of the time."""
    samples = [Sample(("work", "acquire"), 3, 0.75), Sample(("work",), 1, 0.25)]
    stacks = stacks_of(samples if share else [Sample(("work",), 4, 1.0)])
    return located(filled([1.0] * 16, 4, cpu=0.0 if share else 1.0), stacks, acquire=threading.__file__)


def gap_at_lock() -> Recording:
    """Return two computes between which the program ran a function, and waited for a lock in it."""
    options: Any = {"prefix": CLIENT, "run": CLIENT_RUN, "start_s": 2.0, "seconds": 1.0}
    samples = [Sample(stack, 10, **options) for stack in [("prepare",), ("prepare", "acquire")]]
    return located(gap(), stacks_of(samples), acquire=threading.__file__)


def step(own_s: float, each_s: float = 1.0) -> Recording:
    """Return eight tasks on two workers, and one that needs them all."""
    rows = [*in_pairs("x", [each_s] * 8), Row(key="all", start_s=4 * each_s, stop_s=4 * each_s + own_s)]
    return graph_of(rows, 2, {8: list(range(8))})


def after_workers(late_s: float, *lives: tuple[float, str, str]) -> Recording:
    """Return tasks of a cluster whose first worker came so late, and what became of workers."""
    recording = filled([1.0] * 8, 4, late_s=late_s, scheduler=CLUSTER)
    lives = lives or ((late_s, ONE, "came"),)
    messages = tuple(Message(ZERO_S + at, "info", "", worker, event) for at, worker, event in lives)  # type: ignore[arg-type]  # an event
    lanes = tuple(replace(lane, worker=ONE) for lane in recording.lanes)
    return replace(recording, messages=messages, lanes=lanes)


def crowded(rows: list[Row], needs: dict[int, list[int]]) -> Recording:
    """Return a compute whose threads got a core for an eighth of the time in which they wanted one."""
    stop_s = max(row.stop_s for row in rows)
    crowd = filled([stop_s], 1, percent=25.0, ready=2.0, active=1.0)
    return replace(graph_of(rows, 2, needs), metadata=crowd.metadata, resources=crowd.resources)


def of_two_lengths(n_long: int, n_short: int) -> Recording:
    """Return a worker's short tasks of 2⁻¹⁰ s, each 2⁻¹⁰ s late, then long ones of a second that sleep."""
    at_s = n_short * 2.0**-9
    rows = in_a_row("short", n_short, 2.0**-9, 2.0**-10, cpu_s=2.0**-10)
    rows = [replace(row, start_s=row.start_s + 2.0**-10, stop_s=row.stop_s + 2.0**-10) for row in rows]
    rows += [Row(key=("long", i), start_s=at_s + i, stop_s=at_s + i + 1, cpu_s=0.0) for i in range(n_long)]
    return graph_of(rows, 1)


def seen_in(file: str | None, name: str, tasks: Recording | None = None) -> Recording:
    """Return tasks without CPU time that samples saw in a function of a library, called by theirs."""
    stacks = stacks_of([Sample(("work", name), 4, seconds=1.0)])
    return located(filled([1.0] * 16, 4, cpu=0.0) if tasks is None else tasks, stacks, **{name: file})


def on_line(text: str, cpu: float, *, is_busy: bool = False, file: str = "<cell>") -> Recording:
    """Return tasks that samples saw on one line, with this part of the time on a core."""
    linecache.cache[file] = (1, None, [text], file)
    stacks = stacks_of([Sample(("work",), 16, seconds=16.0)])
    lines = LineRows.of([(0, 0, 0, 0, 1, 16, 16.0, 16.0, 16 * cpu, 16.0, 16.0, 16.0)])
    stacks = replace(stacks, functions=(replace(stacks.functions[0], file=file),), lines=lines)
    percent, ready = (100 * 4 * cpu, 4.0) if is_busy else (math.nan, math.nan)
    tasks = filled([1.0] * 16, 4, cpu=cpu, percent=percent, ready=ready)
    stacks = with_waits(stacks, datetime.now(UTC))
    del linecache.cache[file]
    return replace(tasks, stacks=stacks)


def beside_others(recording: Recording, **of_tasks: Any) -> Recording:
    """Return the same tasks in a process that gets a core for an eighth of the time in which it wants one."""
    return replace(recording, resources=filled([1.0] * 16, 4, percent=25.0, ready=2.0, **of_tasks).resources)


def seceded(*, asleep: bool) -> Recording:
    """Return two tasks of each of two workers that wait, outside of its threads, for tasks they submitted."""
    rows = [Row(key=("outer", i), lane=i, stop_s=4.0, cpu_s=0.0 if asleep else 4.0) for i in range(4)]
    rows += [
        Row(
            key=("inner", i),
            lane=4 + i % 2,
            start_s=i // 2,
            stop_s=i // 2 + 1.0,
            cpu_s=0.0 if asleep else 1.0,
        )
        for i in range(8)
    ]
    found = graph_of(rows, 2, workers=(0, 1, 0, 1, 0, 1))
    samples = [Sample(("work", name), prefix=prefix) for name, prefix in (("get", "outer"), ("nap", "inner"))]
    files = {"get": concurrent.futures._base.__file__, "nap": socket.__file__}
    return located(found, stacks_of(samples), **files) if asleep else found


def without_tasks() -> Recording:
    """Return a compute of four tasks, and one of none."""
    runs = [run_of(n_tasks=4, n_workers=1, stop_s=4.0)]
    runs.append(run_of(1, n_tasks=0, n_workers=1, start_s=4.0, stop_s=4.0625))
    recording = recording_of(in_a_row("x", 4, cpu_s=1.0), runs)
    none: Any = {"keys": key_block([]), "group": np.empty(0, "u4"), "n_dependencies": np.empty(0, "u1")}
    empty = replace(recording.graphs[0], **none, enter=np.empty(0), kept=np.empty(0, "i4"))
    return replace(recording, graphs={0: recording.graphs[0], 1: empty})


def of_functions(*functions: str) -> Recording:
    """Return tasks of one name, the last and longest of which is of the last function."""
    late = filled([0.25] * 15 + [8.0], 4)
    groups = tuple(replace(late.groups[0], id=i, function=f) for i, f in enumerate(functions))
    of = np.where(np.arange(16) == 15, len(functions) - 1, 0).astype("u4")
    return replace(late, groups=groups, graphs={0: replace(late.graphs[0], group=of)})


def turns(size_bytes: float) -> Recording:
    """Return tasks that take turns in Python and have results of this size."""
    rows = [replace(row, size_bytes=size_bytes) for row in in_pairs("x", [1.0] * 16, cpu=0.5)]
    return replace(graph_of(rows, 2, lock_share=0.9), metadata={"n_cores": 4})


# --------------------------------------------------------------------------------------- causes and prices

TOKEN, DRAWN = "0123456789abcdef0123456789abcdef", "0123456a-0123-4567-89ab-0123456789ab"
STARTED: Any = {"late_s": 2.25, "scheduler": "processes", "order_s": 0.25}
ARGUMENT: Any = {"late_s": 1.0, "largest_argument": "load-1", "largest_argument_bytes": 8e6}

FAULTS: dict[str, tuple[Recording, Recording, float]] = {
    "interpreter-lock": (filled([1.0] * 40, 4, cpu=0.25, lock_share=0.9), filled([1.0] * 40, 4), 7.0),
    "lock": (at_lock(0.75), at_lock(0.0), 3.0),
    "serial-step": (step(4.0), step(0.0), 2.0),
    "no-workers": (after_workers(2.0), after_workers(0.0), 2.0),
    "pool-start": (
        filled([1.0] * 8, 4, pool_start_s=2.25, **STARTED),
        filled([1.0] * 8, 4, pool_start_s=0.25, **STARTED),
        2.0,
    ),
    "short-tasks": (filled([0.001] * 400, 4, lag_s=0.003), filled([0.1] * 40, 4, lag_s=0.003), 0.297),
    "few-tasks": (filled([1.0] * 2, 4), filled([0.25] * 8, 4), 0.5),
    "long-chain": (chain(), filled([1.0] * 8, 2), 3.5),
    "stragglers": (filled([0.25] * 15 + [8.0], 4), filled([0.25] * 16, 4), 7.75),
    "large-graph": (filled([1.0] * 8, 4, **ARGUMENT), filled([1.0] * 8, 4, late_s=1.0), 1.0),
    "client-gaps": (gap(), filled([1.0] * 4, 2), 2.0),
    "waiting": (filled([1.0] * 8, 4, cpu=0.125), filled([1.0] * 8, 4), 1.0),
    "oversubscribed": (
        filled([1.0] * 8, 4, cpu=0.5, percent=400.0),
        filled([1.0] * 8, 4, percent=400.0),
        1.0,
    ),
    "recomputed": (twice(TOKEN, TOKEN), twice(TOKEN[::-1], TOKEN), 2.0),
    "memory-pressure": (waited_for("disk-read", 1.0), waited_for("disk-read", 0.0), 1.0),
    "transfers": (waited_for("transfer", 1.0), waited_for("transfer", 0.125), 1.0),
    "serialization": (waited_for("deserialize", 1.0), waited_for("deserialize", 0.125), 1.0),
    "slow-worker": (on_workers(4.0), on_workers(1.0), 24.0),
    "idle-workers": (on_workers(1.0, n_threads=4), on_workers(1.0), 4.0),
    "lost-work": (lost("lost"), waited_for("transfer", 0.0), 2.0),
}
"""With a fault, without it, and how many seconds it cost."""


def test_each_cause_has_a_fault_that_shows_it() -> None:
    assert sorted(FAULTS) == sorted(get_args(Cause))


def test_tasks_of_less_than_a_millisecond_compare_no_workers() -> None:
    causes = {found.cause for found in on_workers(4_000.0, usual_s=0.0009).explain().findings}
    assert "slow-worker" not in causes
    assert on_workers(4_000.0, usual_s=0.001).explain().findings[0].cause == "slow-worker"


@pytest.mark.parametrize("cause", FAULTS)
def test_a_fault_is_the_first_finding_with_its_price_and_without_it_there_is_none(cause: str) -> None:
    with_it, without, worth_s = FAULTS[cause]
    first = with_it.explain().findings[0]
    assert (first.cause, round(first.worth_s, 6)) == (cause, worth_s)
    assert first.low_s <= first.worth_s <= first.high_s
    assert without.explain().findings == ()


def test_each_cause_has_its_sentences() -> None:
    told = [f"{cause}\n\n{FAULTS[cause][0].explain()}\n" for cause in sorted(FAULTS)]
    text = "\n\n".join(told)
    if os.environ.get("TASKSCOPE_WRITE_FIXTURES"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


class Case(NamedTuple):
    """A recording, and what is found in it."""

    recording: Recording
    causes: str
    """All of them, the one that is worth most first."""
    worth_s: float | tuple[float, float, float] | None = None
    """What the first is worth, or low, most likely and high."""
    evidence: Mapping[str, object] = {}
    """Some of its evidence."""
    says: Sequence[str] = ()
    """Parts of the text."""


REPACK, ROWS = "path.write_bytes(gzip.compress(path.read_bytes()))", "frame.apply(lambda row: row.x, axis=1)"
BUSY = "the machine was busy: tasks waited 88% of their time for cores that other programs used"
MORE = "run more of them at a time: compute(num_workers=8)"
OTHERS_COMPUTE = "do not wait in a task for what others compute"
NOTHING = "nothing to gain here that is worth 5 % of the wall time. "
LATE_GRAPH: Any = {"scheduler": CLUSTER, "send_s": 0.0, "received_s": 102.25, "graph_bytes": 25e6}
A_CHAIN_IN_A_CROWD = in_a_row("x", 8, 1.25, cpu_s=0.125)
ON_A_CLUSTER: Any = {"scheduler": CLUSTER}
LOAD: Any = {"scheduler": CLUSTER, "largest_argument": "load"}
ARROW = "/env/site-packages/arrow/table.py"
FETCH = "fetch (In [2], line 1)"

# fmt: off
CASES: dict[str, Case] = {
    # Chains, steps, stragglers.
    "a chain whose steps begin late": Case(chain(0.5), "long-chain"),
    "a task that was late for nothing beside a chain": Case(graph_of(in_a_row("x", 8) + [Row(key=("y", i),
        lane=1, start_s=i, stop_s=i + (0.005 if i == 3 else 0.001)) for i in range(8)], 2, chained(8)),
        "long-chain", says=["long-chain: up to 3.99 s of 8 s\n"]),
    "a task that runs alone after many": Case(step(4.0, 0.25), "serial-step", 2.0, {"tasks": {0: [8]}}, [
        "1 task of all ran alone for 4 s while 1 of 2 threads had nothing to do"]),
    "a task of the same name in another role": Case(graph_of([*in_pairs("x", [1.0] * 12), Row(key=("x", 12),
        start_s=6.0, stop_s=16.0)], 2, {12: [*range(12)]}), "serial-step", 5.0, says=[
        "it takes 12 results at once: combine them in a tree (split_every=4)"]),
    "tasks of one function": Case(of_functions("f"), "stragglers"),
    "tasks of two functions of one name": Case(of_functions("f", "g"), "serial-step"),
    "a straggler that only lacked a core": Case(filled([1.0] * 31 + [16.0], 4, cpu=[0.25] * 32, percent=40.0,
        ready=6.0, active=1.0), ""),
    "a straggler that computed": Case(filled([1.0] * 31 + [16.0], 4, cpu=[0.25] * 31 + [8.0], percent=40.0,
        ready=6.0, active=1.0), "stragglers"),
    "a straggler on one of two workers": Case(graph_of([Row(key=("x", 0), stop_s=11.0), *in_a_row("x", 11,
        lane=1)], 2, workers=(0, 1)), "stragglers", 5.0),
    "a straggler is worth a twentieth of a second": Case(filled([2.0**-7] * 15 + [2.0**-7 + 0.0625], 4),
        "stragglers"),
    "a straggler is worth less": Case(filled([2.0**-7] * 15 + [2.0**-7 + 0.03125], 4), ""),
    "one cause in many computes": Case(recording_of([Row(key=f"x{i}", run=i, start_s=i, stop_s=i +
        1.0) for i in range(5)], [run_of(i, n_tasks=1, start_s=i, stop_s=i + 1.0) for i in range(5)]),
        "few-tasks", 2.5, {"runs": [0, 1, 2, 3, 4]}, [
        "1 task of x0 for 2 threads: some were idle (and likewise in 4 more computes)"]),
    # Results of others.
    "keys of calls that are not pure run again": Case(twice(DRAWN, DRAWN), "recomputed", 2.0),
    "other keys of calls that are not pure": Case(twice(DRAWN.replace("6a", "6b"), DRAWN), ""),
    "keys that the user named": Case(twice("mine", "mine"), ""),
    "a worker is lost whose task another one ran again": Case(run_twice([Row(key="a", stop_s=2.0),
        Row(key="a", lane=1, start_s=2.0, stop_s=4.0), Row(key="b", lane=1, stop_s=2.0)], (0, 1), 2),
        "lost-work few-tasks", 2.0, {"n_tasks": 1}),
    "workers were paused": Case(after_workers(0.0, *((0.0, ONE, "came"), (0.0, OTHER, "came"), (0.5, ONE,
        "paused"), (1.0, ONE, "resumed")), (1.5, OTHER, "paused")), "memory-pressure", (0.0, 0.5, 0.5),
        {"paused_s": {ONE: 0.5, OTHER: 0.5}}, [
        "2 workers began no task for up to 500 ms, paused for lack of memory"]),
    # What a scheduler needs for its tasks.
    "processes are handed much": Case(filled([0.5] * 8, 2, lag_s=0.25, scheduler="processes"),
        "serialization", 0.75),
    "processes have to start": Case(FAULTS["pool-start"][0], "pool-start", says=[
        "start them once, client = Client(). Threads do without that, where tasks release the "]),
    "to put short tasks in order is part of scheduling": Case(filled([2.0**-11] * 1024, 2, lag_s=2.0**-12,
        late_s=0.5), "short-tasks large-graph", None, {"outside_s": pytest.approx(0.5)}),
    "a third of the time goes into handing tasks over": Case(filled([2.0**-10] * 402, 2,
        lag_s=0.34 * 2.0**-10), "short-tasks"),
    "less goes into handing tasks over": Case(filled([2.0**-10] * 402, 2, lag_s=0.32 * 2.0**-10), ""),
    "few short tasks beside long ones": Case(of_two_lengths(4, 999), "waiting"),
    "short tasks beside long ones": Case(of_two_lengths(4, 1_024), "waiting short-tasks", says=[
        "1,024 tasks of short took 977 µs each, and scheduling took 977 µs for each"]),
    "few tasks whose graph is late": Case(filled([0.01] * 8, 4, late_s=0.125), ""),
    "many tasks whose graph is late": Case(filled([0.01] * 1_000, 4, late_s=0.5), "large-graph", 0.5, says=[
        "use larger chunks or partitions, so that there are fewer tasks"]),
    "processes that start are no large graph": Case(filled([0.01] * 1_000, 4, late_s=0.5,
        scheduler="processes"), ""),
    "only what sends a graph is its arguments' price": Case(filled([1.0] * 8, 4, late_s=1.0, send_s=0.25,
        order_s=0.5, largest_argument_bytes=8e6, **LOAD), "large-graph", 0.25),
    "a graph of many bytes": Case(filled([1.0] * 8, 4, send_s=1.0, graph_bytes=8e6, **ON_A_CLUSTER),
        "large-graph", 1.0, says=[
        "pass large objects by client.scatter, or load them in tasks, instead of as arguments"]),
    "a graph of few bytes": Case(filled([1.0] * 8, 4, send_s=1.0, graph_bytes=8e3, **ON_A_CLUSTER),
        "large-graph", 1.0, says=["compute several results in one call, or use fewer and larger tasks"]),
    "a small graph that the scheduler began with late": Case(filled([0.5] * 24, 8, late_s=2.0, **LATE_GRAPH),
        "", says=["The scheduler began with the graph 2 s late. It may still have been forgetting"]),
    "a large one that it began with late": Case(filled([0.006] * 2_000, 8, late_s=3.0, **LATE_GRAPH),
        "large-graph", 1.0),
    # The interpreter, cores, waits.
    "threads take turns, processes start": Case(turns(math.nan), "interpreter-lock", says=[
        "They take about 500 ms to start"]),
    "threads take turns, processes pass results": Case(turns(50e6), "interpreter-lock", says=[
        "Processes hardly pay: they take about 500 ms to start and pass up to 800 MB"]),
    "the line of tasks that take turns is one that computes": Case(located(FAULTS["interpreter-lock"][0],
        stacks_of([Sample(("work", "get"), seconds=0.625), Sample(("work",), seconds=0.375)]),
        get=queue.__file__), "interpreter-lock", says=[". 38% of it in `work` of `work.py`"]),
    "tasks that sleep take no turns": Case(filled([1.0] * 40, 4, cpu=0.0078125, percent=3.0, ready=1.0,
        active=1.0), "waiting"),
    "the advised workers gain no more": Case(filled([0.25] * 24, 2, cpu=0.0), "waiting", (1.125, 1.5, 1.5),
        says=["compute(num_workers=4)"]),
    "tasks wait for half of the time, and cores for a part of that": Case(filled([1.0] * 8, 4, cpu=0.5,
        percent=200.0, ready=3.0, active=1.0), "waiting", 0.5),
    "threads of others compute": Case(filled([1.0] * 8, 4, cpu=0.5, percent=400.0), "oversubscribed"),
    "threads of others hardly compute": Case(filled([1.0] * 8, 4, cpu=0.5, percent=200.0), "waiting"),
    "threads of their own compute": Case(filled([1.0] * 8, 2, cpu=0.5, percent=200.0, ready=1.0, active=0.5),
        ""),
    "threads of their own do not compute": Case(filled([1.0] * 8, 2, cpu=0.5, percent=100.0, ready=1.0,
        active=0.5), "waiting"),
    "more threads than cores": Case(filled([1.0] * 8, 4, cpu=0.5, percent=400.0, ready=8.0, active=1.0),
        "oversubscribed"),
    "tasks that wait for their threads": Case(filled([1.0] * 8, 4, cpu=0.0625, percent=400.0, ready=8.0,
        active=1.0), ""),
    "tasks that sleep beside threads that want a core": Case(filled([1.0] * 8, 4, cpu=2.0**-10, percent=60.0,
        ready=4.0, active=1.0), "waiting"),
    "less than counts can tell": Case(filled([0.4375] * 4, 2, cpu=0.25), ""),
    "as much as counts can tell": Case(filled([0.5] * 4, 2, cpu=0.25), "waiting"),
    "each turn is waited for twenty times as long as it takes": Case(filled([0.25] * 4, 2, cpu=2.0**-5),
        "waiting"),
    "a cluster whose workers metered little": Case(filled([1.0] * 8, 4, cpu=0.125, percent=400.0,
        **ON_A_CLUSTER), "waiting", 0.875, says=["LocalCluster(threads_per_worker=8)"]),
    "a cluster beside a busy client": Case(filled([1.0] * 8, 4, percent=400.0, **ON_A_CLUSTER), ""),
    "a cluster that metered nothing": Case(filled([1.0] * 8, 4, cpu=math.nan, **ON_A_CLUSTER), ""),
    "a chain of waits": Case(graph_of([replace(row, lane=i % 2) for i, row in enumerate(in_a_row("nap", 6,
        cpu_s=0.0))], 2, chained(6)), "waiting long-chain", says=[
        "each needs the result of the one before, so more workers do not help"]),
    "the program ran a line, and waited in it": Case(gap_at_lock(), "client-gaps", says=[
        "for 50% of the time, between 2 computes. The program ran `prepare` of `prepare.py`\n"]),
    # What samples saw.
    "the network": Case(seen_in(socket.__file__, "readinto"), "waiting", None, {"waits_for": "network"}, [
        MORE, "in `work` of"]),
    "a queue": Case(seen_in(queue.__file__, "get"), "waiting", None, {"waits_for": "queue"}, [
        OTHERS_COMPUTE]),
    "a result": Case(seen_in(concurrent.futures._base.__file__, "result"), "waiting", None,
        {"waits_for": "result"}, [OTHERS_COMPUTE]),
    "programs that do the work": Case(seen_in(subprocess.__file__, "communicate"), ""),
    "the network, beside other programs": Case(beside_others(seen_in(socket.__file__, "readinto")),
        "waiting"),
    "a straggler beside other programs": Case(seen_in(socket.__file__, "readinto", filled([0.25] * 15 + [8.0],
        4, cpu=0.0, percent=25.0, ready=2.0)), "waiting stragglers", None, {"waits_for": "network"}, [
        "one of them waited 8 s, so more workers do not help. Wait for less in it, or split it"]),
    "tasks that wait for tasks": Case(seceded(asleep=False), "", says=[
        ". 2 worker threads ran tasks 100% of the time"]),
    "tasks that wait for tasks that wait": Case(seceded(asleep=True), "waiting", 2.0, {"prefixes": ["inner"]},
        ["run more of them at a time: LocalCluster(threads_per_worker=2)"]),
    "one task that waits": Case(filled([0.0625] * 8 + [2.0], 2, cpu=[0.0625] * 8 + [0.0], function=FETCH),
        "waiting stragglers", says=[
        "task ('x', 8) had a core for 0% of its time and waited for files, the network",
        "start it before the others, or cache its result", f"It is task ('x', 8). It calls {FETCH}"]),
    "a line reads like a wait, and queued for a core": Case(on_line(REPACK, 0.25, is_busy=True), "", says=[
        "the machine was busy"]),
    "a line of a table reads like a wait, and queued": Case(on_line(ROWS, 0.0625, is_busy=True), "", says=[
        "the machine was busy"]),
    "a line waits for a file": Case(on_line("file.read()", 2.0**-10), "waiting", None, {"waits_for": "file"}),
    "a line sleeps": Case(on_line("time.sleep(1)", 2.0**-10), "waiting", None, {"waits_for": "sleep"}),
    "a line sleeps beside other programs": Case(beside_others(on_line("time.sleep(1)", 2.0**-10)), "waiting",
        None, {"waits_for": "sleep"}),
    "a line that reads like a wait has a core": Case(on_line(REPACK, 0.25), "waiting", None,
        {"waits_for": None}),
    "a library's line may be its threads that compute": Case(on_line("self.reader.read(columns)", 0.0,
        file=ARROW), "waiting", None, {"waits_for": None}),
    "a library's line takes a lock": Case(on_line("with phil:", 0.0, file=ARROW), "lock"),
    # Other programs.
    "of two prefixes one waits": Case(crowded([replace(row, key=(name, i), start_s=row.start_s + at,
        stop_s=row.stop_s + at, cpu_s=cpu_s) for i, row in enumerate(in_pairs("", [2.0] * 8)) for row in [
        replace(row, stop_s=row.start_s + 1.0)] for name, at, cpu_s in (("load", 0.0, 0.0), ("work", 1.0,
        0.125))], {2 * i + 1: [2 * i] for i in range(8)}), "waiting", 4.0 - 4.0 / 15, {"prefixes": ["load"]}),
    "a chain": Case(crowded(A_CHAIN_IN_A_CROWD, chained(8)), "long-chain", says=[
        f"{BUSY}. On a quiet one it would take about "]),
    "tasks that need nothing": Case(crowded(in_pairs("x", [1.0] * 8, cpu=0.125), {}), "", says=[
        f"{BUSY}. On a quiet one it would take about 500 ms instead of 4 s. Run it again when other ",
        "Tasks of x took longest, 8 s together. Run it with %%profile to see their lines"]),
    "C code held the lock": Case(recording_of([Row(key="a", stop_s=4.0, cpu_s=3.9)], [run_of(n_tasks=1,
        stop_s=4.0, n_workers=1)], resources=[(t, 99.0, 1e6, 1, gap) for t, gap in ((0.5, 0), (2.5, 1), (3.5,
        0), (5.0, 1))]), "", says=[
        "C code held the interpreter's lock for 2.5 s: no other thread of Python ran"]),
    # Nothing.
    "nothing to gain": Case(filled([1.0] * 8, 4), "", says=[
        f"{NOTHING}4 threads ran tasks 100% of the time"]),
    "nothing to gain in a short compute": Case(filled([2.0**-4] * 8, 4), "", says=[
        "nothing to gain here that is worth 50 ms"]),
    "a compute without tasks": Case(without_tasks(), ""),
    "lanes of a worker that died and of its successor": Case(graph_of([Row(key=("x", i), lane=i,
        start_s=i // 2, stop_s=i // 2 + 1.0, cpu_s=1.0) for i in range(4)], 2, workers=(0, 0, 1, 1)), "",
        says=[f"{NOTHING}2 worker threads ran tasks 100% of the time"]),
    "a wait without a cure": Case(recording_of([Row(key=f"x-{i}", run=i, start_s=i + 0.5, stop_s=i +
        1.0) for i in range(10)], [run_of(i, n_tasks=1, n_workers=1, start_s=i, stop_s=i +
        1.0) for i in range(10)]), "", says=["Waits on the critical path: graph 5 s"]),
    "a compute that did not finish": Case(recording_of([Row(key="x")], [run_of(n_tasks=3,
        status="interrupted")]), "", says=[
        "cannot say why, because a compute did not finish: what was still to do is not known"]),
}
# fmt: on


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_its_causes_prices_and_evidence(name: str) -> None:
    case = CASES[name]
    found = case.recording.explain()
    assert " ".join(finding.cause for finding in found) == case.causes
    if case.worth_s is not None:
        first = found.findings[0]
        prices = (
            case.worth_s if isinstance(case.worth_s, tuple) else (first.low_s, case.worth_s, first.high_s)
        )
        assert (first.low_s, first.worth_s, first.high_s) == pytest.approx(prices, abs=1e-6)
    for what, expected in case.evidence.items():
        assert found.findings[0].evidence[what] == expected
    assert [part for part in case.says if part not in f"{found}\n"] == []


@pytest.mark.parametrize("name", [*FAULTS, *CASES])
def test_each_sentence_is_short(name: str) -> None:
    found = (FAULTS[name][0] if name in FAULTS else CASES[name].recording).explain()
    texts = [found.verdict or "", *(text for one in found for text in (one.text, one.advice))]
    sentences = [part for text in texts for part in re.split(r"\. (?=[A-Z0-9])", text)]
    assert [sentence for sentence in sentences if len(sentence.split()) > 20] == []


@pytest.mark.parametrize(
    ("took_s", "n_late"),
    [
        ([0.25] * 14 + [1.0, 8.0], [1]),
        ([0.25] * 13 + [1.0, 1.0, 8.0], [1]),
        ([0.25] * 14 + [7.0, 8.0], []),
        ([0.25] * 30 + [7.0, 8.0], [2]),
        ([0.25] * 31 + [0.8, 64.0], [1]),
    ],
)
def test_where_more_than_a_tenth_is_slow_the_straggler_is_what_took_far_longer_than_any_other(
    took_s: list[float], n_late: list[int]
) -> None:
    found = filled(took_s, 4).explain().findings
    assert [f.evidence["n_tasks"] for f in found if f.cause == "stragglers"] == n_late


@pytest.mark.parametrize(("nbytes", "worth_s"), [(4e6, []), (100e6, [1.0]), (500e6, [1.75])])
def test_tasks_that_are_late_are_not_all_late_for_a_small_argument(
    nbytes: float, worth_s: list[float]
) -> None:
    late = filled([0.5] * 16, 2, lag_s=0.25, largest_argument_bytes=nbytes, **LOAD)
    assert [round(f.worth_s, 6) for f in late.explain() if f.cause == "large-graph"] == worth_s


def test_where_names_are_hidden_the_kind_of_a_wait_is_known(tmp_path: Path) -> None:
    CASES["the network"].recording.save(tmp_path / "redacted.taskscope", redact=True)
    (hidden,) = taskscope.load(tmp_path / "redacted.taskscope").explain()
    assert (hidden.cause, hidden.evidence["waits_for"], "work.py" in hidden.text) == (
        "waiting",
        "network",
        False,
    )


def test_an_explanation_is_a_sequence_of_findings_of_plain_values_and_true_if_there_is_any() -> None:
    found, nothing = FAULTS["stragglers"][0].explain(), FAULTS["stragglers"][1].explain()
    assert (len(found), bool(found), len(nothing), bool(nothing)) == (1, True, 0, False)
    assert "<b>stragglers: about 7.75 s" in found._repr_html_()
    assert found.to_pandas()["cause"].tolist() == ["stragglers"]
    assert json.loads(json.dumps(found.to_dict()))["findings"][0]["evidence"] == {
        "runs": [0],
        "n_tasks": 1,
        "seconds": 8.0,
        "usual_s": 0.25,
        "prefixes": ["x"],
        "tasks": {"0": [15]},
    }


def test_a_finding_has_the_functions_of_its_own_computes_and_the_line_that_computed() -> None:
    recording = filled([0.5] * 16, 2, cpu=0.1, called_from="In [4], line 2", function="load (In [3], line 1)")
    other = replace(recording.groups[0], name="of-another-cell", function="load (In [1], line 1)")
    found = replace(recording, groups=(*recording.groups, other)).explain()
    assert found.findings[0].code == "tasks call load (In [3], line 1), computed at In [4], line 2"
    assert found.findings[0].code in str(found).split("\n  ")


def test_the_path_waits_for_processes_that_start_as_for_workers() -> None:
    late = FAULTS["pool-start"][0].critical_path()
    assert late.wait_s == {"no-worker": 2.0, "graph": 0.25}


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
