"""Warnings and errors in the logs of the scheduler and the workers are recorded while computes run."""

from __future__ import annotations

import logging
from pathlib import Path

from distributed import Client, Event, LocalCluster

import taskscope
from tests.support.clusters.recordings import rows
from tests.support.waiting import until


def warn(number: int) -> int:
    logger = logging.getLogger("distributed.worker")
    logger.info("not recorded")
    logger.warning("odd number %d \ud800", number)
    return number


def wait_for(name: str) -> None:
    Event(name).wait()


def log_on_scheduler(dask_scheduler: object) -> None:
    logging.getLogger("distributed.scheduler").error("of %s", "the scheduler")


def test_log_lines_of_scheduler_and_workers_are_recorded(
    client: Client, cluster: LocalCluster, tmp_path: Path
) -> None:
    here = next(iter(cluster.workers.values())).worker_address
    with taskscope.profile(display=False, save=tmp_path / "run.taskscope") as run:
        assert client.submit(warn, 7, workers=[here], pure=False).result() == 7
        waiting = client.submit(wait_for, "logged", pure=False)
        client.run_on_scheduler(log_on_scheduler)
        Event("logged", client=client).set()
        waiting.result()
        assert client.submit(warn, 8, workers=[here], pure=False).result() == 8
    lines = rows(run.recording, "logs", "worker", "level", "text")
    # On a busy machine distributed may have lines of its own.
    assert sorted((line for line in lines if line[2].startswith(("not", "odd", "of"))), key=str) == [
        (here, "warning", "odd number 7 \\ud800"),
        (here, "warning", "odd number 8 \\ud800"),
        (None, "error", "of the scheduler"),
    ]
    times = [time_s for (time_s,) in rows(run.recording, "logs", "time_s")]
    assert all(0 <= time_s <= 600 for time_s in times)


def flood(dask_scheduler: object) -> None:
    for number in range(5_000):
        logging.getLogger("distributed.scheduler").warning("line %d", number)


def test_of_very_many_lines_the_first_of_each_second_are_recorded(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        future = client.submit(wait_for, "logs", pure=False)
        until(lambda: bool(run.recording.runs))
        client.run_on_scheduler(flood)
        Event("logs", client=client).set()
        future.result()
    lines = rows(run.recording, "logs", "text")
    assert ("line 0",) in lines
    assert len(lines) < 5_000
