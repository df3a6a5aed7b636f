"""Where a block's picture goes: under its cell, on a terminal, or nowhere."""

from __future__ import annotations

import sys
from typing import Protocol

from taskscope.options import Panel
from taskscope.profiling.block import Block
from taskscope.recording import Recording
from taskscope.sources.cell import in_kernel

__all__ = ["Output", "Silent", "Terminal", "choose_output"]


class Output(Protocol):
    """Shows a block while it runs and what it amounted to."""

    @property
    def can_wait(self) -> bool:
        """Whether what it shows at the end of the block can be replaced later by what is complete."""

    def start(self, block: Block) -> None:
        """Show that the block has started."""

    def keep_place(self) -> None:
        """Know that the block has ended, and that what comes next comes on another thread."""

    def go_on(self, recording: Recording) -> None:
        """Show that the block has ended, and that a cluster goes on with what it began."""

    def finish(self, recording: Recording) -> None:
        """Show the result; where it waited or went on, on another thread."""

    def show_text(self, text: str) -> None:
        """Show text below the result."""

    def close(self) -> None:
        """Have nothing live any more; once more changes nothing."""


class Silent:
    """Shows nothing."""

    can_wait = True

    def keep_place(self) -> None:
        """Do nothing."""

    def start(self, block: Block) -> None:
        """Do nothing."""

    def go_on(self, recording: Recording) -> None:
        """Do nothing."""

    def finish(self, recording: Recording) -> None:
        """Do nothing."""

    def show_text(self, text: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class Terminal:
    """Writes the summary to standard error, which keeps a script's own output clean."""

    can_wait = False
    """It would come in the middle of what the script writes next."""

    def keep_place(self) -> None:
        """Do nothing."""

    def start(self, block: Block) -> None:
        """Do nothing."""

    def go_on(self, recording: Recording) -> None:
        """Write how far it is."""
        self.finish(recording)

    def finish(self, recording: Recording) -> None:
        """Write the summary."""
        self.show_text(recording.summary())

    def show_text(self, text: str) -> None:
        """Write text, in what the stream can encode."""
        stream = sys.stderr
        if stream is None:
            return
        encoding = getattr(stream, "encoding", None) or "utf-8"
        stream.write(f"{text.encode(encoding, 'replace').decode(encoding)}\n")

    def close(self) -> None:
        """Do nothing."""


def choose_output(*, display: bool, panel: Panel | None) -> Output:
    """Return where a block that starts here and now shows itself."""
    if not display:
        return Silent()
    if not in_kernel():
        return Terminal()
    from taskscope.profiling.cell_output import CellOutput

    return CellOutput(panel)
