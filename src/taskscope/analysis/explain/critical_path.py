"""The chain of tasks and waits that set how long computes took, and how much time each task had to spare."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cluster import without_workers
from taskscope.analysis.explain.schedule import (
    NONE,
    Schedule,
    busy_ns,
    cached,
    key_texts,
    place_of,
    schedules_of,
    to_ns,
)
from taskscope.analysis.quantities import counted, format_duration, format_percent, printable
from taskscope.analysis.result import Result, Section
from taskscope.analysis.totals import n_workers_of
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.tables.activities import ACTIVITIES, FAILED_ATTEMPT
from taskscope.model.tables.columns import distinct
from taskscope.model.tables.records import Run

WaitCause: TypeAlias = Literal[
    "client",
    "graph",
    "no-worker",
    "dispatch",
    "queue",
    "transfer",
    "disk-read",
    "disk-write",
    "deserialize",
    "serialize",
    "other",
    "failed-attempt",
    "results",
    "unknown",
]
"""Why nothing on the path ran.

``client``: no compute ran. ``graph``: a compute had been started, and no
task of it had begun: its graph was built, sent, or put in order. ``no-worker``: the cluster had no worker,
or the processes of a pool were starting.
``dispatch``: the scheduler received a result and sent the next task. ``queue``: all workers were
busy. ``results``: all tasks had ended, and the compute had not. ``failed-attempt``: a task with retries was
tried in vain. The others are activities of a worker of a cluster for the task. ``unknown``: not
recorded.
"""

_CAUSES: tuple[WaitCause, ...] = get_args(WaitCause)
_TASK = -1
_VIA = (None, "dependency", "lane")


@dataclass(frozen=True, slots=True)
class PathStep:
    """A task or a wait on a critical path; each begins where the one before it ended.

    `run` is None between computes. `start_s` is in seconds after `Recording.started_at`. A task has its key,
    prefix, lane and row in the table ``tasks``, and in `after` its last predecessor: ``"dependency"``,
    ``"lane"`` (the task before in its lane), or nothing. A wait has its `cause`, see `WaitCause`.
    """

    kind: Literal["task", "wait"]
    run: int | None
    start_s: float
    duration_s: float
    key: str | None = None
    prefix: str | None = None
    lane: int | None = None
    row: int | None = None
    after: str | None = None
    cause: WaitCause | None = None


_RUN, _START, _STOP, _WHAT, _PART, _PLACE = range(6)
"""The rows of an array of steps: times in nanoseconds, `_TASK` or a place in `_CAUSES`; of a task its
schedule and its place there."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CriticalPath(Result):
    """The critical path: tasks, and waits in between, that follow each other without a gap.

    `run` is its compute; None for all of them. Steps add up to `makespan_ns` exactly. `slack_s` has a value
    for each row of the table ``tasks``: how much later it could have ended without its compute ending later;
    NaN for rows of other computes. `reason` is why there is no path, `notes` are the limits of the path.

    Notes
    -----
    From the last end back, a task waited for the latest of the tasks that it needs, or for the one before in
    its lane if that ended later. Slack takes the waits of the recording for given, and each lane's order.
    Times are rounded to whole nanoseconds first, so that sums are exact.
    """

    run: int | None
    makespan_ns: int
    reason: str | None
    notes: tuple[str, ...]
    _n_rows: int
    _schedules: tuple[Schedule, ...]
    _steps: NDArray[np.int64]

    _rows = "steps", PathStep
    _plain = ("run", "makespan_s", "task_s", "wait_s", "prefix_s", "reason", "notes", "steps")

    @property
    def steps_ns(self) -> NDArray[np.int64]:
        """How long each step took, in whole nanoseconds."""
        steps_ns: NDArray[np.int64] = self._steps[_STOP] - self._steps[_START]
        return steps_ns

    @property
    def slack_s(self) -> NDArray[np.float64]:
        """By how many seconds the task of each row could have ended later; worked out on each access."""
        slack_s = np.full(self._n_rows, np.nan)
        for schedule in self._schedules:
            slack_s[schedule.row] = _slack(schedule) / 1e9
        return slack_s

    @property
    def makespan_s(self) -> float:
        """The time that the path explains, in seconds."""
        return self.makespan_ns / 1e9

    @property
    def task_s(self) -> float:
        """Seconds of the path in which its tasks ran."""
        return float(self.steps_ns[self._is_task()].sum()) / 1e9

    @property
    def wait_s(self) -> dict[WaitCause, float]:
        """Seconds of the path in which none of its tasks ran, by cause, the longest first."""
        is_wait = ~self._is_task()
        found = np.bincount(self._steps[_WHAT, is_wait], self.steps_ns[is_wait], len(_CAUSES))
        order = np.argsort(-found, kind="stable").tolist()
        return {_CAUSES[i]: float(found[i]) / 1e9 for i in order if found[i]}

    @property
    def prefix_s(self) -> dict[str, float]:
        """Seconds of the path in tasks of each prefix, the longest first."""
        names = self._schedules[0].names if self._schedules else ()
        prefix = self._of_tasks("prefix")
        sums = np.bincount(prefix, self.steps_ns[self._is_task()], len(names)) / 1e9
        seen = set(prefix.tolist())
        return {names[i]: float(sums[i]) for i in np.argsort(-sums, kind="stable").tolist() if i in seen}

    @property
    def n_tasks(self) -> int:
        """How many tasks are on it."""
        return int(self._is_task().sum())

    @property
    def steps(self) -> tuple[PathStep, ...]:
        """The tasks and waits, the earliest first; made on each access."""
        tasks, steps = self._tasks(), []
        columns = (self._steps[_RUN], self._steps[_START], self.steps_ns, self._steps[_WHAT])
        for number, start, duration, what in zip(*(c.tolist() for c in columns), strict=True):
            run, start_s, duration_s = None if number == NONE else number, start / 1e9, duration / 1e9
            if what == _TASK:
                steps.append(PathStep("task", run, start_s, duration_s, *next(tasks)))
            else:
                steps.append(PathStep("wait", run, start_s, duration_s, cause=_CAUSES[what]))
        return tuple(steps)

    def tasks(self) -> dict[int, NDArray[np.int32]]:
        """Return the numbers of its tasks in the graphs of their computes, by compute."""
        run, number = self._of_tasks("run"), self._of_tasks("number").astype(np.int32)
        return {one: number[run == one] for one in distinct(run).tolist()}

    def waits_s(self, *causes: WaitCause) -> list[tuple[float, float]]:
        """Return start and stop of its waits of these causes, the earliest first."""
        found = np.isin(self._steps[_WHAT], [_CAUSES.index(cause) for cause in causes])
        start, stop = (self._steps[row, found] / 1e9 for row in (_START, _STOP))
        return list(zip(start.tolist(), stop.tolist(), strict=True))

    def _is_task(self) -> NDArray[np.bool_]:
        is_task: NDArray[np.bool_] = self._steps[_WHAT] == _TASK
        return is_task

    def _of_tasks(self, name: str) -> NDArray[np.int64]:
        """Return a column of the schedules for its tasks, the earliest first."""
        is_task = self._is_task()
        part, place = self._steps[_PART, is_task], self._steps[_PLACE, is_task]
        values = [getattr(each, name)[place[part == i]] for i, each in enumerate(self._schedules)]
        return np.concatenate([np.empty(0, np.int64), *values]).astype(np.int64)

    def _tasks(self) -> Iterator[tuple[str, str, int, int, str | None]]:
        """Yield key, prefix, lane, row and the reason of its wait of each task, the earliest first."""
        keys = {
            run: iter(key_texts(self._schedules[0].recording, run, numbers))
            for run, numbers in self.tasks().items()
        }
        names = ("run", "prefix", "lane", "row", "bound_by")
        for run, prefix, lane, row, via in zip(*(self._of_tasks(n).tolist() for n in names), strict=True):
            yield next(keys[run]), self._schedules[0].names[prefix], lane, row, _VIA[via]

    def sections(self) -> Iterator[Section]:
        """Yield the parts of the makespan, the longest first."""
        if self.reason is not None:
            yield Section(f"cannot say what set the makespan, because {self.reason}")
            return
        title = f"critical path · {format_duration(self.makespan_s)} · {counted(self.n_tasks, 'task')}"
        parts = [(printable(name, 36), seconds) for name, seconds in self.prefix_s.items()]
        parts += [(f"waiting: {cause}", seconds) for cause, seconds in self.wait_s.items()]
        parts.sort(key=lambda part: -part[1])
        rest = parts[_MAX_PARTS:]
        shown = parts[:_MAX_PARTS] + ([(f"{len(rest)} more", sum(s for _, s in rest))] if rest else [])
        whole_s = self.makespan_s or 1.0
        rows = [(name, format_duration(s), format_percent(s / whole_s)) for name, s in shown]
        yield Section(title, (), rows, self.notes)


_MAX_PARTS = 12


def critical_path(recording: RecordedData, run: int | None = None) -> CriticalPath:
    """Return what set the makespan: a chain of tasks, and of waits with their causes.

    Parameters
    ----------
    run
        The number of a compute; by default all of them, with the time between them.

    Returns
    -------
    CriticalPath
        Its steps add up to the makespan, exactly in whole nanoseconds. ``slack_s`` has, for each row of
        the table ``tasks``, by how much it could have ended later. It prints as text.

    Raises
    ------
    UnknownNameError
        If there is no such compute.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> path = run.recording.critical_path()
    >>> [step.prefix for step in path.steps if step.kind == "task"]
    ['sum']
    >>> int(path.steps_ns.sum()) == path.makespan_ns
    True

    Notes
    -----
    A task is taken to have waited for the latest of those that it needs, or, if that ended later, for the
    one before in its lane. Linear in tasks and dependencies: about two seconds of CPU time for a million.
    """
    return _critical_path(recording, run)


@cached
def _critical_path(recording: RecordedData, run: int | None = None) -> CriticalPath:
    schedules = schedules_of(recording, run)
    found: list[NDArray[np.int64]] = [np.empty((6, 0), np.int64)]
    begin = cursor = schedules[0].begin if schedules else 0
    for part, schedule in enumerate(schedules):
        found += [_wait(NONE, cursor, schedule.begin, "client"), *_steps_of(schedule, part)]
        cursor = schedule.end
    steps = _split_waits(recording, schedules, np.concatenate(found, axis=1))
    steps = steps[:, (steps[_WHAT] == _TASK) | (steps[_STOP] > steps[_START])]
    notes = tuple(dict.fromkeys(note for schedule in schedules for note in _notes(schedule)))
    reason = None if schedules else f"no Dask computation was recorded{place_of(recording)}"
    return CriticalPath(run, cursor - begin, reason, notes, count_tasks(recording), schedules, steps)


_WORKERLESS = tuple(_CAUSES.index(cause) for cause in ("graph", "dispatch", "queue", "unknown"))
_Part: TypeAlias = tuple[int, int, int]
"""Start, stop and cause of a part of a wait, or of what a worker did for a task."""


def _split_waits(
    recording: RecordedData, schedules: Sequence[Schedule], steps: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return steps in which waits are in parts: what workers did for the task, and the lack of any worker."""
    parts: defaultdict[int, list[_Part]] = defaultdict(list)
    on_clusters = [run.run for run in recording.runs if run.is_on_cluster]
    is_without = np.isin(steps[_WHAT], _WORKERLESS) & np.isin(steps[_RUN], on_clusters)
    for ends_s in without_workers(recording):
        first, last = (int(to_ns(end_s - recording.zero_s)) for end_s in ends_s)
        for i in np.flatnonzero(is_without & (steps[_START] < last) & (steps[_STOP] > first)).tolist():
            parts[i].append((first, last, _CAUSES.index("no-worker")))
    for part, schedule in enumerate(schedules):
        at = np.flatnonzero((steps[_WHAT] == _TASK) & (steps[_PART] == part))
        step_of = dict(zip(steps[_PLACE, at].tolist(), at.tolist(), strict=True))
        for place, did in _activities(schedule, steps[_PLACE, at]).items():
            # The wait before the task.
            parts[step_of[place] - 1] += did
    pieces, first = [], 0
    for i, did in sorted(parts.items()):
        run, start, stop, cause = steps[: _WHAT + 1, i].tolist()
        rows = [(run, *part, NONE, NONE) for part in _split(start, stop, cause, did)]
        pieces += [steps[:, first:i], np.array(rows, np.int64).reshape(-1, 6).T]
        first = i + 1
    return np.concatenate([*pieces, steps[:, first:]], axis=1)


def _wait(run: int, start: int, stop: int, cause: WaitCause) -> NDArray[np.int64]:
    return np.array([[run], [start], [stop], [_CAUSES.index(cause)], [NONE], [NONE]], np.int64)


def _notes(schedule: Schedule) -> Iterator[str]:
    if not schedule.is_graph_known:
        yield "dependencies are not known: only the order in the lanes was followed"
    elif schedule.n_missing and schedule.is_finished:
        n, have = schedule.n_missing, "has" if schedule.n_missing == 1 else "have"
        yield (
            f"{counted(n, 'task')} of finished computes {have} no row: "
            f"waits for {'it' if n == 1 else 'them'} are of unknown cause"
        )
    if schedule.recording.activities.dropped and schedule.is_on_cluster:
        yield "older transfers and reads are no longer kept: waits for them count as dispatch or queue"


def _steps_of(schedule: Schedule, part: int) -> Iterator[NDArray[np.int64]]:
    """Yield the steps between the beginning of computes that overlap and their end."""
    begin, end = schedule.begin, schedule.end
    if not len(schedule):
        yield _wait(schedule.runs[0].run, begin, end, "unknown" if schedule.n_missing else "graph")
        return
    bound_to = schedule.bound_to.tolist()
    path = [len(schedule) - 1 - int(np.argmax(schedule.stop[::-1]))]
    while bound_to[path[-1]] != NONE:
        path.append(bound_to[path[-1]])
    places = np.array(path[::-1])
    start, run, until = schedule.start[places], schedule.run[places], int(schedule.stop[path[0]])
    stop = np.minimum(schedule.stop[places], np.append(start[1:], until))
    # The wait before each: since the end of its predecessor, or since the first task or attempt began.
    first = min(int(schedule.start[0]), _first_attempt(schedule), int(start[0]))
    since = np.append(first, stop[:-1])
    causes, none = _causes(schedule, places, since, start), np.full(len(places), NONE)
    waits = np.stack((run, since, start, causes, none, none))
    tasks = np.stack((run, start, stop, np.full(len(places), _TASK), np.full(len(places), part), places))
    starting = max(first - _pool_start_ns(schedule.runs[0]), begin)
    yield _wait(int(run[0]), begin, starting, "graph")
    yield _wait(int(run[0]), starting, first, "no-worker")
    yield np.stack((waits, tasks), axis=2).reshape(6, -1)
    yield _wait(int(run[-1]), until, end, "results" if schedule.is_finished else "unknown")


def _causes(
    schedule: Schedule, places: NDArray[np.int64], since: NDArray[np.int64], start: NDArray[np.int64]
) -> NDArray[np.int64]:
    causes = np.full(len(places), _CAUSES.index("dispatch"))
    n_workers = n_workers_of(schedule.recording, schedule.runs)
    full_ns = busy_ns(schedule, since, start, least=n_workers or len(schedule) + 1)
    is_queue = 2 * full_ns >= start - since
    causes[is_queue] = _CAUSES.index("queue")
    is_known = ~schedule.is_partial[places] & schedule.is_graph_known
    causes[~is_known & ~is_queue] = _CAUSES.index("unknown")
    return causes


def _pool_start_ns(run: Run) -> int:
    """Return for how long a compute waited for the processes of its pool to start."""
    is_pool = run.scheduler == "processes" and run.pool_start_s is not None
    return int(to_ns(max((run.pool_start_s or 0.0) - (run.order_s or 0.0), 0.0))) if is_pool else 0


def _first_attempt(schedule: Schedule) -> int:
    """Return when the first attempt of the computes began that failed; their end if there is none."""
    rows = schedule.recording.activities.rows
    is_mine = np.isin(rows.run, [run.run for run in schedule.runs]) & (rows.kind == FAILED_ATTEMPT)
    start = to_ns(rows.start[is_mine] - schedule.recording.zero_s)
    return max(int(start.min(initial=schedule.end)), schedule.begin)


def _activities(schedule: Schedule, places: NDArray[np.int64]) -> Mapping[int, list[_Part]]:
    """Return what workers did for the tasks at these places.

    A failed attempt blocked its lane: the next task in that lane waited for it, also if it is another task.
    """
    rows = schedule.recording.activities.rows
    rows = rows.part(np.isin(rows.run, [run.run for run in schedule.runs]))
    did: defaultdict[int, list[_Part]] = defaultdict(list)
    if not len(rows):
        return did
    names = zip(schedule.run[places].tolist(), schedule.number[places].tolist(), strict=True)
    place_of = dict(zip(names, places.tolist(), strict=True))
    in_lane: defaultdict[int, list[int]] = defaultdict(list)
    for place, lane in zip(places.tolist(), schedule.lane[places].tolist(), strict=True):
        in_lane[lane].append(place)
    start = to_ns(rows.start - schedule.recording.zero_s)
    stop = start + to_ns(rows.duration.astype(np.float64))
    columns = (rows.run, rows.task, rows.kind, rows.lane, start, stop)
    for run, task, kind, lane, one, until in zip(*(c.tolist() for c in columns), strict=True):
        found = {place_of[run, task]} if (run, task) in place_of else set()
        if kind == FAILED_ATTEMPT:
            later = bisect_left(in_lane[lane], one, key=lambda place: int(schedule.start[place]))
            found.update(in_lane[lane][later : later + 1])
        for place in found:
            did[place].append((one, until, _CAUSES.index(ACTIVITIES[kind])))
    return did


def _split(start: int, stop: int, cause: int, did: Sequence[_Part]) -> list[_Part]:
    """Return the parts of a wait with their causes; activities of a worker for the task go first."""
    bounds = {start, stop, *(t for one in did for t in one[:2] if start < t < stop)}
    times = sorted(bounds)
    parts: list[_Part] = []
    for first, end in pairwise(times):
        covering = [what for one, until, what in did if one <= first and end <= until]
        what = min(covering, default=cause)
        if parts and parts[-1][2] == what:
            first = parts.pop()[0]  # noqa: PLW2901 - the part goes on
        parts.append((first, end, what))
    return parts


def _slack(schedule: Schedule) -> NDArray[np.int64]:
    """Return how much later each task could have ended without a later end of the last one."""
    n = len(schedule)
    if not n:
        return np.empty(0, np.int64)
    start, stop = schedule.start.tolist(), schedule.stop.tolist()
    before, bound_to = schedule.before.tolist(), schedule.bound_to.tolist()
    needed = schedule.needed.tolist()
    latest = [int(schedule.stop.max())] * n
    end = len(needed)
    n_needed = schedule.n_needed.tolist()
    for i in range(n - 1, -1, -1):
        last = latest[i] - stop[i] + start[i]
        bound = bound_to[i]
        if bound >= 0:
            # The wait of the recording stays: later by as much as this task may begin later.
            until = stop[bound] + last - start[i]
            if until < latest[bound]:  # noqa: PLR1730 - a call to min() for each task takes as long as all else
                latest[bound] = until
        first = end - n_needed[i]
        for other in needed[first:end]:
            if other != bound and latest[other] > last:
                # Where clocks of machines disagree, what needs it may have begun before it ended.
                latest[other] = max(last, stop[other])
        end = first
        other = before[i]
        if other >= 0 and other != bound and latest[other] > last:
            latest[other] = max(last, stop[other])
    return np.array(latest, np.int64) - schedule.stop
