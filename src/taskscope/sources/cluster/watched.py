"""What everything that asks about one cluster shares."""

from __future__ import annotations

from dataclasses import dataclass

from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.workers import Workers

__all__ = ["Watched"]


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A cluster that is watched.

    Parameters
    ----------
    link
        Where to ask.
    workers
        Who works there.
    recorder
        Where to tell.
    """

    link: Link
    workers: Workers
    recorder: Recorder
