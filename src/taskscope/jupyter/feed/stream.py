"""The messages to one page, and how far they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from taskscope.analysis.progress import Estimates
from taskscope.model.streams import StopWay
from taskscope.model.tables.records import Group, Lane, Message, Run, RunningTask
from taskscope.record import Recorder
from taskscope.record.progress import ProgressReader
from taskscope.record.pump import Tick
from taskscope.record.tables.log import Reader
from taskscope.wire import Batch, PageEncoder, Rows, batch_message, worker_tables

MAX_ROWS = 100_000
"""Most task rows in one message while a compute runs."""

MAX_IDLE_ROWS = 250_000
"""Most task rows in one message while nothing runs that a long message could hold up."""

_MAX_SERIES_ROWS = 20_000
_HEARTBEAT_S = 1.0


class PageStream:
    """A stream of batches from row `cursor` on, numbered from 0, each row once."""

    def __init__(
        self,
        recorder: Recorder,
        epoch: str,
        cursor: int,
        estimates: Estimates,
        stop_ways: Callable[[], Mapping[int, StopWay]] = dict,
    ) -> None:
        self._recorder = recorder
        self._estimates = estimates
        self._stop_ways = stop_ways
        self._stops: Mapping[int, StopWay] = {}
        self._encoder = PageEncoder(recorder.id, epoch)
        self._waiting: deque[bytes] = deque()
        """Frames that were made and not sent yet: one message has one."""
        self._cursor = min(cursor, recorder.cursor)
        self._begun = False
        self._n_groups = self._n_lanes = self._n_messages = 0
        self._resources = Reader(recorder.resources, _MAX_SERIES_ROWS)
        self._held = Reader(recorder.held, _MAX_SERIES_ROWS)
        self._cluster = ClusterStream(recorder)
        self._runs_version = 0
        self._metrics: dict[int, str] = {}
        self._progress = ProgressReader(recorder)
        self._running: list[RunningTask] = []
        self._sent_s = float("-inf")

    @property
    def behind(self) -> bool:
        """Whether there are rows or tables that no message has carried yet."""
        recorder = self._recorder
        return (
            not self._begun
            or bool(self._waiting)
            or self._cursor < recorder.cursor
            or self._runs_version != recorder.version
            or self._n_messages < len(recorder.messages)
            or self._resources.has_more
            or self._held.has_more
            or self._cluster.behind
        )

    def wants(self, tick: Tick) -> bool:
        """Return whether a message is due."""
        if self.behind or tick.final:
            return True
        if not tick.active:
            return bool(self._running)
        return (
            tick.now_s - self._sent_s >= _HEARTBEAT_S
            or self._recorder.running() != self._running
            or self._stop_ways() != self._stops
        )

    def next(self, tick: Tick) -> tuple[dict[str, object], list[bytes]]:
        """Return the next message; it counts as sent."""
        if not self._waiting:
            self._waiting += self._frames(tick)
        self._sent_s = tick.now_s
        return batch_message(), [self._waiting.popleft()]

    def _frames(self, tick: Tick) -> list[bytes]:
        batch = self._batch(tick)
        frames, n_tasks = self._encoder.frames(batch)
        self._cursor = batch.first + n_tasks
        self._begun = True
        return frames

    def _batch(self, tick: Tick) -> Batch:
        recorder = self._recorder
        first, tasks = recorder.tasks_since(self._cursor, MAX_ROWS if tick.active else MAX_IDLE_ROWS)
        tables = {"cache": Rows(*self._held.next())}
        runs = self._new_runs(recorder.metrics)
        estimates = self._estimates.of([*self._progress.going.values(), *runs], tick.now_s)
        progress = self._progress.next(runs)
        self._running = recorder.running() if tick.active else []
        self._stops = self._stop_ways()
        tables |= {"resources": Rows(*self._resources.next()), **self._cluster.next()}
        # Groups and lanes last: the rows above may refer to new ones.
        return Batch(
            now_s=tick.now_s,
            active=tick.active,
            final=tick.final,
            first=first,
            cursor=recorder.cursor,
            dropped=recorder.dropped,
            tasks=tasks,
            runs=runs,
            progress=progress,
            estimates=estimates,
            stops=self._stops,
            running=self._running,
            groups=self._new_groups(),
            lanes=self._new_lanes(),
            messages=self._new_messages(),
            metrics=self._metrics,
            state={
                "n_activities_dropped": recorder.activities.dropped,
                "n_cores": recorder.limits.n_cores,
                "limit_bytes": recorder.limits.memory_bytes,
            },
            tables=tables,
        )

    def _new_runs(self, metrics: Mapping[int, str]) -> list[Run]:
        """Return the runs that changed, and runs that have got a metric of the user's."""
        self._runs_version, runs = self._recorder.runs_since(self._runs_version)
        changed = {run.run for run in runs}
        named = sorted(metrics.keys() - self._metrics.keys() - changed)
        self._metrics = dict(metrics)
        return runs + [run for number in named for run in self._recorder.runs(number, number)]

    def _new_groups(self) -> list[Group]:
        groups = list(self._recorder.groups[self._n_groups :])
        self._n_groups += len(groups)
        return groups

    def _new_lanes(self) -> list[Lane]:
        lanes = list(self._recorder.lanes[self._n_lanes :])
        self._n_lanes += len(lanes)
        return lanes

    def _new_messages(self) -> list[Message]:
        messages = self._recorder.messages[self._n_messages :]
        self._n_messages += len(messages)
        return messages


class ClusterStream:
    """The tables of clusters in one page's messages, each row once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._n_sources = 1
        self._metrics_version = 0
        self._samples = Reader(recorder.workers, _MAX_SERIES_ROWS)
        self._activities = Reader(recorder.activities, _MAX_SERIES_ROWS)
        self._workers: dict[str, tuple[int, str, str, int]] = {}

    @property
    def behind(self) -> bool:
        """Whether there is something that no message has carried yet."""
        return (
            self._activities.has_more
            or self._samples.has_more
            or self._metrics_version < self._recorder.metered.version
        )

    def next(self) -> dict[str, Rows]:
        """Return the tables of the next message; they count as sent."""
        self._metrics_version, metrics = self._recorder.metered.seconds_since(self._metrics_version)
        # Sources last: the rows above may refer to new ones.
        first_activity, activities = self._activities.next()
        sources = self._recorder.activities.sources[self._n_sources :]
        self._n_sources += len(sources)
        first, samples = self._samples.next()
        return {
            "sources": Rows(0, sources),
            "activities": Rows(first_activity, activities),
            **worker_tables(self._workers, samples, first),
            "seconds": Rows(0, metrics),
        }
