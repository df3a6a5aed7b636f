"""A compute whose results are gone is not kept by the connection that recorded it."""

from __future__ import annotations

import gc

import dask
import dask.array as da
from distributed import Client, wait

import taskscope
from taskscope.session import current
from taskscope.sources.cluster.runs import TrackedRun
from tests.support.clusters.tasks import fail
from tests.support.waiting import until


def tracked() -> list[TrackedRun]:
    gc.collect()
    return [thing for thing in gc.get_objects() if type(thing) is TrackedRun]


def test_a_connection_that_stays_keeps_no_compute_whose_tasks_the_scheduler_has_forgotten(
    client: Client,
) -> None:
    earlier = tracked()
    with taskscope.profile(display=False) as run:
        kept = da.ones((40,), chunks=10).persist()
        wait([kept, client.submit(fail, "no", pure=False)])
        assert (kept + 1).sum().compute() == 80
        # The scheduler has forgotten the failure when this ends.
        assert dask.delayed(abs)(-1).compute() == 1
        until(lambda: not current().cluster.owes_answers)
        assert len(tracked()) > len(earlier)
        del kept
        until(lambda: set(tracked()) == set(earlier), tracked)
        assert len(current().cluster.schedulers) == 1
    statuses = sorted(found.status for found in run.recording.runs)
    assert statuses == ["erred", "finished", "finished", "finished"]
