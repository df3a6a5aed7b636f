"""What the computes of a session keep, in bytes that Python allocates."""

from __future__ import annotations

import gc
import tracemalloc

import dask
import pytest

import taskscope
from taskscope.record import recorder
from taskscope.session import current

_MAX_RUNS = 500


def kept_bytes(n: int) -> float:
    """Return by how much memory grows for each of `n` computes of one task."""
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    for i in range(n):
        dask.delayed(abs)(i).compute(scheduler="synchronous")
    # However busy the machine is, no rows wait to be folded.
    current().recorder.pull_all()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    return (after - before) / n


def test_a_compute_keeps_little_and_beyond_the_bound_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_MAX_RUNS", _MAX_RUNS)
    tracemalloc.start()
    try:
        with taskscope.profile(display=False, max_tasks=50, stacks=False) as run:
            kept_bytes(100)
            below = kept_bytes(_MAX_RUNS - 100)
            kept_bytes(100)
            beyond = kept_bytes(_MAX_RUNS - 100)
    finally:
        tracemalloc.stop()
    # They are 730 and 260; it was 4,300 for each compute.
    assert (below < 1_000, beyond < 400) == (True, True), (below, beyond)
    recording = run.recording
    assert (recording.runs[0].n_runs, len(recording.runs)) == (500, 501)
    assert "1,000 computes · 1,000 tasks" in recording.summary()
