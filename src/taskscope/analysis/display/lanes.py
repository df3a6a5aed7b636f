"""What lanes are called in pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskscope.model.tables.records import Lane

_UNNAMED = re.compile(r"ThreadPoolExecutor-(\d+)_(\d+)")


def lane_names(lanes: Sequence[Lane]) -> dict[int, str]:
    """Return names by the lane's number, as in the page: threads without one are thread 1 and on.

    Examples
    --------
    >>> lane_names([Lane(0, "7", 1, "ThreadPoolExecutor-0_0"), Lane(1, "7", 2, "main")])
    {0: 'thread 1', 1: 'main'}
    """
    found = {lane.id: _UNNAMED.fullmatch(lane.label) for lane in lanes}
    pools = {match[1] for match in found.values() if match}
    return {lane.id: _name(lane.label, found[lane.id], len(pools)) for lane in lanes}


def _name(label: str, match: re.Match[str] | None, n_pools: int) -> str:
    if match is None:
        return label
    pool, thread = (int(number) + 1 for number in match.groups())
    return f"thread {thread}" if n_pools == 1 else f"thread {thread} of pool {pool}"
