"""The traits of ResourceWidget and CacheWidget, live and of a recording."""

from __future__ import annotations

import json
from pathlib import Path

import dask
import pytest
from dask._task_spec import Task, TaskRef

import taskscope
from taskscope.jupyter.widgets.series import (
    CacheFollower,
    ResourceFollower,
    cache_values,
    resource_values,
    still_cache_values,
    still_resource_values,
)
from taskscope.jupyter.widgets.window import Window
from taskscope.model.tables.process import ResourceLimits, ResourceRows
from taskscope.record import Recorder
from taskscope.session import Session
from taskscope.sources.resources import cpu_limit, memory_limit_bytes
from tests.support.computes.local_computes import watching
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import record_run


def sampled() -> Recorder:
    """Return two runs of one second each, at 0 and at 10 seconds, with samples at their starts and ends."""
    clock = FakeClock()
    recorder = Recorder(clock=clock)
    for start, rss in ((0.0, 5e6), (10.0, 3e6)):
        clock.advance(start)
        record_run(recorder, ["x"])
        recorder.resources.append(ResourceRows.of([(start, float("nan"), rss, 1, False)]))
        sample = (start + 1.001, 150.0 + start, rss + 1e6, 2, start > 0)
        recorder.resources.append(ResourceRows.of([sample]))
    return recorder


def test_a_window_has_the_samples_of_its_computes_the_one_after_the_end_included() -> None:
    recorder = sampled()
    first, second, both = (
        ResourceFollower(recorder, Window(*window)).refresh() for window in ((0, 0), (1, None), (0, 1))
    )
    assert resource_values(first, 2, None) == {
        "cpu_percent": 150.0,
        "cpu_peak_percent": 150.0,
        "n_cores": 2,
        "rss_bytes": 6_000_000,
        "rss_peak_bytes": 6_000_000,
        "limit_bytes": None,
        "n_processes": 2,
        "n_samples": 2,
        "n_gaps": 0,
    }
    assert (second.cpu_peak_percent, second.rss_peak_bytes, second.n_gaps) == (160.0, 4e6, 1)
    assert (both.cpu_percent, both.rss_peak_bytes, both.n_samples) == (160.0, 6e6, 4)


def test_samples_are_added_up_once() -> None:
    recorder = sampled()
    follower = ResourceFollower(recorder, Window(0, None))
    assert follower.refresh() == follower.refresh()
    recorder.resources.append(ResourceRows.of([(12.0, 20.0, 9e6, 1, False)]))
    assert (follower.refresh().n_samples, follower.refresh().rss_peak_bytes) == (5, 9e6)


def test_nothing_was_measured_before_the_first_compute() -> None:
    totals = ResourceFollower(Recorder(clock=FakeClock()), Window(0, None)).refresh()
    values = resource_values(totals, 2, 8)
    assert [values[name] for name in ("cpu_percent", "rss_bytes", "rss_peak_bytes", "limit_bytes")] == [
        None,
        None,
        None,
        8,
    ]


GRAPH = {
    "a-1": Task("a-1", bytes, 10_000),
    "b-1": Task("b-1", bytes, 20_000),
    "c-1": Task("c-1", lambda x, y: len(x) + len(y), TaskRef("a-1"), TaskRef("b-1")),
}
EMPTY = bytes(0).__sizeof__()


def test_the_cache_says_its_peak_and_the_groups_that_made_it_up() -> None:
    with watching() as recorder:
        recorder.follow_held = True
        dask.get(GRAPH, "c-1")
    while recorder.pull():
        pass
    totals = CacheFollower(recorder, Window(0, None)).refresh()
    values = cache_values(totals, recorder.groups, recorder.runs(), "nbytes")
    peak_s = values["peak_s"]
    assert isinstance(peak_s, float)
    assert peak_s > 0
    unvalued = {"n_unsized": 0, "value": None, "n_unvalued": 0}
    assert {**values, "peak_s": None} == {
        "metric": "nbytes",
        "n_keys": 0,
        "nbytes": 0,
        **unvalued,
        "peak_n_keys": 2,
        "peak_nbytes": 30_000 + 2 * EMPTY,
        "peak_value": None,
        "peak_at_least": False,
        "peak_s": None,
        "peak_groups": [
            {"group": "b", "prefix": "b", "n_keys": 1, "nbytes": 20_000 + EMPTY, **unvalued},
            {"group": "a", "prefix": "a", "n_keys": 1, "nbytes": 10_000 + EMPTY, **unvalued},
        ],
    }
    json.dumps(values, allow_nan=False)
    still = still_cache_values(recorder.snapshot())
    assert {**still, "peak_s": peak_s} == values


def test_a_recording_shows_the_same_from_memory_and_from_a_file(tmp_path: Path) -> None:
    with taskscope.profile(display=False, metric=len_or_none) as run:
        dask.get(GRAPH, "c-1")
    run.recording.save(tmp_path / "run.taskscope")
    loaded = taskscope.load(tmp_path / "run.taskscope")
    values = still_cache_values(run.recording)
    assert (values["metric"], values["peak_value"], values["value"]) == ("len_or_none", 30_000.0, 0.0)
    for still in (still_cache_values, still_resource_values):
        assert still(loaded) == still(run.recording)
    resources = still_resource_values(run.recording)
    assert [type(resources[name]) for name in ("n_cores", "limit_bytes", "rss_bytes")] == [int, int, int]


def len_or_none(result: object) -> float | None:
    return len(result) if isinstance(result, bytes) else None


@pytest.mark.parametrize("name", ["ResourceWidget", "CacheWidget"])
def test_a_widget_of_a_recording_has_its_numbers_and_holds_nothing_when_closed(name: str) -> None:
    with taskscope.profile(display=False) as run:
        dask.get(GRAPH, "c-1")
    widget = getattr(taskscope, name)(run.recording)
    still = {"ResourceWidget": still_resource_values, "CacheWidget": still_cache_values}[name]
    values = still(run.recording)
    assert {trait: getattr(widget, trait) for trait in values} == values
    widget.close()


def test_limits_are_known_from_the_session_on() -> None:
    assert Session().recorder.limits == ResourceLimits(cpu_limit(), memory_limit_bytes())
