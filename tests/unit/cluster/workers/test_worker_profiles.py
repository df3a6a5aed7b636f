"""What workers are doing, read from them while they do it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from distributed import Client

import taskscope
from taskscope.model.tables.stacks import StackColumns
from taskscope.session import current
from taskscope.sources.cluster.workers import samples
from tests.support.clusters.tasks import spend
from tests.support.waiting import until


def is_sampled(client: Client, prefix: str) -> bool:
    return bool(client.profile(key=prefix)["count"] >= 20)


def samples_of(prefix: str) -> StackColumns:
    """Return what this session has sampled of the last compute."""
    recorder = current().recorder
    stacks = recorder.stacks.between(recorder.next_run - 1, None)
    assert set(stacks.prefixes) <= {prefix}
    return stacks


def test_what_workers_do_is_known_while_they_do_it_each_sample_once(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "_EVERY_S", 0.1)
    with taskscope.profile(display=False) as run:
        futures = client.map(spend, [tmp_path / "end"] * 8, key=[f"live-{i}" for i in range(8)])
        # Several looks at cycles of a second.
        until(lambda: len(np.unique(samples_of("live").rows.start)) >= 2)
        assert not any(future.done() for future in futures)
        (tmp_path / "end").touch()
        client.gather(futures)
    profile = run.recording.profile()
    (prefix,) = profile.root.children
    assert (prefix.name, max(prefix.children, key=lambda node: node.seconds).name) == ("live", "spend")
    # All that the workers counted, and nothing twice.
    assert profile.n_samples == client.profile(key="live")["count"]
    tasks = run.recording.tasks
    assert profile.root.seconds == pytest.approx(float((tasks.stop - tasks.start).sum()))


def test_samples_have_their_worker_and_their_time(client: Client, tmp_path: Path) -> None:
    with taskscope.profile(display=False) as run:
        for name in ("first", "second"):
            future = client.submit(spend, tmp_path / name, key=f"{name}-1")
            until(partial(is_sampled, client, name))
            (tmp_path / name).touch()
            future.result()
    recording = run.recording
    table = recording.table("tasks")
    of_lane = {lane.id: lane for lane in recording.lanes}
    for key, lane in zip(table["key"], recording.tasks.lane.tolist(), strict=True):
        name = str(key).partition("-")[0]
        profile = recording.profile(prefix=name)
        assert profile.n_samples == recording.profile(prefix=name, worker=of_lane[lane].worker).n_samples
        assert profile.n_samples == client.profile(key=name)["count"]
    starts = recording.stacks.rows.start - recording.zero_s
    assert -1.0 <= float(starts.min()) <= float(starts.max()) <= max(map(float, table["stop_s"]))


def test_where_nobody_wants_samples_workers_are_not_asked(client: Client, tmp_path: Path) -> None:
    (tmp_path / "end").touch()
    with taskscope.profile(display=False, stacks=False) as run:
        client.submit(spend, tmp_path / "end", pure=False).result()
        (scheduler,) = current().cluster.schedulers.all()
        assert not scheduler.owes_samples
    assert run.recording.profile().n_samples == 0
