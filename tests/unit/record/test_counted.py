"""Tasks of clusters that do not have to run, and tasks that run more than once, count as what they are."""

from __future__ import annotations

from dataclasses import replace

from taskscope.analysis.totals import prefix_progress
from taskscope.model.tables.records import PrefixProgress
from taskscope.record import GraphSource, Recorder
from taskscope.recording import Recording
from tests.support.clusters.repeated_tasks import EXPECTED, finish, record_repeated_tasks
from tests.support.fakes.clock import FakeClock
from tests.support.files.streaming import StreamedFile
from tests.support.recordings.tables import filed, read_back


def loaded(content: bytes) -> Recording:
    return Recording.of(read_back(content, partial=True))


def test_they_are_counted_once_live_and_in_the_recording(fake_clock: FakeClock) -> None:
    seen: list[list[PrefixProgress]] = []
    recorder, log = record_repeated_tasks(fake_clock, lambda recorder: seen.append(recorder.progress()))
    assert [[(row.total, row.finished, row.interrupted, row.skipped) for row in rows] for rows in seen] == [
        [(1, 0, 1, 2), (0, 0, 0, 2), (1, 0, 0, 0)],
        [(2, 2, 0, 1), (1, 1, 0, 1), (1, 0, 0, 0)],
        [(2, 2, 0, 1), (1, 1, 0, 1), (1, 1, 0, 0)],
        [(2, 2, 0, 1), (1, 1, 0, 1), (1, 1, 0, 0)],
    ]
    assert seen[-1] == EXPECTED
    recording = recorder.snapshot()
    assert prefix_progress(recording) == EXPECTED
    names = recording.graphs[log.run].keys.iter_text(
        [recording.groups[group].name for group in recording.graphs[log.run].group.tolist()]
    )
    assert [n for i, n in enumerate(names) if i in recording.graphs[log.run].skipped] == ["base-0", "add-0"]


def test_a_task_in_flight_again_is_what_its_last_row_says(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = recorder.begin()
    log.graph_source = GraphSource({"x-0": (), "x-1": ()}, frozenset(), {})
    log.n_tasks = 2
    finish(log, "x-0", 0.0)
    fake_clock.advance(2.0)
    log.superseded.extend(("x-0", 0))
    log.submitted["x-0"] = log.start + 1.5
    recorder.pull(1.0)
    expected = [PrefixProgress(0, "x", 2, 0, 0, 1, 0, 1.0, again=1, first_s=0.0)]
    assert recorder.progress() == expected
    (recorded,) = prefix_progress(recorder.snapshot())
    assert [replace(recorded, duration_s=1.0)] == expected


def test_what_does_not_have_to_run_is_not_ahead_of_an_estimate(fake_clock: FakeClock) -> None:
    ended: list[list[int] | None] = []

    def look(recorder: Recorder) -> None:
        found = recorder.ended(0)
        ended.append(None if found is None else sorted(set(found.tolist())))

    record_repeated_tasks(fake_clock, look)
    # Numbers are given by first appearance: add-2 was met first, then those that are skipped, in their order.
    assert ended == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]


def test_a_file_says_it_also_where_its_process_was_killed_or_began_to_write_late(
    fake_clock: FakeClock,
) -> None:
    counted: list[list[PrefixProgress]] = []
    live: list[list[PrefixProgress]] = []
    files: list[StreamedFile] = []

    def look(recorder: Recorder) -> None:
        files.append(StreamedFile(recorder))
        for file in files:
            file.write_changes()
            counted.append(prefix_progress(loaded(file.content())))
            live.append(recorder.progress())

    recorder, _ = record_repeated_tasks(fake_clock, look)
    for file in files:
        file.close()
    assert counted == live
    assert prefix_progress(filed(recorder.snapshot())) == EXPECTED


def test_a_graph_that_grows_may_grow_by_tasks_that_do_not_have_to_run(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = recorder.begin()
    log.graph_source = GraphSource({"x-0": ()}, frozenset(["x-0"]), {}, grows=True)
    log.skipped.extend(("x-0", True))
    recorder.pull(1.0)
    for i in range(1, 4):
        log.graph_growth.append(GraphSource({f"x-{i}": ()}, frozenset([f"x-{i}"]), {}, grows=True))
        log.skipped.extend((f"x-{i}", i != 2))
        recorder.pull(1.0)
    assert recorder.progress() == [PrefixProgress(0, "x", 1, 0, 0, 0, 0, 0.0, skipped=3)]
    assert recorder.snapshot().graphs[0].skipped.tolist() == [0, 1, 3]
