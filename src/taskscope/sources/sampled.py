"""What was sampled of tasks in another process, as it came from there, and as a recorder counts it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from taskscope.model.keys import key_text
from taskscope.model.tables.stacks import Function
from taskscope.record import CountedCalls

__all__ = ["counted_cycles"]


def counted_cycles(
    functions: Iterable[Sequence[Any]], stacks: Iterable[Sequence[Any]], run: int, prefix: str, worker: str
) -> dict[float, list[CountedCalls]]:
    """Return samples of tasks of one prefix by when their cycle began, on the clock of who took them.

    Parameters
    ----------
    functions
        Name, file and first line of each function.
    stacks
        When the cycle began, calls (function and line, innermost first), how many samples, the time they
        stand for, its squares, CPU time, and the time of which that is known.
    run, prefix, worker
        Whose they are.
    """
    known = [Function(key_text(str(name)), key_text(str(file)), int(line)) for name, file, line in functions]
    cycles: dict[float, list[CountedCalls]] = {}
    for at, calls, n, seconds, squares, cpu_s, cpu_known_s in stacks:
        counted = CountedCalls(
            run,
            prefix,
            worker,
            tuple(known[place] for place, _ in reversed(calls)),
            int(n),
            float(seconds),
            tuple(int(line) for _, line in reversed(calls)),
            float(squares),
            float(cpu_s),
            float(cpu_known_s),
        )
        cycles.setdefault(float(at), []).append(counted)
    return cycles
