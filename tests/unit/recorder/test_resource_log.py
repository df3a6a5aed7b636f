from __future__ import annotations

import math

import numpy as np
import pytest

from taskscope.recorder import resources as resources_module
from taskscope.recorder.resources import ResourceLog


def test_samples_come_back_as_rows_of_their_window() -> None:
    log = ResourceLog()
    log.append(1.0, math.nan, 1e6, 1, gap=False)
    log.append(2.0, 150.0, 2e6, 2, gap=True)
    log.append(3.0, 50.0, 3e6, 1, gap=False)
    np.testing.assert_array_equal(
        log.between(0.0, 2.0), [[1.0, math.nan, 1e6, 1, 0], [2.0, 150.0, 2e6, 2, 1]]
    )
    assert log.between(2.0, None)[:, 0].tolist() == [2.0, 3.0]


def test_an_empty_log_has_five_columns() -> None:
    assert ResourceLog().between(0.0, None).shape == (0, 5)


def test_the_oldest_samples_go_in_tenths_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources_module, "_MAX_SAMPLES", 20)
    log = ResourceLog()
    for second in range(22):
        log.append(float(second), 0.0, 0.0, 1, gap=False)
    assert log.between(0.0, None)[:, 0].tolist() == [float(s) for s in range(2, 22)]
    assert log.dropped == 2
