"""Files as a block writes them while it records, made without a thread and without waiting."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from io import BytesIO
from types import CodeType, SimpleNamespace

from taskscope.export.native.stream import growing
from taskscope.model.recording import RecordedData
from taskscope.model.tables.activities import Steal, Transfer
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.workers import LogLine, WorkerSample
from taskscope.record import Holding, LaneActivity, Recorder, RunLog
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, lane_of, write_task

SECRET = "s3://me:hunter2@bucket/x?sig=hunter2"
KEYS: tuple[object, ...] = (("inc-1", 0), ("inc-1", 1), "total", b"bytes", ("add-2", 0, 5), SECRET)
WORKER = "tcp://me:hunter2@host:1"
DATA = ("data-3", 4)
_NEEDS: dict[object, Collection[object]] = {
    KEYS[0]: [DATA],
    KEYS[1]: [DATA],
    KEYS[2]: [KEYS[0], KEYS[1]],
    KEYS[4]: [KEYS[2], KEYS[3]],
}

_STACK = [
    (code, 0)
    for code in compile("def inner(): pass\ndef outer(): inner()", "work.py", "exec").co_consts
    if isinstance(code, CodeType)
]


class StreamedFile:
    """A file that takes what is new whenever it is told to."""

    def __init__(self, recorder: Recorder, *, first_run: int = 0, redact: bool = False) -> None:
        self.recorder = recorder
        self._file = BytesIO()
        metadata = {"label": "killed", "dt_s": 0.25}
        self.rows = growing(
            recorder, self._file, first_run=first_run, start_s=0.0, metadata=metadata, redact=redact
        )

    def flush(self) -> None:
        while self.recorder.pull():
            pass
        self.write_changes()

    def write_changes(self) -> None:
        self.rows.write()

    def close(self) -> None:
        self.rows.close()

    def content(self) -> bytes:
        return self._file.getvalue()


def streamed(clock: FakeClock, *, redact: bool = False) -> tuple[bytes, RecordedData]:
    """Return the file of a compute that was killed, and what the recorder held at its last flush.

    Four of six tasks have ended, one of them in a second flush; one is in flight. It has something in every
    table, although no compute is on threads and on a cluster.
    """
    recorder = Recorder(clock=clock)
    with closing(StreamedFile(recorder, redact=redact)) as file:
        log = begin_run(
            recorder,
            {DATA: [], **{key: _NEEDS.get(key, []) for key in KEYS}},
            kept=[KEYS[2]],
            data={DATA: 24.0},
        )
        log.metric = len  # type: ignore[assignment]  # any function will do: values are given
        for place, key in enumerate(KEYS[:3]):
            write_task(log, key, log.start + place, log.start + place + 0.5, cpu=0.25, size=8.0 * place)
        log.values.extend((KEYS[0], 1.5, KEYS[1], 2.5))
        sample(recorder, log, 1)
        log.activities.append(
            LaneActivity(KEYS[2], lane_of(log).key, 0, log.start + 1.5, log.start + 2.0, "tcp://a:1", 512.0)
        )
        clock.advance(3.0)
        recorder.resources.append(ResourceRows.of([(recorder.now_s(), 150.0, 7e6, 1, False)]))
        file.flush()
        write_task(log, KEYS[3], log.start + 3.0, log.start + 4.0, thread=2)
        lane_of(log, 2).open = SimpleNamespace(key=KEYS[4], start=log.start + 4.0)
        recorder.warn("something to know: %s", SECRET)
        recorder.stacks.end_cycle()
        sample(recorder, log, 2)
        clock.advance(1.5)
        file.flush()
        recording = recorder.snapshot()
    lane_of(log, 2).open = None
    end_run(log)
    return file.content(), recording


def sample(recorder: Recorder, log: RunLog, count: int) -> None:
    """Take `count` samples of a call stack, one of a worker, and log a transfer."""
    recorder.stacks.note(0.01, 1.0)
    for _ in range(count):
        recorder.stacks.add(log.run, f"read-{SECRET}", WORKER, _STACK, 0.01)
    at_s = recorder.now_s()
    recorder.workers.append(
        WorkerSample(at_s, f"tcp://a:{count}", WORKER, 2, 1, 150.0, 5e6, 1e6, 4e6, None, 1e9)
    )
    recorder.note_holdings(log.run, at_s, [Holding(KEYS[0], count, 8.0 * count, 1)])
    recorder.steals.append(Steal(at_s, log.run, SECRET, "tcp://a:1", WORKER, "stolen", 0.5, 2.0, 0.0))
    recorder.logs.append(LogLine(at_s, WORKER, "warning", f"worker: it is slow: {SECRET}"))
    recorder.activities.logged.append(
        Transfer("tcp://a:1", WORKER, "incoming", at_s, at_s + 0.5, 512.0, None, 1, (SECRET,))
    )
