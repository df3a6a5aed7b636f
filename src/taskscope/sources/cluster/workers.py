"""The workers of a cluster: names, lanes, clocks, measurements, and what happens to them.

An exchange of two clocks bounds their distance, as the answer was stamped between sending and receiving
(Cristian, "Probabilistic clock synchronization", 1989). The one with the shortest round trip bounds it best,
and every bound loosens with age, for clocks drift apart: the clock filter of NTP (RFC 5905, section 10).

The events of ``life`` and their details are

- ``came``: its name, the address of its nanny where it has one, and how many threads it has; ``there``: the
  same of one that was there before the observer;
- ``status``: the status before and the new one;
- ``killed``: how many bytes it had when its nanny killed it;
- ``timed out``: after how many seconds without a message the scheduler gave it up;
- ``closing``: the worker's own reason;
- ``gone``: whether that was expected, as of a worker that closes itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from taskscope.model.errortext import worded
from taskscope.model.tables.records import WorkerEvent
from taskscope.model.tables.workers import WorkerSample
from taskscope.record import LaneKey, Recorder, WorkerCounts
from taskscope.sources.cluster.plugin import host_of

_STEP_S = 0.1
_EVERY_S = 30.0
"""How often workers compare their clocks at most."""


class HostClocks:
    """The clocks of the machines of one cluster, and of this one."""

    def __init__(self, scheduler: str, recorder: Recorder) -> None:
        self._recorder = recorder
        self._scheduler = host_of(scheduler)
        self._hosts: dict[str, ClockFilter] = {}
        self.scheduler = ClockFilter()
        """The scheduler's clock as seen from this machine."""
        self._set_at = -math.inf
        self._shift_s = math.nan

    @property
    def scheduler_ahead_s(self) -> float:
        """How far the scheduler's clock is ahead of this machine's; 0 while unknown.

        On one machine it is 0, not what a round trip seems to show; its address does not show whether it is
        on another one, as that may be a tunnel's.
        """
        best = self.scheduler.best
        return 0.0 if best is None or abs(best.ahead_s) <= best.bound_s else best.ahead_s

    def note(self, exchange: Exchange) -> None:
        """Take in when a request was sent to the scheduler, its time when it answered, and the arrival."""
        shift_s, now = self._recorder.clock.shift_s(), self._recorder.clock.perf_counter()
        step_s = self._shift_s - shift_s
        if abs(step_s) > _STEP_S:
            self.scheduler.forget()
            self._recorder.warn(
                f"the clock of this machine was set by {step_s:+.1f} s: times around that are uncertain"
            )
        self._shift_s = shift_s
        set_s = self.scheduler.note([exchange], now)
        if set_s is not None:
            self._set_at = now
            self._recorder.warn(
                f"the clock of the scheduler's machine was set by {set_s:+.3f} s: "
                "times around that are uncertain"
            )

    def note_host(self, address: str, exchanges: Sequence[Exchange]) -> None:
        """Take in the exchanges of a worker with the scheduler."""
        clock, now = self.host(address), self._recorder.clock.perf_counter()
        set_s = None if clock is None else clock.note(exchanges, now)
        # Where the scheduler's clock was set, that of each worker seems to have been.
        if set_s is not None and now - self._set_at > 2 * _EVERY_S:
            self._recorder.warn(
                f"the clock of %s was set by {-set_s:+.3f} s: times around that are uncertain",
                host_of(address),
            )

    def host(self, address: str) -> ClockFilter | None:
        """Return a worker's machine's clock against the scheduler's; None on the scheduler's own machine."""
        host = host_of(address)
        return None if host == self._scheduler else self._hosts.setdefault(host, ClockFilter())


class WorkerClock:
    """The clock of one worker."""

    def __init__(self, hosts: HostClocks, address: str) -> None:
        self._hosts = hosts
        self._host = hosts.host(address)

    @property
    def is_known(self) -> bool:
        """Whether its difference to the scheduler's was measured, or is none."""
        return self._host is None or self._host.best is not None

    @property
    def ahead_s(self) -> float:
        """How far this machine's clock is ahead of the worker's; as if they were equal while unknown."""
        best = None if self._host is None else self._host.best
        return (0.0 if best is None else best.ahead_s) - self._hosts.scheduler_ahead_s


MAX_DRIFT = 1e-4
"""By how much two clocks drift apart, in seconds a second; a faster change means that one was set."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message there and back, all in wall-clock seconds."""

    sent: float
    stamped: float
    received: float

    @property
    def ahead_s(self) -> float:
        """How far the answering clock is ahead, if both ways took equally long."""
        return self.stamped - (self.sent + self.received) / 2

    @property
    def bound_s(self) -> float:
        """How much that can be off: half of the round trip."""
        return (self.received - self.sent) / 2


class ClockFilter:
    """Keeps the best of the exchanges with one clock, and notices when either clock is set."""

    def __init__(self) -> None:
        self.best: Exchange | None = None
        """The one to rely on; None before the first."""
        self._at = 0.0

    def note(self, exchanges: Iterable[Exchange], at: float) -> float | None:
        """Take in exchanges that were made together; return by how much the clock was set, if it was."""
        before, best = self.best, min(exchanges, key=lambda e: e.bound_s)
        if before is None:
            self.best, self._at = best, at
            return None
        loosened_s = before.bound_s + MAX_DRIFT * (at - self._at)
        jump_s = best.ahead_s - before.ahead_s
        has_jumped = abs(jump_s) > best.bound_s + loosened_s
        if has_jumped or best.bound_s <= loosened_s:
            self.best, self._at = best, at
        return jump_s if has_jumped else None

    def forget(self) -> None:
        """Start over, because the requesting clock was set."""
        self.best = None


_MOST = 2.0**53


def is_amount(value: Any) -> bool:
    """Return whether there can be such a number of bytes, seconds or things."""
    return bool(0 <= value < _MOST)


def amount(value: Any) -> float:
    """Return a number of bytes, seconds or things as it is; raise where there can be no such number."""
    if not is_amount(value):
        raise ValueError(f"a number must be at least 0 and below 2**53, got {value}")
    return float(value)


def thread_id(number: Any) -> int:
    """Return the number of a thread as our columns hold it, in 63 bits."""
    if not 0 <= number < 2**64:
        raise ValueError(f"a thread's number must be below 2**64, got {number}")
    # Where addresses carry a tag in their upper bits, so do numbers of threads.
    return int(number) % 2**63


@dataclass(slots=True, eq=False)
class Worker:
    """One worker."""

    address: str
    name: str
    n_threads: int
    clock: WorkerClock
    threads: dict[int, LaneKey] = field(default_factory=dict)
    free_from: dict[int, float] = field(default_factory=dict)
    """When the last task of each thread ended."""
    coroutines_until: list[float] = field(default_factory=list)
    """When the last coroutine of each of their lanes ended."""
    nanny: str = ""
    """Where the nanny listens that restarts it; empty where there is none."""
    measured: float = -math.inf
    """When it last measured itself, by its clock."""

    @property
    def label(self) -> str:
        return self.name if self.name == self.address else f"worker {self.name}"

    def free_lanes(self, n: int) -> list[tuple[LaneKey, float]]:
        """Return the lanes of so many threads, and since when each was free, the longest free first."""
        ended = sorted(self.free_from.items(), key=lambda thread: thread[1])
        free = [(self.threads[thread], since) for thread, since in ended[:n]]
        # Lower numbers than those of lanes without a known thread.
        return free + [(self.lane(-1_000 - number), 0.0) for number in range(len(free) + 1, n + 1)]

    def lane(self, thread: int, stop: float = 0.0) -> LaneKey:
        """Return the lane of a thread, whose last task ended then; threads are numbered as they appear."""
        if stop:
            self.free_from[thread] = max(stop, self.free_from.get(thread, 0.0))
        known = self.threads.get(thread)
        if known is None:
            label = f"{self.label}, thread {len(self.threads) + 1}"
            known = self.threads[thread] = LaneKey(0, thread, label=label, worker=self.address)
        return known

    def coroutine_lane(self, thread: int, start: float, stop: float) -> LaneKey:
        """Return the lane of a coroutine; an event loop runs several at a time, and no two overlap in one."""
        free = self.coroutines_until
        slot = next((i for i, until in enumerate(free) if until <= start), len(free))
        free[slot : slot + 1] = [stop]
        label = f"{self.label}, coroutines {slot + 1}"
        return LaneKey(0, thread, slot=slot + 1, label=label, worker=self.address)


class Workers:
    """All workers that a cluster has had."""

    def __init__(self, scheduler: str, recorder: Recorder) -> None:
        self.recorder = recorder
        self.clocks = HostClocks(scheduler, recorder)
        """The clocks of the machines that they are on."""
        self._known: dict[str, Worker] = {}
        self._present: dict[str, Worker] = {}
        self._paused: set[str] = set()
        self.n_threads = 0
        """How many tasks the present workers run at a time; read on any thread."""
        self.counts = WorkerCounts()

    def come(self, address: str, name: str, n_threads: int, nanny: str = "", moment: float = 0.0) -> Worker:
        """Return a worker that is there from now on."""
        self._drop(address)
        worker = self._present[address] = self.get(address)
        worker.name, worker.n_threads, worker.nanny = name, n_threads, nanny
        self.n_threads += n_threads
        self._count(moment)
        return worker

    def _drop(self, address: str) -> None:
        worker = self._present.pop(address, None)
        self.n_threads -= 0 if worker is None else worker.n_threads

    def leave(self, address: str, moment: float) -> None:
        """Record that a worker has no threads from a moment on, and that nothing of it is known."""
        self._drop(address)
        self.pause(address, moment, is_paused=False)
        self.get(address).measured = -math.inf
        self.record_threads(self.get(address), moment, 0)

    def record_threads(self, worker: Worker, moment: float, n_threads: int) -> None:
        """Record that a worker has so many threads from a moment on, and that nothing was measured."""
        time_s, unknown = self.recorder.seconds(moment), (None,) * 7
        self.recorder.workers.append(WorkerSample(time_s, worker.address, worker.name, n_threads, *unknown))

    def pause(self, address: str, moment: float, *, is_paused: bool) -> None:
        (self._paused.add if is_paused else self._paused.discard)(address)
        self._count(moment)

    def _count(self, moment: float) -> None:
        counts, n, n_paused = self.counts, len(self._present), len(self._paused)
        if (counts.n, counts.n_paused) != (n, n_paused):
            counts.n, counts.n_paused, counts.since = n, n_paused, moment

    def get(self, address: str) -> Worker:
        """Return a worker, which may have left."""
        known = self._known.get(address)
        if known is None:
            clock = WorkerClock(self.clocks, address)
            known = self._known[address] = Worker(address, address, 0, clock)
        return known

    def record_sample(self, worker: Worker, metrics: Mapping[str, Any]) -> None:
        """Record a worker's measurements of itself, unless they were recorded before."""
        found = {name: _number(value) for name, value in metrics.items()}
        worker.name, before = str(metrics["name"]), worker.n_threads
        worker.n_threads = int(found["n_threads"] or 0)
        if worker.address in self._present:
            self.n_threads += worker.n_threads - before
        measured = found.get("time")
        if measured is None or measured <= worker.measured:
            return
        worker.measured = measured
        moment = measured + worker.clock.ahead_s + self.recorder.clock.shift_s()
        rss, held, spilled, tick_s = (found.get(name) for name in ("memory", "managed", "spilled", "tick_s"))
        # The worker counts spilled results, too.
        managed = None if held is None else max(held - (spilled or 0.0), 0.0)
        self.recorder.workers.append(
            WorkerSample(
                time_s=self.recorder.seconds(moment),
                worker=worker.address,
                name=worker.name,
                n_threads=worker.n_threads,
                n_executing=int(found["n_executing"] or 0),
                cpu_percent=found.get("cpu"),
                rss_bytes=rss,
                managed_bytes=managed,
                unmanaged_bytes=None if rss is None or managed is None else max(rss - managed, 0.0),
                spilled_bytes=spilled,
                limit_bytes=found["limit"] or None,
                tick_s=tick_s,
                gil_contention=found.get("gil_contention"),
                net_read_bps=found.get("host_net_io.read_bps"),
                net_write_bps=found.get("host_net_io.write_bps"),
                disk_read_bps=found.get("host_disk_io.read_bps"),
                disk_write_bps=found.get("host_disk_io.write_bps"),
                n_fds=found.get("num_fds"),
                gpu_percent=found.get("gpu_utilization"),
                gpu_bytes=found.get("gpu_memory_used"),
            )
        )


def _number(value: object) -> float | None:
    """Return a number that a worker reports of itself, None where there can be no such number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < _MOST else None


_RETIRED = "retired"
_MOMENT = re.compile(r"-\d+(\.\d+)?$")
"""The end of a stimulus' name."""


class WorkersLife:
    """Records what happens to each worker, and why tasks are lost that it had."""

    def __init__(self, workers: Workers, is_computing: Callable[[], bool]) -> None:
        self._workers = workers
        self._recorder = workers.recorder
        self._is_computing = is_computing
        self._why: dict[str, str] = {}
        """Why a worker is going, by address."""
        self._alone: set[str] = set()
        """Nannies whose worker is gone."""

    def take(self, address: str, moment: float, what: str, details: Any) -> None:
        """Take an event, at a moment on the clock's axis."""
        match what, details:
            case "there", [str(name), str(nanny), int(n_threads)]:
                self._workers.come(address, name, n_threads, nanny, moment)
            case "came", [str(name), str(nanny), int(n_threads)]:
                worker = self._workers.come(address, name, n_threads, nanny, moment)
                self._come(address, moment, nanny)
                self._workers.record_threads(worker, moment, n_threads)
            case "status", [str(before), str(status)]:
                self._change(address, moment, before, status)
            case "killed", float(n_bytes):
                why = f"killed because of its memory ({n_bytes / 2**20:,.0f} MiB)"
                self._why[address] = why
                self._add(address, moment, f"was {why}", "killed")
            case "timed out", float(seconds):
                why = f"timed out: the scheduler had not heard of it for {seconds:g} s"
                self._why[address] = why
                self._add(address, moment, why, "timed out")
            case "closing", str(reason) if address not in self._why:
                self._why[address] = f"closed ({_MOMENT.sub('', reason)})"
            case "gone", bool(is_expected):
                self._workers.leave(address, moment)
                self._go(address, moment, is_expected=is_expected)

    def why_gone(self, address: str, *, is_expected: bool) -> str:
        label, why = self._workers.get(address).label, self._why.get(address)
        return f"{label} {'left' if is_expected else 'died'}" + ("" if why is None else f": {why}")

    def _come(self, address: str, moment: float, nanny: str) -> None:
        if nanny in self._alone:
            self._alone.discard(nanny)
            self._add(address, moment, "was restarted by its nanny", "restarted", "info")
        else:
            self._add(address, moment, "came", "came", "info")

    def _change(self, address: str, moment: float, before: str, status: str) -> None:
        if before == "closing_gracefully":
            # Its data could not be moved to others: it stays.
            self._why.pop(address, None)
        self._workers.pause(address, moment, is_paused=status == "paused")
        if status == "closing_gracefully":
            self._why[address] = _RETIRED
        elif status == "paused":
            self._add(address, moment, "paused: it begins no task until it has memory again", "paused")
        elif (before, status) == ("paused", "running"):
            self._add(address, moment, "runs again", "resumed", "info")

    def _go(self, address: str, moment: float, *, is_expected: bool) -> None:
        nanny, why = self._workers.get(address).nanny, self._why.get(address)
        if nanny:
            self._alone.add(nanny)
        if why == _RETIRED:
            self._add(address, moment, "was retired", "retired", "info")
        elif why is None and not is_expected:
            self._add(address, moment, "died", "died")
        elif why is None or why.startswith("closed"):
            self._add(address, moment, "%s", "left", "info", why or "left")

    def _add(
        self,
        address: str,
        moment: float,
        words: str,
        event: WorkerEvent,
        level: Literal["info", "warning"] = "warning",
        *names: str,
    ) -> None:
        if level == "info" and not self._is_computing():
            return
        label = self._workers.get(address).label
        log, time_s = self._recorder.messages_log, self._recorder.seconds(moment)
        log.add_event(time_s, level, worded(f"%s {words}", label, *names), address, event)
