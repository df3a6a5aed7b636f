"""The observer on a scheduler tells what the scheduler's own task stream has, and leaves nothing there."""

from __future__ import annotations

import asyncio
import io
import logging
import subprocess
import sys
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from distributed import Client, Event, LocalCluster, wait
from distributed.protocol.pickle import dumps, loads

import taskscope
from taskscope.record import Recorder
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.observer import Observer, _begin, _end
from tests.support.waiting import until
from tests.unit.cluster.tasks.test_computes import rows

N_TASKS = 200


def what_is_there(dask_scheduler: Any) -> dict[str, list[str]]:
    """Run on the scheduler: return the names of what anybody may have put there."""
    tasks = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return {
        "plugins": sorted(dask_scheduler.plugins),
        "handlers": sorted(dask_scheduler.handlers),
        "feeds": sorted(name for name in tasks if "feed" in name),
        "streams": sorted(str(handler) for handler in dask_scheduler.stream_handlers.values()),
        "comms": sorted(str(op) for op in dask_scheduler._comms.values() if op == "feed"),
    }


SCRIPT = """
import sys, taskscope
from distributed import Client
if __name__ == "__main__":
    with taskscope.profile(display=False), Client(sys.argv[1]) as client:
        assert client.submit(abs, -1).result() == 1
        print("there", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["left", "killed"])
def test_nothing_is_left_on_the_scheduler(end: str) -> None:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False, protocol="tcp://"
        ) as cluster,
        Client(cluster) as client,
    ):
        before = client.run_on_scheduler(what_is_there)
        with subprocess.Popen(
            [sys.executable, "-c", SCRIPT, cluster.scheduler_address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            assert process.stdout.readline() == "there\n"
            during = client.run_on_scheduler(what_is_there)
            if end == "killed":
                process.kill()
            else:
                process.stdin.close()
        added = {kind: set(during[kind]) - set(before[kind]) for kind in ("plugins", "handlers")}
        (name,) = added["plugins"]
        assert added["handlers"] == {name, f"{name}-clock"}
        assert [name.partition("-")[0] for name in added["plugins"]] == ["taskscope"]
        until(lambda: client.run_on_scheduler(what_is_there) == before)


def test_of_a_scheduler_that_forbids_it_nothing_is_recorded_and_that_is_said() -> None:
    with (
        dask.config.set({"distributed.scheduler.blocked-handlers": ["feed"]}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False, protocol="tcp://"
        ) as cluster,
        Client(cluster) as client,
        taskscope.profile(display=False) as run,
    ):
        assert client.submit(abs, -1).result() == 1
    assert rows(run.recording, "tasks", "key") == []
    ((text,),) = rows(run.recording, "messages", "text")
    assert "does not let itself be observed (" in text
    assert "disallowed" in text


class Handled:
    """What a scheduler does with the failures of its workers."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def task_erred(self, **told: Any) -> None:
        self.told.append(told)


@dataclass(eq=False)
class Group:
    """A task group, which is the key of what is known of it."""

    span_id: str | None = None


class FakeScheduler(SimpleNamespace):
    """The parts of a scheduler that an observer uses."""

    def __init__(self) -> None:
        self.handled = Handled()
        super().__init__(
            plugins={},
            handlers={},
            tasks={},
            workers={},
            events=[],
            group=Group(),
            stream_handlers={"task-erred": self.handled.task_erred},
        )

    def add_plugin(self, plugin: Any, name: str) -> None:
        self.plugins[name] = plugin

    def get_events(self, _topic: str) -> Any:
        return self.events

    def task(self, key: str, state: str = "released", worker: str | None = None, **others: Any) -> Any:
        on = None if worker is None else SimpleNamespace(address=worker)
        task = SimpleNamespace(
            key=key,
            state=state,
            processing_on=on,
            dependencies=[],
            run_spec=None,
            run_id=1,
            retries=0,
            group=self.group,
        )
        task.__dict__.update(others)
        self.tasks[key] = task
        return task

    def told(self, name: str = "taskscope-x", cursor: int = 0, limit: int = 100) -> list[list[Any]]:
        """Return what was read, without moments."""
        events = self.handlers[name](cursor, limit, 100)["events"]
        return [
            [*event[:4], event[5]] if event[0] == "state" else event[:2] if event[0] == "end" else event
            for event in events
        ]


def observed(scheduler: FakeScheduler, most: int = 100, name: str = "taskscope-x") -> Any:
    return loads(dumps(_begin(name, most)))(scheduler)


STEP = {"action": "compute", "start": 1.0, "stop": 2.0}


@pytest.mark.parametrize("processes", [False, True])
def test_a_cluster_that_closes_right_after_a_block_says_nothing(
    *, processes: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    logging.getLogger("distributed").addHandler(handler)
    try:
        with (
            LocalCluster(n_workers=1, processes=processes, dashboard_address=":0") as cluster,
            Client(cluster),
            taskscope.profile(display=False) as run,
        ):
            assert dask.delayed(sum)([1, 2]).compute() == 3
    finally:
        logging.getLogger("distributed").removeHandler(handler)
    assert len(rows(run.recording, "tasks", "key")) == 1
    assert (said.getvalue(), capfd.readouterr().err) == ("", "")


def test_events_that_nobody_reads_in_time_are_counted() -> None:
    scheduler = FakeScheduler()
    plugin = observed(scheduler, 3)
    for number in range(5):
        plugin.transition(f"x-{number}", "processing", "memory", startstops=(STEP,), worker="w", thread=1)
    plugin.transition(
        "x-5", "processing", "erred", exception_text="e" * 50_000_000, startstops=[STEP] * 100_000
    )
    plugin.transition("x-6", "processing", "memory", startstops=5)
    answer = scheduler.handlers["taskscope-x"](0, 2, 3)
    assert (answer["first"], answer["n"], answer["failed"]) == (3, 6, 1)
    assert [(kind, record["key"]) for kind, record in answer["events"]] == [("end", "x-3"), ("end", "x-4")]
    ((_, last),) = scheduler.handlers["taskscope-x"](5, 2, 3)["events"]
    assert (len(last["exception_text"]), len(last["startstops"]), last["status"]) == (10_000, 1_001, "error")
    loads(dumps(_end("taskscope-x")))(scheduler, plugin)
    assert (scheduler.plugins, scheduler.handlers) == ({}, {})
    assert scheduler.stream_handlers == {"task-erred": scheduler.handled.task_erred}


def test_what_came_and_ended_since_it_was_read_is_its_end_and_where_it_was_is_told_where_it_went_on() -> None:
    scheduler = FakeScheduler()
    plugin = observed(scheduler)
    for key in ("a", "b", "c"):
        scheduler.task(key, worker="w")
        for start, finish in (("released", "waiting"), ("waiting", "processing")):
            plugin.transition(key, start, finish)
    plugin.transition("a", "processing", "memory", startstops=(STEP,))
    plugin.transition("a", "memory", "released")
    plugin.transition("a", "released", "forgotten")
    plugin.transition("b", "processing", "released")
    plugin.transition("b", "released", "waiting")
    told = scheduler.told()
    assert [event[1]["key"] for event in told if event[0] == "end"] == ["a"]
    assert [event for event in told if event[0] == "state"] == [
        ["state", "b", "processing", "w", True],
        ["state", "c", "processing", "w", True],
        ["state", "a", "forgotten", None, False],
        ["state", "b", "waiting", None, True],
    ]
    # What was read is not changed any more.
    plugin.transition("c", "processing", "released")
    assert scheduler.told(cursor=5) == [["state", "c", "released", None, False]]


def test_a_graph_comes_with_its_dependencies_and_states_and_apart_the_futures_that_it_only_refers_to() -> (
    None
):
    scheduler = FakeScheduler()
    plugin = observed(scheduler)
    future = scheduler.task("future", "memory")
    first = scheduler.task("a", "memory", dependencies=[future])
    scheduler.task("b", dependencies=[first, future])

    def create(dsk: dict[str, object]) -> None:
        # As the scheduler's own function does, which has the graph under this name.
        plugin.update_graph(scheduler, client="c-1", keys={"b"}, tasks=["b", "a", "future"], annotations={})

    create({"a": None, "b": None})
    assert scheduler.told() == [
        ["graph", "c-1", ["b"], 2, []],
        [
            "tasks",
            ["b", "a"],
            [1, 0],
            ["a"],
            [(1, "memory")],
            [],
            [(0, None)],
            [(0, "future"), (1, "future")],
        ],
    ]


def test_the_span_of_a_group_is_told_with_the_first_of_its_tasks() -> None:
    scheduler = FakeScheduler()
    plugin = observed(scheduler)
    names = {"1": ("load", 7), "2": ("default",), "3": ("x" * 2_000,), "4": None}
    spans = {number: SimpleNamespace(name=name) for number, name in names.items()}
    scheduler.extensions = {"spans": SimpleNamespace(spans=spans)}
    for number in ("1", "2", "3", "4", "unknown"):
        group = Group(span_id=number)
        scheduler.task(f"a{number}", group=group)
        scheduler.task(f"b{number}", group=group)
    plugin.update_graph(scheduler, client="c-1", keys=[], tasks=list(scheduler.tasks), annotations={})
    ((*_, told, _),) = [event for event in scheduler.told() if event[0] == "tasks"]
    assert told == [(0, "load / 7"), (2, None), (4, "x" * 1_000), (6, None), (8, None)]
    assert plugin.n_failed == 0


def test_what_went_down_with_a_worker_is_told_before_where_it_goes_from_there() -> None:
    scheduler = FakeScheduler()
    plugin = observed(scheduler)
    scheduler.task("a", worker="other")
    for finish in ("released", "waiting", "processing"):
        plugin.transition("a", "processing", finish)
    gone = {"action": "remove-worker", "processing-tasks": {"a"}, "expected": True}
    scheduler.events = [(7.0, gone), (8.0, "of anybody")]
    plugin.remove_worker(scheduler, "w", stimulus_id="s")
    plugin.add_worker(scheduler, "v")
    told = scheduler.told()
    assert told == [
        ["lost", "a", "w", 7.0, True],
        ["workers"],
        ["life", "w", 7.0, "gone", True],
        ["state", "a", "processing", "other", True],
        ["workers"],
    ]


def test_of_what_is_logged_steals_and_kills_are_told_and_nothing_odd_counts_as_a_task() -> None:
    scheduler = FakeScheduler()
    plugin = observed(scheduler)
    task = scheduler.task("x-1", "processing", "tcp://a")
    plugin.transition("x-1", "waiting", "processing")
    assert scheduler.told() == [["state", "x-1", "processing", "tcp://a", True]]
    task.processing_on.address = "tcp://b"
    plugin.log_event("stealing", [("request", "x-1")])
    plugin.log_event("stealing", ("request", [(7.0, 2, "x-1", 0.5, "tcp://a", 4.0, "tcp://b", 0)]))
    plugin.log_event("stealing", ("already-computing", "x-1", "executing", "tcp://a", "tcp://b", "steal-0"))
    plugin.log_event("stealing", ("confirm", "x-1", "ready", "tcp://a", "tcp://b", "steal-1"))
    plugin.log_event("stealing", ("reschedule", True, "x-1", "error", "tcp://a", "tcp://b", "steal-2"))
    plugin.log_event("stealing", ("stale-response", "x-1", "ready", "tcp://a", "steal-3"))
    plugin.log_event("worker-restart-memory", {"worker": "tcp://b", "pid": 7, "rss": 3 * 2**20})
    plugin.log_event("all", {"action": "add-client"})
    # Anybody may log anything.
    for odd in (None, (), {"worker": "tcp://b", "rss": "much"}, {"rss": 1}, ("confirm", "no such task")):
        plugin.log_event("worker-restart-memory", odd)
        plugin.log_event("stealing", odd)
        plugin.log_event("scheduler", odd)
    told = scheduler.told(cursor=1)
    between = ["tcp://a", "tcp://b"]
    assert told.pop(1) == ["state", "x-1", "processing", "tcp://b", True]
    assert [[*event[:2], *event[3:]] for event in told] == [
        ["steal", "x-1", "refused", *between, 0.5, 4.0, 0.0],
        ["steal", "x-1", "stolen", *between],
        ["steal", "x-1", "rescheduled", *between],
        ["life", "tcp://b", "killed", 3.0 * 2**20],
    ]
    assert scheduler.handlers["taskscope-x"](3, 100, 100)["failed"] == 0


def test_what_the_scheduler_logs_of_its_workers_is_told() -> None:
    scheduler = FakeScheduler()
    plugin = observed(scheduler)
    scheduler.workers["w"] = SimpleNamespace(name=7, nanny="n", nthreads=2)
    plugin.add_worker(scheduler, "w")
    change = {"action": "worker-status-change", "prev-status": "running", "status": "paused"}
    for topic, told in (
        ("w", change),
        ("of no worker", change),
        ("w", {"action": "closing-worker", "reason": "r" * 5_000}),
        ("w", {"action": "worker-status-change"}),
        ("w", {"action": "heartbeat"}),
        ("scheduler", {"action": "worker-ttl-timed-out", "workers": ["w", "v"], "ttl": 300}),
        ("scheduler", {"action": "update-graph"}),
    ):
        plugin.log_event(topic, told)
    assert [[*event[:2], *event[3:]] for event in scheduler.told() if event[0] == "life"] == [
        ["life", "w", "came", ["7", "n", 2]],
        ["life", "w", "status", ["running", "paused"]],
        ["life", "w", "closing", "r" * 1_000],
        ["life", "w", "timed out", 300.0],
        ["life", "v", "timed out", 300.0],
    ]


def blocked(name: str, go: str) -> str:
    """Last until that is allowed."""
    Event(go).wait()
    return name


def steal(key: str, thief: str, dask_scheduler: Any = None) -> str:
    """Run on the scheduler: have a worker steal a task that another one was given."""
    task, to = dask_scheduler.tasks[key], dask_scheduler.workers[thief]
    dask_scheduler.extensions["stealing"].move_task_request(task, task.processing_on, to)
    return str(task.processing_on.address)


def workers(recording: Recording) -> dict[str, str]:
    """Return which worker each task was with, or is."""
    return dict(rows(recording, "tasks", "key", "worker"))


def test_a_task_that_is_stolen_is_shown_where_it_is_and_a_kill_for_memory_is_said() -> None:
    with (
        dask.config.set({"distributed.scheduler.work-stealing-interval": "1h"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=False, protocol="tcp://"
        ) as cluster,
        Client(cluster) as client,
        taskscope.profile(display=False) as run,
    ):
        a, b = sorted(client.scheduler_info()["workers"])
        go = Event("taskscope-stolen", client=client)
        at = {"a": [a], "b": [b]}
        busy = [client.submit(blocked, key, "taskscope-stolen", workers=at[key], key=key) for key in at]
        until(lambda: workers(run.recording) == {"a": a, "b": b})
        waits = client.submit(
            blocked, "x", "taskscope-stolen", workers=[a], allow_other_workers=True, key="x"
        )
        until(lambda: workers(run.recording) == {"a": a, "b": b, "x": a})
        assert client.run_on_scheduler(steal, "x", b) == a
        until(lambda: workers(run.recording) == {"a": a, "b": b, "x": b})
        client.log_event("worker-restart-memory", {"worker": a, "pid": 1, "rss": 5 * 2**20})
        name = client.scheduler_info()["workers"][a]["name"]
        said = [(f"worker {name} was killed because of its memory (5 MiB)",)]
        until(lambda: rows(run.recording, "messages", "text") == said)
        go.set()
        wait([*busy, waits])
    assert workers(run.recording) == {"a": a, "b": b, "x": b}
    (stolen,) = rows(run.recording, "steals", "run", "key", "from_worker", "to_worker", "outcome")
    (number,) = {n for n, key in rows(run.recording, "tasks", "run", "key") if key == "x"}
    assert stolen == (number, "x", a, b, "stolen")
    assert "1 task stolen from busier ones" in run.recording.summary()


def nap(_number: int) -> None:
    time.sleep(0.05)


def test_tasks_that_an_idle_worker_stole_have_a_row_with_what_the_scheduler_expected() -> None:
    with (
        dask.config.set({"distributed.scheduler.work-stealing-interval": "50ms"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=False, protocol="tcp://"
        ) as cluster,
        Client(cluster) as client,
        taskscope.profile(display=False) as run,
    ):
        a, b = sorted(client.scheduler_info()["workers"])
        # Nothing is stolen of which nobody knows how long it takes.
        client.submit(nap, -1).result()
        wait(client.map(nap, range(40), workers=[a], allow_other_workers=True))
    recording = run.wait()
    steals = recording.to_pandas("steals")
    assert set(steals.outcome) <= {"stolen", "refused"}
    first = steals[steals.outcome == "stolen"].iloc[0]
    assert (first.from_worker, first.to_worker) == (a, b)
    assert first.from_occupancy_s > first.to_occupancy_s >= 0
    assert first.cost_s > 0
    ends = recording.to_pandas("tasks").set_index("key")
    assert first.time_s < ends.loc[first.key].start_s
    last = steals[steals.outcome == "stolen"].drop_duplicates("key", keep="last").set_index("key")
    assert ends.worker[last.index].tolist() == last.to_worker.tolist()
    n_stolen = int((steals.outcome == "stolen").sum())
    assert f"{n_stolen} task{'s' * (n_stolen > 1)} stolen from busier ones" in recording.summary()


def test_a_failure_that_is_tried_again_is_told_and_handled_and_the_last_observer_leaves_nothing() -> None:
    scheduler = FakeScheduler()
    plugins = {name: observed(scheduler, name=name) for name in ("taskscope-x", "taskscope-y")}
    scheduler.task("a", "processing", retries=1)
    scheduler.task("last", "processing")
    told = {"worker": "w", "run_id": 1, "startstops": [STEP], "exception_text": "no", "stimulus_id": "s"}
    messages: list[dict[str, Any]] = [{"key": key, **told} for key in ("a", "last", "unknown")]
    for message in [*messages, {"key": "a", **told, "run_id": 2}, {"key": ["odd"]}]:
        scheduler.stream_handlers["task-erred"](**message)
    assert [told["key"] for told in scheduler.handled.told] == ["a", "last", "unknown", "a", ["odd"]]
    for name, plugin in plugins.items():
        ((kind, attempt),) = scheduler.told(name)
        assert (kind, attempt["key"], attempt["status"], attempt["worker"]) == ("attempt", "a", "error", "w")
        loads(dumps(_end(name)))(scheduler, plugin)
    assert scheduler.stream_handlers == {"task-erred": scheduler.handled.task_erred}


def test_a_scheduler_that_gave_an_odd_answer_is_asked_again_by_the_next_block(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def odd(_observer: Observer, _cursor: int, **_options: Any) -> Any:
        raise ValueError("odd")

    current().hold("the extension")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(Observer, "read", odd)
            with taskscope.profile(display=False) as run:
                assert client.submit(abs, -1, key="abs-odd").result() == 1
        ((text,),) = rows(run.recording, "messages", "text")
        assert "does not let itself be observed (ValueError: odd): " in text
        with taskscope.profile(display=False) as run:
            assert client.submit(abs, -1, key="abs-even").result() == 1
        assert rows(run.recording, "tasks", "key", "status") == [("abs-even", "finished")]
    finally:
        current().release("the extension")


def test_an_observer_that_its_scheduler_took_out_is_gone(client: Client) -> None:
    def take_out(name: str, dask_scheduler: Any = None) -> None:
        del dask_scheduler.handlers[name]

    async def ask() -> None:
        link = Link(client.scheduler_info()["address"], {})
        observer = Observer(link, Recorder())
        try:
            await observer.open()
            assert (await observer.read(0)).first == 0
            await asyncio.to_thread(client.run_on_scheduler, take_out, observer._name)
            with pytest.raises(ConnectionResetError, match="it is gone"):
                await observer.read(0)
        finally:
            observer.close()
            await link.close()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("python", "is_there"),
    [
        (sys.version.partition(" ")[0], True),
        ("3.99.1", False),
    ],
)
def test_no_code_is_sent_to_another_python(
    client: Client, monkeypatch: pytest.MonkeyPatch, python: str, *, is_there: bool
) -> None:
    ask = Link.ask

    async def asked(link: Link, op: str, **arguments: Any) -> Any:
        return {"host": {"python": python}} if op == "versions" else await ask(link, op, **arguments)

    monkeypatch.setattr(Link, "ask", asked)
    # That of an earlier block is gone within a second.
    until(lambda: client.run_on_scheduler(n_observers) == 0)
    with taskscope.profile(display=False) as run:
        assert client.submit(abs, -1, key="abs-1").result() == 1
        assert client.run_on_scheduler(n_observers) == is_there
    recorded = [("abs-1", "finished")] if is_there else []
    assert rows(run.recording, "tasks", "key", "status") == recorded
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    why = f"does not let itself be observed (RuntimeError: it runs Python 3.99.1, and this is {here})"
    texts = [text for (text,) in rows(run.recording, "messages", "text")]
    assert [why in text for text in texts] == ([] if is_there else [True])


def n_observers(dask_scheduler: Any) -> int:
    """Run on the scheduler: return how many of ours are there."""
    return sum(name.startswith("taskscope") for name in dask_scheduler.plugins)
