"""Count and time lines of named functions on a worker, while somebody asks for it.

What is sent is this function, once with the source of `taskscope.sources.line_meter`: a worker needs nothing
of taskscope. Each kernel that asks has one meter in each process of workers, which ends by itself when it was
not asked for so long.
"""

from __future__ import annotations

from typing import Any

__all__ = ["counted_lines"]


def counted_lines(  # noqa: C901 - what travels is in one piece
    name: str, sought: Any, lasts_s: float, seen: Any, source: str | None, dask_worker: Any = None
) -> dict[str, Any] | None:
    """Return what lines took in tasks that ended since `name` asked, and count for so many seconds more.

    That is by task: its key, and the rows of `TaskLines`, with a number for all that were given together.
    Those above the number in `seen` are given again, as an answer may be lost. `is_new` says that of tasks
    before nothing is known. None: the source of the meter is needed, and not there.
    """
    import sys
    import threading
    from time import perf_counter

    most_rows, there, place = 100_000, sys.modules["distributed.worker"], "taskscope_counters_1"

    class Counter:
        """The meter, and what it has to know: which task each thread of these workers runs."""

        def __init__(self, source: str) -> None:
            self.source = source
            names: dict[str, Any] = {"__name__": "taskscope_line_meter"}
            exec(compile(source, "taskscope/sources/line_meter.py", "exec"), names)  # noqa: S102 - it is ours
            self.task_lines = names["TaskLines"]
            self.lock = threading.Lock()
            self.workers: tuple[Any, ...] = ()
            self.doing: dict[int, Any] = {}
            self.ended: dict[str, list[Any]] = {}
            self.given: dict[str, list[Any]] = {}
            """What was, and may be lost."""
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

        # What the meter asks, at each line ------------------------------------------------------------

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
    # Others are sought now, or it has ended meanwhile: it knows what it has counted.
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
