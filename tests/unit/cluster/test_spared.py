"""Tasks that do not have to run: the cluster has their results, or those of what needs them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import dask.array as da
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster, wait

import taskscope
from taskscope.analysis.summary import summary_text
from taskscope.analysis.time_left import prefix_progress
from taskscope.analysis.totals import Outcomes, measure_outcomes
from taskscope.jupyter.widgets import ProgressWidget
from taskscope.record import Recorder
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.cluster import stream as stream_module
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.runs import TrackedRun, announce
from taskscope.sources.cluster.states import States
from taskscope.sources.cluster.stream import TaskStream
from taskscope.sources.cluster.watched import Watched
from tests.support.cluster_tasks import fail, read_truth, work, work_after
from tests.support.fake_clock import FakeClock
from tests.support.waiting import until
from tests.unit.cluster.test_computes import rows
from tests.unit.cluster.test_records import record, stream_of


def counts(recording: Recording) -> list[tuple[str, int, int, int]]:
    """Return prefix, total, finished and spared of each prefix."""
    return sorted((row.prefix, row.total, row.finished, row.spared) for row in prefix_progress(recording))


def shown(widget: ProgressWidget) -> tuple[str, int, int, int, float]:
    return widget.state, widget.total, widget.finished, widget.spared, widget.fraction


SPARED = "  {} tasks skipped: already computed, or not needed"


def test_what_is_held_is_not_computed_again_and_not_counted(client: Client) -> None:
    x = da.ones((40,), chunks=4) + 1
    held = x.persist(optimize_graph=False)
    wait(held)
    with taskscope.profile(display=False) as run:
        assert x.sum().compute(optimize_graph=False) == 80.0
    recording = run.recording
    n_ran = len(recording.tasks)
    assert n_ran < 20
    assert rows(recording, "runs", "n_tasks", "status") == [(n_ran, "finished")]
    assert [c for c in counts(recording) if c[3]] == [("add", 0, 0, 10), ("ones_like", 0, 0, 10)]
    assert sum(finished for _, _, finished, _ in counts(recording)) == n_ran
    assert measure_outcomes(recording) == Outcomes(0, 0, 20, n_ran, 0)
    assert summary_text(recording).splitlines()[-1] == SPARED.format(20)
    assert rows(recording, "messages", "text") == []


def test_a_call_that_another_client_has_made_has_nothing_to_do(client: Client, cluster: LocalCluster) -> None:
    with Client(cluster, set_as_default=False) as other, taskscope.profile(display=False) as run:
        widget = ProgressWidget()
        theirs = other.submit(pow, 2, 10)
        assert theirs.result() == 1024
        assert client.submit(pow, 2, 10).result() == 1024
        until(lambda: shown(widget) == ("finished", 1, 1, 1, 1.0))
        widget.close()
    assert rows(run.recording, "runs", "n_tasks", "status") == [(1, "finished"), (0, "finished")]
    assert counts(run.recording) == [("pow", 0, 0, 1), ("pow", 1, 1, 0)]


def test_live_only_what_has_to_run_is_ahead_and_the_bar_reaches_its_end(client: Client, truth: Path) -> None:
    signal = truth.parent / "go"
    base = delayed(work)(truth, "base", 0.0, dask_key_name="base-0")
    middle = [delayed(work)(truth, f"mid{i}", 0.0, base, dask_key_name=f"mid-{i}") for i in range(4)]
    held = client.persist(middle)
    wait(held)
    end = delayed(work_after)(signal, truth, "end", *middle, dask_key_name="end-0")
    with taskscope.profile(display=False) as run:
        widget = ProgressWidget()
        future = client.compute(end)
        until(lambda: (widget.total, widget.spared, widget.running) == (1, 5, 1))
        assert [group["prefix"] for group in widget.groups] == ["end"]
        (live,) = current().recorder.runs(run_of(future))
        assert (live.status, live.n_tasks) == ("running", 1)
        signal.touch()
        assert future.result() == "end"
        until(lambda: shown(widget) == ("finished", 1, 1, 5, 1.0))
        widget.close()
    assert counts(run.recording) == [("base", 0, 0, 1), ("end", 1, 1, 0), ("mid", 0, 0, 4)]
    assert sorted(done.name for done in read_truth(truth)) == ["base", "end", *(f"mid{i}" for i in range(4))]


def run_of(_future: object) -> int:
    """Return the number of the run that began last."""
    return current().recorder.next_run - 1


def test_where_a_compute_fails_only_what_was_there_did_not_have_to_run(client: Client, truth: Path) -> None:
    held = client.map(work, [truth] * 3, [f"held{i}" for i in range(3)], [0.0] * 3, key=["h-0", "h-1", "h-2"])
    wait(held)
    there = [delayed(work)(truth, f"held{i}", 0.0, dask_key_name=f"h-{i}") for i in range(3)]
    bad = delayed(fail)("no such thing", dask_key_name="bad-0")
    last = delayed(list)([*there, bad], dask_key_name="last-0")
    with taskscope.profile(display=False) as run, pytest.raises(ValueError, match="no such thing"):
        last.compute()
    assert rows(run.recording, "runs", "n_tasks", "status") == [(2, "erred")]
    assert measure_outcomes(run.recording) == Outcomes(1, 1, 3, 0, 0)


class Knowing(Link):
    """A scheduler with tasks in these states, and records."""

    def __init__(self, states: Mapping[str, str]) -> None:
        super().__init__("tcp://10.0.0.1:8786", {})
        self.states: dict[Hashable, str] = dict(states.items())
        self.records: list[Mapping[str, Any]] = []
        self.forgotten = 0
        self.asked: list[int] = []

    async def ask(self, op: str, **arguments: Any) -> Any:
        if op == "get_task_status":
            self.asked.append(len(arguments["keys"]))
            return {key: self.states.get(key) for key in arguments["keys"]}
        if op == "get_task_stream_index":
            return len(self.records)
        assert op == "get_task_stream"
        return self.records[max(arguments["start_index"], self.forgotten) :]


def states_of(link: Link, stream: TaskStream, recorder: Recorder) -> States:
    watched = Watched(link, stream._workers, stream._ownership, recorder)
    return States(watched, stream, Pace(recorder.clock.perf_counter))


class World:
    """A run of which a scheduler is asked."""

    def __init__(self, clock: FakeClock, states: Mapping[str, str], requested: Iterable[str] = ()) -> None:
        self.clock = clock
        self.link = Knowing(states)
        self.recorder, self.stream, self.run = stream_of(self.link, clock)
        self.ownership = self.stream._ownership
        self.states = states_of(self.link, self.stream, self.recorder)
        graph: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(states, ())
        asyncio.run(self.stream.open())
        clock.advance(1.0)
        self.run.handed_over = clock.perf_counter()
        announce(self.run, graph, list(requested))
        self.ownership.take(self.run, graph)

    def look(self) -> set[Hashable]:
        """Look as its thread does; return what does not have to run."""
        asyncio.run(self.stream.ask())
        self.stream.fold(knows_all=True)
        asyncio.run(self.states.ask([self.run], {}))
        self.clock.advance(5.0)
        return set(self.run.spared)

    def end(self, key: str) -> None:
        """Have the scheduler note the end of a task."""
        now = self.clock.time()
        self.link.records.append(record(now, now, now, key=key))

    def finish(self) -> tuple[set[Hashable], int, str]:
        """End the run; return what did not have to run, how many others there are, and how it ended."""
        self.run.over = self.clock.perf_counter()
        asyncio.run(self.states.ask_at_end([self.run]))
        asyncio.run(self.stream.ask())
        self.stream.fold(knows_all=True)
        asyncio.run(self.states.ask([self.run], {}))
        self.stream.end(self.run)
        self.run.end(self.clock.perf_counter())
        return set(self.run.spared), self.run.log.n_tasks, self.run.log.status


def test_a_result_that_is_there_is_spared_once_all_records_before_it_were_read(fake_clock: FakeClock) -> None:
    watched = World(fake_clock, {"x-1": "processing", "a-0": "memory", "a-1": "memory", "b-0": "waiting"})
    # What the scheduler says may be newer than the records that were read before it was asked.
    assert watched.look() == set()
    watched.end("a-0")
    assert (watched.look(), watched.run.log.n_tasks) == ({"a-1"}, 3)
    watched.link.states["b-0"] = "memory"
    watched.end("b-0")
    assert [watched.look() for _ in range(2)] == [{"a-1"}] * 2


def test_a_record_that_is_on_its_way_when_the_scheduler_says_that_it_has_the_result_is_waited_for(
    fake_clock: FakeClock,
) -> None:
    watched = World(fake_clock, {"x-1": "waiting", "a-0": "memory", "a-1": "memory"})
    ask, told = watched.link.ask, list[str]()

    async def late(op: str, **arguments: Any) -> Any:
        answer = await ask(op, **arguments)
        if op == "get_task_status" and not told:
            told.append(op)
            watched.end("a-0")
        return answer

    watched.link.ask = late  # type: ignore[method-assign]  # a scheduler that goes on meanwhile
    asyncio.run(watched.states.ask([watched.run], {}))
    # It is not decided before the record was read, however often it is looked at.
    for _ in range(3):
        asyncio.run(watched.states.ask([watched.run], {}))
    assert watched.run.spared == set()
    assert watched.look() == {"a-1"}


def test_what_nobody_needs_is_spared_once_the_scheduler_has_gone_through_the_graph(
    fake_clock: FakeClock,
) -> None:
    states = {"x-1": "released", "a-0": "released", "a-1": "released", "b-0": "released"}
    watched = World(fake_clock, states, requested=["b-0"])
    # It may be so of an earlier graph.
    assert [watched.look() for _ in range(3)] == [set()] * 3
    # Nor does what another run's graph has ahead show that this one was gone through.
    other = TrackedRun(watched.recorder.begin(), None, None, False, lambda: None)
    watched.ownership._owners["x-1"] = other
    watched.link.states["x-1"] = "waiting"
    assert [watched.look() for _ in range(3)] == [set()] * 3
    watched.ownership._owners["x-1"] = watched.run
    assert [watched.look() for _ in range(2)] == [set(), {"a-0", "a-1"}]


def test_a_result_that_is_lost_and_computed_again_counts_again(fake_clock: FakeClock) -> None:
    watched = World(fake_clock, {"x-1": "waiting", "a-0": "memory", "a-1": "memory", "a-2": "memory"})
    assert [watched.look() for _ in range(2)][-1] == {"a-0", "a-1", "a-2"}
    run = watched.run
    run.send("a-0", ("tcp://10.0.0.2:1", "worker 0"), fake_clock.perf_counter())
    assert (run.spared, run.log.n_tasks) == ({"a-1", "a-2"}, 2)
    watched.end("a-1")
    assert (watched.look(), run.log.n_tasks) == ({"a-2"}, 3)
    run.give_back("a-0", fake_clock.perf_counter())
    run.lose("a-2", ("tcp://10.0.0.3:1", "worker 1"), fake_clock.perf_counter(), "worker 1 died")
    assert run.log.n_tasks == 4
    recorder = watched.recorder
    recorder.pull(1.0)
    assert {row.prefix: (row.total, row.spared) for row in recorder.progress()} == {"x": (1, 0), "a": (3, 0)}


def test_of_a_compute_that_finished_all_without_a_record_did_not_have_to_run(fake_clock: FakeClock) -> None:
    watched = World(fake_clock, {"x-1": "waiting", "a-0": "waiting", "b-0": "waiting", "b-1": "memory"})
    watched.end("x-1")
    watched.run.lose("b-0", ("tcp://10.0.0.3:1", "worker 1"), fake_clock.perf_counter(), "worker 1 died")
    # Nothing was asked about them: it was over too soon. What was lost with its worker is not among them.
    assert watched.finish() == ({"a-0", "b-1"}, 2, "finished")
    assert watched.link.asked == []


def lose_records(watched: World, _: pytest.MonkeyPatch) -> None:
    for key in ("a-0", "a-0", "x-1"):
        watched.end(key)
    watched.link.forgotten = 2


def break_a_record(watched: World, _: pytest.MonkeyPatch) -> None:
    watched.link.records.append({"key": "a-0"})
    watched.end("x-1")


def hand_over_early(watched: World, _: pytest.MonkeyPatch) -> None:
    watched.run.handed_over -= 1.0
    watched.end("x-1")


def hand_over_unwatched(watched: World, _: pytest.MonkeyPatch) -> None:
    watched.run.handed_over = math.inf
    watched.end("x-1")


def hold_too_many(watched: World, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(stream_module, "_MAX_HELD", 1)
    for key in ("others-0", "others-1", "x-1"):
        watched.end(key)
    asyncio.run(watched.stream.ask())
    watched.stream.fold(knows_all=False)


def take_for_another(watched: World, _: pytest.MonkeyPatch) -> None:
    watched.end("x-1")
    other = TrackedRun(watched.recorder.begin(), None, None, False, lambda: None, assumed=True)
    watched.ownership._runs = {other: None, **watched.ownership._runs}
    watched.ownership.take(watched.run, ["a-0"])


@pytest.mark.parametrize(
    "lack",
    [lose_records, break_a_record, hand_over_early, hand_over_unwatched, hold_too_many, take_for_another],
)
def test_where_records_may_be_missing_it_is_not_known_what_had_to_run(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch, lack: Any
) -> None:
    watched = World(fake_clock, {"x-1": "waiting", "a-0": "memory", "a-1": "memory"})
    lack(watched, monkeypatch)
    assert [watched.look() for _ in range(3)] == [set()] * 3
    assert watched.finish() == (set(), 3, "finished")
    recording = watched.recorder.snapshot()
    assert measure_outcomes(recording) == Outcomes(0, 0, 0, 3, 2)
    assert (
        "  3 tasks of computes that finished, 1 of them recorded: whether the others ran is not known"
        in summary_text(recording).splitlines()
    )


def test_a_compute_that_begins_after_records_were_lost_knows_what_had_to_run(fake_clock: FakeClock) -> None:
    watched = World(fake_clock, {"x-1": "waiting"})
    lose_records(watched, pytest.MonkeyPatch())
    watched.look()
    later = TrackedRun(watched.recorder.begin(), None, None, False, lambda: None)
    later.handed_over = fake_clock.perf_counter()
    assert [watched.stream.has_all_of(run) for run in (watched.run, later)] == [False, True]


def test_where_records_may_be_missing_of_a_compute_that_did_not_finish_one_remark_says_so(
    fake_clock: FakeClock,
) -> None:
    watched = World(fake_clock, {"x-1": "erred", "a-0": "memory", "a-1": "memory", "b-0": "waiting"})
    lose_records(watched, pytest.MonkeyPatch())
    watched.run.status = "erred"
    assert watched.finish() == (set(), 4, "erred")
    assert [m.text for m in watched.recorder.messages] == [
        "2 tasks or more are missing: the scheduler did not keep their records",
        "records are missing of a compute that did not finish: whether 3 of its tasks ran is not known",
    ]


@pytest.mark.parametrize("status", ["erred", "interrupted"])
def test_of_a_compute_that_did_not_finish_those_that_were_there_did_not_have_to_run(
    fake_clock: FakeClock, status: str
) -> None:
    states = {"x-1": "erred", "a-0": "memory", "a-1": "memory", "b-0": "released", "b-1": "waiting"}
    watched = World(fake_clock, states)
    watched.end("a-0")
    watched.run.status = status
    assert watched.finish() == ({"a-1"}, 4, status)
    assert watched.link.asked == [5]


def test_of_a_large_graph_a_bounded_part_is_asked_about_and_decided_at_a_time(fake_clock: FakeClock) -> None:
    keys = [f"a-{i}" for i in range(6_000)]
    watched = World(fake_clock, {"x-1": "waiting", **dict.fromkeys(keys, "memory")})
    found = [len(watched.look()) for _ in range(6)]
    assert (found, watched.link.asked) == (
        [0, 1_999, 3_999, 5_999, 6_000, 6_000],
        [2_000, 2_000, 2_000, 2, 1, 1],
    )


def test_a_graph_that_was_not_looked_at_is_not_asked_about(fake_clock: FakeClock) -> None:
    link = Knowing({"y-0": "memory"})
    recorder, stream, _ = stream_of(link, fake_clock)
    run = TrackedRun(recorder.begin(), None, None, False, lambda: None, assumed=True)
    announce(run, {"y-0": ()}, ["y-0"])
    stream._ownership.take(run, ["y-0"])
    states = states_of(link, stream, recorder)
    asyncio.run(states.ask([run], {}))
    asyncio.run(states.ask_at_end([run]))
    assert (link.asked, run.spared) == ([], set())
