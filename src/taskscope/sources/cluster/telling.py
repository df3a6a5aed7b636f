"""Tell the recorder what tasks of one run did, many at once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.activities import FAILED_ATTEMPT
from taskscope.record import LaneActivity, LaneKey, Recorder, RunLog
from taskscope.record.writers.appended import FailedTask
from taskscope.sources.cluster.records import COMPUTE, Executions
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.transfers import TransferLogs

__all__ = ["TimedExecutions", "tell", "tell_attempts"]

_Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TimedExecutions:
    """Executions, their lanes, and when each of their steps was, on the axis of the recorder's clock."""

    told: Executions
    lanes: list[LaneKey]
    start: _Floats
    stop: _Floats


def tell(
    run: TrackedRun,
    timed: TimedExecutions,
    places: Sequence[int],
    transfers: TransferLogs,
    recorder: Recorder,
) -> None:
    """Tell what those at some places did, which are all of one run.

    Parameters
    ----------
    run
        The run.
    timed, places
        Who they are.
    transfers
        Told of transfers.
    recorder
        Where it is told that a clock was set.
    """
    told, log = timed.told, run.log
    for place in set(told.stepped).intersection(places):
        worker = timed.lanes[place].label.rpartition(", thread ")[0]
        recorder.warn(f"the clock of {worker} was set back: times of its tasks are uncertain")
    keys = [told.keys[place] for place in places]
    run.rows.end(keys, {n for n, place in enumerate(places) if place in told.errors} if told.errors else ())
    run.need(keys)
    _returned(log, keys)
    run.last_stop = max(run.last_stop, float(timed.stop[told.computed[list(places)]].max()))
    _tell_activities(log, timed, set(places), transfers)
    if told.errors or run.failed:
        for place, key in zip(places, keys, strict=True):
            run.failed.pop(key, None)
            if place in told.errors:
                run.failed[key] = told.errors[place]
    if told.errors:
        failed = [place for place in places if place in told.errors]
        _tell_failed(log, timed, failed)
        if run.may_retry:
            for place in failed:
                run.final_failures.setdefault(told.keys[place], set()).add(float(told.reported[place]))
        places = [place for place in places if place not in told.errors]
    _tell_finished(run, timed, places)


def tell_attempts(
    run: TrackedRun,
    timed: TimedExecutions,
    places: Sequence[int],
    errors: Sequence[str],
    transfers: TransferLogs,
) -> None:
    """Tell of attempts that failed and were followed by others, and of what was done for them.

    Parameters
    ----------
    run
        The run of all of them.
    timed, places
        Who they are.
    errors
        What to call what each of them raised.
    transfers
        Told of transfers.
    """
    told, log = timed.told, run.log
    _tell_activities(log, timed, set(places), transfers)
    for place, error in zip(places, errors, strict=True):
        step, lane = int(told.computed[place]), timed.lanes[place]
        if told.steps.kind[step] == COMPUTE:
            start, stop = float(timed.start[step]), float(timed.stop[step])
            log.activities.append(LaneActivity(told.keys[place], lane, FAILED_ATTEMPT, start, stop, error))


def _returned(log: RunLog, keys: Sequence[Hashable]) -> None:
    if log.submitted or log.sent_to:
        for key in keys:
            log.submitted.pop(key, None)
            log.sent_to.pop(key, None)


def _tell_failed(log: RunLog, timed: TimedExecutions, places: Sequence[int]) -> None:
    told = timed.told
    for place in places:
        key, error, step = told.keys[place], told.errors[place], int(told.computed[place])
        start, stop = float(timed.start[step]), float(timed.stop[step])
        log.failed.append(FailedTask(key, timed.lanes[place], start, stop, math.nan, False, error))


def _tell_finished(run: TrackedRun, timed: TimedExecutions, places: Sequence[int]) -> None:
    told, log = timed.told, run.log
    keys = [told.keys[place] for place in places]
    steps = told.computed[list(places)]
    starts, stops = timed.start[steps].tolist(), timed.stop[steps].tolist()
    sizes = told.nbytes[list(places)].tolist()
    # The first of several that have one key is when it landed.
    landed = {
        key: stop for key, stop in zip(reversed(keys), reversed(stops), strict=True) if key not in run.landed
    }
    run.landed.update(zip(keys, sizes, strict=True))
    for key in run.given_back.keys() & landed.keys():
        del run.given_back[key]
    log.landed.extend(chain.from_iterable(landed.items()))
    lanes = [timed.lanes[place] for place in places]
    log.reported.extend(chain.from_iterable(zip(keys, lanes, starts, stops, sizes, strict=True)))


def _tell_activities(log: RunLog, timed: TimedExecutions, places: set[int], transfers: TransferLogs) -> None:
    told, steps = timed.told, timed.told.steps
    for step in np.flatnonzero(steps.kind != COMPUTE).tolist():
        place = int(steps.owner[step])
        if place not in places:
            continue
        bytes_told: tuple[int | None, float] = (None, math.nan)
        source = steps.source[step]
        if source is not None:
            start, stop = float(steps.start[step]), float(steps.stop[step])
            bytes_told = transfers.expect(log, told.workers[place], source, start, stop)
        log.activities.append(
            LaneActivity(
                told.keys[place],
                timed.lanes[place],
                int(steps.kind[step]),
                float(timed.start[step]),
                float(timed.stop[step]),
                source or "",
                *bytes_told,
            )
        )
