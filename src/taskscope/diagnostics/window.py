"""The computes that belong to one profiler: a window of the session's recorder that can open many times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, TypeAlias

from taskscope.model.errortext import describe
from taskscope.model.forklock import ForkLock
from taskscope.model.keys import split_key
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Run
from taskscope.model.tables.resources import ResourceRows
from taskscope.options import Options
from taskscope.record import Recorder
from taskscope.record.pump import Tick
from taskscope.session import current
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.graph import called_name
from taskscope.sources.local.adapter.registration import CallbackTuple
from taskscope.sources.local.adapter.scheduler import find_callbacks, is_nested

__all__ = ["ExplicitHooks", "Metric", "Sampling", "Window", "WindowRun"]

Metric: TypeAlias = Callable[[Any], object]
_Graph: TypeAlias = Mapping[Any, Any]
_State: TypeAlias = Mapping[str, Any]

_MAX_SAMPLED = 1024
_CLUSTER_KINDS: frozenset[type] = frozenset({str, tuple})


@dataclass(slots=True)
class WindowRun:
    """What a recording does not say of a compute: types of its keys, what tasks call, the metric's values."""

    run: int
    start_s: float
    stop_s: float | None = None
    kinds: frozenset[type] = frozenset()
    functions: Mapping[str, str] = field(default_factory=dict)
    values: list[object] = field(default_factory=list)


class Window:
    """Watches Dask for one profiler while it is open, and keeps what was recorded."""

    def __init__(self, options: Options, metric: Metric | None = None) -> None:
        self._options = options
        self.metric = metric
        self._parts: list[RecordedData] = []
        self._owners: frozenset[object] = frozenset()
        """Who has it open."""
        self._first_run = 0
        self._start_s = 0.0
        self._lock = ForkLock()
        self._running: dict[int, WindowRun] = {}
        self.runs: dict[int, WindowRun] = {}
        """The computes that neither a task nor a hook of another one started, by number."""
        self.cleared_s = -math.inf
        """When `clear` was called last, in seconds after the recorder's zero."""
        posttask = None if metric is None else self._posttask
        self.callback: CallbackTuple = (self.start, None, None, posttask, self._finish)

    @property
    def is_open(self) -> bool:
        return bool(self._owners)

    @property
    def recorder(self) -> Recorder:
        return current().recorder

    def open(self, owner: object) -> None:
        """Watch from now on, until this owner closes; opening twice changes nothing."""
        with self._lock:
            if not self._owners:
                self._first_run = self.recorder.next_run
                self._start_s = self.recorder.now_s()
            self._owners |= {owner}
            current().hold(self, self._options)
            # After the source, which is to know of a compute before we ask it.
            registration.install(self.callback)

    def close(self, owner: object) -> bool:
        """Undo `open`; with the last owner what was recorded is kept and nothing is watched any more."""
        with self._lock:
            had = owner in self._owners
            if self._owners == {owner}:
                parts = [*self._parts, self._snapshot()]
                # At once: whatever comes in between, a part is kept, and not twice.
                self._parts, self._owners = parts, frozenset()
            self._owners -= {owner}
            if not self._owners:
                registration.uninstall(self.callback)
                current().release(self)
            return had

    def clear(self) -> None:
        """Forget what was recorded; of a compute in flight, what ends from now on is recorded still."""
        with self._lock:
            self._parts.clear()
            self.runs = {run.run: run for run in self._running.values()}
            self.cleared_s = self.recorder.now_s()
            self._first_run = min(self.runs, default=self.recorder.next_run)
            self._start_s = min((run.start_s for run in self.runs.values()), default=self.cleared_s)

    def recording(self) -> RecordedData:
        """Return everything recorded while it was open, up to now."""
        with self._lock:
            is_whole = self._parts and not self._owners
            return reduce(_joined, self._parts if is_whole else [*self._parts, self._snapshot()])

    def state(self) -> tuple[object, ...]:
        """Return a value that changes whenever there is something new to read."""
        with self._lock:
            recorder, seen = self.recorder, (0, 0)
            if self._owners:
                recorder.pull_all()
                seen = (recorder.version, recorder.cursor)
            return (*seen, len(self._parts), self.cleared_s, self._owners)

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
        """Count computes on clusters, which call no hook, among ours."""
        for run in runs:
            if not run.is_on_cluster:
                continue
            if run.run not in self.runs:
                self.runs[run.run] = WindowRun(run.run, run.start_s, kinds=_CLUSTER_KINDS)
                if self.metric is not None:
                    self.recorder.warn("results stay on the workers, so the cache metric gave them no value")
            self.runs[run.run].stop_s = run.stop_s

    # Called by Dask's schedulers: these must never raise ---------------------------------------------------

    def start(self, dsk: _Graph) -> None:
        """Count a compute, if the source knows it and no task or hook of another one started it."""
        try:
            run = current().source.run_of(dsk)
            if run is None or is_nested():
                return
            watched = WindowRun(run, self.recorder.now_s(), None, frozenset(map(type, dsk)), _functions(dsk))
            self.runs[run] = self._running[id(dsk)] = watched
            # In a compute that was given several profilers, the first one begins the run.
            self._first_run = min(self._first_run, run)
        except Exception as error:  # noqa: BLE001 - a hook that raises would end the user's compute
            self.recorder.fault("a profiler's start", error)

    def _posttask(self, key: object, result: object, dsk: _Graph, _state: object, _worker: object) -> None:
        try:
            watched = self._running.get(id(dsk))
            if watched is not None and self.metric is not None:
                watched.values.extend((key, self.metric(result)))
        except Exception as error:  # noqa: BLE001 - the user's metric may raise anything
            self.recorder.warn(f"the cache metric failed and gave no value: {describe(error)}")

    def _finish(self, dsk: _Graph, _state: object, _failed: object) -> None:
        try:
            watched = self._running.get(id(dsk))
            if watched is not None:
                watched.stop_s = self.recorder.now_s()
                self._running.pop(id(dsk), None)
        except Exception as error:  # noqa: BLE001 - see start
            self.recorder.fault("a profiler's finish", error)


class Sampling:
    """Sees to it that samples are taken and read while no compute does."""

    def begin(self) -> None:
        session = current()
        session.sampler.compute_started(self)
        session.pump.subscribe(self._tick)
        session.pump.wake()

    def end(self) -> None:
        """End it; once more changes nothing."""
        session = current()
        session.pump.unsubscribe(self._tick)
        session.sampler.compute_stopped(self)

    def _tick(self, _: Tick) -> None:
        session = current()
        session.sampler.tick()
        session.pump.wake()


_GRAPH_AT = (0, 0, 1, 2, 0)
"""Which argument of each hook is the graph."""


class ExplicitHooks:
    """Five hooks for a compute that was given a profiler among its callbacks.

    What is passed on goes to hooks that catch their own faults.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._missing: dict[int, list[CallbackTuple]] = {}
        """By graph: those that Dask does not call itself in this compute, because it had begun before."""
        tasks = partial(self._pass_on, 2), partial(self._pass_on, 3)
        self.callback: CallbackTuple = (self._start, self._start_state, *tasks, self._finish)

    def _start(self, dsk: _Graph) -> None:
        called = [callback[0] for callback in find_callbacks()]
        self._missing[id(dsk)] = missing = []
        self._window.open(id(dsk))
        source = current().source
        if source.callback[0] not in called:
            if source.run_of(dsk) is None:
                missing.append(source.callback)
                self._pass_on(0, dsk)
            else:
                # Another profiler calls it; whoever comes first at the end ends the run.
                missing.append((None, None, None, None, source.callback[4]))
        if self._window.callback[0] not in called:
            missing.append(self._window.callback)

    def _start_state(self, dsk: _Graph, state: _State) -> None:
        self._pass_on(1, dsk, state)
        if self._window.callback in self._missing.get(id(dsk), ()):
            # Only now does the source know this compute for certain.
            self._window.start(dsk)

    def _finish(self, dsk: _Graph, state: _State, failed: bool) -> None:  # noqa: FBT001 - Dask calls it so
        if id(dsk) in self._missing:
            self._pass_on(4, dsk, state, failed)
            self._window.close(id(dsk))
            self._missing.pop(id(dsk), None)

    def _pass_on(self, hook: int, *arguments: object) -> None:
        for callback in self._missing.get(id(arguments[_GRAPH_AT[hook]]), ()):
            call = callback[hook]
            if call is not None:
                call(*arguments)


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
