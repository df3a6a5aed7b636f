"""Tasks whose futures are let go or cancelled: recorded to their end where anybody needs them."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Hashable, Iterable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Client, LocalCluster, fire_and_forget, wait

import taskscope
from taskscope.record import Recorder
from taskscope.recording import Recording
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.link import ClientRefs, Link, RateLimiter
from taskscope.sources.cluster.observer import News
from taskscope.sources.cluster.questions import Questions
from taskscope.sources.cluster.runs import Computes, Origin, TrackedRun, announce
from taskscope.sources.cluster.workers.known import Watched, Workers, WorkerSampler
from taskscope.sources.cluster.workers.poll import Wanted
from tests.support.clusters.tasks import fail, read_truth, work, work_after
from tests.support.fakes.clock import FakeClock
from tests.support.waiting import until
from tests.unit.cluster.tasks.test_computes import rows


def _runs(recording: Recording) -> list[tuple[int, str]]:
    return [(run.n_tasks, run.status) for run in recording.runs]


def test_what_is_fired_and_forgotten_is_recorded_to_its_end_and_what_is_cancelled_is_over(
    client: Client, cluster: LocalCluster, truth: Path, tmp_path: Path
) -> None:
    scheduler: Any = cluster.scheduler
    signal, names = tmp_path / "go", [f"f{i}" for i in range(6)]
    with taskscope.profile(display=False) as run:
        futures = client.map(work_after, [signal] * 6, [truth] * 6, names, key=names)
        fire_and_forget(futures)
        del futures
        until(lambda: not client.futures)
        cancelled = client.submit(work_after, tmp_path / "never", truth, "c", resources={"GPU": 1}, key="c")
        until(lambda: "c" in scheduler.tasks)
        client.cancel(cancelled)
        until(lambda: _runs(run.recording) == [(6, "running"), (1, "interrupted")])
        signal.touch()
        until(lambda: _runs(run.recording) == [(6, "finished"), (1, "interrupted")])
    tasks = run.recording.table("tasks")
    assert Counter(zip(tasks["key"], tasks["status"], strict=True)) == {(n, "finished"): 1 for n in names}
    assert [done.name for done in read_truth(truth)] == names
    assert list(run.recording.table("messages")["text"]) == []


def test_what_is_cancelled_while_it_runs_has_a_row_also_right_after_it_began(
    client: Client, truth: Path, tmp_path: Path
) -> None:
    signal, names = tmp_path / "go", [f"cut{i}" for i in range(4)]
    with taskscope.profile(display=False) as run:
        futures = client.map(work_after, [signal] * 4, [truth] * 4, names, key=names)
        until(lambda: len(list(truth.parent.glob("begun-cut*"))) == 4)
        client.cancel(futures)
        until(lambda: _runs(run.recording) == [(4, "interrupted")])
    signal.touch()
    tasks = run.recording.table("tasks")
    assert Counter(zip(tasks["key"], tasks["status"], strict=True)) == {(n, "interrupted"): 1 for n in names}
    assert list(run.recording.table("messages")["text"]) == []


class Answering(Link):
    """A scheduler that knows of some tasks."""

    def __init__(self, states: dict[Hashable, str]) -> None:
        super().__init__("tcp://10.0.0.1:8786", {})
        self.states = states
        self.asked: list[int] = []
        self.error: Exception | None = None

    async def ask(self, op: str, **arguments: Any) -> Any:
        assert op == "get_task_status"
        if self.error is not None:
            raise self.error
        self.asked.append(len(arguments["keys"]))
        return {key: self.states.get(key) for key in arguments["keys"]}


def questions_of(clock: FakeClock, link: Link) -> Questions:
    recorder = Recorder(clock=clock)
    workers = Workers("tcp://10.0.0.1:8786")
    return Questions(
        Watched(link, workers, recorder),
        WorkerSampler(recorder),
        lambda: None,
        lambda: None,
        lambda: False,
        frozenset,
        ClientRefs(threading.Lock()),
        Wanted(),
        RateLimiter(clock.perf_counter),
    )


def _run(recorder: Recorder, n: int) -> TrackedRun:
    run = TrackedRun(recorder.begin(), None, None, True, lambda: None)
    run.ask(dict.fromkeys(range(n)))
    run.look(recorder.clock.perf_counter(), {})
    return run


def test_a_run_goes_on_while_one_of_its_tasks_is_needed_and_few_are_asked_about(
    fake_clock: FakeClock,
) -> None:
    link = Answering({500: "processing", 700: "memory"})

    async def looks() -> None:
        questions = questions_of(fake_clock, link)
        run = _run(questions._recorder, 1_000)
        await questions.end_released([run], at_end=False)
        assert (link.asked, run.over, len(run.given_up)) == ([200, 200, 200], None, 401)
        await questions.end_released([run], at_end=False)
        # The one is looked for again, and what it was asked with is gone by now.
        assert (link.asked[3:], run.over, run.given_up.keys() >= {500}) == ([200], None, True)
        del link.states[500]
        fake_clock.advance(3.0)
        await questions.end_released([run], at_end=False)
        assert (run.over, run.given_up) == (103.0, {})
        assert run.unfinished == set(range(1_000)) - {700}

    asyncio.run(looks())


def handed_over(keys: Iterable[Hashable], client: object = None) -> Submission:
    """Return what a client handed over before anybody watched."""
    return Submission(client, frozenset(keys), None, single=True, is_known=True)


def test_of_what_the_observer_has_told_nothing_is_asked(fake_clock: FakeClock) -> None:
    link = Answering({})

    async def looks() -> None:
        questions = questions_of(fake_clock, link)
        run = _run(questions._recorder, 3)
        tasks = questions.tasks
        tasks.expect(run, handed_over(range(3)))
        states = [("state", 0, "memory"), ("state", 1, "queued"), ("state", 2, "released")]
        tasks.take(News(0, 3, [(*state, None, 0.0, False) for state in states]))
        tasks.fold(knows_all=True)
        await questions.end_released([run], at_end=False)
        assert (link.asked, run.over, set(run.given_up), run.unfinished) == ([], None, {1}, {2})

    asyncio.run(looks())


class Known:
    """What a client knows of a future."""

    exception = ValueError("no")

    def __init__(self, status: str) -> None:
        self.status = status


def test_what_was_let_go_once_it_had_finished_is_finished_whoever_computed_it(fake_clock: FakeClock) -> None:
    link = Answering({})

    async def looks() -> list[tuple[str, set[Hashable], float | None]]:
        questions = questions_of(fake_clock, link)
        recorder = questions._recorder
        computes = Computes(recorder, lambda _run: None)
        told = []
        for status in ("finished", "pending", "error"):
            # Each round asks for the same key anew, and lets go of it before anybody has looked.
            state = Known(status)
            client: Any = SimpleNamespace(futures={"x-1": state})
            submission = handed_over(["x-1"], client)
            run, _ = computes.take(submission, Origin.here(), None, lambda: None)
            questions.tasks.expect(run, submission)
            computes.released("x-1", state)
            state.status = "cancelled"
            computes.look([run])
            await questions.end_released([run], at_end=False)
            told.append((run.outcome, set(run.unfinished), run.over))
            computes.ended(run)
        return told

    assert asyncio.run(looks()) == [
        ("finished", set(), 100.0),
        ("finished", {"x-1"}, 100.0),
        ("erred", set(), 100.0),
    ]
    # Only of what had not finished the scheduler has to be asked.
    assert link.asked == [1]


@pytest.mark.parametrize(("error", "over"), [(ValueError("not allowed"), 100.0), (OSError("gone"), None)])
def test_where_the_scheduler_does_not_tell_nobody_waits_and_that_it_is_gone_is_no_answer(
    fake_clock: FakeClock, error: Exception, over: float | None
) -> None:
    link = Answering({0: "processing"})
    link.error = error

    async def look() -> TrackedRun:
        questions = questions_of(fake_clock, link)
        run = _run(questions._recorder, 1)
        with nullcontext() if over else pytest.raises(OSError, match="gone"):
            await questions.end_released([run], at_end=False)
        return run

    run = asyncio.run(look())
    assert (run.over, run.unfinished) == (over, {0} if over else set())


def test_where_the_scheduler_is_gone_what_the_client_has_is_finished_and_adds_no_time(
    fake_clock: FakeClock,
) -> None:
    recorder = Recorder(clock=fake_clock)
    log = recorder.begin()
    run = TrackedRun(log, None, object(), False, lambda: None)
    announce(run, {"x-1": (), "x-2": ()}, ["x-2"])
    run.send("x-1", ("tcp://10.0.0.1:1", "worker 0"), fake_clock.perf_counter())
    fake_clock.advance(5.0)
    run.returned(fake_clock.perf_counter(), None)
    fake_clock.advance(60.0)
    run.end(fake_clock.perf_counter(), is_gone=True)
    recorder.pull(1.0)
    (told,) = recorder.runs()
    assert (told.status, told.n_tasks, recorder.running(), recorder.cursor) == ("finished", 2, [], 0)


def test_of_a_map_that_is_cancelled_as_many_tasks_have_a_bar_as_there_are_threads(
    client: Client, truth: Path, tmp_path: Path
) -> None:
    signal, names = tmp_path / "go", [f"many{i}" for i in range(30)]
    client.gather(client.map(work, [truth] * 16, [f"before{i}" for i in range(16)], [0.05] * 16, pure=False))
    with taskscope.profile(display=False) as run:
        futures = client.map(work_after, [signal] * 30, [truth] * 30, names, key=names)
        until(lambda: len(list(truth.parent.glob("begun-many*"))) == 4)
        client.cancel(futures)
        until(lambda: _runs(run.recording) == [(30, "interrupted")])
    signal.touch()
    tasks = run.recording.table("tasks")
    assert list(tasks["status"]) == ["interrupted"] * 4
    begun = {path.name.removeprefix("begun-") for path in truth.parent.glob("begun-many*")}
    assert set(tasks["key"]) == begun
    labels = {lane.id: lane.label for lane in run.recording.lanes}
    assert {labels[lane] for lane in tasks["lane"].tolist()} == {
        f"worker {worker}, thread {n}" for worker in (0, 1) for n in (1, 2)
    }


def test_a_map_that_fails_is_over_with_its_last_task(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        wait(client.map(fail, ["no"] * 3, pure=False))
    recording = run.recording
    assert rows(recording, "runs", "status") == [("erred",)]
    assert rows(recording, "runs", "stop_s") == [max(rows(recording, "tasks", "stop_s"))]


def test_right_after_wait_the_last_compute_is_over(client: Client) -> None:
    with taskscope.profile(display=False):
        wait(client.map(abs, range(4), pure=False))
        assert taskscope.last().runs[0].status == "finished"
