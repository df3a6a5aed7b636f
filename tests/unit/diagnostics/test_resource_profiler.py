from __future__ import annotations

import time

import dask
import pytest
from dask.diagnostics.profile import ResourceData

from taskscope.diagnostics import ResourceProfiler
from taskscope.errors import OptionError
from tests.support.waiting import until


def compute() -> None:
    assert dask.get({"x": (abs, -1)}, "x") == 1


def test_a_result_has_what_upstream_documents() -> None:
    with ResourceProfiler(dt=0.01) as rprof:
        inside = time.perf_counter()
        compute()
        assert rprof.results == []
        assert rprof._is_running()
    assert not rprof._is_running()
    assert rprof.start_time is not None
    assert rprof.end_time is not None
    assert rprof.start_time < inside < rprof.end_time
    last = rprof.results[-1]
    assert last._fields == ("time", "mem", "cpu")
    assert inside < last.time < rprof.end_time
    # In megabytes; what earlier tests have left may be let go of at any time.
    assert 10 < last.mem < 1e5
    assert last.cpu >= 0


def test_a_block_is_sampled_even_if_nothing_is_computed() -> None:
    with ResourceProfiler(dt=0.005) as rprof:
        until(lambda: len(rprof.recording.resources) > 20)
    assert len(rprof.results) > 15
    assert rprof.recording.runs == ()
    times = [row.time for row in rprof.results]
    assert times == sorted(times)


def test_registered_it_samples_computes_only() -> None:
    rprof = ResourceProfiler(dt=0.01)
    rprof.register()
    assert rprof.results == []
    compute()
    n = len(rprof.results)
    assert n > 0
    assert not rprof._is_running()
    compute()
    assert len(rprof.results) > n
    rprof.unregister()
    compute()
    assert len(rprof.results) > n
    rprof.clear()
    assert rprof.results == []
    rprof.close()


def test_a_result_may_be_assigned() -> None:
    rprof = ResourceProfiler()
    rprof.results = [(1.0, 2.0, 3.0)]
    assert rprof.results == [ResourceData(1.0, 2.0, 3.0)]
    rprof.clear()
    assert rprof.results == []


def test_a_bad_interval_is_told_at_once() -> None:
    with pytest.raises(OptionError) as raised:
        ResourceProfiler(dt=0)
    assert str(raised.value) == "dt must be a positive number of seconds, got 0"
