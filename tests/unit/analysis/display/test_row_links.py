from __future__ import annotations

from dataclasses import replace

import pytest

from taskscope.analysis.display.page_tables import RowLinks, recorded_frames
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import Link, TaskLinks
from taskscope.record import Recorder
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import DIAMOND, begin_run, end_run, record_run, write_task
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row
from tests.support.wire_decoder import PageReader


@pytest.fixture
def recording(fake_clock: FakeClock) -> RecordedData:
    """Return a run of one task, and a diamond that ended in another order than it began."""
    recorder = Recorder(clock=fake_clock)
    record_run(recorder, ["before"])
    log = begin_run(recorder, DIAMOND, data={"data": 8.0})
    first = log.start + 10
    write_task(log, ("x", 1), first + 1, first + 2)
    write_task(log, ("x", 0), first, first + 3, thread=2)
    write_task(log, "sum", first + 3, first + 4)
    write_task(log, "last", first + 4, first + 5)
    end_run(log, stop=first + 5)
    while recorder.pull():
        pass
    return recorder.snapshot()


def test_a_recording_of_very_many_long_names_is_told_in_several_messages() -> None:
    n = 12_000
    recording = recording_of([Row(key=f"load{i:06}_{'p' * 500}", start_s=i, stop_s=i + 1) for i in range(n)])
    reader = PageReader()
    told = [reader.read([frames]) for frames in recorded_frames(recording)]
    assert [row[0] for said in told for row in said["groups"]] == list(range(n))
    assert [(said["first"], said["count"]) for said in told if said["count"]] == [(0, n)]
    assert len(told) > 2


def test_each_row_that_is_sent_knows_its_neighbours_by_the_rows_that_are_sent(
    recording: RecordedData,
) -> None:
    told = [PageReader().read([frames]) for frames in recorded_frames(recording)]
    assert [[row.key for row in batch["rows"]] for batch in told] == [
        ["before", "('x', 0)", "('x', 1)", "sum", "last"]
    ]
    links = RowLinks(recording)
    data, x0, x1, total = Link(None, "data"), Link(1, "('x', 0)"), Link(2, "('x', 1)"), Link(3, "sum")
    assert [links.of(row, 10) for row in range(6)] == [
        TaskLinks((), 0, (), 0),
        TaskLinks((data,), 1, (total,), 1),
        TaskLinks((data,), 1, (total,), 1),
        TaskLinks((x1, x0), 2, (Link(4, "last"),), 1),
        TaskLinks((total,), 1, (), 0),
        None,
    ]
    assert links.of(3, 1) == TaskLinks((x1,), 2, (Link(4, "last"),), 1)


def test_all_dependencies_between_rows_are_told_at_once_and_others_are_counted(
    recording: RecordedData,
) -> None:
    edges = RowLinks(recording).edges()
    assert (edges.source.tolist(), edges.target.tolist()) == ([3, 3, 4], [1, 2, 3])
    assert (edges.other_needs.tolist(), edges.other_users.tolist()) == ([0, 1, 1, 0, 0], [0, 0, 0, 0, 0])


def test_a_graph_that_is_not_known_has_no_links(recording: RecordedData) -> None:
    first, second = recording.graphs
    graphs = {first: recording.graphs[first], second: replace(recording.graphs[second], known=False)}
    links = RowLinks(replace(recording, graphs=graphs))
    assert [links.of(row, 10) for row in (0, 1)] == [TaskLinks((), 0, (), 0), None]


def test_tasks_in_flight_are_no_rows_and_still_ends(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, DIAMOND, data={"data": 8.0})
    write_task(log, ("x", 0), log.start, log.start + 1)
    while recorder.pull():
        pass
    links = RowLinks(recorder.snapshot())
    assert [links.of(row, 10) for row in (0, 1)] == [
        TaskLinks((Link(None, "data"),), 1, (Link(None, "sum"),), 1),
        None,
    ]
    edges = links.edges()
    assert [column.tolist() for column in (edges.source, edges.other_needs, edges.other_users)] == [
        [],
        [1],
        [1],
    ]


def test_nothing_recorded_has_no_rows(fake_clock: FakeClock) -> None:
    assert RowLinks(Recorder(clock=fake_clock).snapshot()).of(0, 10) is None
