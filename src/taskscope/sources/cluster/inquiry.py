"""A question to all workers that is asked next to the polling loop, which goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.remote import Answers, call_on_those_that_answer
from taskscope.sources.cluster.workers import Workers

__all__ = ["Inquiry"]

_EVERY_S = 2.0
_S_PER_WORKER = 0.05


class Inquiry:
    """Asks every two seconds at most, and more seldom where there are more than 40 workers.

    Workers that did not answer one of these questions hold the next ones up less.

    Parameters
    ----------
    link
        Where to ask.
    workers
        Whom.
    name
        What `Pace` knows it by.
    function
        What is called there; see `taskscope.sources.cluster.remote.call_on_workers`.
    """

    def __init__(self, link: Link, workers: Workers, name: str, function: Callable[..., object]) -> None:
        self._link = link
        self._workers = workers
        self._name = name
        self._function = function
        self._asking: asyncio.Task[Answers] | None = None

    def is_due(self, pace: Pace, every_s: float | None = None) -> bool:
        """Return whether to `begin`: it is time, and nothing is being asked; `every_s` is 2 s by default."""
        every_s = _EVERY_S if every_s is None else every_s
        every_s = max(every_s, len(self._workers.present) * _S_PER_WORKER)
        return self._asking is None and pace.is_due(self._name, every_s)

    def begin(self, pace: Pace, *arguments: object) -> None:
        """Ask; what is being asked is given up."""
        self.close()
        self._asking = asyncio.get_running_loop().create_task(self._ask(pace, arguments))

    async def answers(self, *, wait: bool) -> Answers | None:
        """Return what came, once; None if nothing was asked, or no answer is there and none is to `wait` for.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        """
        asking = self._asking
        if asking is None or not (wait or asking.done()):
            return None
        try:
            answers = await asking
        finally:
            self._asking = None
        self._workers.silent = self._workers.silent.difference(answers.given).union(answers.silent)
        return answers

    def close(self) -> None:
        """Give up what is being asked."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def _ask(self, pace: Pace, arguments: tuple[object, ...]) -> Answers:
        present = self._workers.present
        if not present:
            return Answers({}, None)
        suspects = self._workers.silent
        with pace.sparing(self._name) as disregard:
            answers = await call_on_those_that_answer(
                self._link, self._function, *arguments, workers=present, suspects=suspects
            )
            if answers.silent:
                disregard()
        return answers
