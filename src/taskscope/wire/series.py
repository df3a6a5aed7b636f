"""Samples of resources and rows of what was held, to the binary buffers of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taskscope.model.held import HeldRows
from taskscope.wire.schema import LAST_GROUP, SPAN_S, HeldRunRow, HeldSection, ResourcesSection
from taskscope.wire.tasks import task_runs
from taskscope.wire.text import wire_text

__all__ = ["HeldPart", "ResourcesPart", "encode_held", "encode_resources"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResourcesPart:
    """Samples for one message.

    Parameters
    ----------
    first, dropped
        Number of the first sample, and how many the recorder no longer holds.
    samples
        Rows of time, CPU percent (100 per core, NaN unknown), resident bytes, processes, gap before (0, 1).
    n_cores, limit_bytes
        What the process may use; None where unknown.
    """

    first: int = 0
    dropped: int = 0
    samples: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 5)))
    n_cores: int | None = None
    limit_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldPart:
    """Rows of what was held, for one message.

    Parameters
    ----------
    first, dropped
        Number of the first row, and how many the recorder no longer holds.
    rows
        The rows.
    metrics
        Names of the users' metrics, by run.
    unknown
        Whether rows may be missing because what was held of some compute is not known.
    """

    first: int = 0
    dropped: int = 0
    rows: HeldRows = field(default_factory=HeldRows.empty)
    metrics: Mapping[int, str] = field(default_factory=dict)
    unknown: bool = False


def encode_resources(part: ResourcesPart) -> tuple[ResourcesSection, list[bytes]]:
    """Return the JSON part and the buffers of samples."""
    samples = part.samples
    section: ResourcesSection = {
        "first": part.first,
        "count": len(samples),
        "dropped": part.dropped,
        "n_cores": part.n_cores,
        "limit_bytes": part.limit_bytes,
    }
    codes = ("<f8", "<f4", "<f8", "<u2", "<u1")
    columns = np.minimum(samples, (np.inf, np.inf, np.inf, 65535, 1)).T
    return section, [column.astype(code).tobytes() for column, code in zip(columns, codes, strict=True)]


def encode_held(part: HeldPart) -> tuple[HeldSection, list[bytes]]:
    """Return the JSON part and the buffers of held rows, as many as one message can hold."""
    count = _rows_within_span(part.rows.time)
    rows = part.rows.part(slice(count))
    base_s = float(rows.time.min()) if count else 0.0
    section: HeldSection = {
        "first": part.first,
        "count": count,
        "dropped": part.dropped,
        "base_s": base_s,
        "runs": _runs(rows.run, part.metrics),
        "unknown": part.unknown,
    }
    valued = any(metric is not None for _, _, metric in section["runs"])
    columns: list[NDArray[np.generic]] = [
        np.minimum(rows.group, LAST_GROUP).astype("<u2"),
        np.rint((rows.time - base_s) * 1e6).astype("<u4"),
        rows.n_keys.astype("<u4"),
        rows.nbytes.astype("<f8"),
        rows.n_unsized.astype("<u4"),
        rows.value.astype("<f8")[: count * valued],
        rows.n_unvalued.astype("<u4")[: count * valued],
    ]
    return section, [column.tobytes() for column in columns]


def _rows_within_span(time: NDArray[np.float64]) -> int:
    too_wide = np.maximum.accumulate(time) - np.minimum.accumulate(time) > SPAN_S
    return int(too_wide.argmax()) if too_wide.any() else len(time)


def _runs(run: NDArray[np.int32], metrics: Mapping[int, str]) -> list[HeldRunRow]:
    return [
        (number, count, wire_text(metrics[number]) if number in metrics else None)
        for number, count in task_runs(run)
    ]
