"""Record a scheduler's tasks by an observer that is sent there.

The observer is a plugin for graphs, transitions and workers. It is installed by the message ``feed``, whose
``teardown`` the scheduler calls when that connection ends, also if this process is killed. It travels as
code, so that nothing of taskscope is needed there. It never raises, keeps a bounded number of events, and is
read by a message that only it answers.

Events are in order of time. A later state of a task replaces its last event while that is unread, so a task
that began and ended between two reads has one event, its end. Events are

- ``graph``: client, requested keys, number of tasks, and the keys of the running tasks one of which
  submitted it; ``tasks``: keys, how many dependencies each has,
  those dependencies, states other than released by place, the places of coroutines, and of the first task of
  each group the place and the span of the group;
- ``early``: client, requested keys, number of tasks: the client's pending work when the observer began;
- ``built``: of the graph before it, when the scheduler began with it, and how many seconds it took to make
  its tasks, to put them in order and to add them;
- ``state``: key, state, worker and moment where that is processing, and whether it was to run since;
- ``end``: a record like those of the task stream; ``attempt``: one of a failure that is tried again;
- ``lost``: key, worker, moment, whether that was expected; ``workers``: one was added or removed;
- ``steal``: key, moment, outcome, victim, thief, and where known its cost and the occupancy of both
  (`taskscope.model.tables.activities.Steal`);
- ``life``: worker, moment, event and details (`taskscope.sources.cluster.workers.known`).

Where a scheduler refuses the observer (it blocks the message, or runs another Python), nothing that it
computes is recorded.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link

Event: TypeAlias = Sequence[Any]
_EVERY_S = 1.0
"""How often the scheduler writes to the connection, and so notices within that time that it is broken."""
_MOST_EVENTS = 100_000
_MOST_AT_REST = 20_000
_MOST_AT_ONCE = 20_000
_Setup: TypeAlias = Callable[[Any], Any]


class News(NamedTuple):
    """Events that were read, the number of the first, and how many there were in all."""

    first: int
    n: int
    events: Sequence[Event]


def _begin(  # noqa: C901, PLR0915 - what travels is in one function
    name: str, most: int, clients: Sequence[str] = ()
) -> _Setup:
    # A function within a function travels as code.
    def begin(scheduler: Any) -> Any:  # noqa: C901, PLR0915 - what travels is in one function
        import asyncio
        import sys
        from collections import deque
        from contextlib import contextmanager, suppress
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

        @contextmanager
        def counted() -> Any:
            try:
                yield
            except Exception:  # noqa: BLE001 - runs on the scheduler, without a recorder; the count is read from there
                observer.n_failed += 1

        class TaskObserver(SchedulerPlugin):
            def __init__(self) -> None:
                self.events: deque[list[Any]] = deque()
                self.n_events = 0
                self.n_failed = 0
                self.most = most
                self.last: dict[Any, list[Any]] = {}
                """The last event of a task, where that is a state and unread."""
                self.stealing: dict[Any, list[float]] = {}
                """Costs of requested steals, until these are settled."""
                self.feed: Any = None
                """The task that runs the coroutine ``feed`` of this observer."""

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
                except Exception:  # noqa: BLE001 - runs for each transition, where a guard costs more
                    self.n_failed += 1

            def note(self, key: Any, finish: str) -> None:
                known = self.last.get(key)
                # The event of a task that was processing keeps when that began.
                if known is None or known[2] == "processing":
                    known = self.last[key] = ["state", key, finish, None, 0.0, False]
                    self.add(known)
                known[2] = finish
                known[5] |= finish in to_run
                if finish == "processing":
                    on = scheduler.tasks[key].processing_on
                    known[3], known[4] = None if on is None else on.address, time()

            def update_graph(self, scheduler: Any, *, client: Any, keys: Any, tasks: Any, **_: Any) -> None:
                with counted():
                    # Some tasks are futures that the graph only refers to; only the caller has the graph.
                    submitted = sys._getframe(1).f_locals
                    graph = submitted.get("dsk")
                    tasks = list(tasks) if graph is None else [key for key in tasks if key in graph]
                    parents = self.parents(str(client), submitted.get("submitting_task"))
                    self.add(["graph", client, list(keys), len(tasks), parents])
                    within, known = set(tasks), dict[int, bool]()
                    for first in range(0, len(tasks), 1_000):
                        self.note_tasks(tasks[first : first + 1_000], within, known)

            def note_early(self, client: str) -> None:
                """Note a client's pending tasks, with finished tasks that are part of the same work."""
                state = scheduler.clients.get(client)
                wanted = [] if state is None else list(state.wants_what)
                found = {task: None for task in wanted if task.state in to_run}
                requested, walk = list(found), list(found)
                while walk and len(found) <= self.most:
                    new = [task for task in walk.pop().dependencies if task not in found]
                    found.update(dict.fromkeys(new))
                    walk += new
                groups = {task.group for task in found}
                done = [task for task in wanted if task not in found and task.group in groups]
                keys = [task.key for task in (*found, *done) if task.run_spec is not None]
                if keys:
                    self.add(["early", client, [task.key for task in (*requested, *done)], len(keys)])
                    for first in range(0, len(keys), 1_000):
                        self.note_tasks(keys[first : first + 1_000], set(keys), {})

            def parents(self, client: str, submitting: Any) -> list[Any]:
                if submitting is not None or not client.startswith("Client-worker-"):
                    return [] if submitting is None else [submitting]
                # Work that a task submits from an event loop, as joblib does, does not name the task.
                running: list[Any] = []
                for worker in scheduler.workers.values():
                    running += [task.key for task in worker.processing]
                    if len(running) > 1_000:
                        return []
                return running

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
                # Annotations may be of any type, and a scheduler may have no spans.
                with suppress(Exception):
                    name = scheduler.extensions["spans"].spans[group.span_id].name
                    if name != ("default",):
                        return " / ".join(map(str, name))[:1_000]
                return None

            def failed(self, details: dict[str, Any]) -> None:
                with counted():
                    key = details["key"]
                    task = scheduler.tasks.get(key)
                    is_it = (
                        task is not None and task.state == "processing" and task.run_id == details["run_id"]
                    )
                    if is_it and task.retries > 0 and details.get("startstops"):
                        details.setdefault("exception_text", "unknown error")
                        self.replace(key, ["attempt", record(key, details)])

            def add_worker(self, scheduler: Any, worker: Any, **_told: Any) -> None:
                self.add(["workers"])
                with suppress(Exception):
                    found = scheduler.workers[worker]
                    names = [str(found.name)[:1_000], str(found.nanny or "")[:1_000]]
                    self.live(worker, "came", [*names, int(found.nthreads)])

            def live(self, worker: Any, what: str, details: Any, moment: float | None = None) -> None:
                self.add(["life", str(worker)[:1_000], time() if moment is None else moment, what, details])

            def log_event(self, topic: Any, details: Any) -> None:
                # Any client may log any event.
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
                with counted():
                    self.add(["workers"])
                    for moment, event in reversed(scheduler.get_events(worker)):
                        if isinstance(event, dict) and event.get("action") == "remove-worker":
                            self.live(worker, "gone", bool(event.get("expected")), moment)
                            for key in event["processing-tasks"]:
                                self.lose(key, worker, moment, bool(event.get("expected")))
                            break

            def lose(self, key: Any, worker: Any, moment: float, expected: Any) -> None:
                # Its transitions were recorded before this: they are repeated after it.
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

            def clock(self) -> float:
                return time()

            def read(self, cursor: int, limit: int, most: int) -> dict[str, Any]:
                # Events that were read before are dropped.
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
        for client in clients:
            with suppress(Exception):
                observer.note_early(client)
        for worker in scheduler.workers.values():
            for task in worker.processing:
                observer.add(["state", task.key, "processing", worker.address, time(), True])

        class TaskErred:
            """Handles failures: notifies the observers of this scheduler, then calls the replaced handler."""

            def __init__(self, handle: Any) -> None:
                self.taskscope_observers: dict[str, Any] = {}
                self.taskscope_handle = handle

            def __call__(self, *args: Any, **details: Any) -> Any:
                for failed in list(self.taskscope_observers.values()):
                    failed(dict(details))
                return self.taskscope_handle(*args, **details)

        # The scheduler does not notify plugins of a failure that is tried again.
        handle = scheduler.stream_handlers.get("task-erred")
        if handle is not None and not iscoroutinefunction(handle):
            if not hasattr(handle, "taskscope_observers"):
                handle = scheduler.stream_handlers["task-erred"] = TaskErred(handle)
            handle.taskscope_observers[name] = observer.failed
        scheduler.add_plugin(observer, name=name)
        scheduler.handlers[name] = observer.read
        scheduler.handlers[f"{name}-clock"] = observer.clock
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
        scheduler.handlers.pop(f"{name}-clock", None)
        handle = scheduler.stream_handlers.get("task-erred")
        observers = getattr(handle, "taskscope_observers", None)
        if observers is not None:
            observers.pop(name, None)
            if not observers:
                scheduler.stream_handlers["task-erred"] = handle.taskscope_handle

    return end


class Observer:
    """The observer on one scheduler, as seen from here; for coroutines of one event loop."""

    def __init__(self, link: Link, recorder: Recorder) -> None:
        self._link = link
        self._recorder = recorder
        self._name = f"taskscope-{uuid.uuid4().hex}"
        self.clock_op = f"{self._name}-clock"
        """The message that the scheduler answers with its time."""
        self._comm: Any = None
        self._listening: asyncio.Task[None] | None = None
        self._n_failed = 0

    async def open(self, clients: Sequence[str] = ()) -> None:
        """Put it on the scheduler; raises OSError where that is out of reach, else why it refuses."""
        comm = await self._link.open()
        try:
            _check_python(await self._link.ask("versions"))
            await comm.write(self._request(clients))
            _check(await comm.read())
        except BaseException:
            comm.abort()
            raise
        self._comm = comm
        self._listening = asyncio.get_running_loop().create_task(self._listen(comm))

    async def read(self, cursor: int, *, limit: int = _MOST_AT_ONCE, is_last: bool = False) -> News:
        """Return events from number `cursor` on; the observer forgets those before."""
        if self._listening is None or self._listening.done():
            raise ConnectionResetError("it is gone")
        most = _MOST_AT_REST if is_last else _MOST_EVENTS
        details = await self._link.ask(self._name, cursor=cursor, limit=limit, most=most)
        if details is None:
            # The scheduler has removed it, and does not answer unknown messages.
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

    def _request(self, clients: Sequence[str]) -> dict[str, Any]:
        from distributed.protocol.pickle import dumps

        return {
            "op": "feed",
            "setup": dumps(_begin(self._name, _MOST_EVENTS, clients)),
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


def _check(answer: Any) -> None:
    if answer is not True:
        why = answer.get("exception_text") if isinstance(answer, Mapping) else None
        raise RuntimeError(str(why or answer))
