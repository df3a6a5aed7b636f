"""Files as a block writes them while it records, made without a thread and without waiting."""

from __future__ import annotations

from io import BytesIO

from taskscope.export.changes import Changes
from taskscope.export.frames import FrameWriter
from taskscope.model.recording import Recording
from taskscope.recorder import Recorder
from tests.support.fake_clock import FakeClock
from tests.support.run_writing import begin_run, end_run, independent, lane_of, write_task

KEYS: tuple[object, ...] = (("inc-1", 0), ("inc-1", 1), "total", b"bytes", ("add-2", 0, 5), ("inc-1", 2))


def streamed(clock: FakeClock) -> tuple[bytes, Recording]:
    """Return the file of a compute that was killed, and what the recorder held at its last flush.

    Four of six tasks have ended, one of them in a second flush; one is in flight.
    """
    recorder = Recorder(clock=clock)
    file = BytesIO()
    frames = FrameWriter(file)
    changes = Changes(recorder, first_run=0, start_s=0.0)
    frames.write("HEAD", changes.head({"label": "killed", "dt_s": 0.25}))
    log = begin_run(recorder, independent(KEYS), kept=[KEYS[2]])
    for place, key in enumerate(KEYS[:3]):
        write_task(log, key, log.start + place, log.start + place + 0.5, cpu=0.25, size=8.0 * place)
    clock.advance(3.0)
    recorder.resources.append(recorder.now_s(), 150.0, 7e6, 1, gap=False)
    _flush(recorder, changes, frames)
    write_task(log, KEYS[3], log.start + 3.0, log.start + 4.0, thread=2)
    lane_of(log, 2).open = (KEYS[4], log.start + 4.0)
    recorder.warn("something to know")
    clock.advance(1.5)
    _flush(recorder, changes, frames)
    recording = recorder.snapshot()
    lane_of(log, 2).open = None
    end_run(log)
    return file.getvalue(), recording


def _flush(recorder: Recorder, changes: Changes, frames: FrameWriter) -> None:
    while recorder.pull():
        pass
    for kind, content in changes.next():
        frames.write(kind, content)
