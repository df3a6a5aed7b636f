"""The place of one clock on the axis of another."""

from __future__ import annotations

import pytest

from taskscope.model.clock import Clock


@pytest.mark.parametrize("stalls", [0, 1, 9])
def test_clocks_are_compared_in_a_moment_in_which_the_thread_kept_its_turn(stalls: int) -> None:
    now_s = 100.0
    left = stalls

    def wall() -> float:
        nonlocal now_s, left
        seen_s = now_s + 1_000.0
        if left:
            left -= 1
            now_s += 0.3
        return seen_s

    assert Clock(perf_counter=lambda: now_s, time=wall).shift_s() == pytest.approx(-1_000.0)


def test_where_a_thread_never_keeps_its_turn_the_shortest_stall_counts() -> None:
    stalls = iter([0.4, 0.2, 0.4, *[0.6] * 7])
    now_s = 100.0

    def wall() -> float:
        nonlocal now_s
        seen_s = now_s + 1_000.0
        now_s += next(stalls)
        return seen_s

    assert Clock(perf_counter=lambda: now_s, time=wall).shift_s() == pytest.approx(-999.9)
