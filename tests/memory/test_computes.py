"""What the computes of a session keep, in bytes that Python allocates."""

from __future__ import annotations

import gc
import tracemalloc

import dask
import pytest

import taskscope
from taskscope.record import recorder
from taskscope.record.tables import packing
from taskscope.session import current

_MAX_RUNS = 1_000


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
    # Fewer of the newest are objects than in use, and fewer are packed and unpacked together.
    monkeypatch.setattr(packing, "N_OPEN", 100)
    monkeypatch.setattr(packing, "N_PACKED", 25)
    tracemalloc.start()
    try:
        with taskscope.profile(display=False, stacks=False) as run:
            kept_bytes(300)
            below = kept_bytes(_MAX_RUNS - 300)
            kept_bytes(300)
            beyond = kept_bytes(_MAX_RUNS - 300)
    finally:
        tracemalloc.stop()
    # They are 700 to 760 and 100 to 290; it was 5,400 for each compute with its row.
    assert (below < 1_000, beyond < 400) == (True, True), (below, beyond)
    recording = run.recording
    assert (recording.runs[0].n_runs, len(recording.runs)) == (1_000, 1_001)
    assert "2,000 computes · 2,000 tasks" in recording.summary()
