from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from taskscope.model import errortext
from taskscope.model.errortext import MAX_ERROR_TEXT, describe


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


def test_an_error_is_its_type_and_message() -> None:
    assert describe(ValueError("no good")) == "ValueError: no good"


def test_an_error_without_a_message_is_its_type() -> None:
    assert describe(KeyboardInterrupt()) == "KeyboardInterrupt"


def test_an_error_that_cannot_say_its_message_is_still_described() -> None:
    assert describe(MuteError()) == "MuteError: (its message could not be read)"


def test_a_long_message_is_cut_and_lone_surrogates_are_escaped() -> None:
    assert describe(ValueError("x" * 10_000)) == f"ValueError: {'x' * MAX_ERROR_TEXT}…"
    assert describe(ValueError("lone \ud800")) == "ValueError: lone \\ud800"


class OddText(str):
    """Text that answers to nothing as text does."""

    __slots__ = ()

    def encode(self, *_: object) -> bytes:
        raise RuntimeError("no bytes for you")

    def __len__(self) -> int:
        raise RuntimeError("no length for you")

    __getitem__ = __format__ = encode  # type: ignore[assignment]  # all of them raise


class OddTextError(Exception):
    def __str__(self) -> str:
        return OddText("odd text")


class InterruptingError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class ThreadError(Exception):
    def __str__(self) -> str:
        return threading.current_thread().name


class HidingError(Exception):
    def __getattribute__(self, name: str) -> object:
        raise SystemExit(name)


class LyingClass(type):
    def __getattribute__(cls, name: str) -> object:
        if name == "__qualname__":
            raise RuntimeError("no name for you")
        return super().__getattribute__(name)


class LyingError(Exception, metaclass=LyingClass):
    """An exception whose class does not say its name."""


class WaitingError(Exception):
    def __init__(self, go_on: threading.Event) -> None:
        super().__init__(go_on)
        self.go_on = go_on

    def __str__(self) -> str:
        self.go_on.wait()
        return "at last"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (OddTextError, "OddTextError: odd text"),
        (lambda: ValueError(OddText("odd text")), "ValueError: odd text"),
        (InterruptingError, "InterruptingError: (its message could not be read)"),
        (lambda: HidingError("hidden"), "HidingError: hidden"),
        (lambda: LyingError("who"), "LyingError: who"),
        (ThreadError, "ThreadError: taskscope-error-text"),
        (lambda: KeyError("k"), "KeyError: 'k'"),
        (lambda: FileNotFoundError(2, "no such file", "f"), "FileNotFoundError: [Errno 2] no such file: 'f'"),
    ],
)
def test_whatever_a_class_does_when_it_is_looked_at_its_exception_is_described(
    make: Callable[[], BaseException], text: str
) -> None:
    described = describe(make())
    assert (type(described), described) == (str, text)


def test_a_message_that_takes_for_ever_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errortext, "_PATIENCE_S", 0.01)
    go_on = threading.Event()
    assert describe(WaitingError(go_on)) == "WaitingError: (its message could not be read)"
    go_on.set()


def test_without_a_thread_to_read_it_in_a_message_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    assert describe(ThreadError()) == "ThreadError: (its message could not be read)"
    assert describe(ValueError("plain")) == "ValueError: plain"
