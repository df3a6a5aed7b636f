"""What a cluster's own profiler saw, as samples of call stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import dask
from dask.utils import parse_timedelta

from taskscope.model.keys import key_text
from taskscope.model.stacks import Function, StackColumns
from taskscope.record import CountedCalls, StackLog

__all__ = ["cluster_stacks", "own_calls", "sampling_interval_s"]

_INTERVAL = "distributed.worker.profile.interval"
_PLUMBING = ("dask/_task_spec.py", "dask/optimization.py", "dask/core.py")
_NOT_TOLD_APART = Function("not told apart by distributed", "", 0)
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
    """
    log = StackLog(lambda: start_s)
    for prefix, tree in trees.items():
        name, counted = key_text(prefix), list(own_calls(tree))
        worth = seconds.get(prefix, 0.0) / max(sum(count for _, count in counted), 1)
        log.hand_over(
            start_s,
            (
                CountedCalls(run, name, key_text(worker), calls, count, count * worth)
                for calls, count in counted
            ),
        )
    return replace(log.between(run, run), interval_s=interval_s)


def own_calls(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[Function, ...], int]]:
    """Yield each stack of a tree that samples ended in, outermost function first, and how many.

    Notes
    -----
    Workers (seen in distributed 2026.8) count a sample for every call but the innermost. So what ended in one
    of several functions that were called from one place is told only in sum: it has a place of its own, for
    which of them it was nobody knows.
    """
    innermost = _counts_innermost(tree)
    waiting: list[tuple[tuple[Function, ...], _Tree, int]] = [((), tree, 0)]
    while waiting:
        calls, call, own = waiting.pop()
        below = _below(call)
        left = _count(call) - sum(map(_count, below))
        if innermost or not below:
            own, left = own + left, 0
        if own > 0:
            yield calls, own
        if left > 0 and len(below) > 1:
            yield (*calls, _NOT_TOLD_APART), left
            left = 0
        waiting += [((*calls, *_functions(child, is_outermost=not calls)), child, left) for child in below]


def _functions(call: _Tree, *, is_outermost: bool) -> tuple[Function, ...]:
    """Return the function of a call; none where that is how Dask runs a task."""
    described = call.get("description")
    fields = described if isinstance(described, Mapping) else {}
    name, _, place = str(call.get("identifier", "")).partition(";")
    # The line that is described is where it was; where its function is defined is in the identifier.
    file, _, line = place.rpartition(";")
    file = str(fields.get("filename", file))
    if is_outermost and file.replace("\\", "/").endswith(_PLUMBING):
        return ()
    number = int(line) if line.isdigit() else 0
    return (Function(key_text(str(fields.get("name") or name)), key_text(file), number),)


def _below(call: _Tree) -> list[_Tree]:
    children = call.get("children") or ()
    return list(children.values() if isinstance(children, Mapping) else children)


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
