"""Rows of what was held are true at every moment they name, and name those of the most and the least."""

from __future__ import annotations

import random

import numpy as np
import pytest

from taskscope.model.tables.cache_usage import CacheEvents, CacheRows, CacheSeries, TimeBins
from tests.support.recordings.cache_rows import Stay, state_at, told, totals


def events_of(stays: list[Stay]) -> CacheEvents:
    moves = [(s.enter_s, 1, s) for s in stays] + [(s.exit_s, -1, s) for s in stays]
    moves.sort(key=lambda move: move[0])
    times = np.array([m[0] for m in moves])
    return CacheEvents(
        step=np.unique(times, return_inverse=True)[1].astype(np.int64),
        time=times,
        group=np.array([m[2].group for m in moves], np.int64),
        sign=np.array([m[1] for m in moves], np.int64),
        size=np.array([m[2].size for m in moves]),
        value=np.array([m[2].value for m in moves]),
    )


def rows_of(stays: list[Stay], chunk: int, bins: TimeBins) -> CacheRows:
    events = events_of(stays)
    series = CacheSeries(0, 0.0, has_value=True, bins=bins)
    steps = [0, *(np.flatnonzero(np.diff(events.step)) + 1).tolist(), len(events)]
    ends = [*steps[chunk::chunk], steps[-1]]
    parts = [
        series.add(events.part(slice(a, b)), float(events.time[b - 1]))
        for a, b in zip([0, *ends], ends, strict=False)
    ]
    return CacheRows.concat([*parts, series.close(float(events.time[-1]))])


def some_stays(seed: int) -> list[Stay]:
    rng = random.Random(seed)
    sizes = [0.0, 8.0, 1e6, 2.0**40, float("nan")]
    return [
        Stay(
            rng.randrange(4),
            enter := rng.randrange(400) / 100,
            enter + rng.randrange(1, 300) / 100,
            rng.choice(sizes),
            rng.choice([1.0, 2.5, float("inf")]),
        )
        for _ in range(120)
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("chunk", [1, 7, 10_000])
@pytest.mark.parametrize("bins", [TimeBins(0.001, 5000), TimeBins(0.2, 3), TimeBins(1.0, 1)])
def test_rows_are_true_and_have_the_most_and_the_least(seed: int, chunk: int, bins: TimeBins) -> None:
    stays = some_stays(seed)
    rows = rows_of(stays, chunk, bins)
    assert told(rows) == [(time, group, state_at(stays, time, group)) for time, group, _ in told(rows)]
    at = totals(rows)
    assert [sums for _, sums in at] == [state_at(stays, time) for time, _ in at]
    moments = sorted({s.enter_s for s in stays} | {s.exit_s for s in stays})
    truth = np.array([state_at(stays, time) for time in moments])
    kept = np.array([sums for _, sums in at])
    number = bins.numbers(np.array(moments))
    kept_number = bins.numbers(np.array([time for time, _ in at]))
    for measure in (0, 1, 3):
        for bin_ in np.unique(number):
            want = truth[number == bin_, measure]
            have = kept[kept_number == bin_, measure]
            assert (have.max(), have.min()) == (want.max(), want.min())
    assert at[-1][1] == (0, 0.0, 0, 0.0, 0)


def test_a_stretch_is_told_once_it_is_over_although_nothing_comes_after_it() -> None:
    series = CacheSeries(3, 10.0, has_value=False)
    events = events_of([Stay(1, 10.0, 99.0, 8.0)]).part(slice(1))
    nothing = events.part(slice(0))
    assert told(series.add(events, 10.001)) == []
    assert told(series.add(nothing, 10.1)) == [(10.0, 1, (1, 8.0, 0, 0.0, 1))]
    assert told(series.close(11.0)) == [(11.0, 1, (0, 0.0, 0, 0.0, 0))]


def test_stretches_grow_to_a_second_and_never_beyond() -> None:
    bins = TimeBins(0.005, 500)
    times = np.array([0.0, 0.004, 0.006, 2.5, 2.506, 500.0, 501.5, 36_000.5])
    assert bins.numbers(times).tolist() == [0, 0, 1, 500, 501, 3149, 3150, 38_649]
    assert np.all(np.diff(bins.numbers(np.linspace(0, 2_000, 100_001))) >= 0)
