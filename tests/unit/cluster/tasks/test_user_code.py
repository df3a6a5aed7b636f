"""A compute on a cluster has the line that asked for it, and its tasks the user's functions."""

from __future__ import annotations

from pathlib import Path

import dask
import dask.array as da
import pytest
from distributed import Client

import taskscope
from tests.support.clusters.recordings import rows

HERE = Path(__file__).name


def doubled(number: int) -> int:
    return 2 * number


def place(name: str, function: object) -> str:
    return f"{name} ({HERE}:{function.__code__.co_firstlineno})"  # type: ignore[attr-defined] # a function


@pytest.mark.parametrize("way", ["delayed", "map", "submit", "blocks"])
def test_a_compute_of_a_cluster_names_its_line_and_its_tasks_their_function(client: Client, way: str) -> None:
    with taskscope.profile(display=False) as profiled:
        here = taskscope_line()
        match way:
            case "delayed":
                dask.compute(dask.delayed(doubled)(1))
            case "map":
                client.gather(client.map(doubled, range(3), pure=False))
            case "submit":
                client.submit(doubled, 1, pure=False).result()
            case "blocks":
                da.ones(4, chunks=2).map_blocks(doubled).compute()
    recording = profiled.recording
    (run,) = recording.runs
    assert run.called_from is not None
    file, _, line = run.called_from.partition(":")
    assert file == HERE
    assert here < int(line) <= here + 9
    # Before dask 2025.4 delayed tasks, and those of blocks, are tuples, which are not read.
    names = {name for (name,) in rows(recording, "tasks", "group")}
    found = {group.function for group in recording.groups if group.name in names} - {None}
    is_read = way in ("map", "submit") or hasattr(dask.base, "collections_to_expr")
    assert found == ({place("doubled", doubled)} if is_read else set())


def taskscope_line() -> int:
    import sys

    return sys._getframe(1).f_lineno
