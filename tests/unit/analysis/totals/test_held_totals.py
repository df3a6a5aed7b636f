"""The peak of cache usage."""

from __future__ import annotations

import random

import numpy as np
import pytest

from taskscope.analysis.memory import HeldSums, HeldTotals, is_lower_bound
from taskscope.model.tables.cache_usage import CacheRows
from tests.support.recordings.spelled_out import run_of


def rows_of(*rows: tuple[int, int, float, int, float]) -> CacheRows:
    """Return rows of run, group, time, keys and bytes."""
    run, group, time, keys, nbytes = (np.array(column) for column in zip(*rows, strict=True))
    nothing = np.zeros(len(rows))
    return CacheRows(
        run.astype("i4"),
        group.astype("u4"),
        time.astype("f8"),
        keys.astype("u4"),
        nbytes.astype("f8"),
        nothing.astype("u4"),
        nothing,
        keys.astype("u4"),
    )


ROWS = rows_of(
    (0, 0, 1.0, 2, 10.0),
    (0, 1, 2.0, 1, 60.0),
    (0, 0, 2.0, 1, 5.0),
    (0, 1, 3.0, 0, 0.0),
    (0, 0, 4.0, 4, 30.0),
    (0, 0, 5.0, 0, 0.0),
)


@pytest.mark.parametrize("chunk", [1, 2, 6])
def test_each_peak_is_the_most_at_one_moment_in_any_portions(chunk: int) -> None:
    totals = HeldTotals()
    cuts = {1: [1, 3, 4, 5, 6], 2: [3, 6], 6: [6]}[chunk]
    for start, stop in zip([0, *cuts], cuts, strict=False):
        totals.add(ROWS.part(slice(start, stop)))
    assert totals.now == HeldSums()
    assert (totals.most.n_keys, totals.most.nbytes) == (4, 65.0)


def test_only_the_computes_of_a_window_count_and_those_at_once_are_added_up() -> None:
    rows = rows_of((0, 0, 1.0, 1, 1.0), (2, 0, 1.5, 1, 4.0), (1, 0, 1.25, 1, 2.0), (1, 0, 3.0, 0, 0.0))
    found = {}
    for window in ((0, None), (1, 1), (1, 2)):
        totals = HeldTotals(*window)
        totals.add(rows)
        found[window] = (totals.most.nbytes, totals.now.nbytes)
    assert found == {(0, None): (7.0, 5.0), (1, 1): (2.0, 0.0), (1, 2): (6.0, 4.0)}


def test_rows_in_any_portions_give_the_same_numbers() -> None:
    rng = random.Random(3)
    spec = [(rng.randrange(3), rng.randrange(4), t / 7, n := rng.randrange(5), n * 3.0) for t in range(300)]
    whole = HeldTotals()
    whole.add(rows_of(*spec))
    parts = HeldTotals()
    for start in range(0, 300, 11):
        parts.add(rows_of(*spec[start : start + 11]))
    assert (parts.now, parts.most) == (whole.now, whole.most)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], False),
        ([(0.0, 1.0), (1.0, 2.0)], False),
        ([(3.0, 4.0), (0.0, 1.0)], False),
        ([(0.0, 3.0), (1.0, 2.0)], True),
        ([(0.0, None), (1.0, 2.0)], True),
    ],
    ids=["none", "one after the other", "told in another order", "one inside of another", "one still runs"],
)
def test_peaks_are_lower_bounds_where_computes_ran_at_the_same_time(
    spans: list[tuple[float, float | None]], *, expected: bool
) -> None:
    runs = [run_of(i, n_tasks=1, start_s=start, stop_s=stop) for i, (start, stop) in enumerate(spans)]
    assert is_lower_bound(runs) is expected
