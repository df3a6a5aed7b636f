from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from dask import delayed
from distributed import Client, LocalCluster

import taskscope
from taskscope.diagnostics import performance_report
from tests.support.clusters.tasks import spend
from tests.support.waiting import until


def heaviest(run: taskscope.profile | performance_report) -> list[tuple[str, str]]:
    """Return each prefix with the call that took most of its time, where there are enough samples.

    How soon there are depends on what else the machine does, and a worker may be met in what it does before.
    """
    profile = run.recording.profile()
    nodes = profile.root.children if profile.n_samples >= 20 else ()
    return [(node.name, max(node.children, key=lambda call: call.seconds).name) for node in nodes]


def profiled(page: str) -> dict[str, str]:
    """Return the functions of the page's profile, with the time spent in each."""
    section = page.partition("<h2>Profile</h2>")[2].partition("<h2>")[0]
    return dict(re.findall(r"<tr><td[^>]*>([^<]*)</td><td>(\d[^<]*)</td>", section))


def test_the_page_has_the_computes_of_the_cluster_and_what_its_workers_did(
    client: Client, tmp_path: Path
) -> None:
    with performance_report(tmp_path / "a.html") as report:
        futures = client.compute(
            [delayed(spend)(tmp_path / "end", dask_key_name=f"page-{i}") for i in range(8)]
        )
        until(lambda: heaviest(report) == [("page", "spend")])
        (tmp_path / "end").touch()
        client.gather(futures)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*?)</h2>", page) == [
        "Profile",
        "Versions and machine",
        "Calling code",
    ]
    assert "8 tasks" in page
    assert "spend" in profiled(page)
    assert [run.scheduler for run in report.recording.runs] == ["distributed"]


def test_a_profiled_block_has_the_profile_of_its_computes_on_the_cluster(
    client: Client, tmp_path: Path
) -> None:
    with taskscope.profile(display=False) as run:
        futures = client.map(spend, [tmp_path / "end"] * 8, key=[f"block-{i}" for i in range(8)])
        until(lambda: heaviest(run) == [("block", "spend")])
        (tmp_path / "end").touch()
        client.gather(futures)
    assert heaviest(run) == [("block", "spend")]
    profile, tasks = run.recording.profile(), run.recording.tasks
    assert profile.root.seconds == pytest.approx(float((tasks.stop - tasks.start).sum()))
    with taskscope.profile(display=False, stacks=False) as without:
        client.submit(spend, tmp_path / "end", pure=False).result()
    assert without.recording.profile().n_samples == 0


def test_an_asynchronous_client_is_reported(cluster: LocalCluster, tmp_path: Path) -> None:
    async def block() -> None:
        async with (
            Client(cluster.scheduler_address, asynchronous=True) as client,
            performance_report(tmp_path / "a.html") as report,
        ):
            futures = client.map(spend, [tmp_path / "end"] * 4, key=[f"loop-{i}" for i in range(4)])
            while heaviest(report) != [("loop", "spend")]:  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.02)
            (tmp_path / "end").touch()
            await client.gather(futures)

    asyncio.run(block())
    assert "spend" in profiled((tmp_path / "a.html").read_text(encoding="utf-8"))
