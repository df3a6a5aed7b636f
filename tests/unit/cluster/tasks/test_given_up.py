"""Tasks whose futures are let go or cancelled: recorded to their end where anybody needs them."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import dask
from dask.delayed import delayed
from distributed import Client, Event, LocalCluster, fire_and_forget, wait

import taskscope
from taskscope.analysis.totals import count_outcomes, prefix_progress
from taskscope.recording import Recording
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import fail, read_truth, work_after
from tests.support.waiting import until


def _runs(recording: Recording) -> list[tuple[int, str]]:
    return [(run.n_tasks, run.status) for run in recording.runs]


def test_what_is_fired_and_forgotten_is_recorded_to_its_end_and_what_is_cancelled_is_over(
    client: Client, cluster: LocalCluster, truth: Path, tmp_path: Path
) -> None:
    scheduler: Any = cluster.scheduler
    signal, names = tmp_path / "go", [f"f{i}" for i in range(6)]
    with taskscope.profile(display=False) as run:
        futures = client.map(work_after, [signal] * 6, [truth] * 6, names, key=names)
        # A scheduler still reading a graph drops the wish to keep its keys.
        until(lambda: all(name in scheduler.tasks for name in names))
        fire_and_forget(futures)
        del futures
        until(lambda: not client.futures)
        cancelled = client.submit(work_after, tmp_path / "never", truth, "c", resources={"GPU": 1}, key="c")
        until(lambda: "c" in scheduler.tasks)
        client.cancel(cancelled)
        until(lambda: _runs(run.recording) == [(6, "running"), (1, "interrupted")])
        signal.touch()
        until(lambda: _runs(run.recording) == [(6, "finished"), (1, "interrupted")])
    tasks = run.recording.table("tasks")
    assert Counter(zip(tasks["key"], tasks["status"], strict=True)) == {(n, "finished"): 1 for n in names}
    assert [done.name for done in read_truth(truth)] == names
    assert list(run.recording.table("messages")["text"]) == []


def test_what_is_released_while_it_runs_has_a_row_and_what_waited_is_said_to_have_not_begun(
    client: Client, truth: Path, tmp_path: Path
) -> None:
    signal, names = tmp_path / "go", [f"let{i}" for i in range(30)]
    with taskscope.profile(display=False) as run:
        held = dask.persist(*[delayed(work_after)(signal, truth, n, dask_key_name=n) for n in names])
        until(lambda: len(list(truth.parent.glob("begun-let*"))) == 4)
        del held
        until(lambda: _runs(run.recording) == [(30, "finished")])
    signal.touch()
    recording = run.recording
    tasks = recording.table("tasks")
    begun = {
        p.name.removeprefix("begun-"): float(p.read_text().split()[0]) for p in truth.parent.glob("begun-*")
    }
    found = zip(
        tasks["key"], tasks["status"], tasks["start_s"] + recording.started_at.timestamp(), strict=True
    )
    assert {key: status for key, status, _ in found} == dict.fromkeys(begun, "released")
    assert count_outcomes(recording) == {"released": 4, "not begun": 26}
    rows = prefix_progress(recording)
    counts = [(r.total, r.finished, r.interrupted, r.released, r.skipped, r.left) for r in rows]
    assert counts == [(1, 0, 1, 1, 0, 0)] * 30
    assert "  4 tasks released while they ran: their futures were deleted" in recording.summary()
    assert list(recording.table("messages")["text"]) == []


def test_futures_of_a_long_loop_that_were_read_are_not_kept(client: Client) -> None:
    def held() -> int:
        gc.collect()
        return sum(type(each).__name__ == "FutureState" for each in gc.get_objects())

    n_before = held()
    with taskscope.profile(display=False) as run:
        first = client.submit(Event.wait, Event("last"), pure=False)
        for _ in range(20):
            wait(client.submit(abs, -1, pure=False))
            until(lambda: len(client.futures) == 1)
        Event("last").set()
        until(lambda: held() <= n_before + 2)
        wait(first)
    assert [r.n_tasks for r in run.recording.runs] == [21]


def test_a_map_that_fails_is_over_with_its_last_task(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        wait(client.map(fail, ["no"] * 3, pure=False))
    recording = run.recording
    assert rows(recording, "runs", "status") == [("erred",)]
    assert rows(recording, "runs", "stop_s") == [max(rows(recording, "tasks", "stop_s"))]


def test_right_after_wait_the_last_compute_is_over(client: Client) -> None:
    with taskscope.profile(display=False):
        wait(client.map(abs, range(4), pure=False))
        assert taskscope.last().runs[0].status == "finished"
