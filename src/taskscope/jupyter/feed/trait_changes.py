"""What persons chose in widgets while a cell ran, on its way to the thread that sets traits."""

from __future__ import annotations

from collections.abc import Mapping

from taskscope.model.forklock import ForkLock


class PendingTraitChanges:
    """The values that wait for each widget that follows the recorder."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, object]] = {}
        self._lock = ForkLock()

    def open(self, model: str) -> None:
        """Keep values for a widget from now on."""
        with self._lock:
            self._waiting.setdefault(model, {})

    def close(self, model: str) -> None:
        """Keep none any more."""
        with self._lock:
            self._waiting.pop(model, None)

    def put(self, model: str, trait: str, value: object) -> bool:
        """Keep the value of a trait; return whether there is such a widget. The last one counts."""
        with self._lock:
            if model not in self._waiting:
                return False
            self._waiting[model][trait] = value
            return True

    def has(self, model: str) -> bool:
        """Return whether something waits for a widget."""
        return bool(self._waiting.get(model))

    def take(self, model: str) -> Mapping[str, object]:
        """Return what waits for a widget, by trait; it counts as delivered."""
        with self._lock:
            if not self._waiting.get(model):
                return {}
            changes, self._waiting[model] = self._waiting[model], {}
            return changes
