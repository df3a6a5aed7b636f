"""Request the transfers of workers, whose bytes the task stream lacks, and their running tasks."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from taskscope.model.errortext import describe
from taskscope.model.keys import key_text
from taskscope.model.tables.activities import Transfer
from taskscope.record import LaneKey, Recorder, RunLog
from taskscope.sources.cluster.adapter.remote import logged_transfers, running_threads
from taskscope.sources.cluster.link import RateLimiter, read_each
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers.known import amount, is_possible, thread_id
from taskscope.sources.cluster.workers.poll import Answers, Question, WorkerPoll

_T = TypeVar("_T")
_Name: TypeAlias = tuple[str, str, float, float]

_MARGIN_S = 2.0
_MAX_WAITING = 100_000


class _Entry(NamedTuple):
    """An entry of a log of transfers; times are wall-clock seconds of its worker."""

    start: float
    stop: float
    who: str
    nbytes: float
    compressed: float | None
    n_keys: int
    keys: tuple[str, ...]

    @classmethod
    def read(cls, entry: Sequence[Any]) -> _Entry:
        start, stop, who, total, compressed, n_keys, keys = entry
        found = cls(
            float(start),
            float(stop),
            str(who or ""),
            amount(total),
            None if compressed is None else amount(compressed),
            int(amount(n_keys)),
            tuple(key_text(key) for key in keys),
        )
        if not (math.isfinite(found.start) and math.isfinite(found.stop)):
            raise ValueError(f"moments must be finite, got {start}, {stop}")
        return found


class TransferLogs:
    """The transfers whose bytes are not known yet, and the workers' logs that contain them."""

    def __init__(self, poll: WorkerPoll, recorder: Recorder) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._question = Question(poll, "transfers", logged_transfers)
        self._asked: OrderedDict[_Name, tuple[RunLog, int]] = OrderedDict()
        """Transfers of the open request."""
        self._waiting: OrderedDict[_Name, tuple[RunLog, int]] = OrderedDict()
        self._known: OrderedDict[_Name, float] = OrderedDict()
        """Bytes of transfers that the stream has not reported yet."""
        self._n_tokens = 0
        self._last_stops: dict[tuple[str, int], float] = {}
        self._refused = False

    def expect(
        self, log: RunLog, worker: str, source: str, start: float, stop: float
    ) -> tuple[int | None, float]:
        """Note a transfer; return the token that its bytes will have, or the bytes themselves."""
        # Both the stream and the log have the very same numbers.
        name = (worker, source, start, stop)
        nbytes = self._known.pop(name, None)
        if nbytes is not None:
            return None, nbytes
        self._n_tokens += 1
        _add(self._waiting, name, (log, self._n_tokens))
        return self._n_tokens, math.nan

    async def ask(self, limiter: RateLimiter, *, at_once: bool) -> None:
        """Read the logs, if transfers wait for bytes and that is due; with `at_once` wait for answers."""
        self._take_all(await self._question.answers(wait=False))
        waiting = bool(self._waiting or (at_once and self._asked))
        if self._refused or not waiting or not (self._question.is_due(limiter) or at_once):
            return
        self._asked.update(self._waiting)
        self._waiting.clear()
        self._question.begin(limiter, min(start for _, _, start, _ in self._asked) - _MARGIN_S)
        if at_once:
            self._take_all(await self._question.answers(wait=True), at_once=True)

    def close(self) -> None:
        self._question.close()

    def _take_all(self, answers: Answers | None, *, at_once: bool = False) -> None:
        if answers is None:
            return
        if answers.refusal is None:
            self._question.take_each(answers, self._take)
        asked, self._asked = self._asked, OrderedDict()
        if answers.refusal is not None:
            self._refuse(answers.refusal)
        elif at_once and any(worker in answers.silent for worker, *_ in asked):
            self._recorder.warn("a worker did not send its transfer log in time: bytes may be unknown")
        else:
            self._waiting.update((name, known) for name, known in asked.items() if name[0] in answers.silent)

    def _refuse(self, why: str) -> None:
        self._refused = True
        self._waiting.clear()
        self._recorder.warn(
            f"workers do not give out their logs of transfers ({why}), so bytes are not known"
        )

    def _take(self, address: str, logs: Iterable[Sequence[Any]]) -> None:
        worker, recorder = self._workers.get(address), self._recorder
        shift = recorder.clock.shift_s()
        for number, entries in enumerate(logs):
            last_stop = last = self._last_stops.get((worker.address, number), -math.inf)
            good, wrong = read_each(entries, _Entry.read)
            if wrong is not None:
                self._recorder.warn(
                    f"{worker.label} logged a transfer that cannot be read: {describe(wrong)}"
                )
            for entry in good:
                if entry.stop <= last_stop:
                    continue
                last = max(last, entry.stop)
                if number == 0:
                    self._complete(worker.address, entry.who, entry.start, entry.stop, entry.nbytes)
                moved = shift + worker.clock.logged_shift_s(entry.stop)
                if not all(is_possible(recorder, at + moved) for at in (entry.start, entry.stop)):
                    recorder.warn(f"{worker.label} logged transfers of impossible times: left out")
                    continue
                self._recorder.activities.logged.append(
                    Transfer(
                        worker=worker.address,
                        peer=entry.who or None,
                        direction="outgoing" if number else "incoming",
                        start_s=recorder.seconds(entry.start + moved),
                        stop_s=recorder.seconds(entry.stop + moved),
                        nbytes=entry.nbytes,
                        compressed_bytes=entry.compressed,
                        n_keys=entry.n_keys,
                        keys=entry.keys,
                    )
                )
            self._last_stops[worker.address, number] = last

    def _complete(self, worker: str, source: str, start: float, stop: float, nbytes: float) -> None:
        name = (worker, source, start, stop)
        found = self._asked.pop(name, None) or self._waiting.pop(name, None)
        if found is None:
            _add(self._known, name, nbytes)
        else:
            log, token = found
            log.activity_bytes.append((token, nbytes))


def _add(names: OrderedDict[_Name, _T], name: _Name, value: _T) -> None:
    names[name] = value
    if len(names) > _MAX_WAITING:
        names.popitem(last=False)


_LONG_S = 1.0
_Executing: TypeAlias = list[tuple[int, Hashable, float | None]]


class Executing:
    """Records in which lanes tasks run that have not ended."""

    def __init__(self, poll: WorkerPoll, recorder: Recorder) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._question = Question(poll, "running tasks", running_threads)
        self._executing: dict[str, _Executing] = {}
        self._runs: set[TrackedRun] = set()
        """The runs with such tasks."""
        self._refused = False

    async def ask(self, limiter: RateLimiter, sent: Mapping[Hashable, TrackedRun]) -> None:
        """Request the running tasks in the background, if that is due and a task is at a worker for long."""
        answers = await self._question.answers(wait=False)
        if answers is not None:
            self._take(answers)
            self._record(sent)
        # The first of them was given to a worker first, or nearly.
        key = next(iter(sent), None)
        since = sent[key].log.submitted.get(key, math.inf) if key is not None else math.inf
        is_long = self._recorder.clock.perf_counter() - since > _LONG_S
        if is_long and not self._refused and self._question.is_due(limiter):
            self._question.begin(limiter)

    def close(self) -> None:
        self._question.close()

    def _take(self, answers: Answers) -> None:
        # The last answer of a worker counts while it does not answer.
        self._executing = {address: self._executing.get(address, []) for address in answers.silent}
        self._refused = answers.refusal is not None
        self._question.take_each(answers, self._take_one)

    def _take_one(self, address: str, executing: _Executing) -> None:
        self._executing[address] = [
            (thread_id(thread), key, None if began is None else _moment(began))
            for thread, key, began in executing
        ]

    def _record(self, sent: Mapping[Hashable, TrackedRun]) -> None:
        shift_s = self._recorder.clock.shift_s()
        found: dict[TrackedRun, dict[object, tuple[LaneKey, float]]] = {run: {} for run in self._runs}
        for address, executing in self._executing.items():
            worker = self._workers.get(address)
            for thread, key, began in executing:
                run = sent.get(key)
                given = None if run is None else run.log.submitted.get(key)
                if run is not None and given is not None:
                    start = given if began is None else began + worker.clock.ahead_s + shift_s
                    start = start if is_possible(self._recorder, start) else given
                    found.setdefault(run, {})[key] = worker.lane(thread), start
        for run, running in found.items():
            run.log.running_on = running
        self._runs = {run for run, running in found.items() if running}


def _moment(seconds: Any) -> float:
    if not math.isfinite(seconds):
        raise ValueError(f"a moment must be finite, got {seconds}")
    return float(seconds)
