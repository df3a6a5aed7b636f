"""Whatever the graph: the result is that of an unrecorded run, and the recording is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from taskscope.record import LaneBuffer, LaneKey, RunLog
from taskscope.record.writers import runlog
from taskscope.record.writers.runlog import take
from taskscope.sources.local.timing import TimedTask
from tests.support.computes.random_graphs import OddResult, Plan, Step, compute, plans, record, violations


def check(plan: Plan) -> None:
    recording, recorded = record(plan)
    assert recorded.shown() == compute(plan).shown() or _may_fail_differently(plan)
    assert violations(plan, recording, recorded) == []


def _may_fail_differently(plan: Plan) -> bool:
    """Tell whether it is chance which of several failing tasks a pool gets to first."""
    return plan.scheduler == "threads" and sum(step.kind == "raise" for step in plan.steps) > 1


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(plans())
def test_a_random_graph_gives_its_own_result_and_a_true_recording(plan: Plan) -> None:
    check(plan)


def steps(*outcomes: str) -> tuple[Step, ...]:
    return tuple(Step(f"task{i}", (), "give", outcome) for i, outcome in enumerate(outcomes))


def plan_of(*planned: Step, scheduler: str = "threads") -> Plan:
    return Plan(planned, tuple(step.key for step in planned), scheduler, 1_000)


SIX = plan_of(*steps(*["number"] * 6))
FAILING = plan_of(Step("bad", (), "raise", "value"), scheduler="synchronous")


def losing_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(rows: list[Any], width: int, limit: int = 2_000) -> list[Any]:
        return take(rows, width, limit)[width:]

    monkeypatch.setattr(runlog, "take", careless)


def mixing_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def shared(log: RunLog, ident: int) -> LaneBuffer:
        return log.lanes.setdefault(0, LaneBuffer(LaneKey(0, 0)))

    monkeypatch.setattr(RunLog, "open_lane", shared)


def dropping_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunLog, "fail", lambda *_, **__: None)


def swallowing_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = TimedTask.__call__

    def careless(task: TimedTask, values: Any = ()) -> Any:
        try:
            return honest(task, values)
        except ValueError:
            return None

    monkeypatch.setattr(TimedTask, "__call__", careless)


def timing_at_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = LaneBuffer.__iadd__

    def careless(lane: LaneBuffer, row: tuple[Any, ...]) -> LaneBuffer:
        key, _start, stop, *rest = row
        # As if it had begun before its compute did.
        return honest(lane, (key, stop - 3600.0, stop, *rest))

    monkeypatch.setattr(LaneBuffer, "__iadd__", careless, raising=False)


@pytest.mark.parametrize(
    ("seed_bug", "plan"),
    [
        (losing_a_row, SIX),
        (mixing_threads, SIX),
        (dropping_an_error, FAILING),
        (swallowing_an_exception, FAILING),
        (timing_at_submission, SIX),
    ],
)
def test_a_seeded_bug_fails_the_property(
    monkeypatch: pytest.MonkeyPatch, seed_bug: Callable[[pytest.MonkeyPatch], None], plan: Plan
) -> None:
    check(plan)
    seed_bug(monkeypatch)
    with pytest.raises(AssertionError):
        check(plan)


def test_odd_results_are_odd() -> None:
    for use in (repr, OddResult.__sizeof__, lambda odd: odd == 7):
        with pytest.raises(RuntimeError, match="for you"):
            use(OddResult())
