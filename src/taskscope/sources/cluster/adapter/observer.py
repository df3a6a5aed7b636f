"""What is told of the clients of this process, and to whom."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Call", "Observer", "Submission"]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of ``Client.get`` that waits for its result."""

    client: Any


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """What a client has handed to its scheduler.

    Parameters
    ----------
    client
        The client.
    keys
        The requested keys.
    call
        The call of ``Client.get`` that waits for it, if one does.
    single
        Whether it came by ``submit`` or ``map``, which hand over tasks, not collections.
    began
        A moment before it was handed over, by `time.perf_counter`; infinite where that is not known.
    graph_bytes
        How large the graph was as it was sent; None where that is not known.
    largest_argument
        The key of the task with the largest value in a large graph, and the value's bytes.
    before
        What is known of the time in which it was made and handed over, by names of `BEFORE`.
    is_known
        Whether the scheduler had the graph before, so that no event of it follows.
    is_retry
        Whether the scheduler tries these tasks of a graph that it has again.
    """

    client: Any
    keys: frozenset[Hashable]
    call: Call | None
    single: bool
    began: float = math.inf
    is_known: bool = False
    is_retry: bool = False
    graph_bytes: float | None = None
    largest_argument: tuple[str, float] | None = None
    before: Mapping[str, float | None] = field(default_factory=dict)


class Observer(Protocol):
    """Who is told, on the thread of the user's that does it."""

    def opened(self, client: object) -> None:
        """Hear that a client that blocks has its scheduler, in its event loop, which must not wait."""

    async def opened_in_loop(self, client: object) -> None:
        """Hear that an asynchronous client has its scheduler, in its event loop."""

    def submitting(self, client: object, failed: frozenset[Hashable] = frozenset()) -> None:
        """Be ready: a client is about to hand work to its scheduler, or to have it retry what failed."""

    def submitted(self, submission: Submission) -> None:
        """Hear that a client has handed work to its scheduler."""

    def handed_over(self) -> None:
        """Hear that what it was told to be ready for is over, whether or not work was handed over."""

    def returned(self, call: Call, error: BaseException | None) -> None:
        """Hear that a call that waited for its result has come back with it, or with an error."""

    def released(self, key: Hashable, state: Any) -> None:
        """Hear that nobody has a future any more, of which the client knew this until now."""

    def closing(self, client: object) -> None:
        """Hear that a client will be closed, perhaps its scheduler with it."""

    async def closing_in_loop(self, client: object) -> None:
        """Hear that about an asynchronous client, in its event loop."""

    def closed(self, client: object) -> None:
        """Hear that a client was closed, on the thread of its event loop."""

    def fault(self, where: str, error: BaseException) -> None:
        """Hear that one of the above has failed, which the user's computation must never see."""
