from __future__ import annotations

import logging

import pytest

from taskscope.model.tables.records import Message
from taskscope.record import Recorder
from taskscope.record import messages as messages_module
from tests.support.fakes.clock import FakeClock


@pytest.fixture
def recorder(fake_clock: FakeClock) -> Recorder:
    return Recorder(clock=fake_clock)


def test_a_repeated_message_is_said_once_and_counted(recorder: Recorder, fake_clock: FakeClock) -> None:
    recorder.warn("no value")
    fake_clock.advance(1.0)
    recorder.warn("other")
    recorder.warn("no value")
    recorder.warn("no value")
    assert recorder.messages == [
        Message(0.0, "warning", "no value (3 times)"),
        Message(1.0, "warning", "other"),
    ]


def test_a_fault_of_ours_is_logged_once_and_counted(
    recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "taskscope"):
        recorder.fault("_start", ValueError("no"))
        recorder.fault("_start", ValueError("no"))
    text = "taskscope failed in _start: ValueError: no; the computation was not affected"
    assert recorder.messages == [Message(0.0, "warning", f"{text} (2 times)")]
    assert [(r.message, str(r.exc_info and r.exc_info[1])) for r in caplog.records] == [(text, "no")]


def test_a_window_has_the_messages_that_came_in_it(recorder: Recorder, fake_clock: FakeClock) -> None:
    recorder.warn("before")
    recorder.warn("again")
    fake_clock.advance(10.0)
    recorder.warn("again")
    fake_clock.advance(10.0)
    recorder.warn("after")
    assert recorder.snapshot(start_s=5.0, stop_s=15.0).messages == (
        Message(10.0, "warning", "again (2 times)"),
    )


def test_messages_are_bounded_and_known_ones_still_counted(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages_module, "_MAX_MESSAGES", 2)
    for text in ("a", "b", "c", "d", "a"):
        recorder.warn(text)
    assert [m.text for m in recorder.messages] == [
        "a (2 times)",
        "b",
        "there were more kinds of messages than are kept (2 times)",
    ]


def test_faults_beyond_the_bound_do_not_flood_the_log(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(messages_module, "_MAX_MESSAGES", 1)
    for number in range(3):
        recorder.fault("_start", ValueError(number))
    assert [r.message for r in caplog.records] == [
        "taskscope failed in _start: ValueError: 0; the computation was not affected"
    ]
