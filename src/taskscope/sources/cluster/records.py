"""What a scheduler says of a task that has ended, checked and as plain values."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from taskscope.model.errortext import MAX_ERROR_TEXT

__all__ = ["Activity", "Execution", "error_text", "read_execution"]

_CALL = re.compile(r"([A-Za-z_]\w*)\((.*?),?\)", re.DOTALL)
_MOMENT = re.compile(r".*?-(\d+\.?\d*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Activity:
    """Something that a worker did for a task, as the worker's clock and distributed's correction have it.

    Parameters
    ----------
    action
        ``compute``, ``transfer``, ``disk-read``, ``disk-write``, ``deserialize``.
    start, stop
        Wall-clock seconds.
    source
        The address that data came from; None for what is not a transfer.
    """

    action: str
    start: float
    stop: float
    source: str | None


@dataclass(frozen=True, slots=True)
class Execution:
    """A task that came to an end on a worker.

    Parameters
    ----------
    key
        Its key.
    worker
        The worker's address.
    thread
        The thread's number there; 0 where no thread ran it.
    error
        What it raised, type and message; None if it finished.
    nbytes
        Size of the result; NaN where unknown.
    reported
        When the worker reported it, by the worker's own clock and uncorrected; None where it did not say.
    activities
        What was done for it, in the worker's order.
    stepped
        Whether the worker's clock was set back meanwhile, so that something stopped before it started; that
        is told as having taken no time.
    """

    key: Hashable
    worker: str
    thread: int
    error: str | None
    nbytes: float
    reported: float | None
    activities: tuple[Activity, ...]
    stepped: bool = False


def read_execution(record: Mapping[str, Any]) -> Execution:
    """Return what a record of the task stream says.

    Raises
    ------
    ValueError, KeyError, TypeError
        If it is none.
    """
    failed = record["status"] != "OK"
    moment = _MOMENT.fullmatch(str(record.get("stimulus_id", "")))
    return Execution(
        key=record["key"],
        worker=str(record["worker"]),
        thread=int(record.get("thread") or 0),
        error=error_text(str(record.get("exception_text") or "unknown error")) if failed else None,
        nbytes=math.nan if failed else float(record.get("nbytes", math.nan)),
        reported=float(moment[1]) if moment else None,
        activities=tuple(_activities(record["startstops"])),
        stepped=any(float(e["stop"]) < float(e["start"]) for e in record["startstops"]),
    )


def _activities(startstops: Iterable[Mapping[str, Any]]) -> Iterable[Activity]:
    for entry in startstops:
        start, stop = float(entry["start"]), float(entry["stop"])
        source = entry.get("source")
        yield Activity(str(entry["action"]), start, max(start, stop), None if source is None else str(source))


def error_text(shown: str) -> str:
    """Return the ``repr`` of an exception as its type and message, bounded.

    Examples
    --------
    >>> error_text("ZeroDivisionError('division by zero')")
    'ZeroDivisionError: division by zero'
    """
    shown = shown.encode("utf-8", "backslashreplace").decode("utf-8")
    call = _CALL.fullmatch(shown)
    try:
        message = ast.literal_eval(call[2]) if call and call[2] else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        message = None
    text = f"{call[1]}: {message}" if call and isinstance(message, str) else shown
    return text if len(text) <= MAX_ERROR_TEXT else f"{text[:MAX_ERROR_TEXT]}…"
