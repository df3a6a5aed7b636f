"""One word for the state of several computes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from taskscope.model.records import Run

__all__ = ["State", "state_of"]

State: TypeAlias = Literal["waiting", "running", "finished", "erred", "interrupted"]

_WORST_FIRST: tuple[State, ...] = ("running", "interrupted", "erred", "finished")


def state_of(runs: Iterable[Run]) -> State:
    """Return ``running`` while any compute runs, then the worst end of them all; ``waiting`` without any."""
    seen = {run.status for run in runs}
    return next((state for state in _WORST_FIRST if state in seen), "waiting")
