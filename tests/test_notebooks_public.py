"""What is said of notebooks that are not ours; `make notebooks-public` runs them."""

from __future__ import annotations

from nbformat.v4 import new_output

from tests.notebooks_public.compare import compared
from tests.notebooks_public.outcome import Outcome

TOKENS = [f"{i}" * 32 for i in range(3)]
SECONDS = "seconds plain 1.0 and 1.0, profiled 1.0; cells that took longest more: [(0.0, 1)]"


def _outcome(*lines: str, keys: tuple[str, ...] = (), recorded: tuple[str, ...] | None = None) -> Outcome:
    outcome = Outcome()
    outcome.add_cell([new_output("stream", text="\n".join(lines))], 1.0)
    outcome.tasks = [(1, key, "memory") for key in keys]
    outcome.recorded = [(1, 0, key, "memory") for key in (keys if recorded is None else recorded)]
    return outcome


def test_tokens_of_keys_and_states_of_futures_are_no_difference() -> None:
    shown = ("<Future: pending, key: inc-{}>",) * 2 + ("<Future: finished, type: int, key: inc-{}>",)
    outcomes = [
        _outcome(text.format(token), keys=(f"inc-{token}",))
        for text, token in zip(shown, TOKENS, strict=True)
    ]
    assert list(compared(*outcomes)) == [
        "tasks that ran: {'plain': 1, 'again': 1, 'profiled': 1}; recorded: 1",
        SECONDS,
    ]


def test_another_value_is_a_difference() -> None:
    assert "! cell 1: plain has ['2'], profiled has ['3']" in compared(
        _outcome("2"), _outcome("2"), _outcome("3")
    )


def test_tasks_that_only_profiled_runs_have_are_named() -> None:
    said = compared(_outcome(keys=("a",)), _outcome(keys=("a",)), _outcome(keys=("a", f"inc-{TOKENS[0]}")))
    assert "? other names than in plain runs: ['inc-…']" in said


def test_a_task_that_no_recording_has_is_a_difference() -> None:
    profiled = _outcome(keys=("a", "b"), recorded=("a",))
    assert "! ran, not recorded: 1 tasks, by cell {1: 1}; such as b" in compared(
        _outcome(), _outcome(), profiled
    )


def test_what_processes_log_is_compared_whatever_cell_it_reached() -> None:
    record = ("2026-01-01 00:00:00,000 - distributed.worker - ERROR - Compute Failed", "Key: a")
    logged, silent, later = _outcome(*record, "", "2"), _outcome("", "2"), _outcome("", "2", *record)
    assert next(compared(logged, silent, later)).startswith("tasks that ran")
    said = "? logged only when profiled: [' distributed worker ERROR Compute Failed', 'Key a']"
    assert next(compared(silent, silent, later)) == said


def test_a_plain_run_that_died_is_said_and_explains_a_profiled_one_that_did() -> None:
    plain, again, profiled = _outcome(), _outcome(), _outcome()
    again.died = profiled.died = "CellTimeoutError in cell 2"
    assert list(compared(plain, again, profiled))[:2] == [
        "second plain run died: CellTimeoutError in cell 2; its tasks are not known",
        "profiled run died: CellTimeoutError in cell 2; its tasks are not known",
    ]
    again.died = ""
    assert next(compared(plain, again, profiled)).startswith("! profiled run died")


def test_cells_that_fail_without_us_are_named() -> None:
    outcomes = [_outcome() for _ in range(3)]
    for outcome in outcomes:
        outcome.add_cell([new_output("error", ename="ImportError", evalue="no mimesis", traceback=[])], 1.0)
    assert (
        next(compared(*outcomes))
        == "cells that fail as they stand: [2]; the first with 'ImportError: no mimesis'"
    )
