"""Samples of call stacks spelled out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taskscope.model.tables.stacks import Function, StackColumns, StackRows


@dataclass(frozen=True, slots=True)
class Sample:
    """Some samples of one stack, outermost call first; functions are defined in ``name.py`` at line 1."""

    stack: tuple[str, ...]
    count: int = 1
    seconds: float = 0.01
    prefix: str = "x"
    run: int = 0
    start_s: float = 0.0
    worker: str = "1234"


def stacks_of(samples: Sequence[Sample], *, zero_s: float = 100.0, dropped: int = 0) -> StackColumns:
    """Return the columns of these samples."""
    calls: dict[tuple[str, ...], int] = {}
    for sample in samples:
        for depth in range(1, len(sample.stack) + 1):
            calls.setdefault(sample.stack[:depth], len(calls))
    functions = list(dict.fromkeys(call[-1] for call in calls))
    prefixes = list(dict.fromkeys(s.prefix for s in samples))
    workers = list(dict.fromkeys(s.worker for s in samples))
    return StackColumns(
        functions=tuple(Function(name, f"{name}.py", 1) for name in functions),
        parent=np.array([calls.get(call[:-1], -1) for call in calls], "i4"),
        function=np.array([functions.index(call[-1]) for call in calls], "i4"),
        prefixes=tuple(prefixes),
        workers=tuple(workers),
        rows=StackRows(
            np.array([zero_s + s.start_s for s in samples], "f8"),
            np.array([s.run for s in samples], "i4"),
            np.array([prefixes.index(s.prefix) for s in samples], "u4"),
            np.array([workers.index(s.worker) for s in samples], "u4"),
            np.array([calls.get(s.stack, -1) for s in samples], "i4"),
            np.array([s.count for s in samples], "u4"),
            np.array([s.seconds for s in samples], "f8"),
        ),
        interval_s=0.01,
        cycle_s=1.0,
        dropped=dropped,
    )
