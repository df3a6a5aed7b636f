from __future__ import annotations

import numpy as np
import pytest

from taskscope.analysis.calls.profile import FlameRows, flame_rows
from taskscope.model.tables.stacks import NO_STACKS
from tests.support.recordings.stacks import Sample, stacks_of

SAMPLES = [
    Sample(("f", "g"), 3, 0.5),
    Sample(("f",), 1, 0.25),
    Sample(("h",), 5, 0.125, start_s=1.0),
    Sample((), 2, 0.25, start_s=2.0),
    Sample(("f", "g"), 1, 0.5, prefix="y", start_s=3.0),
]


def spelled(rows: FlameRows) -> list[tuple[float, str, tuple[str, ...], int, float]]:
    def stack(node: int) -> tuple[str, ...]:
        if node < 0:
            return ()
        return (*stack(int(rows.parent[node])), rows.functions[rows.function[node]].name)

    return [
        (float(rows.start_s[b]), rows.prefixes[p], stack(node), count, seconds)
        for b, p, node, count, seconds in zip(
            *(getattr(rows, c).tolist() for c in ("bin", "prefix", "node", "count", "seconds")), strict=True
        )
    ]


def test_everything_is_drawn_where_there_is_room() -> None:
    rows = flame_rows(stacks_of(SAMPLES))
    assert spelled(rows) == [
        (100.0, "x", ("f",), 1, 0.25),
        (100.0, "x", ("f", "g"), 3, 0.5),
        (101.0, "x", ("h",), 5, 0.125),
        (102.0, "x", (), 2, 0.25),
        (103.0, "y", ("f", "g"), 1, 0.5),
    ]
    assert rows.n_left_out == 0


def test_calls_that_are_left_out_count_for_the_one_that_made_them() -> None:
    rows = flame_rows(stacks_of(SAMPLES), max_calls=1)
    assert spelled(rows) == [
        (100.0, "x", ("f",), 4, 0.75),
        (101.0, "x", (), 5, 0.125),
        (102.0, "x", (), 2, 0.25),
        (103.0, "y", ("f",), 1, 0.5),
    ]
    assert rows.n_left_out == 2


@pytest.mark.parametrize(("max_bins", "starts"), [(4, 4), (3, 2), (2, 2), (1, 1)])
def test_cycles_are_joined_where_there_are_too_many(max_bins: int, starts: int) -> None:
    rows = flame_rows(stacks_of(SAMPLES), max_bins=max_bins)
    assert len(rows.start_s) == starts
    assert rows.start_s[0] == 100.0
    assert (int(rows.count.sum()), float(rows.seconds.sum())) == (12, 1.625)


def test_nothing_is_nothing() -> None:
    rows = flame_rows(NO_STACKS)
    assert (len(rows.start_s), len(rows.bin), rows.n_left_out) == (0, 0, 0)


def test_what_is_left_out_never_leaves_a_call_without_its_caller() -> None:
    rng = np.random.default_rng(1)
    samples = [
        Sample(tuple(rng.choice(list("abcdef"), rng.integers(0, 6))), 1, float(rng.random()))
        for _ in range(200)
    ]
    stacks = stacks_of(samples)
    for max_calls in (1, 5, 20, 100):
        rows = flame_rows(stacks, max_calls=max_calls)
        assert len(rows.parent) == max_calls
        assert (rows.parent < np.arange(max_calls)).all()
        assert int(rows.count.sum()) == 200
        assert float(rows.seconds.sum()) == pytest.approx(sum(s.seconds for s in samples), rel=1e-5)
