"""Tasks that do not have to run: the cluster has their results, or those of what needs them."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import dask.array as da
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster, Scheduler, wait

import taskscope
from taskscope.analysis.totals import count_outcomes, prefix_progress
from taskscope.jupyter.widgets import ProgressWidget
from taskscope.recording import Recording
from taskscope.session import current
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import fail, read_truth, work, work_after
from tests.support.waiting import PATIENCE_S, until

needs_word_of_what_is_done = pytest.mark.skipif(
    hasattr(Scheduler, "_remove_done_tasks_from_dsk"),
    reason="a scheduler of this release tells nobody which tasks of a graph it has already",
)


def counts(recording: Recording) -> list[tuple[str, int, int, int]]:
    """Return prefix, total, finished and skipped of each prefix."""
    return sorted((row.prefix, row.total, row.finished, row.skipped) for row in prefix_progress(recording))


def shown(widget: ProgressWidget) -> tuple[str, int, int, int, float]:
    return widget.state, widget.total, widget.finished, widget.skipped, widget.fraction


SKIPPED = "  {} tasks skipped: already computed, or not needed"


@needs_word_of_what_is_done
def test_what_is_held_is_not_computed_again_and_not_counted(client: Client) -> None:
    x = da.ones((40,), chunks=4) + 1
    held = x.persist(optimize_graph=False)
    wait(held)
    with taskscope.profile(display=False) as run:
        assert x.sum().compute(optimize_graph=False) == 80.0
    recording = run.recording
    n_ran = len(recording.tasks)
    assert n_ran < 20
    assert rows(recording, "runs", "n_tasks", "status") == [(n_ran, "finished")]
    assert [c for c in counts(recording) if c[3]] == [("add", 0, 0, 10), ("ones_like", 0, 0, 10)]
    assert sum(finished for _, _, finished, _ in counts(recording)) == n_ran
    assert count_outcomes(recording) == {"skipped": 20}
    assert SKIPPED.format(20) in recording.summary().splitlines()
    assert rows(recording, "messages", "text") == []


def test_a_call_that_another_client_has_made_has_nothing_to_do(client: Client, cluster: LocalCluster) -> None:
    with Client(cluster, set_as_default=False) as other, taskscope.profile(display=False) as run:
        widget = ProgressWidget()
        theirs = other.submit(pow, 2, 10)
        assert theirs.result() == 1024
        assert client.submit(pow, 2, 10).result() == 1024
        # It is of the compute that ended last.
        until(lambda: shown(widget) == ("finished", 0, 0, 1, 0.0))
        widget.close()
    assert rows(run.recording, "runs", "n_tasks", "status") == [(1, "finished"), (0, "finished")]
    assert counts(run.recording) == [("pow", 0, 0, 1), ("pow", 1, 1, 0)]


@needs_word_of_what_is_done
def test_live_only_what_has_to_run_is_ahead_and_the_bar_reaches_its_end(client: Client, truth: Path) -> None:
    signal = truth.parent / "go"
    base = delayed(work)(truth, "base", 0.0, dask_key_name="base-0")
    middle = [delayed(work)(truth, f"mid{i}", 0.0, base, dask_key_name=f"mid-{i}") for i in range(4)]
    held = client.persist(middle)
    wait(held)
    end = delayed(work_after)(signal, truth, "end", *middle, dask_key_name="end-0")
    with taskscope.profile(display=False) as run:
        widget = ProgressWidget()
        future = client.compute(end)
        until(lambda: (widget.total, widget.skipped, widget.running) == (1, 5, 1))
        assert [group["prefix"] for group in widget.groups] == ["end"]
        (live,) = current().recorder.runs(run_of(future))
        assert (live.status, live.n_tasks) == ("running", 1)
        signal.touch()
        assert future.result() == "end"
        until(lambda: shown(widget) == ("finished", 1, 1, 5, 1.0))
        widget.close()
    assert counts(run.recording) == [("base", 0, 0, 1), ("end", 1, 1, 0), ("mid", 0, 0, 4)]
    assert sorted(done.name for done in read_truth(truth)) == ["base", "end", *(f"mid{i}" for i in range(4))]


def run_of(_future: object) -> int:
    """Return the number of the run that began last."""
    return current().recorder.next_run - 1


def test_where_a_compute_fails_only_what_was_there_did_not_have_to_run(client: Client, truth: Path) -> None:
    held = client.map(work, [truth] * 3, [f"held{i}" for i in range(3)], [0.0] * 3, key=["h-0", "h-1", "h-2"])
    wait(held)
    there = [delayed(work)(truth, f"held{i}", 0.0, dask_key_name=f"h-{i}") for i in range(3)]
    bad = delayed(fail)("no such thing", dask_key_name="bad-0")
    last = delayed(list)([*there, bad], dask_key_name="last-0")
    with taskscope.profile(display=False) as run, pytest.raises(ValueError, match="no such thing"):
        last.compute()
    assert rows(run.recording, "runs", "n_tasks", "status") == [(2, "erred")]
    assert count_outcomes(run.recording) == {"failed": 1, "skipped": 3, "not started": 1}


@pytest.mark.parametrize("pause_s", [0.0, 0.05, 0.2])
def test_the_same_calls_again_and_again_have_exactly_their_rows_or_none(
    client: Client, truth: Path, pause_s: float
) -> None:
    names = [f"pure{pause_s}-{i}" for i in range(8)]
    with taskscope.profile(display=False) as run:
        for _ in range(5):
            assert client.gather(client.map(work, [truth] * 8, names, [0.0] * 8, key=names)) == names
            # What is let go is told to the scheduler meanwhile, or not, or in part.
            time.sleep(pause_s)
    # On a busy machine the last events come after the block.
    recording = run.recording.wait(PATIENCE_S)
    n_rows = Counter(number for (number,) in rows(recording, "tasks", "run"))
    told = rows(recording, "runs", "run", "status", "n_tasks")
    assert [(status, n_tasks) for _, status, n_tasks in told] == [
        ("finished", n_rows[number]) for number, *_ in told
    ]
    assert len(told) == 5
    # One task writes a file: the latter of two writes the same again.
    n_skipped = sum(row.skipped for row in prefix_progress(recording))
    assert n_rows.total() + n_skipped == 40
    assert {done.name for done in read_truth(truth)} == set(names)
    assert rows(recording, "messages", "text") == []
