"""Which row each task of one run is counted by: on a cluster it may run several times."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

from taskscope.model.records import ERRED, FINISHED, LOST
from taskscope.record import RunLog

__all__ = ["CountedRows"]


class CountedRows:
    """Tells the recorder which rows count no more, because their task has a later one or is in flight again.

    Parameters
    ----------
    log
        Where the run is recorded.
    landed
        Its tasks that have finished at least once, as far as it was told.
    """

    def __init__(self, log: RunLog, landed: Mapping[Hashable, object]) -> None:
        self._log = log
        self._landed = landed
        self._others: dict[Hashable, int | None] = {}
        """The statuses of the last rows that are not of having finished, None for what is in flight again."""

    def is_lost(self, key: Hashable) -> bool:
        """Return whether a task went down with its worker, and was not sent to another since."""
        return self._others.get(key) == LOST

    def send(self, key: Hashable) -> None:
        """Note that a worker has been given a task."""
        if self._replace(key, ()):
            self._others[key] = None

    def lose(self, key: Hashable) -> None:
        """Note that a task went down with its worker, before its row is told."""
        self._replace(key, ())
        self._others[key] = LOST

    def end(self, keys: Sequence[Hashable], failed: Collection[int]) -> None:
        """Note which tasks ended, in their order, before it is told; `failed` are places of `keys`."""
        # Nearly always each for the first time, and there may be thousands a second.
        is_first = not (failed or self._others) and self._landed.keys().isdisjoint(keys)
        if is_first and len(set(keys)) == len(keys):
            return
        finished: set[Hashable] = set()
        for place, key in enumerate(keys):
            self._replace(key, finished)
            if place in failed:
                self._others[key] = ERRED
            else:
                self._others.pop(key, None)
                finished.add(key)

    def _replace(self, key: Hashable, finished: Collection[Hashable]) -> bool:
        """Have the last row of a task count no more, if there is one; `finished` have one of that status."""
        has_finished = key in finished or key in self._landed
        status = self._others.get(key, FINISHED if has_finished else None)
        if status is None:
            return False
        self._log.superseded.extend((key, status))
        return True
