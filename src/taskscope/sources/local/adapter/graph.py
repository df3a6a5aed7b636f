"""The nodes of Dask's graphs: their classes, the functions they call, and Dask's frames around these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

import dask.utils
from dask import _task_spec, core, optimization
from dask._task_spec import GraphNode, Task
from dask.local import identity
from dask.utils import funcname

from taskscope.model.keys import split_key

__all__ = ["GraphNode", "Task", "called_name", "fused_groups", "identity", "is_plumbing"]

_FILES = frozenset(str(module.__file__) for module in (_task_spec, core, optimization))
_CODE = (dask.utils.apply.__code__, dask.utils.methodcaller.__call__.__code__)
_SUBGRAPH = "_execute_subgraph"
_LOOKED_AT = 16


def called_name(node: object) -> str | None:
    """Return the name of the function of a node; None for fused tasks, which call several."""
    name = funcname(getattr(node, "func", None) or type(node))
    return None if name == _SUBGRAPH else str(name)


def fused_groups(graph: Mapping[Any, Any], ready: Sequence[object]) -> dict[str, str]:
    """Return the groups of the tasks that are ready first, by name, each with those fused into it.

    A few tasks from either end are looked at, as those of one group are alike. A group counts where its keys
    differ from those of the tasks in the name only, so that a task stands for one key of each.
    """
    found: dict[str, str] = {}
    for key in (*ready[:_LOOKED_AT], *ready[-_LOOKED_AT:]):
        node = graph[key]
        name = split_key(key)[0]
        if name not in found and type(key) is tuple:
            nodes = node.args[0] if funcname(getattr(node, "func", None)) == _SUBGRAPH else {}
            inner = (k for k, v in nodes.items() if type(v) is Task and type(k) is tuple)
            found[name] = " ".join(str(k[0]) for k in inner if k[1:] == key[1:])
    return found


def is_plumbing(code: CodeType) -> bool:
    """Return whether this is code of Dask's between a task and its function."""
    return code.co_filename in _FILES or any(code is known for known in _CODE)
