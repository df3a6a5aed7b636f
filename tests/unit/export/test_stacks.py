"""Samples of call stacks in a ``.taskscope`` file."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

import taskscope
from taskscope.errors import DamagedFileError
from taskscope.model.tables.stacks import NO_STACKS, StackColumns
from taskscope.recording import Recording
from tests.support.files.cases import changed, without
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.tables import read_back, written
from tests.support.recordings.task_blocks import Row

SAMPLES = stacks_of(
    [
        Sample(("f", "g"), 3, 0.3),
        Sample(("f",), 1, 0.1, start_s=1.0),
        Sample((), 2, 0.25, prefix="y", worker="5678"),
    ],
    dropped=7,
)


def with_stacks(stacks: StackColumns = SAMPLES) -> Recording:
    return replace(recording_of([Row(key="x-1")]), stacks=stacks)


def values(stacks: StackColumns) -> dict[str, object]:
    """Return all that is in it, arrays as their type and a list."""

    def plain(value: object) -> object:
        if isinstance(value, np.ndarray):
            return value.dtype.str, value.tolist()
        return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value

    return {name: plain(value) for name, value in asdict(stacks).items()}


def saved(recording: Recording, tmp_path: Path) -> Path:
    path = tmp_path / "a.taskscope"
    recording.save(path)
    return path


def test_a_file_gives_back_every_sample(tmp_path: Path) -> None:
    loaded = taskscope.load(saved(with_stacks(), tmp_path))
    assert values(loaded.stacks) == values(SAMPLES)
    assert list(loaded.profile().table()["seconds"]) == list(with_stacks().profile().table()["seconds"])


def test_what_a_cluster_profiled_has_no_cycle_and_comes_back(tmp_path: Path) -> None:
    profiled = replace(SAMPLES, cycle_s=None)
    loaded = taskscope.load(saved(with_stacks(profiled), tmp_path))
    assert values(loaded.stacks) == values(profiled)


def test_that_nothing_was_sampled_and_that_nothing_was_seen_are_told_apart(tmp_path: Path) -> None:
    none = taskscope.load(saved(with_stacks(NO_STACKS), tmp_path))
    assert values(none.stacks) == values(NO_STACKS)
    nothing = stacks_of([])
    (tmp_path / "a.taskscope").unlink()
    assert values(taskscope.load(saved(with_stacks(nothing), tmp_path)).stacks) == values(nothing)


@pytest.mark.parametrize(
    ("table", "column", "value", "message"),
    [
        ("calls", "parent", 1, "calls stand after their caller"),
        ("calls", "function", 2, "function must be known"),
        ("stacks", "prefix", 2, "prefix must be known"),
        ("stacks", "worker", 2, "worker must be known"),
        ("stacks", "call", 2, "call must be known"),
        ("stacks", "run", 2**31, "the number of a run must be possible"),
    ],
)
def test_samples_that_contradict_themselves_are_refused(
    table: str, column: str, value: float, message: str
) -> None:
    content = changed(written(with_stacks()), table, column, 0, value)
    with pytest.raises(DamagedFileError, match=message):
        read_back(content)


def test_samples_without_how_they_were_taken_are_refused() -> None:
    with pytest.raises(DamagedFileError, match="samples say how they were taken"):
        read_back(without(written(with_stacks()), "sampling"))
