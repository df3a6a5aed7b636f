"""Resources and the cache of a recording for a browser: few rows, with every extreme kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taskscope.analysis.held_rows import held_rows
from taskscope.model.held import HeldRows, Stretches
from taskscope.model.recording import Recording
from taskscope.model.records import Run
from taskscope.model.resources import ResourceRows
from taskscope.wire import ResourcesPart

__all__ = ["MAX_SAMPLES", "few_held_rows", "resources_part", "thin_samples"]

MAX_SAMPLES = 2_000
"""Samples sent of a recording, about 23 bytes each."""

_STRETCHES = 200


def resources_part(recording: Recording) -> ResourcesPart:
    """Return the samples of a recording, thinned where there are many; times after its zero."""
    samples = thin_samples(recording.resources)
    return ResourcesPart(
        samples=replace(samples, time=samples.time - recording.zero_s),
        n_cores=_whole(recording.metadata.get("n_cores")),
        limit_bytes=_whole(recording.metadata.get("memory_limit_bytes")),
    )


def thin_samples(samples: ResourceRows, limit: int = MAX_SAMPLES) -> ResourceRows:
    """Return at most about `limit` samples.

    Of each stretch the extremes of CPU and memory and the last sample stay, and so do the samples on both
    sides of every gap and break. A sample's CPU remains the mean of its own interval.
    """
    if len(samples) <= limit:
        return samples
    stretch = np.arange(len(samples)) * (limit // 5) // len(samples)
    starts = np.flatnonzero(np.diff(stretch, prepend=-1))
    broken = np.flatnonzero((samples.gap != 0) | np.isnan(samples.cpu_percent))
    kept = [starts, np.append(starts[1:], len(samples)) - 1, broken, np.maximum(broken - 1, 0)]
    for column in (np.nan_to_num(samples.cpu_percent, nan=-1.0), samples.rss_bytes, -samples.rss_bytes):
        order = np.lexsort((column, stretch))
        kept.append(order[np.append(starts[1:], len(samples)) - 1])
    return samples.part(np.unique(np.concatenate(kept)))


def few_held_rows(recording: Recording) -> HeldRows:
    """Return what was held in a few hundred stretches; times on the recorder's axis."""
    longest_s = max((_length_s(recording, run) for run in recording.runs), default=0.0)
    return held_rows(recording, Stretches(max(longest_s / _STRETCHES, 1e-6), _STRETCHES))


def _length_s(recording: Recording, run: Run) -> float:
    return (recording.now_s if run.stop_s is None else run.stop_s) - run.start_s


def _whole(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None
