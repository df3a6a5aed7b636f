"""How far computes are, and when they will end, by replays with durations of tasks that ended."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.what_if import run_again_s
from taskscope.analysis.quantities import counted, format_duration
from taskscope.analysis.totals import State, elapsed_s, in_c_s, state_of
from taskscope.model.tables.columns import distinct, median
from taskscope.model.tables.records import Estimate, Group, PrefixProgress, Run, join_progress
from taskscope.model.tables.workers import Scheduled, sum_scheduled
from taskscope.record import Recorder, WorkerCounts
from taskscope.record.writers.graph import GraphShape

_MIN_ENDED = 3
_MIN_ELAPSED_S = 0.5
_MIN_KNOWN = 0.5
"""Least share of the tasks ahead whose prefix has an ended task."""
_N_REPLAYS = 30
_MIN_REPLAYS = 6
_MAX_STEPS = 12_000
"""About so many tasks are replayed for an estimate."""
_MAX_REPLAYED = 10_000
"""Of more tasks that are left, their durations are added up."""
_BAND = (0.05, 0.95)
_FLOOR = 0.15
"""The band is never narrower than this share of the time left, to either side."""
_UNSEEN_SPREAD, _FEW_SPREAD = 1.5, 0.6
"""The standard deviation of the logarithm of a prefix's mean: with no ended task, and with one; of more tasks
it is less in proportion."""
_LATE = 20
"""Two of three replays draw from so many last tasks, and one of these follows a trend: without it the
band holds 77 % of the ends in ``benchmarks eta``, with it 93 %."""
_MAX_CHANGE = 3.0
_ERRORS = 3.0
_MAX_AGAIN = 9.0
_LeftGraph: TypeAlias = tuple[NDArray[np.int64], Sequence[Sequence[int]]]
"""For each task that is left, in the order in which they run, the place of its prefix and its dependents."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """The state of a running compute: counts by prefix, durations, and the graph of remaining tasks.

    `recent_s` are the durations of the tasks that ended last, `in_flight_s` how long the tasks in flight have
    run, and `lag_s` how long after the task before it a task begins in a lane. `graph` is None where it is
    unknown or too large.
    """

    run: Run
    now_s: float
    rows: Sequence[PrefixProgress]
    recent_s: Mapping[str, Sequence[float] | NDArray[np.float64]]
    in_flight_s: Mapping[str, Sequence[float]]
    graph: _LeftGraph | None = None
    lag_s: float = 0.0


def seconds_by_prefix(
    groups: Sequence[Group], of_groups: Iterable[tuple[int, float]]
) -> dict[str, list[float]]:
    """Return the seconds of tasks, which are given with the numbers of their groups, by prefix."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for group, seconds in of_groups:
        found[groups[group].prefix].append(seconds)
    return found


def estimate_stop(left: Remaining) -> Estimate | None:
    """Return when a compute will end; None before there is evidence.

    There is evidence once three tasks have ended, half a second has passed, and at least half of the tasks
    ahead are of prefixes with an ended task.
    """
    run, rows, elapsed_s = left.run, left.rows, left.now_s - left.run.start_s
    spent_s, n_ended = sum(row.duration_s for row in rows), sum(row.ended for row in rows)
    n_uncounted = max(run.n_tasks - sum(row.total for row in rows), 0)
    n_unseen = n_uncounted + sum(row.left for row in rows if not row.ended)
    n_ahead = n_uncounted + sum(row.left for row in rows)
    is_known = run.n_tasks > 0 and spent_s > 0 and n_ended >= _MIN_ENDED
    if not is_known or elapsed_s < _MIN_ELAPSED_S or n_unseen > (1 - _MIN_KNOWN) * n_ahead:
        return None
    concurrency = (spent_s + sum(map(sum, left.in_flight_s.values()))) / elapsed_s
    ends_s = np.array(_ends_s(left, concurrency))
    low_s, high_s = np.quantile(ends_s, _BAND).tolist()
    return Estimate(
        left.now_s + median(ends_s),
        left.now_s + (1 - _FLOOR) * low_s,
        left.now_s + (1 + _FLOOR) * high_s,
        n_unseen,
    )


def _ends_s(left: Remaining, concurrency: float) -> list[float]:
    """Return in how many seconds the compute ends, in each of several replays."""
    random = np.random.default_rng(left.run.run)
    samples = _samples(left)
    if left.graph is None or sum(row.left for row in left.rows) > _MAX_REPLAYED:
        return [
            sum(_drawn_s(left, row, samples, random, n).sum() for row in left.rows) / concurrency
            for n in range(_N_REPLAYS)
        ]
    prefix, dependents = left.graph
    n_needed = np.bincount([other for others in dependents for other in others], minlength=len(prefix))
    lag_s, pool = np.full(len(prefix), left.lag_s), np.zeros(len(prefix), np.int64)
    threads = (left.run.n_workers or math.ceil(concurrency),)
    places = [np.flatnonzero(prefix == number) for number in range(len(left.rows))]
    found = []
    for n in range(min(max(_MAX_STEPS // max(len(prefix), 1), _MIN_REPLAYS), _N_REPLAYS)):
        seconds = np.zeros(len(prefix))
        for row, mine in zip(left.rows, places, strict=True):
            drawn_s = _drawn_s(left, row, samples, random, n)
            # A task may have ended between the counts and the graph.
            seconds[mine[: len(drawn_s)]] = drawn_s[: len(mine)]
        found.append(
            run_again_s(seconds, lag_s, dependents, n_needed, pool=pool, threads=threads, is_stack=True)
        )
    return found


def _samples(left: Remaining) -> dict[str, NDArray[np.float64]]:
    """Return durations to draw from by prefix; the mean of all where no task of a prefix has ended."""
    n_ends = sum(row.ended + row.again for row in left.rows)
    mean_s = sum(row.duration_s for row in left.rows) / n_ends
    samples = {}
    for row in left.rows:
        recent = np.array(left.recent_s.get(row.prefix, ()))
        own_s = row.duration_s / (row.ended + row.again) if row.ended else mean_s
        samples[row.prefix] = recent if len(recent) else np.array([own_s])
    return samples


def _drawn_s(
    left: Remaining,
    row: PrefixProgress,
    samples: Mapping[str, NDArray[np.float64]],
    random: np.random.Generator,
    n_replay: int,
) -> NDArray[np.float64]:
    """Return the drawn durations of a prefix's remaining tasks, the running ones first."""
    sample = samples[row.prefix]
    if n_replay % 3:
        late = sample[-max(_LATE, len(sample) // 4) :]
        sample = late * (_change(sample, late, row.left) if n_replay % 3 == 2 else 1.0)
    spread = _FEW_SPREAD / row.ended if row.ended else _UNSEEN_SPREAD
    pool = random.choice(sample, len(sample)) * math.exp(random.normal(0.0, spread))
    drawn_s = random.choice(pool, row.left)
    for place, age_s in enumerate(left.in_flight_s.get(row.prefix, ())[: len(drawn_s)]):
        longer = pool[pool > age_s]
        # A task that has run longer than all others is as likely as not to run as long again.
        again = min(1 / (1 - random.random()) - 1, _MAX_AGAIN) * max(age_s - pool.max(), 0.1 * pool.max())
        drawn_s[place] = random.choice(longer) - age_s if len(longer) else again
    return drawn_s


def _change(sample: NDArray[np.float64], late: NDArray[np.float64], n_ahead: int) -> float:
    """Return how many times as long as the last tasks those ahead take, if durations go on changing."""
    change_s, late_s, n_before = (
        float(late.mean() - sample.mean()),
        float(late.mean()),
        len(sample) - len(late),
    )
    if not n_before or not late_s:
        return 1.0
    # Along a line through the means of all and of the last tasks, where their difference is no chance.
    is_clear = abs(change_s) > _ERRORS * float(late.std()) / math.sqrt(len(late))
    reach = (n_ahead + len(late)) / n_before if is_clear else 1.0
    return float(np.clip(1 + reach * change_s / late_s, 1 / _MAX_CHANGE, _MAX_CHANGE))


def time_left(estimates: Iterable[Estimate | None], now_s: float) -> Estimate | None:
    """Return in how many seconds all computes have ended; None if one is not known, or there is none."""
    given = list(estimates)
    known = [e for e in given if e is not None]
    if not known or len(known) < len(given):
        return None
    stops, firsts, lasts = zip(*((e.stop_s, e.earliest_s, e.latest_s) for e in known), strict=True)
    stop_s, first_s, last_s = (max(max(ends) - now_s, 0.0) for ends in (stops, firsts, lasts))
    return Estimate(stop_s, first_s, last_s, sum(e.n_unseen for e in known))


_VALID_S = 0.5
_COST = 50
"""An estimate is valid for so many times as long as it took."""
_RECENT_TASKS = 500
_LATENCY_S = 0.5
"""The newest rows of a recorder are at most so old, as far as tasks end."""


def _lag_s(lane: NDArray[np.integer], start: NDArray[np.float64], stop: NDArray[np.float64]) -> float:
    """Return how long after the task before it a task begins; longer gaps are waits for other tasks."""
    order = np.lexsort((start, lane))
    gaps_s = (start[order][1:] - stop[order][:-1])[lane[order][1:] == lane[order][:-1]]
    if not len(gaps_s):
        return 0.0
    ends = np.sort(stop)
    before = np.searchsorted(ends, start, side="right") - 1
    since_any_s = (start - ends[before])[before >= 0]
    of_lanes_s = len(distinct(lane)) * median(since_any_s) if len(since_any_s) else 0.0
    return max(min(float(np.quantile(gaps_s, 0.25)), of_lanes_s), 0.0)


class Estimates:
    """The estimates for the computes that a recorder records."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._shapes: dict[int, GraphShape] = {}
        self._known: dict[int, tuple[float, Estimate | None]] = {}

    def of(self, runs: Iterable[Run], now_s: float) -> Mapping[int, Estimate]:
        """Return the estimates of running computes with evidence, by compute."""
        found: dict[int, Estimate] = {}
        for run in runs:
            if run.status != "running":
                self._shapes.pop(run.run, None)
                self._known.pop(run.run, None)
            elif (estimate := self._current(run, now_s)) is not None:
                found[run.run] = estimate
        return found

    def _current(self, run: Run, now_s: float) -> Estimate | None:
        until_s, estimate = self._known.get(run.run, (-math.inf, None))
        if now_s < until_s or now_s - run.start_s < _MIN_ELAPSED_S:
            return estimate
        begun_s, estimate = self._recorder.now_s(), None
        with self._recorder.guard("the estimate of a compute"):
            estimate = estimate_stop(self._remaining(run, now_s))
        took_s = self._recorder.now_s() - begun_s
        self._known[run.run] = (now_s + max(_VALID_S, _COST * took_s), estimate)
        return estimate

    def _remaining(self, run: Run, now_s: float) -> Remaining:
        recorder = self._recorder
        rows = recorder.progress(run.run, run.run)
        _, tasks = recorder.tasks_since(recorder.cursor - _RECENT_TASKS, _RECENT_TASKS)
        mine = np.flatnonzero(tasks.run == run.run)
        group, lane = tasks.group[mine], tasks.lane[mine]
        start, stop = tasks.start[mine], tasks.stop[mine]
        # Tasks that ended since the last one was recorded are not counted yet.
        now_s = min(max(float(stop.max(initial=-math.inf)), now_s - _LATENCY_S), now_s)
        recent = zip(group.tolist(), (stop - start).tolist(), strict=True)
        in_flight = [
            (task.group, now_s - task.start_s)
            for task in recorder.running()
            if task.run == run.run and task.start_s <= now_s
        ]
        return Remaining(
            run,
            now_s,
            rows,
            seconds_by_prefix(recorder.groups, recent),
            seconds_by_prefix(recorder.groups, in_flight),
            self._graph(run.run, rows, [of_group for of_group, _ in in_flight]),
            _lag_s(lane, start, stop),
        )

    def _graph(self, run: int, rows: Sequence[PrefixProgress], in_flight: Sequence[int]) -> _LeftGraph | None:
        """Return the graph of the tasks that are left; the running ones are the first."""
        ended = self._recorder.ended(run)
        n_keys = sum(row.total + row.skipped for row in rows)
        shape = None if ended is None else self._shape(run, max(int(ended.max(initial=-1)) + 1, n_keys))
        if ended is None or shape is None:
            return None
        is_left = np.ones(len(shape.group), np.bool_)
        is_left[ended] = is_left[shape.data] = False
        left = np.flatnonzero(is_left)
        if len(left) > _MAX_REPLAYED or len(left) < sum(row.left for row in rows):
            return None
        by = np.repeat(np.arange(len(shape.group)), shape.n_dependencies)
        kept = is_left[by] & is_left[shape.edges]
        is_ready = is_left.copy()
        is_ready[by[kept]] = False
        ready: defaultdict[int, list[int]] = defaultdict(list)
        for task in np.flatnonzero(is_ready).tolist():
            ready[int(shape.group[task])].append(task)
        # Which of the ready tasks of a group is in flight makes no difference.
        begun = [ready[group].pop() for group in in_flight if ready[group]]
        # The task that became ready last runs first: tasks whose dependencies have ended, before those
        # without any.
        others = left[~np.isin(left, begun)]
        others = others[np.argsort(shape.n_dependencies[others] == 0, kind="stable")]
        order = np.concatenate([np.array(begun, np.int64), others])
        place = np.zeros(len(shape.group), np.int64)
        place[order] = np.arange(len(order))
        dependents: list[list[int]] = [[] for _ in order]
        for other, task in zip(place[shape.edges[kept]].tolist(), place[by[kept]].tolist(), strict=True):
            dependents[other].append(task)
        numbers = {row.prefix: number for number, row in enumerate(rows)}
        of_group = np.array([numbers.get(group.prefix, 0) for group in self._recorder.groups])
        return of_group[shape.group[order]], dependents

    def _shape(self, run: int, n_tasks: int) -> GraphShape | None:
        """Return the shape of a graph of at least so many tasks: one that is submitted bit by bit grows."""
        known = self._shapes.get(run)
        if known is None or len(known.group) < n_tasks:
            known = self._recorder.graph_shape(run)
            if known is None or len(known.group) < n_tasks:
                return None
            self._shapes[run] = known
        return known


_RECENT_S = 2.0
_RECENT_SAMPLES = 250


def live_states(recorder: Recorder, runs: Iterable[Run], now_s: float) -> Mapping[int, str]:
    """Return in words what keeps running computes from going on, by compute; others are left out.

    Every view of a compute shows these words.
    """
    logs, busy = {log.run: log for log in recorder.going()}, _busy_in_c(recorder, now_s)
    found = {}
    for run in runs:
        if run.status == "running":
            workers = logs[run.run].workers if run.run in logs else None
            is_starting = run.is_starting and not any(
                row.finished + row.erred for row in recorder.progress(run.run, run.run)
            )
            text = _pool_start(run, now_s) if is_starting else _lack_of_workers(recorder, run, workers, now_s)
            found[run.run] = text or busy
    return {run: text for run, text in found.items() if text}


def _pool_start(run: Run, now_s: float) -> str:
    processes = counted(run.n_workers, "process") if run.n_workers else "processes"
    return f"starting {processes}, {_whole_s(now_s - run.start_s)}"


def _lack_of_workers(recorder: Recorder, run: Run, workers: WorkerCounts | None, now_s: float) -> str:
    if workers is None or workers.n > workers.n_paused:
        return ""
    if workers.n:
        return f"waiting for memory: {counted(workers.n, 'worker')} paused"
    since_s = max(run.start_s, recorder.seconds(workers.since))
    return f"no workers {'left' if run.n_workers else 'yet'}, {_whole_s(now_s - since_s)}"


def _busy_in_c(recorder: Recorder, now_s: float) -> str:
    """Return for how long no thread of Python ran until just now although the process used a core."""
    _, last = recorder.resources.since(recorder.resources.cursor - _RECENT_SAMPLES, _RECENT_SAMPLES)
    took_s = in_c_s(last)[last.time > now_s - _RECENT_S]
    return f"kernel busy in C code, {_whole_s(took_s.max())}" if took_s.any() else ""


def _whole_s(seconds: float) -> str:
    return format_duration(math.floor(max(seconds, 0.0)))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the computes of a window are.

    `fraction` is `finished` of `total`, 0 while the total is not known; `elapsed_s` are the seconds during
    which at least one compute ran; `left` is the estimate in seconds from now, None without evidence and when
    nothing runs. `prefixes` have the same counts, by first appearance. `scheduled` is the state of
    tasks without a worker as a cluster's scheduler reported it. `skipped` tasks do not have to run and are in
    no other number; `released` ones are among the interrupted. `live_state` is what keeps all running
    computes from going on, in words: "no workers yet, 3 s". With `is_on_cluster` running tasks were given to
    workers, which may not have begun them.
    """

    total: int
    finished: int
    running: int
    erred: int
    interrupted: int
    fraction: float
    elapsed_s: float
    left: Estimate | None
    state: State
    prefixes: tuple[PrefixProgress, ...]
    scheduled: Scheduled | None = None
    skipped: int = 0
    released: int = 0
    is_on_cluster: bool = False
    live_state: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether it is known how many tasks there are."""
        return self.fraction > 0 or not self.finished


def headline(runs: Sequence[Run]) -> list[Run]:
    """Return the computes that run, else the one that ended last, with the others of the same cells."""
    chosen = [run for run in runs if run.status == "running"]
    if not chosen and runs:
        chosen = [max(runs, key=lambda run: (run.start_s if run.stop_s is None else run.stop_s, run.run))]
    cells = {(run.cell, run.execution_count) for run in chosen if run.cell is not None}
    return [run for run in runs if run in chosen or (run.cell, run.execution_count) in cells]


def measure_progress(
    rows: Sequence[PrefixProgress],
    runs: Sequence[Run],
    now_s: float,
    estimates: Mapping[int, Estimate] = MappingProxyType({}),
    states: Mapping[int, str] = MappingProxyType({}),
) -> Progress:
    """Return how far these computes are; `now_s` is on the axis of their times."""
    planned = {run.run: run.n_tasks for run in runs}
    counted: dict[int, int] = dict.fromkeys(planned, 0)
    for row in rows:
        counted[row.run] = counted.get(row.run, 0) + row.total
    skipped = {row.run for row in rows if row.skipped}
    on_cluster = {run.run for run in runs if run.is_on_cluster}
    is_counted = all(run.n_tasks or run.status != "running" or run.run in skipped for run in runs)
    total = sum(max(counted[run], n) for run, n in planned.items())
    finished = sum(row.finished for row in rows)
    going = [run.run for run in runs if run.status == "running"]
    return Progress(
        total=total,
        finished=finished,
        running=sum(row.running for row in rows),
        erred=sum(row.erred for row in rows),
        interrupted=sum(row.interrupted for row in rows),
        fraction=finished / total if total and is_counted else 0.0,
        elapsed_s=elapsed_s(runs, now_s),
        left=time_left(map(estimates.get, going), now_s),
        state=state_of(runs),
        prefixes=_by_prefix(rows),
        scheduled=_scheduled(rows),
        skipped=sum(row.skipped for row in rows),
        released=sum(row.released for row in rows),
        is_on_cluster=any(row.running and row.run in on_cluster for row in rows),
        live_state=states[going[0]] if going and states.keys() >= set(going) else "",
    )


def _by_prefix(rows: Sequence[PrefixProgress]) -> tuple[PrefixProgress, ...]:
    same: defaultdict[str, list[PrefixProgress]] = defaultdict(list)
    for row in rows:
        same[row.prefix].append(row)
    return tuple(
        replace(whole, scheduled=_scheduled(parts))
        for parts in same.values()
        for whole in join_progress(parts)
        if whole.total
    )


def _scheduled(rows: Iterable[PrefixProgress]) -> Scheduled | None:
    return sum_scheduled(row.scheduled for row in rows if row.ahead)
