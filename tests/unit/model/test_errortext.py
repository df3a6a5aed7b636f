from __future__ import annotations

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
