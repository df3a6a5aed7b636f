"""What a cluster's scheduler says of tasks that no worker has been given yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Scheduled", "sum_scheduled"]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """How many of the tasks that have not ended wait, and for what.

    Parameters
    ----------
    time_s
        When the scheduler said so, seconds after the zero of the recorder; of several answers the oldest.
    asked
        About how many tasks it was asked; those that a worker got or that ended since are in no count.
    is_all
        Whether it was asked about all that were with no worker then.
    queued
        Tasks that could run as soon as a worker has a free thread.
    waiting
        Tasks that wait for other tasks.
    no_worker
        Tasks for which no worker fits: none has the resources or the address that they ask for, or there is
        none at all.

    Examples
    --------
    >>> sum_scheduled([Scheduled(1.0, 5, True, 3, 2, 0), Scheduled(2.0, 1, True, 0, 0, 1)])
    Scheduled(time_s=1.0, asked=6, is_all=True, queued=3, waiting=2, no_worker=1)
    """

    time_s: float
    asked: int
    is_all: bool
    queued: int
    waiting: int
    no_worker: int


def sum_scheduled(parts: Iterable[Scheduled | None]) -> Scheduled | None:
    """Return the sums over parts of which those that are None are unknown; None where all are."""
    parts = list(parts)
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return Scheduled(
        time_s=min(part.time_s for part in known),
        asked=sum(part.asked for part in known),
        is_all=len(known) == len(parts) and all(part.is_all for part in known),
        queued=sum(part.queued for part in known),
        waiting=sum(part.waiting for part in known),
        no_worker=sum(part.no_worker for part in known),
    )
