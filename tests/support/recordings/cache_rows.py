"""What held rows say, in plain values, and what they should say, counted one key at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

from taskscope.model.tables.cache_usage import CacheRows


@dataclass(frozen=True, slots=True)
class Stay:
    """A key in the cache, from `enter_s` up to but not including `exit_s`."""

    group: int
    enter_s: float
    exit_s: float
    size: float = math.nan
    value: float = math.nan


State = tuple[int, float, int, float, int]
"""n_keys, nbytes, n_unsized, value, n_unvalued"""


def state_at(stays: Iterable[Stay], time: float, group: int | None = None) -> State:
    held = [s for s in stays if s.enter_s <= time < s.exit_s and group in (None, s.group)]
    sizes = [s.size for s in held if math.isfinite(s.size)]
    values = [s.value for s in held if math.isfinite(s.value)]
    return len(held), sum(sizes), len(held) - len(sizes), sum(values), len(held) - len(values)


def told(rows: CacheRows) -> list[tuple[float, int, State]]:
    """Return time, group and state of every row."""
    columns = [getattr(rows, f.name).tolist() for f in fields(rows)]
    return [(time, group, tuple(state)) for _run, group, time, *state in zip(*columns, strict=True)]


def totals(rows: CacheRows) -> list[tuple[float, tuple[float, ...]]]:
    """Return the sums over all groups at each moment, as one who follows the rows has them."""
    now: dict[int, State] = {}
    found: dict[float, tuple[float, ...]] = {}
    for time, group, state in told(rows):
        now[group] = state
        found[time] = tuple(map(sum, zip(*now.values(), strict=True)))
    return list(found.items())
