"""What workers of a cluster did besides computing, as frames of a ``.taskscope`` file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.export.checks import require, whole_number
from taskscope.export.pack import pack, pieces, unpack
from taskscope.export.records import record_frames
from taskscope.export.schema import ACTIVITIES
from taskscope.model import activities as model
from taskscope.model.activities import NO_ACTIVITIES, ActivityColumns, ActivityRows, Transfer
from taskscope.model.recording import Recording

__all__ = ["ActivityParts", "activity_frames", "check_activities", "transfers_of"]

_MAX_S = 1e10
_COLUMNS = tuple(field.name for field in fields(ActivityRows))


def activity_frames(recording: Recording) -> Iterator[tuple[str, bytes]]:
    """Yield the frames of activities, transfers and workers; none where nothing of them was seen."""
    yield from record_frames("workers", map(asdict, recording.workers))
    yield from record_frames("transfers", map(asdict, recording.transfers))
    activities = recording.activities
    if not len(activities.rows):
        return
    yield from record_frames("activity_sources", ({"name": name} for name in activities.sources))
    columns: dict[str, NDArray[Any]] = {name: getattr(activities.rows, name) for name in _COLUMNS}
    head = {"dropped": activities.dropped, "n_rows": len(activities.rows)}
    for piece in pieces(columns):
        yield "ACTV", pack(head, piece)


class ActivityParts:
    """Takes such frames in order, and gives the activities once all came."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._parts: dict[str, list[NDArray[Any]]] = {}

    def add(self, content: bytes) -> None:
        """Take the next piece."""
        self._head, columns = unpack(content, ACTIVITIES)
        for name, values in columns.items():
            self._parts.setdefault(name, []).append(values)

    def columns(self, records: Mapping[str, Sequence[Any]]) -> ActivityColumns:
        """Return the activities; none where pieces are missing.

        Raises
        ------
        DamagedFileError
            If they contradict each other.
        """
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        lengths = {len(values) for values in joined.values()}
        if not joined or lengths != {self._head.get("n_rows")}:
            return NO_ACTIVITIES
        require(joined.keys() == ACTIVITIES.keys(), "activities have all columns")
        return ActivityColumns(
            ActivityRows(**joined),
            tuple(row["name"] for row in records["activity_sources"]),
            whole_number(self._head.get("dropped"), "the number of dropped activities"),
        )


def transfers_of(records: Mapping[str, Sequence[Any]]) -> tuple[Transfer, ...]:
    """Return the transfers among the records of a file."""
    return tuple(replace(t, keys=tuple(map(str, t.keys))) for t in records["transfers"])


def check_activities(recording: Recording) -> None:
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
    possible = (np.abs(rows.start) < _MAX_S) & (rows.duration >= 0) & (rows.duration < _MAX_S)
    require(possible.all(), "a time must be possible")
    require(all(abs(s.time_s) < _MAX_S for s in recording.workers), "a time must be possible")
    require(
        all(0 <= s.n_threads < 2**31 for s in recording.workers), "the number of threads must be possible"
    )
    for transfer in recording.transfers:
        require(transfer.direction in ("incoming", "outgoing"), "a transfer comes or goes")
        require(abs(transfer.start_s) < _MAX_S and abs(transfer.stop_s) < _MAX_S, "a time must be possible")


def _below(numbers: NDArray[Any], limit: int) -> bool:
    return bool(((numbers >= 0) & (numbers < limit)).all())
