from __future__ import annotations

import math
import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taskscope.model.keys import key_block
from taskscope.model.tables.columns import (
    GraphColumns,
    RowBlock,
    distinct,
    distinct_pairs,
    median,
    narrow_sizes,
    narrow_times,
    round_down_f4,
)

seconds = st.floats(0, 1e9, allow_subnormal=False)


def row_block(run: int = 0, *, sizes: list[float], first_task: int = 0) -> RowBlock:
    n = len(sizes)
    return RowBlock(
        run,
        np.arange(first_task, first_task + n, dtype=np.int32),
        np.arange(n, dtype=np.float64),
        np.full(n, 0.5, np.float32),
        np.zeros(n, np.uint16),
        np.zeros(n, np.uint8),
        cpu_s=np.full(n, 0.25, np.float32),
        nbytes=narrow_sizes(np.array(sizes, np.float64)),
    )


@given(st.lists(st.integers(-3, 40)))
def test_each_value_that_occurs_is_there_once_in_order(values: list[int]) -> None:
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**31 - 1))))
def test_each_pair_that_occurs_is_there_once_in_order(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, np.int32).reshape(-1, 2).T
    found = distinct_pairs(first, second)
    assert list(zip(*(numbers.tolist() for numbers in found), strict=True)) == sorted(set(pairs))


@given(st.lists(seconds, min_size=1))
def test_the_median_is_that_of_the_standard_library(values: list[float]) -> None:
    assert median(np.array(values)) == statistics.median(values)
    assert math.isnan(median(np.array([*values, math.nan])))


@given(st.lists(seconds))
def test_a_narrowed_duration_never_exceeds_the_measured_one(durations: list[float]) -> None:
    values = np.array(durations, np.float64)
    narrow = round_down_f4(values)
    assert narrow.dtype == np.float32
    assert (narrow.astype(np.float64) <= values).all()
    # The next single-precision number up would be too long: nothing more than needed was taken off.
    assert (np.nextafter(narrow, np.float32(np.inf)).astype(np.float64) > values).all()


@given(st.lists(st.one_of(st.just(math.nan), st.floats(0, 1e13).map(math.floor).map(float))))
def test_sizes_come_back_as_they_were_measured(sizes: list[float]) -> None:
    np.testing.assert_array_equal(row_block(sizes=sizes).sizes(), sizes)


@given(st.lists(st.one_of(st.just(math.nan), st.floats(0, 3_999))), st.floats(0, 1e6))
def test_narrow_times_are_right_to_half_a_microsecond(offsets: list[float], zero: float) -> None:
    times = zero + np.array(offsets, np.float64)
    back = graph_of({}, enter=narrow_times(times, zero), zero=zero).enter_times()
    np.testing.assert_allclose(back, times, rtol=0, atol=0.51e-6)


def graph_of(
    dependencies: dict[int, list[int]],
    *,
    enter: np.ndarray[tuple[int], np.dtype[np.float64]] | np.ndarray[tuple[int], np.dtype[np.uint32]],
    zero: float = 0.0,
    kept: tuple[int, ...] = (),
) -> GraphColumns:
    """Return the columns of a graph whose keys are 0, 1, 2, …"""
    counts = [len(dependencies[i]) for i in range(len(dependencies))]
    edges = [d for i in range(len(dependencies)) for d in dependencies[i]]
    return GraphColumns(
        keys=key_block([("x", i) for i in dependencies]),
        group=np.zeros(len(dependencies), np.uint32),
        n_dependencies=np.array(counts, np.uint8),
        edges=np.array(edges, np.int32),
        enter=enter,
        enter_zero=zero,
        kept=np.array(kept, np.int32),
        data=np.empty(0, np.int32),
        data_sizes=np.empty(0),
        values=None,
    )
