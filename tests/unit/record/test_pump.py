from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Queue

import pytest

from taskscope.record import Recorder, RunLog
from taskscope.record import pump as pump_module
from taskscope.record.pump import Pump, Tick
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, write_task
from tests.support.waiting import PATIENCE_S

"""How long a broken pump is waited for; a working one answers within milliseconds."""


class Pumped:
    """A pump that beats every millisecond, on a clock that only a test advances."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.recorder = Recorder(clock=clock)
        self.pump = Pump(self.recorder)
        self.ticks: Queue[Tick] = Queue()
        self.pump.subscribe(self.ticks.put)

    def compute(self) -> RunLog:
        log = begin_run(self.recorder, {"x": ()})
        self.pump.wake()
        return log

    def end(self, log: RunLog) -> None:
        write_task(log, "x", self.clock.perf_counter(), self.clock.perf_counter())
        end_run(log)
        self.pump.wake()

    def tick(self, wanted: Callable[[Tick], bool]) -> Tick:
        while not wanted(tick := self.ticks.get(timeout=PATIENCE_S)):
            pass
        return tick

    @property
    def thread(self) -> threading.Thread | None:
        return self.pump._thread


def is_active(tick: Tick) -> bool:
    return tick.active


def is_idle(tick: Tick) -> bool:
    return not tick.active


def is_final(tick: Tick) -> bool:
    return tick.final


@pytest.fixture
def pumped(fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pumped]:
    monkeypatch.setattr(pump_module, "TICK_S", 0.001)
    monkeypatch.setattr(pump_module, "_PAUSE_S", 0.0001)
    pumped = Pumped(fake_clock)
    yield pumped
    pumped.pump.stop()


def test_state_is_told_once_more_a_second_after_the_end_and_then_no_more(pumped: Pumped) -> None:
    log = pumped.compute()
    pumped.tick(is_active)
    pumped.clock.advance(1.0)
    pumped.end(log)
    assert not pumped.tick(is_idle).final
    pumped.clock.advance(0.875)
    assert pumped.tick(lambda tick: tick.now_s > 1.5) == Tick(1.875, active=False, final=False)
    pumped.clock.advance(0.25)
    assert pumped.tick(is_final) == Tick(2.125, active=False, final=True)
    assert pumped.ticks.empty()
    pumped.pump.wake()
    assert pumped.tick(lambda _tick: True) == Tick(2.125, active=False, final=False)
    thread = pumped.thread
    assert thread is not None
    assert thread.daemon


def test_the_thread_leaves_when_idle_and_a_new_one_comes_with_the_next_compute(
    pumped: Pumped, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump_module, "_IDLE_EXIT_S", 0.001)
    log = pumped.compute()
    pumped.tick(is_active)
    first = pumped.thread
    assert first is not None
    pumped.end(log)
    pumped.tick(is_idle)
    pumped.clock.advance(1.0)
    first.join(PATIENCE_S)
    assert (first.is_alive(), pumped.thread) == (False, None)
    pumped.end(pumped.compute())
    pumped.tick(lambda _tick: pumped.recorder.cursor == 2)


def test_an_error_of_a_subscriber_is_counted_and_harms_no_other(pumped: Pumped) -> None:
    def careless(tick: Tick) -> None:
        raise ValueError(f"at {tick.now_s}")

    later: Queue[Tick] = Queue()
    pumped.pump.subscribe(careless)
    pumped.pump.subscribe(later.put)
    log = pumped.compute()
    for _ in range(3):
        later.get(timeout=PATIENCE_S)
    pumped.end(log)
    pumped.pump.stop()
    (message,) = pumped.recorder.messages
    text = "taskscope failed in a subscriber: ValueError: at 0.0; the computation was not affected"
    assert message.text.startswith(f"{text} (")


def test_an_error_while_folding_is_counted_and_the_thread_goes_on(
    pumped: Pumped, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_budget_s: float, *, at_once: bool) -> bool:
        raise ValueError("no")

    monkeypatch.setattr(pumped.recorder, "pull", broken)
    pumped.compute()
    pumped.tick(is_active)
    monkeypatch.undo()
    monkeypatch.setattr(pump_module, "TICK_S", 0.001)
    assert pumped.tick(lambda _tick: pumped.recorder.version > 0).active
    assert "taskscope failed in the pump: ValueError: no" in pumped.recorder.messages[0].text
