"""Read the scheduler's task stream from where we left off, and tell it to the recorder."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from taskscope.model.activities import ACTIVITIES
from taskscope.recorder import LaneActivity, LaneKey, Recorder
from taskscope.recorder.runlog import FailedTask
from taskscope.sources.cluster.clock import applied_corrections
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.ownership import Ownership
from taskscope.sources.cluster.records import Activity, Execution, read_execution
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.transfers import TransferLogs
from taskscope.sources.cluster.workers import Worker, Workers

__all__ = ["TaskStream"]

_MAX_HELD = 200_000
_STEP_S = 0.1
_KINDS = {name: code for code, name in enumerate(ACTIVITIES)}


class TaskStream:
    """The records that have not been told yet.

    Parameters
    ----------
    link
        Where to ask.
    workers, ownership
        Whose they are.
    transfers
        Told of transfers.
    recorder
        Where to tell.
    """

    def __init__(
        self,
        link: Link,
        workers: Workers,
        ownership: Ownership,
        transfers: TransferLogs,
        recorder: Recorder,
    ) -> None:
        self._link = link
        self._workers = workers
        self._ownership = ownership
        self._recorder = recorder
        self._transfers = transfers
        self._cursor = 0
        self._shift_s = math.nan
        self._held: list[Execution] = []
        self.is_fresh = False
        """Whether the scheduler kept no records before it was asked."""

    async def open(self) -> None:
        """Have the scheduler keep records from now on."""
        self._cursor = int(await self._link.ask("get_task_stream_index"))
        self.is_fresh = self._cursor == 0

    async def ask(self) -> None:
        """Read what is new.

        Raises
        ------
        ConnectionResetError
            If the scheduler is not the one that was asked before.
        """
        index = int(await self._link.ask("get_task_stream_index"))
        if index < self._cursor:
            raise ConnectionResetError("it was started anew")
        if index == self._cursor:
            return
        records = await self._link.ask("get_task_stream", start_index=self._cursor)
        lost = index - self._cursor - len(records)
        self._cursor += len(records)
        if lost > 0:
            self._cursor = int(await self._link.ask("get_task_stream_index"))
            self._recorder.warn(
                f"{lost:,} tasks or more are missing: the scheduler did not keep their records"
            )
        self._read(records)

    @property
    def has_strangers(self) -> bool:
        """Whether there are records of workers that the scheduler has not told of."""
        return any(e.worker not in self._workers for e in self._held)

    def _read(self, records: Iterable[Mapping[str, Any]]) -> None:
        for record in records:
            try:
                self._held.append(read_execution(record))
            except Exception as error:  # noqa: BLE001 - a record of another release may hold anything
                self._recorder.fault("reading a record of the task stream", error)

    def fold(self, *, wait_for_graphs: bool) -> None:
        """Tell the recorder what was read.

        Parameters
        ----------
        wait_for_graphs
            Whether keys of nobody may turn out to be somebody's.
        """
        self._compare_clocks()
        held, self._held = self._held, []
        by_worker: dict[str, list[Execution]] = {}
        for execution in held:
            by_worker.setdefault(execution.worker, []).append(execution)
        for address, executions in by_worker.items():
            worker = self._workers.get(address)
            corrections = applied_corrections(executions)
            worker.clock.note(executions, corrections)
            for execution, correction in zip(executions, corrections, strict=True):
                run = self._ownership.of(execution.key)
                if run is not None:
                    self._tell(run, worker, execution, correction)
                elif wait_for_graphs and len(self._held) < _MAX_HELD:
                    self._held.append(execution)

    def _compare_clocks(self) -> None:
        """Find the recorder's axis on the wall clock, anew each time, for that one may be set."""
        before, self._shift_s = self._shift_s, self._recorder.clock.shift_s()
        step_s = before - self._shift_s
        if not math.isnan(before) and abs(step_s) > _STEP_S:
            self._recorder.warn(
                f"the clock of this machine was set by {step_s:+.1f} s: times around that are uncertain"
            )

    def _tell(self, run: TrackedRun, worker: Worker, execution: Execution, correction: float | None) -> None:
        log, key, lane = run.log, execution.key, worker.lane(execution.thread)
        if execution.stepped:
            self._recorder.warn(f"the clock of {worker.label} was set back: times of its tasks are uncertain")
        start, stop = self._computed(worker, execution, correction)
        log.submitted.pop(key, None)
        log.sent_to.pop(key, None)
        run.last_stop = max(run.last_stop, stop)
        self._tell_activities(run, worker, lane, execution, correction)
        if execution.error is not None:
            run.failed[key] = execution.error
            log.failed.append(FailedTask(key, lane, start, stop, math.nan, False, execution.error))
            return
        run.failed.pop(key, None)
        if key not in run.landed:
            run.landed.add(key)
            log.landed.extend((key, stop))
        log.reported.extend((key, lane, start, stop, execution.nbytes))

    def _tell_activities(
        self, run: TrackedRun, worker: Worker, lane: LaneKey, execution: Execution, correction: float | None
    ) -> None:
        for activity in execution.activities:
            if activity.action != "compute":
                start, stop = self._times(worker, activity, correction)
                told: tuple[int | None, float] = (None, math.nan)
                if activity.source is not None:
                    told = self._transfers.expect(run.log, worker.address, activity)
                kind = _KINDS.get(activity.action, _KINDS["other"])
                run.log.activities.append(
                    LaneActivity(execution.key, lane, kind, start, stop, activity.source or "", *told)
                )

    def _computed(
        self, worker: Worker, execution: Execution, correction: float | None
    ) -> tuple[float, float]:
        computed = [a for a in execution.activities if a.action == "compute"] or execution.activities
        return self._times(worker, computed[-1], correction)

    def _times(self, worker: Worker, activity: Activity, correction: float | None) -> tuple[float, float]:
        """Return when something was, on the axis of the recorder's clock."""
        start, stop = worker.clock.local_times(activity, correction)
        return start + self._shift_s, stop + self._shift_s
