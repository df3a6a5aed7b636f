from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from taskscope.analysis.quantities import (
    format_bytes,
    format_count,
    format_duration,
    format_left,
    format_percent,
    format_shares,
    printable,
)
from tests.support.shared_cases import shared_cases

CASES = shared_cases("quantities")


@pytest.mark.parametrize(
    ("name", "said_of"),
    [
        ("durations", format_duration),
        ("sizes", format_bytes),
        ("counts", format_count),
        ("percentages", format_percent),
        ("shares", format_shares),
        ("times left", format_left),
        ("texts", printable),
    ],
)
def test_quantities_and_texts_are_what_a_page_says_of_them(name: str, said_of: Callable[..., str]) -> None:
    cases: list[list[Any]] = CASES[name]
    assert [[*given, said_of(*given)] for *given, _ in cases] == cases


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_not_known(value: float) -> None:
    assert {said_of(value) for said_of in (format_duration, format_bytes, format_percent)} == {"–"}


def test_half_of_a_character_is_shown_as_an_escape() -> None:
    assert printable("\ud800x") == "\\ud800x"


def test_a_size_of_less_than_nothing_by_a_hair_is_0_as_in_a_page() -> None:
    assert format_bytes(-0.001) == "0 B"
