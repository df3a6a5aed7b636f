"""What becomes of tasks whose futures were let go or cancelled: they run on where anybody needs them.

``fire_and_forget`` does, and tasks that were handed over since. The client does not hear of them any more, so
the scheduler is asked, key by key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from itertools import islice

from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.runs import TrackedRun

__all__ = ["GivenUp"]

_AT_ONCE = 200
"""How many keys are asked about at a time: one that is needed is enough for its run to go on."""
_GOING_ON = {"waiting", "queued", "no-worker", "processing"}
_HEARD_S = 0.05
"""Longer than a client keeps what it has to say before it sends it."""


class GivenUp:
    """Ends the runs of which nobody waits for anything, and nothing is needed any more.

    Parameters
    ----------
    link
        Where to ask.
    recorder
        What tells the time.
    """

    def __init__(self, link: Link, recorder: Recorder) -> None:
        self._link = link
        self._now = recorder.clock.perf_counter

    async def ask(self, runs: Sequence[TrackedRun], *, at_end: bool) -> None:
        """Ask about those of some runs.

        Parameters
        ----------
        runs
            Runs that go on.
        at_end
            Whether nobody asks again, so that what was let go only now must have been heard of by then.
        """
        runs = [run for run in runs if run.over is None and run.answered is not None]
        since = max((run.answered for run in runs if run.answered is not None), default=0.0)
        if at_end and runs:
            await asyncio.sleep(max(since + _HEARD_S - self._now(), 0.0))
        for run in runs:
            while run.given_up and await self._ask(run):
                pass
            if not run.given_up:
                run.over = self._now()

    async def _ask(self, run: TrackedRun) -> bool:
        """Take out some that are not needed; True if these are all that were asked about."""
        keys = list(islice(run.given_up, _AT_ONCE))
        states = await self._states(keys)
        gone = [key for key in keys if states.get(key) not in _GOING_ON]
        for key in gone:
            del run.given_up[key]
        # What is in memory was finished, for others if not for this run.
        run.unfinished.update(key for key in gone if states.get(key) != "memory")
        return len(gone) == len(keys)

    async def _states(self, keys: list[Hashable]) -> Mapping[Hashable, str | None]:
        try:
            states: Mapping[Hashable, str | None] = await self._link.ask("get_task_status", keys=keys)
        except OSError:
            raise
        except Exception:  # noqa: BLE001 - whatever it raises, it does not tell, and nobody waits for them
            return {}
        return states
