"""The tuple form of a profiler: it has to see that a compute is recorded which has already begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from taskscope.diagnostics.watch import Watch
from taskscope.sources.local.registration import CallbackTuple, ends_first
from taskscope.sources.local.scheduler import find_callbacks

__all__ = ["ExplicitHooks"]

_Graph: TypeAlias = dict[Any, Any]
_State: TypeAlias = Mapping[str, Any]


class ExplicitHooks:
    """Five hooks for a compute that was given a profiler among its callbacks.

    What is passed on goes to hooks that catch their own faults.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._untold: dict[int, list[CallbackTuple]] = {}
        """By graph: those that Dask does not call itself in this compute, because it had begun before."""
        self.callback: CallbackTuple = (
            self._start,
            self._start_state,
            self._pretask,
            self._posttask,
            self._finish,
        )

    def _start(self, dsk: _Graph) -> None:
        told = [callback[0] for callback in find_callbacks()]
        self._untold[id(dsk)] = untold = []
        source = self._watch.open(id(dsk)).source
        if source.callback[0] not in told:
            if source.run_of(dsk) is None:
                untold.append(source.callback)
                _call(source.callback[0], dsk)
            else:
                # Another profiler tells it; whoever comes first at the end ends the run.
                untold.append((None, None, None, None, source.callback[4]))
        if self._watch.callback[0] not in told:
            untold.append(self._watch.callback)

    def _start_state(self, dsk: _Graph, state: _State) -> None:
        self._pass_on(1, dsk, dsk, state)
        if self._watch.callback in self._untold.get(id(dsk), ()):
            # Only now has the source heard of this compute for certain.
            _call(self._watch.callback[0], dsk)

    def _pretask(self, key: object, dsk: _Graph, state: _State) -> None:
        self._pass_on(2, dsk, key, dsk, state)

    def _posttask(self, key: object, result: object, dsk: _Graph, state: _State, worker: object) -> None:
        self._pass_on(3, dsk, key, result, dsk, state, worker)

    @ends_first
    def _finish(self, dsk: _Graph, state: _State, failed: bool) -> None:  # noqa: FBT001 - Dask calls it so
        if id(dsk) in self._untold:
            self._pass_on(4, dsk, dsk, state, failed)
            self._watch.close(id(dsk))
            self._untold.pop(id(dsk), None)

    def _pass_on(self, hook: int, dsk: _Graph, *arguments: object) -> None:
        for callback in self._untold.get(id(dsk), ()):
            _call(callback[hook], *arguments)


def _call(hook: Any, *arguments: object) -> None:
    if hook is not None:
        hook(*arguments)
