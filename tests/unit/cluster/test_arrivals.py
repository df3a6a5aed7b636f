"""Graphs that are not looked at: their tasks are recorded all the same, and it is said why they look bare."""

from __future__ import annotations

import re
from typing import Any

import dask.array as da
import pytest
from distributed import Client

import taskscope
from taskscope.recording import Recording
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import graphs

_BARE = "it has no dependencies here, and tasks of other clients may be taken for its own"


def _told() -> list[str]:
    """Compute with a graph, and return what was told of it."""
    with taskscope.profile(display=False) as run:
        assert (da.ones(40, chunks=4) + 1).sum(split_every=2).compute() == 80
    assert set(run.recording.to_pandas("tasks")["status"]) == {"finished"}
    assert run.recording.to_pandas("dependencies").empty
    return _messages(run.recording)


def _messages(recording: Recording) -> list[str]:
    """Return what was told, without how often since the process began."""
    return [re.sub(r" \(\d+ times\)$", "", str(text)) for text in recording.table("messages")["text"]]


def test_a_graph_that_is_too_large_is_not_looked_at(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MAX_GRAPH_TASKS", 9)
    assert _told() == [f"a graph of more than {adapter.MAX_GRAPH_TASKS:,} tasks was not looked at: {_BARE}"]


def test_a_graph_that_cannot_be_read_is_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("no graph today")

    monkeypatch.setattr(adapter, "materialize", fail)
    fault, told = _told()
    assert "no graph today" in fault
    assert told == f"a graph could not be read: {_BARE}"


def test_calls_that_are_looked_at_together_spoil_nothing_for_each_other(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    materialize = adapter.materialize

    def fail_for_one(expr: Any, keys: frozenset[str]) -> graphs.Graph | None:
        if "bad" in keys:
            raise ValueError("no graph today")
        return materialize(expr, keys)

    monkeypatch.setattr(adapter, "materialize", fail_for_one)
    with taskscope.profile(display=False) as run:
        first = client.submit(abs, -1, key="first")
        bad = client.submit(abs, -2, key="bad")
        last = client.submit(sum, [first, bad], key="last")
        assert client.gather([first, bad, last]) == [1, 2, 3]
    assert sorted(run.recording.to_pandas("tasks")["key"]) == ["bad", "first", "last"]
    fault, told = _messages(run.recording)
    assert "no graph today" in fault
    assert told == f"a graph could not be read: {_BARE}"
