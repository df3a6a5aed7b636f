"""What this client's tasks wait for that no worker has: asked of the scheduler, a bounded number at a time.

Records tell of tasks that have ended, and `taskscope.sources.cluster.inflight` of those that workers have.
Whether the others are queued, wait for other tasks, fit no worker, or do not have to run only the scheduler
knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from taskscope.model.errortext import describe
from taskscope.model.keys import split_key
from taskscope.model.scheduled import Scheduled
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.spared import IDLE, note_idle, settle
from taskscope.sources.cluster.stream import TaskStream
from taskscope.sources.cluster.watched import Watched

__all__ = ["States"]

_EVERY_S = 0.5
_MAX_ASKED = 2_000
_SHARE = 0.01
_S_PER_LOOK = 2e-3
_S_PER_KEY = 10e-6
"""More than a look, and a key of it, were seen to cost a scheduler."""


class _Picked(NamedTuple):
    run: TrackedRun
    keys: list[Hashable]
    is_all: bool


class States:
    """Asks about tasks, twice a second at most, and less often where there are many.

    After a look a hundred times as long passes as its answer took, or as it can have cost the scheduler if
    that is less: it spends at most a hundredth of its time on this.

    Parameters
    ----------
    watched
        The cluster.
    stream
        What was read of tasks that ended.
    pace
        Tells when it is time.
    """

    def __init__(self, watched: Watched, stream: TaskStream, pace: Pace) -> None:
        self._link = watched.link
        self._ownership = watched.ownership
        self._recorder = watched.recorder
        self._stream = stream
        self._pace = pace
        self._refused = False

    async def ask(self, runs: Sequence[TrackedRun], sent: Collection[Hashable]) -> None:
        """Ask about tasks of these runs that workers have not been sent, if it is time.

        Decides of tasks that it was told of before; what was read of the stream by now has been told.
        """
        now = self._recorder.clock.perf_counter
        for run in runs:
            settle(run, self._stream)
        # Of a graph that was not looked at, it is not known what has not ended.
        runs = [run for run in runs if run.is_known and not run.assumed and run.over is None]
        began = now()
        if self._refused or not runs or not self._pace.is_due("states", _EVERY_S):
            return
        picked = _pick(runs, sent)
        keys = [key for _, keys, _ in picked for key in keys]
        states = await self._ask(keys, runs)
        if states is None:
            return
        cost_s = min(now() - began, _S_PER_LOOK + len(keys) * _S_PER_KEY)
        self._pace.postpone("states", max(cost_s / _SHARE, _EVERY_S))
        for part in picked:
            _tell(part, states, began - self._recorder.origin)
        await self._note_idle(picked, states)

    async def ask_at_end(self, runs: Sequence[TrackedRun]) -> None:
        """Ask about tasks of those runs that are over and did not finish, before the last records are read.

        Of those that finished it is known without asking which tasks had to run.
        """
        over = [run for run in runs if run.over is not None and run.is_known and not run.assumed]
        runs = [run for run in over if run.outcome != "finished"]
        if self._refused or not runs:
            return
        picked = _pick(runs, ())
        states = await self._ask([key for _, keys, _ in picked for key in keys], runs)
        if states is not None:
            await self._note_idle(picked, states)

    async def _note_idle(self, picked: Sequence[_Picked], states: Mapping[Hashable, str | None]) -> None:
        if IDLE.isdisjoint(states.values()):
            return
        n_records = await self._stream.n_records()
        for run, asked, _ in picked:
            note_idle(run, asked, states, n_records, self._ownership)

    async def _ask(
        self, keys: Sequence[Hashable], runs: Sequence[TrackedRun]
    ) -> Mapping[Hashable, str | None] | None:
        """Return the states of tasks; None where the scheduler does not tell."""
        if not keys:
            return {}
        try:
            states: Mapping[Hashable, str | None] = await self._link.ask("get_task_status", keys=keys)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it raises, it does not tell
            self._refuse(error, runs)
            return None
        return states

    def _refuse(self, error: Exception, runs: Sequence[TrackedRun]) -> None:
        self._refused = True
        for run in runs:
            run.log.scheduled = {}
        self._recorder.warn(f"the scheduler does not tell what tasks wait for ({describe(error)})")


def _pick(runs: Sequence[TrackedRun], sent: Collection[Hashable]) -> list[_Picked]:
    """Return keys to ask about, for each run its share."""
    picked = []
    left = _MAX_ASKED
    for place, run in enumerate(runs):
        share = max(left // (len(runs) - place), 1)
        keys, is_all = run.unended.take(share, (run.landed, run.failed, run.spared), sent)
        left -= len(keys)
        picked.append(_Picked(run, keys, is_all))
    return picked


def _tell(picked: _Picked, states: Mapping[Hashable, str | None], time_s: float) -> None:
    run, keys, is_all = picked
    counts: dict[str, Counter[str | None]] = {}
    for key in keys:
        counts.setdefault(split_key(key)[1], Counter())[states.get(key)] += 1
    # What fits no worker is what hangs, so it is never lost sight of.
    stuck = {*islice((key for key in keys if states.get(key) == "no-worker"), _MAX_ASKED // 2)}
    run.unended.put_back(keys, stuck)
    told = {
        prefix: Scheduled(time_s, n.total(), is_all, n["queued"], n["waiting"], n["no-worker"])
        for prefix, n in counts.items()
    }
    # A prefix of which nothing was asked this time keeps what was said before.
    run.log.scheduled = told if is_all else {**run.log.scheduled, **told}
