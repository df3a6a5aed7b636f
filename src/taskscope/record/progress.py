"""Progress that has changed since it was read last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from taskscope.model.tables.records import PrefixProgress, Run
from taskscope.record.recorder import Recorder


class ProgressReader:
    """Reads the progress of each prefix of the runs that it is given, as far as it has changed."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.going: dict[int, Run] = {}
        """The runs that have not ended, by number."""
        self._known: dict[tuple[int, str], PrefixProgress] = {}

    def next(self, changed: Sequence[Run]) -> list[PrefixProgress]:
        """Return the rows that are new; `changed` are the runs that began, changed or ended."""
        runs = self.going | {run.run: run for run in changed}
        self.going = {number: run for number, run in runs.items() if run.status == "running"}
        spans = _spans(sorted(number for number, run in runs.items() if run.n_runs == 1))
        spans += [(run.run, run.last_run) for run in runs.values() if run.last_run is not None]
        rows = [row for first, last in spans for row in self._recorder.progress(first, last)]
        new = [row for row in rows if self._known.get((row.run, row.prefix)) != row]
        self._known |= {(row.run, row.prefix): row for row in new}
        self._known = {key: row for key, row in self._known.items() if key[0] in self.going}
        return new


def _spans(numbers: list[int]) -> list[tuple[int, int]]:
    """Return sorted whole numbers as first and last of each unbroken span."""
    spans = [[n for _, n in span] for _, span in groupby(enumerate(numbers), lambda item: item[1] - item[0])]
    return [(span[0], span[-1]) for span in spans]
