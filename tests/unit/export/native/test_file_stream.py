from __future__ import annotations

import threading
from pathlib import Path

import pytest

import taskscope
from taskscope.export.native.stream import FileStream
from taskscope.record import Recorder
from taskscope.record.pump import Tick
from taskscope.recording import Recording
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, independent, write_task
from tests.support.recordings.tables import as_lists

DAY_S = 86_400.0


def stream_to(path: Path) -> FileStream:
    return FileStream(Recorder(), path, first_run=0, start_s=0.0, metadata={})


def test_a_beat_after_the_end_makes_neither_thread_nor_file(tmp_path: Path) -> None:
    stream = stream_to(tmp_path / "a.taskscope")
    stream.stop()
    stream.tick(Tick(0.0, active=True, final=False))
    assert (stream.made, list(tmp_path.iterdir())) == (False, [])


def test_a_block_that_lasts_longer_than_times_of_its_file_says_so_and_is_saved_at_its_end(
    tmp_path: Path, fake_clock: FakeClock
) -> None:
    recorder = Recorder(clock=fake_clock)
    path = tmp_path / "a.taskscope"
    stream = FileStream(recorder, path, first_run=0, start_s=0.0, metadata={})
    log = begin_run(recorder, independent(["a"]))
    fake_clock.advance(50 * DAY_S)
    write_task(log, "a", log.start, fake_clock.perf_counter())
    end_run(log)
    stream._run()
    recording = Recording.of(recorder.snapshot())
    said = "is not written any more while recording, only at the end: its times end 48 d 13 h after taskscope"
    assert [message.text for message in recording.messages] == [f"{str(path)!r} {said} began to record"]
    recording.save(path, overwrite=True)
    assert as_lists(taskscope.load(path)) == as_lists(recording)


def test_an_end_that_comes_while_the_thread_starts_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = stream_to(tmp_path / "a.taskscope")
    start, ending = threading.Thread.start, threading.Thread(target=stream.stop)

    def start_while_somebody_stops(thread: threading.Thread) -> None:
        if thread.name == "taskscope-file":
            start(ending)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_while_somebody_stops)
    stream.tick(Tick(0.0, active=True, final=False))
    ending.join()
    assert stream.made
