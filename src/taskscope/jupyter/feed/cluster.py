"""What one page has been sent of what only clusters have."""

from __future__ import annotations

import numpy as np

from taskscope.model.tables.records import flag_codes
from taskscope.record import Recorder
from taskscope.record.tables.log import Reader
from taskscope.wire import ActivityPart, ClusterPart, MeteredPart, WorkerPart, changed_workers

_MAX_ROWS = 20_000


class ClusterStream:
    """Never says a thing twice."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._n_sources = 1
        self._metrics_version = 0
        self._samples = Reader(recorder.workers, _MAX_ROWS)
        self._activities = Reader(recorder.activities, _MAX_ROWS)
        self._completed = Reader(recorder.activities.completed, _MAX_ROWS)
        # Rows that are told from now on have it.
        self._metered = Reader(recorder.metered_rows, _MAX_ROWS, recorder.metered_rows.cursor)
        self._workers: dict[str, tuple[int, str, str, int]] = {}

    @property
    def behind(self) -> bool:
        """Whether there is something that no message has carried yet."""
        return (
            self._activities.has_more
            or self._metered.has_more
            or self._completed.has_more
            or self._samples.has_more
            or self._metrics_version < self._recorder.metered.version
        )

    def next(self) -> ClusterPart:
        """Return what the next message says; it counts as sent."""
        self._metrics_version, metrics = self._recorder.metered.seconds_since(self._metrics_version)
        return ClusterPart(
            metered=self._newly_metered(),
            activities=self._new_activities(),
            workers=self._new_samples(),
            metrics=metrics,
        )

    def _newly_metered(self) -> MeteredPart:
        rows, blocks = self._recorder.newly_metered(self._metered)
        whole = [block.cpu_s for block in blocks]
        flags = [block.flags for block in blocks]
        return MeteredPart(
            rows=rows,
            cpu_s=np.concatenate([np.empty(0), *whole]).astype(np.float64),
            cpu_from=flag_codes(np.concatenate([np.empty(0, np.uint8), *flags]), "cpu_from"),
        )

    def _new_activities(self) -> ActivityPart:
        new = self._recorder.new_activities(self._activities, self._completed, self._n_sources)
        sources = list(enumerate(new.sources, start=self._n_sources))
        self._n_sources += len(sources)
        return ActivityPart(
            first=new.first,
            dropped=self._recorder.activities.dropped,
            rows=new.rows,
            sources=sources,
            completed=new.completed,
            nbytes=new.nbytes,
        )

    def _new_samples(self) -> WorkerPart:
        first, samples = self._samples.next()
        changed = changed_workers(self._workers, samples)
        return WorkerPart(
            first=first,
            samples=samples,
            numbers={address: row[0] for address, row in self._workers.items()},
            workers=changed,
        )
