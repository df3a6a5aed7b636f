"""Graphs, where a scheduler is only asked: those that are not looked at have few tasks, and it is said so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dask.array as da
import pytest
from dask.delayed import delayed
from distributed import Client

import taskscope
from taskscope.recording import Recording
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import graphs
from tests.support.clusters.tasks import attempt
from tests.unit.cluster.scheduler.test_observer import needs_numbered_records

_BARE = "of its tasks only those that were asked for are recorded"


def _told() -> list[str]:
    """Compute with a graph, and return what was told of it."""
    with taskscope.profile(display=False, transport="poll") as run:
        assert (da.ones(40, chunks=4) + 1).sum(split_every=2).compute() == 80
    assert list(run.recording.to_pandas("tasks")["status"]) == ["finished"]
    assert [(r.status, r.n_tasks) for r in run.recording.runs] == [("finished", 1)]
    assert run.recording.to_pandas("dependencies").empty
    return _messages(run.recording)


def _messages(recording: Recording) -> list[str]:
    """Return what was told, without how often since the process began."""
    return [re.sub(r" \(\d+ times\)$", "", str(text)) for text in recording.table("messages")["text"]]


@needs_numbered_records
def test_a_graph_that_is_too_large_is_not_looked_at(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MAX_GRAPH_TASKS", 9)
    assert _told() == [f"a graph of more than {adapter.MAX_GRAPH_TASKS:,} tasks was not looked at: {_BARE}"]


@needs_numbered_records
def test_a_graph_that_cannot_be_read_is_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("no graph today")

    monkeypatch.setattr(adapter, "materialize", fail)
    fault, told = _told()
    assert "no graph today" in fault
    assert told == f"a graph could not be read: {_BARE}"


@needs_numbered_records
def test_calls_that_are_looked_at_together_spoil_nothing_for_each_other(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    materialize = adapter.materialize

    def fail_for_one(expr: Any, keys: frozenset[str]) -> graphs.Graph | None:
        if "bad" in keys:
            raise ValueError("no graph today")
        return materialize(expr, keys)

    monkeypatch.setattr(adapter, "materialize", fail_for_one)
    with taskscope.profile(display=False, transport="poll") as run:
        first = client.submit(abs, -1, key="first")
        bad = client.submit(abs, -2, key="bad")
        last = client.submit(sum, [first, bad], key="last")
        assert client.gather([first, bad, last]) == [1, 2, 3]
    assert sorted(run.recording.to_pandas("tasks")["key"]) == ["bad", "first", "last"]
    fault, told = _messages(run.recording)
    assert "no graph today" in fault
    assert told == f"a graph could not be read: {_BARE}"


@needs_numbered_records
def test_where_a_scheduler_is_only_asked_failed_attempts_are_not_known_and_that_is_said(
    client: Client, truth: Path
) -> None:
    (truth / "done").mkdir()
    with taskscope.profile(display=False, transport="poll") as run:
        assert client.submit(attempt, truth, "luck", 1, key="luck-0", retries=1).result() == 2
    assert [(r.status, r.n_tasks) for r in run.recording.runs] == [("finished", 1)]
    assert "failed-attempt" not in set(run.recording.to_pandas("activities")["activity"])
    assert _messages(run.recording) == [
        "failed attempts of tasks with retries are not known: the scheduler is only asked"
    ]


def test_an_observer_tells_of_graphs_of_any_size(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MAX_GRAPH_TASKS", 9)
    n = 1_200
    parts = [delayed(abs)(-i, dask_key_name=f"part-{i}") for i in range(n)]
    with taskscope.profile(display=False) as run:
        total = delayed(sum)(parts, dask_key_name="total-0").compute(optimize_graph=False)
    assert total == n * (n - 1) // 2
    found = run.recording.to_pandas("dependencies")
    assert set(zip(found["key"], found["dependency"], strict=True)) == {
        ("total-0", f"part-{i}") for i in range(n)
    }
    assert [(r.status, r.n_tasks) for r in run.recording.runs] == [("finished", n + 1)]
    assert _messages(run.recording) == []
