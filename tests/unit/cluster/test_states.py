"""What tasks wait for that no worker has: held against what the scheduler itself counts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

import taskscope
from taskscope.jupyter.widgets import ProgressWidget
from taskscope.model.records import PrefixProgress
from taskscope.model.scheduled import Scheduled
from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.others import Others
from taskscope.sources.cluster.ownership import Ownership
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.runs import TrackedRun, announce
from taskscope.sources.cluster.states import States
from taskscope.sources.cluster.stream import TaskStream
from taskscope.sources.cluster.transfers import TransferLogs
from taskscope.sources.cluster.watched import Watched
from taskscope.sources.cluster.worker_poll import WorkerPoll
from taskscope.sources.cluster.workers import Workers
from tests.support.cluster_tasks import work, work_after
from tests.support.fake_clock import FakeClock
from tests.support.waiting import until

_NAMES = ("held", "after", "gpu")


def _truth(cluster: Any) -> dict[str, tuple[int, int, int, int]]:
    """Return how many tasks of each prefix are processing, queued, waiting and without a worker."""
    states = {
        name: Counter(
            task.state
            for key, task in list(cluster.scheduler.tasks.items())
            if str(key).startswith(f"{name}-")
        )
        for name in _NAMES
    }
    return {name: (n["processing"], n["queued"], n["waiting"], n["no-worker"]) for name, n in states.items()}


def _shown(widget: ProgressWidget) -> dict[str, tuple[int | None, ...]]:
    columns = ("running", "queued", "waiting", "no_worker")
    return {group["prefix"]: tuple(group.get(column) for column in columns) for group in widget.groups}


def test_progress_shows_what_is_processed_queued_waiting_and_fits_no_worker(
    client: Client, cluster: LocalCluster, truth: Path, tmp_path: Path
) -> None:
    signal = tmp_path / "go"
    with taskscope.profile(display=False) as run:
        widget = ProgressWidget()
        held = [client.submit(work_after, signal, truth, f"held{i}", key=f"held-{i}") for i in range(40)]
        after = [
            client.submit(work, truth, f"after{i}", 0.0, *held[i : i + 2], key=f"after-{i}") for i in range(7)
        ]
        gpu = [client.submit(abs, -i, resources={"GPU": 1}, key=f"gpu-{i}") for i in range(3)]
        until(lambda: _truth(cluster)["gpu"] == (0, 0, 0, 3) and _truth(cluster)["after"] == (0, 0, 7, 0))
        sent, queued, *_ = _truth(cluster)["held"]
        assert sent >= 4
        assert sent + queued == 40
        expected = {"held": (sent, queued, 0, 0), "after": (0, 0, 7, 0), "gpu": (0, 0, 0, 3)}
        until(lambda: _shown(widget) == expected)
        assert (widget.running, widget.queued, widget.waiting, widget.no_worker) == (sent, queued, 7, 3)
        assert (widget.asked, widget.state, widget.asked_s is not None) == (None, "running", True)

        signal.touch()
        assert client.gather(after) == [f"after{i}" for i in range(7)]
        # What hangs is all that is left, and is still said.
        until(lambda: (widget.finished, widget.running, widget.no_worker) == (47, 0, 3))
        assert (widget.total, widget.queued, widget.waiting) == (50, 0, 0)
        client.cancel(gpu)
        until(lambda: widget.state == "interrupted")
        assert _shown(widget)["gpu"] == (0, None, None, None)
        widget.close()
    assert run.recording.to_pandas("messages").empty


class Answering(Link):
    """A scheduler that says of every task that it is in the state that is in its key, and takes its time."""

    def __init__(self, clock: FakeClock, takes_s: float = 0.0) -> None:
        super().__init__("tcp://10.0.0.1:8786", {})
        self.clock = clock
        self.takes_s = takes_s
        self.asked: list[list[Hashable]] = []
        self.error: Exception | None = None

    async def ask(self, op: str, **arguments: Any) -> Any:
        if op == "get_task_stream_index":
            return 0
        assert op == "get_task_status"
        self.clock.advance(self.takes_s)
        if self.error is not None:
            raise self.error
        self.asked.append(list(arguments["keys"]))
        return {key: str(key).rpartition("-")[0] for key in arguments["keys"]}


def states_of(link: Link, recorder: Recorder) -> States:
    workers, ownership = Workers("tcp://10.0.0.1:8786"), Ownership()
    watched = Watched(link, workers, ownership, recorder)
    others = Others(recorder, workers, ownership.past, lambda: None)
    stream = TaskStream(watched, others, TransferLogs(WorkerPoll(link, workers, recorder), recorder))
    return States(watched, stream, Pace(recorder.clock.perf_counter))


def _run_of(recorder: Recorder, keys: Iterable[Hashable]) -> TrackedRun:
    run = TrackedRun(recorder.begin(), None, None, True, lambda: None)
    announce(run, dict.fromkeys(keys, ()), ())
    return run


def _ask(states: States, runs: list[TrackedRun], sent: Iterable[Hashable] = ()) -> None:
    asyncio.run(states.ask(runs, frozenset(sent)))


def test_of_many_tasks_a_part_is_asked_about_at_a_time_and_what_fits_no_worker_each_time(
    fake_clock: FakeClock,
) -> None:
    recorder, link = Recorder(clock=fake_clock), Answering(fake_clock, takes_s=1.0)
    states = states_of(link, recorder)
    keys = [f"waiting-{i}" for i in range(4_990)]
    stuck = [f"no-worker-{i}" for i in range(10)]
    run = _run_of(recorder, [*keys[:1_000], *stuck, *keys[1_000:]])
    told = []
    for _ in range(3):
        _ask(states, [run])
        # At once: it is not time yet.
        _ask(states, [run])
        recorder.pull()
        told.append(recorder.progress())
        fake_clock.advance(2.25)
    assert [len(asked) for asked in link.asked] == [2_000] * 3
    assert [set(stuck) <= set(asked) for asked in link.asked] == [True] * 3
    assert len(set().union(*link.asked)) == 5_000
    seen = [Scheduled(3.25 * i, 1_990, False, 0, 1_990, 0) for i in range(3)]
    hangs = [Scheduled(3.25 * i, 10, False, 0, 0, 10) for i in range(3)]
    assert told == [
        [
            PrefixProgress(0, "waiting", 4_990, 0, 0, 0, 0, 0.0, a),
            PrefixProgress(0, "no-worker", 10, 0, 0, 0, 0, 0.0, b),
        ]
        for a, b in zip(seen, hangs, strict=True)
    ]


def test_nothing_is_asked_about_tasks_that_have_ended_or_that_workers_have(fake_clock: FakeClock) -> None:
    recorder, link = Recorder(clock=fake_clock), Answering(fake_clock)
    states = states_of(link, recorder)
    run = _run_of(recorder, [f"queued-{i}" for i in range(5)])
    run.landed["queued-0"] = 8.0
    run.failed["queued-1"] = "ValueError"
    _ask(states, [run], ["queued-2"])
    assert (link.asked, run.log.scheduled) == (
        [["queued-3", "queued-4"]],
        {"queued": Scheduled(0.0, 2, True, 2, 0, 0)},
    )
    fake_clock.advance(0.5)
    run.landed.update(dict.fromkeys(["queued-2", "queued-3", "queued-4"], 8.0))
    _ask(states, [run])
    assert (len(link.asked), run.log.scheduled) == (1, {})


def test_a_scheduler_that_does_not_tell_is_not_asked_again_and_what_it_knows_is_unknown(
    fake_clock: FakeClock,
) -> None:
    recorder, link = Recorder(clock=fake_clock), Answering(fake_clock)
    link.error = ValueError("'get_task_status' is not allowed")
    states = states_of(link, recorder)
    run = _run_of(recorder, ["queued-0"])
    for _ in range(2):
        _ask(states, [run])
        fake_clock.advance(10.0)
    assert (link.asked, run.log.scheduled, [m.text for m in recorder.messages]) == (
        [],
        {},
        ["the scheduler does not tell what tasks wait for (ValueError: 'get_task_status' is not allowed)"],
    )
    link.error = ConnectionResetError()
    with pytest.raises(ConnectionResetError):
        _ask(states_of(link, recorder), [_run_of(recorder, ["queued-0"])])
