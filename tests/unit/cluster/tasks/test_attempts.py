"""Attempts of tasks with ``retries`` that fail and are followed by others."""

from __future__ import annotations

from pathlib import Path

import dask
import pytest
from dask.delayed import delayed
from distributed import Client

import taskscope
from taskscope.recording import Recording
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import attempt
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def _done(truth: Path) -> None:
    (truth / "done").mkdir()


def failed_attempts(recording: Recording) -> list[tuple[str, str]]:
    found = rows(recording, "activities", "activity", "key", "error")
    return sorted(row[1:] for row in found if row[0] == "failed-attempt")


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
    assert "2 attempts failed and the task was tried again" in run.recording.summary()
