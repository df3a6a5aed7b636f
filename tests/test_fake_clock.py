from __future__ import annotations

import pytest

from tests.support.fakes.clock import FakeClock


def read(clock: FakeClock) -> tuple[float, float, float]:
    return clock.perf_counter(), clock.thread_time(), clock.time()


def test_time_stands_still_until_it_is_advanced(fake_clock: FakeClock) -> None:
    assert read(fake_clock) == read(fake_clock) == (100.0, 0.0, 1_700_000_000.0)
    fake_clock.advance(1.5, cpu_s=0.25)
    assert read(fake_clock) == (101.5, 0.25, 1_700_000_001.5)


def test_a_stepped_wall_clock_moves_nothing_else(fake_clock: FakeClock) -> None:
    fake_clock.step_wall_clock(-3600.0)
    assert read(fake_clock) == (100.0, 0.0, 1_699_996_400.0)


def test_time_never_runs_backwards(fake_clock: FakeClock) -> None:
    with pytest.raises(ValueError, match=r"only moves forward, got wall_s=-1, cpu_s=0"):
        fake_clock.advance(-1)
