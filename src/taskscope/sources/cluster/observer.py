"""An observer on the scheduler: a plugin that is told of each task that ended, gone with our connection.

It is put there by the message ``feed``, whose ``teardown`` the scheduler calls when that connection ends,
also if this process is killed. It travels as code, so that nothing of taskscope is needed there. It never
raises, keeps a bounded number of records, and is read by a message that only it answers: the scheduler need
not be of a release that numbers the records of its own task stream, nor keep any for the rest of its life.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from taskscope.model.errortext import describe
from taskscope.options import TRANSPORTS, Transport
from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link

__all__ = ["TRANSPORTS", "Observer", "Transport"]

_EVERY_S = 1.0
"""How often the scheduler says that it is there, and so notices within that time that we are not."""
_MOST_RECORDS = 100_000
_MOST_AT_REST = 5_000
_MOST_AT_ONCE = 20_000
_Setup: TypeAlias = Callable[[Any], Any]


def _begin(name: str, most: int) -> _Setup:  # noqa: C901 - what travels is in one function
    # A function within a function travels as code.
    def begin(scheduler: Any) -> Any:  # noqa: C901 - see above
        from collections import deque
        from itertools import islice

        from distributed.diagnostics.plugin import SchedulerPlugin

        class TaskObserver(SchedulerPlugin):
            def __init__(self) -> None:
                self.records: deque[dict[str, Any]] = deque()
                self.n_records = 0
                self.n_failed = 0
                self.most = most

            def transition(self, key: Any, start: str, finish: str, *_args: Any, **told: Any) -> None:
                try:
                    if start == "processing" and finish in ("memory", "erred") and told.get("startstops"):
                        self.note(key, finish, told)
                except Exception:  # noqa: BLE001 - the scheduler logs what a plugin raises, each time
                    self.n_failed += 1

            def note(self, key: Any, finish: str, told: dict[str, Any]) -> None:
                steps = told["startstops"]
                if len(steps) > 1_001:
                    # As many as show that some are missing, and the computing, which is what counts.
                    computed = [step for step in steps[1_000:] if step["action"] == "compute"]
                    steps = [*steps[:1_000], *(computed or steps)[-1:]]
                record = {
                    "key": key,
                    "worker": told.get("worker"),
                    "thread": told.get("thread"),
                    "status": "OK" if finish == "memory" else "error",
                    "nbytes": told.get("nbytes"),
                    "stimulus_id": told.get("stimulus_id"),
                    "startstops": steps,
                }
                if finish == "erred":
                    record["exception_text"] = str(told.get("exception_text"))[:10_000]
                self.records.append(record)
                self.n_records += 1
                while len(self.records) > self.most:
                    self.records.popleft()

            def read(self, cursor: int, limit: int, most: int) -> dict[str, Any]:
                # What was read before is not asked for again.
                while self.records and self.n_records - len(self.records) < cursor:
                    self.records.popleft()
                self.most = most
                first = self.n_records - len(self.records)
                records = list(islice(self.records, limit))
                return {"first": first, "n": self.n_records, "failed": self.n_failed, "records": records}

        observer = TaskObserver()
        scheduler.add_plugin(observer, name=name)
        scheduler.handlers[name] = observer.read
        return observer

    return begin


def _here() -> Callable[[Any, Any], bool]:
    def here(_scheduler: Any, _observer: Any) -> bool:
        return True

    return here


def _end(name: str) -> Callable[[Any, Any], None]:
    def end(scheduler: Any, _observer: Any) -> None:
        scheduler.plugins.pop(name, None)
        scheduler.handlers.pop(name, None)

    return end


class Observer:
    """The observer on one scheduler, as seen from here; for coroutines of one event loop.

    Parameters
    ----------
    link
        Where the scheduler is.
    recorder
        Where it is told that a scheduler does not let itself be observed.
    """

    def __init__(self, link: Link, recorder: Recorder) -> None:
        self._link = link
        self._recorder = recorder
        self._name = f"taskscope-{uuid.uuid4().hex}"
        self._comm: Any = None
        self._listening: asyncio.Task[None] | None = None
        self._refused = False
        self._n_failed = 0

    @property
    def is_there(self) -> bool:
        """Whether it observes."""
        return self._comm is not None

    async def open(self) -> bool:
        """Put it on the scheduler; False if that does not let itself be observed, which is said.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        """
        if self._refused or self.is_there:
            return self.is_there
        comm = await self._link.open()
        try:
            await comm.write(self._request())
            _check(await comm.read())
        except Exception as error:  # noqa: BLE001 - a scheduler may answer anything, or close the connection
            comm.abort()
            self._refused = True
            self._recorder.warn(
                f"the scheduler does not let itself be observed ({describe(error)}): its own records are read"
            )
            return False
        except BaseException:
            comm.abort()
            raise
        self._comm = comm
        self._listening = asyncio.get_running_loop().create_task(self._listen(comm))
        return True

    async def read(
        self, cursor: int, *, limit: int = _MOST_AT_ONCE, is_last: bool = False
    ) -> tuple[int, int, list[Mapping[str, Any]]]:
        """Return the number of the first record that it has from `cursor` on, how many there were, and some.

        Parameters
        ----------
        cursor
            How many were read before; it forgets them.
        limit
            How many at most.
        is_last
            Whether nothing is asked for a while, so that it keeps few.

        Raises
        ------
        OSError
            If it is gone, and the scheduler with it.
        """
        if self._listening is None or self._listening.done():
            raise ConnectionResetError("it is gone")
        most = _MOST_AT_REST if is_last else _MOST_RECORDS
        told = await self._link.ask(self._name, cursor=cursor, limit=limit, most=most)
        if told["failed"] > self._n_failed:
            self._n_failed = told["failed"]
            self._recorder.warn(f"{self._n_failed:,} tasks are missing: the observer could not read them")
        return int(told["first"]), int(told["n"]), list(told["records"])

    def close(self) -> None:
        """Close the connection; the scheduler then takes the observer out."""
        if self._listening is not None:
            self._listening.cancel()
        if self._comm is not None:
            self._comm.abort()
            self._comm = None

    async def _listen(self, comm: Any) -> None:
        try:
            while True:
                await comm.read()
        except OSError:
            pass

    def _request(self) -> dict[str, Any]:
        from distributed.protocol.pickle import dumps

        return {
            "op": "feed",
            "setup": dumps(_begin(self._name, _MOST_RECORDS)),
            "function": dumps(_here()),
            "teardown": dumps(_end(self._name)),
            "interval": _EVERY_S,
            "reply": True,
        }


def _check(answer: Any) -> None:
    if answer is not True:
        why = answer.get("exception_text") if isinstance(answer, Mapping) else None
        raise RuntimeError(str(why or answer))
