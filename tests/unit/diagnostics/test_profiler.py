from __future__ import annotations

import gc
import pickle
import threading
import time
import weakref
from operator import add, mul
from typing import Any

import dask
import dask.threaded
import numpy as np
import pytest
from dask._task_spec import Task, TaskRef
from dask.callbacks import add_callbacks
from hypothesis import given
from hypothesis import strategies as st

from taskscope.diagnostics import CacheProfiler, Profiler, ResourceProfiler
from tests.support.computes.process_tasks import pid
from tests.support.waiting import PATIENCE_S

GRAPH = {"x": 1, "y": (add, "x", 10), "z": (mul, "y", 2)}
# Older releases of Dask also compute what nobody asked for.
GRAPH_OF_Y = {key: GRAPH[key] for key in ("x", "y")}


def keys(prof: Profiler) -> list[Any]:
    return [row.key for row in prof.results]


def statuses(prof: Profiler) -> dict[object, object]:
    table = prof.recording.table("tasks")
    return dict(zip(table["key"], table["status"], strict=True))


def test_a_result_has_what_upstream_documents() -> None:
    with Profiler() as prof:
        inside = time.perf_counter()
        assert dask.threaded.get(GRAPH, "z") == 22
    assert prof.start_time is not None
    assert prof.end_time is not None
    assert prof.start_time < inside < prof.end_time
    first, second = prof.results
    assert first._fields == ("key", "task", "start_time", "end_time", "worker_id")
    assert (first.key, second.key) == ("y", "z")
    assert inside < first.start_time < first.end_time < second.start_time < second.end_time < prof.end_time
    pool = {t.ident for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")}
    assert {first.worker_id, second.worker_id} <= pool


def test_worker_ids_are_those_that_schedulers_give() -> None:
    with Profiler() as prof:
        dask.get(GRAPH, "z")
    assert [row.worker_id for row in prof.results] == [None, None]
    with Profiler() as prof:
        answer = dask.delayed(pid)(dask_key_name="p").compute(scheduler="processes", num_workers=1)
    assert [(row.key, row.worker_id) for row in prof.results] == [("p", answer)]


def test_failed_tasks_are_in_the_recording_and_not_in_the_results() -> None:
    graph = {"a": (abs, -1), "b": (lambda x: x / 0, "a"), "c": (abs, "b")}
    with pytest.raises(ZeroDivisionError), Profiler() as prof:
        dask.get(graph, "c")
    assert keys(prof) == ["a"]
    assert statuses(prof) == {"a": "finished", "b": "erred"}
    assert [run.error for run in prof.recording.runs] == ["ZeroDivisionError: division by zero"]


def test_a_block_begins_afresh_and_a_registration_goes_on() -> None:
    prof = Profiler()
    with prof:
        dask.get(GRAPH, "z")
        dask.get(GRAPH_OF_Y, "y")
    assert keys(prof) == ["y", "z", "y"]
    with prof:
        assert prof.results == []
    assert prof.results == []
    prof.register()
    prof.register()
    dask.get(GRAPH_OF_Y, "y")
    assert keys(prof) == ["y"]
    dask.get(GRAPH, "z")
    prof.unregister()
    prof.unregister()
    dask.get(GRAPH, "z")
    prof.register()
    dask.get(GRAPH_OF_Y, "y")
    prof.unregister()
    assert keys(prof) == ["y", "y", "z", "y"]
    assert [run.n_tasks for run in prof.recording.runs] == [1, 2, 1]
    prof.clear()
    assert (prof.results, prof.start_time, prof.end_time) == ([], None, None)


def test_blocks_of_one_profiler_nest() -> None:
    with Profiler() as prof:
        dask.get(GRAPH_OF_Y, "y")
        with prof:
            dask.get(GRAPH_OF_Y, "y")
        dask.get(GRAPH, "z")
    assert keys(prof) == ["y", "y", "y", "z"]


def test_clear_while_a_compute_runs_keeps_what_ends_afterwards() -> None:
    prof = Profiler()

    def clear() -> int:
        prof.clear()
        return 3

    with prof:
        dask.get(
            {"first": (abs, -1), "cleared": (lambda _: clear(), "first"), "last": (abs, "cleared")}, "last"
        )
    assert keys(prof) == ["cleared", "last"]


def test_computes_that_tasks_start_are_in_the_recording_only() -> None:
    def nested() -> int:
        return int(dask.get({"inner": (abs, -1)}, "inner"))

    with Profiler() as prof:
        dask.threaded.get({"outer": (nested,)}, "outer")
    assert keys(prof) == ["outer"]
    assert statuses(prof) == {"outer": "finished", "inner": "finished"}


def test_a_compute_with_its_own_profiler_has_tasks_also_beside_one_that_needs_none() -> None:
    prof = Profiler()
    with ResourceProfiler() as rprof:
        dask.get(GRAPH, "z")
        dask.get(GRAPH, "z", callbacks=[prof._callback])
    assert keys(prof) == ["y", "z"]
    assert "2 tasks of computes that finished without a record" in rprof.recording.summary()
    assert "– in tasks" in prof.recording.summary()


def test_the_tuple_form_works_alone_and_beside_a_block() -> None:
    for beside in (Profiler(), None):
        prof, cprof = Profiler(), CacheProfiler()
        with beside or Profiler(), add_callbacks(prof, cprof):
            dask.get(GRAPH, "z")
        with pytest.raises(ZeroDivisionError), add_callbacks(prof, cprof):
            dask.get({"a": (lambda: 1 / 0,)}, "a")
        dask.get({"b": (abs, -1)}, "b", callbacks=[prof._callback])
        assert keys(prof) == ["y", "z", "b"]
        assert [row.key for row in cprof.results] == ["y", "z"]
        assert statuses(prof) == {"y": "finished", "z": "finished", "a": "erred", "b": "finished"}


def test_computes_of_two_threads_are_all_recorded() -> None:
    together = threading.Barrier(2)

    def computes(name: str) -> None:
        together.wait(PATIENCE_S)
        for n in range(30):
            assert dask.get({(name, n): (abs, -1)}, (name, n)) == 1

    prof = Profiler()
    prof.register()
    threads = [threading.Thread(target=computes, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    prof.unregister()
    assert sorted(keys(prof)) == [(name, n) for name in "ab" for n in range(30)]


def test_a_task_is_the_one_of_the_graph_until_the_results_are_cleared() -> None:
    array = np.ones(10)
    with Profiler() as prof:
        dask.get({"a": Task("a", np.sum, array), "b": Task("b", mul, TaskRef("a"), 3)}, "b")
    a, b = (row.task for row in prof.results)
    assert (a(), b({"a": 3}), b.dependencies) == (10, 9, frozenset({"a"}))
    kept = weakref.ref(array)
    prof.clear()
    del a, b, array
    gc.collect()
    assert kept() is None


def test_no_result_of_a_task_is_kept_alive() -> None:
    refs: list[weakref.ref[Any]] = []

    def make() -> Any:
        array = np.ones(10)
        refs.append(weakref.ref(array))
        return array

    prof, cprof = Profiler(), CacheProfiler(metric=len)
    with prof, cprof:
        dask.get({"made": (make,), "negative": (np.negative, "made")}, "negative")
    assert len(prof.results) == len(cprof.results) == 2
    gc.collect()
    assert [ref() for ref in refs] == [None]


odd_keys = st.recursive(
    st.text(max_size=5)
    | st.binary(max_size=3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple),
    max_leaves=4,
)


@given(
    names=st.lists(
        st.one_of(odd_keys, st.tuples(st.text(max_size=5), st.integers())),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
def test_keys_come_back_as_the_objects_they_were(names: list[Any]) -> None:
    # A text that reads like another key of the same graph is the one thing that cannot be told apart.
    texts = {name for name in names if isinstance(name, str)}
    names = [name for name in names if isinstance(name, str) or repr(name) not in texts]
    literal = [
        n for n in texts if n and (n[0].isdigit() or n[0] in "-([{b'\"." or n in {"True", "None", "inf"})
    ]
    names = [name for name in names if name not in literal]
    if not names:
        return
    with Profiler() as prof:
        dask.get({name: Task(name, int) for name in names}, names)
    assert sorted(map(repr, keys(prof))) == sorted(map(repr, names))


def test_a_pickled_profiler_has_rows_recording_and_times_and_watches_nothing() -> None:
    with Profiler() as prof, ResourceProfiler(dt=0.5) as rprof, CacheProfiler(metric=abs) as cprof:
        dask.get(GRAPH, "z")
        pickle.dumps(prof)
    originals = [prof, rprof, cprof]
    copies = pickle.loads(pickle.dumps(originals))
    dask.get(GRAPH, "z")
    for copy, original in zip(copies, originals, strict=True):
        assert (copy.results, copy.span()) == (original.results, original.span())
        assert copy.recording.summary() == original.recording.summary()
    with copies[0]:
        dask.get(GRAPH, "y")
    assert [row.key for row in copies[0].results] == ["y"]
