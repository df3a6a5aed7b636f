"""Task columns to the binary buffers of a batch; vectorised, a few nanoseconds per task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import TEXT, KeyBlock
from taskscope.model.records import TaskBlock
from taskscope.wire.schema import LANE_BITS, LAST_GROUP, SPAN_S, UNKNOWN, TaskRunRow
from taskscope.wire.text import wire_text

__all__ = ["LAST_LANE", "MAX_ERRORS", "EncodedTasks", "encode_tasks", "task_runs"]

LAST_LANE = 2**LANE_BITS - 1
"""The highest lane id the wire holds; all further lanes share it."""

MAX_ERRORS = 1_000
"""Most different error texts in one message; rows with further ones share an entry that says so."""

_SHARE_SCALE = 65534
_SIZE_SCALE = 1024


@dataclass(frozen=True, slots=True)
class EncodedTasks:
    """The first `count` rows of a block; fewer than it has where their stop times span too long."""

    count: int
    base_s: float
    task_runs: list[TaskRunRow]
    errors: list[str]
    buffers: list[bytes]


def encode_tasks(tasks: TaskBlock) -> EncodedTasks:
    """Encode rows from the first on, as many as one message can hold.

    Parameters
    ----------
    tasks
        Rows in folding order.

    Returns
    -------
    EncodedTasks
        At least one row if there is one.
    """
    count = _rows_within_span(tasks.stop)
    stop = tasks.stop[:count]
    base_s = float(stop.min()) if count else 0.0
    # Clocks that step back must not make a task end before it began.
    duration = np.maximum(stop - tasks.start[:count], 0.0)
    columns: list[NDArray[np.generic]] = [
        _lane_status(tasks, count),
        np.minimum(tasks.group[:count], LAST_GROUP).astype("<u2"),
        np.rint((stop - base_s) * 1e6).astype("<u4"),
        duration.astype("<f4"),
        _cpu_share(tasks.cpu[:count], duration),
        _size_code(tasks.size[:count]),
    ]
    codes, errors = _error_codes(np.flatnonzero(tasks.status[:count]).tolist(), tasks.errors)
    buffers = [
        *(column.tobytes() for column in columns),
        *_key_buffers(tasks.keys, count),
        codes.tobytes(),
    ]
    return EncodedTasks(count, base_s, task_runs(tasks.run[:count]), errors, buffers)


def _rows_within_span(stop: NDArray[np.float64]) -> int:
    # Rows are only roughly sorted by stop, so the running extremes decide, not the first and last row.
    too_wide = np.maximum.accumulate(stop) - np.minimum.accumulate(stop) > SPAN_S
    return int(too_wide.argmax()) if too_wide.any() else len(stop)


def _lane_status(tasks: TaskBlock, count: int) -> NDArray[np.uint16]:
    code: NDArray[np.uint16] = np.minimum(tasks.lane[:count], LAST_LANE).astype("<u2")
    code |= tasks.status[:count].astype("<u2") << LANE_BITS
    code |= tasks.observed[:count].astype("<u2") << 15
    return code


def _cpu_share(cpu: NDArray[np.float32], duration: NDArray[np.float64]) -> NDArray[np.uint16]:
    share = np.divide(cpu, duration, out=np.zeros(len(cpu)), where=duration > 0)
    code = np.rint(np.clip(share, 0.0, 1.0) * _SHARE_SCALE)
    return np.where(np.isnan(cpu), UNKNOWN, code).astype("<u2")


def _size_code(size: NDArray[np.float64]) -> NDArray[np.uint16]:
    code = np.rint(np.log2(1.0 + np.maximum(size, 0.0)) * _SIZE_SCALE)
    return np.where(np.isnan(size), UNKNOWN, np.minimum(code, UNKNOWN - 1)).astype("<u2")


def _key_buffers(keys: KeyBlock, count: int) -> list[bytes]:
    dims = keys.dims[:count]
    is_text = dims == TEXT
    n_ints = int(dims[~is_text].sum(dtype=np.int64))
    texts = [wire_text(text).encode() for text in keys.texts[: int(is_text.sum())]]
    lengths = np.fromiter(map(len, texts), "<u2", len(texts))
    return [
        dims.astype("u1").tobytes(),
        keys.ints[:n_ints].astype("<i4").tobytes(),
        lengths.tobytes(),
        b"".join(texts),
    ]


def _error_codes(failed: list[int], errors: Mapping[int, str]) -> tuple[NDArray[np.uint16], list[str]]:
    """Return a code for each failed row, and the texts that the codes are places of."""
    places: dict[str, int] = {}
    codes = np.full(len(failed), UNKNOWN, "<u2")
    for i, row in enumerate(failed):
        error = errors.get(row)
        if error is not None:
            text = wire_text(error)
            if text not in places and len(places) >= MAX_ERRORS:
                text = f"(more than {MAX_ERRORS:,} different errors)"
            codes[i] = places.setdefault(text, len(places))
    return codes, list(places)


def task_runs(run: NDArray[np.int32]) -> list[TaskRunRow]:
    """Return runs of rows as each run's number and how many consecutive rows it has."""
    if not len(run):
        return []
    starts = np.concatenate(([0], np.flatnonzero(np.diff(run)) + 1))
    counts = np.diff(np.concatenate((starts, [len(run)])))
    return list(zip(run[starts].tolist(), counts.tolist(), strict=True))
