"""What a recorder has learnt since the last time, as frames of a file that is written while recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from taskscope.analysis.redaction import Redact, Redaction
from taskscope.export.activities import GrowingActivities
from taskscope.export.growing import GrowingTasks
from taskscope.export.holdings import holding_frames
from taskscope.export.pack import pack, pack_json
from taskscope.export.records import record_frames
from taskscope.export.schema import Head, TickState
from taskscope.export.stacks import GrowingStacks
from taskscope.model.records import Message
from taskscope.record import Recorder

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Changes"]

_MAX_HOLDINGS = 65_536
_Record = TypeVar("_Record", bound="DataclassInstance")


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
    redact
        What becomes of names, as in `taskscope.Recording.save`.

    Raises
    ------
    OptionError
        If `redact` is neither True, False nor a function.
    """

    def __init__(self, recorder: Recorder, *, first_run: int, start_s: float, redact: Redact = False) -> None:
        self._redaction = Redaction.of(redact)
        self._recorder = recorder
        self._first_run = first_run
        self._start_s = start_s
        self._version = 0
        self._n_groups = self._n_lanes = self._n_workers = self._n_holdings = self._n_samples = 0
        self._messages: list[Message] = []
        self._follower = recorder.follow(first_run)
        self._tasks = GrowingTasks(self._follower, self._redaction)
        self._stacks = GrowingStacks(recorder.stacks, first_run, self._redaction)
        self._activities = GrowingActivities(recorder.activities, first_run, start_s, self._redaction)

    def close(self) -> None:
        """Have the recorder keep nothing more for this file."""
        self._follower.close()

    def head(self, metadata: Mapping[str, object]) -> bytes:
        """Return the content of the first frame."""
        head: Head = {
            "started_at": (self._recorder.started_at + timedelta(seconds=self._start_s)).isoformat(),
            "zero_s": self._start_s,
            "metadata": self._redaction.metadata(metadata),
            "streamed": True,
            "n_rows": None,
            "unknown": [],
        }
        return pack_json(head)

    def next(self) -> Iterator[tuple[str, bytes]]:
        """Yield frames with everything that is new; they count as written."""
        for frames in self._tasks.next():
            # Read after the tasks, which may name groups and lanes that are only now known; written before.
            yield from self._tables()
            yield from frames
        yield from self._samples()
        yield from self._holdings()
        yield from self._stacks.next()
        yield from self._activities.next()
        state: TickState = {"now_s": self._recorder.now_s(), "running": self._tasks.in_flight}
        yield "TICK", pack_json(state)

    def _tables(self) -> Iterator[tuple[str, bytes]]:
        recorder, redaction = self._recorder, self._redaction
        self._version, runs = recorder.runs_since(self._version)
        yield from record_frames(
            "runs", _rows(redaction.run(run) for run in runs if run.run >= self._first_run)
        )
        groups, lanes = recorder.groups[self._n_groups :], recorder.lanes[self._n_lanes :]
        self._n_groups += len(groups)
        self._n_lanes += len(lanes)
        yield from record_frames("groups", _rows(map(redaction.group, groups)))
        yield from record_frames("lanes", _rows(map(redaction.lane, lanes)))
        messages = recorder.messages_log.messages(self._start_s)
        if messages != self._messages:
            self._messages = messages
            yield from record_frames("messages", _rows(map(redaction.message, messages)))

    def _holdings(self) -> Iterator[tuple[str, bytes]]:
        first, rows = self._recorder.holdings.since(self._n_holdings, _MAX_HOLDINGS)
        self._n_holdings = first + len(rows)
        mine = rows.part(np.flatnonzero(rows.run >= self._first_run))
        if len(mine):
            # Read after the rows, which may name groups that are only now known; written before.
            yield from self._tables()
            yield from holding_frames(mine)

    def _samples(self) -> Iterator[tuple[str, bytes]]:
        first, samples = self._recorder.resources.since(self._n_samples, self._recorder.resources.max_rows)
        self._n_samples = first + len(samples)
        samples = samples.part(samples.time >= self._start_s)
        if len(samples):
            yield "SMPL", pack({}, samples.arrays())
        self._n_workers, found = self._recorder.workers.since(self._n_workers)
        workers = (self._redaction.worker(sample) for sample in found if sample.time_s >= self._start_s)
        yield from record_frames("workers", _rows(workers))


def _rows(records: Iterable[_Record]) -> Iterator[dict[str, object]]:
    return map(asdict, records)
