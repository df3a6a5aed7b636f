"""Samples of call stacks in a ``.taskscope`` file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import taskscope
from taskscope.errors import DamagedFileError
from taskscope.export import native
from taskscope.export.frames import FrameWriter, read_frames
from taskscope.export.pack import pack
from taskscope.export.stacks import stack_frames
from taskscope.model.stacks import NO_STACKS, StackColumns
from taskscope.recording import Recording
from tests.support.recordings import recording_of
from tests.support.stacks import Sample, stacks_of
from tests.support.task_blocks import Row

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


def saved(recording: Recording, tmp_path: Path, **options: bool) -> Path:
    path = tmp_path / "a.taskscope"
    recording.save(path, **options)
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


def test_a_file_without_samples_has_no_part_for_them(tmp_path: Path) -> None:
    assert list(stack_frames(NO_STACKS)) == []


def test_names_are_redacted_like_those_of_tasks(tmp_path: Path) -> None:
    loaded = taskscope.load(saved(with_stacks(), tmp_path, redact=True))
    assert loaded.stacks.prefixes[0] == loaded.groups[0].prefix
    names = [*loaded.stacks.prefixes, *(n for f in loaded.stacks.functions for n in (f.name, f.file))]
    assert [name for name in names if not name.startswith("name-")] == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda s: replace(s, parent=np.array([0, 0], "i4")), "calls stand after their caller"),
        (lambda s: replace(s, parent=np.array([-2, 0], "i4")), "calls stand after their caller"),
        (lambda s: replace(s, function=np.array([0, 2], "i4")), "a function must be known"),
        (lambda s: replace(s, function=np.array([0], "i4")), "a call has a function"),
        (lambda s: replace(s, prefixes=("x",)), "the prefix of a sample must be known"),
        (lambda s: replace(s, workers=("1234",)), "the worker of a sample must be known"),
        (lambda s: in_rows(s, node=np.array([2, 0, -1], "i4")), "the call of a sample must be known"),
        (lambda s: in_rows(s, count=np.array([1], "u4")), "columns of samples must be equally long"),
        (lambda s: in_rows(s, seconds=np.array([0.1, -1.0, 0.1])), "a time must be possible"),
        (lambda s: in_rows(s, start=np.array([0.1, np.nan, 0.1])), "a time must be possible"),
        (lambda s: replace(s, dropped=-1), "the number of dropped samples must be a whole number"),
        (lambda s: replace(s, interval_s="often"), "interval_s must be a number"),
    ],
)
def test_samples_that_contradict_themselves_are_refused(
    damage: Callable[[StackColumns], StackColumns], message: str, tmp_path: Path
) -> None:
    path = saved(with_stacks(damage(SAMPLES)), tmp_path)
    with pytest.raises(DamagedFileError, match=message):
        taskscope.load(path)


def in_rows(stacks: StackColumns, **columns: object) -> StackColumns:
    return replace(stacks, rows=replace(stacks.rows, **columns))  # type: ignore[arg-type]  # as named


def test_pieces_are_put_together_and_a_missing_one_leaves_no_samples(tmp_path: Path) -> None:
    file = BytesIO()
    native.write(with_stacks(), file)
    frames = list(read_frames(BytesIO(file.getvalue()), 2**30))
    place = [kind for kind, _ in frames].index("STCK")
    head = {"interval_s": 0.01, "cycle_s": 1.0, "dropped": 7}
    lengths = {"parent": 2, "function": 2}
    lengths |= dict.fromkeys(("start", "run", "prefix", "worker", "node", "count", "seconds"), 3)
    halves = []
    for rows in (slice(0, 1), slice(1, None)):
        columns = {name: getattr(SAMPLES, name)[rows] for name in ("parent", "function")}
        columns |= {name: getattr(SAMPLES.rows, name)[rows] for name in list(lengths)[2:]}
        halves.append(("STCK", pack({**head, "lengths": lengths}, columns)))
    assert values(load_frames([*frames[:place], *halves, *frames[place + 1 :]], tmp_path)) == values(SAMPLES)
    missing = load_frames([*frames[:place], halves[0], *frames[place + 1 :]], tmp_path)
    assert values(missing) == values(NO_STACKS)


def load_frames(frames: list[tuple[str, bytes]], tmp_path: Path) -> StackColumns:
    path = tmp_path / "pieces.taskscope"
    with path.open("wb") as file:
        writer = FrameWriter(file)
        for kind, content in frames:
            writer.write(kind, content)
    return taskscope.load(path).stacks
