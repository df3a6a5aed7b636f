from __future__ import annotations

import numpy as np

from taskscope.record import GraphSource, Recorder
from taskscope.record.tables.groups import GroupTable
from taskscope.record.writers.graph import GraphBuilder
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, independent, write_task


def builder_of(dependencies: dict[object, set[object]], data: dict[object, float]) -> GraphBuilder:
    source = GraphSource(dependencies, frozenset({"total"}), data)
    table = GroupTable()
    table.ids([("load-1", 0), "total", "given"])
    return GraphBuilder(source, 0.0, table.ids)


def test_a_graph_becomes_the_same_columns_in_slices_of_any_size() -> None:
    leaves = [("load-1", i) for i in range(5)]
    dependencies: dict[object, set[object]] = {"total": {*leaves, "given"}, "given": set()}
    dependencies |= {leaf: set() for leaf in leaves}
    texts = ["total", "given", *(f"('load-1', {i})" for i in range(5))]
    groups = {"total": 1, "given": 2, **dict.fromkeys(texts[2:], 0)}
    for size in (1, 3, 100):
        builder = builder_of(dependencies, {"given": 8.0})
        while not builder.complete:
            builder.advance(size)
        graph = builder.finish()
        # Keys are numbered as they are met, and the dependencies of `total` are a set.
        names = list(graph.keys.iter_text([["load-1", "total", "given"][g] for g in graph.group.tolist()]))
        assert sorted(names) == sorted(texts)
        assert dict(zip(names, graph.group.tolist(), strict=True)) == groups
        assert graph.n_dependencies.tolist() == [6 if name == "total" else 0 for name in names]
        assert {names[i] for i in graph.edges.tolist()} == set(texts[1:])
        assert [names[i] for i in graph.kept.tolist()] == ["total"]
        assert [names[i] for i in graph.data.tolist()] == ["given"]
        assert graph.data_sizes.tolist() == [8.0]
        assert +builder.group_counts == {0: 5, 1: 1}


def test_keys_met_in_rows_first_keep_the_number_they_got() -> None:
    keys = [("x-1", i) for i in range(10)]
    builder = builder_of({key: set() for key in keys}, {})
    assert builder.numbers([keys[7], keys[2]]).tolist() == [0, 1]
    builder.advance(3)
    assert builder.numbers(keys).tolist() == [2, 3, 1, 4, 5, 6, 7, 0, 8, 9]
    graph = builder.finish()
    assert list(graph.keys.iter_text(["x-1"] * 10)) == [repr(keys[i]) for i in (7, 2, 0, 1, 3, 4, 5, 6, 8, 9)]


def test_a_task_with_more_dependencies_than_a_byte_counts_keeps_them_all() -> None:
    leaves = [("x", i) for i in range(300)]
    builder = builder_of({"total": set(leaves), **{leaf: set() for leaf in leaves}}, {})
    graph = builder.finish()
    assert graph.n_dependencies[0] == 300
    assert np.bincount(graph.edge_sources(), minlength=301).tolist() == [300, *[0] * 300]


def test_a_snapshot_of_a_run_in_progress_leaves_it_to_be_finished() -> None:
    recorder = Recorder(clock=FakeClock())
    keys = [("x", i) for i in range(2_000)]
    log = begin_run(recorder, independent(keys), kept=keys)
    write_task(log, keys[0], 100.0, 101.0)
    assert len(recorder.snapshot().to_pandas("tasks")) == 1
    for key in keys[1:]:
        write_task(log, key, 101.0, 102.0)
    end_run(log, stop=102.0)
    recording = recorder.snapshot()
    assert recording.to_pandas("tasks")["key"].tolist() == [repr(key) for key in keys]
    assert recording.to_pandas("cache")["enter_s"].tolist() == [1.0, *[2.0] * 1_999]
    assert [(p.total, p.finished) for p in recorder.progress()] == [(2_000, 2_000)]
