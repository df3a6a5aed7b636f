"""What a file has that is written while recording, at each flush: everything that the recorder then holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import dask
import pytest

import taskscope
from taskscope.codec import CutOffError, budget_for, read_frames
from taskscope.errors import DamagedFileError
from taskscope.model.recording import RecordedData
from taskscope.model.redaction import redacted
from taskscope.record import Recorder
from taskscope.wire import writer
from tests.support.fakes.clock import FakeClock
from tests.support.files.streaming import DATA, StreamedFile, streamed
from tests.support.recordings.run_writing import begin_run, end_run, independent, write_task
from tests.support.recordings.tables import as_lists, read_back, rows, written
from tests.support.waiting import until

loaded = read_back


def frames_of(content: bytes) -> Iterator[tuple[int, bytes]]:
    with suppress(CutOffError):
        yield from read_frames(BytesIO(content), budget_for(len(content)))


def chain(n: int) -> dict[object, list[object]]:
    """Return a graph in which each task needs the one before, and the first one data."""
    keys: list[object] = [DATA, *(("x-1", i) for i in range(n))]
    return {DATA: [], **{key: [needed] for needed, key in pairwise(keys)}}


def test_a_file_that_begins_in_the_middle_of_computes_has_all_of_them(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    before = begin_run(recorder, independent(["a"]))
    write_task(before, "a", before.start, before.start + 1)
    over, on = (begin_run(recorder, chain(3), data={DATA: 8.0}, kept=[("x-1", 2)]) for _ in range(2))
    for log in (over, on):
        write_task(log, ("x-1", 0), log.start, log.start + 1, size=4.0)
    end_run(before)
    end_run(over)
    while recorder.pull():
        pass
    with closing(StreamedFile(recorder, first_run=1)) as file:
        file.flush()
        write_task(on, ("x-1", 1), on.start + 1, on.start + 2)
        fake_clock.advance(10.0)
        file.flush()
        live = redacted(recorder.snapshot(first_run=1))
    left = loaded(file.content())
    for table in ("tasks", "dependencies", "cache"):
        assert as_lists(left, table) == as_lists(live, table)


def test_a_saved_file_that_is_cut_names_the_tables_that_lack_rows(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_BYTES", 0)  # a frame for each table
    recording = redacted(streamed(fake_clock)[1])
    content, compared = written(recording), ("tasks", "transfers", "workers", "logs", "steals", "resources")
    found: list[frozenset[str]] = []
    # No frame is shorter, so every number of whole ones is met.
    for length in range(0, len(content), 32):
        with suppress(DamagedFileError):
            part = loaded(content[:length], partial=True)
            lacking = {name for name in compared if len(rows(part, name)) < len(rows(recording, name))}
            assert part.unknown.intersection(compared) == lacking
            found.append(part.unknown)
    assert found[0] == {*compared, "activities", "lines", "stacks"}
    assert {name for unknown in found for name in unknown} == {*found[0], "cache", "dependencies"}
    assert loaded(content).unknown == set()


def test_names_are_redacted_while_recording(fake_clock: FakeClock) -> None:
    content, live = streamed(fake_clock, redact=True)
    unpacked = b"".join(frame for _, frame in frames_of(content))
    assert [word for word in (b"hunter2", b"bucket") if word in unpacked] == []
    left = loaded(content)
    assert len(set(left.table("tasks")["key"])) == len(set(live.table("tasks")["key"]))
    assert len(left.table("dependencies")["key"]) == len(live.table("dependencies")["key"])


def test_a_block_leaves_names_out_of_its_file_while_it_runs_and_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.taskscope"
    early: list[RecordedData] = []

    def watch(value: int) -> int:
        until(lambda: is_written(path))
        early.append(taskscope.load(path))
        return value

    graph = {"secret-1": (abs, -1), "secret-2": (watch, "secret-1")}
    with taskscope.profile(save=path, redact=True, label="secret", display=False):
        assert dask.get(graph, "secret-2") == 1
    whole = taskscope.load(path)
    for recording in (early[0], whole):
        assert "secret" not in repr((as_lists(recording), dict(recording.metadata), recording.stacks))
    assert [len(r.table("tasks")["key"]) for r in (early[0], whole)] == [2, 2]


def is_written(path: Path) -> bool:
    """Whether the first task stands in the file, and the second one as in flight."""
    return path.exists() and len(frames_of_path(path)) > 0 and len(taskscope.load(path).tasks) == 2


def frames_of_path(path: Path) -> list[tuple[int, bytes]]:
    content = path.read_bytes()
    return list(frames_of(content)) if content else []
