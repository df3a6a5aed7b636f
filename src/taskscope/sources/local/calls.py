"""The part of a thread's call stack that a task has made, where taskscope's code calls the task."""

from __future__ import annotations

import os
from pathlib import Path
from types import CodeType, FrameType

from taskscope.sources.line_meter import LineMeter
from taskscope.sources.local.adapter.scheduler import is_plumbing
from taskscope.sources.stacks import Stack, calls_from

_METER = LineMeter.begin.__code__.co_filename
_OWN = f"{Path(__file__).parents[2]}{os.sep}"


def task_stack(frame: FrameType | None, task: CodeType) -> Stack | None:
    """Return the calls that a task has made, innermost first; None where the thread runs no code of a task.

    `task` is taskscope's code object that calls the task. Its frames, and those with which Dask calls a
    function, are left out: an empty list means that Dask called something that is no Python function.
    """
    calls = calls_from(frame)
    n_inside = next((n for n, (code, _) in enumerate(calls) if code is task), None)
    if n_inside is None:
        return None
    stack = calls[:n_inside]
    # The line meter's frames count for the measured line.
    while stack and stack[0][0].co_filename == _METER:
        del stack[0]
    # Work of taskscope for the task, such as measuring its result, is not the task's.
    if not stack or stack[-1][0].co_filename.startswith(_OWN):
        return None
    while stack and is_plumbing(stack[-1][0]):
        stack.pop()
    return stack
