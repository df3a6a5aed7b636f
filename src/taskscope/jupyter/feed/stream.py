"""The messages to one page, and how far they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from taskscope.analysis.progress import Estimates, live_states
from taskscope.model.redaction import NOTHING
from taskscope.model.streams import StopWay
from taskscope.model.tables.records import RunningTask
from taskscope.record import Recorder
from taskscope.record.pump import Tick
from taskscope.wire import batch_message
from taskscope.wire.stream import NewRows
from taskscope.wire.writer import FrameWriter

_HEARTBEAT_S = 1.0


class PageStream:
    """A stream of frames from row `cursor` on, each row once; a message has one frame."""

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
        self._waiting: deque[bytes] = deque()
        """Frames that were made and not sent yet."""
        self._writer = FrameWriter.of_page(self._waiting.append, recorder.id, epoch)
        self._rows = NewRows(recorder, self._writer, NOTHING, cursor=min(cursor, recorder.cursor))
        self._header = self._waiting.popleft()
        """The frame that precedes the first message."""
        self._running: list[RunningTask] = []
        self._sent_s = float("-inf")

    @property
    def behind(self) -> bool:
        """Whether there are rows or tables that no message has carried yet."""
        return bool(self._header) or bool(self._waiting) or self._rows.has_more

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
            self._write(tick)
        self._sent_s = tick.now_s
        header, self._header = self._header, b""
        return batch_message(), [header + self._waiting.popleft()]

    def _write(self, tick: Tick) -> None:
        recorder, writer = self._recorder, self._writer
        writer.restart()
        # Before groups and lanes, which it refers to.
        self._running = recorder.running() if tick.active else []
        writer.state = {
            "final": tick.final,
            "n_tasks": recorder.cursor,
            "n_dropped": recorder.dropped,
            "n_activities_dropped": recorder.activities.dropped,
        }
        self._rows.add()
        writer.state |= {"now_s": tick.now_s, "active": tick.active}
        self._stops = self._stop_ways()
        runs = self._rows.runs
        states = live_states(recorder, runs, tick.now_s)
        writer.set_live(self._estimates.of(runs, tick.now_s), self._stops, states)
        writer.set_running(self._running)
        writer.frame()
