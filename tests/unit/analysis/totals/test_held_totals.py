"""The peak of cache usage."""

from __future__ import annotations

import numpy as np
import pytest

from taskscope.analysis.memory import HeldSums, HeldTotals
from taskscope.model.tables.cache_usage import CacheRows


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
