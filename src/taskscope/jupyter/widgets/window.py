"""Which computes a widget shows."""

from __future__ import annotations

from dataclasses import dataclass

from taskscope.analysis.progress import headline
from taskscope.model.tables.records import PrefixProgress, Run
from taskscope.record import Recorder


@dataclass(frozen=True, slots=True)
class Window:
    """A range of computes of a recorder, both ends included."""

    first_run: int = 0
    last_run: int | None = None

    def of_now(self, recorder: Recorder) -> Window:
        """Return the running part of it, else the compute that ended last, else the next one."""
        runs = [run.run for run in headline(self.runs(recorder))]
        return Window(min(runs, default=recorder.next_run))

    def __contains__(self, run: int) -> bool:
        return self.first_run <= run and (self.last_run is None or run <= self.last_run)

    def runs(self, recorder: Recorder) -> list[Run]:
        """Return the computes in the window."""
        return recorder.runs(self.first_run, self.last_run)

    def progress(self, recorder: Recorder) -> list[PrefixProgress]:
        """Return how far each prefix of each compute in the window is."""
        return recorder.progress(self.first_run, self.last_run)
