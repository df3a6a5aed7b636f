from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import dask
import pytest
from dask import delayed
from dask.utils import apply, methodcaller

import taskscope
from taskscope.analysis.calls import CallNode
from taskscope.record import pump
from taskscope.sources.local.calls import task_stack
from taskscope.sources.local.timing import TimedTask
from taskscope.sources.stacks import (
    Running,
    Sample,
    SamplingThread,
    TaskStacks,
    Wake,
    calls_from,
    stands_for_s,
)
from tests.support.computes.local_computes import messages, watching
from tests.support.waiting import PATIENCE_S, until


def names(stack: list[tuple[CodeType, int]] | None) -> list[str] | None:
    return None if stack is None else [code.co_name for code, _ in stack]


def own_stack() -> list[str] | None:
    return names(task_stack(sys._getframe(1), TimedTask.__call__.__code__))


def stack_seen_by(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return what a task sees of its own stack."""
    with watching():
        return delayed(function, name="look")(*args).compute(scheduler="synchronous", **options)


def test_calls_by_dask_between_the_task_and_its_function_are_left_out() -> None:
    class Looks:
        def look(self) -> list[str] | None:
            return own_stack()

    def by_keyword(*, unused: int) -> list[str] | None:
        return own_stack()

    assert stack_seen_by(methodcaller("look"), Looks()) == ["look"]
    assert stack_seen_by(apply, by_keyword, [], {"unused": 1}) == ["by_keyword"]


# ------------------------------------------------------------------------------------------ the sampler


@pytest.fixture
def run() -> Iterator[taskscope.profile]:
    """Return a block whose tasks are sampled often."""
    with watching(profile_interval=0.001) as run:
        yield run


class Watched:
    """Tasks that run until they were sampled often enough, so that no test depends on a clock."""

    def __init__(self, run: taskscope.profile) -> None:
        self.run = run

    def n_samples(self) -> int:
        return self.run.recording.profile().n_samples

    def until(self, n: int) -> None:
        until(lambda: self.n_samples() >= n)


def tree(node: CallNode) -> dict[str, Any]:
    return {child.name.rpartition(".")[2]: tree(child) for child in node.children}


def profile_of(run: taskscope.profile) -> dict[str, Any]:
    return tree(run.recording.profile().root)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_task_that_lasts_is_seen_where_it_is(run: taskscope.profile, scheduler: str) -> None:
    watched = Watched(run)

    def task() -> None:
        watched.until(3)

    delayed(task)().compute(scheduler=scheduler)
    found = run.recording
    profile = found.profile()
    assert profile.n_samples >= 3
    assert profile.root.seconds > 0
    assert [child.name for child in profile.root.children] == ["task"]
    assert list(tree(profile.root.children[0])) == ["task"]
    assert "until" in tree(profile.root.children[0].children[0])
    assert found.stacks.workers == (str(os.getpid()),)
    assert (found.stacks.interval_s, found.stacks.cycle_s) == (0.001, 1.0)
    assert profile.note is None


def test_samples_of_tasks_at_a_time_are_kept_apart_by_prefix(run: taskscope.profile) -> None:
    watched, barrier = Watched(run), threading.Barrier(2)

    def wait_as(name: str) -> object:
        def task() -> None:
            barrier.wait(PATIENCE_S)
            watched.until(10)
            barrier.wait(PATIENCE_S)

        return delayed(task)(dask_key_name=f"{name}-1")

    dask.compute(wait_as("left"), wait_as("right"), scheduler="threads", num_workers=2)
    assert sorted(profile_of(run)) == ["left", "right"]


def test_nothing_is_sampled_unless_someone_wants_it() -> None:
    with watching(stacks=False) as run:
        # Sampling begins after a tenth of a second.
        delayed(time.sleep)(0.3).compute(scheduler="synchronous")
    profile = run.recording.profile()
    assert (profile.n_samples, profile.interval_s) == (0, None)
    assert profile.note == "nothing was sampled: profile with stacks=True"


def test_a_compute_that_is_over_at_once_says_why_there_are_no_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pump, "TICK_S", 3600.0)  # shorter than a beat, however busy the machine
    with watching(profile_interval=0.001) as run:
        delayed(int)("7").compute(scheduler="synchronous")
    note = run.recording.profile().note
    assert (
        note
        == "no sample was taken: without the option `lines`, sampling begins 0.1 s after the first compute"
    )


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_line_that_takes_longer_has_more_of_the_function_s_seconds(
    run: taskscope.profile, scheduler: str
) -> None:
    watched = Watched(run)
    took: dict[str, float] = {"long": 0.0, "short": 0.0}

    def task() -> None:
        # The first sample stands for what was before it.
        watched.until(2)
        for name, pause_s in (("long", 0.9), ("short", 0.3)):
            start_s = time.perf_counter()
            rest(name, pause_s)
            took[name] += time.perf_counter() - start_s

    def rest(name: str, pause_s: float) -> None:
        if name == "long":
            time.sleep(pause_s)
        else:
            time.sleep(pause_s)

    delayed(task)().compute(scheduler=scheduler)
    found = run.recording.lines(function=rest)
    by_line = {line.number - rest.__code__.co_firstlineno: line for line in found.functions[0].lines}
    # How exact that is `python -m benchmarks stacks` measures: a busy machine delays the sample at a border.
    assert by_line[2].seconds > by_line[4].seconds > 0.0
    assert found.functions[0].seconds == pytest.approx(sum(took.values()), rel=0.5)
    assert all(line.cpu_share < 0.3 or not sys.platform.startswith("linux") for line in by_line.values())


def test_a_line_that_computes_is_told_from_one_that_waits(run: taskscope.profile) -> None:
    watched = Watched(run)

    def task() -> None:
        watched.until(2)
        n, start_s = watched.n_samples(), time.thread_time()
        while time.thread_time() - start_s < 0.1 or watched.n_samples() < n + 5:
            pass

    delayed(task)().compute(scheduler="synchronous")
    (of_task,) = run.recording.lines(function=task).functions
    loop = task.__code__.co_firstlineno + 3
    (computes,) = [line for line in of_task.lines if line.number == loop]
    # Others have the processor for some of the time.
    assert (0.05 < computes.cpu_share <= 1.0) == sys.platform.startswith("linux")


def test_the_shortest_interval_that_a_block_asked_for_holds() -> None:
    def interval_s(block: taskscope.profile) -> float | None:
        delayed(Watched(block).until)(1).compute(scheduler="synchronous")
        return block.recording.profile().interval_s

    with watching(profile_interval=0.05) as outer:
        found = [interval_s(outer)]
        with watching(profile_interval=0.002) as inner, watching(stacks=False, profile_interval=0.001):
            found.append(interval_s(inner))
    assert found == [0.05, 0.002]


def test_what_a_task_holds_is_not_kept_alive_by_samples(run: taskscope.profile) -> None:
    watched, let_go = Watched(run), threading.Event()

    class Big:
        def __del__(self) -> None:
            let_go.set()

    def task() -> None:
        big = Big()
        watched.until(3)
        del big
        assert let_go.is_set()

    delayed(task)().compute(scheduler="synchronous")


def test_a_fault_ends_no_sampling_but_its_own(
    run: taskscope.profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = threading.Event()

    def fail_once(frame: FrameType | None, task: CodeType) -> list[tuple[CodeType, int]] | None:
        if not failed.is_set():
            failed.set()
            raise ValueError("broken")
        return task_stack(frame, task)

    monkeypatch.setattr("taskscope.sources.sampler.task_stack", fail_once)
    delayed(Watched(run).until)(3).compute(scheduler="threads")
    assert failed.is_set()
    assert messages(run) == [
        "taskscope failed in the sampler: ValueError: broken; the computation was not affected"
    ]


def test_without_the_global_lock_nothing_is_sampled_and_the_recording_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    with watching(profile_interval=0.001) as run:
        delayed(lambda: until(lambda: messages(run) != []))().compute(scheduler="threads")
    found = run.recording
    said = (
        "call stacks are not sampled: this Python runs threads without its global lock (GIL), and looking at "
        "the stack of a thread that runs may crash it then"
    )
    assert (found.profile().n_samples, found.profile().note) == (0, said)
    ((level, text),) = [(m.level, m.text.partition(" (2 ")[0]) for m in found.messages]
    assert (level, text) == ("warning", said)


# ------------------------------------------------------------------------------- what a sample counts for


@pytest.mark.parametrize("releases_lock_at_end", [True, False])
def test_shares_of_short_tasks_are_true_though_samples_come_late(*, releases_lock_at_end: bool) -> None:
    length_s, first_s, late_s, pause_s = 0.002, 0.0007, 0.0003, 0.01
    seconds = {"first": 0.0, "second": 0.0}
    for n in range(2000):
        seen_s = n / 2000 * length_s + late_s
        if seen_s >= length_s:
            if releases_lock_at_end:
                continue
            seen_s -= length_s
        place = "first" if seen_s < first_s else "second"
        seconds[place] += stands_for_s(Wake(1.0, pause_s + late_s, late_s, True), 1.0 - seen_s)
    assert seconds["first"] / sum(seconds.values()) == pytest.approx(first_s / length_s, abs=0.01)


def test_the_first_sample_of_all_counts_for_the_task_s_time_before_it() -> None:
    first = Wake(10.0, 0.2, None, None)
    assert [stands_for_s(first, began) for began in (9.9, 9.5, 2.0)] == [0.2, pytest.approx(0.5), 1.0]


def test_where_tasks_take_turns_one_look_counts_for_waiting_and_one_for_the_turn() -> None:
    place = calls_from(sys._getframe())[:1]
    code = place[0][0]
    stacks = TaskStacks(
        lambda: {-n: Running(1.0, f"task {n}") for n in range(4)}, lambda _frame: [(code, next(looks))]
    )
    before_s, looks = sys.getswitchinterval(), iter(range(100))
    stacks.switch(is_on=True)
    found = stacks.look(Wake(2.0, 0.04, 0.01, True))
    assert sorted(found, key=lambda sample: sample.stack[0][1]) == [
        Sample(f"task {n % 4}", [(code, n)], 0.03 if n < 4 else 0.01, None) for n in range(8)
    ]
    assert sys.getswitchinterval() == before_s


def test_a_task_that_begins_while_the_thread_is_leaving_is_sampled() -> None:
    looks, begun = threading.Semaphore(0), threading.Event()

    def look(_: Wake) -> float:
        looks.release()
        return 0.001

    def is_wanted() -> bool:
        # A task begins right after its thread was not yet seen.
        if not begun.is_set():
            begun.set()
            thread.begin(0.001)
        return False

    thread = SamplingThread("taskscope-leaving", look, is_wanted, lambda _error: None, -1.0)
    thread.begin(0.001)
    assert looks.acquire(timeout=PATIENCE_S)
    assert looks.acquire(timeout=PATIENCE_S)
    thread.stop()
