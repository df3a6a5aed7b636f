"""When samples are taken and what is made of them, with clock, reading and helper in the test's hand."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from taskscope.errors import OptionError
from taskscope.options import checked_dt
from taskscope.record import Recorder
from taskscope.sources.resources.processes import ProcessReading
from taskscope.sources.resources.sampler import ResourceSampler
from taskscope.sources.resources.watcher import ProcessWatcher
from tests.support.fakes.clock import FakeClock
from tests.support.waiting import PATIENCE_S

Sample = tuple[float, float | None, float, int, bool]


class FakeWatcher(ProcessWatcher):
    """A helper process whose samples the test writes."""

    def __init__(self) -> None:
        # No descriptors, which the real one owns.
        self.ended = self.has_answered = False
        self.told: list[float | None] = []
        self.waiting: list[tuple[float, ProcessReading]] = []
        self.stopped = False

    def read(self) -> list[tuple[float, ProcessReading]]:
        waiting, self.waiting = self.waiting, []
        return waiting

    def run(self, dt: float, *, with_peaks: bool) -> None:
        assert with_peaks
        self.told.append(dt)

    def pause(self) -> None:
        self.told.append(None)

    def stop(self) -> None:
        self.stopped = True


class Sampled:
    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.recorder = Recorder(clock=clock)
        self.now = ProcessReading({1: 10.0}, 1_000)
        self.peak_bytes = math.nan
        self.watchers: list[FakeWatcher] = []
        self.helper_available = True
        self.reads = threading.Semaphore(0)
        self.sampler = ResourceSampler(self.recorder, 0.25, self.read, self.start_watcher, self.take_peak)

    def read(self) -> ProcessReading:
        self.reads.release()
        return self.now

    def take_peak(self) -> float:
        return self.peak_bytes

    def start_watcher(self) -> ProcessWatcher:
        if not self.helper_available:
            raise OSError("no helper here")
        self.watchers.append(FakeWatcher())
        return self.watchers[-1]

    def spend(self, wall_s: float, cpu_s: float, rss_bytes: int = 1_000) -> None:
        self.clock.advance(wall_s)
        self.now = ProcessReading({1: self.now.cpu_s[1] + cpu_s}, rss_bytes)

    @property
    def samples(self) -> list[Sample]:
        rows = self.recorder.resources.rows().tuples()
        return [
            (t, None if math.isnan(cpu) else cpu, rss, int(n), bool(gap)) for t, cpu, rss, n, gap, *_ in rows
        ]


@pytest.fixture
def sampled(fake_clock: FakeClock) -> Iterator[Sampled]:
    sampled = Sampled(fake_clock)
    yield sampled
    sampled.sampler.stop()


def test_the_shortest_compute_has_a_first_and_a_last_sample(sampled: Sampled) -> None:
    sampled.sampler.compute_started("compute")
    sampled.spend(0.125, 0.0625, rss_bytes=3_000)
    sampled.sampler.compute_stopped("compute")
    assert sampled.samples == [(0.0, None, 1_000.0, 1, False), (0.125, 50.0, 3_000.0, 1, False)]
    assert sampled.watchers == []


def test_the_first_sample_of_a_compute_does_not_average_over_the_time_before_it(sampled: Sampled) -> None:
    for _ in range(2):
        sampled.sampler.compute_started("compute")
        sampled.spend(1.0, 1.0)
        sampled.sampler.compute_stopped("compute")
        sampled.spend(100.0, 0.0)
    assert [cpu for _, cpu, *_ in sampled.samples] == [None, 100.0, None, 100.0]


def test_a_sample_milliseconds_after_another_makes_no_needle_and_loses_no_cpu_time(sampled: Sampled) -> None:
    sampled.sampler.compute_started("outer")
    sampled.spend(0.25, 0.25)
    sampled.sampler.sample()
    sampled.spend(0.00390625, 0.015625, rss_bytes=3_000)  # alone it would be 400 %
    sampled.sampler.compute_stopped("inner")
    sampled.spend(0.24609375, 0.0)
    sampled.sampler.compute_stopped("outer")
    near = 100 * 0.265625 / 0.25390625
    assert sampled.samples == [
        (0.0, None, 1_000.0, 1, False),
        (0.25, 100.0, 1_000.0, 1, False),
        (0.25390625, near, 3_000.0, 1, False),
        (0.5, 6.25, 1_000.0, 1, False),
    ]


def test_the_rate_of_a_compute_of_milliseconds_is_that_of_all_of_it(sampled: Sampled) -> None:
    sampled.sampler.compute_started("compute")
    sampled.spend(0.0078125, 0.0078125, rss_bytes=3_000)
    sampled.sampler.compute_stopped("compute")
    assert sampled.samples == [(0.0, None, 1_000.0, 1, False), (0.0078125, 100.0, 3_000.0, 1, False)]


def test_the_time_that_the_helper_takes_to_start_is_not_one_long_gap(sampled: Sampled) -> None:
    sampled.sampler.compute_started("compute")
    sampled.spend(0.125, 0.0625, rss_bytes=3_000)
    sampled.sampler.tick()
    assert sampled.samples == [(0.0, None, 1_000.0, 1, False), (0.125, 50.0, 3_000.0, 1, False)]


def test_a_compute_that_lasts_is_sampled_by_a_helper_that_pauses_with_it(sampled: Sampled) -> None:
    sampled.sampler.dt = 0.5
    sampled.sampler.compute_started("compute")
    sampled.sampler.tick()
    sampled.sampler.tick()
    (watcher,) = sampled.watchers
    assert watcher.told == [0.5]
    watcher.waiting = [
        (100.5, ProcessReading({1: 10.5}, 2_000)),
        (101.0, ProcessReading({1: 11.0, 2: 0.5}, 4_000)),
    ]
    sampled.spend(2.0, 2.0)
    sampled.sampler.compute_stopped("compute")
    assert sampled.samples == [
        (0.0, None, 1_000.0, 1, False),
        (0.5, 100.0, 2_000.0, 1, False),
        (1.0, 200.0, 4_000.0, 2, False),
        (2.0, 100.0, 1_000.0, 1, False),
    ]
    assert (watcher.told, watcher.stopped) == ([0.5, None], False)


def test_a_sample_that_is_late_by_more_than_five_intervals_comes_after_a_gap(sampled: Sampled) -> None:
    sampled.sampler.compute_started("first")
    sampled.spend(1.25, 0.0)
    sampled.sampler.compute_started("second")
    sampled.sampler.compute_stopped("second")
    sampled.spend(1.375, 0.0)
    sampled.sampler.compute_stopped("first")
    assert [(t, gap) for t, *_, gap in sampled.samples] == [(0.0, False), (1.25, False), (2.625, True)]


def test_samples_that_come_out_of_order_are_left_out(sampled: Sampled) -> None:
    sampled.sampler.compute_started("compute")
    sampled.sampler.tick()
    sampled.watchers[0].waiting = [(99.0, ProcessReading({1: 9.0}, 1)), (100.0, ProcessReading({1: 9.5}, 1))]
    sampled.spend(1.0, 1.0)
    sampled.sampler.compute_stopped("compute")
    assert [t for t, *_ in sampled.samples] == [0.0, 1.0]


def test_a_child_that_ended_takes_no_time_away(sampled: Sampled) -> None:
    sampled.now = ProcessReading({1: 10.0, 2: 50.0}, 1_000)
    sampled.sampler.compute_started("compute")
    sampled.clock.advance(1.0)
    sampled.now = ProcessReading({1: 10.5}, 1_000)
    sampled.sampler.compute_stopped("compute")
    assert sampled.samples[-1] == (1.0, 50.0, 1_000.0, 1, False)


def test_computes_at_the_same_time_are_sampled_once(sampled: Sampled) -> None:
    sampled.sampler.compute_started("first")
    sampled.sampler.compute_started("second")
    sampled.sampler.tick()
    sampled.spend(1.0, 1.0)
    sampled.sampler.compute_stopped("second")
    assert [watcher.told for watcher in sampled.watchers] == [[0.25]]
    sampled.spend(1.0, 1.0)
    sampled.sampler.compute_stopped("first")
    assert [watcher.told for watcher in sampled.watchers] == [[0.25, None]]
    assert [t for t, *_ in sampled.samples] == [0.0, 1.0, 2.0]


def test_without_a_helper_a_thread_samples_and_ends_with_the_compute(sampled: Sampled) -> None:
    sampled.helper_available = False
    sampled.sampler.dt = 0.001
    sampled.sampler.compute_started("compute")
    sampled.sampler.tick()
    thread = sampled.sampler._thread
    assert thread is not None
    for _ in range(3):
        assert sampled.reads.acquire(timeout=PATIENCE_S)
    sampled.sampler.compute_stopped("compute")
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_helper_that_ended_is_followed_by_another(sampled: Sampled) -> None:
    sampled.sampler.compute_started("compute")
    sampled.sampler.tick()
    sampled.watchers[0].ended = sampled.watchers[0].has_answered = True
    sampled.sampler.tick()
    sampled.sampler.tick()
    sampled.sampler.compute_stopped("compute")
    assert [(w.told, w.stopped) for w in sampled.watchers] == [([0.25], True), ([0.25, None], False)]


def test_where_a_helper_ends_before_it_tells_anything_a_thread_samples(sampled: Sampled) -> None:
    sampled.sampler.dt = 0.001
    sampled.sampler.compute_started("compute")
    sampled.sampler.tick()
    sampled.watchers[0].ended = True
    sampled.sampler.tick()
    sampled.sampler.tick()
    thread = sampled.sampler._thread
    assert thread is not None
    for _ in range(3):
        assert sampled.reads.acquire(timeout=PATIENCE_S)
    sampled.sampler.compute_stopped("compute")
    thread.join(PATIENCE_S)
    assert [(w.told, w.stopped) for w in sampled.watchers] == [([0.001], True)]


def test_a_tick_between_computes_starts_nothing(sampled: Sampled) -> None:
    sampled.sampler.tick()
    sampled.sampler.compute_started("compute")
    sampled.sampler.compute_stopped("compute")
    sampled.sampler.tick()
    assert sampled.watchers == []


def test_an_error_while_reading_is_a_fault_of_ours_and_no_sample(sampled: Sampled) -> None:
    def broken() -> ProcessReading:
        raise RuntimeError("no")

    sampled.sampler._read = broken
    sampled.sampler.compute_started("compute")
    sampled.sampler.compute_stopped("compute")
    text = "taskscope failed in the resource sampler: RuntimeError: no; the computation was not affected"
    assert [message.text for message in sampled.recorder.messages] == [f"{text} (2 times)"]
    assert sampled.samples == []


def test_a_helper_that_is_there_samples_the_next_compute_from_its_start(sampled: Sampled) -> None:
    sampled.sampler.prepare()
    sampled.sampler.prepare()
    (watcher,) = sampled.watchers
    assert watcher.told == []
    sampled.sampler.compute_started("compute")
    assert watcher.told == [0.25]
    watcher.waiting = [(100.25, ProcessReading({1: 10.125}, 2_000))]
    sampled.spend(0.5, 0.25)
    sampled.sampler.tick()
    sampled.sampler.compute_stopped("compute")
    sampled.sampler.compute_started("compute")
    # Written before it was paused, and read too late: it belongs to no compute.
    watcher.waiting = [(100.5, ProcessReading({1: 10.25}, 2_000))]
    sampled.sampler.compute_stopped("compute")
    assert watcher.told == [0.25, None, 0.25, None]
    assert sampled.samples == [
        (0.0, None, 1_000.0, 1, False),
        (0.25, 50.0, 2_000.0, 1, False),
        (0.5, 50.0, 1_000.0, 1, False),
        (0.5, None, 1_000.0, 1, False),
    ]


def test_without_a_helper_nothing_can_be_prepared(sampled: Sampled) -> None:
    sampled.helper_available = False
    sampled.sampler.prepare()
    sampled.sampler.compute_started("compute")
    sampled.sampler.compute_stopped("compute")
    assert [t for t, *_ in sampled.samples] == [0.0]


def test_stopping_ends_the_helper(sampled: Sampled) -> None:
    sampled.sampler.compute_started("compute")
    sampled.sampler.tick()
    sampled.sampler.stop()
    assert sampled.watchers[0].stopped


@pytest.mark.parametrize("dt", [0, -1, math.nan, math.inf, True, "0.1", None])
def test_an_interval_that_cannot_work_is_refused(dt: object) -> None:
    message = re.escape(f"dt must be a positive number of seconds, got {dt!r}")
    with pytest.raises(OptionError, match=f"^{message}$"):
        checked_dt(dt)


@pytest.mark.parametrize("dt", [1, 0.001, 60.0])
def test_an_interval_that_works_is_a_float(dt: float) -> None:
    assert (checked_dt(dt), type(checked_dt(dt))) == (dt, float)


def test_what_the_helper_counted_of_ready_threads_is_in_its_sample_and_unknown_in_others(
    sampled: Sampled,
) -> None:
    sampled.sampler.compute_started("compute")
    sampled.sampler.tick()
    (watcher,) = sampled.watchers
    watcher.waiting = [(100.5, ProcessReading({1: 10.5}, 2_000, 1.5, 0.75))]
    sampled.spend(1.0, 1.0)
    sampled.sampler.compute_stopped("compute")
    rows = sampled.recorder.resources.rows()
    known = np.isfinite(rows.ready_threads)
    assert (rows.time[known].tolist(), rows.ready_threads[known].tolist()) == ([0.5], [1.5])
    assert rows.active_share[known].tolist() == [0.75]


def test_a_sample_has_the_most_since_the_one_before_whoever_read_it(sampled: Sampled) -> None:
    sampled.peak_bytes = 9_000.0
    sampled.sampler.compute_started("compute")
    sampled.peak_bytes = 1_000.0
    sampled.sampler.tick()
    (watcher,) = sampled.watchers
    sampled.peak_bytes = 4_000.0
    sampled.clock.advance(1.0)
    watcher.waiting = [
        (100.5, ProcessReading({1: 10.5}, 2_000, peak_bytes=3_000.0)),
        # Too late for a sample of its own: what it saw is in the next.
        (100.25, ProcessReading({1: 10.5}, 2_000, peak_bytes=7_000.0)),
    ]
    sampled.sampler.compute_stopped("compute")
    rows = sampled.recorder.resources.rows()
    assert rows.time.tolist() == [0.0, 0.5, 1.0]
    # What was before a compute is not of it.
    np.testing.assert_array_equal(rows.peak_bytes, [math.nan, 3_000.0, 7_000.0])


def test_of_several_processes_and_of_who_is_to_leave_the_mark_alone_no_peak_is_known(
    sampled: Sampled,
) -> None:
    sampled.peak_bytes = 9_000.0
    sampled.sampler.compute_started("compute")
    sampled.now = ProcessReading({1: 10.0, 2: 1.0}, 1_000)
    sampled.clock.advance(1.0)
    sampled.sampler.sample()
    sampled.now = ProcessReading({1: 10.0}, 1_000)
    sampled.sampler.with_peaks = False
    sampled.clock.advance(1.0)
    sampled.sampler.sample()
    assert np.isnan(sampled.recorder.resources.rows().peak_bytes).tolist() == [True, True, True]
