"""Whatever tasks give or raise: a recorded compute ends as an unrecorded one, down to the frames."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from taskscope.sources.local import timing
from taskscope.sources.local.adapter import registration
from tests.support.computes.odd_graphs import Plan, Pools, Step, differences
from tests.support.waiting import PATIENCE_S


def test_odd_graphs_end_as_they_do_unrecorded() -> None:
    # In a process of its own, as some of them break pools. A sample: `make graphs` tries 4,000.
    command = [
        sys.executable,
        "-m",
        "tests.support.computes.odd_graphs",
        "--graphs",
        "60",
        "--first",
        "1000000",
        "--quick",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (done.stdout.splitlines()[-1:], done.stderr, done.returncode) == (["  left over: 0"], "", 0), (
        done.stdout
    )


def plan_of(name: str) -> Plan:
    return Plan(0, "synchronous", (Step("raise", name, "directly", ()),), 1, rerun=False)


def keeping_our_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "drop_frame", lambda *_: None)


def keeping_the_frames_around_a_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "drop_frames", lambda *_: None)


def noting_in_the_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = timing.TimedTask.__call__

    def careless(task: timing.TimedTask, values: object = ()) -> object:
        try:
            return honest(task, values)
        except ValueError as error:
            error.seen = True  # type: ignore[attr-defined]  # which is the fault
            raise

    monkeypatch.setattr(timing.TimedTask, "__call__", careless)


@pytest.mark.parametrize(
    ("seed_bug", "name"),
    [
        (keeping_our_frame, "value"),
        (keeping_the_frames_around_a_compute, "read-only"),
        (noting_in_the_exception, "value"),
    ],
)
def test_a_seeded_bug_is_found(
    monkeypatch: pytest.MonkeyPatch, seed_bug: Callable[[pytest.MonkeyPatch], None], name: str
) -> None:
    assert differences(plan_of(name), Pools()) == []
    seed_bug(monkeypatch)
    assert len(differences(plan_of(name), Pools())) == 1
