"""The time before the first task of a compute in this process: optimizing, and putting tasks in order."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from typing import Any

import dask
import dask.base
import dask.local
import pytest

from taskscope.analysis.before_tasks import measure_before_tasks
from taskscope.record import Recorder
from tests.support.computes import slow_graphs
from tests.support.computes.local_computes import watching
from tests.support.computes.slow_graphs import Collection, be_slow


@pytest.fixture(autouse=True)
def _no_times_of_others() -> None:
    slow_graphs.took.clear()


@pytest.mark.parametrize("scheduler", ["threads", "synchronous", "processes"])
def test_optimizing_is_measured_until_the_compute_begins(
    scheduler: str, recorder: Recorder, processes: ProcessPoolExecutor
) -> None:
    pool = dask.config.set(pool=processes) if scheduler == "processes" else nullcontext()
    with pool:
        dask.compute(Collection({"x": (sum, [1, 2])}, "x"), scheduler=scheduler)
    (own_s,) = slow_graphs.took["optimize"]
    recording = recorder.snapshot()
    before = measure_before_tasks(recording)
    assert before is not None
    assert own_s <= before.phases_s["optimize"] <= before.seconds
    assert list(before.phases_s) == ["optimize", "order", "wait"]
    assert sum(before.phases_s.values()) == pytest.approx(before.seconds, abs=1e-5)
    (run,) = recording.runs
    assert run.start_s - run.asked_s == run.optimize_s
    assert (run.send_s, run.received_s, run.materialize_s, run.initialize_s) == (None,) * 4


def test_putting_tasks_in_order_is_measured(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    order = dask.local.order

    def slow_order(*args: Any, **kwargs: Any) -> Any:
        be_slow("order")
        return order(*args, **kwargs)

    monkeypatch.setattr(dask.local, "order", slow_order)
    dask.get({"x": (sum, [1, 2])}, "x")
    (own_s,) = slow_graphs.took["order"]
    (run,) = recorder.runs()
    assert run.order_s is not None
    assert run.order_s >= own_s
    assert run.optimize_s is None, "Dask was handed a graph"


def test_a_compute_within_a_compute_has_its_own_time(recorder: Recorder) -> None:
    def inner() -> int:
        (result,) = dask.compute(dask.delayed(sum)([1, 2]), scheduler="synchronous")
        return int(result)

    dask.compute(Collection({"x": (inner,)}, "x"), scheduler="synchronous")
    (own_s,) = slow_graphs.took["optimize"]
    outer, nested = (run.optimize_s for run in recorder.snapshot().runs)
    assert outer is not None
    assert nested is not None
    assert outer >= own_s > nested


def test_what_only_makes_a_graph_is_no_part_of_the_next_compute(recorder: Recorder) -> None:
    dask.optimize(Collection({"x": (sum, [1, 2])}, "x"))
    dask.get({"x": (sum, [1, 2])}, "x")
    assert [run.optimize_s for run in recorder.runs()] == [None]


@pytest.mark.usefixtures("recorder")
def test_an_error_from_optimizing_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("no graph")

    monkeypatch.setattr(Collection, "__dask_graph__", fail)
    with pytest.raises(ValueError, match="no graph"):
        dask.compute(Collection({}, "x"))


def test_dask_is_as_it_was_once_nobody_watches() -> None:
    before = dask.base.collections_to_expr
    with watching():
        assert dask.base.collections_to_expr is not before
    assert dask.base.collections_to_expr is before
