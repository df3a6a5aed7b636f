"""Call a function on workers, with the message behind ``Client.run``; they need nothing of taskscope."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from taskscope.model.errortext import describe
from taskscope.sources.cluster.link import Link

__all__ = ["Answers", "call_on_those_that_answer", "call_on_workers"]

_PATIENCE_S = 0.4
_S_PER_WORKER = 0.005
_MOST_GROUPS = 16
_Function = Callable[..., object]


class Answers(NamedTuple):
    """What a function gave on workers.

    Parameters
    ----------
    given
        That, by worker.
    refusal
        Why it gave nothing on others; None if there are none.
    silent
        Those that did not answer in time, or of which others did not that were asked with them.
    """

    given: dict[str, Any]
    refusal: str | None
    silent: frozenset[str] = frozenset()


async def call_on_workers(
    link: Link, function: _Function, *arguments: object, workers: Collection[str] | None = None
) -> Answers:
    """Return what a function gave, once all workers have answered.

    Parameters
    ----------
    link
        Where the scheduler is asked to pass it on.
    function
        What to call; it gets the worker as ``dask_worker``. It travels as code where its ``__module__`` is
        ``__main__``, and as a name otherwise.
    arguments
        What else it gets.
    workers
        The addresses of those that are asked; all by default.

    Raises
    ------
    OSError
        If the scheduler cannot be reached.
    """
    from distributed.protocol.pickle import dumps

    message = {
        "op": "run",
        "function": dumps(function),
        "args": dumps(arguments),
        "kwargs": dumps({}),
        "wait": True,
    }
    try:
        answers = await link.ask("broadcast", msg=message, workers=workers, on_error="ignore")
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - it may be blocked, on the scheduler or on the workers
        return Answers({}, describe(error))
    given = {str(a): _plain(answer["result"]) for a, answer in answers.items() if answer["status"] == "OK"}
    errors = (str(a.get("exception_text", "an error")) for a in answers.values() if a["status"] != "OK")
    return Answers(given, next(errors, None))


async def call_on_those_that_answer(
    link: Link,
    function: _Function,
    *arguments: object,
    workers: Collection[str],
    suspects: Collection[str] = (),
) -> Answers:
    """Return what a function gave on workers within a second: one whose event loop hangs holds up nobody.

    All are asked with one message, which is answered once all of them have answered. Where that takes longer
    than 0.4 s, they are asked anew, each on its own, or in sixteen groups where they are more. More than
    eighty workers are given more time: 5 ms each. Those that did not answer the last time are asked apart
    from the others at once, and given 0.4 s.

    Parameters
    ----------
    link, function, arguments
        See `call_on_workers`.
    workers
        The addresses of those that are asked.
    suspects
        Those of them that did not answer the last time.

    Raises
    ------
    OSError
        If the scheduler cannot be reached.
    """

    def ask(addresses: Collection[str] | None) -> asyncio.Task[Answers]:
        task = asyncio.create_task(call_on_workers(link, function, *arguments, workers=addresses))
        # One of several errors is raised, and the others are heard all the same.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    apart = sorted(set(workers).intersection(suspects))
    trusted = sorted(set(workers).difference(apart))
    patience_s = max(_PATIENCE_S, len(trusted) * _S_PER_WORKER)
    asked_apart = {ask(group): group for group in _groups(apart)}
    # All that the scheduler has, so that none is asked for that has left meanwhile.
    asked = {ask(trusted if apart else None): trusted} if trusted else {}
    try:
        began = asyncio.get_running_loop().time()
        found, late = await _within(patience_s, asked)
        if late:
            found, late = await _within(patience_s, {ask(group): group for group in _groups(late)})
        took_s = asyncio.get_running_loop().time() - began
        also_found, also_late = await _within(max(_PATIENCE_S - took_s, 0.0), asked_apart)
    finally:
        for task in (*asked, *asked_apart):
            task.cancel()
    answers = [*found, *also_found]
    return Answers(
        {address: given for answer in answers for address, given in answer.given.items()},
        next((answer.refusal for answer in answers if answer.refusal is not None), None),
        frozenset((*late, *also_late)),
    )


def _groups(addresses: Sequence[str]) -> list[Sequence[str]]:
    n_groups = min(len(addresses), _MOST_GROUPS)
    return [addresses[first::n_groups] for first in range(n_groups)]


async def _within(
    patience_s: float, asked: Mapping[asyncio.Task[Answers], Sequence[str]]
) -> tuple[list[Answers], list[str]]:
    """Return what comes within this time, and who was asked for the rest, which is given up."""
    if not asked:
        return [], []
    try:
        done, late = await asyncio.wait(asked, timeout=patience_s)
    finally:
        for task in asked:
            task.cancel()
    return await asyncio.gather(*done), [address for task in late for address in asked[task]]


def _plain(result: Any) -> Any:
    """Return what a worker's function gave back, which travels as it would for `Client.run`."""
    from distributed.protocol.serialize import Serialize, Serialized, deserialize

    # Workers in this process hand over what they would have sent.
    if isinstance(result, Serialize):
        return result.data
    return deserialize(result.header, result.frames) if isinstance(result, Serialized) else result
