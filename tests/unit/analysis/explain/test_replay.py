from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.analysis.explain import schedule as schedule_module
from taskscope.analysis.explain.schedule import schedules_of
from taskscope.analysis.explain.what_if import priced_s, replayed_s
from taskscope.errors import OptionError, UnknownNameError
from taskscope.model.keys import key_block
from taskscope.model.tables.records import CLUSTER
from taskscope.model.tables.stacks import MeasuredLine
from taskscope.model.tables.workers import WorkerSample
from taskscope.recording import Recording
from tests.support.clusters.recordings import cluster_recording
from tests.support.recordings.schedules import GRAPHS, Plan, recorded, with_dependencies
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


def chain_s(plan: Plan) -> int:
    """Return the longest chain, the slow and obvious way."""
    until: list[int] = []
    for needs, own_s in zip(plan.needs, plan.seconds, strict=True):
        until.append(own_s + max((until[i] for i in needs), default=0))
    return max(until)


def lazy(plan: Plan) -> Plan:
    """Return the plan without waits."""
    return replace(plan, lags=(0,) * len(plan.lags))


def test_a_thread_that_began_late_does_so_in_a_replay_whichever_task_it_runs() -> None:
    rows = [Row(key=("x", i), start_s=float(i), stop_s=i + 1.0 + (i == 2)) for i in range(3)]
    rows.append(Row(key=("x", 3), lane=1, start_s=3.0, stop_s=4.0))
    case = recording_of(rows, [run_of(n_tasks=4, stop_s=4.0, n_workers=2)]).what_if()
    assert (case.low_s, case.makespan_s, case.high_s) == (4.0, 4.0, 4.0)


@given(GRAPHS)
def test_with_a_worker_for_each_task_it_takes_the_chain_and_with_one_all_the_work(plan: Plan) -> None:
    recording = recorded(lazy(plan))
    widest = recording.what_if(workers=len(plan.seconds))
    assert (widest.makespan_s, widest.chain_s) == (chain_s(plan), chain_s(plan))
    alone = recording.what_if(workers=1)
    assert (alone.makespan_s, alone.work_s) == (sum(plan.seconds), sum(plan.seconds))


@given(GRAPHS)
def test_no_number_of_workers_beats_the_bounds_or_needs_more_than_graham_allows(plan: Plan) -> None:
    recording = recorded(lazy(plan))
    (schedule,) = schedules_of(recording)
    longest_s, work_s = chain_s(plan), sum(plan.seconds)
    for k in (1, 2, 3):
        makespan_s = replayed_s(schedule, n_workers=k)
        assert max(longest_s, work_s / k) <= makespan_s <= work_s / k + longest_s


def test_a_price_in_a_large_schedule_is_that_of_a_replay_of_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n, late = 12_000, 7_000
    took_s = np.where(np.arange(n) == late, 50.0, np.random.default_rng(0).gamma(4.0, 0.25, n))
    free_s, rows = [0.0, 0.0], []
    for i, own_s in enumerate(took_s.tolist()):
        lane = int(free_s[1] < free_s[0])
        rows.append(Row(key=("x", i), lane=lane, start_s=free_s[lane], stop_s=free_s[lane] + own_s))
        free_s[lane] += own_s
    (schedule,) = schedules_of(recording_of(rows, [run_of(n_tasks=n, stop_s=max(free_s), n_workers=2)]))
    quick = np.where(schedule.seconds > 40.0, 1.0, schedule.seconds)
    changes: list[dict[str, Any]] = [
        {},
        {"seconds": quick},
        {"seconds": schedule.seconds / 2},
        {"n_workers": 4},
        {"seconds": quick, "n_workers": 1},
    ]
    exact_s = [replayed_s(schedule, **change) for change in changes]
    monkeypatch.setattr(schedule_module, "_MOST_CACHED", n - 1)
    priced = [priced_s(schedule, **change) for change in changes]
    base_s = exact_s[0]
    # One late task is priced exactly; where all change, what a window loses at its ends is an error.
    assert priced[:2] == pytest.approx(exact_s[:2])
    assert priced[2:] == pytest.approx(exact_s[2:], abs=0.02 * base_s)
    assert exact_s == pytest.approx([6031, 6006, 3015, 3039, 12013], rel=0.01)


def test_what_became_ready_last_runs_first_as_in_dasks_own_schedulers() -> None:
    # One worker ran a, its dependent c, then b; a second one takes b at once and c after a.
    rows = [
        Row(key="a", start_s=0.0, stop_s=1.0),
        Row(key="c", start_s=1.0, stop_s=2.0),
        Row(key="b", start_s=2.0, stop_s=5.0),
        Row(key="d", start_s=5.0, stop_s=6.0),
    ]
    recording = with_dependencies(rows, {1: [0], 3: [2]}, [run_of(n_tasks=4, stop_s=6.0, n_workers=1)])
    assert recording.what_if().makespan_s == 6.0
    assert recording.what_if(workers=2).makespan_s == 4.0


def test_waits_that_were_not_for_a_worker_and_time_outside_of_tasks_stay() -> None:
    rows = [Row(key="a", start_s=1.0, stop_s=2.0), Row(key="b", start_s=2.5, stop_s=3.5)]
    recording = with_dependencies(rows, {1: [0]}, [run_of(n_tasks=2, stop_s=5.0, n_workers=1)])
    assert recording.what_if(workers=4).makespan_s == 5.0
    assert recording.what_if(speed={"b": 2.0}).makespan_s == 4.5
    without = recording.what_if(without="b")
    assert (without.makespan_s, without.limited_by) == (3.5, "outside")


def test_computes_follow_each_other_with_the_time_between_them() -> None:
    rows = [Row(key="a", stop_s=1.0), Row(key="b", run=1, start_s=3.0, stop_s=5.0)]
    runs = [run_of(n_tasks=1), run_of(1, n_tasks=1, start_s=3.0, stop_s=5.0)]
    recording = recording_of(rows, runs)
    assert recording.what_if(speed={"b": 4.0}).makespan_s == 3.5
    assert recording.what_if(speed={"b": 4.0}, run=1).makespan_s == 0.5


def test_on_a_cluster_tasks_stay_with_their_workers_while_there_are_as_many() -> None:
    recording = cluster_recording()
    (schedule,) = schedules_of(recording)
    assert (schedule.pool.tolist(), schedule.threads) == ([0, 1, 0], (2, 1))


def test_threads_of_tasks_that_seceded_are_no_further_workers() -> None:
    # Two tasks wait for two others, in which they opened a `worker_client`, on a worker of two threads.
    rows = [
        *(Row(key=("f", i), lane=i, start_s=0.0, stop_s=4.0) for i in range(2)),
        *(Row(key=("g", i), lane=2 + i, start_s=1.0, stop_s=3.0) for i in range(2)),
    ]
    recording = recording_of(rows, [run_of(n_tasks=4, stop_s=4.0, scheduler=CLUSTER)])
    sample = WorkerSample(0.0, "1234", "a", 2, None, None, None, None, None, None, None)
    recording = replace(recording, workers=(sample,))
    assert str(recording.explain()).endswith(". 2 worker threads ran tasks 100% of the time")
    assert recording.what_if(workers=3).makespan_s == 4.0


def busy(n: int, n_lanes: int, cpu_s: float, *, scheduler: str = "threads", n_cores: int = 4) -> Recording:
    """Return a recording of tasks of a second each that keep all lanes full."""
    rows = [
        Row(
            key=("x", i),
            lane=i % n_lanes,
            start_s=float(i // n_lanes),
            stop_s=float(i // n_lanes + 1),
            cpu_s=cpu_s,
        )
        for i in range(n)
    ]
    run = run_of(n_tasks=n, stop_s=float(-(-n // n_lanes)), n_workers=n_lanes, scheduler=scheduler)
    return recording_of(rows, [run], metadata={"n_cores": n_cores})


def with_lock(recording: Recording, share: float) -> Recording:
    return replace(recording, runs=tuple(replace(run, lock_share=share) for run in recording.runs))


def test_more_workers_than_tasks_are_idle_whatever_their_number() -> None:
    rows = [Row(key=("x", i), start_s=float(i), stop_s=i + 1.0) for i in range(4)]
    recording = recording_of(rows, [run_of(n_tasks=4, stop_s=4.0, n_workers=1)])
    assert recording.what_if(workers=10**12).makespan_s == recording.what_if(workers=4).makespan_s


def test_tasks_that_took_turns_at_the_interpreters_lock_get_no_faster_with_more_threads() -> None:
    recording = with_lock(busy(40, 4, 0.25), 0.9)
    more, fewer = recording.what_if(workers=8), recording.what_if(workers=1)
    assert (more.makespan_s, more.limited_by) == (10.0, "interpreter-lock")
    assert more.notes == ("tasks took turns in running Python: more threads do not make them faster",)
    # One at a time each takes its own CPU time only.
    assert fewer.makespan_s == 10.0
    # Processes share no lock, whatever was measured of this one.
    processes = with_lock(busy(40, 2, 1.0, scheduler="processes"), 0.9)
    assert processes.what_if(workers=4).makespan_s == 10.0


@given(GRAPHS, st.integers(0, 5))
def test_with_at_least_as_many_workers_it_takes_no_longer_than_was_recorded(plan: Plan, further: int) -> None:
    recording = recorded(plan)
    (schedule,) = schedules_of(recording)
    case = recording.what_if(workers=schedule.n_threads + further)
    assert case.makespan_s is not None
    assert case.high_s is not None
    assert case.makespan_s <= case.recorded_s
    assert not further or case.makespan_s <= case.high_s <= case.recorded_s


def test_more_workers_make_nothing_slower_but_a_slower_speed_does() -> None:
    # Tasks used 18 s of CPU time in 6 s, so that there were more cores than the 2 that are known.
    recording = busy(18, 3, 1.0, scheduler="processes", n_cores=2)
    more = recording.what_if(workers=8)
    assert (more.makespan_s, more.high_s, more.recorded_s) == (6.0, 6.0, 6.0)
    slower = recording.what_if(workers=8, speed={"x": 0.5})
    assert slower.makespan_s is not None
    assert slower.makespan_s > 6.0


def test_tasks_that_burn_cpu_get_no_faster_beyond_the_cores() -> None:
    processes = busy(40, 2, 1.0, scheduler="processes").what_if(workers=8)
    assert (processes.makespan_s, processes.limited_by) == (10.0, "cores")
    assert processes.notes == ("tasks burn CPU, and there are 4 cores",)
    waiting = busy(40, 2, 0.0625, scheduler="processes").what_if(workers=8)
    assert (waiting.makespan_s, waiting.limited_by, waiting.notes) == (5.0, "workers", ())


def test_where_the_lock_was_not_measured_a_wide_band_is_no_answer_but_what_is_not_known() -> None:
    case = busy(40, 1, 1.0).what_if(workers=4)
    assert (case.makespan_s, case.low_s, case.high_s) == (None, None, None)
    assert str(case) == (
        "cannot say, because whether tasks release the interpreter's lock is not known: it would take 9.5 s "
        "or 40 s"
    )
    released = with_lock(busy(40, 1, 1.0, n_cores=8), 0.05).what_if(workers=4)
    assert (released.makespan_s, released.high_s, released.limited_by) == (10.0, 10.5, "workers")


def test_tasks_that_had_a_core_for_a_part_of_their_time_may_have_waited_for_one() -> None:
    case = with_lock(busy(40, 2, 0.25, n_cores=16), 0.0).what_if(workers=4)
    assert (case.makespan_s, case.high_s) == (10.0, 20.0)
    assert case.notes == (
        "whether tasks waited for a core or for something else is not known: the upper end is the worse case",
    )


def test_of_a_busy_machine_the_estimate_is_for_one_as_busy() -> None:
    recording = with_lock(busy(40, 2, 0.25), 0.0)
    (block,) = recording.blocks
    calm = replace(recording, blocks=(replace(block, cpu_s=np.zeros(40, np.float32)),)).what_if(workers=4)
    assert (calm.low_s, calm.makespan_s, calm.high_s) == (9.5, 10.0, 10.5)
    # Tasks queued for a core for three quarters of their time.
    samples = [(20.0 * i / 8, 50.0, 1e6, 1, 0.0, 2.0, 1.0) for i in range(1, 9)]
    rows = [Row(key="x", start_s=0.0, stop_s=20.0)]
    crowd = recording_of(rows, [run_of(n_tasks=1, stop_s=20.0)], resources=samples)
    case = replace(recording, resources=crowd.resources).what_if(workers=4)
    assert case.makespan_s == 10.0


def persisted(needs: list[int]) -> Recording:
    """Return a compute that was asked for while another one ran, whose results its tasks need."""
    token = "0123456789abcdef0123456789abcdef"
    rows = [Row(key=(f"load-{token}", i), start_s=float(i), stop_s=i + 1.0) for i in range(4)]
    rows.append(Row(key="total", run=1, start_s=4.0, stop_s=5.0))
    runs = [
        run_of(n_tasks=4, stop_s=4.0, n_workers=1, scheduler=CLUSTER),
        run_of(1, n_tasks=1, start_s=0.5, stop_s=5.0, n_workers=1, scheduler=CLUSTER),
    ]
    recording = recording_of(rows, runs)
    first, second = recording.graphs[0], recording.graphs[1]
    keys = key_block(["total", *((f"load-{token}", i) for i in needs)])
    graph = replace(
        second,
        keys=keys,
        group=np.array([second.group[0], *first.group[needs]], "u4"),
        n_dependencies=np.array([len(needs), *[0] * len(needs)], "u1"),
        edges=np.arange(1, len(needs) + 1, dtype="i4"),
        data=np.arange(1, len(needs) + 1, dtype="i4"),
        data_sizes=np.full(len(needs), np.nan),
        enter=np.full(1 + len(needs), np.nan),
        kept=np.array([0], "i4"),
    )
    return replace(recording, graphs={0: first, 1: graph})


def test_computes_that_need_each_others_results_are_one_graph() -> None:
    recording = persisted([0, 1, 2, 3])
    path = recording.critical_path()
    assert [(step.run, step.prefix, step.after) for step in path.steps] == [
        (0, "load", None),
        *[(0, "load", "lane")] * 3,
        (1, "total", "dependency"),
    ]
    case = recording.what_if(workers=4)
    assert (case.makespan_s, case.chain_s, case.work_s) == (2.0, 2.0, 1.25)
    assert recording.explain().reason is None
    assert recording.explain(run=1).answer == (
        "compute 1 waited 3.5 s of 4.5 s for tasks of compute 0. explain() of all computes takes them as "
        "one graph"
    )


def test_tasks_of_a_compute_do_not_run_before_it_was_asked_for() -> None:
    recording = persisted([])
    assert recording.what_if(workers=8).makespan_s == 1.5


def test_what_slows_down_tasks_that_run_beside_each_other_is_drawn_for_them_together() -> None:
    together = [1.0] * 56 + [3.0] * 8
    spread = ([1.0] * 7 + [3.0]) * 8

    def width_s(seconds: list[float]) -> float:
        rows, stop_s = [], 0.0
        for i, own_s in enumerate(seconds):
            rows.append(Row(key=("x", i), start_s=stop_s, stop_s=stop_s + own_s))
            stop_s += own_s
        case = recording_of(rows, [run_of(n_tasks=64, stop_s=stop_s, n_workers=1)]).what_if(workers=1)
        assert case.low_s is not None
        assert case.high_s is not None
        return case.high_s - case.low_s

    assert (width_s(spread), width_s(together)) == (0.0, 30.0)


ROWS = [Row(key="x", stop_s=1.0), Row(key="y", start_s=1.0, stop_s=2.0)]
COUNTED = MeasuredLine(0, "x", "x", "1", "work.py", "work", 1, 2, 1_000, 0.5, 0.5, counting_s=0.5)


@pytest.mark.parametrize(
    ("recording", "reason"),
    [
        (recording_of([]), "no Dask computation was recorded"),
        (
            recording_of(ROWS, [run_of(n_tasks=2, stop_s=2.0, status="interrupted")]),
            "a compute did not finish: what was still to do is not known",
        ),
        (recording_of(ROWS, [run_of(n_tasks=3, stop_s=2.0)]), "1 task of compute 0 has no row"),
        (recording_of(ROWS, [run_of(n_tasks=5, stop_s=2.0)]), "3 tasks of compute 0 have no row"),
        (
            replace(recording_of(ROWS, [run_of(n_tasks=2, stop_s=2.0)]), measured_lines=(COUNTED,)),
            "counting lines took 25% of the tasks' time or more: record it without lines=",
        ),
    ],
    ids=["nothing", "interrupted", "dropped one", "dropped", "counted"],
)
def test_what_cannot_be_replayed_says_why(recording: Recording, reason: str) -> None:
    case = recording.what_if(workers=2)
    assert (case.reason, case.makespan_s, str(case)) == (reason, None, f"cannot say, because {reason}")


def test_it_is_text_and_plain_values_and_the_same_each_time() -> None:
    recording = busy(8, 2, math.nan)
    recording = replace(recording, runs=(replace(recording.runs[0], scheduler=CLUSTER),))
    case = recording.what_if(workers=4)
    assert str(case).split("\n") == [
        "2 s (1.9 s to 2.1 s) instead of 4 s; limited by the number of workers",
        "  CPU time of tasks is not known: it holds if further workers have cores of their own",
    ]
    assert json.loads(json.dumps(case.to_dict())) == recording.what_if(workers=4).to_dict()


def test_odd_questions_are_answered_with_what_is_expected() -> None:
    recording = busy(8, 2, 1.0)
    with pytest.raises(OptionError, match="workers must be a positive whole number, got 0"):
        recording.what_if(workers=0)
    with pytest.raises(OptionError, match="speed of 'x' must be a positive number, got -1"):
        recording.what_if(speed={"x": -1})
    with pytest.raises(UnknownNameError, match="unknown prefix 'y'"):
        recording.what_if(without="y")
