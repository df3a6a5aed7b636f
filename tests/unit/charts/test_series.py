from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import Range1d
from hypothesis import given
from hypothesis import strategies as st

from taskscope.analysis.memory import Held
from taskscope.charts import plot_cache, plot_resources
from taskscope.charts.canvas import running_sum, thinned


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300),
    n_columns=st.integers(1, 20),
)
def test_a_thinned_series_keeps_every_extreme_and_the_end(values: list[float], n_columns: int) -> None:
    times, kept = thinned((np.arange(float(len(values))), np.array(values)), n_columns)
    assert len(times) <= max(3 * n_columns, min(len(values), 3 * n_columns))
    assert (np.diff(times) > 0).all()
    assert [values[int(t)] for t in times] == kept.tolist()
    assert (max(values), min(values), values[-1]) == (kept.max(), kept.min(), kept[-1])


@given(changes=st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9)), min_size=1, max_size=30))
def test_a_running_sum_is_what_is_there_at_each_moment(changes: list[tuple[int, int]]) -> None:
    times, steps = np.array(changes, float).T
    moments, sums = running_sum(times, steps)
    assert moments.tolist() == sorted({float(t) for t, _ in changes})
    assert sums.tolist() == [float(sum(c for t, c in changes if t <= moment)) for moment in moments]


def lines(plot: Any) -> dict[str, tuple[list[float], list[float]]]:
    found: dict[str, tuple[list[float], list[float]]] = {}
    for renderer in plot.renderers:
        source: dict[str, Any] = renderer.data_source.data
        name = source.get("label", source.get("what"))
        if name is not None:
            found[name[0]] = (np.asarray(source["x"]).tolist(), np.asarray(source["y"]).tolist())
    return found


def held(n_prefixes: int = 2) -> Held:
    """Return one result of value i + 1 for prefix i, held from i to i + 2 s."""
    place, second = np.arange(n_prefixes), np.arange(float(n_prefixes))
    names = tuple(f"p{i}" for i in range(n_prefixes))
    return Held(names, place, second, second + 2, second + 1)


def test_the_cache_is_a_line_of_sums_per_prefix() -> None:
    plot = plot_cache(held(), "bytes", -1.0, 4.0)
    assert lines(plot) == {
        "p0": ([1.0, 3.0, 5.0], [1.0, 0.0, 0.0]),
        "p1": ([2.0, 4.0, 5.0], [2.0, 0.0, 0.0]),
    }
    assert plot.yaxis.axis_label == "Cache Size (bytes)"


def test_beyond_twenty_prefixes_the_smallest_are_one_line() -> None:
    found = lines(plot_cache(held(25), "count", 0.0, 30.0))
    assert list(found) == [*(f"p{i}" for i in range(6, 25)), "all others"]
    assert max(found["all others"][1]) == 5.0 + 6.0


def test_unknown_values_count_nothing_and_are_said() -> None:
    some = held()
    unknown = Held(some.prefixes, some.prefix, some.enter_s, some.leave_s, np.array([np.nan, 2.0]))
    plot: Any = plot_cache(unknown, "nbytes", 0.0, 4.0)
    assert lines(plot)["p0"][1] == [0.0, 0.0, 0.0]
    assert plot.above[0].text == "the metric of 1 of 2 results is unknown"


def test_cpu_and_memory_have_an_axis_each_from_zero() -> None:
    plot = plot_resources([(10.0, 250.0, 40.0), (11.0, 200.0, 190.0)], 9.0, 12.0)
    assert lines(plot) == {"% CPU": ([1.0, 2.0], [40.0, 190.0]), "Memory (MB)": ([1.0, 2.0], [250.0, 200.0])}
    memory = plot.extra_y_ranges["memory"]
    assert isinstance(plot.y_range, Range1d)
    assert isinstance(memory, Range1d)
    assert (plot.y_range.start, plot.y_range.end) == (0, 190 * 1.05)
    assert (memory.start, memory.end) == (0, 250 * 1.05)


def test_a_first_sample_without_cpu_leaves_the_axis_to_the_others() -> None:
    plot: Any = plot_resources([(10.0, 250.0, math.nan), (11.0, 200.0, 190.0)], 9.0, 12.0)
    assert (plot.y_range.start, plot.y_range.end) == (0, 190.0 * 1.05)
    nothing: Any = plot_resources([(10.0, 250.0, math.nan)], 9.0, 12.0)
    assert (nothing.y_range.start, nothing.y_range.end) == (0, 100.0)
