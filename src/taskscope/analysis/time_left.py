"""When computes will end: durations, their trend, and the longest chain left in a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import (
    ERRED,
    FINISHED,
    INTERRUPTED,
    LOST,
    RUNNING,
    STATUSES,
    Estimate,
    PrefixProgress,
    Run,
    flag_codes,
)
from taskscope.record import Recorder
from taskscope.record.writers.graph import GraphShape

__all__ = [
    "MIN_ELAPSED_S",
    "NO_ROW",
    "Estimates",
    "Evidence",
    "Levels",
    "TimeLeft",
    "Trend",
    "estimate_stop",
    "graph_levels",
    "last_codes",
    "longest_chain_s",
    "prefix_progress",
    "task_statuses",
    "time_left",
    "trend_of",
]

_MIN_SEEN = 8
_ERRORS = 3.0
"""There is a trend if the slope is so many of its standard errors from none."""
_PRECISION = 0.02
"""Durations are taken to scatter about the line by at least so much of their mean."""
_REACH = 16
"""A line through `n` tasks is drawn on through at most so many times `n`."""
_DAMPING = 0.75
"""The best guess goes so far along the line."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Mean seconds per task of those ahead, if durations have a trend.

    Parameters
    ----------
    ends_now_s, guess_s, goes_on_s
        If the trend ends now, the best guess, and if it goes on to the end.
    error_s
        The standard error of `goes_on_s`, were the line straight.
    """

    ends_now_s: float
    guess_s: float
    goes_on_s: float
    error_s: float


def trend_of(durations_s: NDArray[np.float64], ahead: int) -> Trend | None:
    """Return where durations are heading; None where a trend cannot be distinguished from chance.

    Examples
    --------
    >>> trend = trend_of(np.arange(8.0), ahead=8)
    >>> trend.ends_now_s, trend.guess_s, trend.goes_on_s
    (7.0, 10.375, 11.5)
    >>> trend_of(np.tile([1.0, 2.0], 10), ahead=20) is None
    True
    """
    # Least squares over the number of the task, with the standard error at the mean of those to come (N. R.
    # Draper and H. Smith, Applied Regression Analysis, 3rd edition, 1998, section 3.1). Trends end, so
    # the guess follows the line only in part (E. S. Gardner and E. McKenzie, Forecasting trends in time
    # series, Management Science 31, 1985).
    n = len(durations_s)
    if n < _MIN_SEEN:
        return None
    number = np.arange(n) - (n - 1) / 2
    squares = float(number @ number)
    mean_s, slope_s = float(durations_s.mean()), float(number @ durations_s) / squares
    residuals = durations_s - (mean_s + slope_s * number)
    deviation_s = max(math.sqrt(float(residuals @ residuals) / (n - 2)), _PRECISION * mean_s)
    if abs(slope_s) * math.sqrt(squares) <= _ERRORS * deviation_s:
        return None
    last = (n - 1) / 2
    middle = last + (min(ahead, _REACH * n) + 1) / 2
    ends_now_s, goes_on_s = mean_s + slope_s * last, mean_s + slope_s * middle
    guess_s = ends_now_s + _DAMPING * (goes_on_s - ends_now_s)
    return Trend(ends_now_s, guess_s, goes_on_s, deviation_s * math.sqrt(1 / n + middle**2 / squares))


_MAX_TASKS = 100_000
_MAX_LEVELS = 512


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Tasks that are equally far from the end, and each of their dependencies with who needs it."""

    tasks: NDArray[np.int64]
    needed: NDArray[np.int32]
    needed_by: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """A graph cut into levels, those that nothing depends on first."""

    n_tasks: int
    levels: tuple[_Level, ...]


def graph_levels(n_dependencies: NDArray[np.uint32], edges: NDArray[np.int32]) -> Levels | None:
    """Cut a graph into levels; None beyond 100,000 tasks or 512 levels, which take too long while it runs."""
    n_tasks = len(n_dependencies)
    if n_tasks > _MAX_TASKS:
        return None
    first = np.concatenate(([0], np.cumsum(n_dependencies, dtype=np.int64)))
    dependents = np.bincount(edges, minlength=n_tasks)
    levels: list[_Level] = []
    tasks = np.flatnonzero(dependents == 0)
    while len(tasks):
        if len(levels) == _MAX_LEVELS:
            return None
        counts = n_dependencies[tasks].astype(np.int64)
        places = np.repeat(first[tasks] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        needed = edges[places]
        levels.append(_Level(tasks, needed, np.repeat(tasks, counts)))
        np.subtract.at(dependents, needed, 1)
        tasks = np.unique(needed[dependents[needed] == 0]).astype(np.int64)
    return Levels(n_tasks, tuple(levels))


def longest_chain_s(levels: Levels, task_s: NDArray[np.float64]) -> float:
    """Return the length of the longest chain; a task that is over takes 0 seconds.

    Examples
    --------
    >>> chain = graph_levels(np.array([0, 1, 1], np.uint32), np.array([0, 1], np.int32))
    >>> longest_chain_s(chain, np.array([1.0, 2.0, 0.5]))
    3.5
    """
    after_s = np.zeros(levels.n_tasks)
    for level in levels.levels:
        after_s[level.tasks] += task_s[level.tasks]
        longest_s = after_s[level.needed_by]
        np.maximum.at(after_s, level.needed, longest_s)
    return float(after_s.max(initial=0.0))


NO_ROW = 255


def task_statuses(recording: RecordedData, run: int) -> NDArray[np.uint8]:
    """Return what became of each key of a run's graph: a code into `STATUSES`, or `NO_ROW`."""
    return last_codes(recording, run, "status")


def last_codes(recording: RecordedData, run: int, name: str) -> NDArray[np.uint8]:
    """Return what the last row of each key of a run's graph says of one thing, or `NO_ROW`.

    On a cluster a task whose worker died, or whose result was lost, runs again.
    """
    found = np.full(len(recording.graphs[run].group), NO_ROW, np.uint8)
    blocks = [block for block in recording.blocks if block.run == run]
    if not blocks:
        return found
    task = np.concatenate([block.task for block in blocks])
    codes = flag_codes(np.concatenate([block.flags for block in blocks]), name)
    if np.bincount(task).max(initial=0) > 1:
        order = np.argsort(np.concatenate([block.start + block.duration for block in blocks]), kind="stable")
        task, codes = task[order], codes[order]
    found[task] = codes
    return found


def prefix_progress(recording: RecordedData) -> list[PrefixProgress]:
    """Return one row per compute and prefix, in the order in which they began, as a live recorder does."""
    return [row for run in recording.graphs for row in _rows(recording, run)]


def _rows(recording: RecordedData, run: int) -> list[PrefixProgress]:
    graph, n = recording.graphs[run], len(recording.groups)

    def count(keys: NDArray[np.generic]) -> NDArray[np.int64]:
        return np.bincount(graph.group[keys], minlength=n)

    statuses = task_statuses(recording, run)
    counts = np.array([count(np.flatnonzero(statuses == code)) for code in range(len(STATUSES))])
    blocks = [block for block in recording.blocks if block.run == run]
    task = np.concatenate([np.empty(0, np.int32), *(block.task for block in blocks)])
    seconds = np.bincount(graph.group[task], np.concatenate([np.empty(0), *(b.duration for b in blocks)]), n)
    first = np.full(n, np.inf)
    np.minimum.at(first, graph.group[task], np.concatenate([np.empty(0), *(b.start for b in blocks)]))
    is_skipped = np.zeros(len(graph.group), bool)
    is_skipped[graph.skipped] = True
    skipped = count(np.flatnonzero(is_skipped & (statuses == NO_ROW)))
    planned = np.bincount(graph.group, minlength=n) - count(graph.data)
    total = planned - skipped if graph.known else np.maximum(planned - skipped, counts.sum(axis=0))
    again = count(task) - counts.sum(axis=0)
    places: dict[str, list[int]] = {}
    for i in np.flatnonzero(total + skipped).tolist():
        places.setdefault(recording.groups[i].prefix, []).append(i)
    rows = [
        PrefixProgress(
            run,
            prefix,
            total=int(total[ids].sum()),
            finished=int(counts[FINISHED, ids].sum()),
            erred=int(counts[ERRED, ids].sum()),
            running=int(counts[RUNNING, ids].sum()),
            interrupted=int(counts[INTERRUPTED, ids].sum() + counts[LOST, ids].sum()),
            duration_s=float(seconds[ids].sum()),
            skipped=int(skipped[ids].sum()),
            again=int(again[ids].sum()),
            first_s=None if np.isinf(first[ids]).all() else float(first[ids].min()),
        )
        for prefix, ids in places.items()
    ]
    return sorted(rows, key=lambda row: row.order)


MIN_ENDED = 3
MIN_ELAPSED_S = 0.5
MIN_KNOWN = 0.5
"""Least share of the tasks ahead that must be of prefixes of which a task has ended."""

_QUANTILE = 1.28
"""Half-width of a band that holds four of five, in standard deviations."""
_UNSEEN_FACTOR = 4.0
"""A task of a prefix of which nothing has ended may take so many times the mean of all others."""
_UNSEEN_SHARE = 0.25
"""And so much of the time that has passed."""
_FLOOR = 0.08
"""The band is never narrower than this share of what is left, to either side."""
_FEW = 5
_LATE = 20
"""At least so many of the tasks that ended last show where durations are heading."""
_LEAST_DRIFT = 0.3
"""Durations that fall are not expected to fall below this share of the last ones."""


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """An estimate of the seconds until computes end, and the band around it."""

    guess_s: float
    low_s: float
    high_s: float
    n_unseen: int = 0
    """Tasks ahead of prefixes of which none has ended: `high_s` holds if they are like the others."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one compute that runs.

    Parameters
    ----------
    run, now_s
        The compute, and the present on the axis of its times.
    rows
        Its counts per prefix.
    recent_s
        Durations of the tasks that ended last, by prefix.
    in_flight_s
        For how long the tasks in flight have run, by prefix.
    chain_s
        Returns the longest chain that is left, given seconds per task of each prefix; None where the graph
        is not known, or too large.
    """

    run: Run
    now_s: float
    rows: Sequence[PrefixProgress]
    recent_s: Mapping[str, NDArray[np.float64]]
    in_flight_s: Mapping[str, Sequence[float]]
    chain_s: Callable[[Mapping[str, float]], float] | None = None


def estimate_stop(evidence: Evidence) -> Estimate | None:
    """Return when a compute will end; None before there is evidence.

    Notes
    -----
    There is evidence once three tasks have ended, half a second has passed, and at least half of the tasks
    ahead are of prefixes of which a task has ended. Greedy schedulers end no later than the work ahead over
    the workers plus the longest chain (Graham), and no earlier than the longer of the two. The durations are
    means, with the spread that was seen, and where they are heading: along a straight line where durations
    have a trend (`trend_of`), else as far again as the last ones differ from all. The last
    task of a chain may be the shortest or the longest that was seen, and one in flight that has run longer
    than any may run as long again. What nothing hints at, such as the first straggler, is outside of it.

    Of a prefix of which no task has ended nothing is known. The band takes such a task for one of up to four
    times the others' mean, or a quarter of the time so far, and `Estimate.n_unseen` says how many there are.
    """
    elapsed_s = evidence.now_s - evidence.run.start_s
    ended = sum(map(_ended, evidence.rows))
    if not evidence.run.n_tasks or ended < MIN_ENDED or elapsed_s < MIN_ELAPSED_S:
        return None
    if _known_share(evidence) < MIN_KNOWN:
        return None
    spent_s = sum(row.duration_s for row in evidence.rows)
    if spent_s <= 0:
        return None
    flying_s = sum(sum(ages) for ages in evidence.in_flight_s.values())
    concurrency = max((spent_s + flying_s) / elapsed_s, 1.0)
    n_workers = max(evidence.run.n_workers or 1, concurrency)
    costs = _costs(evidence)
    ahead = [costs[row.prefix] for row in evidence.rows if _ahead(row)]
    shorter_s = max((cost.task_s[0] - cost.shortest_s for cost in ahead), default=0.0)
    longer_s = max((cost.longest_s - cost.task_s[2] for cost in ahead), default=0.0)
    overdue_s = _overdue_s(evidence, costs)
    work = [_work_s(evidence, costs, bound) for bound in range(3)]
    chain = [_chain_s(evidence, costs, bound) for bound in range(3)]
    # A chain begins with a task in flight, of which a part is over.
    ages = [age for ages in evidence.in_flight_s.values() for age in ages]
    begun_s = sum(ages) / len(ages) if ages else 0.0
    stop_s = max(work[1] / concurrency, chain[1] - begun_s, overdue_s / 2)
    spread_s = _QUANTILE * math.sqrt(sum(cost.variance for cost in costs.values()))
    least_s, most_s = (1 - _FLOOR) * work[0] - spread_s, (1 + _FLOOR) * work[2] + spread_s
    least_chain_s = (1 - _FLOOR) * chain[0] - max(ages, default=0.0) - spread_s - shorter_s
    earliest_s = max(least_s / n_workers, least_chain_s, 0.0)
    latest_s = most_s / concurrency + (chain[2] + max(longer_s, 0.0)) * (1 - 1 / n_workers)
    now_s = evidence.now_s
    return Estimate(
        now_s + stop_s,
        now_s + min(earliest_s, stop_s),
        now_s + max(latest_s, stop_s, overdue_s),
        _unseen(evidence),
    )


def time_left(estimates: Iterable[Estimate | None], now_s: float) -> TimeLeft | None:
    """Return how long it takes until all computes have ended; None if one is not known, or there is none."""
    given = list(estimates)
    known = [e for e in given if e is not None]
    if not known or len(known) < len(given):
        return None
    stops, firsts, lasts = zip(*((e.stop_s, e.earliest_s, e.latest_s) for e in known), strict=True)
    guess_s, low_s, high_s = (max(max(ends) - now_s, 0.0) for ends in (stops, firsts, lasts))
    return TimeLeft(guess_s, low_s, high_s, sum(e.n_unseen for e in known))


@dataclass(frozen=True, slots=True)
class _Cost:
    """Mean seconds per task of a prefix: least, best guess, most; the variance of what is ahead in sum."""

    task_s: tuple[float, float, float]
    variance: float
    shortest_s: float
    longest_s: float


def _known_share(evidence: Evidence) -> float:
    known = sum(_ahead(row) for row in evidence.rows if _ended(row))
    ahead = known + _unseen(evidence)
    return known / ahead if ahead else 1.0


def _unseen(evidence: Evidence) -> int:
    """Return how many tasks ahead are of prefixes of which none has ended, or not counted by prefix yet."""
    uncounted = max(evidence.run.n_tasks - sum(row.total for row in evidence.rows), 0)
    return uncounted + sum(_ahead(row) for row in evidence.rows if not _ended(row))


def _costs(evidence: Evidence) -> dict[str, _Cost]:
    seen = [row for row in evidence.rows if _ended(row)]
    mean_s = sum(row.duration_s for row in seen) / sum(map(_ends, seen))
    most_s = max(_UNSEEN_FACTOR * mean_s, _UNSEEN_SHARE * (evidence.now_s - evidence.run.start_s))
    # Many tasks of a kind do not all take as long as one of them may.
    unseen = _Cost((0.0, mean_s, _UNSEEN_FACTOR * mean_s), 0.0, 0.0, most_s)
    return {row.prefix: _seen_cost(evidence, row) if _ended(row) else unseen for row in evidence.rows}


def _seen_cost(evidence: Evidence, row: PrefixProgress) -> _Cost:
    ends, ahead = _ends(row), _ahead(row)
    all_s = row.duration_s / ends
    recent = evidence.recent_s.get(row.prefix, np.empty(0))
    late = recent[-max(_LATE, len(recent) // 4) :]
    last_s = float(late.mean()) if len(late) else all_s
    few = len(recent) < _FEW
    # With few seen, as uncertain as if their ends came at random.
    deviation_s = last_s if few else float(recent.std())
    variance = (deviation_s * ahead) ** 2 * (1 / max(len(late), 1) + 1 / ahead) if ahead else 0.0
    shortest_s, longest_s = (
        (0.0, _UNSEEN_FACTOR * last_s) if few else (float(recent.min()), float(recent.max()))
    )
    means = _trend_means(recent, ahead, last_s)
    if means is None:
        heading_s = max(2 * last_s - (float(recent.mean()) if len(recent) else all_s), _LEAST_DRIFT * last_s)
        # Tasks in flight have shown that they take at least as long as they have run.
        with_flying_s = (row.duration_s + sum(evidence.in_flight_s.get(row.prefix, ()))) / ends
        means = (min(all_s, last_s, heading_s), last_s, max(all_s, last_s, heading_s, with_flying_s))
    return _Cost(means, variance, shortest_s, longest_s)


def _trend_means(
    recent_s: NDArray[np.float64], ahead: int, last_s: float
) -> tuple[float, float, float] | None:
    trend = trend_of(recent_s, ahead)
    if trend is None:
        return None
    spread_s = _QUANTILE * trend.error_s
    ends = (trend.ends_now_s, trend.goes_on_s - spread_s, trend.goes_on_s + spread_s)
    least_s = _LEAST_DRIFT * last_s
    return max(min(ends), least_s), max(trend.guess_s, least_s), max(*ends, least_s)


def _overdue_s(evidence: Evidence, costs: Mapping[str, _Cost]) -> float:
    """Return the longest that a task in flight has run which has run longer than any of its prefix."""
    return max(
        (
            age
            for prefix, ages in evidence.in_flight_s.items()
            for age in ages
            if prefix not in costs or age > costs[prefix].longest_s
        ),
        default=0.0,
    )


def _work_s(evidence: Evidence, costs: Mapping[str, _Cost], bound: int) -> float:
    work_s = 0.0
    for row in evidence.rows:
        task_s = costs[row.prefix].task_s[bound]
        begun_s = sum(min(age, task_s) for age in evidence.in_flight_s.get(row.prefix, ()))
        work_s += max(_ahead(row) * task_s - begun_s, 0.0)
    return work_s


def _chain_s(evidence: Evidence, costs: Mapping[str, _Cost], bound: int) -> float:
    if evidence.chain_s is None:
        return 0.0
    return evidence.chain_s({prefix: cost.task_s[bound] for prefix, cost in costs.items()})


def _ended(row: PrefixProgress) -> int:
    return row.finished + row.erred + row.interrupted


def _ends(row: PrefixProgress) -> int:
    """Return how often tasks of it ended, which is what durations are summed over."""
    return _ended(row) + row.again


def _ahead(row: PrefixProgress) -> int:
    return max(row.total - _ended(row), 0)


_VALID_S = 0.5
_RECENT_TASKS = 500


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    outline: GraphShape
    levels: Levels | None


class Estimates:
    """The estimates for the computes that run.

    Parameters
    ----------
    recorder
        Where they are recorded.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._shapes: dict[int, _Shape] = {}
        self._known: dict[int, tuple[float, Estimate | None]] = {}

    def of(self, runs: Iterable[Run], now_s: float) -> Mapping[int, Estimate]:
        """Return the estimates for those of these computes that run and give evidence, by compute."""
        found: dict[int, Estimate] = {}
        for run in runs:
            if run.status != "running":
                self._shapes.pop(run.run, None)
                self._known.pop(run.run, None)
            elif (estimate := self._current(run, now_s)) is not None:
                found[run.run] = estimate
        return found

    def _current(self, run: Run, now_s: float) -> Estimate | None:
        made_s, estimate = self._known.get(run.run, (-np.inf, None))
        if now_s - made_s < _VALID_S or now_s - run.start_s < MIN_ELAPSED_S:
            return estimate
        try:
            estimate = estimate_stop(self._evidence(run, now_s))
        except Exception as error:  # noqa: BLE001 - what is measured must reach the views without an estimate
            estimate = None
            self._recorder.fault("the estimate of a compute", error)
        self._known[run.run] = (now_s, estimate)
        return estimate

    def _evidence(self, run: Run, now_s: float) -> Evidence:
        recorder = self._recorder
        in_flight_s: dict[str, list[float]] = {}
        for task in recorder.running():
            if task.run == run.run:
                in_flight_s.setdefault(self._prefix(task.group), []).append(now_s - task.start_s)
        return Evidence(
            run=run,
            now_s=now_s,
            rows=recorder.progress(run.run, run.run),
            recent_s=self._recent_s(run.run),
            in_flight_s=in_flight_s,
            chain_s=self._chain(run.run),
        )

    def _prefix(self, group: int) -> str:
        return self._recorder.groups[group].prefix

    def _recent_s(self, run: int) -> dict[str, NDArray[np.float64]]:
        _, tasks = self._recorder.tasks_since(self._recorder.cursor - _RECENT_TASKS, _RECENT_TASKS)
        mine = tasks.run == run
        group, duration_s = tasks.group[mine], (tasks.stop - tasks.start)[mine]
        prefixes = np.array([self._prefix(g) for g in group.tolist()], object)
        return {prefix: duration_s[prefixes == prefix] for prefix in dict.fromkeys(prefixes.tolist())}

    def _chain(self, run: int) -> Callable[[Mapping[str, float]], float] | None:
        ended = self._recorder.ended(run)
        if ended is None:
            return None
        shape = self._shape(run, int(ended.max(initial=-1)) + 1)
        if shape is None or shape.levels is None:
            return None
        levels, outline = shape.levels, shape.outline

        def chain_s(seconds: Mapping[str, float]) -> float:
            of_group = np.array([seconds.get(group.prefix, 0.0) for group in self._recorder.groups])
            task_s = of_group[outline.group]
            task_s[ended] = 0.0
            task_s[outline.data] = 0.0
            return longest_chain_s(levels, task_s)

        return chain_s

    def _shape(self, run: int, n_tasks: int) -> _Shape | None:
        """Return the shape of a graph of at least so many tasks: one that is submitted bit by bit grows."""
        known = self._shapes.get(run)
        if known is None or len(known.outline.group) < n_tasks:
            outline = self._recorder.graph_shape(run)
            if outline is None or len(outline.group) < n_tasks:
                return None
            known = self._shapes[run] = _Shape(outline, graph_levels(outline.n_dependencies, outline.edges))
        return known
