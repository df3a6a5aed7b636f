from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dask
import pytest

import taskscope
from taskscope.errors import OptionError, TaskscopeError
from taskscope.record import recorder
from taskscope.session import current
from tests.support.shell import shell_with_taskscope


@pytest.fixture
def watched() -> Iterator[None]:
    """The session is recorded, as after ``%load_ext taskscope``."""
    with shell_with_taskscope():
        yield


def fail(value: object) -> None:
    raise ValueError(f"no {value}")


def compute(function: Any, n: int) -> None:
    dask.compute(*(dask.delayed(function)(-i) for i in range(n)), scheduler="threads")


@pytest.mark.usefixtures("watched")
def test_any_compute_of_the_session_is_a_recording_afterwards() -> None:
    before = datetime.now(UTC)
    compute(abs, 3)
    with pytest.raises(ValueError, match="no 0"):
        compute(fail, 1)
    with taskscope.profile(label="two", display=False):
        compute(abs, 2)
    found = taskscope.runs()
    assert [(c.label, c.cell, c.scheduler, c.n_tasks, c.status) for c in found] == [
        (None, None, "threads", 3, "finished"),
        (None, None, "threads", 1, "erred"),
        ("two", None, "threads", 2, "finished"),
    ]
    assert [before <= c.started_at <= datetime.now(UTC) for c in found] == [True] * 3
    recordings = [c.recording() for c in found]
    assert [len(r.tasks) for r in recordings] == [3, 1, 2]
    took_s = [float(r.table("runs")["stop_s"][0]) for r in recordings]
    assert took_s == pytest.approx([c.duration_s for c in found])
    assert [list(r.table("runs")["start_s"]) for r in recordings] == [[0.0]] * 3
    assert [r.metadata["label"] for r in recordings] == [None, None, "two"]
    assert [[run.run for run in taskscope.last(n).runs] for n in (1, 2, 3)] == [
        [c.number] for c in found[::-1]
    ]
    assert found[1:][0] is found[1]


@pytest.mark.usefixtures("watched")
def test_the_oldest_of_very_many_computes_are_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_MAX_RUNS", 2)
    for n in (1, 2, 3, 4):
        compute(abs, n)
        current().recorder.pull_all()
    first = current().recorder.next_run - 4
    found = taskscope.runs()
    assert [(c.number - first, c.n_computes, c.n_tasks) for c in found] == [(0, 2, 3), (2, 1, 3), (3, 1, 4)]
    assert repr(found).splitlines()[1].split("  ")[1] == f"{first} to {first + 1}"
    with pytest.raises(TaskscopeError, match="is no longer kept"):
        found[0].recording()
    with pytest.raises(
        TaskscopeError, match=r"last\(3\) has none: .* recorded 4 computes and kept the last 2"
    ):
        taskscope.last(3)


@pytest.mark.usefixtures("watched")
def test_computes_print_as_a_table() -> None:
    assert repr(taskscope.runs()) == "no Dask computation was recorded in this session"
    compute(abs, 1000)
    with taskscope.profile(label="two\nlines", display=False):
        compute(abs, 2)
    header, *rows = repr(taskscope.runs()).splitlines()
    assert header.split() == ["when", "took", "tasks", "ended", "label", "cell"]
    texts = [re.split("  +", row.strip()) for row in rows]
    assert [(row[3], row[4:]) for row in texts] == [
        ("1,000", ["finished"]),
        ("2", ["finished", r"two\nlines"]),
    ]


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("n", [0, -1, True, 1.0, "1"])
def test_a_place_that_is_none_is_refused(n: Any) -> None:
    with pytest.raises(OptionError) as refused:
        taskscope.last(n)
    assert (
        str(refused.value) == f"n must be 1 for the last compute, 2 for the one before, and so on; got {n!r}"
    )


def test_where_nothing_is_recorded_that_is_said() -> None:
    compute(abs, 1)
    with pytest.raises(TaskscopeError) as refused:
        taskscope.last()
    assert str(refused.value) == (
        "last(1) has none: this session has recorded 0 computes; after %load_ext taskscope all are recorded, "
        "and a block of profile() has its own `recording`"
    )
    with taskscope.profile(display=False):
        compute(abs, 1)
        found = taskscope.runs()[0]
    with pytest.raises(TaskscopeError) as gone:
        found.recording()
    assert str(gone.value) == (
        f"compute {found.number} is no longer kept: max_tasks was reached, or nothing records"
    )


def test_the_magic_lists_computes_and_gives_one(capsys: pytest.CaptureFixture[str]) -> None:
    with shell_with_taskscope() as shell:
        compute(abs, 3)
        (found,) = shell.run_line_magic("taskscope", "")
        assert (found.n_tasks, found.status) == (3, "finished")
        assert len(shell.run_line_magic("taskscope", f" {found.number} ").tasks) == 3
        shell.run_cell("%taskscope one")
        assert capsys.readouterr().err.strip() == (
            f"UsageError: %taskscope takes the number of a compute ({found.number} to {found.number}), "
            "history, or nothing; got 'one'"
        )
    assert "taskscope" not in shell.magics_manager.magics["line"]
