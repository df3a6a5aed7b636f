"""Send requests to workers, with the message behind ``Client.run``, few of them open at a time.

The scheduler passes a request on and waits for the answer without an end: a blocked event loop (a stopped
process, swapping, tasks that keep the interpreter's lock) never gives it, and each request keeps a task and a
connection there. So a worker that does not answer in time gets no more requests until it has answered, or is
gone. Functions that are sent need nothing of taskscope there; answers are plain values, never unpickled.
"""

from __future__ import annotations

import asyncio
import math
import sys
import zlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from taskscope.model.errortext import describe
from taskscope.model.guard import Guard
from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link, RateLimiter, try_ask
from taskscope.sources.cluster.workers.known import Workers
from taskscope.sources.line_meter import Sought

_Function: TypeAlias = Callable[..., object]
_PATIENCE_S = 0.4
_S_PER_WORKER = 0.005
_MOST_GROUPS = 16
_BACK_OFF_S = (5.0, 10.0, 20.0)
_EVERY_S = 2.0
_PAUSE_S_PER_WORKER = 0.05
_DISALLOWED = b"explicitly disallowed"
"""distributed's words for handlers that are blocked."""
_OTHER_PYTHON = b"it runs Python "
"""How answers begin of workers that cannot run the function; others begin as zlib does."""
_HERE_ONLY = (
    "__import__('pickle').loads({code!r}) if __import__('sys').version_info[:2] == {here!r} else "
    "(lambda *arguments, dask_worker=None, answer={before!r} + b'%d.%d, and this is %d.%d' "
    "% (__import__('sys').version_info[:2] + {here!r}): answer)"
)
_MAX_ANSWER_BYTES = 32_000_000
"""Of all that one worker answers to one question, unpacked."""


class Answers(NamedTuple):
    """Results of a function that was called on workers."""

    given: dict[str, Any]
    refusal: str | None = None
    silent: frozenset[str] = frozenset()
    failed: Mapping[str, BaseException] = {}


class Avoided(NamedTuple):
    """A worker that hung when a connection ended: how often that was, and until when it is left alone."""

    n_times: int
    until: float


@dataclass(frozen=True, slots=True)
class _Open:
    """An unanswered message, its workers, and when these get new messages in parts."""

    workers: Sequence[str]
    asked_at: float
    again_at: float
    n_backed_off: int


class WorkerPoll:
    """Calls functions on the workers of one cluster, one at a time; for coroutines of one event loop."""

    def __init__(
        self, link: Link, workers: Workers, recorder: Recorder, avoided: dict[str, Avoided] | None = None
    ) -> None:
        self.workers = workers
        self.recorder = recorder
        self._link = link
        self._avoided: dict[str, Avoided] = {} if avoided is None else avoided
        self._turn = asyncio.Lock()
        self._open: dict[asyncio.Task[Answers], _Open] = {}
        self._tasks: set[asyncio.Task[Answers]] = set()
        """All unanswered messages, also those that were sent again in parts."""

    async def call(
        self, function: _Function, *arguments: object, workers: Collection[str] | None = None
    ) -> Answers:
        """Return the results of a function on workers, within a second also if one hangs.

        All get one message, which is answered once all workers have answered. Where that takes longer than
        0.4 s (5 ms each for more than eighty workers), each gets a message of its own, or sixteen groups do.
        A worker that does not answer then gets no more. Which of a group hangs is not known: after 5, 10,
        20 s it is split.
        """
        async with self._turn:
            asked = self.workers.present if workers is None else frozenset(workers)
            return await self._call(_message(function, arguments), asked) if asked else Answers({})

    def close(self) -> None:
        now = self.recorder.clock.perf_counter()
        for task, known in self._open.items():
            if now - known.asked_at >= _PATIENCE_S:
                for worker in known.workers:
                    n = self._avoided[worker].n_times + 1 if worker in self._avoided else 0
                    self._avoided[worker] = Avoided(n, now + _BACK_OFF_S[min(n, len(_BACK_OFF_S) - 1)])
            task.cancel()
        for task in self._tasks:
            task.cancel()

    async def _call(self, message: Mapping[str, Any], workers: Collection[str]) -> Answers:
        again = self._take_due() | self._no_longer_shunned(workers)
        late = self._silent(workers)
        earlier = {task for task, known in self._open.items() if not late.isdisjoint(known.workers)}
        avoided = self._shun(workers)
        again = {worker: n for worker, n in again.items() if worker not in late}
        trusted = sorted(set(workers) - late - again.keys() - avoided)
        patience_s = max(_PATIENCE_S, len(trusted) * _S_PER_WORKER)
        answers = await asyncio.gather(
            self._ask_trusted(message, trusted, patience_s),
            self._ask_late(message, earlier, late, patience_s),
            self._within(patience_s, self._ask(message, _groups(sorted(again.keys() & set(workers))), again)),
        )
        found = _joined(list(chain.from_iterable(answers)), self._silent(workers) | avoided)
        for worker in found.given.keys() & self._avoided.keys():
            del self._avoided[worker]
        return found

    async def _ask_trusted(
        self, message: Mapping[str, Any], trusted: Sequence[str], patience_s: float
    ) -> list[Answers]:
        if not trusted:
            return []
        # All that the scheduler has, so that no worker is addressed that has just left.
        is_all = len(trusted) == len(self.workers.present)
        (first,) = asked = self._ask(message, [trusted], {}, is_all=is_all)
        answers = await self._within(patience_s, asked)
        if len(trusted) > 1 and not first.done():
            del self._open[first]
            answers += await self._within(patience_s, self._ask(message, _groups(trusted), {}))
        return answers

    async def _ask_late(
        self,
        message: Mapping[str, Any],
        earlier: Collection[asyncio.Task[Answers]],
        late: Collection[str],
        patience_s: float,
    ) -> list[Answers]:
        """Send to workers with an open message, if they answer that one in time."""
        if not earlier:
            return []
        await asyncio.wait(earlier, timeout=patience_s)
        free = sorted(set(late) - self._silent(late))
        return await self._within(patience_s, self._ask(message, _groups(free), {}))

    def _no_longer_shunned(self, workers: Collection[str]) -> dict[str, int]:
        known = self._avoided.keys() & set(workers) if self._avoided else ()
        shunned = self._shun(known)
        return {worker: self._avoided[worker].n_times for worker in known if worker not in shunned}

    def _shun(self, workers: Collection[str]) -> frozenset[str]:
        now = self.recorder.clock.perf_counter()
        known = self._avoided.keys() & set(workers) if self._avoided else ()
        return frozenset(worker for worker in known if now < self._avoided[worker].until)

    def _silent(self, workers: Collection[str]) -> frozenset[str]:
        waited_for = chain.from_iterable(known.workers for known in self._open.values())
        return frozenset(waited_for).intersection(workers)

    def _take_due(self) -> dict[str, int]:
        """Return the workers of groups that are due to be split, and how often that was done before."""
        now = self.recorder.clock.perf_counter()
        due = {task: known for task, known in self._open.items() if known.again_at <= now}
        for task in due:
            del self._open[task]
        return {worker: known.n_backed_off + 1 for known in due.values() for worker in known.workers}

    def _ask(
        self,
        message: Mapping[str, Any],
        groups: Iterable[Sequence[str]],
        n_backed_off: Mapping[str, int],
        *,
        is_all: bool = False,
    ) -> set[asyncio.Task[Answers]]:
        asked, now = set(), self.recorder.clock.perf_counter()
        for group in groups:
            n = n_backed_off.get(group[0], 0)
            pause_s = math.inf if len(group) == 1 else _BACK_OFF_S[min(n, len(_BACK_OFF_S) - 1)]
            task = asyncio.create_task(_pass_on(self._link, message, None if is_all else group))
            self._open[task] = _Open(group, now, now + pause_s, n)
            self._tasks.add(task)
            task.add_done_callback(self._heard)
            asked.add(task)
        return asked

    def _heard(self, task: asyncio.Task[Answers]) -> None:
        self._open.pop(task, None)
        self._tasks.discard(task)
        if not task.cancelled():
            # Errors of all messages are retrieved, one of several is raised.
            task.exception()

    async def _within(self, patience_s: float, asked: set[asyncio.Task[Answers]]) -> list[Answers]:
        if not asked:
            return []
        done, _ = await asyncio.wait(asked, timeout=patience_s)
        # They are done before their callbacks have run.
        for task in done:
            self._open.pop(task, None)
        return await asyncio.gather(*done)


class Question:
    """One request to all workers, beside the polling loop.

    Sent every two seconds at most, and less often where there are more than 40 workers.
    """

    def __init__(
        self, poll: WorkerPoll, name: str, function: _Function, *, sent_once: str | None = None
    ) -> None:
        self._poll = poll
        self._name = name
        self._function = function
        self._sent_once = sent_once
        self._asking: asyncio.Task[Answers] | None = None

    def is_due(self, limiter: RateLimiter, every_s: float | None = None) -> bool:
        """Return whether to `begin`: it is time, and no message is open; `every_s` is 2 s by default."""
        every_s = _EVERY_S if every_s is None else every_s
        every_s = max(every_s, len(self._poll.workers.present) * _PAUSE_S_PER_WORKER)
        return self._asking is None and limiter.is_due(self._name, every_s)

    def begin(self, limiter: RateLimiter, *arguments: object) -> None:
        """Send the request; an open one is cancelled."""
        self.close()
        self._asking = asyncio.get_running_loop().create_task(self._ask(limiter, arguments))

    async def answers(self, *, wait: bool) -> Answers | None:
        """Return the answers once; None if there are none and none are to `wait` for."""
        asking = self._asking
        if asking is None or not (wait or asking.done()):
            return None
        try:
            answers = await asking
        finally:
            self._asking = None
        workers = self._poll.workers
        workers.silent = workers.silent.difference(answers.given, answers.failed).union(answers.silent)
        return answers

    def take_each(self, answers: Answers, take: Callable[[str, Any], None]) -> None:
        """Take each worker's result; one that cannot be read is left out with a warning."""
        for address, error in answers.failed.items():
            self._leave_out(address, error)
        for address, given in answers.given.items():
            with Guard(address, self._leave_out):
                take(address, given)

    def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def _ask(self, limiter: RateLimiter, arguments: tuple[object, ...]) -> Answers:
        with limiter.limited(self._name) as disregard:
            if self._sent_once is None:
                answers = await self._poll.call(self._function, *arguments)
            else:
                answers = await self._ask_with(self._sent_once, arguments)
            if answers.silent:
                disregard()
        return answers

    async def _ask_with(self, sent: str, arguments: tuple[object, ...]) -> Answers:
        """Send to all, and again, with the source, to workers that lack it."""
        answers = await self._poll.call(self._function, *arguments, None)
        lacking = frozenset(address for address, given in answers.given.items() if given is None)
        if not lacking:
            return answers
        others = answers._replace(given={a: g for a, g in answers.given.items() if a not in lacking})
        more = await self._poll.call(self._function, *arguments, sent, workers=lacking)
        return _joined([others, more], answers.silent | more.silent)

    def _leave_out(self, address: str, error: BaseException) -> None:
        label = self._poll.workers.get(address).label
        self._poll.recorder.warn(f"what {label} reported of its {self._name} is left out: {describe(error)}")


def _groups(workers: Sequence[str]) -> list[Sequence[str]]:
    n_groups = min(len(workers), _MOST_GROUPS)
    return [workers[first::n_groups] for first in range(n_groups)]


def _message(function: _Function, arguments: tuple[object, ...]) -> dict[str, Any]:
    from distributed.protocol.pickle import dumps

    return {
        "op": "run",
        "function": dumps(_ForThisPython(dumps(_packed(function)))),
        "args": dumps(arguments),
        "kwargs": dumps({}),
        "wait": True,
    }


class _ForThisPython:
    """A function as code, which another Python must not run: it would end the process there.

    Unpickled it is that function, and on another Python one that returns the two versions.
    """

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        here, before = sys.version_info[:2], _OTHER_PYTHON
        return eval, (_HERE_ONLY.format(code=self._pickled, here=here, before=before),)


async def _pass_on(link: Link, message: Mapping[str, Any], workers: Collection[str] | None) -> Answers:
    answers, refusal = await try_ask(
        link, "broadcast", msg=message, workers=workers, on_error="return_pickle"
    )
    if refusal is not None:
        return Answers({}, refusal)
    given, failed = dict[str, Any](), dict[str, BaseException]()
    for address, answer in answers.items():
        if isinstance(answer, bytes):
            # A pickled error, which is not unpickled: the worker is gone, or blocks the message.
            if _DISALLOWED in answer:
                failed[str(address)] = _RefusedError("running functions is disallowed there")
            continue
        with Guard(str(address), failed.__setitem__):
            given[str(address)] = _unpacked(answer)
    return Answers(given, failed=failed)


class _RefusedError(Exception):
    """A worker did not run the function."""


def _joined(answers: Sequence[Answers], silent: frozenset[str]) -> Answers:
    given = {address: found for answer in answers for address, found in answer.given.items()}
    failed = {address: error for answer in answers for address, error in answer.failed.items()}
    refusal = next((answer.refusal for answer in answers if answer.refusal is not None), None)
    if failed and not given and all(isinstance(error, _RefusedError) for error in failed.values()):
        refusal = str(next(iter(failed.values())))
    return Answers(given, refusal, silent, failed)


def _packed(function: _Function) -> _Function:
    """Return what calls a function on a worker and gives its result as bytes."""
    # A function within a function travels as code.
    if iscoroutinefunction(function):
        asynchronous: Callable[..., Awaitable[object]] = function

        async def packed_later(*arguments: object, dask_worker: Any = None) -> bytes:
            import zlib

            import msgpack

            given = await asynchronous(*arguments, dask_worker=dask_worker)
            return zlib.compress(msgpack.packb(given, default=str, unicode_errors="surrogatepass"), 1)

        return packed_later

    def packed(*arguments: object, dask_worker: Any = None) -> bytes:
        import zlib

        import msgpack

        given = function(*arguments, dask_worker=dask_worker)
        return zlib.compress(msgpack.packb(given, default=str, unicode_errors="surrogatepass"), 1)

    return packed


def _unpacked(answer: Mapping[str, Any]) -> Any:
    """Return the result of a worker's function, bounded; nothing of it is unpickled."""
    import msgpack
    from distributed.protocol.serialize import Serialize, Serialized

    if answer["status"] != "OK":
        raise _RefusedError(str(answer.get("exception_text", "an error"))[:500])
    result = answer["result"]
    if isinstance(result, Serialized):
        header = result.header
        if header.get("serializer") != "dask" or any(header.get("compression") or ()):
            raise ValueError("its answer is not plain bytes")
        result = b"".join(result.frames)
    elif isinstance(result, Serialize):
        # Workers in this process return the objects that they would have sent.
        result = result.data
    if not isinstance(result, bytes):
        raise TypeError(f"its answer is of type {type(result).__name__}")
    if result.startswith(_OTHER_PYTHON):
        raise _RefusedError(result[:100].decode("ascii", "replace"))
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(result, _MAX_ANSWER_BYTES)
    if unpacking.unconsumed_tail:
        raise ValueError(f"its answer has more than {_MAX_ANSWER_BYTES:,} bytes")
    return msgpack.unpackb(plain, use_list=False, strict_map_key=False, unicode_errors="surrogatepass")


@dataclass(slots=True)
class Wanted:
    """Options of the session that schedulers and workers are read by."""

    samples: bool = False
    lines_s: float | None = None
    sought: Sought | None = None
    avoided: dict[str, Avoided] = field(default_factory=dict)
