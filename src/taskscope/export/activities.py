"""What workers of a cluster did besides computing, as frames of a ``.taskscope`` file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.redaction import Redaction
from taskscope.export.checks import check_columns, require, whole_number
from taskscope.export.pack import pack, pieces, unpack
from taskscope.export.records import record_frames
from taskscope.export.schema import ACTIVITIES, ACTIVITY_SIZES
from taskscope.model import activities as model
from taskscope.model.activities import NO_ACTIVITIES, ActivityColumns, ActivityRows, Transfer
from taskscope.model.recording import RecordedData
from taskscope.record.tables.activities import ActivityLog

__all__ = ["ActivityParts", "GrowingActivities", "activity_frames", "check_activities", "transfers_of"]

_ROWS_PER_FRAME = 65_536


def activity_frames(recording: RecordedData) -> Iterator[tuple[str, bytes]]:
    """Yield the frames of activities, transfers and workers; none where nothing of them was seen."""
    yield from record_frames("workers", map(asdict, recording.workers))
    yield from record_frames("transfers", map(asdict, recording.transfers))
    activities = recording.activities
    if not len(activities.rows):
        return
    yield from record_frames("activity_sources", ({"name": name} for name in activities.sources))
    columns = {name: getattr(activities.rows, name) for name in ACTIVITIES}
    head = {"dropped": activities.dropped, "n_rows": len(activities.rows)}
    for piece in pieces(columns):
        yield "ACTV", pack(head, piece)


class GrowingActivities:
    """Says each activity and transfer once while more are seen, and bytes when they are known.

    Parameters
    ----------
    log
        What to tell of.
    first_run, start_s
        The first run and the time from which on it is told.
    redaction
        What becomes of names.
    """

    def __init__(self, log: ActivityLog, first_run: int, start_s: float, redaction: Redaction) -> None:
        self._log = log
        self._first_run = first_run
        self._start_s = start_s
        self._redaction = redaction
        self._cursor = self._n_written = self._n_sources = self._n_transfers = 0
        self._unsized: NDArray[np.int64] = np.empty((0, 2), np.int64)
        """Numbers of activities whose bytes are not known, in the log and in the file."""

    def next(self) -> Iterator[tuple[str, bytes]]:
        """Yield frames with everything that is new."""
        yield from self._sized()
        while self._cursor < self._log.cursor:
            first, rows = self._log.since(self._cursor, _ROWS_PER_FRAME)
            self._cursor = first + len(rows)
            sources = self._log.sources[self._n_sources :]
            self._n_sources += len(sources)
            names = ({"name": self._redaction.source(name)} for name in sources)
            yield from record_frames("activity_sources", names)
            mine = np.flatnonzero(rows.run >= self._first_run)
            yield from self._rows(rows.part(mine), first + mine)
        self._n_transfers, transfers = self._log.logged.since(self._n_transfers)
        new = (asdict(self._redaction.transfer(t)) for t in transfers if t.stop_s >= self._start_s)
        yield from record_frames("transfers", new)

    def _rows(self, rows: ActivityRows, numbers: NDArray[np.int64]) -> Iterator[tuple[str, bytes]]:
        if len(rows):
            yield "ACTP", pack({}, {name: getattr(rows, name) for name in ACTIVITIES})
            unsized = np.isnan(rows.nbytes)
            places = self._n_written + np.flatnonzero(unsized)
            self._unsized = np.concatenate([self._unsized, np.column_stack([numbers[unsized], places])])
            self._n_written += len(rows)

    def _sized(self) -> Iterator[tuple[str, bytes]]:
        if not len(self._unsized):
            return
        nbytes = self._log.nbytes_of(self._unsized[:, 0])
        known = ~np.isnan(nbytes)
        if known.any():
            places = self._unsized[known, 1].astype(np.int32)
            yield "ACTB", pack({}, {"place": places, "nbytes": nbytes[known]})
            self._unsized = self._unsized[~known]


class ActivityParts:
    """Takes such frames in order, and gives the activities once all came."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._sizes: list[Mapping[str, NDArray[Any]]] = []
        self._grows = False

    def add(self, content: bytes) -> None:
        """Take the next piece."""
        self._head, columns = unpack(content, ACTIVITIES)
        for name, values in columns.items():
            self._parts.setdefault(name, []).append(values)

    def add_part(self, content: bytes) -> None:
        """Take what was new while activities were seen."""
        _, columns = unpack(content, ACTIVITIES)
        require(columns.keys() == ACTIVITIES.keys(), "activities have all columns")
        require(len({len(c) for c in columns.values()}) == 1, "columns of activities must be equally long")
        self._grows = True
        for name, values in columns.items():
            self._parts.setdefault(name, []).append(values)

    def add_sizes(self, content: bytes) -> None:
        """Take the bytes of activities that came before."""
        _, columns = unpack(content, ACTIVITY_SIZES)
        require(columns.keys() == ACTIVITY_SIZES.keys(), "bytes of activities have all columns")
        require(len({len(c) for c in columns.values()}) == 1, "columns of activities must be equally long")
        self._sizes.append(columns)

    def columns(self, records: Mapping[str, Sequence[Any]]) -> ActivityColumns:
        """Return the activities; none where pieces are missing.

        Raises
        ------
        DamagedFileError
            If they contradict each other.
        """
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        lengths = {len(values) for values in joined.values()}
        if not joined or not (self._grows or [*lengths] == [self._head.get("n_rows")]):
            return NO_ACTIVITIES
        require(joined.keys() == ACTIVITIES.keys(), "activities have all columns")
        for sizes in self._sizes:
            require(_below(sizes["place"], len(joined["nbytes"])), "bytes are of an activity")
            joined["nbytes"][sizes["place"]] = sizes["nbytes"]
        return ActivityColumns(
            ActivityRows(**joined, group=np.zeros(len(joined["run"]), np.uint32)),
            tuple(row.name for row in records["activity_sources"]),
            whole_number(self._head.get("dropped", 0), "the number of dropped activities"),
        )


def transfers_of(records: Mapping[str, Sequence[Any]]) -> tuple[Transfer, ...]:
    """Return the transfers among the records of a file."""
    return tuple(replace(t, keys=tuple(t.keys)) for t in records["transfers"])


def check_activities(recording: RecordedData) -> None:
    """Raise unless the runs, tasks, lanes and sources that activities refer to are there.

    Raises
    ------
    DamagedFileError
        If not.
    """
    columns = recording.activities
    rows = columns.rows
    require(set(np.unique(rows.run).tolist()) <= recording.graphs.keys(), "an activity belongs to a run")
    for run in np.unique(rows.run).tolist():
        require(_below(rows.task[rows.run == run], len(recording.graphs[run].group)), "a task must be known")
    require(_below(rows.lane, len(recording.lanes)), "the lane of an activity must be known")
    require(_below(rows.kind, len(model.ACTIVITIES)), "the kind of an activity must be known")
    require(_below(rows.source, len(columns.sources)), "the source of an activity must be known")
    check_columns(ActivityRows, rows.arrays())
    require((rows.duration >= 0).all(), "a time must be possible")
    require(
        all(0 <= n < 2**31 for s in recording.workers for n in (s.n_threads, s.n_executing or 0)),
        "the number of threads must be possible",
    )


def _below(numbers: NDArray[Any], limit: int) -> bool:
    return bool(((numbers >= 0) & (numbers < limit)).all())
