"""The graph of computes by task groups."""

from __future__ import annotations

import threading
from dataclasses import replace

import dask
import numpy as np
import pytest

import taskscope
from taskscope.analysis.result import Result
from taskscope.errors import UnknownNameError
from taskscope.recording import Recording
from tests.support.recordings.schedules import with_dependencies
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

KEYS: tuple[object, ...] = (("load-1", 0), ("load-1", 1), ("add-1", 0), ("add-1", 1), ("sum-1", 0))
NEEDS = {2: (0,), 3: (1, 2), 4: (2, 3)}


def small(*statuses: str) -> Recording:
    rows = [
        Row(key=key, group=0, start_s=float(i), stop_s=i + 1.0, status=status)
        for i, (key, status) in enumerate(zip(KEYS, statuses, strict=True))
    ]
    return with_dependencies(rows, NEEDS)


def of_groups(found: Result, *names: str) -> list[tuple[object, ...]]:
    return list(zip(*(found.table()[name] for name in names), strict=True))


def test_each_group_has_its_counts_and_the_groups_that_it_needs_but_itself() -> None:
    found = small("finished", "finished", "finished", "running", "erred").group_graph()
    assert list(found.to_pandas().itertuples(index=False, name=None)) == [
        (0, "load-1", "load", 2, 2, 0, 0, 0, 2.0, ()),
        (0, "add-1", "add", 2, 1, 0, 1, 0, 2.0, ("load-1",)),
        (0, "sum-1", "sum", 1, 0, 1, 0, 0, 1.0, ("add-1",)),
    ]
    assert str(found).splitlines() == [
        "task graph · 3 groups, 5 tasks",
        "",
        "  group               done  time  needs",
        "  load              2 of 2   2 s",
        "  add    1 of 2, 1 running   2 s  load",
        "  sum     0 of 1, 1 failed   1 s  add",
    ]


def test_a_task_counts_by_its_last_end_data_do_not_and_what_is_skipped_is_told_apart() -> None:
    recording = small("finished", "lost", "finished", "finished", "finished")
    (block,) = recording.blocks
    again = replace(block.part(np.array([1])), flags=block.flags[:1])
    rest = block.part(np.array([0, 1, 2, 3]))
    graph = replace(recording.graphs[0], data=np.array([0], "i4"), skipped=np.array([1, 4], "i4"))
    found = replace(recording, blocks=(rest, again), graphs={0: graph}).group_graph()
    assert of_groups(found, "group", "n_tasks", "n_finished", "n_skipped", "needs") == [
        ("load-1", 1, 1, 0, ()),
        ("add-1", 2, 2, 0, ("load-1",)),
        ("sum-1", 1, 0, 1, ("add-1",)),
    ]


def test_each_group_is_after_those_that_it_needs_and_in_a_circle_of_groups_in_some_place() -> None:
    rows = [Row(key=key) for key in (("c", 0), ("a", 0), ("b", 0), ("a", 1), ("b", 1))]
    found = with_dependencies(rows, {0: (4,), 2: (1,), 3: (2,), 4: (3,)}).group_graph()
    assert of_groups(found, "group", "needs") == [("a", ("b",)), ("b", ("a",)), ("c", ("b",))]


def test_groups_of_one_prefix_are_told_apart_and_many_are_left_to_the_table() -> None:
    rows = [Row(key=(f"load-{i:032x}", 0)) for i in range(50)]
    found = recording_of(rows).group_graph()
    lines = str(found).splitlines()
    assert lines[3].split()[0] != lines[4].split()[0]
    assert lines[-1] == "  10 more rows are in to_pandas()"


def test_each_compute_has_its_own_groups() -> None:
    rows = [Row(key=("a-1", 0)), Row(key=("a-1", 0), run=1)]
    runs = [run_of(0, n_tasks=1), run_of(1, n_tasks=1)]
    recording = recording_of(rows, runs)
    assert of_groups(recording.group_graph(), "run", "group") == [(0, "a-1"), (1, "a-1")]
    assert of_groups(recording.group_graph(1), "run") == [(1,)]
    with pytest.raises(UnknownNameError, match="unknown run 2"):
        recording.group_graph(2)


def test_what_is_not_known_is_said() -> None:
    recording = small(*["finished"] * 5)
    cut = replace(recording, graphs={0: replace(recording.graphs[0], known=False)})
    assert str(cut.group_graph()).endswith("dependencies of compute 0 are not known")
    none = recording_of([]).group_graph()
    assert str(none) == "cannot say how task groups depend on each other, because no graph was recorded"


def test_it_says_how_far_a_compute_is_while_it_runs() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def slow(number: int) -> int:
        begun.set()
        may_end.wait()
        return number

    with taskscope.profile(display=False) as run:
        needed = dask.delayed(abs)(-1)
        thread = threading.Thread(target=dask.delayed(slow)(needed).compute, kwargs={"scheduler": "threads"})
        thread.start()
        begun.wait()
        during = run.recording.group_graph()
        may_end.set()
        thread.join()
    assert of_groups(during, "prefix", "n_finished", "n_running") == [("abs", 1, 0), ("slow", 0, 1)]
    assert of_groups(run.recording.group_graph(), "n_finished") == [(1,), (1,)]
