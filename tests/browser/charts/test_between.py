"""What went between the workers of a cluster, in the page of its recording and in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, Event, LocalCluster
from playwright.sync_api import Browser, Page

import taskscope
from taskscope.analysis.quantities import format_bytes, format_count, format_duration
from taskscope.report import performance_html
from tests.support.clusters.recordings import rows
from tests.support.waiting import be_patient, until

UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}


def block(_number: int, name: str) -> bytes:
    Event(name).wait()
    return bytes(300_000)


def steal(key: str, thief: str, dask_scheduler: Any = None) -> None:
    """Run on the scheduler: have a worker steal a task that another one was given."""
    task, to = dask_scheduler.tasks[key], dask_scheduler.workers[thief]
    dask_scheduler.extensions["stealing"].move_task_request(task, task.processing_on, to)


def table(page: Page, begin: str) -> list[list[str]]:
    """Return the rows of the table of this caption."""
    found = page.frames[-1].locator(".tsk-workers .tsk-text-table table", has_text=begin)
    cells = "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))"
    read: list[list[str]] = found.evaluate(cells)
    return read


def amount(text: str) -> float:
    value, unit = text.split(" ")
    return float(value) * UNITS[unit]


def steals_of(recording: taskscope.Recording, names: dict[str, str]) -> list[list[str]]:
    """Return a row for each two workers, as the page has them."""
    moved = recording.to_pandas("steals")
    found = []
    for a, b in {*zip(moved.from_worker, moved.to_worker, strict=True)}:
        of_pair = moved[(moved.from_worker == a) & (moved.to_worker == b)]
        took = "–" if of_pair.cost_s.isna().any() else format_duration(float(of_pair.cost_s.sum()))
        found.append([names.get(a, a), names.get(b, b), format_count(len(of_pair)), "0", took])
    return found


def transfers_of(recording: taskscope.Recording, names: dict[str, str]) -> list[list[str]]:
    """Return a row for each two workers, as the page has them."""
    moved = recording.to_pandas("transfers").query("direction == 'incoming'")
    moved = moved.assign(took_s=moved.stop_s - moved.start_s)
    found = []
    for (sender, receiver), of_pair in moved.groupby(["peer", "worker"]):
        nbytes, took_s = of_pair.nbytes.sum(), of_pair.took_s.sum()
        ends = [names.get(str(end), str(end)) for end in (sender, receiver)]
        mean, rate = format_duration(took_s / len(of_pair)), f"{format_bytes(nbytes / took_s)}/s"
        found.append([*ends, format_count(len(of_pair)), format_bytes(nbytes), mean, rate])
    return found


def test_transfers_and_steals_of_three_workers_have_the_digits_of_the_recording(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch.setattr)
    with (
        # The scheduler itself would steal, too.
        dask.config.set({"distributed.scheduler.work-stealing-interval": "1h"}),
        LocalCluster(
            n_workers=3, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
        taskscope.profile(display=False) as run,
    ):
        at = sorted(client.scheduler_info()["workers"])
        go = Event("taskscope-between", client=client)
        busy = [client.submit(block, i, go.name, workers=[a], key=f"busy-{i}") for i, a in enumerate(at)]
        until(lambda: {key for (key,) in rows(run.recording, "tasks", "key")} == {f.key for f in busy})
        options: Any = {"workers": [at[0]], "allow_other_workers": True}
        waits = [client.submit(block, i, go.name, key=f"wait-{i}", **options) for i in range(3)]
        until(lambda: len(rows(run.recording, "tasks", "key")) == 6)
        for key, thief in (("wait-0", at[1]), ("wait-1", at[1]), ("wait-2", at[2])):
            client.run_on_scheduler(steal, key, thief)
        until(lambda: len(rows(run.recording, "steals", "key")) == 3)
        go.set()
        sizes = [client.submit(list, [*busy, *waits], workers=[a], pure=False) for a in at]
        client.gather([client.submit(len, size, pure=False) for size in sizes])
    recording = run.wait()
    # A worker that sent no sample has no name.
    names = {str(row.worker): f"worker {row.name}" for row in recording.to_pandas("workers").itertuples()}
    transfers = transfers_of(recording, names)
    steals = steals_of(recording, names)
    # The page of `performance_report`, whose bandwidths are in this chart.
    (tmp_path / "run.html").write_text(performance_html(recording, None), encoding="utf-8")
    page = chromium.new_page(viewport={"width": 1000, "height": 800})
    page.goto((tmp_path / "run.html").as_uri())
    page.frames[-1].locator(".tsk-pairs").first.wait_for(state="attached")
    shown = table(page, "Fetched from other workers")
    assert sorted(row[:4] for row in shown) == sorted(row[:4] for row in transfers)
    assert len(shown) >= 3
    # A page's times are whole microseconds.
    times = {tuple(row[:2]): tuple(map(amount, row[4:])) for row in transfers}
    assert {tuple(row[:2]): pytest.approx(tuple(map(amount, row[4:])), rel=0.02) for row in shown} == times
    assert sorted(row[:5] for row in table(page, "Work stealing")) == sorted(steals)
    assert sum(int(row[2]) for row in steals) == 3
    page.close()
