"""What the user should know: dropped, restored, estimated, and our own faults, each said once and counted."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from taskscope.model.errortext import describe
from taskscope.model.tables.records import Message

__all__ = ["MessageLog"]

_MAX_MESSAGES = 1_000
_TOO_MANY = "there were more kinds of messages than are kept"
_Level: TypeAlias = Literal["info", "warning"]
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
        self._seen: dict[tuple[_Level, str], _Seen] = {}

    def add(self, level: _Level, text: str) -> bool:
        """Add a message, or count it again; True if it is a new one that is kept."""
        now_s = self._now_s()
        known = self._seen.get((level, text))
        kept = known is not None or len(self._seen) < _MAX_MESSAGES
        if not kept:
            known = self._seen.get(("warning", _TOO_MANY))
        if known is not None:
            known.last_s = now_s
            known.count += 1
            return False
        self._seen[(level, text) if kept else ("warning", _TOO_MANY)] = _Seen(now_s, now_s, 1)
        return kept

    def fault(self, where: str, error: BaseException) -> None:
        """Add a fault of our own; the first of a kind is logged with its traceback."""
        text = f"taskscope failed in {where}: {describe(error)}; the computation was not affected"
        if self.add("warning", text):
            _log.warning(text, exc_info=error)

    def messages(self, start_s: float = -math.inf, stop_s: float = math.inf) -> list[Message]:
        """Return the messages that came in this time, by first appearance, and how often each came in all."""
        return [
            Message(
                seen.first_s if seen.first_s >= start_s else seen.last_s,
                level,
                text if seen.count == 1 else f"{text} ({seen.count} times)",
            )
            for (level, text), seen in list(self._seen.items())
            if seen.first_s <= stop_s and seen.last_s >= start_s
        ]
