from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import dask
import pytest
from dask import delayed
from distributed import Client, LocalCluster

import taskscope
from taskscope.diagnostics import performance_report
from taskscope.sources.cluster.workers.samples import own_calls, sampling_interval_s
from tests.support.clusters.tasks import spend
from tests.support.waiting import until


def is_sampled(profile: dict[str, Any]) -> bool:
    """Return whether workers have seen enough of a task: how soon depends on what else the machine does."""
    return bool(profile["count"] >= 20)


def profiled(page: str) -> dict[str, str]:
    """Return the functions of the page's profile, with the time spent in each."""
    section = page.partition("<h2>Profile</h2>")[2].partition("<h2>")[0]
    return dict(re.findall(r"<tr><td>([^<]*)</td><td>(\d[^<]*)</td>", section))


def test_the_page_has_the_computes_of_the_cluster_and_what_its_workers_did(
    client: Client, tmp_path: Path
) -> None:
    with performance_report(tmp_path / "a.html") as report:
        futures = client.compute(
            [delayed(spend)(tmp_path / "end", dask_key_name=f"page-{i}") for i in range(8)]
        )
        until(lambda: is_sampled(client.profile(key="page")))
        (tmp_path / "end").touch()
        client.gather(futures)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*?)</h2>", page) == [
        "Profile",
        "Transfers",
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
        until(lambda: is_sampled(client.profile(key="block")))
        (tmp_path / "end").touch()
        client.gather(futures)
    profile = run.recording.profile()
    (prefix,) = profile.root.children
    # A worker may have been met in what it does before it calls the function.
    heaviest = max(prefix.children, key=lambda node: node.seconds)
    assert (prefix.name, heaviest.name) == ("block", "spend")
    tasks = run.recording.tasks
    assert profile.root.seconds == pytest.approx(float((tasks.stop - tasks.start).sum()))
    with taskscope.profile(display=False, stacks=False) as without:
        client.submit(spend, tmp_path / "end", pure=False).result()
    assert without.recording.profile().n_samples == 0


def test_an_asynchronous_client_is_reported(cluster: LocalCluster, tmp_path: Path) -> None:
    async def block() -> None:
        async with (
            Client(cluster.scheduler_address, asynchronous=True) as client,
            performance_report(tmp_path / "a.html"),
        ):
            futures = client.map(spend, [tmp_path / "end"] * 4, key=[f"loop-{i}" for i in range(4)])
            while not is_sampled(await client.profile(key="loop")):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.02)
            (tmp_path / "end").touch()
            await client.gather(futures)

    asyncio.run(block())
    assert "spend" in profiled((tmp_path / "a.html").read_text(encoding="utf-8"))


def call(name: str, count: int, *children: dict[str, Any]) -> dict[str, Any]:
    return {
        "identifier": f"{name};{name}.py;7",
        "description": {"filename": f"{name}.py", "name": name, "line_number": 9, "line": "..."},
        "count": count,
        "children": {child["identifier"]: child for child in children},
    }


def samples_of(tree: dict[str, Any]) -> list[tuple[tuple[str, ...], int]]:
    """Return calls from the outermost on, and samples."""
    return sorted((tuple(call.name for call in calls), count) for calls, count in own_calls(tree))


def test_samples_of_the_clusters_profiler_end_in_a_call() -> None:
    assert samples_of(call("root", 5, call("f", 4, call("g", 4)))) == [((), 1), (("f", "g"), 4)]
    assert samples_of(call("root", 2, call("f", 2))) == [(("f",), 2)]


def test_where_workers_count_all_but_the_innermost_call_it_is_put_back() -> None:
    inner = call("f", 4, call("g", 0))
    assert samples_of(call("root", 5, inner)) == [(("f",), 1), (("f", "g"), 4)]
    assert samples_of(call("root", 4, call("f", 0))) == [(("f",), 4)]
    # Which of several it was is not told, and nothing is made up.
    shared = call("root", 5, call("f", 5, call("g", 0), call("h", 0)))
    assert samples_of(shared) == [(("f", "not told apart by distributed"), 5)]
    nested = call("root", 5, call("f", 5, call("g", 2, call("i", 0)), call("h", 0)))
    assert samples_of(nested) == [
        (("f", "g", "i"), 2),
        (("f", "not told apart by distributed"), 3),
    ]


def test_calls_by_which_dask_runs_a_task_are_left_out() -> None:
    plumbing = call("__call__", 4, call("f", 0)) | {
        "description": {"filename": "/x/dask/_task_spec.py", "name": "__call__", "line_number": 1, "line": ""}
    }
    assert samples_of(call("root", 4, plumbing)) == [(("f",), 4)]


def test_a_cluster_that_saw_nothing_gives_no_samples() -> None:
    assert samples_of({"identifier": "root", "description": "root", "count": 0, "children": {}}) == []


def test_the_interval_is_that_of_distributeds_configuration() -> None:
    with dask.config.set({"distributed.worker.profile.interval": "20ms"}):
        assert sampling_interval_s() == 0.02
