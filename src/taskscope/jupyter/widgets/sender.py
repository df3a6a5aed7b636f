"""The turn of one widget at the publisher: its traits, at most twice a second, when there is news."""

from __future__ import annotations

from collections.abc import Callable

from taskscope.record import Recorder
from taskscope.record.pump import Tick


class TraitSender:
    """Refreshes a widget's traits in its turn."""

    interval_s = 0.5

    def __init__(
        self, name: str, recorder: Recorder, refresh: Callable[[float], None], has_changes: Callable[[], bool]
    ) -> None:
        self.name = name
        self._recorder = recorder
        self._refresh = refresh
        self._has_changes = has_changes
        self._seen: tuple[int, int] | None = None

    def wants(self, tick: Tick) -> bool:
        """Return whether the traits may have to change."""
        return tick.active or tick.final or self._has_changes() or self._seen != self._state()

    def send(self, tick: Tick) -> None:
        """Refresh the traits."""
        self._seen = self._state()
        self._refresh(tick.now_s)

    def _state(self) -> tuple[int, int]:
        return self._recorder.version, self._recorder.cursor
