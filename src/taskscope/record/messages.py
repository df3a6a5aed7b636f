"""Messages to the user: dropped rows, restored hooks, estimates, our faults, each once and counted."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from taskscope.model.errortext import worded
from taskscope.model.tables.records import Message, WorkerEvent

_MAX_MESSAGES = 1_000
_Level: TypeAlias = Literal["info", "warning"]
_TOO_MANY: tuple[_Level, str, str] = (
    "warning",
    *worded("there were more kinds of messages than are kept"),
)
_MAX_EVENTS = 1_000
_MORE_EVENTS = "more happened to workers than is kept"
_log = logging.getLogger("taskscope")


@dataclass(slots=True)
class _Seen:
    first_s: float
    last_s: float
    count: int


class MessageLog:
    """Messages by first appearance; a repeated one is counted."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._seen: dict[tuple[_Level, str, str] | Message, _Seen] = {}
        """How often each was added, and when; an event of a worker happens once."""
        self._n_events = 0

    def add(self, level: _Level, words: str, *names: object, counts: bool = True) -> bool:
        """Add a message, or count it again if repetitions count; True if it is a new one that is kept.

        It has a ``%s`` for each name or error of the user's program or machine, which redaction hides.
        """
        now_s = self._now_s()
        said = level, *worded(words, *names)
        known = self._seen.get(said)
        kept = known is not None or len(self._seen) < _MAX_MESSAGES
        if not kept:
            known = self._seen.get(_TOO_MANY)
        if known is not None:
            known.last_s = now_s
            known.count += counts
            return False
        self._seen[said if kept else _TOO_MANY] = _Seen(now_s, now_s, 1)
        return kept

    @property
    def n_kinds(self) -> int:
        """How many different messages there are."""
        return len(self._seen)

    def refuse(self, words: str, *names: object, at_start: bool) -> None:
        """Add a message about an option without effect, once; log it if the block has not run yet."""
        self.add("warning", words, *names, counts=False)
        if at_start:
            _log.warning(words, *names)

    def add_event(
        self, time_s: float, level: _Level, said: tuple[str, str], worker: str, event: WorkerEvent
    ) -> None:
        """Add an event of a worker, `worded`, at some moment, seconds after the recorder's zero."""
        if self._n_events >= _MAX_EVENTS:
            self.add("warning", _MORE_EVENTS)
            return
        self._n_events += 1
        text, words = said
        self._seen[Message(time_s, level, text, worker, event, words)] = _Seen(time_s, time_s, 1)

    def fault(self, where: str, error: BaseException) -> None:
        """Add a fault of taskscope; the first of a kind is logged, its traceback with the level `DEBUG`."""
        said = f"taskscope failed in {where}: %s; the computation was not affected", error
        if self.add("warning", *said):
            # A traceback among a cell's output looks as if the cell had failed.
            text, _ = worded(*said)
            _log.warning(text)
            _log.debug("the traceback of: %s", text, exc_info=error)

    def messages(self, start_s: float = -math.inf, stop_s: float = math.inf) -> list[Message]:
        """Return the messages of this time, by first appearance, and how often each was added in all."""
        return [
            said if isinstance(said, Message) else _counted(*said, seen, start_s)
            for said, seen in list(self._seen.items())
            if seen.first_s <= stop_s and seen.last_s >= start_s
        ]


def warning(time_s: float, words: str, *names: object) -> Message:
    """Return a warning, `worded`."""
    text, without = worded(words, *names)
    return Message(time_s, "warning", text, words=without)


def _counted(level: _Level, text: str, words: str, seen: _Seen, start_s: float) -> Message:
    time_s = seen.first_s if seen.first_s >= start_s else seen.last_s
    count = "" if seen.count == 1 else f" ({seen.count} times)"
    return Message(time_s, level, text + count, words=words + count)
