"""The tasks of a scheduler and their runs: from the observer's events to rows of runs."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from taskscope.model.keys import key_text, split_key
from taskscope.model.tables.activities import Steal
from taskscope.model.tables.columns import NEEDED
from taskscope.model.tables.records import ERRED, FINISHED
from taskscope.model.tables.workers import Scheduled
from taskscope.record import LaneKey
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.connection import Event, News
from taskscope.sources.cluster.executions import ExecutionWriter
from taskscope.sources.cluster.holdings import Holdings
from taskscope.sources.cluster.news import WorkerNews
from taskscope.sources.cluster.plugin import TO_RUN, news_pace_s
from taskscope.sources.cluster.runs import Returned, TrackedRun, announce
from taskscope.sources.cluster.workers import Exchange, Workers, WorkersLife

_WAITING = ("queued", "waiting", "no-worker")
_MANY = 1_000
"""From so many keys of a run on they are counted here, once a poll, and not by each reader."""
_MOST_HELD = 200_000
_NEWS = 3.0
"""By this factor of their pace workers' messages arrive, with a poll's pause."""


class _Task:
    __slots__ = ("also", "run", "state")

    def __init__(self, run: TrackedRun) -> None:
        self.run = run
        """The run that its executions are recorded in."""
        self.also: tuple[TrackedRun, ...] = ()
        """Further runs that requested it and share its result."""
        self.state: str | None = None
        """The scheduler's word; None where that is not known."""


@dataclass(slots=True, eq=False)
class _ArrivingGraph:
    """A graph whose tasks are being read."""

    run: TrackedRun | None
    requested: Collection[Hashable]
    n_left: int
    is_of_task: bool = False
    """Whether a task of the run submitted it."""
    early: str | None = None
    """The client that waited for it when the observer began."""
    dependencies: dict[Hashable, Sequence[Hashable]] = field(default_factory=dict)
    states: dict[Hashable, str] = field(default_factory=dict)
    spans: dict[str, str | None] = field(default_factory=dict)
    """The span of each of its groups, by name."""
    data: dict[Hashable, float] = field(default_factory=dict)
    """Results from outside of the run that its tasks need, with their sizes."""


class SchedulerTasks:
    """The tasks of one scheduler; for coroutines of one event loop."""

    def __init__(self, workers: Workers, is_ours: Callable[[str], bool]) -> None:
        self._recorder = workers.recorder
        self._workers = workers
        self._executions = ExecutionWriter(workers)
        self._runs: dict[TrackedRun, None] = {}
        self.news = WorkerNews(workers, self.run_of, self._runs.keys())
        self.holdings = Holdings(workers.recorder)
        self._is_ours = is_ours
        self._tasks: dict[Hashable, _Task] = {}
        self._expected: dict[tuple[str, frozenset[Hashable]], deque[tuple[TrackedRun, Submission]]] = {}
        """Submissions whose graphs have not arrived, by client and requested keys; of a retry by none."""
        self._held: deque[Event] = deque()
        self._graph: _ArrivingGraph | None = None
        self._built: TrackedRun | None = None
        """The run of the last graph that was read."""
        self._unsettled: dict[TrackedRun, set[Hashable]] = {}
        """Tasks of new graphs that have not had to run."""
        self._life = WorkersLife(workers, lambda: bool(self._runs))
        self._forgotten: deque[tuple[float, Hashable, _Task]] = deque()
        """When tasks were found to be forgotten by the scheduler."""
        self._changed: set[TrackedRun] = set()
        self._given_back: dict[str, dict[Hashable, tuple[TrackedRun, Returned]]] = {}
        """Tasks that workers have given back since tasks were placed last, by address."""
        self.cursor = 0
        """How many events were read."""
        self._n_lost = 0
        """How many events the observer had dropped at the last read."""
        self._early: dict[str, _ArrivingGraph | None] = {}
        """Pending work of clients when the observer began, until one of their runs has it."""
        self._early_runs: dict[TrackedRun, str] = {}
        """The runs of that which are new."""

    # Requested work ----------------------------------------------------------------------------------------

    def expect(self, run: TrackedRun, submission: Submission, *, is_early: bool) -> None:
        """Register work that a client has sent, before the observer was there where that `is_early`."""
        self._runs.setdefault(run)
        run.count()
        if submission.is_known:
            run.lacks_records = True
            run.coming |= submission.keys - run.tasks.keys()
            self._early_runs[run] = str(getattr(submission.client, "id", ""))
        else:
            run.n_expected += 1
            name = str(submission.client.id), frozenset(() if submission.is_retry else submission.keys)
            self._expected.setdefault(name, deque()).append((run, submission))
            if is_early:
                self._early_runs[run] = name[0]

    def state(self, key: Hashable) -> str | None:
        """Return the scheduler's word for the state of a task; None where that is not known."""
        task = self._tasks.get(key)
        return None if task is None else task.state

    def run_of(self, key: Hashable) -> TrackedRun | None:
        """Return the run of a task, also one that has ended; None where no run has it."""
        task = self._tasks.get(key)
        return None if task is None else task.run

    def _live_run_of(self, key: Hashable) -> TrackedRun | None:
        run = self.run_of(key)
        return run if run in self._runs else None

    def end(self, run: TrackedRun) -> None:
        """Forget a run that has ended; tasks that other runs need too become theirs."""
        if run.outcome == "interrupted":
            left = {key: address for key, (address, _) in run.log.sent_to.items() if address}
            now = self._recorder.clock.perf_counter()
            for key, address in left.items():
                if (returned := run.give_back(key, now)) is not None:
                    self._given_back.setdefault(address, {})[key] = run, returned
        self._place_given_back()
        self._runs.pop(run, None)
        self._early_runs.pop(run, None)
        self._drop_expected(run, {*run.coming, *run.tasks})
        self._unsettled.pop(run, None)
        self._built = None if self._built is run else self._built
        self._share(run)

    def _drop_expected(self, run: TrackedRun, requested: Collection[Hashable]) -> None:
        """Expect no more graphs of these keys."""
        for name, waiting in list(self._expected.items()):
            left = deque(
                (other, submission)
                for other, submission in waiting
                if other is not run or not all(key in requested for key in submission.keys)
            )
            run.n_expected -= len(waiting) - len(left)
            run.lacks_records |= len(left) < len(waiting)
            self._expected[name] = left
            if not left:
                del self._expected[name]

    def _share(self, run: TrackedRun) -> None:
        """Give the tasks of a run that has ended to further runs that requested them."""
        for key in run.tasks:
            task = self._tasks.get(key)
            if task is not None and task.also:
                task.also = tuple(other for other in task.also if other is not run)
                if task.run is run and task.also:
                    self._give_to(key, task, task.also[0])

    def _place_given_back(self) -> None:
        """Place the tasks that workers have just given back in threads; those beyond them had not begun."""
        given_back, self._given_back = self._given_back, {}
        for address, tasks in given_back.items():
            worker = self._workers.get(address)
            others = list(self._sent_to(address))
            there = [(key not in run.log.running_on, back.start, key) for key, (run, back) in tasks.items()]
            there += [(lane is None, start, None) for lane, start in others]
            ordered = sorted(there, key=itemgetter(0, 1))[: worker.n_threads or None]
            begun = [key for *_, key in ordered if key is not None]
            lanes = {key: tasks[key][0].log.running_on.get(key) for key in begun}
            used = {place[0] for place in lanes.values() if place is not None} | {lane for lane, _ in others}
            # Where it is unknown which threads the others have, each may be one of these.
            n_free = 0 if None in used else len(begun) + len(used)
            free = [place for place in worker.free_lanes(n_free) if place[0] not in used]
            for key, (run, back) in tasks.items():
                if run.given_back.get(key) is not back:
                    continue
                if key not in lanes:
                    del run.given_back[key]
                elif (place := lanes[key] or (free.pop(0) if free else None)) is not None:
                    run.given_back[key] = back._replace(lane=place[0], start=max(back.start, place[1]))

    def _sent_to(self, address: str) -> Iterator[tuple[LaneKey | None, float]]:
        """Yield where the tasks run that a worker has, None where that is unknown, and since when."""
        for run in self._runs:
            for key, (place, _) in run.log.sent_to.items():
                if place == address and key in run.log.submitted:
                    yield run.log.running_on.get(key, (None, run.log.submitted[key]))

    def warn_of(self, run: TrackedRun) -> None:
        if not run.lacks_records or run.outcome == "finished":
            return
        n_unknown = sum(task.need == NEEDED and not run.is_seen(key) for key, task in run.tasks.items())
        if n_unknown:
            self._recorder.warn(
                "records are missing of a compute that did not finish: "
                f"whether {n_unknown:,} of its tasks ran is not known"
            )

    def lack(self) -> None:
        for run in self._runs:
            run.lacks_records = True

    # What happened ------------------------------------------------------------------------------------------

    def take(self, news: News) -> None:
        """Queue events for `fold`, without those that were read before."""
        if all(map(math.isfinite, news.times)):
            self._workers.clocks.note(Exchange(*news.times))
        lost, self._n_lost = news.n_lost - self._n_lost, news.n_lost
        if lost > 0:
            self.lack()
            # Graphs that tasks submitted are dropped, too.
            if self._graph is not None and self._graph.is_of_task:
                self._graph = None
            self._built = None
            for key, task in self._tasks.items():
                self._count(task, key, None)
            self._tasks = {key: task for key, task in self._tasks.items() if task.run in self._runs}
        new = news.events[max(self.cursor - news.first, 0) :]
        self.cursor = max(self.cursor, news.first + len(news.events))
        self._held.extend(new)
        if lost > 0:
            # Applied after the graphs that were read with it, as their runs may not be known yet.
            self._held.append(("dropped", lost))

    def fold(self, *, knows_all: bool) -> None:
        """Apply the events that were read to runs; `knows_all`: no submission is on its way."""
        self.drop_forgotten(_NEWS * news_pace_s(self._workers.counts.n))
        self._begin_early()
        while self._held:
            event = self._held[0]
            if event[0] != "graph":
                self._take(event)
            elif not self._begin_graph(event, knows_all=knows_all):
                break
            self._held.popleft()
        self._executions.flush()
        self.news.record_running()
        self._place_given_back()
        if not self._held and self._graph is None:
            self._settle()
        self._record_waiting()
        self.holdings.record()

    def drop_forgotten(self, older_s: float = 0.0) -> None:
        """Drop the tasks that the scheduler forgot so many seconds ago or earlier."""
        before = self._recorder.clock.perf_counter() - older_s
        while self._forgotten and self._forgotten[0][0] <= before:
            _, key, task = self._forgotten.popleft()
            if self._tasks.get(key) is task:
                del self._tasks[key]

    def _take(self, event: Event) -> None:  # noqa: C901, PLR0912 - a kind a case
        kind, *details = event
        match kind:
            case "end":
                *record, since = details
                self._take_end(record, since)
            case "attempt":
                self._take_attempt(details[:-1])
            case "state":
                self._change(*details)
            case "lost":
                key, worker, moment, expected = details
                self._lose(key, str(worker), float(moment), is_expected=bool(expected))
            case "steal" | "life":
                (self._steal if kind == "steal" else self._live)(*details)
            case "dropped" if self._runs:
                self._miss(*details)
            case "log" if self._runs:
                moment, *line = details
                self.news.log(None, self._on_axis(float(moment)), *line)
            case "news" | "refused":
                (self.news.take if kind == "news" else self.news.refuse)(*details)
            case "early":
                client, keys, n_tasks = details
                self._arrive(_ArrivingGraph(None, frozenset(keys), int(n_tasks), early=str(client)))
            case "built" if self._built is not None:
                self._record_built(self._built, *map(float, details))
            case "tasks" if self._graph is not None:
                self._read_tasks(self._graph, *details)

    def _miss(self, n: int) -> None:
        self.lack()
        self._recorder.warn(f"{n:,} tasks or more are missing: the scheduler did not keep their records")

    def _take_end(self, record: Sequence[Any], since: Any) -> None:
        key, error = record[0], record[4]
        task = self._tasks.get(key)
        if task is None:
            return
        run, execution = task.run, None
        if run in self._runs:
            with self._recorder.guard("reading a record of a task"):
                execution = self._executions.read(record)
            if execution is None:
                self.lack()
                return
        self._end_task(key, task, "memory" if error is None else "erred")
        if execution is not None:
            self._executions.write(execution, run)
        if since is not None:
            self._change(key, since)

    def _take_attempt(self, record: Sequence[Any]) -> None:
        run = self._live_run_of(record[0])
        with self._recorder.guard("reading a failed attempt"):
            if run is not None:
                self._executions.write_attempt(self._executions.read(record), run)

    def _end_task(self, key: Hashable, task: _Task, state: str) -> None:
        self._count(task, key, state)
        self._need(task.run, key)
        if state == "memory":
            for other in task.also:
                if not other.is_seen(key):
                    other.skip([key])

    def _begin_graph(self, event: Event, *, knows_all: bool) -> bool:
        """Begin to read a graph; False if a client of this process sent it and its run is not known yet."""
        _, client, keys, n_tasks, parents = event
        requested = frozenset(keys)
        name = (str(client), requested)
        waiting, run, retried = self._expected.get(name), None, frozenset[Hashable]()
        if parents:
            run = self._run_of_all(parents)
        elif waiting:
            run, submission = waiting.popleft()
            run.n_expected -= 1
            if not waiting:
                del self._expected[name]
            retried = submission.keys if submission.is_retry else retried
        elif self._is_ours(str(client)) and not knows_all and len(self._held) < _MOST_HELD:
            return False
        self._graph, self._built = None, None if parents else run
        if run is not None:
            graph = _ArrivingGraph(run, requested | retried, int(n_tasks), is_of_task=bool(parents))
            graph.dependencies = dict.fromkeys(retried, ())
            self._arrive(graph)
        return True

    def _arrive(self, graph: _ArrivingGraph) -> None:
        self._graph = graph
        if not graph.n_left:
            self._end_graph(graph)

    def _run_of_all(self, keys: Sequence[Hashable]) -> TrackedRun | None:
        """Return the run that all of these tasks are part of; None where they have no common one."""
        runs = set(map(self.run_of, keys))
        run = runs.pop() if len(runs) == 1 else None
        return run if run in self._runs else None

    def _read_tasks(
        self,
        graph: _ArrivingGraph,
        _client: str,
        keys: Sequence[Hashable],
        numbers: Sequence[int],
        needed: Sequence[Hashable],
        states: Sequence[tuple[int, str]],
        spans: Sequence[tuple[int, str | None]],
        outside: Sequence[tuple[int, Hashable]],
    ) -> None:
        first, known = 0, () if graph.run is None else graph.run.tasks
        for key, number in zip(keys, numbers, strict=True):
            graph.dependencies[key] = needed[first : first + number]
            first += number
        # Results of earlier calls: of `submit` and `map` they may be tasks of the same run.
        for place, others in groupby(outside, itemgetter(0)):
            found = [other for _, other in others]
            graph.dependencies[keys[place]] = [*graph.dependencies[keys[place]], *found]
            graph.data.update((key, self._size(key)) for key in found if key not in known)
        graph.states.update((keys[place], state) for place, state in states)
        graph.spans.update((split_key(keys[place])[0], span) for place, span in spans)
        graph.n_left -= len(keys)
        if graph.n_left <= 0:
            self._end_graph(graph)

    def _size(self, key: Hashable) -> float:
        """Return the bytes of a task's result, NaN where they are not known."""
        run = self.run_of(key)
        return math.nan if run is None else run.nbytes(key)

    def _record_built(
        self, run: TrackedRun, moment: float, materialize_s: float, order_s: float, initialize_s: float
    ) -> None:
        self._built = None
        # Runs of `submit` and `map` have many graphs.
        if not run.collects:
            run.log.before |= {
                "received_s": self._on_axis(moment),
                "materialize_s": materialize_s,
                "order_s": order_s,
                "initialize_s": initialize_s,
            }

    def _end_graph(self, graph: _ArrivingGraph) -> None:
        self._graph = None
        run = graph.run
        if graph.early is not None:
            self._early[graph.early] = graph if graph.dependencies else None
            self._begin_early()
        if run is None:
            return
        run.coming.difference_update(graph.requested)
        kept = () if graph.is_of_task else graph.requested
        announce(run, graph.dependencies, kept, graph.spans, graph.data)
        for key in graph.dependencies:
            run.tasks[key].is_descendant |= graph.is_of_task
            self._ask_for(run, key, graph.states.get(key, "released"))
        idle = (k for k in graph.dependencies if graph.states.get(k, "released") in ("released", "memory"))
        self._unsettled.setdefault(run, set()).update(key for key in idle if not run.is_seen(key))

    def _begin_early(self) -> None:
        """Give runs that began before the observer their graphs, and rows of tasks that had ended."""
        for run, client in list(self._early_runs.items()):
            if client not in self._early:
                continue
            del self._early_runs[run]
            graph, self._early[client] = self._early[client], None
            if run.n_expected:
                if graph is None:
                    # It came when the observer was there.
                    continue
                self._drop_expected(run, graph.dependencies)
            graph = graph or _ArrivingGraph(None, run.coming, 0)
            graph.dependencies = graph.dependencies or dict.fromkeys(run.coming, ())
            graph.run, graph.early = run, None
            self._end_graph(graph)
            self._unsettled.pop(run, None)
            now = self._recorder.clock.perf_counter()
            ended = [k for k in graph.dependencies if graph.states.get(k, "memory") in ("memory", "erred")]
            for key in ended if graph.states else ():
                has_erred = graph.states.get(key) == "erred"
                run.tasks[key].status, run.tasks[key].nbytes = ERRED if has_erred else FINISHED, math.nan
                run.log.submitted[key] = now
                run.log.end_unreported(key, now, "erred" if has_erred else "finished")
            if ended and graph.states:
                self._recorder.warn(
                    f"{len(ended):,} tasks had ended before taskscope connected: when they ran is not known"
                )

    def _ask_for(self, run: TrackedRun, key: Hashable, state: str | None) -> None:
        """Register that a run needs a task, which was in this state at that time."""
        task = self._tasks.get(key)
        if task is None or task.state == "forgotten":
            task = self._tasks[key] = _Task(run)
        elif task.run is not run:
            # A running task belongs to the run that requested it first, a later execution to the last.
            if task.run in self._runs and state in TO_RUN:
                if run not in task.also:
                    task.also += (run,)
            else:
                self._give_to(key, task, run)
        if state is not None:
            self._count(task, key, state)

    def _give_to(self, key: Hashable, task: _Task, run: TrackedRun) -> None:
        before, state = task.run, task.state
        self._count(task, key, None)
        task.run, task.also = run, tuple(other for other in task.also if other is not run)
        self._count(task, key, state)
        start = before.log.submitted.pop(key, None)
        place = before.log.sent_to.pop(key, None)
        if start is not None and place is not None:
            run.send(key, place, start)
        if before in self._runs:
            task.also += (before,)

    def _change(
        self,
        key: Hashable,
        state: str,
        worker: str | None = None,
        moment: float = 0.0,
        was_to_run: bool = False,  # noqa: FBT001, FBT002 - an event is flat
    ) -> None:
        task = self._tasks.get(key)
        if task is None:
            return
        run = task.run
        now = self._recorder.clock.perf_counter()
        if key in run.log.submitted and state != "processing":
            address, _ = run.log.sent_to.get(key, ("", ""))
            if (returned := run.give_back(key, now)) is not None:
                self._given_back.setdefault(address, {})[key] = run, returned
        self._count(task, key, state)
        if was_to_run:
            self._need(run, key)
        if state == "processing" and run in self._runs:
            label = self._workers.get(str(worker)).label
            run.send(key, (str(worker), label), min(self._on_axis(moment), now) if moment else now)
        elif state == "forgotten":
            # Workers send samples of it up to a second later.
            self._forgotten.append((now, key, task))

    def _lose(self, key: Hashable, address: str, moment: float, *, is_expected: bool) -> None:
        task = self._tasks.get(key)
        if task is not None and task.run in self._runs:
            worker = self._workers.get(address)
            self._need(task.run, key)
            why = self._life.why_gone(address, is_expected=is_expected)
            task.run.lose(key, (address, worker.label), self._on_axis(moment), why)

    def _live(self, address: Any, moment: float | None, what: Any, details: Any) -> None:
        at = self._recorder.clock.perf_counter() if moment is None else self._on_axis(float(moment))
        self._life.take(str(address), at, str(what), details)
        if what == "gone":
            self.news.forget(str(address))

    def _steal(
        self, key: Hashable, moment: float, outcome: Any, victim: str, thief: str, *costs_s: float
    ) -> None:
        task = self._tasks.get(key)
        if task is not None and task.run in self._runs:
            time_s = self._recorder.seconds(self._on_axis(moment))
            self._recorder.steals.append(
                Steal(time_s, task.run.log.run, key_text(key), victim, thief, outcome, *costs_s)
            )

    def _on_axis(self, moment: float) -> float:
        """Return where a moment of the scheduler's clock is on that of the recorder's."""
        return moment - self._workers.clocks.scheduler_ahead_s + self._recorder.clock.shift_s()

    def _need(self, run: TrackedRun, key: Hashable) -> None:
        """Register that a task is to run, or has run."""
        if run in self._unsettled:
            self._unsettled[run].discard(key)
        run.need(key)

    def _settle(self) -> None:
        unsettled, self._unsettled = self._unsettled, {}
        for run, keys in unsettled.items():
            # Where events are missing, those without a result may have run.
            idle = [key for key in keys if self.state(key) == "memory"] if run.lacks_records else keys
            if idle:
                run.skip(idle)

    # What waits ---------------------------------------------------------------------------------------------

    def _count(self, task: _Task, key: Hashable, state: str | None) -> None:
        """Set the state of a task, and count the waiting tasks."""
        before, task.state = task.state, state
        if before != state and "memory" in (before, state):
            self.holdings.move(task.run, key, is_in=state == "memory")
        if before in _WAITING or state in _WAITING:
            counts = task.run.waiting_for.setdefault(split_key(key)[1], Counter())
            if before in _WAITING:
                counts[before] -= 1
            if state in _WAITING:
                counts[state] += 1
            self._changed.add(task.run)

    def _record_waiting(self) -> None:
        time_s, has_workers = self._recorder.now_s(), self._workers.counts.n > 0
        for run in self._changed:
            # A scheduler without workers queues the tasks that it would send to them.
            run.log.scheduled = {
                prefix: Scheduled(
                    time_s,
                    n.total(),
                    True,
                    n["queued"] if has_workers else 0,
                    n["waiting"],
                    n["no-worker"] + (0 if has_workers else n["queued"]),
                )
                for prefix, n in run.waiting_for.items()
            }
        self._changed.clear()
        for run in self._runs:
            groups: dict[str, tuple[Hashable, int]] = {}
            for key in run.log.submitted if len(run.log.submitted) > _MANY else ():
                name = split_key(key)[0]
                groups[name] = (key, groups.get(name, (key, 0))[1] + 1)
            run.log.sent_counts = list(groups.values())
