from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.model.keys import split_key
from taskscope.model.tables.records import Group, Lane
from taskscope.record import LaneKey
from taskscope.record.tables import groups as tables_module
from taskscope.record.tables.groups import GroupTable, LaneTable

texts = st.sampled_from(
    ["x", "x-1", "data", "a" * 32, "ab-12", "(x", "Other", "<m.c at 1>", "_(x)", "inc-abcdefab"]
)
keys = st.one_of(
    texts, st.tuples(texts, st.integers()), st.tuples(st.tuples(texts)), st.integers(), st.just(())
)


@given(st.lists(st.lists(keys, min_size=1)))
def test_every_key_is_of_its_own_group_in_whatever_order_they_come(slices: list[list[object]]) -> None:
    table = GroupTable()
    for part in slices:
        found = [table.groups[i] for i in table.ids(part)]
        assert [(group.name, group.prefix) for group in found] == [split_key(key) for key in part]
    assert [group.id for group in table.groups] == list(range(len(table.groups)))
    names = [group.name for group in table.groups]
    assert len(set(names)) == len(names)


def test_groups_beyond_the_bound_share_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_GROUPS", 2)
    table = GroupTable()
    assert table.ids([("a", 0), ("b", 0), ("c", 0), ("d", 0), ("a", 1)]) == [0, 1, 2, 2, 0]
    assert table.groups == [
        Group(0, "a", "a", 0),
        Group(1, "b", "b", 1),
        Group(2, "(beyond 2 groups)", "(more)", 2),
    ]


def test_a_group_is_one_of_its_own_in_each_span() -> None:
    table = GroupTable()
    keys = [("a", 0), ("b", 0), ("a", 1)]
    assert table.ids_in_spans(keys, {}) == [0, 1, 0]
    assert table.ids_in_spans(keys, {"a": "load"}) == [2, 1, 2]
    assert table.ids_in_spans(keys, {"a": "store", "b": None}) == [3, 1, 3]
    assert table.ids_in_spans(keys, {"a": "load"}) == [2, 1, 2]
    assert table.ids(keys) == [0, 1, 0]
    assert table.groups == [
        Group(0, "a", "a", 0),
        Group(1, "b", "b", 1),
        Group(2, "a", "a", 0, "load"),
        Group(3, "a", "a", 0, "store"),
    ]


def test_groups_beyond_the_bound_are_in_no_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_GROUPS", 2)
    table = GroupTable()
    assert table.ids_in_spans([("a", 0), ("b", 0)], {"a": "load"}) == [0, 1]
    assert [group.span for group in table.groups] == [None, None]


def test_lanes_are_told_apart_by_process_thread_and_nesting() -> None:
    own = os.getpid()
    table = LaneTable(own)
    keys = [LaneKey(own, 1, 0, "MainThread"), LaneKey(own, 1, 1, "MainThread"), LaneKey(own, 2, 0, "pool_0")]
    keys += [LaneKey(77, 1), LaneKey(own, 1, 0, "renamed")]
    assert [table.id(key) for key in keys] == [0, 1, 2, 3, 0]
    assert table.lanes == [
        Lane(0, str(own), 1, "MainThread"),
        Lane(1, str(own), 1, "MainThread (nested 1)"),
        Lane(2, str(own), 2, "pool_0"),
        Lane(3, "77", 1, "process 77"),
    ]


def test_lanes_beyond_the_bound_share_the_last_which_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_LANES", 2)
    own = os.getpid()
    table = LaneTable(own)
    assert [table.id(LaneKey(own, n, 0, f"t{n}")) for n in (1, 2, 3, 1, 4)] == [0, 1, 1, 0, 1]
    assert [lane.label for lane in table.lanes] == ["t1", "beyond 1 lanes"]
