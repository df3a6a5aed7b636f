"""Task rows for an offline page: the feed's buffers, rewritten to compress to about four bytes a task.

Rows come in the order in which tasks began. Each number is stored as what it differs by from the one before
in its lane (times) or in its group (sizes, key integers), and in each column all low bytes come first. Lanes
are numbered anew for each row, the one that has been idle for longest first: mostly it is that one's turn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import TEXT
from taskscope.model.recording import RecordedData
from taskscope.model.records import TaskBlock
from taskscope.wire.schema import LANE_BITS, UNKNOWN

__all__ = ["TICK_S", "DenseTasks", "dense_tasks", "page_tick_s", "planes"]

TICK_S = 1e-6
"""What times are rounded to, but for long tasks in large numbers."""

_MANY_TASKS = 250_000
_TICKS_PER_TASK = 500
_STEPS = (5, 2, 1)
_MAX_TICKS = 2**32 - 2
_UNKNOWN_SHARE = 255
_SHARE_SCALE = 254
_Ticks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DenseTasks:
    """Rows as bytes.

    Parameters
    ----------
    start_s, tick_s
        When tick 0 was, and how long a tick is: what was asked for, more only where tasks span over 2**32
        ticks (71 minutes of microseconds).
    content
        Columns, uncompressed: how many lanes that have had a task stopped before the lane's last stop and
        were not used since (for a lane's first task, how many have had one at all, and how many lower numbers
        have not), and status (u16), group (u16), ticks since the lane's last stop (u32),
        duration in ticks (u32), CPU share × 254 or 255 (u8), size code (u16), key dimensions (u8), key
        integers dimension by dimension (i32, zigzag), lengths (u16) and UTF-8 of text keys, errors (u16).
    """

    start_s: float
    tick_s: float
    content: bytes


def page_tick_s(recording: RecordedData) -> float:
    """Return what a page rounds times to.

    A microsecond; where there are more than 250,000 tasks, a five-hundredth of a task's mean duration,
    rounded down to 1, 2 or 5 of a power of ten, if that is more.
    """
    durations = [np.asarray(block.duration, np.float64).sum() for block in recording.blocks]
    n_tasks = sum(map(len, recording.blocks))
    if n_tasks <= _MANY_TASKS:
        return TICK_S
    wanted = sum(durations) / n_tasks / _TICKS_PER_TASK
    if wanted <= TICK_S:
        return TICK_S
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(next(step * power for step in _STEPS if step * power <= wanted))


def dense_tasks(tasks: TaskBlock, buffers: Sequence[bytes], tick_s: float = TICK_S) -> DenseTasks:
    """Rewrite the buffers of a batch.

    Parameters
    ----------
    tasks
        The rows that were encoded, in the order in which they began.
    buffers
        What `taskscope.wire.encode_batch` made of them, `taskscope.wire.BUFFERS`.
    tick_s
        What times are rounded to, in seconds.
    """
    lane_status, group, _, _, cpu_share, size_code, dims, ints, lengths, text, error = buffers
    codes = np.frombuffer(lane_status, "<u2")
    lanes = codes & (2**LANE_BITS - 1)
    groups = np.frombuffer(group, "<u2")
    start_s, tick_s, first, last = _ticks(tasks, len(lanes), tick_s)
    gap, duration = first - _before(last, lanes), last - first
    columns = [
        planes((codes - lanes) | _turns(lanes, last)),
        planes(groups),
        planes((gap & 0xFFFFFFFF).astype("<u4")),
        planes(duration.astype("<u4")),
        _coarse_share(np.frombuffer(cpu_share, "<u2")).tobytes(),
        planes(_differences(np.frombuffer(size_code, "<u2"), groups)),
        dims,
        *_key_ints(np.frombuffer(dims, "u1"), np.frombuffer(ints, "<i4"), groups),
        planes(np.frombuffer(lengths, "<u2")),
        text,
        planes(np.frombuffer(error, "<u2")),
    ]
    return DenseTasks(start_s, tick_s, b"".join(columns))


def _ticks(tasks: TaskBlock, n: int, tick_s: float) -> tuple[float, float, _Ticks, _Ticks]:
    """Return when tick 0 is, how long one is, and the ticks at which the first `n` tasks began and ended."""
    start, stop = tasks.start[:n], tasks.stop[:n]
    if not n:
        return 0.0, tick_s, np.empty(0, np.int64), np.empty(0, np.int64)
    start_s = float(start.min())
    tick_s = max(tick_s, (float(stop.max()) - start_s) / _MAX_TICKS)
    first = np.rint((start - start_s) / tick_s).astype(np.int64)
    # Clocks that step back must not make a task end before it began.
    last = np.maximum(np.rint((stop - start_s) / tick_s).astype(np.int64), first)
    return start_s, tick_s, first, last


def _turns(lanes: NDArray[np.uint16], last: _Ticks) -> NDArray[np.uint16]:
    """Return each row's lane as its place: those that had a task come first, by when that ended."""
    fresh = list(range(int(lanes.max(initial=0)) + 1))
    idle: list[int] = []
    since: list[int] = []
    turns = []
    for lane, stop in zip(lanes.tolist(), last.tolist(), strict=True):
        if lane in idle:
            turn = idle.index(lane)
            del idle[turn], since[turn]
        else:
            turn = len(idle) + fresh.index(lane)
            fresh.remove(lane)
        turns.append(turn)
        place = bisect_right(since, stop)
        since.insert(place, stop)
        idle.insert(place, lane)
    return np.array(turns, "<u2")


def _before(values: NDArray[np.int64], kind: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Return for each row the value of the row before it that is of the same kind, 0 for the first."""
    order = np.argsort(kind, kind="stable")
    moved = np.concatenate([[0], values[order][:-1]]) if len(values) else values
    moved[np.flatnonzero(np.diff(kind[order], prepend=-1))] = 0
    before = np.empty_like(moved)
    before[order] = moved
    return before


def _differences(values: NDArray[np.uint16], kind: NDArray[np.uint16]) -> NDArray[np.uint16]:
    wide = values.astype(np.int64)
    return ((wide - _before(wide, kind)) & 0xFFFF).astype("<u2")


def _coarse_share(share: NDArray[np.uint16]) -> NDArray[np.uint8]:
    coarse = np.rint(share * (_SHARE_SCALE / (UNKNOWN - 1)))
    return np.where(share == UNKNOWN, _UNKNOWN_SHARE, coarse).astype(np.uint8)


def _key_ints(
    dims: NDArray[np.uint8], ints: NDArray[np.int32], groups: NDArray[np.uint16]
) -> Iterator[bytes]:
    lengths = np.where(dims == TEXT, 0, dims).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    for place in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > place)
        values = ints[starts[rows] + place].astype(np.int64)
        change = (values - _before(values, groups[rows])).astype(np.int32)
        yield planes(((change << 1) ^ (change >> 31)).view("<u4"))


def planes(values: NDArray[np.unsignedinteger]) -> bytes:
    """Return the low bytes of all values, then their next bytes, and so on."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.itemsize).T.tobytes()
