"""A scheduler's records of ended tasks, checked, as columns: there may be thousands a second."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.errortext import MAX_ERROR_TEXT
from taskscope.model.guard import Guard
from taskscope.model.tables.activities import ACTIVITIES
from taskscope.model.tables.columns import possible_sizes
from taskscope.sources.cluster.workers.known import DAY_S, thread_id

_CALL = re.compile(r"([A-Za-z_]\w*)\((.*?),?\)", re.DOTALL)
_Record: TypeAlias = Mapping[str, Any]
_Floats: TypeAlias = NDArray[np.float64]

COMPUTE = len(ACTIVITIES)
"""The code of computing among the kinds of steps; the others are codes of activities."""
_KINDS = {name: code for code, name in enumerate((*ACTIVITIES, "compute"))}
_OTHER = _KINDS["other"]
_MAX_STEPS = 1_000
_MAX_SHOWN = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of tasks, in each worker's order, by its clock and with distributed's correction."""

    owner: NDArray[np.int64]
    kind: NDArray[np.uint8]
    start: _Floats
    stop: _Floats
    source: list[str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """Tasks that ended on workers."""

    keys: list[Hashable]
    workers: list[str]
    threads: list[int]
    errors: dict[int, str]
    nbytes: _Floats
    reported: _Floats
    steps: Steps
    computed: NDArray[np.int64]
    computed_stop: _Floats
    stepped: list[int]
    n_cut: int = 0

    def __len__(self) -> int:
        return len(self.keys)


def read_executions(records: Sequence[_Record]) -> tuple[Executions, list[BaseException]]:
    """Return the executions that records contain, and the errors of records that could not be read."""
    errors: list[BaseException] = []
    guard = Guard("a record", lambda _where, error: errors.append(error))
    with guard:
        return _read(records), []
    errors.clear()
    good = []
    for record in records:
        with guard:
            _read([record])
            good.append(record)
    return _read(good), errors


def _read(records: Sequence[_Record]) -> Executions:
    failed = [place for place, record in enumerate(records) if record["status"] != "OK"]
    nbytes = np.array([record.get("nbytes", math.nan) for record in records], np.float64)
    nbytes[failed] = math.nan
    # A key that cannot be hashed would raise for all of them later.
    dict.fromkeys(record["key"] for record in records)
    all_steps = [record["startstops"] for record in records]
    steps, stepped = _read_steps([_bounded(steps) for steps in all_steps])
    computed, computed_stop = _computing(steps, len(records))
    return Executions(
        keys=[record["key"] for record in records],
        workers=[str(record["worker"]) for record in records],
        threads=[thread_id(record.get("thread") or 0) for record in records],
        errors={
            place: error_text(str(records[place].get("exception_text") or "unknown error"))
            for place in failed
        },
        nbytes=possible_sizes(nbytes),
        reported=_plausible([reported_at(record) for record in records], steps, computed),
        steps=steps,
        computed=computed,
        computed_stop=computed_stop,
        stepped=sorted(set(steps.owner[stepped].tolist())),
        n_cut=sum(len(steps) > _MAX_STEPS for steps in all_steps),
    )


def _read_steps(all_steps: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[Steps, NDArray[np.intp]]:
    counts = np.array([len(steps) for steps in all_steps], np.int64)
    if not counts.all():
        raise ValueError("a record without a step")
    flat = list(chain.from_iterable(all_steps))
    start = np.array([step["start"] for step in flat], np.float64)
    stop = np.array([step["stop"] for step in flat], np.float64)
    if not (np.isfinite(start).all() and np.isfinite(stop).all()):
        raise ValueError("times must be finite")
    kind = np.array([_KINDS.get(step["action"], _OTHER) for step in flat], np.uint8)
    sources = [step.get("source") for step in flat]
    steps = Steps(
        np.repeat(np.arange(len(all_steps)), counts),
        kind,
        start,
        np.maximum(start, stop),
        [None if source is None else str(source) for source in sources],
    )
    return steps, np.flatnonzero(stop < start)


def _bounded(steps: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the first steps of a task, and the computing that was last."""
    if len(steps) <= _MAX_STEPS:
        return steps
    computed = [step for step in steps[_MAX_STEPS - 1 :] if step["action"] == "compute"]
    return [*steps[: _MAX_STEPS - 1], *computed[-1:]]


def _plausible(reported: Sequence[float], steps: Steps, computed: NDArray[np.int64]) -> _Floats:
    """Return when tasks were reported, NaN where that is a day or more from when they ran."""
    moments = np.array(reported, np.float64)
    moments[np.abs(moments - steps.stop[computed]) > DAY_S] = math.nan
    return moments


def _computing(steps: Steps, n: int) -> tuple[NDArray[np.int64], _Floats]:
    """Return the last computing step of each execution, or its last step, and when computing stopped."""
    last = np.searchsorted(steps.owner, np.arange(n), side="right") - 1
    is_computing = np.flatnonzero(steps.kind == COMPUTE)
    latest = np.full(n, -1)
    np.maximum.at(latest, steps.owner[is_computing], is_computing)
    stop = np.full(n, np.nan)
    np.fmax.at(stop, steps.owner[is_computing], steps.stop[is_computing])
    return np.where(latest < 0, last, latest), stop


def reported_at(record: _Record) -> float:
    """Return when a worker reported a task, by its own clock and uncorrected; NaN where that is missing."""
    try:
        moment = float(str(record.get("stimulus_id")).rpartition("-")[2])
    except ValueError:
        return math.nan
    return moment if math.isfinite(moment) else math.nan


def error_text(shown: str) -> str:
    """Return the ``repr`` of an exception as its type and message, bounded.

    Examples
    --------
    >>> error_text("ZeroDivisionError('division by zero')")
    'ZeroDivisionError: division by zero'
    """
    shown = shown[:_MAX_SHOWN].encode("utf-8", "backslashreplace").decode("utf-8")
    call = _CALL.fullmatch(shown)
    try:
        message = ast.literal_eval(call[2]) if call and call[2] else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        message = None
    text = f"{call[1]}: {message}" if call and isinstance(message, str) else shown
    return text if len(text) <= MAX_ERROR_TEXT else f"{text[:MAX_ERROR_TEXT]}…"
