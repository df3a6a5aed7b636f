"""Where a block is shown: under its cell, on a terminal, or nowhere."""

from __future__ import annotations

import sys
from typing import Protocol

from taskscope.recording import Recording
from taskscope.session import Session


class Shown(Protocol):
    """A block, as far as an output shows it."""

    session: Session
    last_run: int | None

    @property
    def first_shown(self) -> int: ...


class Output:
    """Shows nothing; other outputs show a block while it runs, and its result."""

    can_wait = True
    """Whether the result can be replaced later by the complete one."""

    def start(self, block: Shown) -> None:
        """Show that the block has started."""

    def keep_place(self) -> None:
        """Keep a place for the result of a block that has ended, which another thread shows."""

    def go_on(self, recording: Recording) -> None:
        """Show that the block has ended, and that its computes on a cluster run."""

    def finish(self, recording: Recording) -> None:
        """Show the result; where it waited or went on, on another thread."""

    def show_text(self, text: str) -> None:
        """Show text below the result."""

    def close(self) -> None:
        """Close the live view; idempotent."""


class Terminal(Output):
    """Writes the summary to standard error, which keeps a script's own output clean."""

    can_wait = False
    """It would be in the middle of the script's next output."""

    def go_on(self, recording: Recording) -> None:
        self.finish(recording)

    def finish(self, recording: Recording) -> None:
        self.show_text(recording.summary())

    def show_text(self, text: str) -> None:
        stream = sys.stderr
        if stream is None:
            return
        encoding = getattr(stream, "encoding", None) or "utf-8"
        stream.write(f"{text.encode(encoding, 'replace').decode(encoding)}\n")
