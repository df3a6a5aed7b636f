"""The profilers of ``dask.diagnostics``, with the workers' times."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import dask.diagnostics
import numpy as np
from dask.diagnostics.profile import CacheData, ResourceData, TaskData
from numpy.typing import NDArray

from taskscope.diagnostics.callback import Callback
from taskscope.diagnostics.drawing import drawn_together, visualize
from taskscope.diagnostics.of_2015 import EndCallback, Get, Rows, StartCallback
from taskscope.errors import OptionError
from taskscope.model.guard import Guard
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import RowBlock
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import FINISHED, flag_codes
from taskscope.options import DiagnosticOptions, Options, TaskFacts
from taskscope.record import Recorder
from taskscope.recording import Recording
from taskscope.report.figures import draw_cache, draw_resources, draw_tasks
from taskscope.session import current
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.registration import CallbackTuple
from taskscope.sources.local.adapter.scheduler import find_callbacks, is_nested

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM
    from bokeh.plotting import figure

CacheMetric: TypeAlias = Callable[[Any], object]
_Graph: TypeAlias = Mapping[Any, Any]

_CLUSTERS_KEYS: frozenset[type] = frozenset({str, tuple})


class RecordedProfiler(Callback):
    """A profiler that records while it is entered or registered."""

    def __init__(self, options: Options, measure: Callable[..., None] | None = None) -> None:
        self._options = options
        self._lock = threading.RLock()
        self._owners: set[object] = set()
        self._parts: list[RecordedData] = []
        self._first_run = 0
        self._start_s = 0.0
        self._cleared_s = -math.inf
        self._computes: dict[int, _Graph] = {}
        """The graphs of computes that neither a task nor a hook of another one started; empty on clusters."""
        self._with_source: set[int] = set()
        """Graphs whose compute has this profiler, but not the session, among its callbacks."""
        self._hooks: CallbackTuple = (self._seen, None, None, measure, None)
        self._results = Rows()
        self._results_state: tuple[object, ...] = ()
        self._pickled_origin: float | None = None
        """The origin of the process that a pickled copy is of."""
        self.start_time: float | None = None
        self.end_time: float | None = None

    @property
    def recorder(self) -> Recorder:
        return current().recorder

    @property
    def origin(self) -> float:
        """The time of ``time.perf_counter`` that recorded times are after."""
        return self.recorder.origin if self._pickled_origin is None else self._pickled_origin

    def __getstate__(self) -> dict[str, Any]:
        """Return rows, recording and times: a pickled copy has them, and watches nothing."""
        with self._lock:
            state = {
                **self.__dict__,
                "_results": self.results,
                "_parts": [self._recorded()],
                "_results_state": (1, self._cleared_s, frozenset()),
                "_pickled_origin": self.origin,
                "_computes": {},
                "_with_source": set(),
                "_owners": set(),
                "_entries": [],
            }
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock(), _results=Rows(state["_results"]))

    @property
    def recording(self) -> Recording:
        """Everything that was recorded while this profiler watched, failed and interrupted tasks included."""
        return Recording.of(self._recorded())

    @property
    def results(self) -> Rows:
        """The rows, as in ``dask.diagnostics``, also when called; the same list until there are new ones."""
        state = self._state()
        if state != self._results_state:
            self._results, self._results_state = Rows(self._rows()), state
        return self._results

    def _rows(self) -> Iterator[Any]:
        raise NotImplementedError

    def _begin(self, owner: object) -> None:
        if self._blocks() == [owner]:
            # The outermost block begins afresh, a registration goes on.
            self.clear()
        if self.start_time is None:
            self.start_time = time.perf_counter()
        self._open(owner)

    def _end(self, owner: object) -> None:
        if owner in self._owners:
            self._close(owner)
            self.end_time = time.perf_counter()

    def _open(self, owner: object) -> None:
        with self._lock:
            if not self._owners:
                self._first_run, self._start_s = self.recorder.next_run, self.recorder.now_s()
            self._owners.add(owner)
            current().hold(self, self._options)
            # After the source's hooks, which number a compute.
            registration.install(self._hooks)

    def _close(self, owner: object) -> None:
        with self._lock:
            if self._owners == {owner}:
                self._parts.append(self._snapshot())
            self._owners.discard(owner)
            if not self._owners:
                registration.uninstall(self._hooks)
                current().release(self)

    def clear(self) -> None:
        """Drop all rows; tasks of a running compute that end afterwards are still recorded."""
        with self._lock:
            self._parts.clear()
            self._cleared_s = self.recorder.now_s()
            running = {run.run: run.start_s for run in self.recorder.runs() if run.stop_s is None}
            self._computes = {run: seen for run, seen in self._computes.items() if run in running}
            self._first_run = min(self._computes, default=self.recorder.next_run)
            self._start_s = min((running[run] for run in self._computes), default=self._cleared_s)
        self._results, self._results_state = Rows(), ()
        self._pickled_origin = None
        self.start_time = time.perf_counter() if self._owners else None
        self.end_time = None

    def _recorded(self) -> RecordedData:
        with self._lock:
            is_whole = self._parts and not self._owners
            return reduce(_joined, self._parts if is_whole else [*self._parts, self._snapshot()])

    def _state(self) -> tuple[object, ...]:
        """Return a value that changes with each new row."""
        with self._lock:
            now: tuple[object, ...] = (len(self._parts), self._cleared_s, frozenset(self._owners))
            if self._owners:
                self.recorder.pull_all()
                now += (self.recorder.version, self.recorder.cursor)
            return now

    def _snapshot(self) -> RecordedData:
        session, recorder = current(), self.recorder
        now = recorder.next_run, recorder.now_s()
        first_run, start_s = (self._first_run, self._start_s) if self._owners else now
        session.cluster.settle()
        for run in recorder.runs(first_run):
            if run.is_on_cluster and run.run not in self._computes:
                self._computes[run.run] = {}
                if self._hooks[3] is not None:
                    recorder.warn("results stay on the workers, so the cache metric gave them no value")
        last_run, stop_s = max(recorder.next_run - 1, 0), recorder.now_s()
        metadata = session.metadata()
        return recorder.snapshot(first_run, last_run, start_s=start_s, stop_s=stop_s, metadata=metadata)

    def _graphs(self, recording: RecordedData) -> list[tuple[int, _Graph]]:
        return [(run, graph) for run, graph in self._computes.items() if run in recording.graphs]

    def _keys(self, recording: RecordedData, run: int, tasks: NDArray[np.integer]) -> list[Any]:
        """Return the keys of tasks of a compute as the objects that they were."""
        columns = recording.graphs[run]
        names = [recording.groups[i].name for i in columns.group[tasks].tolist()]
        kinds = frozenset(map(type, self._computes[run])) or _CLUSTERS_KEYS
        return list(columns.keys.take(tasks).iter_keys(names, kinds))

    # Called by Dask's schedulers ---------------------------------------------------------------------------

    def _seen(self, dsk: _Graph) -> None:
        with self.recorder.guard("a profiler's start"):
            run = current().source.run_of(dsk)
            if run is not None and run not in self._computes and not is_nested():
                self._computes[run] = dsk
                # In a compute with several explicit profilers, the first one begins the run.
                self._first_run = min(self._first_run, run)

    @property
    def _callback(self) -> CallbackTuple:
        """The hooks for ``dask.callbacks.add_callbacks`` and ``compute(callbacks=…)``."""
        return (self._explicit_start, *(partial(self._explicit, hook) for hook in range(1, 5)))

    def _explicit_start(self, dsk: _Graph) -> None:
        self._open(id(dsk))
        source = current().source
        # A compute that began while no task was to be recorded lacks the hooks of tasks.
        is_called = source.callback[2] in [callback[2] for callback in find_callbacks()]
        if not is_called and source.run_of(dsk) is None:
            self._with_source.add(id(dsk))
            source.callback[0](dsk)  # type: ignore[misc]  # the source has all five hooks

    def _explicit(self, hook: int, *arguments: Any) -> None:
        """Call the session's hook where Dask does not, then this profiler's."""
        dsk = arguments[{2: 1, 3: 2}.get(hook, 0)]
        if id(dsk) in self._with_source:
            current().source.callback[hook](*arguments)  # type: ignore[misc]  # the source has all five hooks
        if hook == 1:
            self._seen(dsk)
        elif hook == 3 and self._hooks[3] is not None:
            self._hooks[3](*arguments)
        elif hook == 4:
            self._with_source.discard(id(dsk))
            self._close(id(dsk))

    # Drawing ----------------------------------------------------------------------------------------------

    def visualize(self, **options: Any) -> LayoutDOM:
        """Show, and outside of notebooks save, the plot; see `taskscope.diagnostics.visualize`."""
        return visualize(self, **options)

    def _plot(self, **options: Any) -> LayoutDOM:
        return drawn_together([self], options)

    plot = _plot

    def draw(self, start_s: float, end_s: float, **options: Any) -> figure:
        """Return Dask's figure of this time, in seconds of ``time.perf_counter``."""
        raise NotImplementedError

    def span(self) -> tuple[float, float]:
        """Return the drawn time, in seconds of ``time.perf_counter``."""
        now = time.perf_counter()
        start = now if self.start_time is None else self.start_time
        return start, now if self.end_time is None else self.end_time


class Profiler(RecordedProfiler, dask.diagnostics.Profiler):  # type: ignore[misc]  # properties where Dask has attributes
    """Records every task, timed by the worker that ran it.

    Parameters
    ----------
    get
        A scheduler, such as ``dask.threaded.get``, for the interface of 2015: the method `get` computes with
        it, and times in ``results`` are seconds since the epoch.

    Raises
    ------
    OptionError
        If `get` cannot be called.

    Notes
    -----
    ``results`` has the tasks that finished, of the computes that no task started, by compute and start;
    ``recording`` has all. Of a cluster's tasks ``task`` is None.

    Examples
    --------
    >>> import dask
    >>> with Profiler() as prof:
    ...     dask.get({"x": 1, "y": (max, "x", 10), "z": (min, "y", 2)}, "z")
    2
    >>> [row.key for row in prof.results]
    ['y', 'z']
    """

    def __init__(self, get: Get | None = None) -> None:
        if get is not None and not callable(get):
            raise OptionError(f"get must be a scheduler, such as dask.threaded.get, got {get!r:.80}")
        RecordedProfiler.__init__(self, DiagnosticOptions(facts=TaskFacts.TIMES))
        self._get = get

    def get(
        self,
        dsk: Any,
        keys: Any,
        *,
        start_callback: StartCallback | None = None,
        end_callback: EndCallback | None = None,
        **options: Any,
    ) -> Any:
        """Compute `keys` with the scheduler that the profiler was made from; the results begin afresh."""
        if self._get is None:
            raise OptionError("get needs a scheduler: make the profiler as Profiler(dask.threaded.get)")
        with self, Callback(start_callback=start_callback, end_callback=end_callback):
            return self._get(dsk, keys, **options)

    def draw(self, start_s: float, end_s: float, **options: Any) -> figure:
        return draw_tasks(self._tasks(self._recorded(), self.origin), start_s, end_s, **options)

    def _rows(self) -> Iterator[TaskData]:
        recording = self._recorded()
        is_of_2015 = self._get is not None
        epoch_s = recording.started_at.timestamp() - recording.zero_s
        return self._tasks(recording, epoch_s if is_of_2015 else self.origin)

    def _tasks(self, recording: RecordedData, origin: float) -> Iterator[TaskData]:
        workers = _worker_ids(recording)
        for run, graph in self._graphs(recording):
            rows = RowBlock.concat([block for block in recording.blocks if block.run == run])
            stop = rows.start + rows.duration
            mine = np.flatnonzero((flag_codes(rows.flags, "status") == FINISHED) & (stop >= self._cleared_s))
            mine = mine[np.argsort(rows.start[mine], kind="stable")]
            keys = self._keys(recording, run, rows.task[mine])
            columns = (rows.start[mine] + origin, stop[mine] + origin, rows.lane[mine])
            ended = zip(keys, *(column.tolist() for column in columns), strict=True)
            for key, start_time, end_time, lane in ended:
                yield TaskData(key, graph.get(key), start_time, end_time, workers[run][lane])


class CacheProfiler(RecordedProfiler, dask.diagnostics.CacheProfiler):  # type: ignore[misc]  # properties where Dask has attributes
    """Records how long every result stays in the scheduler's cache.

    Parameters
    ----------
    metric
        A function of a result, such as ``cachey.nbytes``; by default every result counts 1. It is called once
        per task, in the thread that computes. Where it raises, the value is None and the compute goes on.
    metric_name
        Its name in plots; by default that of the function, or ``count``.

    Raises
    ------
    OptionError
        If `metric` is not a function, or `metric_name` not a text.

    Examples
    --------
    >>> import dask
    >>> with CacheProfiler(metric=lambda result: 2 * result, metric_name="twice") as cprof:
    ...     dask.get({"x": (abs, -1), "y": (max, "x", 10)}, "y")
    10
    >>> [(row.key, row.metric) for row in cprof.results]
    [('x', 2), ('y', 20)]
    """

    def __init__(self, metric: CacheMetric | None = None, metric_name: str | None = None) -> None:
        if metric is not None and not callable(metric):
            raise OptionError(f"metric must be a function of a result, such as cachey.nbytes, got {metric!r}")
        if metric_name is not None and not isinstance(metric_name, str):
            raise OptionError(f"metric_name must be a text, such as 'bytes', got {metric_name!r}")
        RecordedProfiler.__init__(self, DiagnosticOptions(facts=TaskFacts.LANDINGS), metric and self._measure)
        self._metric = metric
        self._values: dict[tuple[int, object], object] = {}
        """What the metric gave, by compute and key."""
        name = "count" if metric is None else getattr(metric, "__name__", type(metric).__name__)
        self._metric_name = metric_name or str(name)

    def draw(self, start_s: float, end_s: float, **options: Any) -> figure:
        return draw_cache(self.results, self._metric_name, start_s, end_s, **options)

    def _rows(self) -> Iterator[CacheData]:
        """Yield the results that were in the scheduler's cache, by when they left."""
        recording, origin = self._recorded(), self.origin
        stops = {run.run: run.stop_s for run in recording.runs}
        for run, graph in self._graphs(recording):
            stop_s, columns = stops.get(run), recording.graphs[run]
            enter = columns.enter_times()
            leave = columns.exit_times(recording.now_s if stop_s is None else stop_s)
            mine = ~np.isnan(enter) & (leave >= self._cleared_s)
            mine[columns.data] = False
            rows = np.flatnonzero(mine)
            rows = rows[np.lexsort((enter[rows], leave[rows]))]
            times = (enter[rows] + origin).tolist(), (leave[rows] + origin).tolist()
            for key, cache_time, free_time in zip(self._keys(recording, run, rows), *times, strict=True):
                metric = 1 if self._metric is None else self._values.get((run, key))
                yield CacheData(key, graph.get(key), metric, cache_time, free_time)

    def clear(self) -> None:
        """Drop all rows; results of a running compute that end afterwards are still recorded."""
        super().clear()
        self._values = {place: value for place, value in self._values.items() if place[0] in self._computes}

    def _measure(self, key: object, result: object, dsk: _Graph, _state: object, _worker: object) -> None:
        run = current().source.run_of(dsk)
        if self._metric is not None and run in self._computes and (run, key) not in self._values:
            with Guard("the cache metric", self._warn_of_metric):
                self._values[run, key] = self._metric(result)

    def _warn_of_metric(self, name: str, error: BaseException) -> None:
        self.recorder.warn(f"{name} failed and gave no value: %s", error)


class ResourceProfiler(RecordedProfiler, dask.diagnostics.ResourceProfiler):
    """Samples CPU and memory: throughout a ``with`` block, or while a compute runs if registered.

    Parameters
    ----------
    dt
        Seconds between samples, 1 by default. If something else samples too, the shorter interval holds. The
        first and the last moment of a block or a compute are sampled, too.

    Raises
    ------
    OptionError
        If `dt` is not a positive number of seconds.

    Notes
    -----
    CPU use is the mean since the sample before, so the first sample has none, and is left out of ``results``;
    it is in ``recording``. Inside of a block ``results`` is empty, as in ``dask.diagnostics``.

    Examples
    --------
    >>> import dask
    >>> with ResourceProfiler(dt=0.5) as rprof:
    ...     dask.get({"x": (abs, -1)}, "x")
    1
    >>> len(rprof.results) > 0
    True
    """

    def __init__(self, dt: float = 1) -> None:
        RecordedProfiler.__init__(self, DiagnosticOptions(dt=dt))
        self._assigned: Rows | None = None

    @property
    def results(self) -> Rows:
        """The samples; an assigned list is drawn instead."""
        return super().results if self._assigned is None else self._assigned

    @results.setter
    def results(self, rows: Iterable[tuple[float, float, float]]) -> None:
        self._assigned = Rows(ResourceData(*row) for row in rows)

    def _begin(self, owner: object) -> None:
        super()._begin(owner)
        if self._blocks() == [owner]:
            current().sampler.block_started(self)

    def _end(self, owner: object) -> None:
        if self._blocks() == [owner]:
            current().sampler.block_stopped(self)
        super()._end(owner)

    def clear(self) -> None:
        """Drop all samples."""
        super().clear()
        self._assigned = None

    def draw(self, start_s: float, end_s: float, **options: Any) -> figure:
        return draw_resources(self.results, start_s, end_s, **options)

    def _is_running(self) -> bool:
        # Tests of dask.diagnostics use this name.
        return bool(self._blocks() or self.recorder.is_computing())

    def _rows(self) -> Iterator[ResourceData]:
        """Yield the samples whose CPU use is known."""
        if self._is_running():
            return
        rows, origin = self._recorded().resources, self.origin
        for time_s, cpu_percent, rss_bytes, *_ in rows.part(~np.isnan(rows.cpu_percent)).tuples():
            yield ResourceData(time_s + origin, rss_bytes / 1e6, cpu_percent)

    def close(self) -> None:
        """Do nothing: no process or thread of this profiler outlives a compute."""

    __del__ = close


def _joined(first: RecordedData, second: RecordedData) -> RecordedData:
    """Return two recordings of one recorder as one; the later one's tables of groups and lanes are whole."""
    return replace(
        second,
        started_at=first.started_at,
        zero_s=first.zero_s,
        runs=(*first.runs, *second.runs),
        blocks=(*first.blocks, *second.blocks),
        graphs={**first.graphs, **second.graphs},
        resources=ResourceRows.concat([first.resources, second.resources]),
        messages=tuple(dict.fromkeys([*first.messages, *second.messages])),
        dropped=first.dropped + second.dropped,
    )


def _worker_ids(recording: RecordedData) -> dict[int, list[int | None]]:
    """Return each lane's worker as the run's scheduler calls it, by run."""
    # A task that no worker reported has a lane with a negative thread.
    threads = [lane.thread if lane.thread >= 0 else None for lane in recording.lanes]
    # A cluster's worker has an address, and its threads run its tasks.
    local = [lane.thread >= 0 and lane.worker.isdecimal() for lane in recording.lanes]
    processes = [int(n.worker) if here else None for n, here in zip(recording.lanes, local, strict=True)]
    alone: list[int | None] = [None] * len(recording.lanes)
    ids = {"synchronous": alone, "processes": processes}
    return {run.run: ids.get(run.scheduler or "", threads) for run in recording.runs}
