"""Turn the flat rows that writers appended into columns, and into sums by group."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from taskscope.model.clock import whole_ticks
from taskscope.model.tables.columns import (
    MEASURED,
    RowBlock,
    possible_sizes,
    round_down_f4,
    stored_measures,
)
from taskscope.model.tables.records import ERRED, FINISHED, INTERRUPTED, STATUSES, flag_codes, flag_of
from taskscope.record.writers.runlog import FailedTask, LaneBuffer, LaneKey, ReportedTasks, RunLog, UnseenTask

_MAX_LANES = 200


class UnknownLanes:
    """Puts tasks of unknown threads into lanes in which no two overlap."""

    def __init__(self, free_from: dict[str, list[float]] | None = None) -> None:
        self._free_from = free_from or {}

    def place(self, start: float, stop: float, worker: str = "", label: str = "") -> LaneKey:
        """Return the lane of a task; beyond 200 lanes of a worker all share the last."""
        free = self._free_from.setdefault(worker, [])
        lane = next((i for i, since in enumerate(free) if since <= start), len(free))
        free[lane : lane + 1] = [stop]
        number = 1 + min(lane, _MAX_LANES)
        if worker:
            return LaneKey(0, -number, label=f"{label}, thread unknown {number}", worker=worker)
        return LaneKey(os.getpid(), -number, label=f"worker unknown {number}")

    def copy(self) -> UnknownLanes:
        return UnknownLanes({worker: list(free) for worker, free in self._free_from.items()})


@dataclass(slots=True)
class GroupSums:
    """Sums over the tasks of one group."""

    counts: list[int]
    duration_s: float = 0.0
    cpu_s: float = 0.0
    result_bytes: float = 0.0
    first_s: float | None = None

    @classmethod
    def zero(cls) -> GroupSums:
        return cls([0] * len(STATUSES))

    def add(self, other: GroupSums) -> None:
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.duration_s += other.duration_s
        self.cpu_s += other.cpu_s
        self.result_bytes += other.result_bytes
        self.first_s = min((s for s in (self.first_s, other.first_s) if s is not None), default=None)


def sum_by_group(block: RowBlock, group: NDArray[np.uint32]) -> Iterator[tuple[int, GroupSums]]:
    """Yield the sums over each group of a block's rows, by ascending group id."""
    ids, place = np.unique(group, return_inverse=True)
    status = flag_codes(block.flags, "status")
    n_statuses = len(STATUSES)
    counts = np.bincount(place * n_statuses + status, minlength=len(ids) * n_statuses)
    first = np.full(len(ids), np.inf)
    np.minimum.at(first, place, block.start)
    columns = (
        counts.reshape(-1, n_statuses),
        np.bincount(place, block.duration),
        np.bincount(place, np.nan_to_num(block.cpu_s)),
        np.bincount(place, np.nan_to_num(block.sizes())),
        first,
    )
    for group_id, *sums in zip(ids.tolist(), *(column.tolist() for column in columns), strict=True):
        yield group_id, GroupSums(*sums)


MAX_ROWS = 10_000
"""Most rows that are taken from one list at a time."""

_T = TypeVar("_T")
_Floats: TypeAlias = NDArray[np.float64]
_Rows: TypeAlias = tuple[list[object], NDArray[np.uint16], list[_Floats], NDArray[np.uint8]]


def take(rows: list[_T], width: int, limit: int = MAX_ROWS) -> list[_T]:
    """Remove and return up to `limit` whole rows from the front; safe while others append."""
    count = min(len(rows) // width, limit) * width
    taken = rows[:count]
    del rows[:count]
    return taken


class TakenRows:
    """A bounded number of rows from each of a run's lists, not in columns yet: their keys have no numbers."""

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._lanes = [
            (lane, flat) for lane in list(log.lanes.values()) if (flat := take(lane, LaneBuffer.WIDTH))
        ]
        for lane, flat in self._lanes:
            lane.folded = (flat[-LaneBuffer.WIDTH], cast("float", flat[1 - LaneBuffer.WIDTH]))
        self._remote = take(log.remote, RunLog.REMOTE_WIDTH)
        self._reported = _take_reported(log.reported)
        self._failed, self._unseen = take(log.failed, 1), take(log.unseen, 1)

    def block(
        self,
        numbers: Callable[[Sequence[object]], NDArray[np.int32]],
        lane_id: Callable[[LaneKey], int],
        unknown: UnknownLanes,
        origin: float,
    ) -> RowBlock | None:
        """Return the rows with tasks as numbers, and times counted from `origin`; None without rows."""
        parts = list(self._rows(lane_id, unknown))
        if not parts:
            return None
        keys, lanes, columns, flags = zip(*parts, strict=True)
        tasks = numbers(list(chain.from_iterable(keys)))
        start, stop, *values = (np.concatenate(column) for column in zip(*columns, strict=True))
        # Each is rounded, so that rounding makes no two overlap.
        start, stop = whole_ticks(start - origin), whole_ticks(stop - origin)
        duration = round_down_f4(np.maximum(stop - start, 0.0))
        measured = dict(zip(MEASURED, values, strict=True))
        measured["nbytes"] = possible_sizes(measured["nbytes"])
        # The CPU clock is read just outside of the other one, so it can be longer by a microsecond.
        measured["cpu_s"] = np.minimum(whole_ticks(measured["cpu_s"]).astype(np.float32), duration)
        stored = stored_measures(measured, len(tasks))
        return RowBlock(
            self._log.run, tasks, start, duration, np.concatenate(lanes), np.concatenate(flags), **stored
        )

    def errors(self) -> dict[object, str]:
        """Return the errors of tasks by their keys."""
        failed = {task.key: task.error for task in self._failed}
        return failed | {task.key: task.error for task in self._unseen if task.error is not None}

    def _rows(self, lane_id: Callable[[LaneKey], int], unknown: UnknownLanes) -> Iterator[_Rows]:
        """Yield keys, lanes, times and measures, and flags, by list."""
        for lane, flat in self._lanes:
            keys, *numbers = _columns(flat, LaneBuffer.WIDTH)
            lanes = np.full(len(keys), lane_id(lane.key), np.uint16)
            yield self._finished(keys, lanes, list(map(_floats, numbers)))
        if self._remote:
            keys, pids, threads, *numbers = _columns(self._remote, RunLog.REMOTE_WIDTH)
            ids = [lane_id(LaneKey(p, t)) for p, t in zip(pids, threads, strict=True)]  # type: ignore[arg-type]  # ints by construction
            yield self._finished(keys, np.array(ids, np.uint16), list(map(_floats, numbers)))
        for rows in self._reported:
            measured = _known_of(len(rows), **rows.measured)
            yield self._finished(
                rows.keys, _lane_ids(rows.lanes, lane_id), [rows.start, rows.stop, *measured]
            )
        if self._failed:
            lanes = np.array([lane_id(f.lane) for f in self._failed], np.uint16)
            flags = [INTERRUPTED if f.interrupted else ERRED for f in self._failed]
            cpu_s = _floats([f.cpu for f in self._failed])
            yield _ended(self._failed, lanes, flags, cpu_s=cpu_s)
        if self._unseen:
            ids = [
                lane_id(u.lane or unknown.place(u.start, u.stop, u.worker, u.worker_label))
                for u in self._unseen
            ]
            seen_by = flag_of("observed_by", "scheduler")
            flags = [flag_of("status", u.status) | seen_by for u in self._unseen]
            yield _ended(self._unseen, np.array(ids, np.uint16), flags)

    def _finished(self, keys: list[object], lanes: NDArray[np.uint16], numbers: list[_Floats]) -> _Rows:
        log = self._log
        if log.failed_keys:
            # With `rerun_exceptions_locally` Dask runs a failed task again; that is not a second task.
            first = np.array([key not in log.failed_keys for key in keys])
            keys = [key for key in keys if key not in log.failed_keys]
            lanes, numbers = lanes[first], [n[first] for n in numbers]
        # Pool threads go on after their compute has failed; the tasks that they end then were interrupted.
        end = np.inf if log.stop is None or log.status == "finished" else log.stop
        return keys, lanes, numbers, np.where(numbers[1] > end, INTERRUPTED, FINISHED).astype(np.uint8)


def _ended(
    ended: Sequence[FailedTask | UnseenTask], lanes: NDArray[np.uint16], flags: list[int], **known: _Floats
) -> _Rows:
    times = [_floats([e.start for e in ended]), _floats([e.stop for e in ended])]
    numbers = [*times, *_known_of(len(ended), **known)]
    return [e.key for e in ended], lanes, numbers, np.array(flags, np.uint8)


def _take_reported(batches: list[ReportedTasks]) -> list[ReportedTasks]:
    """Remove and return batches from the front: one, and those after it while they are few rows in all."""
    n_rows = np.cumsum([len(batch) for batch in batches])
    count = max(int(np.searchsorted(n_rows, MAX_ROWS, side="right")), 1)
    taken = batches[:count]
    del batches[:count]
    return taken


def n_takes(batches: Sequence[ReportedTasks]) -> float:
    """Return an upper bound of the number of reads of these batches: two in a row are many rows."""
    return 2 * sum(map(len, batches)) / MAX_ROWS


def _lane_ids(lanes: list[LaneKey], lane_id: Callable[[LaneKey], int]) -> NDArray[np.uint16]:
    # Few objects represent many lanes, and comparing lanes takes ten times as long as their identities.
    ids = {id(lane): lane for lane in lanes}
    known = {identity: lane_id(lane) for identity, lane in ids.items()}
    return np.array([known[id(lane)] for lane in lanes], np.uint16)


def _columns(flat: list[object], width: int) -> list[list[object]]:
    return [flat[place::width] for place in range(width)]


def _known_of(n: int, **known: _Floats) -> list[_Floats]:
    """Return all measures of `n` tasks, NaN where nothing is known."""
    return [known.get(name, np.full(n, np.nan)) for name in MEASURED]


def _floats(values: Sequence[object]) -> _Floats:
    try:
        return np.fromiter(values, np.float64, len(values))
    except (TypeError, ValueError, OverflowError):
        # A function that the user has given to `dask.sizeof` returned something else than a size.
        return np.array([_float(value) for value in values], np.float64)


def _float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError, OverflowError):
        return math.nan
