"""Have the scheduler send what its task stream has that is new, instead of asking it.

Two functions of ours run there, behind the message ``feed``, which belongs to one connection: when that is
closed, or whoever opened it is gone, the scheduler lets go of them. They read what we would ask for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from taskscope.model.errortext import describe
from taskscope.recorder import Recorder
from taskscope.sources.cluster.link import Link

__all__ = ["TRANSPORTS", "Push", "Transport"]

Transport: TypeAlias = Literal["poll", "push"]
"""How records come: by asking for them, or sent by functions of ours on the scheduler."""
TRANSPORTS: tuple[Transport, ...] = ("poll", "push")
_EVERY_S = 0.05


def _from(cursor: int) -> Callable[[Any], dict[str, int]]:
    # A function within a function travels as code.
    def begin(_scheduler: Any) -> dict[str, int]:
        return {"cursor": cursor}

    return begin


def _news() -> Callable[[Any, dict[str, int]], dict[str, Any] | None]:
    def news(scheduler: Any, state: dict[str, int]) -> dict[str, Any] | None:
        index = scheduler.get_task_stream_index()
        if index == state["cursor"]:
            return None
        records = scheduler.get_task_stream(start_index=state["cursor"])
        state["cursor"] = index
        return {"first": index - len(records), "records": records}

    return news


class Push:
    """A connection over which one scheduler sends records.

    Parameters
    ----------
    link
        Where the scheduler is.
    recorder
        Where it is told that a scheduler does not let itself be made to send.
    arrived
        Called when there is something to `take`.
    """

    def __init__(self, link: Link, recorder: Recorder, arrived: Callable[[], None]) -> None:
        self._link = link
        self._recorder = recorder
        self._arrived = arrived
        self._reading: asyncio.Task[None] | None = None
        self._received: list[tuple[int, list[Mapping[str, Any]]]] = []
        self._refused = False

    @property
    def is_live(self) -> bool:
        """Whether records come by themselves."""
        return self._reading is not None and not self._reading.done()

    def follow(self, transport: Transport, cursor: int) -> None:
        """Begin with the record of this number, if that is wanted and was not refused; or end."""
        if transport == "poll":
            self.close()
        elif not (self.is_live or self._refused):
            self._reading = asyncio.get_running_loop().create_task(self._read(cursor))

    def take(self) -> list[tuple[int, list[Mapping[str, Any]]]]:
        """Return what has arrived: the number of each first record, and the records."""
        received, self._received = self._received, []
        return received

    def close(self) -> None:
        """Close the connection; the scheduler then forgets what it ran for it."""
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    async def _read(self, cursor: int) -> None:
        try:
            comm = await self._link.open()
        except OSError:
            # It is gone, as who asks it will notice.
            return
        try:
            await comm.write(_request(cursor))
            while True:
                self._note(await comm.read())
        except OSError:
            return
        except Exception as error:  # noqa: BLE001 - a scheduler may answer anything
            self._refused = True
            self._recorder.warn(
                f"the scheduler does not send its records by itself ({describe(error)}): it is asked for them"
            )
        finally:
            comm.abort()

    def _note(self, message: Any) -> None:
        if message is None:
            return
        if "records" not in message:
            raise RuntimeError(str(message.get("exception_text") or message))
        self._received.append((int(message["first"]), list(message["records"])))
        self._arrived()


def _request(cursor: int) -> dict[str, Any]:
    from distributed.protocol.pickle import dumps

    return {
        "op": "feed",
        "setup": dumps(_from(cursor)),
        "function": dumps(_news()),
        "teardown": None,
        "interval": _EVERY_S,
        "reply": True,
    }
