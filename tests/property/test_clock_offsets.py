"""Whatever the delays of messages there and back: a clock is known to half of the shortest round trip."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskscope.sources.cluster.workers import MAX_DRIFT, ClockFilter, Exchange

SLACK_S = 1e-6
"""For floating-point numbers of the size of wall clocks."""
delays = st.floats(0.0, 0.5)
rounds = st.lists(st.lists(st.tuples(delays, delays), min_size=1, max_size=8), min_size=1, max_size=6)


def exchanges(ahead_s: float, ways: list[tuple[float, float]], at: float) -> list[Exchange]:
    return [Exchange(at, at + there + ahead_s, at + there + back) for there, back in ways]


def check(ahead_s: float, drift: float, told: list[list[tuple[float, float]]]) -> None:
    clock = ClockFilter()
    for number, ways in enumerate(told):
        at = 30.0 * number
        now_s = ahead_s + drift * at
        assert clock.note(exchanges(now_s, ways, at), at) is None
        assert clock.best is not None
        shortest_s = min(there + back for there, back in ways)
        assert abs(clock.best.ahead_s - now_s) <= shortest_s / 2 + SLACK_S


@settings(max_examples=60)
@given(st.floats(-1e5, 1e5), st.floats(-MAX_DRIFT / 2, MAX_DRIFT / 2), rounds)
def test_a_clock_is_known_to_half_of_the_shortest_round_trip(
    ahead_s: float, drift: float, told: list[list[tuple[float, float]]]
) -> None:
    check(ahead_s, drift, told)


def the_latest(exchanges: list[Exchange], **_: object) -> Exchange:
    return exchanges[-1]


def the_longest(exchanges: list[Exchange], key: Callable[[Exchange], float]) -> Exchange:
    return max(exchanges, key=key)


@pytest.mark.parametrize("chosen", [the_latest, the_longest])
def test_choosing_another_exchange_fails_the_property(
    monkeypatch: pytest.MonkeyPatch, chosen: Callable[..., Exchange]
) -> None:
    told = [[(0.1, 0.1), (0.0, 0.01), (0.4, 0.0)]]
    check(5.0, 0.0, told)
    monkeypatch.setattr("taskscope.sources.cluster.workers.min", chosen, raising=False)
    with pytest.raises(AssertionError):
        check(5.0, 0.0, told)
