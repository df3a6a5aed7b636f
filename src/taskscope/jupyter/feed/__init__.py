"""The feed: messages of this kernel's recorder to the browser's pages, over comms that they opened."""

from __future__ import annotations

from taskscope.jupyter.feed.feed import Feed, current
from taskscope.jupyter.feed.pages import MAX_MESSAGES_PER_S, Publisher, Sender

__all__ = ["MAX_MESSAGES_PER_S", "Feed", "Publisher", "Sender", "current"]
