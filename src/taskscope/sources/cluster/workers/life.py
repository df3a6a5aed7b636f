"""What becomes of workers: they come, pause, are killed, time out, are retired, leave.

Of a ``life`` event, what happened is one of

- ``came``: its name, the address of its nanny where it has one, and how many threads it has;
- ``status``: which it had, and which it has;
- ``killed``: how many bytes it had when its nanny killed it for that;
- ``timed out``: after how many seconds without a word the scheduler gave it up;
- ``closing``: why, as the worker itself says;
- ``gone``: whether that was expected, as it is of a worker that says goodbye.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from taskscope.model.tables.records import WorkerEvent
from taskscope.record import Recorder
from taskscope.sources.cluster.workers.known import Workers, WorkerSampler

__all__ = ["WorkersLife"]

_T = TypeVar("_T")
_MOST_KNOWN = 1_000
_RETIRED = "retired"
_MOMENT = re.compile(r"-\d+(\.\d+)?$")
"""What ends the name of a stimulus."""


class WorkersLife:
    """Tells what becomes of each worker, when it does, and why tasks are lost that it had.

    Parameters
    ----------
    workers
        What they are called.
    recorder
        Where to tell.
    samples
        Where it is recorded how many threads a worker has from when on.
    is_computing
        Whether anything runs: workers that come and go as they are meant to are mentioned then only.
    """

    def __init__(
        self, workers: Workers, recorder: Recorder, samples: WorkerSampler, is_computing: Callable[[], bool]
    ) -> None:
        self._samples = samples
        self._workers = workers
        self._recorder = recorder
        self._is_computing = is_computing
        self._why: dict[str, str] = {}
        """Why a worker is going, by address."""
        self._alone: dict[str, None] = {}
        """Nannies whose worker is gone."""

    def take(self, address: str, moment: float, what: str, details: Any) -> None:
        """Take an event, at a moment on the clock's axis."""
        match what, details:
            case "came", [str(name), str(nanny), int(n_threads)]:
                self._come(address, moment, name, nanny)
                self._samples.come(self._workers.get(address), moment, n_threads)
            case "status", [str(before), str(status)]:
                self._change(address, moment, before, status)
            case "killed", float(n_bytes):
                why = f"killed because of its memory ({n_bytes / 2**20:,.0f} MiB)"
                self._note(address, why)
                self._add(address, moment, f"was {why}", "killed")
            case "timed out", float(seconds):
                why = f"timed out: the scheduler had not heard of it for {seconds:g} s"
                self._note(address, why)
                self._add(address, moment, why, "timed out")
            case "closing", str(reason) if address not in self._why:
                self._note(address, f"closed ({_MOMENT.sub('', reason)})")
            case "gone", bool(is_expected):
                self._samples.leave(self._workers.get(address), moment)
                self._go(address, moment, is_expected=is_expected)

    def why_gone(self, address: str, *, is_expected: bool) -> str:
        """Return why tasks are lost that a worker had which is gone."""
        label, why = self._workers.get(address).label, self._why.get(address)
        return f"{label} {'left' if is_expected else 'died'}" + ("" if why is None else f": {why}")

    def _come(self, address: str, moment: float, name: str, nanny: str) -> None:
        worker = self._workers.get(address)
        worker.name, worker.nanny = name, nanny
        if nanny in self._alone:
            del self._alone[nanny]
            self._add(address, moment, "was restarted by its nanny", "restarted", "info")
        else:
            self._add(address, moment, "came", "came", "info")

    def _change(self, address: str, moment: float, before: str, status: str) -> None:
        if before == "closing_gracefully":
            # Its data could not be moved to others: it stays.
            self._why.pop(address, None)
        if status == "closing_gracefully":
            self._note(address, _RETIRED)
        elif status == "paused":
            self._add(address, moment, "paused: it begins no task until it has memory again", "paused")
        elif (before, status) == ("paused", "running"):
            self._add(address, moment, "runs again", "resumed", "info")

    def _go(self, address: str, moment: float, *, is_expected: bool) -> None:
        nanny, why = self._workers.get(address).nanny, self._why.get(address)
        if nanny:
            _remember(self._alone, nanny, None)
        if why == _RETIRED:
            self._add(address, moment, "was retired", "retired", "info")
        elif why is not None and why.startswith("closed"):
            self._add(address, moment, why, "left", "info")
        elif why is None and is_expected:
            self._add(address, moment, "left", "left", "info")
        elif why is None:
            self._add(address, moment, "died", "died")

    def _note(self, address: str, why: str) -> None:
        _remember(self._why, address, why)

    def _add(
        self,
        address: str,
        moment: float,
        text: str,
        event: WorkerEvent,
        level: Literal["info", "warning"] = "warning",
    ) -> None:
        if level == "info" and not self._is_computing():
            return
        label = self._workers.get(address).label
        log, time_s = self._recorder.messages_log, self._recorder.seconds(moment)
        log.add_event(time_s, level, f"{label} {text}", address, event)


def _remember(known: dict[str, _T], name: str, value: _T) -> None:
    known[name] = value
    while len(known) > _MOST_KNOWN:
        del known[next(iter(known))]
