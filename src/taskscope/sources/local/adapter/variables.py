"""The user's own names in a graph: the array that a compute begins with, and functions that tasks call."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from inspect import CO_OPTIMIZED
from itertools import islice
from types import CodeType, FunctionType, MethodType
from typing import Any

from taskscope.model.keys import split_key
from taskscope.model.source_lines import is_of_library
from taskscope.sources.cell import caller, place_of
from taskscope.sources.local.adapter.graph import GraphNode

_MAX_NODES = 1_000
_MAX_DEPTH = 4
_MAX_WRAPPERS = 20
_MAX_NAMED = 3
_MAX_ARGUMENTS = 50


def find_array(groups: Collection[str]) -> str | None:
    """Return the array of the calling program with most chunks that is one of these groups, as JSON.

    That is its name there, its shape, its largest chunk and the bytes of an element.
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
    name, array = max(found, key=lambda pair: math.prod(pair[1].numblocks))
    about = {
        "name": name,
        "shape": array.shape,
        "chunks": array.chunksize,
        "itemsize": array.dtype.itemsize,
    }
    return json.dumps(about)


def _is_known(array: Any) -> bool:  # noqa: ANN401 - an array of Dask's, which has no types
    return bool(array.shape) and not any(math.isnan(n) for n in array.shape)


def user_functions(graph: Mapping[Any, Any]) -> dict[str, str]:
    """Return, by group, the user's function that tasks call, and where its definition is.

    One task of each group of tuple keys is read, and one of each function of other keys.
    """
    nodes = {key[0]: key for key in graph if type(key) is tuple and key}
    named = {id(getattr(node, "func", None)): key for key, node in graph.items() if type(key) is not tuple}
    found: dict[str, str] = {}
    for key in [*nodes.values(), *named.values()][:_MAX_NODES]:
        codes = islice(dict.fromkeys(_user_code(graph[key])), _MAX_NAMED)
        texts = [f"{code.co_name.strip('<>')} ({place_of(code, code.co_firstlineno)})" for code in codes]
        if texts:
            found[split_key(key)[0]] = ", ".join(texts)
    return found


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
    inner = arguments[0] if arguments and type(arguments[0]) is dict else {}
    for task in inner.values() if depth < _MAX_DEPTH else ():
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
