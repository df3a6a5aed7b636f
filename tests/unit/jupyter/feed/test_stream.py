from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taskscope.analysis.time_left import Estimates
from taskscope.jupyter.feed import stream as stream_module
from taskscope.jupyter.feed.stream import PageStream
from taskscope.model.tables.records import Group, Message, RunningTask
from taskscope.record.pump import Tick
from taskscope.wire import batch as parts
from tests.support.fakes.recorder import FakeRecorder, run_of
from tests.support.recordings.task_blocks import Row
from tests.support.wire_decoder import PageReader

ACTIVE = Tick(1.0, active=True, final=False)
IDLE = Tick(1.0, active=False, final=False)


def rows(n: int) -> list[Row]:
    return [Row(key=("sum-1", i), start_s=i, stop_s=i + 0.5) for i in range(n)]


class Stream(PageStream):
    """A stream with the page that it is told to."""

    def __init__(self, recorder: FakeRecorder, cursor: int) -> None:
        super().__init__(recorder.as_recorder(), "rec-1", cursor, Estimates(recorder.as_recorder()))
        self._page = PageReader()

    def told(self, tick: Tick) -> dict[str, Any]:
        _, buffers = self.next(tick)
        return self._page.read(buffers)


def stream_of(recorder: FakeRecorder, cursor: int = 0) -> Stream:
    return Stream(recorder, cursor)


def test_each_row_and_table_entry_is_sent_once() -> None:
    recorder = FakeRecorder(rows(3))
    recorder.messages.append(Message(0.0, "info", "hello"))
    stream = stream_of(recorder)
    first = stream.told(ACTIVE)
    recorder.rows += rows(2)
    recorder.groups.append(Group(1, "inc", "inc"))
    second = stream.told(ACTIVE)
    told = [
        (m["seq"], m["first"], m["count"], m["groups"], len(m["lanes"]), len(m["messages"]))
        for m in (first, second)
    ]
    assert told == [(0, 0, 3, [(0, "sum-1", "sum", None)], 1, 1), (1, 3, 2, [(1, "inc", "inc", None)], 0, 0)]


def test_a_stream_starts_where_the_page_is() -> None:
    message = stream_of(FakeRecorder(rows(5)), cursor=3).told(IDLE)
    assert (message["seq"], message["first"], message["count"]) == (0, 3, 2)


def test_messages_are_longer_while_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "MAX_ROWS", 2)
    monkeypatch.setattr(stream_module, "MAX_IDLE_ROWS", 3)
    stream = stream_of(FakeRecorder(rows(9)))
    assert [stream.told(tick)["count"] for tick in (IDLE, ACTIVE, IDLE, IDLE)] == [3, 2, 3, 1]


def test_a_cursor_beyond_the_recorder_starts_at_its_end() -> None:
    message = stream_of(FakeRecorder(rows(5)), cursor=99).told(IDLE)
    assert (message["first"], message["count"]) == (5, 0)


def test_dropped_rows_are_skipped_and_told() -> None:
    recorder = FakeRecorder(rows(5))
    recorder.dropped = 4
    message = stream_of(recorder).told(IDLE)
    assert (message["first"], message["count"], message["dropped"]) == (4, 1, 4)


def test_rows_of_days_come_in_one_message_and_long_keys_in_several() -> None:
    days = FakeRecorder([Row(stop_s=1.0), Row(stop_s=900_000.0)])
    long = FakeRecorder([Row(key=f"{i}" + "é" * 600) for i in range(10_000)])
    counts: list[list[int]] = []
    for recorder in (days, long):
        stream = stream_of(recorder)
        counts.append([])
        while stream.behind:
            counts[-1].append(stream.told(IDLE)["count"])
    assert counts == [[2], [4096, 4096, 1808]]


def test_tables_that_are_too_long_for_a_message_come_in_several_each_row_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "_PART_BYTES", 20_000)
    monkeypatch.setattr(parts, "_FRAME_BYTES", 30_000)
    recorder = FakeRecorder(rows(5))
    recorder.groups += [Group(i, f"long-{i}" + "x" * 100, "long") for i in range(1, 500)]
    recorder.messages.append(Message(0.0, "info", "hello"))
    stream = stream_of(recorder)
    told = []
    while stream.behind:
        told.append(stream.told(ACTIVE))
        # What comes meanwhile is in a message after these.
        if len(told) == 1:
            recorder.rows += rows(1)
            recorder.groups.append(Group(500, "late", "late"))
    assert [message["seq"] for message in told] == list(range(len(told)))
    assert [row for message in told for row in message["groups"]] == [
        (group.id, group.name, group.prefix, None) for group in recorder.groups
    ]
    assert [(message["first"], message["count"]) for message in told if message["count"]] == [(0, 5), (5, 1)]
    assert [len(message["messages"]) for message in told if message["messages"]] == [1]
    assert len(told) > 3
    assert not stream.wants(IDLE)


def test_the_name_of_a_metric_is_told_with_its_compute_once_it_is_known() -> None:
    recorder = FakeRecorder()
    recorder.set_run(run_of(0))
    recorder.set_run(run_of(1))
    stream = stream_of(recorder)
    told = [stream.told(ACTIVE)["runs"]]
    recorder.metrics[1] = "weight"
    told += [stream.told(ACTIVE)["runs"] for _ in range(2)]
    assert [[(run["run"], run["metric"]) for run in runs] for runs in told] == [
        [(0, None), (1, None)],
        [(1, "weight")],
        [],
    ]


def test_progress_is_sent_when_it_changed_and_only_runs_in_flight_are_asked_for() -> None:
    recorder = FakeRecorder()
    recorder.set_run(run_of(0, status="finished"), finished=4)
    recorder.set_run(run_of(1))
    stream = stream_of(recorder)
    assert [row[0] for row in stream.told(ACTIVE)["progress"]] == [0, 1]
    recorder.progress_asked.clear()
    assert stream.told(ACTIVE)["progress"] == []
    recorder.progress_rows[1] = [replace(recorder.progress_rows[1][0], finished=2)]
    assert [row[3] for row in stream.told(ACTIVE)["progress"]] == [2]
    assert recorder.progress_asked == [(1, 1), (1, 1)]


def test_the_last_progress_of_a_run_is_sent_with_its_end() -> None:
    recorder = FakeRecorder()
    recorder.set_run(run_of(0), finished=1)
    stream = stream_of(recorder)
    stream.told(ACTIVE)
    recorder.set_run(run_of(0, status="finished"), finished=4)
    message = stream.told(IDLE)
    assert [run["status"] for run in message["runs"]] == ["finished"]
    assert [row[3] for row in message["progress"]] == [4]


def test_nothing_is_sent_when_nothing_is_new() -> None:
    stream = stream_of(FakeRecorder(rows(1)))
    stream.told(ACTIVE)
    quiet = Tick(1.5, active=True, final=False)
    assert [stream.wants(quiet), stream.wants(IDLE)] == [False, False]


def test_a_quiet_compute_is_heard_of_every_second_and_once_after_its_end() -> None:
    stream = stream_of(FakeRecorder(rows(1)))
    stream.told(ACTIVE)
    assert stream.wants(Tick(2.0, active=True, final=False))
    assert stream.wants(Tick(1.5, active=False, final=True))


def test_running_tasks_are_news_and_are_taken_back_when_all_is_over() -> None:
    recorder = FakeRecorder()
    stream = stream_of(recorder)
    stream.told(ACTIVE)
    recorder.now_running = [RunningTask(0, 0, 0, "('sum-1', 1)", 0.5)]
    assert stream.wants(ACTIVE)
    assert stream.told(ACTIVE)["running"] == [(0, 0, 0, "('sum-1', 1)", 0.5)]
    assert not stream.wants(ACTIVE)
    recorder.now_running = []
    assert stream.wants(IDLE)
    assert stream.told(IDLE)["running"] == []


def test_groups_beyond_the_wire_are_told_of_as_one() -> None:
    recorder = FakeRecorder()
    recorder.groups = [Group(i, f"g-{i}", "g") for i in range(65_537)]
    stream = stream_of(recorder)
    groups = stream.told(IDLE)["groups"]
    assert (len(groups), groups[-1]) == (65_536, (65_535, "further groups", "further groups", None))
    recorder.groups.append(Group(65_537, "late", "late"))
    assert stream.told(IDLE)["groups"] == []
