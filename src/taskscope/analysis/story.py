"""The story of one task: what happened to it, in order, where, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cluster import WORKER_ENDS
from taskscope.analysis.quantities import counted, format_bytes, format_count, format_duration, printable
from taskscope.analysis.result import TableResult
from taskscope.model.keys import key_text
from taskscope.model.recording import RecordedData, ready_times
from taskscope.model.tables.activities import ACTIVITIES, Steal, Transfer
from taskscope.model.tables.columns import GraphColumns, RowBlock
from taskscope.model.tables.records import (
    ERRED,
    FINISHED,
    INTERRUPTED,
    LOST,
    RELEASED,
    RUNNING,
    STATUSES,
    Run,
    flag_codes,
)

_KEY_WIDTH = 80
_TOLERANCE_S = 1e-3
"""Results enter memory on the clock of another process than the one that times tasks."""
_ACTIVITY_WORDS = {
    "transfer": "inputs came",
    "disk-read": "inputs were read from disk",
    "disk-write": "results were written to disk",
    "deserialize": "the task was deserialized",
    "serialize": "results were serialized",
    "other": "the worker did something else for it",
}


_END_WORDS = {
    ERRED: "failed",
    FINISHED: "finished",
    INTERRUPTED: "was interrupted",
    LOST: "was lost",
    RELEASED: "was released, as its future was deleted,",
}


class StoryLine(NamedTuple):
    """One thing that happened to a task."""

    run: int
    time_s: float
    event: str
    worker: str | None
    seconds: float | None
    nbytes: float | None
    text: str


def story(recording: RecordedData, key: object) -> TableResult:
    """Return what happened to a task, in order of time.

    Columns: ``run`` (the compute), ``time_s`` (seconds after the start of that compute), ``event``,
    ``worker`` (its address; None: unknown, or not on one), ``seconds`` and ``nbytes`` (how long it took and
    how much it was, where there is such a number), ``text`` (the same in words).

    Parameters
    ----------
    key
        The task's key, as Dask or a table has it.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2], dask_key_name="total").compute(scheduler="synchronous")
    >>> run.recording.story("total").to_pandas().event.tolist()
    ['ready', 'start', 'finished', 'returned']
    >>> run.recording.story("mean")
    no task of these computes has the key mean

    Notes
    -----
    Events are ``ready``, ``start``, the status at the end, the activities of the table ``activities``, the
    outcomes of the table ``steals``, ``sent``, ``released`` (the task, or its result), ``returned``,
    ``skipped``, ``data`` and events of the workers that had the task. The scheduler's own transitions with
    their stimuli are not recorded: ``client.story(key)`` has them while the cluster runs.
    """
    text = key_text(key)
    lines = [line for run in recording.runs for line in _of_run(recording, run, text)]
    has_several = len({line.run for line in lines}) > 1
    shown = printable(text, _KEY_WIDTH)
    return TableResult.of(
        lines,
        StoryLine,
        f"no task of these computes has the key {shown}",
        f"{shown} · times after the start of its compute",
        {
            **({"compute": lambda line: str(line.run)} if has_several else {}),
            "after": lambda line: format_duration(line.time_s),
            "what happened": lambda line: line.text,
        },
        most=200,
        is_last_left=True,
    )


def _of_run(recording: RecordedData, run: Run, key: str) -> list[StoryLine]:
    graph = recording.graphs[run.run]
    names = [recording.groups[group].name for group in graph.group.tolist()]
    lines: list[StoryLine] = []
    for number in np.flatnonzero(graph.keys.to_text(names) == key).tolist():
        lines += _Task(recording, run, graph, number, key).lines()
    return sorted(lines, key=lambda line: line.time_s)


@dataclass(frozen=True)
class _Task:
    recording: RecordedData
    run: Run
    graph: GraphColumns
    number: int
    key: str

    def lines(self) -> Iterator[StoryLine]:
        """Yield what happened; of two at one time, the cause first."""
        if self.number in self.graph.skipped:
            yield self._line(self.run.start_s, "skipped", "did not have to run: the cluster had its result")
        if self.number in self.graph.released:
            text = "was released before it ran, as its future was deleted"
            yield self._line(
                self.run.start_s if self.run.stop_s is None else self.run.stop_s, "released", text
            )
        if self.number in self.graph.data:
            yield self._line(self.run.start_s, "data", "was there as data: nothing had to be computed")
        elif not math.isnan(self._ready_s):
            yield self._line(self._ready_s, "ready", self._ready_text())
        yield from map(self._stolen, self._steals)
        yield from self._moved()
        yield from self._activities()
        yield from self._executions()
        yield from self._workers_events()
        yield from self._release()

    def _line(
        self,
        at_s: float,
        event: str,
        text: str,
        worker: str | None = None,
        seconds: float | None = None,
        nbytes: float | None = None,
    ) -> StoryLine:
        worker = worker if self.run.is_on_cluster else None
        return StoryLine(self.run.run, at_s - self.run.start_s, event, worker, seconds, nbytes, text)

    @cached_property
    def _links(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.graph.neighbours(self.number)

    @cached_property
    def _inputs(self) -> dict[str, int]:
        """The tasks that it needs, by their keys."""
        return dict(zip(self._texts(self._links[0]), self._links[0].tolist(), strict=True))

    @cached_property
    def _rows(self) -> list[tuple[RowBlock, int]]:
        blocks = [block for block in self.recording.blocks if block.run == self.run.run]
        found = [
            (block, row) for block in blocks for row in np.flatnonzero(block.task == self.number).tolist()
        ]
        return sorted(found, key=lambda at: float(at[0].start[at[1]]))

    @cached_property
    def _steals(self) -> list[Steal]:
        return [s for s in self.recording.steals if s.run == self.run.run and s.key == self.key]

    @cached_property
    def _activities_at(self) -> list[int]:
        rows = self.recording.activities.rows
        found: list[int] = np.flatnonzero((rows.run == self.run.run) & (rows.task == self.number)).tolist()
        return found

    @cached_property
    def _workers(self) -> set[str]:
        """The workers that had the task."""
        of_activities = self.recording.activities.rows.lane[self._activities_at].tolist()
        found = {self.recording.lanes[lane].worker for lane in of_activities}
        return found | {self._worker(*at) for at in self._rows} | {s.to_worker for s in self._steals}

    @cached_property
    def _ready_s(self) -> float:
        return float(ready_times(self.graph)[self.number])

    @cached_property
    def _names(self) -> dict[str, str]:
        sampled = {sample.worker: f"worker {sample.name}" for sample in self.recording.workers}
        # The label of a lane is that of its worker and the thread; short computes have no samples.
        return sampled | {lane.worker: lane.label.rpartition(", ")[0] for lane in self.recording.lanes}

    def _texts(self, tasks: NDArray[np.int64]) -> list[str]:
        groups = [self.recording.groups[n].name for n in self.graph.group[tasks].tolist()]
        return list(self.graph.keys.take(tasks).to_text(groups))

    def _name(self, worker: str | None) -> str:
        return "an unknown worker" if not worker else printable(self._names.get(worker, worker), _KEY_WIDTH)

    def _worker(self, block: RowBlock, row: int) -> str:
        return self.recording.lanes[int(block.lane[row])].worker

    def _ready_text(self) -> str:
        if not self._inputs:
            return "needs no other task, so it could run"
        entered = self.graph.enter_times()
        last = printable(max(self._inputs, key=lambda key: entered[self._inputs[key]]), _KEY_WIDTH)
        n = len(self._inputs)
        return f"{last}, {'its only input' if n == 1 else f'the last of its {n:,} inputs'}, was ready"

    def _stolen(self, steal: Steal) -> StoryLine:
        from_name, to_name = self._name(steal.from_worker), self._name(steal.to_worker)
        text = {
            "stolen": f"stolen: moved from {from_name} to {to_name}",
            "refused": f"not moved from {from_name} to {to_name}: it was already running",
            "rescheduled": f"not moved from {from_name} to {to_name}: one of them was gone",
        }[steal.outcome]
        if steal.cost_s is not None:
            text += f"; the scheduler expected it to take {format_duration(steal.cost_s)}"
        if steal.from_occupancy_s is not None and steal.to_occupancy_s is not None:
            text += f", with {format_duration(steal.from_occupancy_s)} of work on the first worker"
            text += f" and {format_duration(steal.to_occupancy_s)} on the other one"
        return self._line(steal.time_s, steal.outcome, text, steal.to_worker)

    @cached_property
    def _received(self) -> list[Transfer]:
        """Transfers of inputs to workers that had the task."""
        of_inputs = (t for t in self._transfers() if not self._inputs.keys().isdisjoint(t.keys))
        return [t for t in of_inputs if t.worker in self._workers]

    def _transfers(self) -> Iterator[Transfer]:
        stop_s = math.inf if self.run.stop_s is None else self.run.stop_s
        for moved in self.recording.transfers:
            if moved.direction == "incoming" and self.run.start_s <= moved.start_s <= stop_s:
                yield moved

    def _moved(self) -> Iterator[StoryLine]:
        for moved in self._received:
            first, *others = [key for key in moved.keys if key in self._inputs]
            more = f" and {counted(len(others), 'other input')}" if others else ""
            text = f"{printable(first, _KEY_WIDTH)}{more} came from {self._name(moved.peer)}"
            yield self._transfer(moved, "transfer", text)
        for moved in self._transfers():
            if self.key in moved.keys:
                yield self._transfer(moved, "sent", f"its result went to {self._name(moved.worker)}")

    def _transfer(self, moved: Transfer, event: str, text: str) -> StoryLine:
        seconds = moved.stop_s - moved.start_s
        text = f"{text}: {_amount(moved.nbytes)}{format_duration(seconds)}"
        if moved.n_keys > 1:
            text += f", {counted(moved.n_keys, 'result')} together"
        return self._line(moved.start_s, event, text, moved.worker, seconds, moved.nbytes)

    def _activities(self) -> Iterator[StoryLine]:
        columns = self.recording.activities
        rows = columns.rows
        for at in self._activities_at:
            start_s, seconds, nbytes = (float(of[at]) for of in (rows.start, rows.duration, rows.nbytes))
            worker, source = self.recording.lanes[int(rows.lane[at])].worker, columns.sources[rows.source[at]]
            kind, took = ACTIVITIES[rows.kind[at]], format_duration(seconds)
            size = None if math.isnan(nbytes) else nbytes
            if kind == "failed-attempt":
                text = f"failed after {took} and was tried again: {printable(source)}"
            elif kind == "transfer" and self._is_logged(worker, start_s, start_s + seconds):
                continue
            else:
                place = f" from {self._name(source)}" if kind == "transfer" else ""
                text = f"{_ACTIVITY_WORDS[kind]}{place}: {_amount(size)}{took}"
            yield self._line(start_s, kind, f"{text} ({self._name(worker)})", worker, seconds, size)

    def _is_logged(self, worker: str, start_s: float, stop_s: float) -> bool:
        logged = [t for t in self._received if t.worker == worker]
        return any(t.start_s < stop_s and t.stop_s > start_s for t in logged)

    def _executions(self) -> Iterator[StoryLine]:
        for block, row in self._rows:
            start_s, worker = float(block.start[row]), self._worker(block, row)
            text = f"started on {printable(self.recording.lanes[int(block.lane[row])].label, _KEY_WIDTH)}"
            if start_s - self._ready_s > -_TOLERANCE_S:
                text += f", {format_duration(max(start_s - self._ready_s, 0.0))} after it was ready"
            yield self._line(start_s, "start", text, worker)
            if (status := int(flag_codes(block.flags, "status")[row])) != RUNNING:
                yield self._end(block, row, status)

    def _end(self, block: RowBlock, row: int, status: int) -> StoryLine:
        seconds, cpu_s, nbytes = (float(of[row]) for of in (block.duration, block.cpu_s, block.sizes()))
        text = f"{_END_WORDS[status]} after {format_duration(seconds)}"
        text += "" if math.isnan(cpu_s) else f", {format_duration(cpu_s)} of that on the CPU"
        text += "" if math.isnan(nbytes) else f"; its result has {format_bytes(nbytes)}"
        if status != FINISHED and self.number in self.graph.errors:
            text += f": {printable(self.graph.errors[self.number])}"
        size = None if math.isnan(nbytes) else nbytes
        stop_s = float(block.start[row]) + seconds
        return self._line(stop_s, STATUSES[status], text, self._worker(block, row), seconds, size)

    def _workers_events(self) -> Iterator[StoryLine]:
        since_s = min((float(block.start[row]) for block, row in self._rows), default=self.run.start_s)
        stop_s = math.inf if self.run.stop_s is None else self.run.stop_s
        for message in self.recording.messages:
            event = message.event if since_s <= message.time_s <= stop_s else None
            if event is not None and message.worker in self._workers and event in {*WORKER_ENDS, "paused"}:
                yield self._line(message.time_s, event, printable(message.text), message.worker)

    def _release(self) -> Iterator[StoryLine]:
        """Yield when a scheduler of this process dropped the result; a cluster's is not recorded by key."""
        entered = self.graph.enter_times()
        if self.run.is_on_cluster or math.isnan(entered[self.number]):
            return
        if self.number in self.graph.kept:
            if self.run.stop_s is not None:
                yield self._line(self.run.stop_s, "returned", "the compute returned its result")
        elif len(self._links[1]) and not np.isnan(entered[self._links[1]]).any():
            n = len(self._links[1])
            needed = (
                "the task that needed it was"
                if n == 1
                else f"all {format_count(n)} tasks that needed it were"
            )
            text = f"its result was released: {needed} done"
            yield self._line(float(entered[self._links[1]].max()), "released", text)


def _amount(nbytes: float | None) -> str:
    return "" if nbytes is None else f"{format_bytes(nbytes)} in "
