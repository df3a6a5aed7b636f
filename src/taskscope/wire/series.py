"""Samples of resources and rows of what was held, to the binary buffers of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taskscope.model.held import HeldRows
from taskscope.model.resources import ResourceRows
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
        The samples.
    n_cores, limit_bytes
        What the process may use; None where unknown.
    """

    first: int = 0
    dropped: int = 0
    samples: ResourceRows = field(default_factory=ResourceRows.empty)
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
    columns: list[NDArray[np.generic]] = [
        samples.time.astype("<f8"),
        samples.cpu_percent.astype("<f4"),
        samples.rss_bytes.astype("<f8"),
        np.minimum(samples.n_processes, 65535).astype("<u2"),
        np.minimum(samples.gap, 1).astype("<u1"),
    ]
    return section, [column.tobytes() for column in columns]


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
