"""Who asks workers asks few, finds out who hangs, and unpickles nothing; workers are spelled out."""

from __future__ import annotations

import asyncio
import pickle
import sys
import zlib
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.protocol.pickle import loads
from distributed.protocol.serialize import Serialize, Serialized, serialize

from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link, RateLimiter
from taskscope.sources.cluster.workers import poll
from taskscope.sources.cluster.workers.known import Workers
from taskscope.sources.cluster.workers.poll import Answers, Question, WorkerPoll
from tests.support.fakes.clock import FakeClock

SCHEDULER = "tcp://10.0.0.1:8786"
A, B = "tcp://10.0.0.1:4001", "tcp://10.0.0.1:4002"


def name(dask_worker: Any = None) -> str:
    """Run on a worker: return its address."""
    return str(dask_worker.address)


class FakeWorker(SimpleNamespace):
    """The parts of a worker that are read."""

    def __init__(self, address: str) -> None:
        super().__init__(address=address)


class Scheduler(Link):
    """Passes on what is for workers; those in `hanging` never answer, those in `refusing` do not tell."""

    def __init__(self, *workers: FakeWorker) -> None:
        super().__init__(SCHEDULER, {})
        self.workers = {worker.address: worker for worker in workers}
        self.hanging: set[str] = set()
        self.refusing: set[str] = set()
        self.n_asked = 0
        self.went_on = asyncio.Event()

    async def ask(self, op: str, **arguments: Any) -> Any:
        assert op == "broadcast"
        self.n_asked += 1
        message, wanted = arguments["msg"], arguments["workers"]
        addresses = list(self.workers) if wanted is None else wanted
        if self.hanging.intersection(addresses):
            await self.went_on.wait()
        return {address: self._answer(message, address) for address in addresses}

    def _answer(self, message: dict[str, Any], address: str) -> dict[str, Any]:
        if address in self.refusing:
            return {"status": "error", "exception_text": "not allowed"}
        function, arguments = loads(message["function"]), loads(message["args"])
        return {
            "status": "OK",
            "result": Serialize(function(*arguments, dask_worker=self.workers[address])),
        }


@pytest.mark.parametrize(
    ("n_workers", "n_silent", "n_asked"), [(1, 1, 1), (3, 1, 4), (16, 1, 17), (40, 3, 17)]
)
def test_who_hangs_is_found_out_once_and_left_alone_until_it_has_answered(
    n_workers: int, n_silent: int, n_asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "_PATIENCE_S", 0.01)
    monkeypatch.setattr(poll, "_S_PER_WORKER", 0.0)
    addresses = [f"tcp://10.0.0.1:{4001 + i}" for i in range(n_workers)]
    link = Scheduler(*map(FakeWorker, addresses))
    link.hanging.add(addresses[0])
    workers, recorder = Workers(SCHEDULER), Recorder()
    workers.update({"workers": {address: {"nthreads": 1} for address in addresses}})

    async def rounds() -> None:
        poll = WorkerPoll(link, workers, recorder)
        answers = await poll.call(name)
        # All with one message, then each on its own, or in sixteen groups.
        assert (len(answers.given), len(answers.silent), link.n_asked) == (
            n_workers - n_silent,
            n_silent,
            n_asked,
        )
        assert answers.given.keys() | answers.silent == set(addresses)
        n_each = int(n_workers > n_silent)
        for number in range(1, 11):
            answers = await poll.call(name)
            assert (len(answers.silent), link.n_asked) == (n_silent, n_asked + number * n_each)
        link.hanging.clear()
        link.went_on.set()
        while poll._tasks:
            await asyncio.wait(poll._tasks)
        assert await poll.call(name) == Answers({address: address for address in addresses})
        assert link.n_asked == n_asked + 10 * n_each + 1

    asyncio.run(rounds())


class Bomb:
    """What runs code where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("an answer was unpickled",))


@pytest.mark.parametrize(
    "result",
    [
        Serialized(*serialize(Bomb(), serializers=["pickle"])),
        Serialized({"serializer": "dask", "compression": ["zlib"]}, [b""]),
        Serialize("text"),
        Serialize(zlib.compress(b"\xc1")),
        Serialize(zlib.compress(bytes(33_000_000))),
    ],
    ids=["pickled", "compressed", "text", "no message", "too large"],
)
def test_an_answer_that_is_no_plain_value_is_never_unpickled_and_others_are_taken(
    result: Any, fake_clock: FakeClock
) -> None:
    link = Scheduler(FakeWorker(A), FakeWorker(B))
    answer = link._answer

    def answered(message: dict[str, Any], address: str) -> dict[str, Any]:
        return answer(message, address) if address == B else {"status": "OK", "result": result}

    link._answer = answered  # type: ignore[method-assign]  # what is tested
    given, said = asyncio.run(asked(link, fake_clock))
    assert given == [B]
    (text,) = said
    assert text.startswith("what worker 0 reported of its names is left out: ")


async def asked(link: Scheduler, clock: FakeClock) -> tuple[list[str], list[str]]:
    """Ask once; return what workers gave, and what is said."""
    workers, recorder = Workers(SCHEDULER), Recorder(clock=clock)
    facts = {address: {"name": i, "nthreads": 1} for i, address in enumerate((A, B))}
    workers.update({"workers": facts})
    question = Question(WorkerPoll(link, workers, recorder), "names", name)
    question.begin(RateLimiter(clock.perf_counter))
    answers = await question.answers(wait=True)
    assert answers is not None
    assert answers.refusal is None
    given: list[str] = []
    question.take_each(answers, lambda _address, told: given.append(told))
    return given, [message.text for message in recorder.messages]


def spoken(dask_worker: Any = None) -> str:
    return f"said by {dask_worker}"


def test_a_worker_of_another_python_runs_nothing_of_what_is_sent_and_says_which_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = poll._message(spoken, ())["function"]
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert poll._unpacked({"status": "OK", "result": loads(sent)(dask_worker="w")}) == "said by w"
    unpickle, read = pickle.loads, Counter[str]()

    def counted(*told: Any) -> Any:
        read["code"] += 1
        return unpickle(*told)

    with monkeypatch.context() as other:
        other.setattr(sys, "version_info", (3, 99, 0))
        other.setattr(pickle, "loads", counted)
        elsewhere = unpickle(sent)
    with pytest.raises(poll._RefusedError, match=rf"^it runs Python 3\.99, and this is {here}$"):
        poll._unpacked({"status": "OK", "result": elsewhere(dask_worker="w")})
    assert not read
