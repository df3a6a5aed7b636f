"""Time a task in another process, and bring the timing back with its result.

The worker's answer is wrapped in an object whose unpickling, in the process that asked, deposits the timing
and yields the bare result: no scheduler and no other callback ever sees anything but the result. An
exception is brought back the same way.

This module is imported in worker processes, so it imports little.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from itertools import count
from threading import get_ident
from typing import Any, Protocol
from weakref import WeakValueDictionary

from taskscope.model.errortext import describe
from taskscope.sources.sizes import result_size

__all__ = ["ShippedTask", "clean", "land", "land_failure", "ship"]

_CARRIED = "__taskscope_timing__"
_OWN_FRAME = re.compile(rf'  File "{re.escape(__file__)}", line \d+, in __call__\n(?:    .*\n)*')
_MAX_SKEW_S = 1.0
"""Clocks of one machine agree to well under this; beyond it the worker has a monotonic axis of its own."""


class Receiver(Protocol):
    """The part of a `RunLog` that timings are deposited in."""

    remote: list[object]
    submitted: dict[object, float]

    def land_failure(
        self,
        key: object,
        worker: tuple[int, int],
        times: tuple[float, float, float],
        text: str,
        *,
        interrupted: bool,
    ) -> None:
        """Record a task that raised in another process."""


_receivers: WeakValueDictionary[tuple[int, int], Receiver] = WeakValueDictionary()
_numbers = count()


def wall_offset() -> float:
    """Return the wall clock's lead over the monotonic clock, in seconds; it tells machines apart."""
    return time.time() - time.perf_counter()


def ship(inner: object, key: object, receiver: Receiver) -> tuple[Callable[..., object], tuple[object, ...]]:
    """Return the pickle recipe of a task that is to be timed in another process."""
    number = next((n for (_, n), r in list(_receivers.items()) if r is receiver), None)
    if number is None:
        number = next(_numbers)
        _receivers[os.getpid(), number] = receiver
    return ShippedTask, (inner, key, (os.getpid(), number))


class ShippedTask:
    """A task in the process that runs it.

    Parameters
    ----------
    inner
        The task itself.
    key
        Its key.
    address
        The process that asked, and the number of its receiver there.
    """

    __slots__ = ("address", "inner", "key")

    def __init__(self, inner: Any, key: object, address: tuple[int, int]) -> None:
        self.inner = inner
        self.key = key
        self.address = address

    def __call__(self, values: Any = ()) -> Any:
        """Run the task; the answer unpickles as the bare result."""
        if self.address[0] == os.getpid():
            # Pickled and loaded again in the process that asked: there is nowhere to travel back to.
            return self.inner(values)
        cpu = time.thread_time()
        start = time.perf_counter()
        try:
            result = self.inner(values)
        except BaseException as error:
            row = self._row(start, time.perf_counter(), time.thread_time() - cpu)
            error.__dict__[_CARRIED] = _Carried((*row, isinstance(error, KeyboardInterrupt), describe(error)))
            raise
        stop = time.perf_counter()
        row = self._row(start, stop, time.thread_time() - cpu)
        return _Answer(result, (*row, result_size(result)))

    def _row(self, start: float, stop: float, cpu: float) -> tuple[object, ...]:
        return (self.address, wall_offset(), self.key, os.getpid(), get_ident(), start, stop, cpu)


class _Answer:
    __slots__ = ("result", "row")

    def __init__(self, result: object, row: tuple[object, ...]) -> None:
        self.result = result
        self.row = row

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return land, (self.result, self.row)


class _Carried:
    """An attribute of an exception whose unpickling deposits the timing; what it leaves behind is None."""

    __slots__ = ("row",)

    def __init__(self, row: tuple[object, ...]) -> None:
        self.row = row

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return land_failure, (self.row,)


def clean(error: BaseException) -> BaseException:
    """Take our traces off an exception that came from another process, and return what the worker raised."""
    # Without tblib Dask wraps what the worker raised, keeps it as `exception`, and its traceback as text.
    raised = getattr(error, "exception", None)
    wrapped = isinstance(raised, BaseException) and isinstance(getattr(error, "traceback", None), str)
    original = raised if wrapped and isinstance(raised, BaseException) else error
    for each in (error, original):
        each.__dict__.pop(_CARRIED, None)
    if wrapped:
        _clean_text(error, "traceback")
    cause = error.__cause__
    # A bare pool says in the cause what the traceback was in the process.
    if cause is not None and isinstance(vars(cause).get("tb"), str):
        _clean_text(cause, "tb")
    return original


def _clean_text(error: BaseException, attribute: str) -> None:
    text = vars(error)[attribute]
    clean_text = _OWN_FRAME.sub("", text)
    if clean_text != text:
        vars(error)[attribute] = clean_text
        error.args = tuple(clean_text if part == text else part for part in error.args)


def _shift(offset: Any) -> float:
    """Return what to add to a worker's times; 0 on one machine, where all processes share the clock."""
    skew = offset - wall_offset()
    return float(skew) if abs(skew) > _MAX_SKEW_S else 0.0


def land(result: object, row: tuple[Any, ...]) -> object:
    """Deposit a timing with the run it belongs to, if that is still there, and return the bare result."""
    address, offset, key, pid, thread, start, stop, cpu, size = row
    receiver = _receivers.get(address) if address[0] == os.getpid() else None
    if receiver is not None and _is_awaited(receiver, key):
        shift = _shift(offset)
        receiver.remote.extend((key, pid, thread, start + shift, stop + shift, cpu, size))
    return result


def land_failure(row: tuple[Any, ...]) -> None:
    """Deposit the timing of a task that raised in another process."""
    address, offset, key, pid, thread, start, stop, cpu, interrupted, text = row
    receiver = _receivers.get(address) if address[0] == os.getpid() else None
    if receiver is not None and _is_awaited(receiver, key):
        shift = _shift(offset)
        receiver.land_failure(
            key, (pid, thread), (start + shift, stop + shift, cpu), text, interrupted=interrupted
        )


def _is_awaited(receiver: Receiver, key: object) -> bool:
    """Take a task off the list of those in flight; False for one whose compute has failed in the meantime."""
    return receiver.submitted.pop(key, None) is not None
