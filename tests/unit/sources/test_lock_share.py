"""How often the interpreter's lock was held is measured for each compute in threads."""

from __future__ import annotations

import time
from pathlib import Path

import dask
import numpy as np
import pytest

import taskscope
from taskscope.record import pump
from taskscope.session import current
from taskscope.sources.stacks import LockProbe
from tests.support.waiting import PATIENCE_S

_ENOUGH = 20
"""How often the lock is looked at in a second; on a busy machine it takes longer."""


def _is_known() -> bool:
    return any(log.lock_looks[0] >= _ENOUGH for log in current().recorder.going())


def _turn() -> None:
    stop = time.perf_counter() + PATIENCE_S
    while not _is_known():
        assert time.perf_counter() < stop
        sum(range(200_000))


@pytest.mark.parametrize("stacks", [True, False])
def test_threads_that_run_python_are_seen_to_hold_the_lock(*, stacks: bool) -> None:
    with taskscope.profile(display=False, stacks=stacks) as run:
        dask.compute([dask.delayed(_turn)() for _ in range(2)], scheduler="threads", num_workers=2)
    # How often, and how often threads that wait are taken for it, depends on the machine.
    assert 0.0 < run.recording.to_pandas("runs").lock_share[0] <= 1.0


def test_the_lock_share_of_a_short_compute_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "TICK_S", 3600.0)  # shorter than a beat, however busy the machine
    with taskscope.profile(display=False) as run:
        dask.delayed(int)().compute(scheduler="threads")
    assert np.isnan(run.recording.to_pandas("runs").lock_share[0])


def test_time_without_a_core_is_no_wait_for_the_lock(tmp_path: Path) -> None:
    account = tmp_path / "schedstat"
    account.write_text("7 1000000000 1\n")
    probe = LockProbe(str(account))
    assert probe.was_held(0.25) is True
    account.write_text("9 1250000000 2\n")
    assert probe.was_held(0.25) is False
    account.write_text("none is kept\n")
    assert probe.was_held(0.25) is None
    assert LockProbe(str(tmp_path / "missing")).was_held(0.25) is None
