"""What a recorder has learnt since the last time, as frames of a file that is written while recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.redaction import without_credentials
from taskscope.export.native import sample_columns
from taskscope.export.pack import keys_columns, pack, pack_json
from taskscope.export.records import record_frames
from taskscope.export.schema import Head, TickState
from taskscope.model.columns import SCHEDULER_OBSERVED, narrow_sizes
from taskscope.model.records import Group, Lane, Message, Run, TaskBlock
from taskscope.recorder import Recorder

__all__ = ["Changes"]

_ROWS_PER_FRAME = 10_000
_MAX_RUNNING = 200


class Changes:
    """Says each thing once, in such an order that every frame refers only to earlier ones.

    Parameters
    ----------
    recorder
        What to tell of.
    first_run
        The first run that belongs to the file.
    start_s
        The zero of the recording, in seconds after the recorder's.
    """

    def __init__(self, recorder: Recorder, *, first_run: int, start_s: float) -> None:
        self._recorder = recorder
        self._first_run = first_run
        self._start_s = start_s
        self._cursor = recorder.cursor
        self._version = 0
        self._n_groups = self._n_lanes = 0
        self._messages: list[Message] = []
        self._written: Counter[int] = Counter()
        """How many tasks of each run are in the file."""
        self._sampled_s = np.nextafter(start_s, -np.inf)

    def head(self, metadata: Mapping[str, object]) -> bytes:
        """Return the content of the first frame."""
        head: Head = {
            "started_at": (self._recorder.started_at + timedelta(seconds=self._start_s)).isoformat(),
            "zero_s": self._start_s,
            "metadata": _cleaned(metadata),
            "streamed": True,
            "n_rows": None,
        }
        return pack_json(head)

    def next(self) -> Iterator[tuple[str, bytes]]:
        """Yield frames with everything that is new; they count as written."""
        recorder = self._recorder
        while self._cursor + _ROWS_PER_FRAME < recorder.cursor:
            tasks = self._new_tasks()
            yield from self._tables()
            yield from self._tasks(tasks)
        tasks, running = self._new_tasks(), recorder.running()[:_MAX_RUNNING]
        # Read after the tasks, which may name groups and lanes that are only now known; written before them.
        yield from self._tables()
        yield from self._tasks(tasks)
        yield from self._samples()
        mine = [
            (t.run, t.lane, t.group, without_credentials(t.key_text), t.start_s)
            for t in running
            if t.run >= self._first_run
        ]
        state: TickState = {"now_s": recorder.now_s(), "running": mine}
        yield "TICK", pack_json(state)

    def _new_tasks(self) -> TaskBlock:
        first, tasks = self._recorder.tasks_since(self._cursor, _ROWS_PER_FRAME)
        self._cursor = first + len(tasks)
        return tasks

    def _tables(self) -> Iterator[tuple[str, bytes]]:
        recorder = self._recorder
        self._version, runs = recorder.runs_since(self._version)
        yield from record_frames("runs", _rows(run for run in runs if run.run >= self._first_run))
        groups, lanes = recorder.groups[self._n_groups :], recorder.lanes[self._n_lanes :]
        self._n_groups += len(groups)
        self._n_lanes += len(lanes)
        yield from record_frames("groups", _rows(groups))
        yield from record_frames("lanes", _rows(lanes))
        messages = recorder.messages_log.messages(self._start_s)
        if messages != self._messages:
            self._messages = messages
            yield from record_frames("messages", _rows(messages))

    def _tasks(self, tasks: TaskBlock) -> Iterator[tuple[str, bytes]]:
        mine = np.flatnonzero(tasks.run >= self._first_run)
        if len(mine):
            keys = tasks.keys.take(mine)
            columns = {
                "run": tasks.run[mine],
                "group": tasks.group[mine],
                "lane": tasks.lane[mine],
                "start": tasks.start[mine],
                "duration": (tasks.stop - tasks.start)[mine].astype(np.float32),
                "cpu": tasks.cpu[mine],
                "size": narrow_sizes(tasks.size[mine]),
                "flags": (tasks.status | tasks.observed * SCHEDULER_OBSERVED)[mine].astype(np.uint8),
                **keys_columns(replace(keys, texts=tuple(map(without_credentials, keys.texts)))),
            }
            yield "TASK", pack({}, columns)
            yield from record_frames("errors", self._errors(tasks, mine))

    def _errors(self, tasks: TaskBlock, mine: NDArray[np.int64]) -> Iterator[dict[str, object]]:
        """Yield what tasks raised, by the place of each among those of its run in the file."""
        for run in np.unique(tasks.run[mine]).tolist():
            rows = mine[tasks.run[mine] == run]
            for place in np.flatnonzero(np.isin(rows, list(tasks.errors))).tolist():
                text = without_credentials(tasks.errors[int(rows[place])])
                yield {"run": run, "task": self._written[run] + place, "text": text}
            self._written[run] += len(rows)

    def _samples(self) -> Iterator[tuple[str, bytes]]:
        samples = self._recorder.resources.between(self._sampled_s, None)
        samples = samples[samples[:, 0] > self._sampled_s]
        if len(samples):
            self._sampled_s = samples[-1, 0]
            yield "SMPL", pack({}, sample_columns(samples))


def _rows(records: Iterable[Group | Lane | Message | Run]) -> Iterator[dict[str, object]]:
    return (_cleaned(asdict(record)) for record in records)


def _cleaned(row: Mapping[str, object]) -> dict[str, object]:
    return {k: without_credentials(v) if isinstance(v, str) else v for k, v in row.items()}
