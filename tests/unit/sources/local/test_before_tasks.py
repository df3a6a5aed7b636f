"""The time before the first task of a compute in this process: Dask puts its tasks in order."""

from __future__ import annotations

from typing import Any

import dask
import dask.local
import pytest

import taskscope
from taskscope.analysis.totals import measure_before_tasks
from tests.support.computes import slow_graphs
from tests.support.computes.slow_graphs import be_slow


def test_putting_tasks_in_order_is_measured(run: taskscope.profile, monkeypatch: pytest.MonkeyPatch) -> None:
    order = dask.local.order
    slow_graphs.took.clear()

    def slow_order(*args: Any, **kwargs: Any) -> Any:
        be_slow("order")
        return order(*args, **kwargs)

    monkeypatch.setattr(dask.local, "order", slow_order)
    dask.get({"x": (sum, [1, 2])}, "x")
    (own_s,) = slow_graphs.took["order"]
    recording = run.recording
    (recorded,) = recording.runs
    before = measure_before_tasks(recording)
    assert recorded.order_s is not None
    assert recorded.order_s >= own_s
    assert before is not None
    assert list(before.phases_s) == ["order", "wait"]
    assert sum(before.phases_s.values()) == pytest.approx(before.seconds, abs=1e-5)
    assert (recorded.send_s, recorded.received_s) == (None, None)
