"""The nodes of Dask's graphs: their classes, the functions they call, and Dask's frames around these."""

from __future__ import annotations

from types import CodeType

import dask.utils
from dask import _task_spec, core, optimization
from dask._task_spec import GraphNode, Task
from dask.local import identity
from dask.utils import funcname

__all__ = ["GraphNode", "Task", "called_name", "identity", "is_plumbing"]

_FILES = frozenset(str(module.__file__) for module in (_task_spec, core, optimization))
_CODE = (dask.utils.apply.__code__, dask.utils.methodcaller.__call__.__code__)
_SUBGRAPH = "_execute_subgraph"


def called_name(node: object) -> str | None:
    """Return the name of the function of a node; None for fused tasks, which call several."""
    name = funcname(getattr(node, "func", None) or type(node))
    return None if name == _SUBGRAPH else str(name)


def is_plumbing(code: CodeType) -> bool:
    """Return whether this is code of Dask's between a task and its function."""
    return code.co_filename in _FILES or any(code is known for known in _CODE)
