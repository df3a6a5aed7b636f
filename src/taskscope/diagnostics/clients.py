"""Clients of clusters: which is in use, and its computes for a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sized
from typing import Any

from taskscope.options import Options
from taskscope.record import Recorder
from taskscope.session import current
from taskscope.sources.cluster import Call, ImportNotice, Submission, may_have_clients, release, watch

__all__ = ["RemoteComputes", "find_client"]


def find_client() -> Any:
    """Return the current `distributed.Client`, None if there is none; never imports distributed."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


class RemoteComputes:
    """Watches clients, and tells when a compute begins and ends, on the thread that computes."""

    def __init__(
        self, begin: Callable[[int, int, Mapping[str, Sized]], None], end: Callable[[int, bool], None]
    ) -> None:
        self._begin = begin
        self._end = end
        self._calls: set[int] = set()
        self._notice = ImportNotice(self._follow)

    def open(self) -> None:
        """Watch from now on, or from when there may be clients."""
        if may_have_clients():
            self._follow()
        else:
            self._notice.wait()

    def _follow(self) -> None:
        # The session first: it begins the run that is followed here, and may hear of the import after us.
        session = current()
        session.hold(self, Options(dt="any", metric="any"))
        session.cluster.attach()
        watch(self)

    def close(self) -> None:
        """Watch no more."""
        self._notice.cancel()
        release(self)
        current().release(self)

    # Called on the threads of users ----------------------------------------------------------------------

    def submitting(self, client: object) -> None:
        """Do nothing."""

    def submitted(self, submission: Submission) -> None:
        """Begin, if somebody waits for it."""
        call, session = submission.call, current()
        run = None if call is None else session.cluster.run_of(call)
        if run is not None and id(call) not in self._calls:
            self._calls.add(id(call))
            self._begin(id(call), run, _Counts(session.recorder, run))

    def handed_over(self) -> None:
        """Do nothing."""

    def returned(self, call: Call, error: BaseException | None) -> None:
        """End."""
        if id(call) in self._calls:
            self._calls.discard(id(call))
            self._end(id(call), error is not None)

    def released(self, client: object, key: Hashable, error: BaseException | None) -> None:
        """Nothing depends on it."""

    def closing(self, client: object) -> None:
        """Do nothing."""

    async def closing_in_loop(self, client: object) -> None:
        """Do nothing."""

    def closed(self, client: object) -> None:
        """Do nothing."""

    def fault(self, where: str, error: BaseException) -> None:
        """Count a fault of ours."""
        current().recorder.fault(where, error)


class _Counts(Mapping[str, Sized]):
    """How many tasks of a run are in which state, as sizes: what the state of a local scheduler has."""

    def __init__(self, recorder: Recorder, run: int) -> None:
        self._recorder = recorder
        self._run = run

    def __getitem__(self, state: str) -> Sized:
        rows = self._recorder.progress(self._run, self._run)
        finished = sum(row.finished for row in rows)
        if state == "finished":
            return range(finished)
        if state == "waiting":
            return range(sum(row.total for row in rows) - finished)
        return ()

    def __iter__(self) -> Iterator[str]:
        return iter(("finished", "waiting"))

    def __len__(self) -> int:
        return 2
