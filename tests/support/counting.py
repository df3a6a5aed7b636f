"""Count operations instead of seconds: what grows with the square of a size shows on any machine."""

from __future__ import annotations

import sys
from collections.abc import Callable


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions this calls, those in C and the steps of generators included."""
    n_calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal n_calls
        n_calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return n_calls


def growth(work_of: Callable[[int], Callable[[], object]], small: int, large: int) -> float:
    """Return the calls for the larger size as a multiple of those for the smaller one, each made apart."""
    return calls_of(work_of(large)) / calls_of(work_of(small))
