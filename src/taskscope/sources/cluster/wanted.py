"""What the holders of a session want of clusters."""

from __future__ import annotations

from dataclasses import dataclass, field

from taskscope.sources.cluster.observer import Transport
from taskscope.sources.cluster.worker_poll import Avoided

__all__ = ["Wanted"]


@dataclass(slots=True)
class Wanted:
    """Changed by the session, and read wherever schedulers are asked.

    Parameters
    ----------
    transport
        How the records of tasks come from schedulers.
    samples
        Whether anybody wants samples of what workers do.
    others_since
        From when on anybody wants the tasks of other clients, on the clock's axis; None: nobody does.
    avoided
        Workers that are not asked anything for a while.
    """

    transport: Transport = "observe"
    samples: bool = False
    others_since: float | None = None
    avoided: dict[str, Avoided] = field(default_factory=dict)
