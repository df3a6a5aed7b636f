from __future__ import annotations

import threading
from pathlib import Path

import pytest

from taskscope.export.stream import FileStream
from taskscope.record import Recorder
from taskscope.record.pump import Tick


def stream_to(path: Path) -> FileStream:
    return FileStream(Recorder(), path, first_run=0, start_s=0.0, metadata={})


def test_a_beat_after_the_end_makes_neither_thread_nor_file(tmp_path: Path) -> None:
    stream = stream_to(tmp_path / "a.taskscope")
    stream.stop()
    stream.tick(Tick(0.0, active=True, final=False))
    assert (stream.made, list(tmp_path.iterdir())) == (False, [])


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
    stream.close()
    assert stream.made
