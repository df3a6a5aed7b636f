"""The word that a test gives to a process of its own: now."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

LISTENER = """
def on_signal(pipe, act):
    import threading
    def listen():
        open(pipe).close()
        act()
    threading.Thread(target=listen, name="signal-pipe", daemon=True).start()
"""
"""Code for the other process: calls `act` on a thread when the test signals."""


class SignalPipe:
    """A named pipe that is opened once; who reads it waits until then.

    Parameters
    ----------
    path
        Where it is made.
    """

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._signalled = False
        os.mkfifo(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go who still waits."""
        if not self._signalled:
            with suppress(OSError):  # nobody waits
                os.close(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK))

    def signal(self) -> None:
        """Let the listener act, once; wait for it if it does not listen yet."""
        if not self._signalled:
            self._signalled = True
            os.close(os.open(self.path, os.O_WRONLY))
