"""What travels between processes, without any: both ends in this one."""

from __future__ import annotations

import os
import pickle
from typing import Any

import pytest
from dask._task_spec import Task

from taskscope.recorder import Recorder, RunLog
from taskscope.sources import shipped
from taskscope.sources.timing import TimedTask


@pytest.fixture
def log() -> RunLog:
    return Recorder().begin()


def shipped_task(log: RunLog, key: str = "x") -> Any:
    """Return a task as the process that runs it sees it."""
    return pickle.loads(pickle.dumps(TimedTask(key, Task(key, int, "7"), log)))


def row(log: RunLog, *, offset_s: float, key: str = "x") -> tuple[Any, ...]:
    """Return what a worker whose wall clock leads by `offset_s` would send."""
    _, (_, _, address) = shipped.ship(None, key, log)
    return (address, shipped.wall_offset() + offset_s, key, 4242, 7, 10.0, 11.0, 0.5, 8.0)


def test_a_task_is_in_flight_from_when_it_is_sent(log: RunLog) -> None:
    before = log.perf_counter()
    shipped_task(log)
    assert list(log.submitted) == ["x"]
    assert before <= log.submitted["x"] <= log.perf_counter()


def test_a_task_run_in_another_process_answers_with_its_times(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = shipped_task(log)
    own = os.getpid()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(shipped.os, "getpid", lambda: 4242)  # type: ignore[attr-defined]  # it imports os
        before = log.perf_counter()
        answer = pickle.dumps(task({}))
        after = log.perf_counter()
    assert os.getpid() == own
    assert pickle.loads(answer) == 7
    key, pid, _thread, start, stop, _cpu, size = log.remote
    assert (key, pid, size) == ("x", 4242, 28.0)
    assert isinstance(start, float)
    assert isinstance(stop, float)
    assert before <= start <= stop <= after
    assert log.submitted == {}
    # The same answer read twice is one task.
    assert pickle.loads(answer) == 7
    assert len(log.remote) == RunLog.REMOTE_WIDTH


def test_a_task_that_was_pickled_but_runs_here_gives_its_bare_result(log: RunLog) -> None:
    assert shipped_task(log)({}) == 7
    assert log.remote == []


@pytest.mark.parametrize(("offset_s", "shift_s"), [(0.0, 0.0), (0.9, 0.0), (-0.9, 0.0), (1_000.0, 1_000.0)])
def test_times_of_another_machine_are_shifted_to_this_one_s_axis(
    log: RunLog, offset_s: float, shift_s: float
) -> None:
    log.submitted["x"] = 0.0
    assert shipped.land("result", row(log, offset_s=offset_s)) == "result"
    assert log.remote == [
        "x",
        4242,
        7,
        *(pytest.approx(t + shift_s, abs=0.1) for t in (10.0, 11.0)),
        0.5,
        8.0,
    ]
    if not shift_s:
        assert log.remote[3:5] == [10.0, 11.0]


def test_an_answer_for_a_run_that_is_gone_is_the_bare_result() -> None:
    log = Recorder().begin()
    late = row(log, offset_s=0.0)
    del log
    assert shipped.land("result", late) == "result"


def test_an_answer_for_another_process_is_left_alone(log: RunLog) -> None:
    log.submitted["x"] = 0.0
    (_, number), *rest = row(log, offset_s=0.0)
    assert shipped.land("result", ((os.getpid() + 1, number), *rest)) == "result"
    assert log.remote == []


def test_all_tasks_of_a_run_share_one_address(log: RunLog) -> None:
    other = Recorder().begin()
    addresses = [shipped.ship(None, key, to)[1][2] for key, to in (("a", log), ("b", log), ("c", other))]
    assert addresses[0] == addresses[1] != addresses[2]
