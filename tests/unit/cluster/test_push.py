"""Records that the scheduler sends by itself are those that it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dask
import pytest
from distributed import Client, Event, LocalCluster, wait

import taskscope
from taskscope.errors import OptionError
from taskscope.recording import Recording
from taskscope.sources.cluster import Transport
from taskscope.sources.cluster.stream import TaskStream
from tests.support.waiting import until
from tests.unit.cluster.test_computes import rows

N_TASKS = 200


def halved(number: int) -> float:
    """Divide by a number, which one of them is not made for."""
    return 1 / (number - 7)


def last() -> float:
    """End once that is allowed."""
    return float(Event("taskscope-test").wait())


def computed(client: Client, transport: Transport, seen: Callable[[], bool]) -> Recording:
    """Compute, with one task that lasts until something is seen."""
    may_end = Event("taskscope-test", client=client)
    may_end.clear()
    with taskscope.profile(display=False, transport=transport) as run:
        futures = client.map(halved, range(N_TASKS), key=[f"halved-{i}" for i in range(N_TASKS)])
        futures.append(client.submit(last, key="last-0"))
        until(seen)
        may_end.set()
        wait(futures)
        del futures
    return run.recording


def told(recording: Recording) -> Counter[tuple[str, ...]]:
    found = rows(recording, "tasks", "key", "prefix", "status", "error", "observed_by", "result_bytes")
    return Counter(tuple(map(str, row)) for row in found)


def test_the_same_run_is_recorded_by_asking_and_by_being_sent(
    client: Client, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    take = TaskStream.take

    def counted(stream: TaskStream, first: int, records: Sequence[Mapping[str, Any]]) -> None:
        sent.append(len(records))
        take(stream, first, records)

    monkeypatch.setattr(TaskStream, "take", counted)
    asked = computed(client, "poll", lambda: True)
    assert sent == []
    pushed = computed(client, "push", lambda: sum(sent) > 0)
    assert told(pushed) == told(asked)
    assert (sum(told(pushed).values()), pushed.runs[0].status) == (N_TASKS + 1, "erred")
    assert rows(pushed, "messages", "text") == rows(asked, "messages", "text") == []
    # With the last run goes what ran on the scheduler.
    scheduler = cluster.scheduler
    assert scheduler is not None
    until(lambda: "feed" not in scheduler._comms.values())
    assert [name for name in scheduler.plugins if "taskscope" in name] == []


def test_a_scheduler_that_forbids_it_is_asked_and_that_is_said() -> None:
    with (
        dask.config.set({"distributed.scheduler.blocked-handlers": ["feed"]}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False, protocol="tcp://"
        ) as cluster,
        Client(cluster) as client,
    ):
        recording = computed(client, "push", lambda: True)
    assert sum(told(recording).values()) == N_TASKS + 1
    ((text,),) = rows(recording, "messages", "text")
    assert text.startswith("the scheduler does not send its records by itself (")
    assert "disallowed" in text


def test_a_transport_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(OptionError, match="did you mean 'push'"):
        taskscope.profile(transport="pusj")  # type: ignore[arg-type]  # what is tested
