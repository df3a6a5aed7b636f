"""What persons chose in widgets while a cell ran, on its way to the thread that sets traits."""

from __future__ import annotations

from collections.abc import Mapping

from taskscope.model.forklock import ForkLock

__all__ = ["Told"]


class Told:
    """A letter box for each widget that follows the recorder."""

    def __init__(self) -> None:
        self._letters: dict[str, dict[str, object]] = {}
        self._lock = ForkLock()

    def open(self, model: str) -> None:
        """Take letters for a widget from now on."""
        with self._lock:
            self._letters.setdefault(model, {})

    def close(self, model: str) -> None:
        """Take none any more."""
        with self._lock:
            self._letters.pop(model, None)

    def put(self, model: str, trait: str, value: object) -> bool:
        """Leave the value of a trait; return whether there is such a widget. The last one counts."""
        with self._lock:
            if model not in self._letters:
                return False
            self._letters[model][trait] = value
            return True

    def has(self, model: str) -> bool:
        """Return whether something waits for a widget."""
        return bool(self._letters.get(model))

    def take(self, model: str) -> Mapping[str, object]:
        """Return what waits for a widget, by trait; it counts as delivered."""
        with self._lock:
            if not self._letters.get(model):
                return {}
            told, self._letters[model] = self._letters[model], {}
            return told
