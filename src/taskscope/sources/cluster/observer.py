"""What a scheduler tells of its tasks: to an observer that is put there, or as it is asked.

The observer is a plugin that is told of graphs, transitions and workers, gone with our link. It is put
there by the message ``feed``, whose ``teardown`` the scheduler calls when that connection ends, also if this
process is killed. It travels as code, so that nothing of taskscope is needed there. It never
raises, keeps a bounded number of events, and is read by a message that only it answers.

Events are in the order in which things happened. Of a task whose last event nobody has read, a later state
takes its place: what is read of a task that came and ended since is its end. They are

- ``graph``: client, requested keys, how many tasks follow; ``tasks``: keys, how many dependencies each has,
  those dependencies, states other than released by place, the places of coroutines, and of the first task of
  each group the place and the span that the group is in;
- ``built``: of the graph before it, when the scheduler began with it, and how many seconds it took to make
  its tasks, to put them in order and to take them in;
- ``state``: key, state, worker and moment where that is processing, and whether it was to run since;
- ``end``: a record like those of the task stream; ``attempt``: one of a failure that is tried again;
- ``lost``: key, worker, moment, whether that was expected; ``workers``: one has come or gone;
- ``steal``: key, moment, what became of it, from whom, to whom, and where that is known what it costs and how
  much work both had (`taskscope.model.tables.activities.Steal`);
- ``life``: worker, moment, what happened to it, and what is known of that
  (`taskscope.sources.cluster.workers.life`).

Where no observer may be put there, and with ``transport="poll"``, the same events are made of the scheduler's
task stream, of who has what, and of what workers took along (`Polling`). Graphs are read here then, from what
clients hand over (`Graphs`). What is not known: what tasks wait for, failed attempts of tasks that are tried
again, steals, spans, what the scheduler did before the first task, graphs of more than `MAX_GRAPH_TASKS`
tasks, and what ended between two looks and was no more in the scheduler's task stream, which is counted.
"""

from __future__ import annotations

import asyncio
import re
import sys
import uuid
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from taskscope.model.errortext import describe
from taskscope.options import TRANSPORTS, Transport
from taskscope.record import Recorder
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.link import Link, RateLimiter
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers.known import Watched, name_and_nanny

__all__ = ["TRANSPORTS", "Event", "Graphs", "News", "Observer", "Polling", "Transport"]

Event: TypeAlias = Sequence[Any]
_EVERY_S = 1.0
"""How often the scheduler says that it is there, and so notices within that time that we are not."""
_MOST_EVENTS = 100_000
_MOST_AT_REST = 20_000
_MOST_AT_ONCE = 20_000
_Setup: TypeAlias = Callable[[Any], Any]


class News(NamedTuple):
    """Events that were read: the number of the first, and how many there have been by now."""

    first: int
    n: int
    events: Sequence[Event]


def _begin(name: str, most: int) -> _Setup:  # noqa: C901 - what travels is in one function
    # A function within a function travels as code.
    def begin(scheduler: Any) -> Any:  # noqa: C901 - see above
        import asyncio
        import sys
        from collections import deque
        from contextlib import suppress
        from inspect import iscoroutinefunction

        from distributed.diagnostics.plugin import SchedulerPlugin
        from distributed.metrics import time

        to_run = frozenset(("waiting", "queued", "no-worker", "processing"))
        outcomes = {"confirm": "stolen", "already-computing": "refused", "reschedule": "rescheduled"}

        def bounded(steps: Any) -> Any:
            if len(steps) <= 1_001:
                return steps
            # As many as show that some are missing, and the computing, which is what counts.
            computed = [step for step in steps[1_000:] if step["action"] == "compute"]
            return [*steps[:1_000], *(computed or steps)[-1:]]

        def record(key: Any, details: dict[str, Any]) -> dict[str, Any]:
            found = {
                "key": key,
                "worker": details.get("worker"),
                "thread": details.get("thread"),
                "status": "OK",
                "nbytes": details.get("nbytes"),
                "stimulus_id": details.get("stimulus_id"),
                "startstops": bounded(details["startstops"]),
            }
            if "exception_text" in details:
                found |= {"status": "error", "exception_text": str(details["exception_text"])[:10_000]}
            return found

        class TaskObserver(SchedulerPlugin):
            def __init__(self) -> None:
                self.events: deque[list[Any]] = deque()
                self.n_events = 0
                self.n_failed = 0
                self.most = most
                self.last: dict[Any, list[Any]] = {}
                """The last event of a task, where that is its state and nobody has read it."""
                self.stealing: dict[Any, list[float]] = {}
                """What was said of tasks when they were to be stolen, until that is settled."""
                self.feed: Any = None
                """What runs the coroutine ``feed`` of ours."""

            def add(self, event: list[Any]) -> None:
                self.events.append(event)
                self.n_events += 1
                while len(self.events) > self.most:
                    gone = self.events.popleft()
                    if gone[0] == "state" and self.last.get(gone[1]) is gone:
                        del self.last[gone[1]]

            def replace(self, key: Any, event: list[Any]) -> None:
                known = self.last.pop(key, None)
                if known is None:
                    self.add(event)
                else:
                    known[:] = event

            def transition(self, key: Any, start: str, finish: str, *_args: Any, **details: Any) -> None:
                try:
                    if start == "processing" and finish in ("memory", "erred") and details.get("startstops"):
                        if finish == "erred":
                            details.setdefault("exception_text", "unknown error")
                        else:
                            details.pop("exception_text", None)
                        self.replace(key, ["end", record(key, details)])
                    else:
                        self.note(key, finish)
                except Exception:  # noqa: BLE001 - the scheduler logs what a plugin raises, each time
                    self.n_failed += 1

            def note(self, key: Any, finish: str) -> None:
                known = self.last.get(key)
                # Of what was processed it is told when that began.
                if known is None or known[2] == "processing":
                    known = self.last[key] = ["state", key, finish, None, 0.0, False]
                    self.add(known)
                known[2] = finish
                known[5] |= finish in to_run
                if finish == "processing":
                    on = scheduler.tasks[key].processing_on
                    known[3], known[4] = None if on is None else on.address, time()

            def update_graph(self, scheduler: Any, *, client: Any, keys: Any, tasks: Any, **_: Any) -> None:
                try:
                    # Some tasks are futures that the graph only refers to: which, its caller alone knows.
                    graph = sys._getframe(1).f_locals.get("dsk")
                    tasks = list(tasks) if graph is None else [key for key in tasks if key in graph]
                    self.add(["graph", client, list(keys), len(tasks)])
                    within, known = set(tasks), dict[int, bool]()
                    for first in range(0, len(tasks), 1_000):
                        self.note_tasks(tasks[first : first + 1_000], within, known)
                except Exception:  # noqa: BLE001 - see transition
                    self.n_failed += 1

            def note_tasks(self, keys: Any, within: Any, known: dict[int, bool]) -> None:
                numbers, needed, outside = list[int](), list[Any](), list[tuple[int, Any]]()
                states, coroutines = dict[int, str](), list[int]()
                spans = dict[Any, tuple[int, Any]]()
                for place, key in enumerate(keys):
                    self.last.pop(key, None)
                    task = scheduler.tasks[key]
                    if task.group not in spans:
                        spans[task.group] = place, self.span_of(task.group)
                    before = len(needed)
                    needed += [other.key for other in task.dependencies if other.key in within]
                    numbers.append(len(needed) - before)
                    if numbers[-1] < len(task.dependencies):
                        outside += [(place, d.key) for d in task.dependencies if d.key not in within]
                    if task.state != "released":
                        states[place] = task.state
                    function = getattr(task.run_spec, "func", None)
                    # Looked at once each: most tasks of a graph call one of few functions.
                    if id(function) not in known:
                        known[id(function)] = function is not None and bool(task.run_spec.is_coro)
                    if known[id(function)]:
                        coroutines.append(place)
                details = list(states.items()), coroutines, list(spans.values()), outside
                self.add(["tasks", list(keys), numbers, needed, *details])

            def span_of(self, group: Any) -> Any:
                # Anybody may write any annotation, and a scheduler may have no spans.
                with suppress(Exception):
                    name = scheduler.extensions["spans"].spans[group.span_id].name
                    if name != ("default",):
                        return " / ".join(map(str, name))[:1_000]
                return None

            def failed(self, details: dict[str, Any]) -> None:
                try:
                    key = details["key"]
                    task = scheduler.tasks.get(key)
                    is_it = (
                        task is not None and task.state == "processing" and task.run_id == details["run_id"]
                    )
                    if is_it and task.retries > 0 and details.get("startstops"):
                        details.setdefault("exception_text", "unknown error")
                        self.replace(key, ["attempt", record(key, details)])
                except Exception:  # noqa: BLE001 - see transition
                    self.n_failed += 1

            def add_worker(self, scheduler: Any, worker: Any, **_told: Any) -> None:
                self.add(["workers"])
                with suppress(Exception):
                    found = scheduler.workers[worker]
                    self.live(worker, "came", [str(found.name)[:1_000], str(found.nanny or "")[:1_000]])

            def live(self, worker: Any, what: str, details: Any, moment: float | None = None) -> None:
                self.add(["life", str(worker)[:1_000], time() if moment is None else moment, what, details])

            def log_event(self, topic: Any, details: Any) -> None:
                # Anybody may log anything.
                with suppress(Exception):
                    if topic == "stealing":
                        self.steal(*details)
                    elif topic == "worker-restart-memory":
                        self.live(details["worker"], "killed", float(details["rss"]))
                    elif topic == "scheduler" and details["action"] == "update-graph":
                        self.built(details["metrics"])
                    elif topic == "scheduler" and details["action"] == "worker-ttl-timed-out":
                        for worker in details["workers"]:
                            self.live(worker, "timed out", float(details["ttl"]))
                    elif topic in scheduler.workers and details["action"] == "worker-status-change":
                        self.live(
                            topic, "status", [str(details["prev-status"])[:99], str(details["status"])[:99]]
                        )
                    elif topic in scheduler.workers and details["action"] == "closing-worker":
                        self.live(topic, "closing", str(details["reason"])[:1_000])

            def steal(self, what: str, *details: Any) -> None:
                if what == "request":
                    for _, _, key, cost_s, _, from_s, _, to_s in details[0]:
                        self.stealing[key] = [float(cost_s), float(from_s), float(to_s)]
                    while len(self.stealing) > 10_000:
                        del self.stealing[next(iter(self.stealing))]
                elif what in outcomes:
                    key, _, victim, thief = details[-5:-1]
                    # A task that was stolen is in no other state, and with another worker.
                    if what == "confirm" and scheduler.tasks[key].state == "processing":
                        self.note(key, "processing")
                    between = [str(victim)[:1_000], str(thief)[:1_000]]
                    self.add(["steal", key, time(), outcomes[what], *between, *self.stealing.pop(key, ())])

            def built(self, metrics: Any) -> None:
                # Of two the sign is wrong (distributed 2026.8).
                steps = (
                    "materialization_duration_seconds",
                    "ordering_duration_seconds",
                    "state_initialization_duration_seconds",
                )
                took = [abs(float(metrics[step])) for step in steps]
                self.add(["built", float(metrics["start_timestamp_seconds"]), *took])

            def remove_worker(self, scheduler: Any, worker: Any, **_: Any) -> None:
                try:
                    self.add(["workers"])
                    for moment, event in reversed(scheduler.get_events(worker)):
                        if isinstance(event, dict) and event.get("action") == "remove-worker":
                            self.live(worker, "gone", bool(event.get("expected")), moment)
                            for key in event["processing-tasks"]:
                                self.lose(key, worker, moment, bool(event.get("expected")))
                            break
                except Exception:  # noqa: BLE001 - see transition
                    self.n_failed += 1

            def lose(self, key: Any, worker: Any, moment: float, expected: Any) -> None:
                # Its transitions were told before: to where it goes from here.
                since = list(self.last.get(key, ()))
                self.replace(key, ["lost", key, worker, moment, expected])
                if since:
                    self.last[key] = since
                    self.add(since)

            async def before_close(self) -> None:
                # A feed that is cancelled is logged as an error; one whose connection breaks ends quietly.
                waits: Any = None if self.feed is None else self.feed.get_coro()
                while hasattr(getattr(waits, "cr_await", None), "cr_await"):
                    waits = waits.cr_await
                if getattr(waits, "cr_code", None) is asyncio.sleep.__code__:
                    waits.cr_frame.f_locals["future"].set_exception(OSError("the scheduler closes"))

            def read(self, cursor: int, limit: int, most: int) -> dict[str, Any]:
                # What was read before is not asked for again.
                while self.events and self.n_events - len(self.events) < cursor:
                    self.events.popleft()
                self.last.clear()
                self.most = most
                first, events = self.n_events - len(self.events), []
                for event in self.events:
                    if limit <= 0:
                        break
                    events.append(event)
                    limit -= len(event[1]) if event[0] == "tasks" else 1
                return {"first": first, "n": self.n_events, "failed": self.n_failed, "events": events}

        observer = TaskObserver()
        for worker in scheduler.workers.values():
            for task in worker.processing:
                observer.add(["state", task.key, "processing", worker.address, time(), True])

        class TaskErred:
            """Handles failures: tells the observers of this scheduler, then does what was done before."""

            def __init__(self, handle: Any) -> None:
                self.taskscope_observers: dict[str, Any] = {}
                self.taskscope_handle = handle

            def __call__(self, *args: Any, **details: Any) -> Any:
                for failed in list(self.taskscope_observers.values()):
                    failed(dict(details))
                return self.taskscope_handle(*args, **details)

        # The scheduler tells plugins nothing of a failure that is tried again.
        handle = scheduler.stream_handlers.get("task-erred")
        if handle is not None and not iscoroutinefunction(handle):
            if not hasattr(handle, "taskscope_observers"):
                handle = scheduler.stream_handlers["task-erred"] = TaskErred(handle)
            handle.taskscope_observers[name] = observer.failed
        scheduler.add_plugin(observer, name=name)
        scheduler.handlers[name] = observer.read
        return observer

    return begin


def _here() -> Callable[[Any, Any], bool]:
    def here(_scheduler: Any, observer: Any) -> bool:
        import asyncio

        observer.feed = asyncio.current_task()
        return True

    return here


def _end(name: str) -> Callable[[Any, Any], None]:
    def end(scheduler: Any, _observer: Any) -> None:
        scheduler.plugins.pop(name, None)
        scheduler.handlers.pop(name, None)
        handle = scheduler.stream_handlers.get("task-erred")
        observers = getattr(handle, "taskscope_observers", None)
        if observers is not None:
            observers.pop(name, None)
            if not observers:
                scheduler.stream_handlers["task-erred"] = handle.taskscope_handle

    return end


class Observer:
    """The observer on one scheduler, as seen from here; for coroutines of one event loop.

    Parameters
    ----------
    link
        Where the scheduler is.
    recorder
        Where it is told that a scheduler does not let itself be observed.
    """

    def __init__(self, link: Link, recorder: Recorder) -> None:
        self._link = link
        self._recorder = recorder
        self._name = f"taskscope-{uuid.uuid4().hex}"
        self._comm: Any = None
        self._listening: asyncio.Task[None] | None = None
        self._refused = False
        self._n_failed = 0

    @property
    def is_there(self) -> bool:
        """Whether it observes."""
        return self._comm is not None

    async def open(self) -> bool:
        """Put it on the scheduler; False if that does not let itself be observed, which is said.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        """
        if self._refused or self.is_there:
            return self.is_there
        comm = await self._link.open()
        try:
            _check_python(await self._link.ask("versions"))
            await comm.write(self._request())
            _check(await comm.read())
        except Exception as error:  # noqa: BLE001 - a scheduler may answer anything, or close the connection
            comm.abort()
            self._refused = True
            self._recorder.warn(
                f"the scheduler does not let itself be observed ({describe(error)}): its own records are read"
            )
            return False
        except BaseException:
            comm.abort()
            raise
        self._comm = comm
        self._listening = asyncio.get_running_loop().create_task(self._listen(comm))
        return True

    async def read(self, cursor: int, *, limit: int = _MOST_AT_ONCE, is_last: bool = False) -> News:
        """Return the number of the first event that it has from `cursor` on, how many there were, and some.

        Parameters
        ----------
        cursor
            How many were read before; it forgets them.
        limit
            About how many at most; each task of a graph counts as one.
        is_last
            Whether nothing is asked for a while, so that it keeps few.

        Raises
        ------
        OSError
            If it is gone, and the scheduler with it.
        """
        if self._listening is None or self._listening.done():
            raise ConnectionResetError("it is gone")
        most = _MOST_AT_REST if is_last else _MOST_EVENTS
        details = await self._link.ask(self._name, cursor=cursor, limit=limit, most=most)
        if details is None:
            # The scheduler has taken it out, and answers nothing to what it does not know.
            raise ConnectionResetError("it is gone")
        if details["failed"] > self._n_failed:
            self._n_failed = details["failed"]
            self._recorder.warn(f"{self._n_failed:,} tasks are missing: the observer could not read them")
        return News(int(details["first"]), int(details["n"]), details["events"])

    def close(self) -> None:
        """Close the connection; the scheduler then takes the observer out."""
        if self._listening is not None:
            self._listening.cancel()
        if self._comm is not None:
            self._comm.abort()
            self._comm = None

    async def _listen(self, comm: Any) -> None:
        try:
            while True:
                await comm.read()
        except OSError:
            self._link.lose()

    def _request(self) -> dict[str, Any]:
        from distributed.protocol.pickle import dumps

        return {
            "op": "feed",
            "setup": dumps(_begin(self._name, _MOST_EVENTS)),
            "function": dumps(_here()),
            "teardown": dumps(_end(self._name)),
            "interval": _EVERY_S,
            "reply": True,
        }


def _check_python(versions: Mapping[str, Any]) -> None:
    """Raise where code of this Python is not code there."""
    found = str(versions["host"]["python"])
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if found.split(".")[:2] != here.split("."):
        raise RuntimeError(f"it runs Python {found}, and this is {here}")


def _check_records(versions: Mapping[str, Any]) -> None:
    """Raise where a scheduler does not number its records, so that nobody can ask for those that are new."""
    found = str(versions.get("packages", {}).get("distributed"))
    release = re.match(r"(\d+)\.(\d+)", found)
    if release is not None and tuple(map(int, release.groups())) < (2026, 6):
        raise RuntimeError(f"it runs distributed {found}, which can be observed; to be asked it needs 2026.6")


def _check(answer: Any) -> None:
    if answer is not True:
        why = answer.get("exception_text") if isinstance(answer, Mapping) else None
        raise RuntimeError(str(why or answer))


_KILLED = "worker-restart-memory"
_PROCESSING_S = 0.5
_S_PER_KEY = 50e-6
_Dependencies: TypeAlias = Mapping[Hashable, Collection[Hashable]]
_FEW_KEYS = 100
"""A call of `submit` or `map` for so many is looked at together with others."""


class Polling:
    """Asks one scheduler for events; for coroutines of one event loop.

    Parameters
    ----------
    watched
        The cluster.
    """

    def __init__(self, watched: Watched) -> None:
        self._link = watched.link
        self._recorder = watched.recorder
        self._cursor = 0
        self._every_s = _PROCESSING_S
        self._sent: dict[Hashable, str] = {}
        self._gone: set[str] = set()
        self._statuses: dict[str, str] = {}
        """Those of the workers, by address, when they were last seen."""
        self._has_looked = False

    async def open(self) -> int:
        """Have the scheduler keep records from now on; return how many it has."""
        _check_records(await self._link.ask("versions"))
        self._cursor = int(await self._link.ask("get_task_stream_index"))
        return self._cursor

    async def read(self) -> News:
        """Return the records that are new, as events with the scheduler's own numbers.

        Raises
        ------
        ConnectionResetError
            If the scheduler is not the one that was asked before.
        """
        index = int(await self._link.ask("get_task_stream_index"))
        if index < self._cursor:
            raise ConnectionResetError("it was started anew")
        first, records = self._cursor, []
        if index > first:
            records = list(await self._link.ask("get_task_stream", start_index=first))
            if len(records) < index - first:
                # It keeps so many, and gives the last of them.
                first = int(await self._link.ask("get_task_stream_index")) - len(records)
            self._cursor = first + len(records)
        return News(first, self._cursor, [("end", record) for record in records])

    async def ask_processing(self, limiter: RateLimiter) -> tuple[list[Event], bool]:
        """Read who has what, if it is time, the more the more seldom; and whether workers are gone."""
        if not limiter.is_due("processing", self._every_s):
            return [], False
        processing: Mapping[str, Any] = await self._link.ask("processing")
        sent = {key: str(address) for address, keys in processing.items() for key in keys}
        self._every_s = max(_PROCESSING_S, len(sent) * _S_PER_KEY)
        events: list[Event] = []
        for key, address in self._sent.items():
            if key not in sent:
                events.append(("state", key, None, None, 0.0, False))
                if address not in processing:
                    self._gone.add(address)
        for key, address in sent.items():
            if self._sent.get(key) != address:
                events.append(("state", key, "processing", address, 0.0, True))
        self._sent = sent
        return events, bool(self._gone)

    def look_at(self, identity: Mapping[str, Any]) -> list[Event]:
        """Return who has come, paused and runs again by what the scheduler says of its workers now."""
        details: Mapping[str, Any] = identity["workers"]
        before, self._statuses = self._statuses, {a: str(facts.get("status")) for a, facts in details.items()}
        # Who was there before anybody looked has not come.
        new = self._statuses.keys() - before.keys() if self._has_looked else ()
        self._has_looked = True
        events: list[Event] = [
            ("life", address, None, "came", list(name_and_nanny(address, details[address])))
            for address in sorted(new)
        ]
        for address, status in self._statuses.items():
            if before.get(address, status) != status:
                events.append(("life", address, None, "status", [before[address], status]))
        return events

    async def ask_losses(self, gone: Iterable[str]) -> list[Event]:
        """Read which tasks were with workers that are gone.

        Notes
        -----
        Each worker's own events are asked for: those of all hold what cannot be sent, once a client has
        called ``replicate`` (distributed 2026.8), and the scheduler then cuts the connection.
        """
        addresses, self._gone = self._gone.union(gone), set()
        events: list[Event] = []
        for address in addresses:
            logged = [
                *await self._link.ask("events", topic=_KILLED),
                *await self._link.ask("events", topic=address),
            ]
            for time_s, details in logged:
                try:
                    events += _events_of(address, float(time_s), details)
                except (KeyError, TypeError, ValueError) as error:
                    # Anybody's code may log an event of that name.
                    self._recorder.warn(f"an event of a worker cannot be read: {describe(error)}")
        return events


def _events_of(address: str, moment: float, details: Any) -> Iterable[Event]:
    """Yield what an event of the scheduler's says that was logged of a worker that is gone."""
    if not isinstance(details, Mapping):
        return
    action = details.get("action")
    if details.get("worker") == address and "rss" in details:
        yield "life", address, moment, "killed", float(details["rss"])
    elif action == "closing-worker":
        yield "life", address, moment, "closing", str(details["reason"])
    elif action == "worker-status-change" and details["status"] == "closing_gracefully":
        yield "life", address, moment, "status", [str(details["prev-status"]), "closing_gracefully"]
    elif action == "remove-worker":
        expected = bool(details.get("expected"))
        yield "life", address, moment, "gone", expected
        for key in list(details.get("processing-tasks", ())):
            yield "lost", key, address, moment, expected


class Graphs:
    """Finds out which tasks graphs have that clients hand over, next to the event loop.

    Parameters
    ----------
    recorder
        Where it is told which could not be read.
    know
        Called with a run, the tasks of a graph of it with what each needs, and the requested keys.
    """

    def __init__(
        self, recorder: Recorder, know: Callable[[TrackedRun, _Dependencies, Collection[Hashable]], None]
    ) -> None:
        self._recorder = recorder
        self._know = know
        self._reading: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        """Graphs are known in the order in which they were handed over."""

    @property
    def are_read(self) -> bool:
        """Whether nothing is being found out."""
        return not self._reading

    def read(self, arrived: Sequence[tuple[TrackedRun, Submission]]) -> None:
        """Begin to find out; calls of `submit` that follow each other are looked at together."""
        for _, some in groupby(arrived, lambda one: one[1].single and len(one[1].keys) <= _FEW_KEYS):
            task = asyncio.get_running_loop().create_task(self._learn(list(some)))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def finished(self) -> None:
        """Wait until the keys of all are known."""
        if self._reading:
            await asyncio.wait(self._reading)

    def close(self) -> None:
        """Find out no more."""
        for task in self._reading:
            task.cancel()

    async def _learn(self, arrived: Sequence[tuple[TrackedRun, Submission]]) -> None:
        """Find out which keys graphs have, next to the loop: it may take seconds."""
        warn: Callable[[str], None] = self._recorder.warn
        async with self._turn:
            found = await asyncio.to_thread(lambda: [_look_at(submission) for _, submission in arrived])
        for (run, submission), (graph, may_retry, error) in zip(arrived, found, strict=True):
            if error is not None:
                self._recorder.fault("reading a graph", error)
            if graph is None:
                why = (
                    f"of more than {adapter.MAX_GRAPH_TASKS:,} tasks was not looked at"
                    if error is None
                    else "could not be read"
                )
                warn(f"a graph {why}: of its tasks only those that were asked for are recorded")
                run.lacks_records = True
            if may_retry or submission.may_retry:
                warn("failed attempts of tasks with retries are not known: the scheduler is only asked")
            known = graph or adapter.Graph(dict.fromkeys(submission.keys, ()))
            run.coroutines |= known.coroutines
            for key, needed in known.outside.items():
                known.dependencies[key] += tuple(other for other in needed if other in run.keys)
            self._know(run, known.dependencies, submission.keys)


def _look_at(submission: Submission) -> tuple[adapter.Graph | None, bool, Exception | None]:
    graph: adapter.Graph | None = None
    try:
        graph = adapter.materialize(submission.expr, submission.keys)
        return graph, graph is not None and adapter.may_retry(submission.expr), None
    except Exception as error:  # noqa: BLE001 - a user's collection may raise anything
        return graph, False, error
