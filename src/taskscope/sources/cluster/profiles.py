"""What a cluster's own profiler saw, as samples of call stacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import dask
import numpy as np
from dask.utils import parse_timedelta

from taskscope.model.keys import key_text
from taskscope.model.stacks import NO_STACKS, Function, StackColumns, StackRows

__all__ = ["cluster_stacks", "sampling_interval_s"]

_INTERVAL = "distributed.worker.profile.interval"
_MAX_CALLS = 100_000
_PLUMBING = ("dask/_task_spec.py", "dask/optimization.py", "dask/core.py")
_Tree: TypeAlias = Mapping[str, Any]


def sampling_interval_s() -> float:
    """Return the seconds between samples of workers, as far as this process's configuration tells."""
    return float(parse_timedelta(dask.config.get(_INTERVAL, "10ms"), default="ms"))


def cluster_stacks(
    trees: Mapping[str, _Tree],
    seconds: Mapping[str, float],
    *,
    run: int,
    start_s: float,
    worker: str,
    interval_s: float,
) -> StackColumns:
    """Return samples of what `distributed.Client.profile` gave.

    Parameters
    ----------
    trees
        Its answer for each prefix.
    seconds
        How long the tasks of each prefix took, as measured: its samples stand for that, in equal parts, for
        workers take fewer of them than one each `interval_s` where threads hold the interpreter's lock.
    run, start_s, worker
        What the samples are counted for.
    interval_s
        How often samples are meant to be taken.

    Notes
    -----
    Workers (seen in distributed 2026.8) count a sample for every call but the innermost. So what ended in one
    of several functions that were called from one place is told only in sum, and shared among them equally.
    """
    calls = _Calls()
    for place, tree in enumerate(trees.values()):
        calls.add(place, tree)
    if not calls.rows:
        return NO_STACKS
    prefix, node, count = (np.array(column) for column in zip(*calls.rows, strict=True))
    n = len(count)
    spent = np.array([seconds.get(name, 0.0) for name in trees])
    worth = spent / np.maximum(np.bincount(prefix, count, len(trees)), 1)
    rows = StackRows(
        np.full(n, start_s),
        np.full(n, run, np.int32),
        prefix.astype(np.uint32),
        np.zeros(n, np.uint32),
        node.astype(np.int32),
        count.astype(np.uint32),
        count * worth[prefix],
    )
    parent, function = np.array(calls.parent, np.int32), np.array(calls.function, np.int32)
    names = tuple(map(key_text, trees))
    return StackColumns(
        tuple(calls.functions), parent, function, names, (key_text(worker),), rows, interval_s, None
    )


class _Calls:
    """Calls and their own samples, gathered from trees."""

    def __init__(self) -> None:
        self.functions: dict[Function, int] = {}
        self.parent: list[int] = []
        self.function: list[int] = []
        self.rows: list[tuple[int, int, int]] = []

    def add(self, prefix: int, tree: _Tree) -> None:
        innermost = _counts_innermost(tree)
        waiting: list[tuple[int, _Tree, int]] = [(-1, tree, 0)]
        while waiting:
            node, call, own = waiting.pop()
            below = _below(call) if len(self.parent) < _MAX_CALLS else []
            left = _count(call) - sum(map(_count, below))
            ends = [] if innermost else [c for c in below if not _below(c)] or below
            if not ends:
                own, left = own + left, 0
            if own > 0:
                self.rows.append((prefix, node, own))
            for child in below:
                place = next((i for i, end in enumerate(ends) if end is child), None)
                share = 0 if place is None else (left + len(ends) - 1 - place) // len(ends)
                waiting.append((self._call(node, child), child, share))

    def _call(self, parent: int, call: _Tree) -> int:
        described = call.get("description")
        fields = described if isinstance(described, Mapping) else {}
        file = str(fields.get("filename", ""))
        if parent < 0 and file.replace("\\", "/").endswith(_PLUMBING):
            return parent
        # The line that is described is where it was; where its function is defined is in the identifier.
        line = str(call.get("identifier", "")).rpartition(";")[2]
        name = str(fields.get("name") or call.get("identifier"))
        function = Function(key_text(name), key_text(file), int(line) if line.isdigit() else 0)
        self.parent.append(parent)
        self.function.append(self.functions.setdefault(function, len(self.functions)))
        return len(self.parent) - 1


def _below(call: _Tree) -> list[_Tree]:
    return list((call.get("children") or {}).values())


def _count(call: _Tree) -> int:
    return int(call.get("count", 0))


def _counts_innermost(tree: _Tree) -> bool:
    waiting = _below(tree)
    if not waiting:
        return True
    while waiting:
        call = waiting.pop()
        if not _below(call) and _count(call):
            return True
        waiting += _below(call)
    return False
