"""Recordings of samples of source lines, spelled out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import CodeType

from taskscope.record import StackLog
from taskscope.recording import Recording
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

Place = tuple[str, int]
"""The name of a function, and a line of it."""


def recording_of_samples(
    codes: Mapping[str, CodeType],
    *samples: tuple[Sequence[Place], float, float | None, str],
    scheduler: str = "threads",
) -> Recording:
    """Return a recording of samples: stacks innermost first, seconds, CPU time, prefix."""
    log = StackLog(FakeClock(perf_s=0.0).perf_counter)
    log.note(0.01, 1.0)
    for stack, seconds, cpu_s, prefix in samples:
        calls = [(codes[name], offset_of(codes[name], n)) for name, n in stack]
        log.add(0, prefix, "1", calls, seconds, cpu_s)
    made = recording_of([Row(key="x-1")], [run_of(n_tasks=1, scheduler=scheduler)])
    return replace(made, stacks=log.between(0, None))


def offset_of(code: CodeType, line: int) -> int:
    return next(first for first, _, known in code.co_lines() if known == line)
