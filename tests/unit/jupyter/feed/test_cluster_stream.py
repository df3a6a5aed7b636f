"""What a page is told of a cluster, from recorders into which it was written by hand."""

from __future__ import annotations

import math
from typing import Any

from taskscope.analysis.time_left import Estimates
from taskscope.jupyter.feed.stream import PageStream
from taskscope.model.tables.workers import WorkerSample
from taskscope.record import LaneActivity, LaneKey, Recorder, RunLog
from taskscope.record.pump import Tick
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, report_task
from tests.support.wire_decoder import PageReader

LANE = LaneKey(0, 7, label="worker 0, thread 1", worker="tcp://a:1")


class Page:
    """Is told of a recorder by a stream of its own."""

    def __init__(self, recorder: Recorder) -> None:
        self.stream = PageStream(recorder, "r-1", 0, Estimates(recorder))
        self._reader = PageReader()

    def told(self) -> dict[str, Any]:
        """Return the tables of the next message, and the first row of each of which there are any."""
        _, buffers = self.stream.next(Tick(1.0, active=True, final=False))
        told = self._reader.read(buffers)
        return {**told["tables"], "firsts": told["firsts"]}


def transfer(key: str, start: float, token: int | None, nbytes: float = math.nan) -> LaneActivity:
    return LaneActivity(key, LANE, 0, start, start + 0.5, "tcp://b:2", token, nbytes)


def a_recorder() -> tuple[Recorder, RunLog]:
    recorder = Recorder(clock=FakeClock())
    return recorder, begin_run(recorder, {"x-1": (), "y-2": ("x-1",)})


def pull(recorder: Recorder) -> None:
    while recorder.pull():
        pass


def test_cpu_time_that_becomes_known_later_is_told_of_tasks_that_were_told() -> None:
    recorder, log = a_recorder()
    page = Page(recorder)
    start = recorder.origin + 1.0
    for place, key in enumerate(("x-1", "y-2")):
        report_task(log, key, LANE, start + place, start + place + 0.5)
    pull(recorder)
    assert [row["cpu_s"] for row in page.told()["tasks"]] == [None, None]
    log.metered.extend(("y-2", start + 1.0, 0.25, True))
    behind = [page.stream.behind]
    pull(recorder)
    behind.append(page.stream.behind)
    assert page.told()["metered"] == [{"row": 1, "cpu_s": 0.25, "cpu_from": 1}]
    assert [*behind, page.stream.behind] == [False, True, False]
    late = Page(recorder).told()
    assert ([row["cpu_s"] for row in late["tasks"]], late["metered"]) == ([None, 0.25], [])
    end_run(log)


def test_seconds_of_prefixes_are_told_when_they_have_grown_and_only_those() -> None:
    recorder, log = a_recorder()
    page = Page(recorder)
    for worker in ("tcp://a:1", "tcp://b:2"):
        recorder.metered.add(0, worker, "x", "thread-cpu", "seconds", 1.5)
    recorder.metered.add(0, "tcp://a:1", "y", "deserialize", "seconds", 0.25)
    behind = [page.stream.behind]
    told = [page.told()["metrics"]]
    behind.append(page.stream.behind)
    # Bytes are in no bar of seconds.
    recorder.metered.add(0, "tcp://a:1", "y", "deserialize", "bytes", 80.0)
    behind.append(page.stream.behind)
    recorder.metered.add(0, "tcp://b:2", "x", "thread-cpu", "seconds", 1.0)
    told += [page.told()["metrics"], page.told()["metrics"], Page(recorder).told()["metrics"]]
    x = {"run": 0, "prefix": "x", "activity": "thread-cpu"}
    y = {"run": 0, "prefix": "y", "activity": "deserialize", "seconds": 0.25}
    assert told == [
        [{**x, "seconds": 3.0}, y],
        [{**x, "seconds": 4.0}],
        [],
        [y, {**x, "seconds": 4.0}],
    ]
    assert behind == [True, False, False]
    end_run(log)


def test_activities_are_told_once_with_group_and_source() -> None:
    recorder, log = a_recorder()
    page = Page(recorder)
    log.activities.append(transfer("y-2", recorder.origin + 1.0, None, 80.0))
    pull(recorder)
    told = page.told()
    assert [row["text"] for row in told["sources"]] == ["", "tcp://b:2"]
    (row,) = told["activities"]
    assert recorder.groups[row.pop("group")].name == "y"
    assert row == {
        "run": 0, "lane": 0, "activity": 0, "source": 1, "start_s": 1.0, "duration_s": 0.5, "nbytes": 80.0,
    }  # fmt: skip
    assert (told["firsts"]["activities"], told["firsts"]["sources"]) == (0, 0)
    again = page.told()
    assert (page.stream.behind, again["activities"], again["sources"]) == (False, [], [])


def test_bytes_that_become_known_later_are_told_to_those_who_have_the_row() -> None:
    recorder, log = a_recorder()
    early = Page(recorder)
    log.activities.append(transfer("y-2", recorder.origin + 1.0, 1))
    pull(recorder)
    assert [row["nbytes"] for row in early.told()["activities"]] == [None]
    log.activity_bytes.append((1, 8e6))
    pull(recorder)
    assert early.stream.behind
    then = early.told()
    assert (then["activities"], then["completed"]) == ([], [{"row": 0, "nbytes": 8e6}])
    late = Page(recorder).told()
    assert ([row["nbytes"] for row in late["activities"]], late["completed"]) == ([8e6], [])
    end_run(log)
    pull(recorder)


def test_samples_are_told_once_and_a_worker_whenever_it_is_called_something_else() -> None:
    recorder, _ = a_recorder()
    page = Page(recorder)

    def said(time_s: float, worker: str, name: str, n_threads: int = 2) -> None:
        rest = (None, 1.5, 3.0, 2.0, 1.0, None, 4.0)
        recorder.workers.append(WorkerSample(time_s, worker, name, n_threads, *rest))

    said(1.0, "tcp://a:1", "0")
    said(1.5, "tcp://b:2", "tcp://b:2")
    told = page.told()
    assert [tuple(row.values()) for row in told["workers"]] == [
        (0, "tcp://a:1", "0", 2),
        (1, "tcp://b:2", "tcp://b:2", 2),
    ]
    rest = {
        "n_executing": None, "cpu_percent": 1.5, "rss_bytes": 3.0, "managed_bytes": 2.0,
        "spilled_bytes": None, "limit_bytes": 4.0, "tick_s": None, "gil_contention": None,
        "net_read_bps": None, "net_write_bps": None, "disk_read_bps": None, "disk_write_bps": None,
        "n_fds": None, "gpu_percent": None, "gpu_bytes": None,
    }  # fmt: skip
    assert told["worker_samples"] == [
        {"time_s": 1.0, "worker": 0, "n_threads": 2, **rest},
        {"time_s": 1.5, "worker": 1, "n_threads": 2, **rest},
    ]
    said(2.0, "tcp://b:2", "b")
    said(2.5, "tcp://a:1", "0", n_threads=0)
    told = page.told()
    assert [tuple(row.values()) for row in told["workers"]] == [(1, "tcp://b:2", "b", 2)]
    assert [(row["worker"], row["n_threads"]) for row in told["worker_samples"]] == [(1, 2), (0, 0)]
    assert told["firsts"]["worker_samples"] == 2
