"""Calls of clients, and the parts of clients and graphs that are read."""

from __future__ import annotations

import asyncio
import inspect
import math
import sys
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import dask

from taskscope.model.guard import Guard
from taskscope.model.keys import key_text


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of ``Client.get`` that waits for its result."""

    client: Any


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """Work that a client has sent to its scheduler."""

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
    """Receives the calls of clients, on the thread that makes them."""

    def opened(self, client: object) -> None:
        """Register that a client that blocks has connected; called in its event loop, which must not wait."""

    async def opened_in_loop(self, client: object) -> None:
        """Register that an asynchronous client has connected; called in its event loop."""

    def submitting(self, client: object, failed: frozenset[Hashable] = frozenset()) -> None:
        """Be ready: a client is about to hand work to its scheduler, or to have it retry what failed."""

    def submitted(self, submission: Submission) -> None:
        """Register that a client has sent work to its scheduler."""

    def handed_over(self) -> None:
        """Register that the call that `submitting` announced is over, whether or not work was sent."""

    def returned(self, call: Call, error: BaseException | None) -> None:
        """Register that a call that waited for its result has returned it, or raised."""

    def released(self, key: Hashable, state: Any) -> None:
        """Register that the last future of a task was released, with its state in the client."""

    def closing(self, client: object) -> None:
        """Register that a client is about to be closed, perhaps its scheduler with it."""

    async def closing_in_loop(self, client: object) -> None:
        """Register that an asynchronous client is about to be closed; called in its event loop."""

    def closed(self, client: object) -> None:
        """Register that a client was closed; called on the thread of its event loop."""

    @abstractmethod
    def guard(self) -> Guard:
        """Return what each of the above is called in, so that the user's computation never feels a fault."""


def may_have_clients() -> bool:
    """Return whether distributed was imported."""
    return "distributed.client" in sys.modules


def is_client(thing: object) -> bool:
    """Return whether this is a ``distributed.Client``."""
    client = getattr(sys.modules.get("distributed.client"), "Client", None)
    return client is not None and isinstance(thing, client)


def default_client() -> Any:
    """Return the client that is Dask's default scheduler, None if there is none."""
    find = getattr(sys.modules.get("distributed"), "default_client", None)
    if find is None or dask.config.get("scheduler", None) not in {"dask.distributed", "distributed"}:
        return None
    try:
        return find()
    except ValueError:
        return None


def all_workers() -> dict[str, int]:
    """Return the arguments with which ``identity`` lists all workers, as older releases did without."""
    from distributed import Scheduler

    return {"n_workers": -1} if "n_workers" in inspect.signature(Scheduler.identity).parameters else {}


def loop_of_scheduler(address: str) -> asyncio.AbstractEventLoop | None:
    """Return the event loop in which a scheduler of this process answers, None where it is another's."""
    from distributed import Scheduler

    for scheduler in list(Scheduler._instances):
        if getattr(scheduler, "address_safe", None) == address:
            loop = getattr(scheduler.loop, "asyncio_loop", None)
            return loop if isinstance(loop, asyncio.AbstractEventLoop) else None
    return None


def runs_in_this_loop(address: str) -> bool:
    """Return whether a scheduler runs in the caller's event loop, and cannot answer while that is blocked."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    return loop_of_scheduler(address) is loop


def connection_of(client: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the scheduler's address and the arguments of a connection (TLS); None while there is none."""
    scheduler = client.scheduler
    if scheduler is None or client.status in {"closing", "closed"}:
        return None
    return str(scheduler.address), dict(client.connection_args)


def future_states(client: Any, keys: Iterable[Hashable]) -> dict[Hashable, Any]:
    """Return the client's states of these futures, which, unlike futures, keep no result on the cluster."""
    return {key: client.futures.get(key) for key in keys}


def cancel(client: Any, keys: Iterable[Any]) -> None:
    """Have the client cancel these futures unless they have finished, without waiting for it."""
    from distributed import Future

    def cancel_unfinished() -> Any:
        states = future_states(client, keys)
        pending: list[Any] = [
            key for key, state in states.items() if state is not None and state.status == "pending"
        ]
        return client.cancel([Future(key, client) for key in pending], asynchronous=True)

    client.loop.add_callback(cancel_unfinished)


def unfinished_keys(client: Any) -> list[Hashable]:
    """Return the keys that the client waits for."""
    return [key for key, state in list(client.futures.items()) if state.status == "pending"]


_MOST_PARTS = 20_000
_TASK = ("args", "kwargs", "value")
_LAYER = ("layers", "mapping")


def largest_argument(graph: object) -> tuple[str, float] | None:
    """Return the key of the task with the largest value in a graph, and the value's bytes.

    20,000 parts of the graph are visited at most, and no tasks are made of it.
    """
    found: tuple[str, float] | None = None
    walk: list[tuple[object, str]] = [(graph, "")]
    for _ in range(_MOST_PARTS):
        if not walk:
            break
        part, key = walk.pop()
        n_bytes = _value_bytes(part)
        if n_bytes > (0.0 if found is None else found[1]):
            found = key, n_bytes
        walk += _parts(part, key)
    return found


def _is_dask(thing: object) -> bool:
    return type(thing).__module__.partition(".")[0] in ("dask", "distributed")


def _value_bytes(value: Any) -> float:
    if isinstance(value, bytes | bytearray | str):
        return float(len(value))
    # Expressions wrap a dataframe, and pass its attributes on.
    if type(value).__name__.lstrip("_") in ("DataFrame", "BackendData"):
        return float(value.memory_usage().sum())
    if _is_dask(value):
        return 0.0
    n_bytes = getattr(value, "nbytes", 0)
    return float(n_bytes) if isinstance(n_bytes, int) else 0.0


def _parts(whole: Any, key: str) -> Iterator[tuple[object, str]]:
    if isinstance(whole, Mapping):
        # Names of arguments within a task are no keys.
        yield from ((part, key or key_text(name)) for name, part in whole.items())
    elif isinstance(whole, list | tuple | set | frozenset):
        yield from ((part, key) for part in whole)
    elif _is_dask(whole):
        yield from _parts_of_dask(whole, key)


def _parts_of_dask(whole: Any, key: str) -> Iterator[tuple[object, str]]:
    for operand in getattr(whole, "operands", ()):
        # An expression without keys of its own names its tasks after its class; `map` has a name of its own.
        name = str(whole.key) if hasattr(whole, "iterables") else type(whole).__name__.lower()
        has_keys = hasattr(operand, "operands") or hasattr(operand, "layers") or isinstance(operand, Mapping)
        yield operand, "" if has_keys else name
    for name in _LAYER:
        yield getattr(whole, name, None), key
    if hasattr(type(whole), "func") or hasattr(type(whole), "value"):
        yield from ((getattr(whole, name, None), key or key_text(whole.key)) for name in _TASK)
