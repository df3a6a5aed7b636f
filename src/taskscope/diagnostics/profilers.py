"""The profilers of ``dask.diagnostics``; their times are those of the workers."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import dask.diagnostics

from taskscope.analysis.display.colours import prefix_colours
from taskscope.diagnostics.callback import Callback
from taskscope.diagnostics.results import (
    CacheData,
    Metric,
    ResourceData,
    Results,
    SeenRun,
    TaskData,
    cache_data,
    cached_results,
    resource_data,
    task_data,
    task_texts,
)
from taskscope.diagnostics.visualize import visualize
from taskscope.errors import OptionError, TaskscopeError
from taskscope.model.errortext import describe
from taskscope.model.keys import split_key
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import Run
from taskscope.options import Options
from taskscope.record import Recorder
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.graph import called_name
from taskscope.sources.local.adapter.registration import CallbackTuple
from taskscope.sources.local.adapter.scheduler import find_callbacks, is_nested

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM
    from bokeh.plotting import figure

_Graph: TypeAlias = Mapping[Any, Any]
_Row = TypeVar("_Row")

_MAX_SAMPLED = 1024
_CLUSTER_KINDS: frozenset[type] = frozenset({str, tuple})


class RecordedProfiler(Callback, Generic[_Row]):
    """A profiler that records while it is entered or registered; `metric` is a function of each result."""

    has_prefixes = True
    """Whether the figure is coloured by prefix."""

    def __init__(self, options: Options, metric: Metric | None = None) -> None:
        self.metric = metric
        self._options = options
        self._lock = threading.RLock()
        self._owners: set[object] = set()
        self._parts: list[RecordedData] = []
        self._first_run = 0
        self._start_s = 0.0
        self._running: dict[int, SeenRun] = {}
        self.runs: dict[int, SeenRun] = {}
        """The computes that neither a task nor a hook of another one started, by number."""
        self.cleared_s = -math.inf
        """When `clear` was called last, in seconds after the recorder's zero."""
        self._hooks: CallbackTuple = (self._seen, None, None, metric and self._measure, self._over)
        self._results: Results[_Row] = Results()
        self._results_state: tuple[object, ...] = ()
        self.start_time: float | None = None
        self.end_time: float | None = None

    @property
    def recorder(self) -> Recorder:
        return current().recorder

    @property
    def recording(self) -> Recording:
        """Everything that was recorded while this profiler watched, failed and interrupted tasks included."""
        return Recording.of(self.recorded())

    @property
    def results(self) -> Results[_Row]:
        """What was recorded, as in ``dask.diagnostics``; the same list as long as nothing is new."""
        state = self._state()
        if state != self._results_state:
            self._results, self._results_state = Results(self._rows()), state
        return self._results

    def _rows(self) -> Iterator[_Row]:
        raise NotImplementedError

    def _begin(self, owner: object) -> None:
        if self._is_outermost(owner):
            # A block begins afresh, a registration goes on.
            self.clear()
        if self.start_time is None:
            self.start_time = time.perf_counter()
        self._open(owner)

    def _end(self, owner: object) -> None:
        if owner in self._owners:
            self._close(owner)
            self.end_time = time.perf_counter()

    def _is_outermost(self, owner: object) -> bool:
        """Whether this is the entering of a block that no other block of this profiler goes around."""
        return self._blocks() == [owner]

    def _open(self, owner: object) -> None:
        with self._lock:
            if not self._owners:
                self._first_run = self.recorder.next_run
                self._start_s = self.recorder.now_s()
            self._owners.add(owner)
            current().hold(self, self._options)
            # After the source, which is to know of a compute before its number is read here.
            registration.install(self._hooks)

    def _close(self, owner: object) -> None:
        """Watch no more for this owner; with the last one what was recorded is kept."""
        with self._lock:
            if self._owners == {owner}:
                self._parts.append(self._snapshot())
            self._owners.discard(owner)
            if not self._owners:
                registration.uninstall(self._hooks)
                current().release(self)

    def clear(self) -> None:
        """Forget what was recorded; of a compute in flight, what ends afterwards is still recorded."""
        with self._lock:
            self._parts.clear()
            self.runs = {run.run: run for run in self._running.values()}
            self.cleared_s = self.recorder.now_s()
            self._first_run = min(self.runs, default=self.recorder.next_run)
            self._start_s = min((run.start_s for run in self.runs.values()), default=self.cleared_s)
        self._results, self._results_state = Results(), ()
        self.start_time = time.perf_counter() if self._owners else None
        self.end_time = None

    def close(self) -> None:
        """Do nothing: no process or thread of this profiler outlives a compute."""

    def recorded(self) -> RecordedData:
        """Return everything that was recorded while it watched."""
        with self._lock:
            is_whole = self._parts and not self._owners
            return reduce(_joined, self._parts if is_whole else [*self._parts, self._snapshot()])

    def _state(self) -> tuple[object, ...]:
        """Return a value that changes whenever there is something new to read."""
        with self._lock:
            recorder, seen = self.recorder, (0, 0)
            if self._owners:
                recorder.pull_all()
                seen = (recorder.version, recorder.cursor)
            return (*seen, len(self._parts), self.cleared_s, frozenset(self._owners))

    def _snapshot(self) -> RecordedData:
        session, recorder = current(), self.recorder
        now = recorder.next_run, recorder.now_s()
        first_run, start_s = (self._first_run, self._start_s) if self._owners else now
        session.cluster.settle()
        self._adopt(recorder.runs(first_run))
        last_run, stop_s = max(recorder.next_run - 1, 0), recorder.now_s()
        metadata = session.metadata()
        return recorder.snapshot(first_run, last_run, start_s=start_s, stop_s=stop_s, metadata=metadata)

    def _adopt(self, runs: Sequence[Run]) -> None:
        """Count computes on clusters, which call no hook, among those of this profiler."""
        for run in runs:
            if not run.is_on_cluster:
                continue
            if run.run not in self.runs:
                self.runs[run.run] = SeenRun(run.run, run.start_s, kinds=_CLUSTER_KINDS)
                if self.metric is not None:
                    self.recorder.warn("results stay on the workers, so the cache metric gave them no value")
            self.runs[run.run].stop_s = run.stop_s

    # Called by Dask's schedulers: these must never raise ---------------------------------------------------

    def _seen(self, dsk: _Graph) -> None:
        with self.recorder.guard("a profiler's start"):
            run = current().source.run_of(dsk)
            if run is not None and id(dsk) not in self._running and not is_nested():
                kinds = frozenset(map(type, dsk))
                self.runs[run] = self._running[id(dsk)] = SeenRun(
                    run, self.recorder.now_s(), None, kinds, _functions(dsk)
                )
                # In a compute that was given several profilers, the first one begins the run.
                self._first_run = min(self._first_run, run)

    def _measure(self, key: object, result: object, dsk: _Graph, _state: object, _worker: object) -> None:
        seen = self._running.get(id(dsk))
        if seen is None or self.metric is None or key in seen.values:
            return
        try:
            seen.values[key] = self.metric(result)
        except Exception as error:  # noqa: BLE001 - the user's metric may raise anything
            self.recorder.warn(f"the cache metric failed and gave no value: {describe(error)}")

    def _over(self, dsk: _Graph, _state: object, _failed: object) -> None:
        with self.recorder.guard("a profiler's finish"):
            seen = self._running.pop(id(dsk), None)
            if seen is not None:
                seen.stop_s = self.recorder.now_s()

    @property
    def _callback(self) -> CallbackTuple:
        """The form for ``dask.callbacks.add_callbacks`` and for ``compute(callbacks=…)``."""
        return _Given(self).callback

    # Drawing ----------------------------------------------------------------------------------------------

    def visualize(self, **options: Any) -> LayoutDOM:
        """Show, and outside of notebooks save, the plot; see `taskscope.diagnostics.visualize`."""
        return visualize(self, **options)

    def plot(self, **options: Any) -> figure:
        """Return the Bokeh figure; options are those of `visualize` that draw."""
        return self.draw(*self.span(), **options)

    def _plot(self, **options: Any) -> figure:
        return self.plot(**options)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        """Return the Bokeh figure of this time, in seconds of ``time.perf_counter``."""
        raise NotImplementedError

    def span(self) -> tuple[float, float]:
        """Return from when to when there is something to draw, in seconds of ``time.perf_counter``."""
        now = time.perf_counter()
        start = now if self.start_time is None else self.start_time
        return start, now if self.end_time is None else self.end_time


class Profiler(RecordedProfiler[TaskData], dask.diagnostics.Profiler):  # type: ignore[misc]  # properties where Dask has attributes
    """Records every task, timed by the worker that ran it.

    Parameters
    ----------
    get
        A scheduler, such as ``dask.threaded.get``, for the `get` of this profiler; not needed otherwise.

    Raises
    ------
    OptionError
        If `get` is not a function.

    Notes
    -----
    ``results`` has the tasks that finished, of the computes that no task started, by compute and start;
    ``recording`` has all.

    Examples
    --------
    >>> import dask
    >>> with Profiler() as prof:
    ...     dask.get({"x": 1, "y": (max, "x", 10), "z": (min, "y", 2)}, "z")
    2
    >>> [(row.key, row.task) for row in prof.results]
    [('y', <Task 'y' max('x')>), ('z', <Task 'z' min('y')>)]
    """

    def __init__(self, get: Callable[..., Any] | None = None) -> None:
        if get is not None and not callable(get):
            raise OptionError(f"get must be a scheduler such as dask.threaded.get, got {get!r}")
        RecordedProfiler.__init__(self, Options(dt="any", metric="any"))
        self._get = get

    def get(self, dsk: Any, keys: Any, **options: Any) -> Any:
        """Compute with this profiler's scheduler and record it: ``x.compute(scheduler=prof.get)``.

        Parameters
        ----------
        dsk, keys, options
            As of the scheduler.

        Raises
        ------
        TaskscopeError
            If the profiler was made without a scheduler.
        """
        if self._get is None:
            raise TaskscopeError(
                "this Profiler has no scheduler: write Profiler(dask.threaded.get), "
                "or `with Profiler() as prof:` around the compute"
            )
        owner = object()
        try:
            self._open(owner)
            return self._get(dsk, keys, **options)
        finally:
            self._close(owner)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        from taskscope.charts import MAX_GLYPHS, plot_tasks

        recording, origin = self.recorded(), self.recorder.origin
        texts = task_texts(recording, self.runs) if count_tasks(recording) <= MAX_GLYPHS else None
        return plot_tasks(recording, zero_s - origin, until_s - origin, texts=texts, **options)

    def _rows(self) -> Iterator[TaskData]:
        return task_data(self)


class CacheProfiler(RecordedProfiler[CacheData], dask.diagnostics.CacheProfiler):  # type: ignore[misc]  # properties where Dask has attributes
    """Records how long every result stays in the scheduler's cache.

    Parameters
    ----------
    metric
        What a result counts: a function of it, such as ``cachey.nbytes``; by default every result counts 1.
    metric_name
        Its name in plots; by default that of the function, or ``count``.

    Raises
    ------
    OptionError
        If `metric` is not a function.

    Notes
    -----
    ``results`` has what was in the cache, by when it left. The metric is called in the thread that computes,
    once per task. Where it raises, the value is None and the compute goes on. The cost of a task does not
    depend on how many results the cache has or had.

    Examples
    --------
    >>> import dask
    >>> with CacheProfiler(metric=lambda result: 2 * result, metric_name="twice") as cprof:
    ...     dask.get({"x": (abs, -1), "y": (max, "x", 10)}, "y")
    10
    >>> [(row.key, row.metric) for row in cprof.results]
    [('x', 2), ('y', 20)]
    """

    def __init__(self, metric: Metric | None = None, metric_name: str | None = None) -> None:
        if metric is not None and not callable(metric):
            raise OptionError(f"metric must be a function of a result, such as cachey.nbytes, got {metric!r}")
        RecordedProfiler.__init__(self, Options(dt="any", metric="any"), metric)
        name = "count" if metric is None else getattr(metric, "__name__", type(metric).__name__)
        self._metric_name = metric_name or str(name)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        from taskscope.charts import Scheme, plot_cache

        cached, origin = cached_results(self), self.recorder.origin
        own = Scheme.of(prefix_colours(self.recorded()), options.get("palette"))
        options = {"scheme": own, **options}
        return plot_cache(cached, self._metric_name, zero_s - origin, until_s - origin, **options)

    def _rows(self) -> Iterator[CacheData]:
        return cache_data(self)


class ResourceProfiler(RecordedProfiler[ResourceData], dask.diagnostics.ResourceProfiler):
    """Samples CPU and memory: throughout a ``with`` block, or while a compute runs if registered.

    Parameters
    ----------
    dt
        Seconds between samples, 1 by default. If something else samples too, the shorter interval holds.

    Raises
    ------
    OptionError
        If `dt` is not a positive number of seconds.

    Notes
    -----
    Besides, the first and the last moment of a block or a compute are sampled, so that a short one has a
    result. CPU use is the mean since the sample before, so the first sample has none, and is left out of
    ``results``; it is in ``recording``. Inside of a block ``results`` is empty, as in ``dask.diagnostics``.

    Examples
    --------
    >>> import dask
    >>> with ResourceProfiler(dt=0.5) as rprof:
    ...     dask.get({"x": (abs, -1)}, "x")
    1
    >>> len(rprof.results) > 0
    True
    """

    has_prefixes = False

    def __init__(self, dt: float = 1) -> None:
        RecordedProfiler.__init__(self, Options(dt=dt, metric="any"))
        self._spans_s: list[tuple[float, float]] = []
        self._entered_s = 0.0
        self._sampling = sampled(self)
        self._assigned: Results[ResourceData] | None = None

    @property
    def results(self) -> Results[ResourceData]:
        """The samples. What is assigned here is drawn instead."""
        return super().results if self._assigned is None else self._assigned

    @results.setter
    def results(self, rows: Iterable[tuple[float, float, float]]) -> None:
        self._assigned = Results(ResourceData(*row) for row in rows)

    def _begin(self, owner: object) -> None:
        super()._begin(owner)
        if self._is_outermost(owner):
            self._entered_s = self.recorder.now_s()
            self._sampling = sampled(self)
            self._sampling.__enter__()

    def _end(self, owner: object) -> None:
        if self._is_outermost(owner):
            self._sampling.__exit__(None, None, None)
            self._spans_s.append((self._entered_s, self.recorder.now_s()))
        super()._end(owner)

    def clear(self) -> None:
        """Forget all samples."""
        super().clear()
        self._spans_s.clear()
        self._entered_s = self.recorder.now_s()
        self._assigned = None

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        from taskscope.charts import plot_resources

        return plot_resources(self.results, zero_s, until_s, **options)

    def _is_running(self) -> bool:
        # Tests of dask.diagnostics use this name.
        return bool(self._blocks()) or any(run.stop_s is None for run in self.runs.values())

    def _rows(self) -> Iterator[ResourceData]:
        spans_s = list(self._spans_s)
        if not self._blocks():
            runs = self.runs.values()
            spans_s += [(max(r.start_s, self.cleared_s), r.stop_s) for r in runs if r.stop_s is not None]
        return resource_data(self, spans_s)

    __del__ = RecordedProfiler.close


@contextmanager
def sampled(owner: object) -> Iterator[None]:
    """Have samples of CPU and memory taken, also while nothing computes."""
    session = current()

    session.sampler.block_started(owner)
    try:
        yield
    finally:
        session.sampler.block_stopped(owner)


class _Given:
    """The hooks for a compute that was given a profiler as a callback of its own.

    Where the session is not among the callbacks of that compute, its hooks are called from here.
    """

    def __init__(self, profiler: RecordedProfiler[Any]) -> None:
        self._profiler = profiler
        self._source = current().source
        self._begun: set[int] = set()
        self.callback: CallbackTuple = (
            self._start,
            self._start_state,
            self._pretask,
            self._posttask,
            self._end,
        )

    def _pass_on(self, hook: int, dsk: _Graph, *arguments: object) -> None:
        call = self._source.callback[hook]
        if id(dsk) in self._begun and call is not None:
            call(*arguments)

    def _start(self, dsk: _Graph) -> None:
        self._profiler._open(id(dsk))
        is_called = self._source.callback[0] in [callback[0] for callback in find_callbacks()]
        if not is_called and self._source.run_of(dsk) is None:
            self._begun.add(id(dsk))
            self._pass_on(0, dsk, dsk)

    def _start_state(self, dsk: _Graph, state: object) -> None:
        self._pass_on(1, dsk, dsk, state)
        # The session knows this compute for certain.
        self._profiler._seen(dsk)

    def _pretask(self, key: object, dsk: _Graph, state: object) -> None:
        self._pass_on(2, dsk, key, dsk, state)

    def _posttask(self, key: object, result: object, dsk: _Graph, state: object, worker: object) -> None:
        self._pass_on(3, dsk, key, result, dsk, state, worker)
        self._profiler._measure(key, result, dsk, state, worker)

    def _end(self, dsk: _Graph, state: object, failed: object) -> None:
        self._pass_on(4, dsk, dsk, state, failed)
        self._begun.discard(id(dsk))
        self._profiler._over(dsk, state, failed)
        self._profiler._close(id(dsk))


def _functions(dsk: _Graph) -> dict[str, str]:
    """Return what some tasks call, by group; a task itself is not kept, for it holds its arguments."""
    found: dict[str, str] = {}
    keys = list(dsk)
    for key in keys[:: -(-len(keys) // _MAX_SAMPLED) or 1]:
        group = key[0] if type(key) is tuple and key else split_key(key)[0]
        if group not in found:
            found[group] = called_name(dsk[key]) or ""
    return found


def _joined(first: RecordedData, second: RecordedData) -> RecordedData:
    """Return two recordings of one recorder as one; the later one's tables of groups and lanes hold all."""
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
