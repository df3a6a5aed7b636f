"""Advice names the user's own array; arrays are known when they are made again, though Dask fuses that."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import dask.array as da
import pytest

import taskscope
from taskscope.analysis.explain.finding import UserArray
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

SMALL = da.random.default_rng(1).random((500, 500), chunks=(10, 10))
SUM = SMALL + 1


@pytest.mark.parametrize(
    ("array", "times", "least", "change"),
    [
        (UserArray("x", (8_000, 8_000), (100, 100), 8), 100, 4, "x = x.rechunk((800, 800))"),
        (UserArray("x", (4_000, 4_000), (100, 100), 8, True), 1e3, 8, "chunks=(1000, 1000) where x is made"),
        (UserArray("x", (8_000,), (1_000,), 8), 100, 4, "x = x.rechunk((2000,))"),
        (UserArray("x", (20_000, 20_000), (2_000, 2_000), 8), 100, 4, "x = x.rechunk((4000, 2000))"),
        (UserArray("x", (7_919,), (100,), 8), 100, 8, "x = x.rechunk((792,))"),
        (UserArray("x", (100, 100), (100, 100), 8), 100, 1, None),
    ],
)
def test_chunks_grow_evenly_up_to_a_hundred_megabytes_and_enough_of_them_are_left(
    array: UserArray, times: float, least: int, change: str | None
) -> None:
    assert array.larger(times, least) == change


def test_chunks_are_halved_along_their_longest_axis() -> None:
    assert UserArray("x", (3_000, 1_000), (1_000, 1_000), 8).smaller(8) == "x = x.rechunk((500, 500))"
    assert UserArray("x", (2,), (1,), 8).smaller(8) is None


def test_advice_for_short_tasks_names_the_array_of_the_program() -> None:
    with taskscope.profile(display=False) as run:
        (SUM * 2).sum().compute(scheduler="threads", num_workers=2)
    # How long its tasks took on a busy machine is not known: these are late by three times as long.
    rows = [Row(key=("x", i), start_s=i / 256, stop_s=i / 256 + 2.0**-10) for i in range(512)]
    short = replace(run_of(n_tasks=512, stop_s=2.0, n_workers=1), array=run.recording.runs[0].array)
    (finding,) = recording_of(rows, [short]).explain()
    assert finding.cause == "short-tasks"
    what = "use larger chunks, so that each task does more"
    assert finding.advice == f"{what}: chunks=(125, 50) where SMALL is made"


def test_where_the_array_is_not_known_larger_chunks_leave_tasks_for_each_thread() -> None:
    rows = [
        Row(key=("x", i), lane=i % 2, start_s=i // 2 / 256, stop_s=i // 2 / 256 + 2.0**-11, size_bytes=80e3)
        for i in range(1_600)
    ]
    (finding,) = recording_of(rows, [run_of(n_tasks=1_600, stop_s=3.125, n_workers=2)]).explain()
    assert finding.advice == (
        "use larger chunks or partitions: 1 of about 16 MB in place of 200 of 80 kB at most"
    )


def _slow(block: Any) -> Any:
    time.sleep(0.05)
    return block


def test_an_array_that_two_computes_make_anew_is_recomputed_though_dask_fuses_its_making() -> None:
    array = da.random.default_rng(1).random((400,), chunks=(100,)).map_blocks(_slow)
    with taskscope.profile(display=False) as run:
        array.sum().compute(scheduler="synchronous")
        array.max().compute(scheduler="synchronous")
    found = {finding.cause: finding for finding in run.recording.explain()}
    assert "4 tasks" in found["recomputed"].text
    assert "began with a step that had run in a compute before" in found["recomputed"].text
