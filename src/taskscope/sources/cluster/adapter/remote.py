"""What runs on workers: each function gets the worker as ``dask_worker``, and gives plain values.

They travel as code, with the message behind ``Client.run``: they need nothing of taskscope there, and change
nothing but `exchanged_messages`, which has the scheduler keep a few messages for a while.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

__all__ = ["counted_calls", "exchanged_messages", "logged_transfers", "metered_seconds", "running_threads"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def _sent_as_code(function: _Function) -> _Function:
    """Have it not travel as the name of a module that workers may not have."""
    function.__module__ = "__main__"
    return function


@_sent_as_code
def logged_transfers(since: float, dask_worker: Any = None) -> list[list[Any]]:
    """Return the entries of its two logs that ended after `since`, by its own clock."""

    def told(e: Any) -> Any:
        try:
            keys = [key if len(str(key)) <= 500 else str(key)[:500] for key in list(e["keys"])[:8]]
            return e["start"], e["stop"], e["who"], e["total"], e.get("compressed"), len(e["keys"]), keys
        except Exception as error:  # noqa: BLE001 - anybody's code can append to it
            return type(error).__name__

    def is_new(e: Any) -> bool:
        try:
            return not e["stop"] <= since
        except Exception:  # noqa: BLE001 - see above
            return True

    logs = (dask_worker.transfer_incoming_log, dask_worker.transfer_outgoing_log)
    return [[told(e) for e in list(log) if is_new(e)] for log in logs]


@_sent_as_code
def counted_calls(
    since: float,
    with_last: bool,  # noqa: FBT001 - what is sent has positions only
    dask_worker: Any = None,
) -> list[tuple[float, bool, Any]]:
    """Return when cycles after `since` ended, whether they have, and calls by prefix."""

    def told(tree: Any) -> list[tuple[int, Any, Any]]:
        # Flat, for stacks may be deeper than a message can be: the depth of each call, those below it next.
        rows: list[tuple[int, Any, Any]] = []
        waiting = [(0, tree)]
        while waiting and len(rows) < 20_000:
            depth, call = waiting.pop()
            rows.append((depth, call["identifier"], call["count"]))
            waiting += [(depth + 1, child) for child in reversed(list(call["children"].values()))]
        return rows

    cycles = [(at, True, trees) for at, trees in list(dask_worker.profile_keys_history) if at > since]
    if with_last:
        cycles.append((math.inf, False, dict(dask_worker.profile_keys)))
    return [(at, over, {key: told(tree) for key, tree in trees.items()}) for at, over, trees in cycles]


@_sent_as_code
def metered_seconds(
    dask_worker: Any = None,
) -> tuple[float, list[str], list[tuple[str, str, str, float]]]:
    """Return what it has metered of executing tasks.

    That is the time, which tasks it has not booked, and prefix, activity, unit and sum of all it has.
    """
    from distributed.metrics import time

    sums: dict[tuple[str, str, str], float] = {}
    for name, value in list(getattr(dask_worker, "digests_total", {}).items()):
        # The second is the span, of which there may be many.
        if isinstance(name, tuple) and len(name) == 5 and name[0] == "execute":
            place = str(name[2])[:500], str(name[3])[:500], str(name[4])[:20]
            if place in sums or len(sums) < 20_000:
                sums[place] = sums.get(place, 0.0) + float(value)
    state = getattr(dask_worker, "state", None)
    executing = [*getattr(state, "executing", ()), *getattr(state, "long_running", ())]
    return (
        time(),
        [str(task.key)[:500] for task in executing],
        [(*place, value) for place, value in sums.items()],
    )


@_sent_as_code
def running_threads(dask_worker: Any = None) -> list[tuple[int, Hashable, float | None]]:
    """Return the threads that run something, what, and since when by its own clock."""
    with dask_worker.active_threads_lock:
        running = list(dask_worker.active_threads.items())
    tasks = dask_worker.state.tasks
    return [(thread, key, getattr(tasks.get(key), "start_time", None)) for thread, key in running]


@_sent_as_code
async def exchanged_messages(
    topic: str, name: str, n: int, dask_worker: Any = None
) -> list[tuple[str, float, float]]:
    """Return what each message was called, when it went, and when its answer came."""
    from time import perf_counter

    from distributed.metrics import time

    sent = []
    for number in range(n):
        text = f"{name}-{dask_worker.address}-{number}"
        began, at = perf_counter(), time()
        await dask_worker.scheduler.log_event(topic=topic, msg=text)
        sent.append((text, at, at + perf_counter() - began))
    return sent
