"""What a file has that is written while recording, at each flush: everything that the recorder then holds."""

from __future__ import annotations

from contextlib import closing, suppress
from itertools import pairwise

import pytest

from taskscope.errors import DamagedFileError
from taskscope.model.redaction import redacted
from taskscope.record import Recorder
from taskscope.wire import writer
from tests.support.fakes.clock import FakeClock
from tests.support.files.streaming import DATA, StreamedFile, streamed
from tests.support.recordings.run_writing import begin_run, end_run, independent, write_task
from tests.support.recordings.tables import as_lists, read_back, rows, written

loaded = read_back


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
