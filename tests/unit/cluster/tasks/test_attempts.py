"""Attempts of tasks with ``retries`` that fail and are followed by others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import dask
import pytest
from dask.delayed import delayed
from distributed import Client, wait

import taskscope
from taskscope.analysis.totals import measure_totals
from taskscope.recording import Recording
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import Done, attempt, read_truth
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def _done(truth: Path) -> None:
    (truth / "done").mkdir()


def failed_attempts(recording: Recording) -> list[tuple[str, str]]:
    found = rows(recording, "activities", "activity", "key", "error")
    return sorted(row[1:] for row in found if row[0] == "failed-attempt")


def check_places(recording: Recording, done: Iterable[Done], *, shown: str) -> None:
    """Compare threads and times of attempts with what they wrote down."""
    truth = {d.name: d for d in done}
    zero = recording.started_at.timestamp()
    columns = ("activity", "key", "error", "lane", "start_s", "stop_s")
    found = [row[1:] for row in rows(recording, "activities", *columns) if row[0] == shown]
    assert found
    for key, error, lane, start_s, stop_s in found:
        number = error.rpartition("attempt ")[2].rstrip(")")
        wrote = truth[f"{key}.{number}"]
        assert recording.lanes[lane].thread == wrote.thread
        # What a worker measures includes what the task itself saw, on one clock.
        assert stop_s - start_s >= wrote.stop - wrote.start - 1e-6
        # Its place is known as well as the worker reports soon; on a busy machine that may take a while.
        assert wrote.start - zero == pytest.approx(start_s, abs=5.0)


def test_each_failed_attempt_is_told_once_with_its_thread_and_its_times(client: Client, truth: Path) -> None:
    failures = {f"luck-{i}": i % 4 for i in range(12)}
    with taskscope.profile(display=False) as run:
        futures = [
            client.submit(attempt, truth, name, n, key=name, retries=3) for name, n in failures.items()
        ]
        hopeless = client.submit(attempt, truth, "hopeless-0", 9, key="hopeless-0", retries=1)
        final = client.submit(attempt, truth, "final-0", 9, key="final-0")
        wait([*futures, hopeless, final])
    recording = run.recording
    expected = [
        (name, f"ValueError: no luck of {name} (attempt {number})")
        for name, n in failures.items()
        for number in range(1, n + 1)
    ]
    expected.append(("hopeless-0", "ValueError: no luck of hopeless-0 (attempt 1)"))
    assert failed_attempts(recording) == sorted(expected)
    done = read_truth(truth / "done")
    assert len(done) == len(expected) + 12 + 2
    check_places(recording, done, shown="failed-attempt")
    # The rows of tasks are those of their last attempts, as without this.
    assert sorted(rows(recording, "tasks", "key", "status", "error")) == sorted(
        [
            *((name, "finished", None) for name in failures),
            ("hopeless-0", "erred", "ValueError: no luck of hopeless-0"),
            ("final-0", "erred", "ValueError: no luck of final-0"),
        ]
    )
    totals = measure_totals(recording)
    starts, stops = (recording.table("tasks")[c] for c in ("start_s", "stop_s"))
    last_s = sum(stop - start for start, stop in zip(starts, stops, strict=True))
    assert (totals.n_tasks, totals.outcomes["failed"], totals.n_failed_attempts) == (14, 2, 19)
    assert totals.task_s == pytest.approx(last_s)
    assert "19 attempts failed and the task was tried again" in recording.summary()
    assert rows(recording, "messages", "text") == []


def test_they_are_told_while_the_task_is_tried_again_also_where_the_graph_says_that_it_may(
    client: Client, truth: Path
) -> None:
    end = truth / "end"
    with taskscope.profile(display=False) as run:
        with dask.annotate(retries=2):
            # In a graph of old a text that is a key stands for its result.
            held = delayed(attempt)(truth, "held", 2, end, dask_key_name="held-0")
        future = client.compute(held, optimize_graph=False)
        expected = [("held-0", f"ValueError: no luck of held (attempt {n})") for n in (1, 2)]
        until(lambda: failed_attempts(run.recording) == expected)
        assert not future.done()
        end.touch()
        assert future.result() == 3
    assert failed_attempts(run.recording) == expected
    assert rows(run.recording, "tasks", "key", "status") == [("held-0", "finished")]


def test_a_later_block_has_only_its_own(client: Client, truth: Path) -> None:
    for name in ("first", "second"):
        folder = truth / name
        (folder / "done").mkdir(parents=True)
        with taskscope.profile(display=False) as run:
            assert client.submit(attempt, folder, name, 1, key="same-0", retries=1).result() == 2
        # Else the next block would be given this one's result.
        until(lambda: "same-0" not in client.futures)
        assert failed_attempts(run.recording) == [("same-0", f"ValueError: no luck of {name} (attempt 1)")]
