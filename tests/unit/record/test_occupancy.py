"""What is held, followed live, is what the finished recording says it was."""

from __future__ import annotations

import math
from typing import Any

import pytest

from taskscope.record import Recorder
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.cache_rows import Stay, state_at, told, totals
from tests.support.recordings.run_writing import begin_run, end_run, write_task


def stays_of(recorder: Recorder, names: list[str]) -> list[Stay]:
    """Return the stays that the recording's table of the cache has."""
    table = recorder.snapshot().table("cache")
    columns = [table[name] for name in ("prefix", "enter_s", "exit_s", "metric")]
    return [
        Stay(names.index(prefix), float(enter), float(leave), float(size))
        for prefix, enter, leave, size in zip(*map(list, columns), strict=True)
    ]


def chains(n: int) -> dict[object, set[object]]:
    graph: dict[object, set[object]] = {"given": set()}
    for i in range(n):
        graph["x", i] = {"given"}
        graph["y", i] = {("x", i)} | ({("x", i - 1)} if i else set())
    return graph


def run_chains(recorder: Recorder, clock: FakeClock, n: int, pull_every: int) -> None:
    log = begin_run(recorder, chains(n), kept=[("y", i) for i in range(n)], data={"given": 80.0})
    start = log.start
    landed = 0
    for i in range(n):
        for name, size in (("x", 1000.0 + i), ("y", math.nan if i % 7 == 0 else 8.0)):
            landed += 1
            clock.advance(0.02)
            write_task(log, (name, i), start + landed * 0.01, start + (landed + 1) * 0.01, size=size)
            if landed % pull_every == 0:
                recorder.pull(10.0)
    end_run(log, stop=start + (landed + 2) * 0.01)
    while recorder.pull():
        pass


@pytest.mark.parametrize("pull_every", [1, 13, 10_000])
def test_followed_live_or_at_the_end_it_is_what_the_recording_says(pull_every: int) -> None:
    clock = FakeClock()
    recorder = Recorder(clock=clock)
    recorder.follow_held = True
    run_chains(recorder, clock, 200, pull_every)
    _, rows = recorder.held.since(0, 10**9)
    names = [g.prefix for g in recorder.groups]
    stays = stays_of(recorder, names)
    # The table's times are whole microseconds, so a moment is looked at a little after it.
    want = [(group, state_at(stays, time + 1e-4, group)[:3]) for time, group, _ in told(rows)]
    assert [(group, state[:3]) for _, group, state in told(rows)] == want
    moments = sorted({s.enter_s for s in stays} | {s.exit_s for s in stays})
    most = [max(state_at(stays, t + 1e-4)[i] for t in moments) for i in (0, 1)]
    assert [max(sums[i] for _, sums in totals(rows)) for i in (0, 1)] == most
    assert totals(rows)[-1][1] == (0, 0.0, 0, 0.0, 0)


def test_a_landing_waits_for_its_size_while_the_compute_goes_on() -> None:
    clock = FakeClock()
    recorder = Recorder(clock=clock)
    recorder.follow_held = True
    log = begin_run(recorder, {"a": set(), "b": {"a"}}, kept=["b"])
    log.landed.extend(("a", log.start + 0.5))
    clock.advance(1.0)
    recorder.pull(10.0)
    assert recorder.held.cursor == 0
    write_task(log, "a", log.start, log.start + 0.5, size=7.0)
    del log.landed[:]
    clock.advance(1.0)
    recorder.pull(10.0)
    (row,) = told(recorder.held.since(0, 10)[1])
    assert row == (0.5, 0, (1, 7.0, 0, 0.0, 1))


@pytest.mark.parametrize(("metric", "names"), [(None, {}), (len, {0: "len"})])
def test_the_name_of_a_metric_is_kept_with_its_run(metric: Any, names: dict[int, str]) -> None:
    recorder = Recorder(clock=FakeClock())
    recorder.follow_held = True
    log = begin_run(recorder, {"a": set()})
    log.metric = metric
    write_task(log, "a", log.start, log.start + 1.0, size=7.0)
    if metric is not None:
        log.values.extend(("a", 3.0))
    end_run(log, stop=log.start + 1.0)
    recorder.pull(10.0)
    value = (3.0, 0) if metric else (0.0, 1)
    assert told(recorder.held.since(0, 9)[1])[0][2] == (1, 7.0, 0, *value)
    assert recorder.metrics == names


def test_nothing_is_followed_where_nobody_may_look() -> None:
    clock = FakeClock()
    recorder = Recorder(clock=clock)
    run_chains(recorder, clock, 4, pull_every=1)
    assert (recorder.held.cursor, len(recorder.snapshot().to_pandas("cache"))) == (0, 9)
