from __future__ import annotations

import os
import platform
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.metadata import version
from typing import Any

import dask
import dask.local
import numpy as np
import psutil
import pytest

from taskscope import session as session_module
from taskscope.options import Options
from taskscope.record.pump import Tick
from taskscope.session import Session, current
from taskscope.sources.local.adapter import registration
from tests.support.child_process import in_forked_child
from tests.support.computes.local_computes import run_facts, statuses
from tests.support.waiting import PATIENCE_S

original = dask.local.local_callbacks


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session()
    yield session
    for owner, _ in list(session._holders.values()):
        session.release(owner)


def compute(key: str) -> None:
    dask.get({key: (int, "7")}, key)


@contextmanager
def held_by_another_thread(locks: Iterable[AbstractContextManager[Any]]) -> Iterator[None]:
    """Have another thread hold these locks, as the pump's may at the moment of a fork."""
    holding, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)
            holding.set()
            let_go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait()
    try:
        yield
    finally:
        let_go.set()
        thread.join()


def own_threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("taskscope")]


def test_dask_is_watched_from_the_first_hold_to_the_last_release(session: Session) -> None:
    compute("before")
    session.hold("a")
    session.hold("b")
    assert session.held
    session.release("a")
    compute("held")
    assert statuses(session.recorder) == {"held": "finished"}
    session.release("b")
    compute("released")
    assert (session.held, dask.local.local_callbacks) == (False, original)
    assert statuses(session.recorder) == {}


def test_who_asked_hears_of_each_end_on_the_thread_that_computed_and_harms_nobody(session: Session) -> None:
    heard: list[tuple[int, bool]] = []

    def hear() -> None:
        heard.append((threading.get_ident(), session.recorder.is_computing()))
        raise ValueError("no")

    session.hold("a")
    forget = session.at_compute_end(hear)
    compute("first")
    forget()
    compute("second")
    assert heard == [(threading.get_ident(), False)]
    assert statuses(session.recorder) == {"first": "finished", "second": "finished"}
    assert [m.text for m in session.recorder.messages] == [
        (
            "taskscope failed in what is called at the end of a compute: ValueError: no; "
            "the computation was not affected"
        )
    ]


def test_holding_twice_is_holding_once(session: Session) -> None:
    session.hold("a")
    session.hold("a", Options(dt=0.1))
    compute("x")
    assert statuses(session.recorder) == {"x": "finished"}
    session.release("a")
    assert not session.held


def test_releasing_what_was_not_held_does_nothing(session: Session) -> None:
    session.hold("a")
    session.release("b")
    assert session.held
    compute("x")
    assert statuses(session.recorder) == {"x": "finished"}


def test_owners_are_told_apart_by_identity_even_if_equal(session: Session) -> None:
    first, second = np.zeros(3), np.zeros(3)
    session.hold(first)
    session.hold(second)
    session.release(first)
    assert session.held
    session.release(second)
    assert not session.held


def test_the_shortest_interval_the_largest_bound_and_the_latest_metric_win(session: Session) -> None:
    def rows(_result: object) -> float:
        return 1.0

    def effective() -> tuple[float, int, str]:
        return session.sampler.dt, session.recorder.max_tasks, session.metric_name

    session.hold("a", Options(dt=0.5, max_tasks=10, metric="count"))
    assert effective() == (0.5, 10, "count")
    session.hold("b", Options(dt=0.1, max_tasks=5, metric=rows))
    assert effective() == (0.1, 10, "rows")
    session.hold("c", Options(dt=2.0, max_tasks=20))
    assert effective() == (0.1, 20, "nbytes")
    session.release("c")
    assert effective() == (0.1, 10, "rows")
    session.release("b")
    assert effective() == (0.5, 10, "count")


def test_changed_options_are_the_latest(session: Session) -> None:
    session.hold("a", Options(metric="count"))
    session.hold("b")
    session.hold("a", Options(metric="count"))
    assert session.metric_name == "count"


def test_a_metric_of_a_holder_measures_the_results(session: Session) -> None:
    def tenfold(result: object) -> float:
        return 10.0 * float(str(result))

    session.hold("a", Options(metric=tenfold))
    compute("x")
    assert session.recorder.snapshot().to_pandas("cache")["metric"].tolist() == [70.0]


def test_a_compute_has_a_first_and_a_last_sample(session: Session) -> None:
    session.hold("a")
    compute("x")
    times = session.recorder.snapshot().to_pandas("resources")["time_s"].tolist()
    ((start_s, stop_s),) = run_facts(session.recorder, "start_s", "stop_s")
    assert len(times) == 2
    assert isinstance(start_s, float)
    assert isinstance(stop_s, float)
    assert start_s <= times[0] <= times[1]
    assert stop_s <= times[1]


def test_metadata_say_what_where_and_how_it_was_recorded(session: Session) -> None:
    session.hold("a", Options(dt=0.5, metric="count", max_tasks=7))
    facts = session.metadata()
    limit = facts.pop("memory_limit_bytes")
    limits = facts.pop("thread_limits")
    assert isinstance(limits, dict)
    assert limits.items() <= os.environ.items()
    assert isinstance(limit, int)
    assert 0 < limit <= psutil.virtual_memory().total
    assert facts == {
        "taskscope": version("taskscope"),
        "dask": version("dask"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "platform": sys.platform,
        "host": platform.node(),
        "pid": os.getpid(),
        "n_cores": dask.system.CPU_COUNT,
        "metric": "count",
        "dt_s": 0.5,
        "max_tasks": 7,
        # Another test may have imported it.
        **({"distributed": version("distributed")} if "distributed" in sys.modules else {}),
    }


def test_the_pump_tells_of_a_compute_and_its_thread_ends_with_the_last_release(session: Session) -> None:
    told = threading.Event()

    def subscriber(_tick: Tick) -> None:
        told.set()

    session.pump.subscribe(subscriber)
    session.hold("a")
    compute("x")
    assert told.wait(PATIENCE_S)
    assert own_threads() == ["taskscope-pump"]
    session.release("a")
    assert own_threads() == []
    session.hold("a")
    told.clear()
    compute("y")
    assert told.wait(PATIENCE_S)


def test_a_compute_that_outlives_the_last_release_leaves_no_thread_and_no_rows(session: Session) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        go_on.wait()

    session.hold("a")
    computing = threading.Thread(target=lambda: dask.get({"slow": (slow,)}, "slow"))
    computing.start()
    begun.wait()
    session.release("a")
    go_on.set()
    computing.join()
    assert own_threads() == []
    session.hold("b")
    compute("x")
    assert statuses(session.recorder) == {"x": "finished"}


def test_there_is_one_session_per_process_made_when_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_current", session_module._Current(Session))
    found: list[Session] = []
    together = threading.Barrier(4)

    def ask() -> None:
        together.wait()
        found.append(current())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {id(session) for session in found} == {id(current())}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
class TestFork:
    def test_a_child_starts_with_a_fresh_session_and_the_parent_is_unaffected(self, session: Session) -> None:
        session.hold("a")
        compute("parent before")

        def child() -> tuple[bool, dict[str, str], dict[str, str], set[str]]:
            compute("nobody watches")
            held, before = session.held, statuses(session.recorder)
            session.hold("b")
            compute("child")
            workers = {lane.worker for lane in session.recorder.lanes}
            return held, before, statuses(session.recorder), workers - {str(os.getpid())}

        locks: list[Any] = [
            session.recorder._lock,
            session.pump._lock,
            session.sampler._lock,
            registration._lock,
        ]
        with held_by_another_thread(locks):
            assert in_forked_child(child) == (False, {}, {"child": "finished"}, set())
        compute("parent after")
        assert statuses(session.recorder) == {"parent before": "finished", "parent after": "finished"}

    def test_a_task_may_fork_and_its_child_may_compute(self, session: Session) -> None:
        session.hold("a")

        def forks() -> int:
            answer: int = in_forked_child(lambda: dask.get({"inner": (int, "7")}, "inner"))
            return answer

        assert dask.get({"outer": (forks,)}, "outer") == 7
        assert statuses(session.recorder) == {"outer": "finished"}

    def test_a_child_can_release_what_its_parent_held(self, session: Session) -> None:
        session.hold("a")
        compute("x")

        def child() -> bool:
            session.release("a")
            return dask.local.local_callbacks is original

        locks: list[Any] = [session._lock, registration._lock]
        with held_by_another_thread(locks):
            assert in_forked_child(child)
        assert session.held


def test_who_holds_while_the_last_holder_leaves_misses_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = object(), object()

    def hold_and_compute() -> None:
        session.hold(second)
        compute("theirs")

    other = threading.Thread(target=hold_and_compute)
    detach = session.cluster.detach

    def detach_while_somebody_comes() -> None:
        other.start()
        # Whoever comes now waits, and has to be waited for after this; who does not wait is in between.
        other.join(0.2)
        detach()

    session.hold(first)
    compute("mine")
    with monkeypatch.context() as patch:
        patch.setattr(session.cluster, "detach", detach_while_somebody_comes)
        session.release(first)
    other.join()
    assert (session.held, session.cluster._attached) == (True, True)
    assert statuses(session.recorder) == {"theirs": "finished"}
    session.release(second)
    assert (session.held, session.cluster._attached) == (False, False)


def test_what_holders_want_is_asked_on_other_threads_while_they_come_and_go(session: Session) -> None:
    owners = [object() for _ in range(50)]
    ending = threading.Event()
    faults: list[BaseException] = []

    def ask() -> None:
        while not ending.is_set():
            try:
                assert session.metric_name == "nbytes"
            except BaseException as error:  # noqa: BLE001 - reported by the test
                faults.append(error)
                return

    pause = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=ask)
    thread.start()
    try:
        for _ in range(40):
            for owner in owners:
                session.hold(owner)
            for owner in owners:
                session.release(owner)
    finally:
        ending.set()
        thread.join()
        sys.setswitchinterval(pause)
    assert faults == []
