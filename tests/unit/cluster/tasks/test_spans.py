"""Spans of distributed as labels of tasks, as the scheduler has them: it puts each group into one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask
from distributed import Client, span

import taskscope
from taskscope.recording import Recording
from tests.support.waiting import until


def compute(client: Client, *keys: str) -> None:
    """Compute a task of each name, and wait until the scheduler has forgotten it and its group."""
    client.get({key: (sum, [1, 2]) for key in keys}, list(keys))
    cluster: Any = client.cluster
    until(lambda: cluster.scheduler.tasks.keys().isdisjoint(keys))


def spans_of(recording: Recording) -> list[tuple[str, str | None]]:
    tasks = recording.to_pandas("tasks").sort_values(["run", "key"])
    spans = [text if isinstance(text, str) else None for text in tasks["span"]]
    return list(zip(tasks["key"].tolist(), spans, strict=True))


def test_tasks_have_their_span_with_those_around_it_also_when_saved_and_loaded(
    client: Client, tmp_path: Path
) -> None:
    with taskscope.profile(display=False) as profiled:
        with span("load"):
            compute(client, "nested-read")
            with span("decode", "png"):
                compute(client, "nested-image", "nested-mask")
        with dask.annotate(span={"name": ("mine",), "ids": ("1",)}):
            compute(client, "nested-annotated")
        compute(client, "nested-free")
    recording = profiled.recording
    told = [
        ("nested-read", "load"),
        ("nested-image", "load / decode / png"),
        ("nested-mask", "load / decode / png"),
        ("nested-annotated", "mine"),
        ("nested-free", None),
    ]
    assert spans_of(recording) == told
    recording.save(tmp_path / "spans.taskscope")
    assert spans_of(taskscope.load(tmp_path / "spans.taskscope")) == told
    decoded = recording.to_pandas("tasks").query("span.str.startswith('load / decode')")
    assert sorted(decoded["key"]) == ["nested-image", "nested-mask"]


def test_the_same_tasks_are_in_one_span_after_another(client: Client) -> None:
    with taskscope.profile(display=False) as first:
        for name in ("a", "b", "a"):
            with span(name):
                compute(client, "again")
        compute(client, "again")
    with taskscope.profile(display=False) as second:
        compute(client, "again")
    assert [text for _, text in spans_of(first.recording)] == ["a", "b", "a", None]
    assert [text for _, text in spans_of(second.recording)] == [None]


def test_tasks_that_are_submitted_to_one_run_have_the_span_they_were_submitted_in(client: Client) -> None:
    with taskscope.profile(display=False) as profiled:
        with span("a"):
            one = client.submit(abs, 1, key="one")
        with span("b"):
            two = client.submit(abs, one, key="two")
        client.gather([one, two])
    assert spans_of(profiled.recording) == [("one", "a"), ("two", "b")]
