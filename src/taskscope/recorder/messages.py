"""What the user should know: dropped, restored, estimated, and our own faults, each said once and counted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

from taskscope.model.errortext import describe
from taskscope.model.records import Message

__all__ = ["MessageLog"]

_MAX_MESSAGES = 1_000
_log = logging.getLogger("taskscope")


class MessageLog:
    """Messages by first appearance; a repeated one is counted."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._first: dict[tuple[Literal["info", "warning"], str], float] = {}
        self._counts: dict[tuple[Literal["info", "warning"], str], int] = {}

    def add(self, level: Literal["info", "warning"], text: str) -> None:
        """Add a message, or count it again."""
        entry = (level, text)
        if entry not in self._first:
            if len(self._first) >= _MAX_MESSAGES:
                return
            self._first[entry] = self._now_s()
        self._counts[entry] = self._counts.get(entry, 0) + 1

    def fault(self, where: str, error: BaseException) -> None:
        """Add a fault of our own; the first of a kind is logged with its traceback."""
        text = f"taskscope failed in {where}: {describe(error)}; the computation was not affected"
        if ("warning", text) not in self._first:
            _log.warning(text, exc_info=error)
        self.add("warning", text)

    def messages(self) -> list[Message]:
        """Return all messages, oldest first, with how often each came."""
        return [
            Message(
                time_s,
                level,
                text if (n := self._counts.get((level, text), 1)) == 1 else f"{text} ({n} times)",
            )
            for (level, text), time_s in list(self._first.items())
        ]
