"""What is true of page, file and recordings alike, in whatever order is written and read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from taskscope.analysis.progress import Estimates
from taskscope.jupyter.feed.stream import PageStream
from taskscope.model.recording import RecordedData
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.workers import WorkerSample
from taskscope.record import LaneActivity, LaneKey, Recorder
from taskscope.record.pump import Tick
from taskscope.record.tables.log import Readable
from taskscope.record.tables.recent import RecentLog
from tests.support.fakes.clock import FakeClock
from tests.support.files.streaming import StreamedFile
from tests.support.recordings.run_writing import begin_run, end_run, independent, report_task
from tests.support.recordings.tables import read_back
from tests.support.wire_decoder import PageReader

MAX_ROWS = 4
ACTS = st.lists(
    st.sampled_from(["task", "activity", "sample", "worker", "fold", "page", "file", "recording"]),
    max_size=40,
)
TIMES = {"tasks": "stop_s", "resources": "time_s", "activities": "start_s", "worker_samples": "time_s"}
N_UNKNOWN = len(fields(WorkerSample)) - 4


class Written:
    """A recorder that holds few rows, of which the n-th one of every table begins at n seconds."""

    def __init__(self, n_keys: int) -> None:
        self.recorder = Recorder(clock=FakeClock(), max_tasks=MAX_ROWS)
        self.recorder.resources.max_rows = self.recorder.activities.max_rows = MAX_ROWS
        self.recorder.workers = RecentLog(MAX_ROWS // 2)
        self.keys = [(f"group{n % 5}-1", n) for n in range(n_keys)]
        self.log = begin_run(self.recorder, independent(self.keys))
        self.n = dict.fromkeys(("task", "activity", "sample", "worker"), 0)

    def act(self, name: str) -> None:
        if name == "fold":
            self.fold()
        elif name in self.n:
            self._append(name, self.n[name])
            self.n[name] += 1

    def _append(self, name: str, n: int) -> None:
        lane, start = LaneKey(0, n % 3, worker=f"tcp://a:{n % 2}"), self.recorder.origin + n
        if name == "task":
            report_task(self.log, self.keys[n], lane, start, start + 0.5)
        elif name == "activity":
            source = f"tcp://b:{n % 4}"
            self.log.activities.append(LaneActivity(self.keys[n], lane, 0, start, start + 0.5, source, 8.0))
        elif name == "worker":
            self.recorder.workers.append(WorkerSample(float(n), lane.worker, "a", 2, *[None] * N_UNKNOWN))
        else:
            self.recorder.resources.append(ResourceRows.of([(float(n), 50.0, 1e6, 1, False)]))

    def fold(self) -> None:
        self.recorder.pull_all()

    def logs(self) -> dict[str, Readable[Any]]:
        """Return the logs by the names of their tables."""
        recorder = self.recorder
        return {
            "tasks": recorder.tasks,
            "resources": recorder.resources,
            "activities": recorder.activities,
            "worker_samples": recorder.workers,
        }


class Expected:
    """What a reader is told that reads each row once, but those that were dropped before it came."""

    def __init__(self, written: Written) -> None:
        self._written = written
        self._cursors: dict[str, int] = defaultdict(int)
        self.told: dict[str, list[int]] = defaultdict(list)

    def read(self) -> None:
        for name, log in self._written.logs().items():
            self.told[name] += range(max(self._cursors[name], log.dropped), log.cursor)
            self._cursors[name] = log.cursor


class Page:
    """Notes the numbers of rows it is told; what they refer to was told before or with them."""

    def __init__(self, written: Written) -> None:
        self._stream = PageStream(written.recorder, "r-1", 0, Estimates(written.recorder))
        self._reader = PageReader()
        self._known = dict.fromkeys(("groups", "lanes", "sources"), 0)
        self.expected = Expected(written)
        self.told: dict[str, list[int]] = defaultdict(list)

    def read(self) -> None:
        self.expected.read()
        _, buffers = self._stream.next(Tick(1.0, active=True, final=False))
        message = self._reader.read(buffers)
        for name in self._known:
            self._known[name] += len(message["tables"][name])
        for name, time in TIMES.items():
            rows = message["tables"][name]
            numbers = list(range(message["firsts"].get(name, 0), message["firsts"].get(name, 0) + len(rows)))
            self.told[name] += numbers
            assert [int(row[time]) for row in rows] == numbers
            for refers, to in (("group", "groups"), ("lane", "lanes"), ("source", "sources")):
                assert all(row.get(refers, -1) < self._known[to] for row in rows)
        assert not self._stream.behind


class File:
    """Is whole after each part: what reads it refuses a row that refers to what is not there."""

    def __init__(self, written: Written) -> None:
        self._written = written
        self._file = StreamedFile(written.recorder)
        self.expected = Expected(written)

    def read(self) -> None:
        self.expected.read()
        self._file.write_changes()
        assert self.told() == self.expected.told

    def told(self) -> dict[str, list[int]]:
        return rows_in(read_back(self._file.content()))

    def close(self) -> None:
        self._file.close()


def rows_in(recording: RecordedData) -> dict[str, list[int]]:
    """Return the numbers of a recording's rows; its tasks, groups and lanes are put together from them."""
    names = {f"('group{n % 5}-1', {n})" for n in recording.tasks.start.astype(int).tolist()}
    assert set(recording.table("tasks")["key"]) == names
    workers = np.array([sample.time_s for sample in recording.workers])
    starts = (recording.tasks.start, recording.resources.time, recording.activities.rows.start, workers)
    return dict(zip(TIMES, (start.astype(int).tolist() for start in starts), strict=True))


class Cut:
    """A recording is cut from the rows that the recorder still has, and counts the others."""

    def __init__(self, written: Written) -> None:
        self._written = written

    def read(self) -> None:
        recording = self._written.recorder.snapshot()
        logs = self._written.logs()
        assert rows_in(recording) == {
            name: list(range(log.dropped, log.cursor)) for name, log in logs.items()
        }
        dropped = (recording.dropped, recording.activities.dropped)
        assert dropped == (logs["tasks"].dropped, logs["activities"].dropped)


@given(ACTS)
@settings(max_examples=120)
def test_each_reader_is_told_each_row_once_after_what_it_refers_to_and_how_many_were_dropped(
    acts: Sequence[str],
) -> None:
    written = Written(n_keys=len(acts))
    written.fold()
    page, cut = Page(written), Cut(written)
    with closing(File(written)) as file:
        readers: dict[str, Page | File | Cut] = {
            "page": page,
            "file": file,
            "recording": cut,
        }
        for name in acts:
            if name in readers:
                readers[name].read()
            else:
                written.act(name)
        end_run(written.log)
        written.fold()
        page.read()
        cut.read()
        assert page.told == page.expected.told
        file.read()
