"""The screen of a real terminal, tmux."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.support.waiting import PATIENCE_S, until

COMMAND = [sys.executable, "-m", "taskscope"]


class Screen:
    """A terminal in which a command runs."""

    def __init__(self, folder: Path, command: str, width: int, height: int) -> None:
        self._tmux = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux")]
        size = ["-x", str(width), "-y", str(height)]
        # The shell stays, so that what is left on the screen can be read.
        shell = f"{command}; echo status $?; exec cat"
        self.run("new-session", "-d", *size, "-c", str(folder), shell)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.run("kill-server")

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._tmux, *arguments], capture_output=True, text=True, check=True, timeout=PATIENCE_S
        )
        return done.stdout

    def text(self, *, scrolled: bool = False) -> str:
        """Return the lines on the screen, and those that have scrolled off it."""
        return self.run("capture-pane", "-p", *(["-S", "-"] if scrolled else []))

    def shows(self, *texts: str) -> str:
        """Return the screen once it shows all of these texts."""
        shown = ""

        def has_all() -> bool:
            nonlocal shown
            shown = self.text()
            return all(text in shown for text in texts)

        until(has_all, lambda: shown)
        return shown
