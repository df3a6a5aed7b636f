"""Dask's local schedulers, the nodes of their graphs, and the names that the calling program has for arrays.

Hooks do not get the scheduler, the number of workers, the requested keys or which task failed, so they are
looked up in the locals of ``dask.local.get_async``, which called the hook. This is the only module that knows
those names; ``tests/unit/sources/local/adapter/test_scheduler.py`` fails when Dask changes them.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from inspect import CO_OPTIMIZED
from itertools import islice
from multiprocessing.pool import ThreadPool
from operator import itemgetter
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

import dask.local
import dask.utils
from dask import _task_spec, core, optimization
from dask._task_spec import GraphNode, Task
from dask.local import MultiprocessingPoolExecutor, SynchronousExecutor, identity
from dask.utils import funcname

from taskscope.model.keys import split_key
from taskscope.model.source_lines import PlaceName, is_of_library
from taskscope.sources.cell import caller, place_of

__all__ = ["GRAPH_SLOTS", "GraphNode", "Task", "identity"]  # Dask's own, for the modules that wrap tasks

GRAPH_SLOTS = frozenset(
    slot
    for kind in vars(_task_spec).values()
    if isinstance(kind, type) and issubclass(kind, GraphNode)
    for slot in kind.__slots__
)
"""The attributes of what is in a graph."""

_MAX_FRAMES = 8


@dataclass(frozen=True, slots=True)
class Scheduler:
    """How a compute is run: scheduler or executor's class, tasks at a time, and the requested keys."""

    name: str | None = None
    n_workers: int | None = None
    requested: frozenset[object] | None = None

    @property
    def is_local(self) -> bool:
        """Whether tasks run where taskscope is; an executor of another kind may be a cluster's."""
        return self.name in {"synchronous", "threads", "processes"}


def find_scheduler() -> Scheduler:
    """Return the scheduler whose hook is being called."""
    names = _scheduler_locals()
    executor = getattr(names.get("submit"), "__self__", None)
    requested = names.get("results")
    return Scheduler(
        _name(executor),
        names.get("num_workers"),
        None if requested is None else frozenset(requested),
    )


def find_callbacks() -> Collection[tuple[Any, ...]]:
    """Return the callbacks of the compute whose hook is being called."""
    callbacks: Collection[tuple[Any, ...]] = _scheduler_locals().get("callbacks") or ()
    return callbacks


def find_state() -> Mapping[str, Any]:
    """Return the state of the compute that is ending; it is empty if its start-up failed."""
    state: Mapping[str, Any] = _scheduler_locals().get("state", {})
    return state


def in_compute() -> bool:
    """Return whether the caller is called, at whatever depth, by a compute of this thread."""
    loops = {dask.local.get_async.__code__, dask.local.batch_execute_tasks.__code__}
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code not in loops:
        frame = frame.f_back
    return frame is not None


def is_nested() -> bool:
    """Return whether the compute that is starting was started by a task, or by a hook, of another one."""
    loops = 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        loops += frame.f_code is dask.local.get_async.__code__
        if loops == 2 or frame.f_code is dask.local.batch_execute_tasks.__code__:
            return True
        frame = frame.f_back
    return False


def find_culprit(error: BaseException, in_flight: Collection[object]) -> list[object]:
    """Return, in a list, the key of the task whose failure ended the compute, if that is known."""
    names = _scheduler_locals()
    if names.get("failed") is True:
        return [names["key"]]
    # A bare pool raises from the call for a result, and does not name its task.
    outermost = error.__traceback__
    raised = outermost and outermost.tb_next
    by_pool = raised is not None and raised.tb_frame.f_code is Future.result.__code__
    return list(in_flight) if by_pool and len(in_flight) == 1 else []


def _scheduler_locals() -> Mapping[str, Any]:
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            break
        if frame.f_code is dask.local.get_async.__code__:
            return frame.f_locals
        frame = frame.f_back
    return {}


def _name(executor: object) -> str | None:
    if isinstance(executor, SynchronousExecutor):
        return "synchronous"
    if isinstance(executor, ThreadPoolExecutor) or isinstance(_pool(executor), ThreadPool):
        return "threads"
    if isinstance(executor, (ProcessPoolExecutor, MultiprocessingPoolExecutor)):
        return "processes"
    return type(executor).__name__ if isinstance(executor, Executor) else None


def _pool(executor: object) -> object:
    """Return the pool of `multiprocessing` that Dask has wrapped, if it has."""
    return executor.pool if isinstance(executor, MultiprocessingPoolExecutor) else None


_FILES = frozenset(str(module.__file__) for module in (_task_spec, core, optimization))
_CODE = (dask.utils.apply.__code__, dask.utils.methodcaller.__call__.__code__)
_SUBGRAPH = "_execute_subgraph"
_NAMED = re.compile("\\S*-[0-9a-f]{32}")
_LOOKED_AT = 16


def fused_groups(graph: Mapping[Any, Any], ready: Sequence[object]) -> dict[str, str]:
    """Return the groups of the tasks that are ready first, by name, each with those fused into it.

    A few tasks from either end are read, as the tasks of one group are alike. A fused group counts if its
    keys, or those of all that it needs, differ from the task's key in the name only: each task contains one
    task of it.
    """
    found: dict[str, str] = {}
    for key in (*ready[:_LOOKED_AT], *ready[-_LOOKED_AT:]):
        node = graph[key]
        name = split_key(key)[0]
        if name not in found and type(key) is tuple:
            found[name] = " ".join(dict.fromkeys(_steps(node, key[1:])))
    return found


def _steps(node: Any, place: tuple[object, ...]) -> Iterator[str]:  # noqa: ANN401 - anything that is in a graph
    """Yield the names of steps that are fused into a task, without the numbers of those of `blockwise`."""
    nodes = _fused(node) if funcname(getattr(node, "func", None)) == _SUBGRAPH else {}
    is_alike = all(type(needed) is tuple and needed[1:] == place for needed in (nodes and node.dependencies))
    for key, inner in nodes.items():
        if type(inner) is Task:
            named = _NAMED.match(key) if type(key) is str and is_alike else None
            if named is not None:
                yield named[0]
            elif type(key) is tuple and key[1:] == place:
                yield str(key[0])
            yield from _steps(inner, place)


def _fused(node: Any) -> dict[Any, Any]:  # noqa: ANN401 - anything that is in a graph
    """Return the tasks that are fused into a task, by their keys."""
    first = next(iter(getattr(node, "args", ())), None)
    # Releases of 2024 have the dictionary in a node.
    first = getattr(first, "value", first)
    return first if type(first) is dict else {}


def is_plumbing(code: CodeType) -> bool:
    """Return whether this is code of Dask's between a task and its function."""
    return code.co_filename in _FILES or any(code is known for known in _CODE)


_MAX_NODES = 1_000
_MAX_DEPTH = 4
_MAX_WRAPPERS = 20
_MAX_NAMED = 3
_MAX_ARGUMENTS = 50


def find_array(groups: Collection[str]) -> str | None:
    """Return the array of the calling program with most chunks that is one of these groups, as JSON.

    The JSON has its name there, its shape, its largest chunk, the bytes of an element, and whether it is
    made of no other array.
    """
    array_type = getattr(sys.modules.get("dask.array.core"), "Array", None)
    frame = caller() if groups and array_type is not None else None
    if frame is None:
        return None
    # Before Python 3.13 `f_locals` of a function keeps its values alive until it returns.
    is_kept = frame.f_code.co_flags & CO_OPTIMIZED and sys.version_info < (3, 13)
    arrays = [
        (name, value)
        for name, value in (
            *list(frame.f_globals.items()),
            *(() if is_kept else list(frame.f_locals.items())),
        )
        if type(value) is array_type and not name.startswith("_")
    ]
    found = [(name, array) for name, array in arrays if array.name in groups and _is_known(array)]
    if not found:
        return None
    name, array = max(found, key=lambda pair: (math.prod(pair[1].numblocks), _is_made(pair[1])))
    about = {
        "name": name,
        "shape": array.shape,
        "chunks": array.chunksize,
        "itemsize": array.dtype.itemsize,
        "is_made": _is_made(array),
    }
    return json.dumps(about)


def _is_made(array: Any) -> bool:  # noqa: ANN401 - an array of Dask's, which has no types
    """Return whether an array is made of no other one, or of one that is not Dask's."""
    needed = getattr(array.dask, "dependencies", {}).get(array.name)
    return needed is not None and all(name.startswith("original-") for name in needed)


def _is_known(array: Any) -> bool:  # noqa: ANN401 - an array of Dask's, which has no types
    return bool(array.shape) and not any(math.isnan(n) for n in array.shape)


def user_functions(graph: Mapping[Any, Any]) -> tuple[dict[object, str | None], list[CodeType]]:
    """Return, by group, the user's function that tasks call, and where its definition is; and all their code.

    One task of each group of tuple keys is read, and one of each function of other keys. Of a group whose
    tasks call several functions, as all lambdas do, other tasks than the first one's are there by their keys.
    """
    are_tuples = set(map(type, graph)) == {tuple} and () not in graph
    tuples = list(graph) if are_tuples else [key for key in graph if type(key) is tuple and key]
    nodes = dict(zip(map(itemgetter(0), tuples), tuples, strict=True))
    rest = [key for key in graph if not (type(key) is tuple and key)] if len(tuples) < len(graph) else []
    named = {id(getattr(graph[key], "func", None)): key for key in rest}
    found: dict[object, str | None] = {}
    every: list[CodeType] = []
    others: dict[int, str | None] = {}
    """Texts by the identity of a function that is not the first one of its group."""
    for key in [*nodes.values(), *named.values()][:_MAX_NODES]:
        codes = list(islice(dict.fromkeys(_user_code(graph[key])), _MAX_NAMED))
        every += codes
        places = [f"{code.co_name.strip('<>')} ({place_of(code, code.co_firstlineno)})" for code in codes]
        text = PlaceName.of(", ".join(places), [(code, code.co_firstlineno) for code in codes]) or None
        if found.setdefault(split_key(key)[0], text) != text:
            others[id(getattr(graph[key], "func", None))] = text
    found = {name: text for name, text in found.items() if text is not None}
    for key in rest if others else ():
        function = id(getattr(graph[key], "func", None))
        if function in others:
            found.setdefault(key, others[function])
    return found, every


def _user_code(node: Any, depth: int = 0) -> Iterator[CodeType]:  # noqa: ANN401 - anything that is in a graph
    """Yield the code of the user's functions in a task: its own, its arguments, and those of fused tasks."""
    function, arguments = getattr(node, "func", None), getattr(node, "args", ())
    values = [
        function,
        vars(type(function)).get("__call__"),
        *arguments[:_MAX_ARGUMENTS],
        *(getattr(node, "kwargs", None) or {}).values(),
    ]
    for value in values:
        code = _code(value)
        if code is not None and _is_users(code.co_filename):
            yield code
        elif depth < _MAX_DEPTH and issubclass(type(value), GraphNode):
            yield from _user_code(value, depth + 1)
    for task in _fused(node).values() if depth < _MAX_DEPTH else ():
        yield from _user_code(task, depth + 1)


def _code(function: Any) -> CodeType | None:  # noqa: ANN401 - any value in a graph
    for _ in range(_MAX_WRAPPERS):
        if type(function) is partial:
            function = function.func
        elif type(function) is MethodType:
            function = function.__func__
        elif type(function) is FunctionType and "__wrapped__" in function.__dict__:
            function = function.__dict__["__wrapped__"]
        else:
            break
    return function.__code__ if type(function) is FunctionType else None


def _is_users(file: str) -> bool:
    return not file.startswith("<string") and not is_of_library(file)
