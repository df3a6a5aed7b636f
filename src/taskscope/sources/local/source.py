"""Record Dask's local schedulers: one run per compute, every task timed where it runs.

Hooks run on the thread that called ``compute``. Their cost is paid per task by the user, so they note only
values that cannot be derived later; and they never raise, except for the user's own interrupt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor
from contextvars import ContextVar
from functools import partial
from itertools import chain, repeat
from threading import get_ident
from typing import Any, TypeAlias

from dask.multiprocessing import RemoteException

from taskscope.model.errortext import describe
from taskscope.model.guard import Guard
from taskscope.model.keys import split_key
from taskscope.options import TaskFacts
from taskscope.record import GraphSource, LaneBuffer, Recorder, RunLog
from taskscope.sources.cell import calling_line, current_cell, current_execution
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.registration import CallbackTuple
from taskscope.sources.local.adapter.scheduler import (
    find_array,
    find_culprit,
    find_scheduler,
    fused_groups,
    in_compute,
    user_functions,
)
from taskscope.sources.local.lines import LineSource, MeteredTask
from taskscope.sources.local.memory import MemorySource, NumberedTask
from taskscope.sources.local.shipped import Sampled, ShippedTimes
from taskscope.sources.local.sizes import measures, result_size
from taskscope.sources.local.timing import TimedTask, current_error, drop_notes
from taskscope.sources.sampled import SentFunctions, counted_cycles

CacheMetric: TypeAlias = Callable[[object], object]
_Graph: TypeAlias = dict[object, Any]
_State: TypeAlias = Mapping[str, Any]

_MAX_DATA_SIZED = 10_000
_NAN = float("nan")
_NOT_RECORDED = "tasks were not recorded: only diagnostics watched that show none"

run_label: ContextVar[str | None] = ContextVar("taskscope_run_label", default=None)
"""The label that computes started in this context get."""


class LocalSource:
    """Feeds a recorder from the hooks of Dask's local schedulers.

    `on_start` and `on_stop` are called on the computing thread with the run's log. After an interrupt
    `on_stop` may be called twice for a run, and `on_start` not at all.
    """

    def __init__(
        self,
        recorder: Recorder,
        on_start: Callable[[object], None] = lambda _run: None,
        on_stop: Callable[[object], None] = lambda _run: None,
    ) -> None:
        self.recorder = recorder
        self.metric: CacheMetric | None = None
        self.lines = LineSource(recorder)
        self.memory = MemorySource(recorder)
        self.interval_s: float | None = None
        """Seconds between samples of tasks in other processes; None: none are taken."""
        self._on_start = on_start
        self._on_stop = on_stop
        self._sent = SentFunctions()
        self._logs = _Logs()
        self._outlived: list[RunLog] = []
        before, after = _pretask(self._logs, recorder), _posttask(self._logs, recorder, self._measure)
        self.callback: CallbackTuple = (self._start, self._start_state, before, after, self._finish)
        self._without_tasks: CallbackTuple = (self._start, self._start_counted, None, None, self._finish)
        self._facts = TaskFacts.ALL
        self._is_attached = False

    def want(self, facts: TaskFacts) -> None:
        """Record this of tasks of computes that start from now on."""
        self._facts = facts
        if self._is_attached:
            self.attach()

    def attach(self) -> None:
        self._is_attached = True
        hooks = self.callback, self._without_tasks
        registration.install(*(hooks if self._facts else reversed(hooks)))

    def detach(self) -> None:
        self._is_attached = False
        registration.uninstall(self.callback)
        registration.uninstall(self._without_tasks)

    def end_abandoned(self) -> None:
        """End the computes of this thread whose end an interrupt has kept from being recorded."""
        abandoned = [dsk for dsk, log in list(self._logs.items()) if log.thread == get_ident()]
        if not abandoned or in_compute():
            return
        for dsk in abandoned:
            log = self._logs[dsk]
            self._logs.remove(dsk)
            log.stop = log.perf_counter()
            log.forget_graph()
            log.status = "interrupted"
            self._close_lane(log)
            if log.shipped is not None:
                log.shipped.close()
            self._on_stop(log)

    def run_of(self, dsk: Mapping[Any, Any]) -> int | None:
        """Return the number of the run that a graph is being computed as, None if it is not recorded."""
        log = self._logs.get(id(dsk))
        return None if log is None else log.run

    def lanes(self) -> list[tuple[int, LaneBuffer]]:
        """Return the lanes of the computes that go on, each with the number of its run."""
        # A task that is in flight when its compute fails goes on.
        logs = [*list(self._logs.values()), *self._outlived]
        return [(log.run, lane) for log in logs for lane in list(log.lanes.values())]

    def _start(self, dsk: _Graph) -> None:
        if id(dsk) in self._logs:
            # A profiler that is a callback of this compute alone has begun it.
            return
        with self.recorder.guard("_start"):
            log = self.recorder.new_log()
            # Registered here before any thread can wait for its end.
            self._logs[id(dsk)] = log
            self.recorder.put(log)
            log.facts = TaskFacts.NOTHING
            scheduler = find_scheduler()
            log.scheduler = scheduler.name
            log.n_workers = scheduler.n_workers
            log.trusts_workers = scheduler.is_local
            log.label = run_label.get()
            log.cell, log.execution_count, log.source_crc = current_cell()
            log.execution = current_execution()
            log.called_from = calling_line()
            log.metric = self.metric
            log.depth_of = partial(self._depth, log)
            self._on_start(log)

    def _start_state(self, dsk: _Graph, state: _State) -> None:
        with self.recorder.guard("_start_state"):
            log = self._logs[id(dsk)]
            _count_tasks(log, state)
            self._record_tasks(log, dsk)
            if not log.facts:
                return
            fused = fused_groups(dsk, state["ready"])
            self.recorder.note_fused(fused)
            log.array = find_array({*fused, *chain.from_iterable(map(str.split, fused.values()))})
            functions, codes = user_functions(dsk)
            if log.shipped is not None:
                self._sent.add(log.run, codes)
            n_sized = _MAX_DATA_SIZED if log.facts is TaskFacts.ALL else 0
            log.graph_source = _graph_source(state, functions, n_sized)

    def _start_counted(self, dsk: _Graph, state: _State) -> None:
        with self.recorder.guard("_start_state"):
            _count_tasks(self._logs[id(dsk)], state)
            self.recorder.messages_log.add("info", _NOT_RECORDED)

    def _record_tasks(self, log: RunLog, dsk: _Graph) -> None:
        log.facts = self._facts
        cpu, sizes = repeat(_NAN).__next__, None
        if log.facts is TaskFacts.ALL:
            cpu, sizes = log.thread_time, measures
            log.lines = self.lines if self.lines.meter is not None else None
            if self.memory.is_recording:
                self._record_memory(log)
        if log.facts and log.trusts_workers:
            log.kind = NumberedTask if log.memory else MeteredTask if log.lines else TimedTask
        if log.facts and log.scheduler == "processes":
            sought = self.lines.sought if log.lines else None
            take = partial(self._take_samples, log.run, log.start)
            log.shipped = ShippedTimes(log, self.interval_s, take, sought)
        # Tasks whose lines are measured need their wrapper after they have run.
        keep = log.spare.append if log.kind is TimedTask else bool
        log.needed_by_tasks = log.lanes, log.perf_counter, cpu, sizes, dsk, keep

    def _record_memory(self, log: RunLog) -> None:
        if log.trusts_workers and log.scheduler != "processes":
            log.memory = self.memory
        else:
            self.memory.refuse("tasks of other processes allocate it there; use threads, or synchronous")

    def _take_samples(
        self, run: int, start: float, key: object, worker: int, shift_s: float, sampled: Sampled
    ) -> None:
        with self.recorder.guard("taking in samples of another process"):
            prefix = split_key(key)[1]
            stacks = [row for _, *row in sampled["stacks"]]
            cycles = counted_cycles(self._sent, sampled["functions"], stacks, run, prefix, str(worker))
            for at, counted in cycles.items():
                self.recorder.hand_over_samples(self.recorder.seconds(max(at + shift_s, start)), run, counted)

    def _measure(self, metric: CacheMetric, result: object) -> float:
        with Guard("the cache metric", self._warn_of_metric):
            value = metric(result)
            return _NAN if value is None else float(value)  # type: ignore[arg-type]  # any value of the user's function
        return _NAN

    def _warn_of_metric(self, name: str, error: BaseException) -> None:
        self.recorder.warn(f"{name} failed and gave no value: %s", error)

    def _finish(self, dsk: _Graph, state: _State, failed: bool) -> None:  # noqa: FBT001 - Dask calls it so
        log = self._logs.get(id(dsk))
        if log is not None:
            with self.recorder.guard("_finish"):
                self._end(log, state, failed=failed)
            self._logs.remove(id(dsk))

    def _end(self, log: RunLog, state: _State, *, failed: bool) -> None:
        # After an interrupt this begins anew, up to where it was over for good.
        if log.stop is None:
            stop = log.perf_counter()
            with self.recorder.guard("_finish"):
                self._close_lane(log)
                if failed:
                    self._fail(log, state, stop)
                else:
                    log.status = "finished"
            log.stop = stop
        log.forget_graph()
        if log.shipped is not None:
            log.shipped.close()
        self._on_stop(log)

    def _close_lane(self, log: RunLog) -> None:
        # No task of it runs in this thread; an interrupt may have kept its row from being closed.
        lane = log.lanes.get(get_ident())
        if lane is not None:
            lane.open = None

    def _fail(self, log: RunLog, state: _State, stop: float) -> None:
        self._outlived = [o for o in dict.fromkeys([*self._outlived, log]) if o.in_flight()]
        error = current_error()
        log.status = "interrupted" if isinstance(error, KeyboardInterrupt) else "erred"
        if log.shipped is not None:
            log.shipped.read()
        culprit: list[object] = []
        if error is not None:
            drop_notes(error)
            log.error = describe(_as_raised(error))
            culprit = find_culprit(error, () if log.failed_keys else log.submitted)
        lost = isinstance(error, BrokenExecutor)
        if lost and log.shipped is not None and self.interval_s is not None:
            self.recorder.warn("a process was killed: the samples of its tasks are lost")
        for key in list(state.get("running", ())):
            if lost:
                log.end_unreported(key, stop, "lost")
            elif key in culprit and log.status == "erred":
                if log.shipped is not None and log.error is not None:
                    log.shipped.failed(key, log.error)
                log.end_unreported(key, stop, "erred", log.error)
            else:
                log.end_unreported(key, stop, "interrupted")

    def _depth(self, log: RunLog, ident: int) -> int:
        # A task that is in flight when its compute fails goes on, and may compute something itself.
        logs = [*list(self._logs.values()), *self._outlived]
        others = [other.lanes.get(ident) for other in logs if other is not log]
        return sum(1 for lane in others if lane is not None and lane.open is not None)


_Before: TypeAlias = tuple[_Graph | None, Any, type | None, list[Any]]
"""A graph, its log, the wrapper of its tasks, and spare ones."""
_After: TypeAlias = tuple[_Graph | None, Any, list[object] | None, object]
"""A graph, its log, the list of landings, and what is true where tasks were sent or results are measured."""
_NO_GRAPH: tuple[_Before, _After] = (None, None, None, []), (None, None, None, False)


class _Logs(dict[int, RunLog]):
    """The logs of the computes that go on, by the identity of their graph."""

    def __init__(self) -> None:
        super().__init__()
        self.before: list[_Before] = [_NO_GRAPH[0]]
        """One item: what the hook before tasks needs of the graph that a hook was last called for."""
        self.after: list[_After] = [_NO_GRAPH[1]]

    def of(self, dsk: _Graph) -> tuple[_Before, _After]:
        log = self[id(dsk)]
        landed = log.landed if log.facts >= TaskFacts.LANDINGS else None
        settles = log.submitted if log.metric is None or not log.facts else True
        before, after = (dsk, log, log.kind, log.spare), (dsk, log, landed, settles)
        self.before[0], self.after[0] = before, after
        return before, after

    def remove(self, dsk: int) -> None:
        self.pop(dsk, None)
        self.before[0], self.after[0] = _NO_GRAPH


def _pretask(logs: _Logs, recorder: Recorder) -> Callable[..., None]:
    """Return the hook before each task; a closure, as each attribute looked up costs the user."""
    latest = logs.before

    def pretask(key: object, dsk: _Graph, _state: _State) -> None:
        try:
            of, log, kind, spare = latest[0]
            if of is not dsk:
                _, log, kind, spare = logs.of(dsk)[0]
            if kind is not None:
                # Here, as each call costs the user.
                if spare:
                    task = spare.pop()
                else:
                    task = kind()
                    task.log = log
                task.key = key
                task.inner = dsk[key]
                dsk[key] = task
            elif log.facts:
                log.submitted[key] = log.perf_counter()
        except Exception as error:  # noqa: BLE001 - runs for each task, where a guard costs more
            recorder.fault("pretask", error)

    return pretask


def _posttask(
    logs: _Logs, recorder: Recorder, measure: Callable[[CacheMetric, object], float]
) -> Callable[..., None]:
    """Return the hook after each task; a closure, as each attribute looked up costs the user."""
    latest, perf_counter = logs.after, recorder.clock.perf_counter

    def posttask(key: object, result: object, dsk: _Graph, _state: _State, _worker: object) -> None:
        try:
            of, log, landed, settles = latest[0]
            if of is not dsk:
                _, log, landed, settles = logs.of(dsk)[1]
            if landed is not None:
                landed += (key, perf_counter())
            if settles:
                if type(dsk[key]) is log.kind:
                    # It ran in another process.
                    dsk[key] = dsk[key].inner
                _settle(log, key, result, perf_counter(), measure)
        except Exception as error:  # noqa: BLE001 - runs for each task, where a guard costs more
            recorder.fault("posttask", error)

    return posttask


def _count_tasks(log: RunLog, state: _State) -> None:
    log.before["order_s"] = log.perf_counter() - log.start
    log.n_tasks = len(state["ready"]) + len(state["waiting"])


def _settle(
    log: RunLog, key: object, result: object, now: float, measure: Callable[[CacheMetric, object], float]
) -> None:
    if log.shipped is not None:
        log.shipped.landed(key)
    log.end_unreported(key, now, "finished")
    if log.metric is not None:
        log.values.extend((key, measure(log.metric, result)))


def _as_raised(error: BaseException) -> BaseException:
    """Return the worker's error, which Dask wraps where it cannot send the traceback along (no tblib)."""
    raised = error.exception if isinstance(error, RemoteException) else None
    return raised if isinstance(raised, BaseException) else error


def _graph_source(state: _State, functions: Mapping[object, str | None], n_sized: int) -> GraphSource:
    scheduler = find_scheduler()
    kept = scheduler.requested
    if kept is None:
        kept = frozenset(k for k, dependents in state["dependents"].items() if not dependents)
    dependencies = state["dependencies"]
    if not isinstance(dependencies, dict):
        # Dask before 2025.4 reads them from the graph, which must not be kept alive with all its arguments.
        dependencies = dict(dependencies)
    cache = state["cache"]
    data = {
        key: result_size(cache[key]) if place < n_sized else _NAN
        for place, key in enumerate(k for k in cache if k in dependencies)
    }
    return GraphSource(dependencies, kept, data, functions=functions)
