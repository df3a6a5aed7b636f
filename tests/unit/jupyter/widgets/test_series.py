"""The traits of ResourceWidget and CacheWidget of a recording."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import dask
from dask._task_spec import Task, TaskRef

import taskscope
from taskscope import CacheWidget, Recording, ResourceWidget

GRAPH = {
    "a-1": Task("a-1", bytes, 10_000),
    "b-1": Task("b-1", bytes, 20_000),
    "c-1": Task("c-1", lambda x, y: len(x) + len(y), TaskRef("a-1"), TaskRef("b-1")),
}
EMPTY = bytes(0).__sizeof__()


def len_or_none(result: object) -> float | None:
    return len(result) if isinstance(result, bytes) else None


def cache_traits(recording: Recording) -> dict[str, object]:
    names = ("metric", "n_keys", "nbytes", "value", "peak_n_keys", "peak_nbytes", "peak_value")
    with closing(CacheWidget(recording)) as widget:
        return {name: getattr(widget, name) for name in names}


def resource_traits(recording: Recording) -> dict[str, object]:
    with closing(ResourceWidget(recording)) as widget:
        return {name: getattr(widget, name) for name in ("n_cores", "limit_bytes", "rss_bytes", "n_samples")}


def test_the_cache_has_its_peak() -> None:
    with taskscope.profile(display=False) as run:
        dask.get(GRAPH, "c-1")
    assert cache_traits(run.recording) == {
        "metric": "nbytes",
        "n_keys": 0,
        "nbytes": 0,
        "value": None,
        "peak_n_keys": 2,
        "peak_nbytes": 30_000 + 2 * EMPTY,
        "peak_value": None,
    }


def test_a_recording_shows_the_same_from_memory_and_from_a_file(tmp_path: Path) -> None:
    with taskscope.profile(display=False, metric=len_or_none) as run:
        dask.get(GRAPH, "c-1")
    run.recording.save(tmp_path / "run.taskscope")
    loaded = taskscope.load(tmp_path / "run.taskscope")
    traits = cache_traits(run.recording)
    assert (traits["metric"], traits["peak_value"], traits["value"]) == ("len_or_none", 30_000.0, 0.0)
    assert (cache_traits(loaded), resource_traits(loaded)) == (traits, resource_traits(run.recording))
    assert [type(value) for value in resource_traits(run.recording).values()] == [int] * 4
