"""Sample the source lines of tasks on workers, while somebody asks for lines.

Workers sample their own threads for distributed's profile, but know no lines. So a small sampler of ours is
put on each by the question for what it has seen, and ends by itself when the questions do. Workers count by
prefix; samples of tasks of other clients are left out where none of ours has their prefix.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from taskscope.model.keys import key_text
from taskscope.record import Recorder, RunLog
from taskscope.sources.cluster.adapter.remote import sampled_lines
from taskscope.sources.cluster.link import RateLimiter
from taskscope.sources.cluster.workers.known import amount
from taskscope.sources.cluster.workers.poll import Answers, Question, WorkerPoll
from taskscope.sources.sampled import SentFunctions, counted_cycles

__all__ = ["WorkerLines"]

_EVERY_S = 1.0
_CYCLE_S = 1.0
_LASTS_S = 5.0
_S_PER_WORKER = 0.2
"""Where workers are many they are asked less often, and go on for longer."""
_FOLD_S = 0.2


class WorkerLines:
    """The lines that workers have sampled of the computes that are watched.

    Parameters
    ----------
    poll
        Who asks the workers.
    recorder
        Where to tell, and what says which prefixes a compute has.
    interval_s
        Asked for the seconds between samples; None: nobody wants lines.
    """

    def __init__(self, poll: WorkerPoll, recorder: Recorder, interval_s: Callable[[], float | None]) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._interval_s = interval_s
        self._sent = SentFunctions()
        self._asked_s = 0.0
        self._name = uuid.uuid4().hex
        self._runs: dict[int, float] = {}
        """The computes that samples may be of, by number, and when they began."""
        self._complete_runs: set[int] = set()
        """Those of them that were over when workers were asked last."""
        self._question = Question(poll, "lines", sampled_lines)
        self._refused = False

    @property
    def owes(self) -> bool:
        """Whether workers sample, and have samples that were not asked for."""
        return bool(self._runs) and not self._refused

    async def look(self, limiter: RateLimiter, going: Iterable[RunLog]) -> None:
        """Take what came, and ask for samples of computes that go on, if anybody wants them and it is time.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        """
        self._take_all(await self._question.answers(wait=False))
        interval_s, going = self._interval_s(), list(going)
        if interval_s is not None and not self._refused:
            self._asked_s = interval_s
            for log in going:
                if not self._runs:
                    self._recorder.stacks.note(interval_s, _CYCLE_S)
                self._runs.setdefault(log.run, log.start)
        if self.owes and self._question.is_due(limiter, _EVERY_S):
            self._complete_runs = self._runs.keys() - {log.run for log in going}
            lasts_s = _LASTS_S + _S_PER_WORKER * len(self._workers.present)
            self._question.begin(limiter, self._name, self._asked_s, lasts_s)

    async def finish(self, limiter: RateLimiter, going: Iterable[RunLog]) -> None:
        """Ask for all there is by now, and have workers sample no more where no compute goes on.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        """
        numbers = {log.run for log in going}
        if self.owes:
            # What was asked last is not given up: what is in its answer is in no other.
            self._take_all(await self._question.answers(wait=True))
            lasts_s = _LASTS_S if numbers else 0.0
            self._question.begin(limiter, self._name, self._asked_s, lasts_s)
            self._take_all(await self._question.answers(wait=True))
        self._runs = {run: start for run, start in self._runs.items() if run in numbers}

    def close(self) -> None:
        """Ask no more."""
        self._runs.clear()
        self._question.close()

    def _take_all(self, answers: Answers | None) -> None:
        if answers is None:
            return
        if answers.refusal is not None:
            self._refused = True
            self._recorder.warn(
                f"lines are not sampled on workers, which run no code of ours: {answers.refusal}"
            )
            return
        # Whose prefixes these are is known once graphs were looked at.
        self._recorder.pull(_FOLD_S)
        owners = self._owners()
        self._question.take_each(answers, lambda address, given: self._take(address, given, owners))
        for run in self._complete_runs:
            self._runs.pop(run, None)
        self._complete_runs = set()

    def _owners(self) -> Mapping[str, list[tuple[float, int]]]:
        """Return by prefix when computes that have it began, and their numbers, the last one at the end."""
        owners: dict[str, list[tuple[float, int]]] = {}
        for run, start in self._runs.items():
            for row in self._recorder.progress(run, run):
                owners.setdefault(row.prefix, []).append((start, run))
        return owners

    def _take(
        self, address: str, given: Mapping[str, Any], owners: Mapping[str, list[tuple[float, int]]]
    ) -> None:
        now = self._recorder.clock.perf_counter()
        rows: dict[tuple[int, str], list[Sequence[Any]]] = {}
        for prefix, ago_s, *counted in given["stacks"]:
            at = now - amount(ago_s)
            any(map(amount, counted[1:]))
            name = key_text(prefix)
            found = (run for start, run in reversed(owners.get(name, [])) if start <= at + _CYCLE_S)
            run = next(found, None)
            if run is not None:
                # On whole seconds, so that the cycles of all workers are of one time.
                rows.setdefault((run, name), []).append((self._recorder.seconds(at) // 1.0, *counted))
        for (run, name), stacks in rows.items():
            cycles = counted_cycles(self._sent, given["functions"], stacks, run, name, address)
            began_s = self._recorder.seconds(self._runs[run])
            for at_s, counted in cycles.items():
                self._recorder.hand_over_samples(max(at_s, began_s), run, counted)
