"""Plugins that record what a scheduler and its workers do, and send it to one client.

This module runs on the scheduler and on workers, where taskscope need not be installed: it is sent as source
text (`taskscope.sources.cluster.connection`), and imports the standard library, msgpack and distributed only.
Workers get the source of `taskscope.sources.stacks` and `taskscope.sources.line_meter`, too.

`SchedulerObserver` keeps a bounded list of events in order of time, which the client reads; graphs of that
client are never dropped. A later state of a task replaces its last event while that is unread, so a task that
began and ended between two reads has one event, its end. Events are

- ``graph``: client, requested keys, none where a client has failed tasks tried again, number of tasks, and
  the keys of the running tasks one of which submitted it; ``tasks``: client, keys, how many dependencies each
  has, those dependencies, states other than released by place, and of the first task of each group the place
  and the span of the group;
- ``early``: client, requested keys, number of tasks: the client's pending work when the observer began;
- ``built``: of the graph before it, when the scheduler began with it, and how many seconds it took to make
  its tasks, to put them in order and to add them;
- ``state``: key, state, worker and moment where that is processing, and whether it was to run since;
- ``end``: key, worker, thread, bytes of the result, error, steps (of a task that only computed start and
  stop), what the worker's plugin measured, packed, and the task's state since, where it is not in memory any
  more; ``attempt``: the same of a failure that is tried again;
- ``lost``: key, worker, moment, whether that was expected;
- ``log``: moment, level and text of a line in the scheduler's log;
- ``steal``: key, moment, outcome, victim, thief, and where known its cost and the occupancy of both
  (`taskscope.model.tables.activities.Steal`);
- ``life``: worker, moment, event and details (`taskscope.sources.cluster.workers.WorkersLife`);
- ``news``: worker, and what its plugin recorded since its last one, packed (`WorkerObserver.news`);
  ``refused``: worker, and why it has no plugin.

`WorkerObserver` writes measurements of a task into its last step, so that they travel in the worker's own
message about that task. The rest is sent about once a second, over the stream that workers have to the
scheduler, in the write that has the end of a task where one ends: the scheduler reads that anyway.
Neither plugin raises into the scheduler or the worker; errors are counted.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from inspect import iscoroutinefunction
from time import perf_counter
from typing import Any

import msgpack
from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin
from distributed.metrics import context_meter, time

ENDS = frozenset(("memory", "erred"))
TO_RUN = frozenset(("waiting", "queued", "no-worker", "processing"))
"""The states of tasks that run, or will."""
OUTCOMES = {"confirm": "stolen", "already-computing": "refused", "reschedule": "rescheduled"}
FLUSH_PARTS = 5
GONE_S = 1.0
PUSH_S = 1.0
"""How long after its last message a worker sends the next with the end of a task, in one write."""
MOST_NEWS = 50
"""How many such messages all workers send in a second."""
MOST_LINES = 200
"""Of a log in a second, and in a worker's message."""
MOST_TEXT = 2_000


def pack(value: object) -> bytes:
    """Return plain values as bytes that any message can contain."""
    return zlib.compress(msgpack.packb(value, default=str, unicode_errors="surrogatepass"), 1)


def unpack(packed: bytes) -> Any:
    """Return what was packed; nothing of it is unpickled."""
    return unpack_plain(zlib.decompress(packed))


def unpack_plain(packed: bytes) -> Any:
    """Return the measurements of a task, which are not compressed."""
    return msgpack.unpackb(packed, use_list=False, strict_map_key=False, unicode_errors="surrogatepass")


def plain(text: object, most: int) -> str:
    """Return a text that any message can contain."""
    return str(text)[:most].encode("utf-8", "backslashreplace").decode("utf-8")


def host_of(address: str) -> str:
    """Return the machine that an address of a cluster is on.

    Examples
    --------
    >>> host_of("tls://10.0.0.1:40001"), host_of("inproc://10.0.0.1/7/1")
    ('10.0.0.1', '10.0.0.1')
    """
    scheme, _, rest = address.rpartition("://")
    return rest.split("/", maxsplit=1)[0] if scheme == "inproc" else rest.rpartition(":")[0] or rest


def news_pace_s(n_workers: int) -> float:
    """Return how long after its last message each of so many workers sends the next."""
    return max(PUSH_S, n_workers / MOST_NEWS)


class TaskErred:
    """Handles failures: notifies the observers of a scheduler, then calls the replaced handler."""

    def __init__(self, handle: Any) -> None:
        self.taskscope_observers: dict[str, Any] = {}
        self.taskscope_handle = handle

    def __call__(self, *args: Any, **details: Any) -> Any:
        for failed in list(self.taskscope_observers.values()):
            failed(dict(details))
        return self.taskscope_handle(*args, **details)


class LogLines(logging.Handler):
    """Passes warnings and errors of distributed's loggers on to the event loop, from all threads.

    Workers of one process share its loggers: the first of them has the lines.
    """

    def __init__(self, name: str, passed_on: Any) -> None:
        super().__init__(logging.WARNING)
        self.set_name(name)
        self.passed_on = passed_on
        self.loop = asyncio.get_running_loop()
        self.second, self.n_lines = 0.0, 0
        self.logger = logging.getLogger("distributed")
        if not any(other.get_name() == name for other in self.logger.handlers):
            self.logger.addHandler(self)

    def close(self) -> None:
        self.logger.removeHandler(self)
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        second = record.created // 1.0
        self.n_lines = self.n_lines + 1 if second == self.second else 1
        self.second = second
        if self.n_lines > MOST_LINES:
            return
        with suppress(Exception):
            text = plain(record.getMessage(), MOST_TEXT)
            self.loop.call_soon_threadsafe(self.passed_on, record.created, record.levelname.lower(), text)


class SchedulerObserver(SchedulerPlugin):
    """Records events of a scheduler, and those that its workers' plugins send."""

    def __init__(  # noqa: PLR0915 - an attribute a line
        self, scheduler: Any, name: str, most: int, worker_plugin: bytes
    ) -> None:
        self.scheduler = scheduler
        self.name = name
        self.most = most
        self.worker_plugin = worker_plugin
        self.events: deque[list[Any]] = deque()
        self.graphs: deque[list[Any]] = deque()
        """Of the oldest events, which were dropped, the graphs of these clients."""
        self.sent: list[list[Any]] = []
        """The events that were read last, until the client has shown that they arrived."""
        self.n_tasks = len(scheduler.tasks)
        """The most tasks since all was read: all of them may change their state at once."""
        self.n_read = self.n_lost = 0
        """How many events were read, and dropped."""
        self.n_failed = 0
        self.last: dict[Any, list[Any]] = {}
        """The last event of a task, where that is a state or an end and unread."""
        self.stealing: dict[Any, list[float]] = {}
        """Costs of requested steals, until these are settled."""
        self.feed: Any = None
        """The task that runs the coroutine ``feed`` of this observer."""
        self.clients: frozenset[str] = frozenset()
        """The clients whose tasks are recorded."""
        self.options = b""
        """What workers are to record besides tasks while there is work of these clients, packed."""
        self.is_resting = True
        self.known: dict[str, None] = {}
        """The workers with a plugin."""
        self.hosts: dict[str, dict[str, None]] = {}
        """The same of each other machine; the first of them compares its clock."""
        self.pace_s = PUSH_S
        self.installing: dict[str, asyncio.Task[None]] = {}
        """Messages to workers that have not answered them."""
        self.flushes: dict[asyncio.Event, set[str]] = {}
        """The workers that have not answered a flush."""
        self.late: set[str] = set()
        """Workers that did not answer the last flush in time, and have sent nothing since."""

    @contextmanager
    def counted(self) -> Iterator[None]:
        try:
            yield
        except Exception:  # noqa: BLE001 - runs on the scheduler, without a recorder; the count is read from there
            self.n_failed += 1

    async def begin(self, clients: Sequence[str], options: bytes, within_s: float) -> SchedulerObserver:
        """Observe the scheduler, and put the plugin on its workers, so long at most."""
        scheduler = self.scheduler
        for worker in scheduler.workers:
            self.introduce("there", worker)
        self.lines = LogLines(self.name, self.log)
        self.clients, self.options, self.is_resting = frozenset(clients), options, not clients
        for client in clients:
            with suppress(Exception):
                self.note_early(client)
        for worker in scheduler.workers.values():
            for task in worker.processing:
                self.add(["state", task.key, "processing", worker.address, time(), True])
        # The scheduler does not notify plugins of a failure that is tried again.
        handle = scheduler.stream_handlers.get("task-erred")
        if handle is not None and not iscoroutinefunction(handle):
            if not hasattr(handle, "taskscope_observers"):
                handle = scheduler.stream_handlers["task-erred"] = TaskErred(handle)
            handle.taskscope_observers[self.name] = self.failed
        scheduler.add_plugin(self, name=self.name)
        scheduler.handlers[self.name] = self.read
        scheduler.handlers[f"{self.name}-clock"] = self.clock
        scheduler.handlers[f"{self.name}-flush"] = self.flush
        scheduler.stream_handlers[self.name] = self.take
        # Workers that register later have the plugin before their first task.
        scheduler.worker_plugins[self.name] = self.worker_plugin
        self.installing = {
            worker: asyncio.ensure_future(self.install(worker)) for worker in scheduler.workers
        }
        if self.installing:
            await asyncio.wait(self.installing.values(), timeout=within_s)
        return self

    def here(self) -> bool:
        """Return True, what the scheduler writes to the client every second, and note where it runs."""
        self.feed = asyncio.current_task()
        return True

    def end(self) -> None:
        """Observe no more; called when the client's connection ends."""
        scheduler, loop = self.scheduler, asyncio.get_running_loop()
        scheduler.plugins.pop(self.name, None)
        self.lines.close()
        for handler in (self.name, f"{self.name}-clock", f"{self.name}-flush"):
            scheduler.handlers.pop(handler, None)
        handle = scheduler.stream_handlers.get("task-erred")
        observers = getattr(handle, "taskscope_observers", None)
        if observers is not None:
            observers.pop(self.name, None)
            if not observers:
                scheduler.stream_handlers["task-erred"] = handle.taskscope_handle
        # A worker that is registering may be announced already, and needs the plugin to be stopped.
        loop.call_later(GONE_S, scheduler.worker_plugins.pop, self.name, None)
        for worker in self.known:
            self.send(worker, what="stop")
        for unread in (self.events, self.graphs, self.sent, self.last):
            unread.clear()
        self.drop_gone()

    def drop_gone(self) -> None:
        """Drop workers that have left, once a second until each of the others has sent its last message."""
        workers = self.scheduler.workers
        for worker in self.known.keys() - workers.keys():
            del self.known[worker]
        for worker in self.installing.keys() - workers.keys():
            self.installing[worker].cancel()
        self.check_stopped()
        if self.known or self.installing:
            asyncio.get_running_loop().call_later(GONE_S, self.drop_gone)

    def check_stopped(self) -> None:
        """Remove the handler of workers' messages once no worker sends any, or gets the plugin yet."""
        if not (self.known or self.installing):
            self.scheduler.stream_handlers.pop(self.name, None)

    # Events -------------------------------------------------------------------------------------------------

    def add(self, event: list[Any]) -> None:
        events = self.events
        events.append(event)
        if len(events) > self.most + self.n_tasks:
            gone = events.popleft()
            if gone[0] in ("graph", "early", "tasks") and gone[1] in self.clients:
                self.graphs.append(gone)
                return
            self.n_lost += 1
            if gone[0] in ("state", "end") and self.last.get(gone[1]) is gone:
                del self.last[gone[1]]

    def replace(self, key: Any, event: list[Any]) -> None:
        known = self.last.pop(key, None)
        if known is not None and known[0] == "state":
            known[:] = event
            event = known
        else:
            self.add(event)
        if event[0] == "end":
            self.last[key] = event

    def transition(
        self, key: Any, start: Any, finish: Any, *_args: Any, startstops: Any = None, **details: Any
    ) -> None:
        try:
            if startstops and start == "processing" and finish in ENDS:
                self.replace(key, self.record("end", key, startstops, details, is_failed=finish == "erred"))
            else:
                self.note(key, finish, self.last.get(key))
        except Exception:  # noqa: BLE001 - runs for each transition, where a guard costs more
            self.n_failed += 1

    def note(self, key: Any, finish: str, known: list[Any] | None) -> None:
        if known is not None and known[0] == "end" and finish not in TO_RUN:
            known[-1] = finish
            return
        # The event of a task that was processing keeps when that began.
        if known is None or known[0] == "end" or known[2] == "processing":
            self.last[key] = known = ["state", key, finish, None, 0.0, False]
            self.add(known)
        known[2] = finish
        if finish in TO_RUN:
            known[5] = True
            if finish == "processing":
                on = self.scheduler.tasks[key].processing_on
                known[3], known[4] = None if on is None else on.address, time()

    def record(self, kind: str, key: Any, steps: Any, details: Any, *, is_failed: bool) -> list[Any]:
        # The steps are in the hands of other plugins, too: they are left as distributed has them.
        measured = steps[-1].pop(self.name, None)
        error = str(details.get("exception_text", "unknown error"))[:10_000] if is_failed else None
        get = details.get
        # Nearly all have one step: a pair of numbers gives the garbage collector nothing to walk.
        if len(steps) == 1 and steps[0]["action"] == "compute":
            steps = steps[0]["start"], steps[0]["stop"]
        return [kind, key, get("worker"), get("thread"), get("nbytes"), error, steps, measured, None]

    def update_graph(self, scheduler: Any, *, client: Any, keys: Any, tasks: Any, **_: Any) -> None:
        with self.counted():
            if self.is_resting and client in self.clients:
                # Workers get this before the first of the tasks.
                self.set_options(self.options, is_resting=False)
            # Some tasks are futures that the graph only refers to; only the caller has the graph.
            submitted = sys._getframe(1).f_locals
            graph = submitted.get("dsk")
            tasks = list(tasks) if graph is None else [key for key in tasks if key in graph]
            parents = self.parents(str(client), submitted.get("submitting_task"))
            self.n_tasks = max(self.n_tasks, len(self.scheduler.tasks))
            self.add(["graph", client, list(keys), len(tasks), parents])
            self.note_tasks(client, tasks)

    def note_early(self, client: str) -> None:
        """Note a client's pending tasks, with finished tasks that are part of the same work."""
        state = self.scheduler.clients.get(client)
        wanted = [] if state is None else list(state.wants_what)
        found = {task: None for task in wanted if task.state in TO_RUN}
        requested, walk = list(found), list(found)
        while walk:
            new = [task for task in walk.pop().dependencies if task not in found]
            found.update(dict.fromkeys(new))
            walk += new
        groups = {task.group for task in found}
        done = [task for task in wanted if task not in found and task.group in groups]
        keys = [task.key for task in (*found, *done) if task.run_spec is not None]
        self.add(["early", client, [task.key for task in (*requested, *done)], len(keys)])
        self.note_tasks(client, keys)

    def parents(self, client: str, submitting: Any) -> list[Any]:
        if submitting is not None or not client.startswith("Client-worker-"):
            return [] if submitting is None else [submitting]
        # Work that a task submits from an event loop, as joblib does, does not name the task.
        running: list[Any] = []
        for worker in self.scheduler.workers.values():
            running += [task.key for task in worker.processing]
            if len(running) > 1_000:
                return []
        return running

    def note_tasks(self, client: Any, keys: Any) -> None:
        within = set(keys)
        for first in range(0, len(keys), 1_000):
            some = keys[first : first + 1_000]
            self.add(["tasks", client, some, *self.describe(some, within)])

    def describe(self, keys: Any, within: Any) -> tuple[Any, ...]:
        numbers, needed, outside = list[int](), list[Any](), list[tuple[int, Any]]()
        states, spans = dict[int, str](), dict[Any, tuple[int, Any]]()
        for place, key in enumerate(keys):
            self.last.pop(key, None)
            task = self.scheduler.tasks[key]
            if task.group not in spans:
                spans[task.group] = place, self.span_of(task.group)
            others = [other.key for other in task.dependencies] if task.dependencies else ()
            mine = [other for other in others if other in within]
            needed += mine
            numbers.append(len(mine))
            if len(mine) < len(others):
                outside += [(place, other) for other in others if other not in within]
            if task.state != "released":
                states[place] = task.state
        return numbers, needed, list(states.items()), list(spans.values()), outside

    def span_of(self, group: Any) -> Any:
        # Annotations may be of any type, and a scheduler may have no spans.
        with suppress(Exception):
            name = self.scheduler.extensions["spans"].spans[group.span_id].name
            if name != ("default",):
                return " / ".join(map(str, name))[:1_000]
        return None

    def failed(self, details: dict[str, Any]) -> None:
        """Record a failure, unless it is the last attempt, which is a transition."""
        with self.counted():
            key = details["key"]
            task = self.scheduler.tasks.get(key)
            is_it = task is not None and task.state == "processing" and task.run_id == details["run_id"]
            steps = details.get("startstops")
            if is_it and task.retries > 0 and steps:
                self.replace(key, self.record("attempt", key, steps, details, is_failed=True))

    def log(self, moment: float, level: str, text: str) -> None:
        self.add(["log", moment, level, text])

    def introduce(self, what: str, worker: str) -> None:
        found = self.scheduler.workers[worker]
        names = [str(found.name)[:1_000], str(found.nanny or "")[:1_000]]
        self.live(worker, what, [*names, int(found.nthreads)])
        if found.status.name == "paused":
            self.live(worker, "status", ["running", "paused"])

    def live(self, worker: Any, what: str, details: Any, moment: float | None = None) -> None:
        self.add(["life", str(worker)[:1_000], time() if moment is None else moment, what, details])

    def log_event(self, topic: Any, details: Any) -> None:
        # Any client may log any event.
        with suppress(Exception):
            if topic == "stealing":
                self.steal(*details)
            elif topic == "worker-restart-memory":
                self.live(details["worker"], "killed", float(details["rss"]))
            else:
                self.log_action(topic, details["action"], details)

    def log_action(self, topic: Any, action: str, details: Any) -> None:
        if topic in self.scheduler.clients and action == "retry":
            # Transitions after this have events after this one.
            self.last.clear()
            self.add(["graph", topic, [], 0, []])
        elif topic == "scheduler" and action == "update-graph":
            self.built(details["metrics"])
        elif topic == "scheduler" and action == "worker-ttl-timed-out":
            for worker in details["workers"]:
                self.live(worker, "timed out", float(details["ttl"]))
        elif topic in self.scheduler.workers and action == "worker-status-change":
            self.live(topic, "status", [str(details["prev-status"])[:99], str(details["status"])[:99]])
        elif topic in self.scheduler.workers and action == "closing-worker":
            self.live(topic, "closing", str(details["reason"])[:1_000])

    def steal(self, what: str, *details: Any) -> None:
        if what == "request":
            for _, _, key, cost_s, _, from_s, _, to_s in details[0]:
                self.stealing[key] = [float(cost_s), float(from_s), float(to_s)]
            while len(self.stealing) > 10_000:
                del self.stealing[next(iter(self.stealing))]
        elif what in OUTCOMES:
            key, _, victim, thief = details[-5:-1]
            # A task that was stolen is in no other state, and with another worker.
            if what == "confirm" and self.scheduler.tasks[key].state == "processing":
                self.note(key, "processing", self.last.get(key))
            between = [str(victim)[:1_000], str(thief)[:1_000]]
            self.add(["steal", key, time(), OUTCOMES[what], *between, *self.stealing.pop(key, ())])

    def built(self, metrics: Any) -> None:
        # Of two the sign is wrong (distributed 2026.8).
        steps = (
            "materialization_duration_seconds",
            "ordering_duration_seconds",
            "state_initialization_duration_seconds",
        )
        took = [abs(float(metrics[step])) for step in steps]
        self.add(["built", float(metrics["start_timestamp_seconds"]), *took])

    def lose(self, key: Any, worker: Any, moment: float, expected: Any) -> None:
        # Its transitions were recorded before this: they are repeated after it.
        since = list(self.last.get(key, ()))
        self.replace(key, ["lost", key, worker, moment, expected])
        if since and since[0] == "state":
            self.last[key] = since
            self.add(since)

    async def before_close(self) -> None:
        # A feed that is cancelled is logged as an error; one whose connection breaks ends quietly.
        waits: Any = None if self.feed is None else self.feed.get_coro()
        while hasattr(getattr(waits, "cr_await", None), "cr_await"):
            waits = waits.cr_await
        if getattr(waits, "cr_code", None) is asyncio.sleep.__code__:
            waits.cr_frame.f_locals["future"].set_exception(OSError("the scheduler closes"))

    def read(
        self,
        cursor: int,
        limit: int,
        options: bytes,
        clients: Sequence[str],
        *,
        may_rest: bool,
    ) -> dict[str, Any]:
        """Return the next events, or the last ones again if they did not arrive."""
        self.last.clear()
        self.clients = frozenset(clients)
        if len(self.events) <= self.most:
            self.n_tasks = len(self.scheduler.tasks)
        if cursor >= self.n_read:
            self.sent = []
            while limit > 0 and (self.graphs or self.events):
                event = (self.graphs or self.events).popleft()
                self.sent.append(event)
                limit -= len(event[2]) if event[0] == "tasks" else 1
            self.n_read += len(self.sent)
        # A graph may have arrived since the client found that it has no work.
        self.set_options(options, is_resting=may_rest and not self.sent)
        n_left = len(self.graphs) + len(self.events)
        return {
            "first": self.n_read - len(self.sent),
            "n": self.n_read + n_left,
            "lost": self.n_lost,
            "failed": self.n_failed,
            "events": self.sent,
            "time": time(),
        }

    # Workers' plugins ---------------------------------------------------------------------------------------

    async def install(self, address: str) -> None:
        try:
            add = getattr(self.scheduler.rpc(address), "plugin-add")
            answer = await add(plugin=self.worker_plugin, name=self.name)
        except OSError:
            return
        except Exception as error:  # noqa: BLE001 - a worker that blocks the message may raise anything
            self.add(["refused", address, plain(error, 500)])
            return
        finally:
            self.installing.pop(address, None)
        if answer.get("status") == "OK":
            self.launch(address)
        else:
            self.add(["refused", address, plain(answer.get("exception_text") or answer, 500)])

    def launch(self, address: str) -> None:
        """Have the plugin of a worker begin; one worker of each other machine compares its clock."""
        if address in self.scheduler.workers:
            self.known[address] = None
            if self.name not in self.scheduler.plugins:
                self.send(address, what="stop")
                return
            self.set_pace()
            options = b"" if self.is_resting else self.options
            self.send(address, what="go", options=options, pace_s=self.pace_s)
            host = host_of(address)
            if host != host_of(self.scheduler.address):
                mine = self.hosts.setdefault(host, {})
                mine[address] = None
                if len(mine) == 1:
                    self.send(address, what="compare")

    def forget(self, address: str) -> None:
        """Forget a worker; if it compared the clock of its machine, another one does."""
        self.known.pop(address, None)
        mine = self.hosts.get(host_of(address), {})
        compared = next(iter(mine), None) == address
        mine.pop(address, None)
        if not mine:
            self.hosts.pop(host_of(address), None)
        elif compared:
            self.send(next(iter(mine)), what="compare")
        self.set_pace()

    def set_pace(self) -> None:
        """Have workers send news at the pace for their number, where theirs differs by a quarter."""
        pace_s = news_pace_s(len(self.known))
        if not 0.8 <= pace_s / self.pace_s <= 1.25:
            self.pace_s = pace_s
            for worker in self.known:
                self.send(worker, what="pace", pace_s=pace_s)

    def send(self, worker: str, **message: Any) -> None:
        comm = self.scheduler.stream_comms.get(worker)
        if comm is not None:
            # Its connection may be closed, and the worker is removed then.
            with suppress(Exception):
                comm.send({"op": self.name, **message})

    def clock(self) -> float:
        return time()

    def set_options(self, options: bytes, *, is_resting: bool) -> None:
        before = b"" if self.is_resting else self.options
        self.options, self.is_resting = options, is_resting
        now = b"" if is_resting else options
        if now != before:
            for worker in self.known:
                self.send(worker, what="options", options=now)

    def take(self, worker: str, what: str, news: bytes = b"") -> None:
        """Take a message of a worker's plugin."""
        with self.counted():
            self.late.discard(worker)
            if what == "refused":
                self.add(["refused", worker, news.decode("utf-8", "replace")])
            elif news and not self.is_resting:
                self.add(["news", worker, news])
            if what == "end":
                self.known.pop(worker, None)
                if self.name not in self.scheduler.plugins:
                    self.check_stopped()
            if what != "news":
                self.answered(worker)

    def answered(self, worker: str) -> None:
        for event, waiting in self.flushes.items():
            waiting.discard(worker)
            if not waiting:
                event.set()

    async def flush(self, options: bytes, within_s: float) -> list[str]:
        """Have all workers send what they have recorded; return the workers that do not in time."""
        self.set_options(options, is_resting=False)
        waiting = self.known.keys() - self.late
        answered = asyncio.Event()
        self.flushes[answered] = set(waiting)
        for worker in waiting:
            self.send(worker, what="flush")
        # In parts: a cell that holds up the scheduler's event loop uses up one of them, however long it runs.
        for _ in range(FLUSH_PARTS if waiting else 0):
            with suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(answered.wait(), within_s / FLUSH_PARTS)
                break
        self.late |= self.flushes.pop(answered)
        self.late &= self.known.keys()
        return sorted(self.late | (self.installing.keys() & self.scheduler.workers.keys()))

    def add_worker(self, scheduler: Any, worker: Any) -> None:
        with self.counted():
            self.introduce("came", worker)
            self.launch(worker)

    def remove_worker(self, scheduler: Any, worker: Any, **_: Any) -> None:
        with self.counted():
            for moment, event in reversed(scheduler.get_events(worker)):
                if isinstance(event, dict) and event.get("action") == "remove-worker":
                    self.live(worker, "gone", bool(event.get("expected")), moment)
                    for key in event["processing-tasks"]:
                        self.lose(key, worker, moment, bool(event.get("expected")))
                    break
        with self.counted():
            self.late.discard(worker)
            self.answered(worker)
            self.forget(worker)


RUNNING = ("executing", "long-running")
LATEST = 1.5
"""After how many times its pace a worker in which no task ends sends its next message."""
LEASE_S = 60.0
"""How long a plugin waits for its scheduler's first message before it removes itself."""
CLOCKS_S = (1.0, 30.0)
N_EXCHANGES = 16
EXCHANGED_S = 0.3
"""How long a worker that gets the plugin compares its clock."""
PACKER = msgpack.Packer(default=str, unicode_errors="surrogatepass")
MOST_BYTES = 20_000
"""Of the measurements of a task; more has a task with thousands of transfers or metrics of its own."""
LONG_S = 1.0
"""For how long a task runs before its thread is reported."""
MOST_ENTRIES = 20_000
MONITORED = frozenset(
    (
        *("time", "cpu", "memory", "num_fds", "gil_contention", "gpu_utilization", "gpu_memory_used"),
        *("host_net_io.read_bps", "host_net_io.write_bps", "host_disk_io.read_bps", "host_disk_io.write_bps"),
    )
)
RUNS_TASKS = "_run_task_simple"
PLUMBING = ("dask/_task_spec.py", "dask/optimization.py", "dask/core.py")
LOCK_S = 0.025
QUIET_S = 10.0


class WorkerObserver(WorkerPlugin):
    """Measures the tasks of a worker, and sends what else it records once a second."""

    def __init__(self, name: str, stacks: Any, meter: str) -> None:
        self.name = name
        self.stacks = stacks
        """The module `taskscope.sources.stacks`."""
        self.meter = meter
        """The source text of `taskscope.sources.line_meter`."""
        self.options: dict[str, Any] = {}
        self.since = 0.0
        """Since when it records."""
        self.n_failed = 0
        self.delays: dict[Any, float] = {}
        """The correction of times that each running task began with."""
        self.received: dict[tuple[float, str], float] = {}
        """Bytes of transfers that no ended task has claimed, by stop and source."""
        self.transfers: list[Any] = []
        self.lines: list[Any] = []
        self.pace_s = PUSH_S
        self.sent = -PUSH_S
        self.last_logged: list[Any] = [None, None]
        self.exchanges: list[Any] = []
        self.clock: asyncio.Task[None] | None = None
        self.clocks_s = 0.0
        self.compared = perf_counter()
        self.sent_running = False
        self.timer: Any = None

    async def setup(self, worker: Any) -> None:
        self.worker = worker
        worker.stream_handlers[self.name] = self.take
        self.sampler = WorkerSampler(worker, self.stacks)
        self.log_lines = LogLines(self.name, self.log)
        self.counts: LineCounts | None = None
        self.timer = asyncio.get_running_loop().call_later(LEASE_S, self.remove)
        for number, log in enumerate(self.logs()):
            self.last_logged[number] = log[-1] if log else None
        # Before the first task, whose times are placed by it.
        if host_of(worker.address) != host_of(worker.scheduler.address):
            with suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(self.exchange(), EXCHANGED_S)

    def teardown(self, worker: Any) -> None:
        # A worker that closes removes its plugins first, and a message without a handler ends its stream.
        worker.stream_handlers[self.name] = self.take_late
        self.options = {}
        self.timer.cancel()
        self.log_lines.close()
        self.sampler.stop()
        self.count_lines(None)
        if self.clock is not None:
            self.clock.cancel()

    def remove(self) -> None:
        # A closing worker removes all plugins itself, and logs an error for one that is gone.
        if self.worker.status not in (Status.closing, Status.closed):
            self.worker.plugins.pop(self.name, None)
            self.teardown(self.worker)

    def take_late(self, what: str, **_: Any) -> None:
        """Take a message to a plugin that was removed; the scheduler's last is "stop"."""
        if what == "stop":
            # Another may be on its way.
            asyncio.get_running_loop().call_later(GONE_S, self.take_no_more)
        if what in ("flush", "stop"):
            self.send("end" if what == "stop" else what)

    def take_no_more(self) -> None:
        if self.worker.stream_handlers.get(self.name) == self.take_late:
            del self.worker.stream_handlers[self.name]

    def take(self, what: str, options: bytes | None = None, pace_s: float | None = None) -> None:
        """Take a message of the scheduler's plugin."""
        try:
            if pace_s is not None:
                self.set_pace(pace_s)
            if what == "go":
                self.timer.cancel()
                self.tick()
            if options is not None:
                self.set_options(unpack(options) if options else {})
            if what == "compare":
                self.clocks_s = CLOCKS_S[0]
        except Exception:  # noqa: BLE001 - runs on a worker; the count is sent
            self.n_failed += 1
        if what == "flush":
            self.send(what)
            self.set_pace(self.pace_s)
        if what == "stop":
            self.remove()
            self.take_late(what)

    def set_pace(self, pace_s: float) -> None:
        """Send news at a pace; workers that get it at one time send their next message at different ones."""
        self.pace_s = pace_s
        if pace_s > PUSH_S:
            part = zlib.crc32(self.worker.address.encode()) / 2**32
            self.sent = perf_counter() - part * pace_s

    def set_options(self, options: dict[str, Any]) -> None:
        if self.counts is not None and options.get("sought") != self.counts.sought:
            # What was counted of other functions.
            self.send("news")
        if options and not self.options:
            self.since = time()
        self.options = options
        self.sampler.set_options(options)
        self.count_lines(options.get("sought"))
        if options and perf_counter() - self.sent > self.pace_s:
            self.send("news")

    def log(self, moment: float, level: str, text: str) -> None:
        if self.options and len(self.lines) < MOST_LINES:
            self.lines.append([moment, level, text])

    def count_lines(self, sought: Any) -> None:
        """Count lines of these functions, of none with None."""
        if self.counts is not None and sought != self.counts.sought:
            self.counts.leave(self.worker)
            self.counts = None
        if self.counts is None and sought is not None:
            self.counts = LineCounts.joined(self.worker, self.name, self.meter, sought)

    # Tasks --------------------------------------------------------------------------------------------------

    def transition(self, key: Any, start: Any, finish: Any, **_: Any) -> None:
        try:
            if finish == "executing":
                self.delays[key] = self.worker.scheduler_delay
                self.sampler.begin()
            elif start in RUNNING and finish not in RUNNING:
                self.measure(key, self.delays.pop(key, None))
                now = perf_counter()
                if now - self.sent > self.pace_s and self.options:
                    self.sent = now
                    # The next task begins before this, and the end of this one is sent after it.
                    asyncio.get_running_loop().call_soon(self.send, "news")
            elif start == "flight":
                self.read_logs()
        except Exception:  # noqa: BLE001 - runs for each transition of a worker; the count is sent
            self.n_failed += 1

    def measure(self, key: Any, delay_s: float | None) -> None:
        """Write the measurements of a task that has ended into its last step, packed."""
        task = self.worker.state.tasks[key]
        steps = task.startstops
        if not steps or steps[-1]["action"] != "compute":
            return
        if delay_s != self.worker.scheduler_delay and task.start_time is not None:
            delay_s = self.delay_of(delay_s, steps[-1]["start"] - task.start_time, steps[-1]["stop"] - time())
        if delay_s is not None and task.start_time is not None:
            self.sampler.start_lags_s.append(steps[-1]["start"] - delay_s - task.start_time)
        sizes = list[Any]()
        for place, step in enumerate(steps[:-1]) if self.received else ():
            if step["action"] == "transfer":
                nbytes = self.received.pop((step["stop"], str(step.get("source"))), None)
                if nbytes is not None:
                    sizes += (place, nbytes)
        # It is what distributed books as fine performance metrics right after this.
        ledger: Any = getattr(context_meter._callbacks.get()["async-instruction"], "__self__")  # noqa: B009 - a function by its type
        measured = PACKER.pack([delay_s, ledger.func() - ledger.start, sizes, ledger.metrics])
        if len(measured) <= MOST_BYTES:
            steps[-1][self.name] = measured

    def delay_of(self, delay_s: float | None, most_s: float, least_s: float) -> float:
        """Return the correction in a task's times.

        Of more than `most_s` the task would have begun before it was sent, of less than `least_s` it would
        end later than now. A heartbeat may have changed it since the transition, but hardly before the task
        was sent; and the task may have begun before the plugin.
        """
        delays = [delay_s, self.worker.scheduler_delay] if delay_s is not None else []
        return next((delay for delay in delays if least_s <= delay <= most_s), most_s)

    # What is sent once a second -----------------------------------------------------------------------------

    def tick(self) -> None:
        if self.clocks_s and perf_counter() - self.compared > self.clocks_s:
            self.compare_clocks()
        left_s = self.sent + LATEST * self.pace_s - perf_counter()
        if left_s <= 0 and self.options:
            self.send("news")
        pause_s = left_s if 0 < left_s < PUSH_S else PUSH_S
        self.timer = asyncio.get_running_loop().call_later(pause_s, self.tick)

    def send(self, what: str) -> None:
        try:
            self.sent = perf_counter()
            news = self.news() if self.options else {}
            message = pack(news) if news else b""
        except Exception:  # noqa: BLE001 - runs on a worker; the count is sent
            self.n_failed += 1
            message = b""
        if message or what != "news":
            # The worker may be closing, its stream with it.
            with suppress(Exception):
                self.worker.batched_stream.send({"op": self.name, "what": what, "news": message})

    def news(self) -> dict[str, Any]:
        """Return what was recorded since the last time, by kind."""
        self.read_logs()
        transfers, self.transfers = self.transfers, []
        lines, self.lines = self.lines, []
        exchanges, self.exchanges = self.exchanges, []
        n_failed, self.n_failed = self.n_failed, 0
        running = self.running()
        found = {
            "metrics": self.metrics(),
            "logs": lines,
            "transfers": transfers,
            "clock": exchanges,
            "n_failed": n_failed,
            "lock": self.sampler.take_looks(),
            "samples": self.sampler.take_samples(),
            "lines": None if self.counts is None else self.counts.take(self.worker),
        }
        if running or self.sent_running:
            found["running"] = running
        self.sent_running = bool(running)
        news = {kind: value for kind, value in found.items() if value or kind == "running"}
        return news and {"at": time(), **news}

    def metrics(self) -> dict[str, Any]:
        """Return the worker's own measurements of itself."""
        worker, state = self.worker, self.worker.state
        counts = state.task_counter.current_count(by_prefix=False)
        monitored = {name: value for name, value in worker.monitor.recent().items() if name in MONITORED}
        return {
            **monitored,
            # A compute may end before the worker's monitor looks again.
            "time": max(monitored["time"], self.since),
            "name": plain(worker.name, 1_000),
            "n_threads": state.nthreads,
            # Tasks that left the pool of threads (`secede`) run as well.
            "n_executing": sum(counts.get(state, 0) for state in RUNNING),
            "managed": state.nbytes,
            "spilled": getattr(getattr(worker.data, "spilled_total", None), "memory", 0),
            "limit": worker.memory_manager.memory_limit,
            "tick_s": worker._tick_interval_observed,
        }

    def logs(self) -> tuple[Any, Any]:
        return self.worker.transfer_incoming_log, self.worker.transfer_outgoing_log

    def read_logs(self) -> None:
        """Read new entries of both logs, with the correction that is in their times."""
        for number, log in enumerate(self.logs()):
            last, new = self.last_logged[number], list[Any]()
            for entry in reversed(log):
                if entry is last or len(new) >= MOST_ENTRIES:
                    break
                new.append(entry)
            if new:
                self.last_logged[number] = new[0]
            for entry in reversed(new):
                self.read_entry(number, entry)

    def read_entry(self, number: int, entry: Any) -> None:
        try:
            total = float(entry["total"])
            if number == 0:
                self.received[float(entry["stop"]), str(entry["who"])] = total
                while len(self.received) > MOST_ENTRIES:
                    del self.received[next(iter(self.received))]
            if self.options and len(self.transfers) < MOST_ENTRIES:
                delay_s = self.worker.scheduler_delay
                times = [float(entry[at]) - delay_s for at in ("start", "stop")]
                keys = [key if len(str(key)) <= 500 else str(key)[:500] for key in list(entry["keys"])[:8]]
                sizes = [total, entry.get("compressed"), len(entry["keys"])]
                self.transfers.append([number, *times, str(entry["who"] or ""), *sizes, keys])
        except Exception:  # noqa: BLE001 - any code of a worker can append to its logs
            self.n_failed += 1

    def running(self) -> list[Any]:
        """Return thread, key and start of the tasks that run for long, by the worker's own clock."""
        with self.worker.active_threads_lock:
            active = list(self.worker.active_threads.items())
        tasks, now = self.worker.state.tasks, time()
        begun = [(thread, key, getattr(tasks.get(key), "start_time", None)) for thread, key in active]
        return [each for each in begun if each[2] is None or now - each[2] > LONG_S]

    def compare_clocks(self) -> None:
        self.compared = perf_counter()
        # Often at first, for more exchanges have shorter ones among them.
        self.clocks_s = min(2 * self.clocks_s, CLOCKS_S[1])
        if self.clock is None or self.clock.done():
            self.clock = asyncio.ensure_future(self.exchange())

    async def exchange(self) -> None:
        """Note when each request for the scheduler's time was sent, that time, and when it arrived."""
        self.compared = perf_counter()
        with suppress(Exception):
            for _ in range(N_EXCHANGES):
                began, at = perf_counter(), time()
                there = await getattr(self.worker.scheduler, f"{self.name}-clock")()
                times = at, float(there), at + perf_counter() - began
                self.exchanges = [min([*self.exchanges, times], key=lambda times: times[2] - times[0])]


class WorkerSampler:
    """Samples the threads of a worker, and the interpreter's lock, while tasks run."""

    def __init__(self, worker: Any, stacks: Any) -> None:
        self.worker = worker
        self.module = stacks
        self.lock = threading.Lock()
        self.looks: dict[int, list[int]] = {}
        """How often it wanted the lock, and how often a thread had it, by quarters of a second."""
        self.is_on = False
        self.interval_s: float | None = None
        self.start_lags_s = deque([0.0], maxlen=3)
        """How long after the start that the worker notes the last tasks began in their threads."""
        self.shift_s = 0.0
        """From the start that a worker notes to the begin of its task by `perf_counter`."""
        self.counts = stacks.StackCounts(MOST_ENTRIES, has_lines=False)
        self.stacks = stacks.TaskStacks(self.running, self.calls_of)
        self.thread = stacks.SamplingThread(
            "taskscope-samples",
            self.look,
            lambda: self.is_on and bool(worker.active_threads),
            self.fault,
            QUIET_S,
            ended=lambda: self.stacks.switch(is_on=False),
        )

    def set_options(self, options: dict[str, Any]) -> None:
        has_lines = bool(options.get("has_lines"))
        if has_lines != self.counts.has_lines:
            self.counts = self.module.StackCounts(MOST_ENTRIES, has_lines=has_lines)
        self.interval_s = options.get("interval_s")
        self.is_on = bool(options)
        if not self.is_on:
            self.stop()
        elif self.worker.active_threads:
            self.begin()

    def begin(self) -> None:
        if self.is_on:
            self.stacks.switch(is_on=self.interval_s is not None)
            self.thread.begin(self.interval_s or LOCK_S)

    def stop(self) -> None:
        self.is_on = False
        # The event loop does not wait for the thread.
        self.thread.stop(wait=False)
        self.stacks.switch(is_on=False)

    def fault(self, _error: Exception) -> None:
        self.is_on = False

    def take_looks(self) -> list[Any]:
        """Return how long ago it looked at the lock, how often, and how often a thread had it."""
        with self.lock:
            found, self.looks = self.looks, {}
        return [(perf_counter() - (at + 0.5) / 4, n, held) for at, (n, held) in found.items()]

    def take_samples(self) -> dict[str, Any]:
        """Return functions, and samples by task, time and stack, whose calls refer to the functions."""
        found: dict[str, Any] = self.counts.take()
        if found:
            now = perf_counter()
            found["stacks"] = [(key, now - at, *row) for key, at, *row in found["stacks"]]
            found["has_lines"] = self.counts.has_lines
        return found

    def look(self, wake: Any) -> float:
        if wake.is_lock_held is not None and self.worker.active_threads:
            self.note_lock(wake.now, is_held=wake.is_lock_held)
        interval_s = self.interval_s
        if interval_s is None:
            return LOCK_S
        # Where other processes run between the two readings, it seems less.
        shift_s = max(perf_counter() - time(), perf_counter() - time())
        self.shift_s = shift_s + sorted(self.start_lags_s)[len(self.start_lags_s) // 2]
        counts = self.counts
        for sample in self.stacks.look(wake):
            counts.add(sample.task, wake.now, sample)
        return float(wake.paced_s(interval_s))

    def note_lock(self, now: float, *, is_held: bool) -> None:
        with self.lock:
            look = self.looks.setdefault(int(now * 4), [0, 0])
            look[0] += 1
            look[1] += is_held
            if len(self.looks) > 200:
                del self.looks[min(self.looks)]

    def running(self) -> dict[int, Any]:
        with self.worker.active_threads_lock:
            active = list(self.worker.active_threads.items())
        tasks, running = self.worker.state.tasks, self.module.Running
        starts = {key: getattr(tasks.get(key), "start_time", None) for _, key in active}
        return {
            thread: running(start + self.shift_s, key)
            for thread, key in active
            if (start := starts[key]) is not None
        }

    def calls_of(self, frame: Any) -> Any:
        """Return the calls of the task in a thread, innermost first; None where it runs none."""
        stack = self.module.calls_from(frame)
        # The outermost: a task may compute something itself.
        while stack and stack[-1][0].co_name != RUNS_TASKS:
            stack.pop()
        if not stack:
            return None
        stack.pop()
        while stack and stack[-1][0].co_filename.replace("\\", "/").endswith(PLUMBING):
            stack.pop()
        return stack


class LineCounts:
    """Counts and times lines of named functions in the tasks of the workers of one process."""

    PLACE = "taskscope_counters"
    MOST_ROWS = 100_000

    def __init__(self, name: str, source: str, sought: Any) -> None:
        names: dict[str, Any] = {"__name__": "taskscope_line_meter"}
        exec(compile(source, "taskscope/sources/line_meter.py", "exec"), names)  # noqa: S102 - taskscope's own source
        self.task_lines = names["TaskLines"]
        self.name = name
        self.sought = sought
        self.lock = threading.Lock()
        self.workers: tuple[Any, ...] = ()
        self.doing: dict[int, Any] = {}
        self.ended: dict[str, list[Any]] = {}
        self.n_rows = self.n_lost = 0
        self.is_late = False
        """Whether a worker was running tasks when counting began."""
        self.fault: str | None = None
        self.meter = names["LineMeter"](self.note, self)
        self.refusal: str | None = self.meter.open()
        if self.refusal is None:
            self.meter.seek(sought)

    @classmethod
    def joined(cls, worker: Any, name: str, source: str, sought: Any) -> LineCounts:
        """Return the counts of this process, which a worker joins."""
        known: dict[Any, LineCounts] = vars(sys.modules["distributed.worker"]).setdefault(cls.PLACE, {})
        counts = known.get((name, sought))
        if counts is None:
            counts = known[name, sought] = cls(name, source, sought)
        counts.workers = (*counts.workers, worker)
        counts.is_late |= bool(worker.active_threads)
        return counts

    def leave(self, worker: Any) -> None:
        self.workers = tuple(other for other in self.workers if other is not worker)
        if not self.workers:
            self.meter.close()
            there = vars(sys.modules["distributed.worker"])
            there.get(self.PLACE, {}).pop((self.name, self.sought), None)
            if not there.get(self.PLACE):
                there.pop(self.PLACE, None)

    def note(self, error: BaseException) -> None:
        self.fault = f"{type(error).__name__}: {error}"[:500]

    # Called by the meter for each line ----------------------------------------------------------------------

    def get(self, thread: int) -> Any:
        for worker in self.workers:
            key = worker.active_threads.get(thread, self)
            if key is not self:
                break
        else:
            return None
        known = self.doing.get(thread)
        if known is not None and known[0] is key:
            return known[2]
        with self.lock:
            self.put_away(self.doing.pop(thread, None))
            self.doing[thread] = key, worker, self.task_lines()
            return self.doing[thread][2]

    def clear(self) -> None:
        self.doing.clear()

    def put_away(self, known: Any) -> None:
        rows = known[2].rows() if known is not None else []
        if rows and self.n_rows < self.MOST_ROWS:
            self.n_rows += len(rows)
            self.ended.setdefault(known[1].address, []).append((known[0], rows))
        elif rows:
            self.n_lost += 1

    def take(self, worker: Any) -> dict[str, Any]:
        """Return the sums of tasks of a worker that have ended, and what is wrong with them."""
        with self.lock:
            for thread, (key, other, _) in list(self.doing.items()):
                if other is worker and worker.active_threads.get(thread, self) is not key:
                    self.put_away(self.doing.pop(thread))
            tasks = self.ended.pop(worker.address, [])
            self.n_rows -= sum(len(rows) for _, rows in tasks)
            wrong = {"is_late": self.is_late, "fault": self.fault, "refusal": self.refusal}
            found = {"tasks": tasks, "n_lost": self.n_lost, **wrong}
            self.n_lost, self.is_late, self.fault, self.refusal = 0, False, None, None
            self.meter.forget_sent([lines for _, _, lines in self.doing.values()])
        return {kind: value for kind, value in found.items() if value}


def observe(scheduler: Any, name: str, most: int, worker_plugin: bytes, *arguments: Any) -> Any:
    """Return what installs an observer on a scheduler."""
    return SchedulerObserver(scheduler, name, most, worker_plugin).begin(*arguments)
