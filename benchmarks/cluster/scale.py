"""A thousand workers without a cluster: made-up answers of a scheduler, fed through the source to a page."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import psutil

from benchmarks.harness import Table
from taskscope.jupyter.feed.feed import CONTROL, DATA, Feed
from taskscope.session import Session
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.connection import News
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.tasks import SchedulerTasks
from taskscope.sources.cluster.workers import Workers

_N_WORKERS = 1_000
_N_THREADS = 4
_ADDRESSES = [f"tcp://10.0.{worker % 250}.1:{40_000 + worker}" for worker in range(_N_WORKERS)]
_PER_ANSWER = 2_000
_PER_GRAPH = 100_000
_TENTHS = (1, 2, 5, 10)
"""After how many tenths of the tasks there is a row."""


class _MadeUp:
    """Has `_PER_ANSWER` more events each time, as the observer on a scheduler."""

    def __init__(self, n_tasks: int) -> None:
        self.n_told = 0
        self.making_s = 0.0
        """The CPU time that making records has taken, which is not the source's."""
        self._n_tasks = n_tasks
        self._now = time.time()

    def read(self) -> News:
        """Return the next events."""
        begin_s = time.thread_time()
        first, self.n_told = self.n_told, min(self.n_told + _PER_ANSWER, self._n_tasks)
        records = [self._record(number) for number in range(first, self.n_told)]
        self.making_s += time.thread_time() - begin_s
        return News(first, self.n_told, [("end", *record, None) for record in records])

    def _record(self, number: int) -> list[Any]:
        # Each worker has its turn, in an order that is none.
        worker = number * 387 % _N_WORKERS
        stop = self._now + number * 1e-4
        steps: tuple[dict[str, Any], ...] = ({"action": "compute", "start": stop - 0.01, "stop": stop},)
        if number % 4 == 0:
            source = _ADDRESSES[worker - 1]
            moved = {"action": "transfer", "start": stop - 0.02, "stop": stop - 0.01, "source": source}
            steps = (moved, *steps)
        thread = number // _N_WORKERS % _N_THREADS + 1
        return [_key(number), _ADDRESSES[worker], thread, 1_000, None, steps, None]


class _Page:
    """Both comms of a page, and the channels that they are opened on; what comes is counted and let go."""

    def __init__(self) -> None:
        self.sent_s: list[float] = []
        self.n_tasks = self.n_bytes = 0
        self._opened: dict[str, Callable[[Any, object], None]] = {}
        self._told: Callable[[object], None] = lambda _: None

    def register(self, target: str, opened: Callable[[Any, object], None]) -> None:
        self._opened[target] = opened

    def unregister(self, target: str) -> None:
        del self._opened[target]

    def announce(self, target: str, data: Mapping[str, Any]) -> None:
        """It is there already."""

    def open(self) -> None:
        for target in (DATA, CONTROL):
            self._opened[target](self, {"protocol": 1, "page": "page"})
        self.say("hello")

    def say(self, verb: str) -> None:
        self._told({"verb": verb})

    def send(self, data: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        if "count" in data:
            self.sent_s.append(time.perf_counter())
            self.n_tasks += int(data["count"])
            self.n_bytes += sum(map(len, buffers))

    def listen(self, message: Callable[[object], None], closed: Callable[[], None]) -> None:
        # The control comm comes last.
        self._told = message

    def close(self) -> None:
        """Nothing is open."""


def _key(number: int) -> tuple[str, int]:
    return _name(number // 10_000), number


@lru_cache
def _name(part: int) -> str:
    return f"step{part % 20}-{part * 10_000 // _PER_GRAPH:016x}"


def measure_scale(n_tasks: int) -> Table:
    return Table(
        f"{n_tasks:,} tasks of {_N_WORKERS:,} workers of {_N_THREADS} threads, a quarter with a transfer",
        (
            "tasks so far",
            "tasks a second",
            "CPU µs per task",
            "memory above the start",
            "rows held",
            "messages to a page: a second, most in one",
            "tasks sent",
            "bytes each",
        ),
        _rows(n_tasks),
        "Made-up answers of 2,000 records each, of graphs of 100,000 tasks, as fast as they go. Making "
        "them is not counted. Up to a million rows are held. Figures are of the time since the last row.",
    )


class _Feeding:
    """A session that is fed by a scheduler that is not there, and looked at by a page."""

    def __init__(self, n_tasks: int) -> None:
        self.session = Session()
        self.link = _MadeUp(n_tasks)
        self.page = _Page()
        self._n_tasks = n_tasks
        self._feed = Feed(self.session, channels=self.page)
        self._feed.announce()
        self.page.open()
        workers = Workers("tcp://10.0.0.1:8786", self.session.recorder)
        for number, address in enumerate(_ADDRESSES):
            workers.come(address, str(number), _N_THREADS)
        self._tasks = SchedulerTasks(workers, lambda _client: False)
        self._tasks.noted = frozenset(("",))

    def feed_graph(self) -> None:
        """Feed one compute, from its graph to its end."""
        recorder, first = self.session.recorder, self.link.n_told
        last = min(first + _PER_GRAPH, self._n_tasks)
        keys = frozenset[Hashable](_key(n) for n in range(first, last))
        run = TrackedRun(recorder.begin(), None, None, False, lambda: None)
        self.session.pump.wake()
        self._tasks.expect(run, Submission(None, keys, None, single=False, is_known=True))
        while self.link.n_told < last:
            self._tasks.take(self.link.read())
            self._tasks.fold(knows_all=True)
            self._pull()
        run.over, run.status = recorder.clock.perf_counter(), "finished"
        self._tasks.end(run)
        run.end(run.over)
        self._pull()
        self.page.say("renew")

    def close(self) -> None:
        self._feed.close()
        self.session.pump.stop()

    def _pull(self) -> None:
        while self.session.recorder.pull(1.0):
            pass


def _rows(n_tasks: int) -> Iterator[tuple[str, ...]]:
    feeding = _Feeding(n_tasks)
    recorder, link, page = feeding.session.recorder, feeding.link, feeding.page
    start_bytes = psutil.Process().memory_info().rss
    for tenths in _TENTHS:
        n_before, sent_before, bytes_before = link.n_told, page.n_tasks, page.n_bytes
        page.sent_s.clear()
        begin_s, busy_s = time.perf_counter(), time.process_time() - link.making_s
        while link.n_told < tenths * n_tasks // 10:
            feeding.feed_graph()
        took_s, n = time.perf_counter() - begin_s, link.n_told - n_before
        busy_s = time.process_time() - link.making_s - busy_s
        held_bytes = psutil.Process().memory_info().rss - start_bytes
        n_sent = page.n_tasks - sent_before
        yield (
            f"{link.n_told:,}",
            f"{n / took_s:,.0f}",
            f"{busy_s / n * 1e6:.1f}",
            f"{held_bytes / 1e6:.0f} MB",
            f"{recorder.cursor - recorder.dropped:,}",
            f"{len(page.sent_s) / took_s:.1f}, {_most_in_one_second(page.sent_s)}",
            f"{n_sent / n:.1%}",
            f"{(page.n_bytes - bytes_before) / max(n_sent, 1):.1f}",
        )
    feeding.close()


def _most_in_one_second(times_s: Sequence[float]) -> int:
    most = first = 0
    for last, time_s in enumerate(times_s):
        while time_s - times_s[first] >= 1.0:
            first += 1
        most = max(most, last - first + 1)
    return most
