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

from taskscope.analysis.calls.profile import CallNode
from taskscope.errors import OptionError
from taskscope.model.recording import RecordedData
from taskscope.options import Options, ProfileOptions
from taskscope.record import Recorder
from taskscope.recording import Recording
from taskscope.session import Session
from taskscope.sources.frames import has_interpreter_lock, task_stack, thread_cpu_s
from taskscope.sources.local.timing import TimedTask
from taskscope.sources.stacks import StackSampler
from tests.support.computes.local_computes import watching
from tests.support.waiting import PATIENCE_S, until


def names(stack: list[tuple[CodeType, int]] | None) -> list[str] | None:
    return None if stack is None else [code.co_name for code, _ in stack]


def own_stack() -> list[str] | None:
    return names(task_stack(sys._getframe(1), TimedTask.__call__.__code__))


def stack_seen_by(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return what a task sees of its own stack."""
    with watching():
        return delayed(function, name="look")(*args).compute(scheduler="synchronous", **options)


def test_a_stack_begins_with_the_function_of_the_task() -> None:
    def inner() -> list[str] | None:
        return own_stack()

    def task() -> list[str] | None:
        return inner()

    assert stack_seen_by(task) == ["inner", "task"]


def test_calls_by_dask_between_the_task_and_its_function_are_left_out() -> None:
    class Looks:
        def look(self) -> list[str] | None:
            return own_stack()

    def by_keyword(*, unused: int) -> list[str] | None:
        return own_stack()

    assert stack_seen_by(methodcaller("look"), Looks()) == ["look"]
    assert stack_seen_by(apply, by_keyword, [], {"unused": 1}) == ["by_keyword"]


def test_a_function_of_dask_that_the_task_itself_calls_is_kept() -> None:
    seen = []

    def task() -> None:
        apply(lambda: seen.append(own_stack()), [])

    stack_seen_by(task)
    assert seen == [["<lambda>", "apply", "task"]]


def test_of_a_nested_compute_the_stack_is_that_of_the_inner_task() -> None:
    def outer() -> object:
        return delayed(own_stack)().compute(scheduler="synchronous")

    assert stack_seen_by(outer) == []


def test_a_thread_that_runs_no_task_has_no_stack() -> None:
    assert own_stack() is None
    assert task_stack(None, TimedTask.__call__.__code__) is None


class Sized:
    """Tells what its stack looks like while it is being measured."""

    seen: list[list[str] | None]

    def __init__(self) -> None:
        self.seen = []

    def __sizeof__(self) -> int:
        self.seen.append(own_stack())
        return 8


def test_the_time_we_take_to_measure_a_result_is_not_the_tasks() -> None:
    result = stack_seen_by(Sized)
    assert result.seen
    assert set(map(str, result.seen)) == {"None"}


# ------------------------------------------------------------------------------------------ the sampler


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session()
    yield session
    session.release(session)


class Watched:
    """Tasks that run until they were sampled often enough, so that no test depends on a clock."""

    def __init__(self, session: Session) -> None:
        self.recorder = session.recorder

    def n_samples(self) -> int:
        return int(self.recorder.stacks.between(0, None).rows.count.sum())

    def until(self, n: int) -> None:
        until(lambda: self.n_samples() >= n)


def tree(node: CallNode) -> dict[str, Any]:
    return {child.name.rpartition(".")[2]: tree(child) for child in node.children}


def profile_of(session: Session) -> dict[str, Any]:
    return tree(Recording.of(session.recorder.snapshot()).profile().root)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_task_that_lasts_is_seen_where_it_is(session: Session, scheduler: str) -> None:
    session.hold(session, Options(stacks=True, profile_interval=0.001))
    watched = Watched(session)

    def task() -> None:
        watched.until(3)

    delayed(task)().compute(scheduler=scheduler)
    found = Recording.of(session.recorder.snapshot())
    profile = found.profile()
    assert profile.n_samples >= 3
    assert profile.root.seconds > 0
    assert [child.name for child in profile.root.children] == ["task"]
    assert list(tree(profile.root.children[0])) == ["task"]
    assert "until" in tree(profile.root.children[0].children[0])
    assert found.stacks.workers == (str(os.getpid()),)
    assert (found.stacks.interval_s, found.stacks.cycle_s) == (0.001, 1.0)
    assert profile.note is None


def test_samples_of_tasks_at_a_time_are_kept_apart_by_prefix(session: Session) -> None:
    session.hold(session, Options(stacks=True, profile_interval=0.001))
    watched, barrier = Watched(session), threading.Barrier(2)

    def wait_as(name: str) -> object:
        def task() -> None:
            barrier.wait(PATIENCE_S)
            watched.until(10)
            barrier.wait(PATIENCE_S)

        return delayed(task)(dask_key_name=f"{name}-1")

    dask.compute(wait_as("left"), wait_as("right"), scheduler="threads", num_workers=2)
    assert sorted(profile_of(session)) == ["left", "right"]


def test_nothing_is_sampled_unless_someone_wants_it(session: Session) -> None:
    session.hold(session, Options())
    ticked = threading.Event()
    session.pump.subscribe(lambda _: ticked.set())
    delayed(ticked.wait)(PATIENCE_S).compute(scheduler="synchronous")
    profile = Recording.of(session.recorder.snapshot()).profile()
    assert ticked.is_set()
    assert (profile.n_samples, profile.interval_s) == (0, None)
    assert profile.note == "nothing was sampled: profile with stacks=True"


def test_a_compute_that_is_over_at_once_says_why_there_are_no_samples(session: Session) -> None:
    session.hold(session, Options(stacks=True))
    delayed(int)("7").compute(scheduler="synchronous")
    note = Recording.of(session.recorder.snapshot()).profile().note
    assert (
        note
        == "no sample was taken: sampling begins 0.1 s after the first compute unless lines are asked for"
    )


def test_where_lines_are_asked_for_no_compute_waits_for_the_first_sample(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing but the compute's own beginning can start the sampler.
    monkeypatch.setattr(session.stacks, "tick", lambda: None)
    watched = Watched(session)
    for n in (3, 6, 9):
        session.hold(session, ProfileOptions(lines=True, profile_interval=0.001))
        delayed(watched.until)(n).compute(scheduler="threads")
    assert watched.n_samples() >= 9
    session.hold(session, ProfileOptions())
    assert session.stacks.is_at_once is False


def test_a_sampler_that_could_not_be_started_harms_nobody_and_is_tried_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    session.hold(session, ProfileOptions(lines=True, profile_interval=0.001))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            session.stacks.compute_started("compute")
    assert session.stacks._thread is None
    session.stacks.stop()
    delayed(Watched(session).until)(3).compute(scheduler="synchronous")


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_lines_have_the_shares_of_time_that_they_took(session: Session, scheduler: str) -> None:
    session.hold(session, Options(stacks=True, profile_interval=0.002))
    watched = Watched(session)
    took: dict[str, float] = {"long": 0.0, "short": 0.0}

    def task() -> None:
        # The first sample stands for what was before it.
        watched.until(2)
        # Long beside the tens of milliseconds by which a busy machine may delay the sample at a border.
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
    found = Recording.of(session.recorder.snapshot()).lines(function=rest)
    by_line = {line.number - rest.__code__.co_firstlineno: line for line in found.functions[0].lines}
    share = by_line[2].seconds / (by_line[2].seconds + by_line[4].seconds)
    assert share == pytest.approx(took["long"] / sum(took.values()), abs=0.06)
    assert found.functions[0].seconds == pytest.approx(sum(took.values()), rel=0.1)
    assert all(line.cpu_share < 0.3 or not sys.platform.startswith("linux") for line in by_line.values())


def test_a_line_that_computes_is_told_from_one_that_waits(session: Session) -> None:
    session.hold(session, Options(stacks=True, profile_interval=0.002))
    watched = Watched(session)

    def task() -> None:
        watched.until(2)
        n, start_s = watched.n_samples(), time.thread_time()
        while time.thread_time() - start_s < 0.1 or watched.n_samples() < n + 5:
            pass

    delayed(task)().compute(scheduler="synchronous")
    (of_task,) = Recording.of(session.recorder.snapshot()).lines(function=task).functions
    loop = task.__code__.co_firstlineno + 3
    (computes,) = [line for line in of_task.lines if line.number == loop]
    # Others have the processor for some of the time.
    assert (0.05 < computes.cpu_share <= 1.0) == sys.platform.startswith("linux")


def test_the_cpu_time_of_a_thread_that_has_ended_is_unknown() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    number = thread.ident
    thread.join()
    assert number is not None
    assert thread_cpu_s(number) is None
    assert (thread_cpu_s(threading.get_ident()) is not None) == sys.platform.startswith("linux")


def test_the_shortest_interval_that_anyone_asked_for_holds(session: Session) -> None:
    session.hold(session, Options(stacks=True, profile_interval=0.05))
    session.hold("other", Options(stacks=True, profile_interval=0.002))
    session.hold("third", Options(profile_interval=0.001))
    found = [session.stacks.interval_s]
    session.release("other")
    found.append(session.stacks.interval_s)
    session.hold(session, Options())
    found.append(session.stacks.interval_s)
    assert found == [0.002, 0.05, None]
    session.release("third")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stacks": "yes"}, "stacks must be True or False, got 'yes'"),
        ({"profile_interval": 0}, "profile_interval must be a positive number of seconds, got 0"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{message.replace('(', '[(]').replace(')', '[)]')}$"):
        Options(**options)


def test_a_fault_while_sampling_is_told_and_the_compute_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("taskscope.sources.stacks.task_stack", fail)
    session = Session()
    session.hold(session, Options(stacks=True, profile_interval=0.001))
    told = threading.Event()

    def tell(where: str, error: BaseException) -> None:
        Recorder.fault(session.recorder, where, error)
        told.set()

    monkeypatch.setattr(session.recorder, "fault", tell)
    try:
        assert delayed(told.wait)(PATIENCE_S).compute(scheduler="threads")
        texts = [m.text for m in session.recorder.messages]
        assert texts == [
            "taskscope failed in sampling call stacks: ValueError: broken; the computation was not affected"
        ]
    finally:
        session.release(session)


def test_what_a_task_holds_is_not_kept_alive_by_samples(session: Session) -> None:
    session.hold(session, Options(stacks=True, profile_interval=0.001))
    watched, let_go = Watched(session), threading.Event()

    class Big:
        def __del__(self) -> None:
            let_go.set()

    def task() -> None:
        big = Big()
        watched.until(3)
        del big
        assert let_go.is_set()

    delayed(task)().compute(scheduler="synchronous")
    assert isinstance(session.recorder.snapshot(), RecordedData)


def test_a_sampler_whose_computes_are_over_for_a_second_ends(fake_clock: Any) -> None:
    recorder = Recorder(clock=fake_clock)
    sampler = StackSampler(recorder, list)
    sampler.interval_s = 0.001
    sampler.compute_started("compute")
    sampler.tick()
    thread = sampler._thread
    assert thread is not None
    fake_clock.advance(0.5)
    sampler.compute_stopped("compute")
    fake_clock.advance(2.0)
    thread.join(PATIENCE_S)
    assert (thread.is_alive(), sampler._thread) == (False, None)


def test_the_first_sample_in_a_task_stands_for_what_the_lock_hid_before_it(session: Session) -> None:
    session.hold(session, Options())
    sample = session.stacks._sample

    def task(late_s: float) -> None:
        now = session.recorder.clock.perf_counter()
        sample(now + 1.0, 0.01, late_s)
        sample(now + 1.02, 0.02, late_s)

    def spent(late_s: float) -> float:
        before = float(session.recorder.stacks.between(0, None).rows.seconds.sum())
        delayed(task)(late_s).compute(scheduler="synchronous")
        rows = session.recorder.stacks.between(0, None).rows
        return round(float(rows.seconds.sum()) - before, 9)

    assert [spent(0.0), spent(0.0004), spent(-0.001)] == [0.03, 0.0304, 0.03]
    # A sampler that is very late was not kept by one task: threads switch after 0.5 ms here.
    assert spent(5.0) == 0.031


def test_the_first_look_stands_for_what_tasks_did_before_it_one_second_at_most(session: Session) -> None:
    session.hold(session, Options())
    sample = session.stacks._sample

    def spent(lasts_s: float) -> float:
        def task() -> None:
            (began,) = (lane.open[1] for _, lane in session.stacks._open_lanes() if lane.open is not None)
            sample(began + lasts_s, 0.015, None)

        before = float(session.recorder.stacks.between(0, None).rows.seconds.sum())
        delayed(task)().compute(scheduler="synchronous")
        rows = session.recorder.stacks.between(0, None).rows
        return round(float(rows.seconds.sum()) - before, 9)

    assert [spent(lasts_s) for lasts_s in (0.0, 0.5, 3.0)] == [0.015, 0.5, 1.0]


def test_every_block_is_sampled_while_another_one_holds_the_session(session: Session) -> None:
    session.hold("the extension")
    watched, sampled = Watched(session), []
    for block in range(3):
        before = watched.n_samples()
        session.hold(session, Options(stacks=True, profile_interval=0.001))
        delayed(watched.until)(before + 3).compute(scheduler="threads")
        session.release(session)
        thread = session.stacks._thread
        # Whether it has noticed by now that nobody wants samples or not.
        if block == 0 and thread is not None:
            thread.join(PATIENCE_S)
        sampled.append(watched.n_samples() - before >= 3)
    session.release("the extension")
    assert sampled == [True, True, True]


@pytest.mark.parametrize(("n_tasks", "sooner"), [(1, True), (2, False)])
def test_threads_switch_sooner_only_while_one_task_runs_at_a_time(
    session: Session, n_tasks: int, *, sooner: bool
) -> None:
    session.hold(session, Options(stacks=True, profile_interval=0.001))
    watched, begun, seen = Watched(session), threading.Barrier(n_tasks), []
    before_s = sys.getswitchinterval()

    def task(_: int) -> None:
        begun.wait(PATIENCE_S)
        watched.until(watched.n_samples() + 3 * n_tasks)
        seen.append(sys.getswitchinterval() < before_s)
        begun.wait(PATIENCE_S)

    dask.compute(*[delayed(task)(n) for n in range(n_tasks)], scheduler="threads", num_workers=n_tasks)
    session.release(session)
    assert (seen, sys.getswitchinterval()) == ([sooner] * n_tasks, before_s)


def test_a_fault_ends_no_sampling_but_its_own(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = threading.Event()

    def fail_once(frame: FrameType | None, task: CodeType) -> list[tuple[CodeType, int]] | None:
        if not failed.is_set():
            failed.set()
            raise ValueError("broken")
        return task_stack(frame, task)

    monkeypatch.setattr("taskscope.sources.stacks.task_stack", fail_once)
    session.hold(session, Options(stacks=True, profile_interval=0.001))
    delayed(Watched(session).until)(3).compute(scheduler="threads")
    assert failed.is_set()
    assert [m.text for m in session.recorder.messages] == [
        "taskscope failed in sampling call stacks: ValueError: broken; the computation was not affected"
    ]


def test_without_the_global_lock_nothing_is_sampled_and_the_recording_says_so(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    session.hold(session, Options(stacks=True, profile_interval=0.001))
    ticked = threading.Semaphore(0)
    session.pump.subscribe(lambda _: ticked.release())

    def task() -> None:
        for _ in range(3):
            assert ticked.acquire(timeout=PATIENCE_S)

    delayed(task)().compute(scheduler="threads")
    found = Recording.of(session.recorder.snapshot())
    said = (
        "call stacks are not sampled: this Python runs threads without its global lock (GIL), and looking at "
        "the stack of a thread that runs may crash it then"
    )
    assert session.stacks._thread is None
    assert (found.profile().n_samples, found.profile().note) == (0, said)
    assert [(m.level, m.text) for m in found.messages] == [("warning", said)]


def test_sampling_needs_the_global_lock_where_there_can_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert has_interpreter_lock()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False)
    assert not has_interpreter_lock()
    monkeypatch.delattr(sys, "_is_gil_enabled")
    assert has_interpreter_lock()
