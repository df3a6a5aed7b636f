from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.analysis.calls import CallNode, Profile
from taskscope.errors import UnknownNameError
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row


def recorded(*samples: Sample, **options: Any) -> Recording:
    rows = [Row(key=key) for key in ("x-1", "y-1", "never-1")]
    return replace(recording_of(rows), stacks=stacks_of(samples, **options))


def outline(node: CallNode) -> Any:
    """Return name, samples and seconds of a call, all and its own, with those below it."""
    below = [outline(child) for child in node.children]
    return (
        node.name,
        node.n_samples,
        round(node.seconds, 9),
        node.self_samples,
        round(node.self_seconds, 9),
        *below,
    )


SAMPLES = (
    Sample(("f", "g"), 3, 0.3),
    Sample(("f",), 1, 0.1),
    Sample(("h",), 5, 0.5, start_s=1.0),
    Sample((), 2, 0.2, start_s=1.0),
    Sample(("f", "g"), 1, 0.4, prefix="y", worker="5678", start_s=2.0),
)


def test_the_tree_counts_each_call_with_all_that_it_made() -> None:
    profile = recorded(*SAMPLES).profile()
    of_g = ("g", 3, 0.3, 3, 0.3)
    of_x = ("x", 11, 1.1, 2, 0.2, ("h", 5, 0.5, 5, 0.5), ("f", 4, 0.4, 1, 0.1, of_g))
    of_y = ("y", 1, 0.4, 0, 0.0, ("f", 1, 0.4, 0, 0.0, ("g", 1, 0.4, 1, 0.4)))
    assert outline(profile.root) == ("all tasks", 12, 1.5, 0, 0.0, of_x, of_y)
    assert (profile.n_samples, profile.interval_s, profile.note) == (12, 0.01, None)


@pytest.mark.parametrize(
    ("chosen", "n_samples"),
    [
        ({"prefix": "y"}, 1),
        ({"prefix": "never"}, 0),
        ({"worker": "5678"}, 1),
        ({"prefix": "x", "worker": "1234"}, 11),
    ],
)
def test_a_part_of_it_can_be_chosen(chosen: dict[str, Any], n_samples: int) -> None:
    assert recorded(*SAMPLES).profile(**chosen).n_samples == n_samples


def test_a_prefix_or_worker_that_is_not_there_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown prefix 'nevr'; did you mean 'never'[?] Known: 'x', 'y'"
    ):
        recorded(*SAMPLES).profile(prefix="nevr")
    with pytest.raises(UnknownNameError, match=r"unknown worker '1'\. Known: '1234', '5678'"):
        recorded(*SAMPLES).profile(worker="1")


def test_the_table_has_a_row_per_call_and_can_be_put_together_again() -> None:
    profile = recorded(*SAMPLES).profile()
    table = profile.to_pandas()
    shown = ["parent", "depth", "kind", "prefix", "function", "file", "line", "n_samples", "self_samples"]
    assert list(zip(*(profile.table()[column] for column in shown), strict=True))[:5] == [
        (-1, 0, "all", None, "all tasks", "", 0, 12, 0),
        (0, 1, "prefix", "x", "x", "", 0, 11, 2),
        (1, 2, "function", "x", "h", "h.py", 1, 5, 5),
        (1, 2, "function", "x", "f", "f.py", 1, 4, 1),
        (3, 3, "function", "x", "g", "g.py", 1, 3, 3),
    ]
    assert table["seconds"].round(9).tolist() == [1.5, 1.1, 0.5, 0.4, 0.3, 0.4, 0.4, 0.4]
    assert table["self_seconds"].sum() == pytest.approx(1.5)
    assert table["share"].round(4).tolist() == [1.0, 0.7333, 0.3333, 0.2667, 0.2, 0.2667, 0.2667, 0.2667]


def test_a_function_that_several_tasks_and_calls_call_has_all_their_time_and_a_recursion_once() -> None:
    by_task = Sample(("f",), 3, 0.3), Sample(("f",), 2, 0.2, prefix="y")
    by_call = Sample(("g", "f"), 1, 0.1), Sample(("f", "g", "f"), 4, 0.4)
    found = recorded(*by_task, *by_call).profile().functions()
    assert [outline(call) for call in found] == [("f", 10, 1.0, 10, 1.0)]


def test_a_deep_stack_is_no_deep_recursion() -> None:
    deep = tuple(f"f{i}" for i in range(3000))
    profile = recorded(Sample(deep)).profile()
    assert len(profile.to_pandas()) == 3002
    assert str(profile).startswith("profile · 1 sample of 10 ms in tasks\n")
    assert repr(profile.root).startswith("CallNode(kind='all', name='all tasks'")


def test_without_samples_it_is_empty_and_says_why() -> None:
    def note(recording: Recording) -> str | None:
        profile = recording.profile()
        assert outline(profile.root) == ("all tasks", 0, 0.0, 0, 0.0)
        assert profile.to_pandas()["share"].isna().all()
        return profile.note

    nothing = recorded()
    assert note(recording_of([])) == "nothing was sampled: profile with stacks=True"
    assert (
        note(nothing)
        == "no sample was taken: without the option `lines`, sampling begins 0.1 s after the first compute"
    )
    elsewhere = replace(nothing, runs=(replace(run_of(n_tasks=1), scheduler="MPIPoolExecutor"),))
    assert note(elsewhere) == "tasks of the scheduler MPIPoolExecutor run where taskscope does not sample"


def test_samples_that_are_no_longer_held_are_mentioned() -> None:
    note = recorded(*SAMPLES, dropped=1_000).profile().note
    assert note == "1,000 of the oldest samples are no longer kept"


@given(
    st.lists(
        st.builds(
            Sample,
            st.lists(st.sampled_from("abc"), max_size=4).map(tuple),
            st.integers(1, 5),
            st.floats(0.001, 1.0),
            st.sampled_from("xy"),
        ),
        max_size=20,
    )
)
def test_nothing_is_lost_and_nothing_counted_twice(samples: list[Sample]) -> None:
    profile = recorded(*samples).profile()
    nodes = [node for _, node in profile.root.walk()]
    assert profile.n_samples == sum(s.count for s in samples) == sum(n.self_samples for n in nodes)
    assert profile.root.seconds == pytest.approx(sum(s.seconds for s in samples))
    for node in nodes:
        assert node.n_samples == node.self_samples + sum(c.n_samples for c in node.children)
        assert [c.seconds for c in node.children] == sorted((c.seconds for c in node.children), reverse=True)
    for name in "abc":
        inclusive = sum(s.count for s in samples if name in s.stack)
        found = sum(n.n_samples for n in _outermost(profile, name))
        assert found == inclusive


def _outermost(profile: Profile, name: str) -> list[CallNode]:
    """Return the calls of a function that are not below another call of it."""
    found: list[CallNode] = []
    waiting = [profile.root]
    while waiting:
        node = waiting.pop()
        if node.kind == "function" and node.name == name:
            found.append(node)
        else:
            waiting += node.children
    return found
