"""What a page is told of why computes took so long: once they ended, in places that it knows, seldom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from taskscope.jupyter.feed.actions import Explaining
from taskscope.jupyter.feed.requests import BadRequestError
from taskscope.record import RunLog
from taskscope.session import Session
from tests.support.recordings.run_writing import begin_run, end_run, write_task

CHAIN = ("a-1", "b-1", "c-1", "d-1", "e-1")


class World:
    """Computes of a session, explained on a clock that a look at moves on by 10 ms."""

    def __init__(self) -> None:
        self.session = Session()
        self.now_s = 0.0
        self.explaining = Explaining(self.session, clock=self.clock)

    def clock(self) -> float:
        self.now_s += 0.01
        return self.now_s

    def chain(self, *, ended: bool = True) -> RunLog:
        """Record tasks of a second that need each other, each beside one on another thread at first."""
        dependencies: dict[object, tuple[object, ...]] = {
            key: CHAIN[i - 1 : i] if i else () for i, key in enumerate(CHAIN)
        }
        log = begin_run(self.session.recorder, dependencies | {"y-1": ()})
        log.n_workers = 2
        write_task(log, "y-1", log.start, log.start + 1, thread=2)
        for place, key in enumerate(CHAIN):
            write_task(log, key, log.start + place, log.start + place + 1)
        if ended:
            end_run(log, stop=log.start + len(CHAIN))
        self.session.recorder.pull()
        return log

    def ask(self, first: int, last: int | None = None) -> Mapping[str, Any]:
        return self.explaining.explain(first, last)


@pytest.fixture
def world() -> World:
    return World()


def test_an_answer_has_findings_and_the_path_by_rows_and_times_of_the_page(world: World) -> None:
    before = world.chain()
    log = world.chain()
    rows = world.session.recorder.rows_of(log.run, _numbers(world, log, CHAIN))
    [run] = world.session.recorder.runs(log.run, log.run)
    answer = world.ask(log.run)["explanation"]
    [finding] = answer["findings"]
    assert {name: finding[name] for name in ("cause", "run", "spans_s", "prefixes", "rows")} == {
        "cause": "long-chain",
        "run": log.run,
        "spans_s": [[run.start_s, run.stop_s]],
        "prefixes": ["a", "b", "c"],
        "rows": sorted(rows.values()),
    }
    assert finding["advice"].startswith("cut the chain")
    assert finding["low_s"] <= finding["worth_s"] <= finding["high_s"]
    assert answer["makespan_s"] == pytest.approx(5.0)
    assert answer["path"] == {
        "start_s": pytest.approx(run.start_s),
        "steps": [
            [pytest.approx(run.start_s + place + 1), key[0], rows[number]]
            for place, (key, number) in enumerate(zip(CHAIN, _numbers(world, log, CHAIN), strict=True))
        ],
    }
    assert min(rows.values()) >= 6, f"the first six rows are of compute {before.run}"


def test_a_path_of_very_many_steps_is_not_told_and_neither_are_its_tasks_one_by_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = world.chain()
    monkeypatch.setattr("taskscope.analysis.display.page_explanation.MAX_STEPS", 4)
    answer = world.ask(log.run)["explanation"]
    assert answer["path"] == {
        "reason": "the critical path has 5 steps, a page shows one of at most 4;"
        " recording.critical_path() has no such limit"
    }
    assert [(finding["cause"], finding["rows"]) for finding in answer["findings"]] == [("long-chain", [])]


def test_time_between_computes_is_where_it_was(world: World) -> None:
    first = world.chain()
    last = begin_run(world.session.recorder, {"z-1": ()})
    last.start = first.start + 8
    write_task(last, "z-1", last.start, last.start + 1)
    end_run(last, stop=last.start + 1)
    world.session.recorder.pull()
    start_s = world.session.recorder.runs(first.run, first.run)[0].start_s
    found = {finding["cause"]: finding for finding in world.ask(first.run)["explanation"]["findings"]}
    gaps = found["client-gaps"]
    assert (gaps["run"], gaps["prefixes"], gaps["rows"]) == (None, [], [])
    assert gaps["spans_s"] == [[pytest.approx(start_s + 5), pytest.approx(start_s + 8)]]


def test_nothing_is_said_before_a_compute_has_ended(world: World) -> None:
    log = world.chain(ended=False)
    assert world.ask(log.run) == {"explanation": None, "reason": "these computes still run"}
    end_run(log, stop=log.start + len(CHAIN))
    world.session.recorder.pull()
    assert world.ask(log.run)["explanation"] is not None


def test_nothing_is_said_of_what_is_not_held_or_of_very_many_tasks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = world.chain()
    gone = {"explanation": None, "reason": "these computes are no longer kept"}
    assert world.ask(log.run + 1) == gone
    monkeypatch.setattr("taskscope.jupyter.feed.actions.MAX_EXPLAINED", 5)
    reason = (
        "these computes have 6 tasks, a page shows it of at most 5;"
        " recording.critical_path() has no such limit"
    )
    assert world.ask(log.run) == {"explanation": None, "reason": reason}


def test_answers_take_a_hundredth_of_the_time_and_are_given_again_for_nothing(world: World) -> None:
    first, second = world.chain().run, world.chain().run
    answer = world.ask(first, first)
    refused = world.ask(second, second)
    # An answer takes one look at the clock after the other, 10 ms; the next look is that of the refusal.
    assert refused == {"wait_s": pytest.approx(100 * 0.01 - 0.01)}
    assert world.ask(first, first) == answer
    world.now_s += refused["wait_s"]
    assert world.ask(second, second)["explanation"]["findings"][0]["run"] == second


def test_what_cannot_be_explained_is_an_error_for_the_page_and_rests_as_well(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = world.chain()

    def fail(_: object) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr("taskscope.jupyter.feed.actions.explain", fail)
    with pytest.raises(BadRequestError, match="no such thing"):
        world.ask(log.run)
    assert world.ask(log.run).keys() == {"wait_s"}


def _numbers(world: World, log: RunLog, keys: tuple[str, ...]) -> Any:
    recording = world.session.recorder.snapshot(log.run, log.run)
    graph = recording.graphs[log.run]
    names = list(graph.keys.iter_text([recording.groups[group].name for group in graph.group.tolist()]))
    return [names.index(key) for key in keys]
