"""Functions that run on workers: each gets the worker as ``dask_worker`` and returns plain values.

They travel as code, with the message behind ``Client.run``: they need nothing of taskscope there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


def _sent_as_code(function: _Function) -> _Function:
    """Have it not travel as the name of a module that workers may not have."""
    function.__module__ = "__main__"
    return function


@_sent_as_code
def logged_transfers(since: float, dask_worker: Any = None) -> list[list[Any]]:
    """Return the entries of its two logs that ended after `since`, by its own clock."""

    def packed(e: Any) -> Any:
        try:
            if e["stop"] <= since:
                return None
            keys = [key if len(str(key)) <= 500 else str(key)[:500] for key in list(e["keys"])[:8]]
            return e["start"], e["stop"], e["who"], e["total"], e.get("compressed"), len(e["keys"]), keys
        except Exception as error:  # noqa: BLE001 - runs on a worker, whose log any code can append to
            return type(error).__name__

    logs = (dask_worker.transfer_incoming_log, dask_worker.transfer_outgoing_log)
    return [[p for p in map(packed, list(log)) if p is not None] for log in logs]


@_sent_as_code
def counted_calls(
    since: float,
    with_last: bool,  # noqa: FBT001 - functions that are sent are called with positional arguments only
    dask_worker: Any = None,
) -> list[tuple[float, bool, Any]]:
    """Return when cycles after `since` ended, whether they have, and calls by prefix."""

    def packed(tree: Any) -> list[tuple[int, Any, Any]]:
        # Flat, for stacks may be deeper than a message can be: the depth of each call, those below it next.
        rows: list[tuple[int, Any, Any]] = []
        waiting = [(0, tree)]
        while waiting and len(rows) < 20_000:
            depth, call = waiting.pop()
            rows.append((depth, call["identifier"], call["count"]))
            waiting += [(depth + 1, child) for child in reversed(list(call["children"].values()))]
        return rows

    cycles = [(at, True, trees) for at, trees in list(dask_worker.profile_keys_history) if at > since]
    if with_last:
        cycles.append((math.inf, False, dict(dask_worker.profile_keys)))
    return [(at, over, {key: packed(tree) for key, tree in trees.items()}) for at, over, trees in cycles]


@_sent_as_code
def metered_seconds(  # noqa: C901 - what travels is in one piece
    dask_worker: Any = None,
) -> tuple[float, list[str], list[tuple[str, str, str, float]], list[tuple[float, int, int]]]:
    """Return what it has metered of executing tasks, and how often their interpreter's lock was held.

    That is the time, which tasks it has not booked, and prefix, activity, unit and sum of all it has. Looks
    at the lock are those since the last answer while tasks ran, added up by quarters of a second: how long
    ago these were, how many, and at how many of them another thread had it. A thread looks while this is
    asked again within seconds.
    """
    import os
    import threading
    from time import perf_counter

    from distributed.metrics import time

    place, every_s, lasts_s, held_s = "taskscope_lock_1", 0.025, 10.0, 0.0002
    most = 200

    class Probe:
        """Wakes up late by the time that it waited for the lock, and for a core: the kernel counts that."""

        def __init__(self) -> None:
            self.looks: dict[int, list[int]] = {}
            self.until = perf_counter() + lasts_s
            threading.Thread(target=self.run, name="taskscope-lock", daemon=True).start()

        def run(self) -> None:
            try:
                account = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
            except OSError:
                return
            try:
                self.look_on(account)
            except Exception:  # noqa: BLE001 - the worker has nothing to do with it
                self.looks = {}
            finally:
                os.close(account)
                if vars(dask_worker).get(place) is self:
                    del vars(dask_worker)[place]

        def look_on(self, account: int) -> None:
            waiting, queued_s = threading.Event(), math.inf
            over = {"closing", "closed", "failed"}
            while perf_counter() < self.until and getattr(dask_worker.status, "name", "") not in over:
                due = perf_counter() + every_s
                waiting.wait(every_s)
                late_s = perf_counter() - due
                now_s = int(os.pread(account, 64, 0).split()[1]) / 1e9
                if getattr(dask_worker, "active_threads", None) and queued_s < math.inf:
                    look = self.looks.setdefault(int(due * 4), [0, 0])
                    look[0] += 1
                    look[1] += late_s - (now_s - queued_s) > held_s
                    if len(self.looks) > most:
                        del self.looks[min(self.looks)]
                queued_s = now_s

        def take(self) -> list[tuple[float, int, int]]:
            self.until = perf_counter() + lasts_s
            found, self.looks = self.looks, {}
            return [(perf_counter() - (at + 0.5) / 4, n, held) for at, (n, held) in found.items()]

    probe = vars(dask_worker)[place] = vars(dask_worker).get(place) or Probe()
    sums: dict[tuple[str, str, str], float] = {}
    for name, value in list(getattr(dask_worker, "digests_total", {}).items()):
        # The second is the span, which may have any number of values.
        if isinstance(name, tuple) and len(name) == 5 and name[0] == "execute":
            which = str(name[2])[:500], str(name[3])[:500], str(name[4])[:20]
            if which in sums or len(sums) < 20_000:
                sums[which] = sums.get(which, 0.0) + float(value)
    state = getattr(dask_worker, "state", None)
    executing = [*getattr(state, "executing", ()), *getattr(state, "long_running", ())]
    return (
        time(),
        [str(task.key)[:500] for task in executing],
        [(*which, value) for which, value in sums.items()],
        probe.take(),
    )


@_sent_as_code
def running_threads(dask_worker: Any = None) -> list[tuple[int, Hashable, float | None]]:
    """Return the threads that run something, what, and since when by its own clock."""
    with dask_worker.active_threads_lock:
        running = list(dask_worker.active_threads.items())
    tasks = dask_worker.state.tasks
    return [(thread, key, getattr(tasks.get(key), "start_time", None)) for thread, key in running]


@_sent_as_code
async def scheduler_times(op: str, n: int, dask_worker: Any = None) -> list[tuple[float, float, float]]:
    """Return when each request for the scheduler's time was sent, that time, and when it arrived."""
    from time import perf_counter

    from distributed.metrics import time

    found = []
    for _ in range(n):
        began, at = perf_counter(), time()
        there = await getattr(dask_worker.scheduler, op)()
        found.append((at, there, at + perf_counter() - began))
    return found


@_sent_as_code
def sampled_lines(  # noqa: C901 - what travels is in one piece
    name: str, interval_s: float, lasts_s: float, dask_worker: Any = None
) -> dict[str, list[Any]]:
    """Return the samples of tasks since the last call with `name`, and sample for so many seconds more.

    One thread of a worker samples for all names. It ends when there was no call for so long.
    """
    import sys
    import threading
    from time import clock_gettime, perf_counter, thread_time

    from dask.utils import key_split

    runs_tasks, sooner_s, most = "_run_task_simple", 0.0005, 20_000
    place = "taskscope_lines_1"
    plumbing = ("dask/_task_spec.py", "dask/optimization.py", "dask/core.py")

    class Sampler:
        def __init__(self) -> None:
            self.lock = threading.Lock()
            self.readers: dict[str, list[Any]] = {}
            """Until when, how often, and the sums since the last call, by name."""
            self.thread: threading.Thread | None = None
            self.calls: dict[Any, Any] = {}
            self.cpu: dict[int, tuple[float, float]] = {}
            self.switch_s = 0.0

        def take(self, who: str, every_s: float, more_s: float) -> dict[Any, list[float]]:
            with self.lock:
                _, _, sums = self.readers.pop(who, (0, 0, {}))
                if more_s > 0:
                    vars(dask_worker)[place] = self
                    self.readers[who] = [perf_counter() + more_s, every_s, {}]
                    if self.thread is None:
                        self.thread = threading.Thread(target=self.run, name="taskscope-lines", daemon=True)
                        self.thread.start()
            return dict(sums)

        def run(self) -> None:
            try:
                self.sample_on()
            except Exception:  # noqa: BLE001 - runs on a worker, in a thread without a recorder
                self.readers.clear()
            finally:
                with self.lock:
                    # Another may have begun since the last call.
                    if self.thread in (None, threading.current_thread()):
                        self.thread = None
                        self.switch(is_sooner=False)
                        self.calls.clear()
                        self.cpu.clear()
                        vars(dask_worker).pop(place, None)

        def sample_on(self) -> None:
            waiting, before, pause_s, n = threading.Event(), perf_counter(), 0.0, 0
            while True:
                waiting.wait(pause_s)
                now, busy = perf_counter(), thread_time()
                with self.lock:
                    readers = self.readers_at(now)
                    if not readers:
                        self.thread = None
                        return
                self.sample(readers, now, now - before)
                n, before = n + 1, now
                # Never in lock-step with tasks, and two percent of a core at most.
                wanted_s = min(reader[1] for reader in readers) * (0.5 + n * 0.6180339887498949 % 1)
                pause_s = max(wanted_s, (thread_time() - busy) / 0.02)

        def readers_at(self, now: float) -> list[Any]:
            self.readers = {who: r for who, r in self.readers.items() if r[0] > now}
            return list(self.readers.values())

        def sample(self, readers: list[Any], now: float, seconds: float) -> None:
            with dask_worker.active_threads_lock:
                running = dict(dask_worker.active_threads)
            self.switch(is_sooner=len(running) < 2)
            if not running:
                return
            frames = sys._current_frames()
            for thread, key in running.items():
                cpu_s, known_s = self.cpu_of(thread, now, seconds)
                calls = self.calls_of(frames.pop(thread, None))
                # The stack of a task that has just ended is not the task's.
                if calls is None or dask_worker.active_threads.get(thread) is not key:
                    continue
                seen = str(key_split(key))[:500], now // 1.0, calls
                for _, _, sums in readers:
                    if len(sums) < most or seen in sums:
                        old = sums.get(seen, (0, 0.0, 0.0, 0.0, 0.0))
                        new = (1, seconds, seconds * seconds, cpu_s, known_s)
                        sums[seen] = [a + b for a, b in zip(old, new, strict=True)]

        def cpu_of(self, thread: int, now: float, seconds: float) -> tuple[float, float]:
            native = getattr(threading._active.get(thread), "native_id", None)  # type: ignore[attr-defined]
            if native is None or not sys.platform.startswith("linux"):
                return 0.0, 0.0
            try:
                cpu_s = clock_gettime((~native << 3) | 6)
            except OSError:
                return 0.0, 0.0
            at, earlier_s = self.cpu.get(thread, (now, cpu_s))
            self.cpu[thread] = now, cpu_s
            return (min((cpu_s - earlier_s) / (now - at), 1.0) * seconds, seconds) if now > at else (0.0, 0.0)

        def calls_of(self, frame: Any) -> Any:
            stack = []
            while frame is not None:
                stack.append((frame.f_code, frame.f_lasti))
                frame = frame.f_back
            # The outermost: a task may compute something itself.
            while stack and stack[-1][0].co_name != runs_tasks:
                stack.pop()
            if not stack:
                return None
            stack.pop()
            while stack and stack[-1][0].co_filename.replace("\\", "/").endswith(plumbing):
                stack.pop()
            return tuple(self.call(code, offset) for code, offset in stack[-256:])

        def call(self, code: Any, offset: int) -> Any:
            known = self.calls.get((id(code), offset))
            if known is None:
                lines = (line for first, stop, line in code.co_lines() if first <= offset < stop)
                line = next(lines, None) or code.co_firstlineno
                called = code.co_qualname, code.co_filename, code.co_firstlineno, line
                # The code is kept, so that no other gets its identity.
                known = self.calls[id(code), offset] = code, called
            return known[1]

        def switch(self, *, is_sooner: bool) -> None:
            # While one thread computes: it releases the lock that long after another thread requests it.
            if is_sooner and not self.switch_s and sys.getswitchinterval() > sooner_s:
                self.switch_s = sys.getswitchinterval()
                sys.setswitchinterval(sooner_s)
            elif not is_sooner and self.switch_s:
                if sys.getswitchinterval() <= sooner_s:
                    sys.setswitchinterval(self.switch_s)
                self.switch_s = 0.0

    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return {"functions": [], "stacks": []}
    sampler = vars(dask_worker).get(place) or Sampler()
    found = sampler.take(name, interval_s, lasts_s)
    functions: dict[Any, int] = {}
    stacks = [
        (
            prefix,
            perf_counter() - at,
            [(functions.setdefault(call[:3], len(functions)), call[3]) for call in calls],
            *sums,
        )
        for (prefix, at, calls), sums in found.items()
    ]
    return {"functions": list(functions), "stacks": stacks}


def counted_lines(  # noqa: C901 - what travels is in one piece
    name: str, sought: Any, lasts_s: float, seen: Any, source: str | None, dask_worker: Any = None
) -> dict[str, Any] | None:
    """Return the lines' sums of tasks that ended since the last call with `name`, and count on for a while.

    Sums are by task: its key, and the rows of `TaskLines`, numbered by answer. Rows above the number in
    `seen` are sent again, as an answer may be lost. `is_new`: nothing is known of tasks before. None: the
    meter's source is missing there.
    """
    import sys
    import threading
    from time import perf_counter

    most_rows, there, place = 100_000, sys.modules["distributed.worker"], "taskscope_counters_1"

    class Counter:
        """The meter, and which task each thread of these workers runs."""

        def __init__(self, source: str) -> None:
            self.source = source
            names: dict[str, Any] = {"__name__": "taskscope_line_meter"}
            exec(compile(source, "taskscope/sources/line_meter.py", "exec"), names)  # noqa: S102 - our own source
            self.task_lines = names["TaskLines"]
            self.lock = threading.Lock()
            self.workers: tuple[Any, ...] = ()
            self.doing: dict[int, Any] = {}
            self.ended: dict[str, list[Any]] = {}
            self.given: dict[str, list[Any]] = {}
            """Rows that were sent, whose answer may be lost."""
            self.n_rows = self.n_lost = 0
            self.fault: str | None = None
            self.sought = sought
            self.until = perf_counter() + lasts_s
            self.changed = threading.Event()
            self.is_on = True
            self.meter = names["LineMeter"](self.note, self)

        def begin(self) -> str | None:
            refusal: str | None = self.meter.open()
            if refusal is None:
                self.meter.seek(sought)
                threading.Thread(target=self.end, name="taskscope-counts", daemon=True).start()
            return refusal

        def note(self, error: BaseException) -> None:
            self.fault = f"{type(error).__name__}: {error}"[:500]

        def end(self) -> None:
            while self.is_on:
                self.changed.wait(max(self.until - perf_counter(), 0.0))
                with self.lock:
                    self.changed.clear()
                    self.is_on = self.until > perf_counter()
            known = vars(there).get(place, {})
            if known.get(name) is self:
                del known[name]
            if not known:
                vars(there).pop(place, None)
            self.meter.close()

        def go_on(self, more_s: float) -> bool:
            with self.lock:
                self.until = perf_counter() + more_s
                self.changed.set()
                return self.is_on

        # Called by the meter for each line ------------------------------------------------------------

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
            if rows and self.n_rows < most_rows:
                self.n_rows += len(rows)
                self.ended.setdefault(known[1].address, []).append((known[0], rows))
            elif rows:
                self.n_lost += 1

        def take(self, worker: Any, last: float) -> dict[str, Any]:
            with self.lock:
                return self.taken(worker, last)

        def taken(self, worker: Any, last: float) -> dict[str, Any]:
            is_new = worker not in self.workers
            if is_new:
                self.workers = (*self.workers, worker)
            for thread, (key, other, _) in list(self.doing.items()):
                if other is worker and worker.active_threads.get(thread, self) is not key:
                    self.put_away(self.doing.pop(thread))
            n_lost, self.n_lost = self.n_lost, 0
            address = worker.address
            given = [*self.given.get(address, []), (perf_counter(), self.ended.pop(address, []))]
            self.n_rows -= sum(len(rows) for at, tasks in given if at <= last for _, rows in tasks)
            self.given[address] = given = [each for each in given if each[0] > last]
            self.meter.forget_sent([lines for _, _, lines in self.doing.values()])
            return {"given": given, "is_new": is_new, "n_lost": n_lost, "fault": self.fault}

    last = seen.get(dask_worker.address, 0.0)
    counter: Counter | None = vars(there).get(place, {}).get(name)
    if counter is not None and counter.sought == sought and counter.go_on(lasts_s):
        return counter.take(dask_worker, last)
    if counter is not None:
        source = counter.source
    elif source is None and lasts_s > 0:
        return None
    # Other functions are named now, or it has just ended: it has its own counts.
    before: dict[str, Any] = {"given": [], "is_new": False, "n_lost": 0, "fault": None}
    if counter is not None:
        before = counter.take(dask_worker, last)
        counter.until = 0.0
        counter.changed.set()
    if source is None or lasts_s <= 0:
        return before
    counter = Counter(source)
    refusal = counter.begin()
    if refusal is not None:
        return {"refusal": refusal}
    vars(there).setdefault(place, {})[name] = counter
    counter.given[dask_worker.address] = before["given"]
    return counter.take(dask_worker, last)


# It travels as code, not as the name of a module that workers may not have.
counted_lines.__module__ = "__main__"
