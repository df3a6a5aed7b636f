"""Task rows for an offline page: the feed's buffers, rewritten to compress to about four bytes a task.

Rows come in the order in which tasks began. Each number is stored as what it differs by from the one before
in its lane (times) or in its group (sizes, key integers), and in each column all low bytes come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import TEXT
from taskscope.model.records import TaskBlock
from taskscope.wire.schema import LANE_BITS, UNKNOWN

__all__ = ["DenseTasks", "dense_tasks", "planes"]

_TICK_S = 1e-6
_MAX_TICKS = 2**32 - 2
_UNKNOWN_SHARE = 255
_SHARE_SCALE = 254


@dataclass(frozen=True, slots=True)
class DenseTasks:
    """Rows as bytes.

    Parameters
    ----------
    start_s, tick_s
        When tick 0 was, and how long a tick is: a microsecond, more only where tasks span over 71 minutes.
    content
        Columns, uncompressed: lane and status (u16), group (u16), ticks since the lane's last stop (u32),
        duration in ticks (u32), CPU share × 254 or 255 (u8), size code (u16), key dimensions (u8), key
        integers dimension by dimension (i32, zigzag), lengths (u16) and UTF-8 of text keys, errors (u16).
    """

    start_s: float
    tick_s: float
    content: bytes


def dense_tasks(tasks: TaskBlock, buffers: Sequence[bytes]) -> DenseTasks:
    """Rewrite the buffers of a batch.

    Parameters
    ----------
    tasks
        The rows that were encoded, in the order in which they began.
    buffers
        What `taskscope.wire.encode_batch` made of them, `taskscope.wire.BUFFERS`.
    """
    lane_status, group, _, _, cpu_share, size_code, dims, ints, lengths, text, error = buffers
    lanes = np.frombuffer(lane_status, "<u2")
    groups = np.frombuffer(group, "<u2")
    start_s, tick_s, gap, duration = _ticks(tasks, lanes & (2**LANE_BITS - 1))
    columns = [
        planes(lanes),
        planes(groups),
        planes(gap),
        planes(duration),
        _coarse_share(np.frombuffer(cpu_share, "<u2")).tobytes(),
        planes(_differences(np.frombuffer(size_code, "<u2"), groups)),
        dims,
        *_key_ints(np.frombuffer(dims, "u1"), np.frombuffer(ints, "<i4"), groups),
        planes(np.frombuffer(lengths, "<u2")),
        text,
        planes(np.frombuffer(error, "<u2")),
    ]
    return DenseTasks(start_s, tick_s, b"".join(columns))


def _ticks(
    tasks: TaskBlock, lanes: NDArray[np.uint16]
) -> tuple[float, float, NDArray[np.uint32], NDArray[np.uint32]]:
    n = len(lanes)
    start, stop = tasks.start[:n], tasks.stop[:n]
    if not n:
        return 0.0, _TICK_S, np.empty(0, "<u4"), np.empty(0, "<u4")
    start_s = float(start.min())
    tick_s = max(_TICK_S, (float(stop.max()) - start_s) / _MAX_TICKS)
    first = np.rint((start - start_s) / tick_s).astype(np.int64)
    # Clocks that step back must not make a task end before it began.
    last = np.maximum(np.rint((stop - start_s) / tick_s).astype(np.int64), first)
    gap = first - _before(last, lanes)
    return start_s, tick_s, (gap & 0xFFFFFFFF).astype("<u4"), (last - first).astype("<u4")


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
