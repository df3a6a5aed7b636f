"""Wake what waits on an event loop, from any thread."""

from __future__ import annotations

import asyncio
import contextlib

__all__ = ["Alarm"]


class Alarm:
    """Rings until it is turned off; other threads can ring it from `open` on, until the loop is closed."""

    def __init__(self) -> None:
        self._ringing = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """Be there for the loop that runs."""
        self._loop = asyncio.get_running_loop()

    def ring(self) -> None:
        """Wake who waits, or will; called on any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._ringing.set)

    def ring_here(self) -> None:
        """Do so at once, on the loop itself."""
        self._ringing.set()

    def turn_off(self) -> None:
        """Ring no more until somebody rings again; on the loop."""
        self._ringing.clear()

    async def wait(self, longest_s: float | None) -> bool:
        """Return whether it rang within this time; None: however long it takes."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                await self._ringing.wait()
        return self._ringing.is_set()
