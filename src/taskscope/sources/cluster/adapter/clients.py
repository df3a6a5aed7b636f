"""Ask a client about itself."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import dask

__all__ = [
    "all_workers",
    "cancel",
    "connection_of",
    "default_client",
    "future_states",
    "is_client",
    "loop_of_scheduler",
    "may_have_clients",
    "runs_in_this_loop",
    "unfinished_keys",
]


def may_have_clients() -> bool:
    """Return whether distributed was imported."""
    return "distributed.client" in sys.modules


def is_client(thing: object) -> bool:
    """Return whether this is a ``distributed.Client``."""
    module = sys.modules.get("distributed.client")
    return module is not None and isinstance(thing, module.Client)


def default_client() -> Any:
    """Return the client that is Dask's default scheduler, None if there is none."""
    distributed = sys.modules.get("distributed")
    if distributed is None or dask.config.get("scheduler", None) not in {"dask.distributed", "distributed"}:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def all_workers() -> dict[str, int]:
    """Return what has to be said so that ``identity`` tells of all workers; it did so unasked once."""
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
    """Return whether a scheduler runs in the caller's event loop, and cannot answer who blocks that."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    return loop_of_scheduler(address) is loop


def connection_of(client: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the scheduler's address and what a connection to it needs (TLS); None if there is none yet."""
    scheduler = client.scheduler
    if scheduler is None or client.status in {"closing", "closed"}:
        return None
    return str(scheduler.address), dict(client.connection_args)


def future_states(client: Any, keys: Iterable[Hashable]) -> dict[Hashable, Any]:
    """Return what the client knows of these futures; unlike a future, it keeps no result on the cluster."""
    return {key: client.futures.get(key) for key in keys}


def cancel(client: Any, keys: Iterable[Any]) -> None:
    """Have the client cancel those of these futures that have not finished, and do not wait for it."""
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
