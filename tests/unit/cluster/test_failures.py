"""What workers tell of failed attempts, and what they do not; scheduler and workers are spelled out."""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.protocol.pickle import loads
from distributed.protocol.serialize import Serialize, Serialized, serialize
from msgpack import packb

from taskscope.record import Recorder
from taskscope.sources.cluster import worker_poll
from taskscope.sources.cluster.attempts import Attempts
from taskscope.sources.cluster.failures import read_failures
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.others import Others
from taskscope.sources.cluster.ownership import Ownership
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.runs import TrackedRun, announce
from taskscope.sources.cluster.stream import TaskStream
from taskscope.sources.cluster.transfers import TransferLogs
from taskscope.sources.cluster.watched import Watched
from taskscope.sources.cluster.worker_poll import Answers, WorkerPoll
from taskscope.sources.cluster.workers import Workers
from tests.support.fake_clock import FakeClock

SCHEDULER = "tcp://10.0.0.1:8786"
A, B = "tcp://10.0.0.1:4001", "tcp://10.0.0.1:4002"


def report(number: int, stop: float, key: str = "x-1") -> dict[str, Any]:
    return {
        "op": "task-erred",
        "key": key,
        "run_id": number,
        "thread": 7,
        "status": "error",
        "stimulus_id": f"task-erred-{stop}",
        "startstops": [{"action": "compute", "start": stop - 0.5, "stop": stop}],
        "exception_text": f"ValueError('no {number}')",
        "traceback_text": "",
    }


def numbers_read(read: dict[str, int], worker: FakeWorker) -> tuple[int, int, list[int]]:
    n_sent, n_missed, reports, _ = read_failures(read, {}, worker)
    return n_sent, n_missed, [report["run_id"] for report in reports]


class FakeWorker(SimpleNamespace):
    """The parts of a worker that are read."""

    def __init__(self, address: str, *batches: Any, n_sent: int | None = None) -> None:
        log = deque(batches)
        stream = SimpleNamespace(batch_count=len(log) if n_sent is None else n_sent, recent_message_log=log)
        super().__init__(address=address, batched_stream=stream, state=SimpleNamespace(tasks={}))

    def send(self, *messages: dict[str, Any]) -> None:
        self.batched_stream.recent_message_log.append(list(messages))
        self.batched_stream.batch_count += 1


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


class Watch:
    """What is needed to look for failed attempts of one run, whose key is ``x-1``."""

    def __init__(self, clock: FakeClock, *workers: FakeWorker, may_retry: bool = True) -> None:
        self.clock = clock
        self.link = Scheduler(*workers)
        self.recorder = Recorder(clock=clock)
        known, ownership = Workers(SCHEDULER), Ownership()
        facts = {worker.address: {"name": i, "nthreads": 1} for i, worker in enumerate(workers)}
        known.update({"workers": facts})
        self.run = TrackedRun(self.recorder.begin(), None, None, True, lambda: None, may_retry=may_retry)
        announce(self.run, {"x-1": ()}, ["x-1"])
        ownership.take(self.run, ["x-1"])
        watched = Watched(self.link, known, ownership, self.recorder)
        poll = WorkerPoll(self.link, known, self.recorder)
        transfers = TransferLogs(poll, self.recorder)
        others = Others(self.recorder, known, ownership.past, lambda: None)
        stream = TaskStream(watched, others, transfers)
        stream.fold(knows_all=True)
        self.attempts = Attempts(watched, poll, stream, transfers)
        self.pace = Pace(clock.perf_counter)

    async def look(self, *over: TrackedRun, knows_all: bool = True) -> None:
        """Look once, in the pace of a loop that looks seldom; what was asked has been answered by then."""
        self.clock.advance(10.0)
        await self.attempts.ask([self.run], over, self.pace, knows_all=knows_all)
        asking = self.attempts._question._asking
        if asking is not None:
            await asyncio.wait({asking})

    @property
    def told(self) -> list[str]:
        table = self.recorder.snapshot().table("activities")
        found = zip(table["activity"], table["error"], strict=True)
        return [str(error) for activity, error in found if activity == "failed-attempt"]

    @property
    def said(self) -> list[str]:
        return [message.text for message in self.recorder.messages]


def test_a_worker_gives_what_it_sent_since_it_was_read_and_says_what_it_does_not_remember() -> None:
    worker = FakeWorker(A, [{"op": "task-finished"}, report(1, 5.0)], [report(2, 6.0)], n_sent=2)
    assert numbers_read({}, worker) == (2, 0, [1, 2])
    # One that was being sent then may be among those that were read before: it is told again.
    worker.send(report(3, 7.0))
    assert numbers_read({A: 2}, worker) == (3, 0, [2, 3])
    worker.batched_stream.batch_count = 9
    worker.batched_stream.recent_message_log.append("large-message")
    assert numbers_read({A: 3}, worker) == (9, 3, [1, 2, 3])


def test_an_attempt_is_told_once_it_is_known_that_another_followed(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    here, there = FakeWorker(A, [report(1, now + 1)]), FakeWorker(B)
    watch = Watch(fake_clock, here, there)

    async def looks() -> None:
        for _ in range(4):
            await watch.look()
        assert watch.told == []
        there.state.tasks["x-1"] = SimpleNamespace(run_id=2)
        for _ in range(3):
            await watch.look()
        assert watch.told == ["ValueError: no 1 (attempt 1)"]
        there.send(report(2, now + 50))
        here.send(report(3, now + 60))
        for _ in range(3):
            await watch.look()
        # The last is one that the task stream tells of, once that was read.
        watch.run.final_failures["x-1"] = {now + 60}
        await watch.look(watch.run)
        assert watch.told == ["ValueError: no 1 (attempt 1)", "ValueError: no 2 (attempt 2)"]

    asyncio.run(looks())
    assert watch.said == []


def test_what_is_over_is_told_at_once_and_what_is_nobody_s_waits_for_graphs(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    early = report(1, now - 5)
    watch = Watch(fake_clock, FakeWorker(A, [early], [report(2, now + 1), report(3, now + 2, "late-1")]))

    async def looks() -> None:
        await watch.look(knows_all=False)
        await watch.look(knows_all=False)
        await watch.look(knows_all=False)
        announce(watch.run, {"late-1": ()}, ["late-1"])
        watch.attempts._ownership.take(watch.run, ["late-1"])
        await watch.look(watch.run)

    asyncio.run(looks())
    # What failed before the run began is another's, though it has the same key.
    assert watch.told == ["ValueError: no 2 (attempt 1)", "ValueError: no 3 (attempt 1)"]


def test_nobody_is_asked_where_nothing_may_be_tried_again(fake_clock: FakeClock) -> None:
    watch = Watch(fake_clock, FakeWorker(A, [report(1, fake_clock.time() + 1)]), may_retry=False)
    asyncio.run(watch.look(watch.run))
    watch.attempts.lose([A], [watch.run])
    assert (watch.link.n_asked, watch.told, watch.said) == (0, [], [])


def test_what_may_be_missing_is_said_and_attempts_have_no_number_then(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    worker = FakeWorker(A)
    watch = Watch(fake_clock, worker)

    async def looks() -> None:
        await watch.look()
        await watch.look()
        worker.batched_stream.batch_count += 1_500
        worker.send(report(1, now + 1))
        watch.attempts.lose([B], [watch.run])
        await watch.look(watch.run)

    asyncio.run(looks())
    assert watch.told == ["ValueError: no 1 (one attempt)"]
    assert watch.said == [
        f"failed attempts of tasks with retries may be missing: {why}"
        for why in (f"{B} is gone", "worker 0 sent more than it remembers")
    ]


def test_workers_that_refuse_are_asked_once(fake_clock: FakeClock) -> None:
    watch = Watch(fake_clock, FakeWorker(A))
    watch.link.refusing.add(A)

    async def looks() -> None:
        for _ in range(4):
            await watch.look()

    asyncio.run(looks())
    assert (watch.link.n_asked, watch.said) == (
        1,
        ["failed attempts of tasks with retries may be missing: workers do not tell of them (not allowed)"],
    )


def test_a_worker_that_hangs_holds_up_neither_the_loop_nor_what_others_tell(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever answers does so without waiting for anything.
    monkeypatch.setattr(worker_poll, "_PATIENCE_S", 0.01)
    now = fake_clock.time()
    watch = Watch(fake_clock, FakeWorker(A, [report(1, now + 1)]), FakeWorker(B))
    watch.link.hanging.add(B)
    asyncio.run(watch.look(watch.run))
    assert watch.told == ["ValueError: no 1 (one attempt)"]
    assert watch.said == [
        "failed attempts of tasks with retries may be missing: a worker did not answer in time"
    ]


@pytest.mark.parametrize(
    ("n_workers", "n_silent", "n_asked"), [(1, 1, 1), (3, 1, 4), (16, 1, 17), (40, 3, 17)]
)
def test_who_hangs_is_found_out_once_and_left_alone_until_it_has_answered(
    n_workers: int, n_silent: int, n_asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_poll, "_PATIENCE_S", 0.01)
    monkeypatch.setattr(worker_poll, "_S_PER_WORKER", 0.0)
    addresses = [f"tcp://10.0.0.1:{4001 + i}" for i in range(n_workers)]
    link = Scheduler(*map(FakeWorker, addresses))
    link.hanging.add(addresses[0])
    workers, recorder = Workers(SCHEDULER), Recorder()
    workers.update({"workers": {address: {"nthreads": 1} for address in addresses}})

    async def rounds() -> None:
        poll = WorkerPoll(link, workers, recorder)
        answers = await poll.call(read_failures, {}, {})
        # All with one message, then each on its own, or in sixteen groups.
        assert (len(answers.given), len(answers.silent), link.n_asked) == (
            n_workers - n_silent,
            n_silent,
            n_asked,
        )
        assert answers.given.keys() | answers.silent == set(addresses)
        n_each = int(n_workers > n_silent)
        for number in range(1, 11):
            answers = await poll.call(read_failures, {}, {})
            assert (len(answers.silent), link.n_asked) == (n_silent, n_asked + number * n_each)
        link.hanging.clear()
        link.went_on.set()
        while poll._tasks:
            await asyncio.wait(poll._tasks)
        assert await poll.call(read_failures, {}, {}) == Answers(dict.fromkeys(addresses, (0, 0, (), ())))
        assert link.n_asked == n_asked + 10 * n_each + 1

    asyncio.run(rounds())


def test_of_a_group_those_that_can_answer_are_found_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_poll, "_PATIENCE_S", 0.01)
    monkeypatch.setattr(worker_poll, "_S_PER_WORKER", 0.0)
    monkeypatch.setattr(worker_poll, "_BACK_OFF_S", (0.0,))
    addresses = [f"tcp://10.0.0.1:{4001 + i}" for i in range(400)]
    link = Scheduler(*map(FakeWorker, addresses))
    link.hanging.add(addresses[0])
    workers, recorder = Workers(SCHEDULER), Recorder()
    workers.update({"workers": {address: {"nthreads": 1} for address in addresses}})

    async def rounds() -> None:
        poll = WorkerPoll(link, workers, recorder)
        silent = [(await poll.call(read_failures, {}, {})).silent for _ in range(6)]
        assert [len(some) for some in silent] == [25, 2, 1, 1, 1, 1]
        assert silent[-1] == {addresses[0]}
        # Those with all, with a sixteenth, with the two that are left of it, and alone; more is never open.
        assert len(poll._tasks) == 4
        poll.close()

    asyncio.run(rounds())


def test_a_worker_that_hung_before_costs_no_more_messages_and_is_no_reason_to_ask_seldom(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_poll, "_PATIENCE_S", 0.01)
    watch = Watch(fake_clock, *map(FakeWorker, (A, B)))
    watch.link.hanging.add(B)
    numbers = []

    async def looks() -> None:
        for _ in range(6):
            await watch.look()
            numbers.append(watch.link.n_asked)

    asyncio.run(looks())
    # First one message to both and one to each; then one to who answers.
    assert numbers == [3, 4, 5, 6, 7, 8]


ODD_REPORTS = [
    "not a report",
    {"key": "x-1"},
    {"key": {"not": "hashable"}, "run_id": 7},
    {"key": "x-1", "run_id": "seven"},
]


@pytest.mark.parametrize("odd", ODD_REPORTS)
def test_what_cannot_be_read_of_a_worker_is_left_out_and_said_and_the_rest_is_told(
    odd: Any, fake_clock: FakeClock
) -> None:
    now = fake_clock.time()
    watch = Watch(fake_clock, FakeWorker(A), FakeWorker(B, [report(1, now + 1)]))
    answer = watch.link._answer

    def answered(message: dict[str, Any], address: str) -> dict[str, Any]:
        if address == B:
            return answer(message, address)
        given = zlib.compress(packb([1, 0, [odd, report(2, now + 2)], []]))
        return {"status": "OK", "result": Serialize(given)}

    watch.link._answer = answered  # type: ignore[method-assign]
    asyncio.run(watch.look(watch.run))
    assert watch.told == ["ValueError: no 1 (one attempt)", "ValueError: no 2 (one attempt)"]
    (text,) = watch.said
    assert text.startswith(
        "failed attempts of tasks with retries may be missing: worker 0 told of one that cannot be read ("
    )


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
    now = fake_clock.time()
    watch = Watch(fake_clock, FakeWorker(A), FakeWorker(B, [report(1, now + 1)]))
    answer = watch.link._answer

    def answered(message: dict[str, Any], address: str) -> dict[str, Any]:
        return answer(message, address) if address == B else {"status": "OK", "result": result}

    watch.link._answer = answered  # type: ignore[method-assign]
    asyncio.run(watch.look(watch.run))
    assert watch.told == ["ValueError: no 1 (attempt 1)"]
    (text,) = watch.said
    assert text.startswith("what worker 0 told of its failed attempts is left out: ")


def test_a_moment_without_a_worker_is_no_refusal(fake_clock: FakeClock) -> None:
    now = fake_clock.time()
    worker = FakeWorker(A, [report(1, now + 1)])
    watch = Watch(fake_clock, worker)

    async def looks() -> None:
        del watch.link.workers[A]
        await watch.look()
        watch.link.workers[A] = worker
        await watch.look()
        await watch.look(watch.run)

    asyncio.run(looks())
    assert (watch.told, watch.said) == (["ValueError: no 1 (attempt 1)"], [])
