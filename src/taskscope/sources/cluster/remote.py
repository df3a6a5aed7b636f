"""Call a function on workers, with the message behind ``Client.run``; they need nothing of taskscope."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from taskscope.model.errortext import describe
from taskscope.sources.cluster.link import Link

__all__ = ["call_on_workers"]


async def call_on_workers(
    link: Link, function: Callable[..., object], *arguments: object, workers: Collection[str] | None = None
) -> tuple[dict[str, Any], str | None]:
    """Return what a function gave, by worker, and why it gave nothing on others.

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
        return {}, describe(error)
    given = {str(a): _plain(answer["result"]) for a, answer in answers.items() if answer["status"] == "OK"}
    errors = (str(a.get("exception_text", "an error")) for a in answers.values() if a["status"] != "OK")
    return given, next(errors, None)


def _plain(result: Any) -> Any:
    """Return what a worker's function gave back, which travels as it would for `Client.run`."""
    from distributed.protocol.serialize import Serialize, Serialized, deserialize

    # Workers in this process hand over what they would have sent.
    if isinstance(result, Serialize):
        return result.data
    return deserialize(result.header, result.frames) if isinstance(result, Serialized) else result
