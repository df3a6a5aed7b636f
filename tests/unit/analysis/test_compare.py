from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import taskscope
from taskscope.analysis.compare import Change, Difference, _interval
from taskscope.analysis.quantities import UNKNOWN
from taskscope.model.tables.activities import Transfer
from taskscope.model.tables.workers import WorkerSample
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

METADATA = {"dask": "2026.8", "n_cores": 2}


def recording(scale: float, *prefixes: str, n: int = 40, **metadata: object) -> Recording:
    """Return tasks of 0.9 to 1.1 times `scale` seconds."""
    spread = np.linspace(0.9, 1.1, n) * scale
    rows = [
        Row(
            key=(f"{prefix}-0123456789abcdef0123456789abcdef", i),
            lane=place,
            start_s=2.0 * i,
            stop_s=2.0 * i + float(s),
        )
        for place, prefix in enumerate(prefixes)
        for i, s in enumerate(spread)
    ]
    return recording_of(rows, [run_of(n_tasks=len(rows), stop_s=2.0 * n)], metadata=METADATA | metadata)


def test_what_is_new_gone_slower_and_unchanged_is_told_apart() -> None:
    before, after = recording(1.0, "same", "gone"), recording(1.0, "same", "new", n=40)
    found = {row.prefix: row for row in taskscope.compare(before, after).prefixes}
    assert {name: row.kind for name, row in found.items()} == {"same": "both", "gone": "gone", "new": "new"}
    same = found["same"]
    assert same.low is not None
    assert same.high is not None
    assert (same.mean_ratio, same.is_clear, same.low < 1.0 < same.high) == (1.0, False, True)
    gone = found["gone"]
    assert gone.time_s.before == pytest.approx(40.0)
    assert gone == Difference(
        "gone", Change(40, 0), Change(gone.time_s.before, 0.0), Change(None, None), None, None, None, "gone"
    )
    slower = taskscope.compare(before, recording(1.3, "same", "gone")).prefixes[0]
    assert slower.low is not None
    assert (slower.is_clear, slower.low > 1.25) == (True, True)
    assert slower.mean_ratio == pytest.approx(1.3)


def test_totals_are_compared_and_unknown_stays_unknown() -> None:
    comparison = taskscope.compare(recording(1.0, "a"), recording(2.0, "a"))
    assert (comparison.makespan_s, comparison.n_tasks) == (Change(80.0, 80.0), Change(40, 40))
    assert comparison.time_s.ratio == pytest.approx(2.0)
    assert (comparison.cpu_s, comparison.peak_rss_bytes.ratio) == (Change(None, None), None)


def test_what_a_clusters_workers_used_is_compared() -> None:
    def on_cluster(peak_bytes: float, sent_bytes: float, n_lost: int) -> Recording:
        run = run_of(n_tasks=1, scheduler="distributed")
        lost = [Row(status="lost")] * n_lost
        found = recording_of([*lost, Row(stop_s=1.0)], [run], resources=[(0.5, 50.0, 9.7e7, 1, 0.0)])
        limit_bytes, spilled_bytes = 2e9, 0.0
        seen = WorkerSample(
            0.5, "tcp://a", "a", 2, 1, 100.0, peak_bytes, 0.0, 0.0, spilled_bytes, limit_bytes
        )
        moved = Transfer("tcp://a", "tcp://b", "incoming", 0.0, 1.0, sent_bytes, None, 1, ())
        return Recording.of(replace(found, workers=(seen,), transfers=(moved,)))

    comparison = taskscope.compare(on_cluster(1e9, 3e6, 0), on_cluster(1.5e9, 1.5e6, 2))
    assert (comparison.worker_peak_bytes, comparison.transferred_bytes, comparison.spilled_bytes) == (
        Change(1e9, 1.5e9),
        Change(3e6, 1.5e6),
        Change(0.0, 0.0),
    )
    assert comparison.n_lost == Change(0, 2)
    assert comparison.totals().rows[3:7] == [
        ("peak, this process", "97 MB", "97 MB", "× 1.00"),
        ("peak, one worker", "1 GB", "1.5 GB", "× 1.50"),
        ("transferred", "3 MB", "1.5 MB", "× 0.50"),
        ("lost with workers", "0", "2", UNKNOWN),
    ]
    local = recording(1.0, "a")
    assert taskscope.compare(local, local).n_lost == Change(None, None)


def test_what_makes_them_incomparable_is_said() -> None:
    before = recording(1.0, "a")
    assert taskscope.compare(before, before).warnings == ()
    after = recording(1.0, "a", n=39, dask="2026.9", truncated=True)
    assert taskscope.compare(before, after).warnings == (
        "dask differs: 2026.8 before, 2026.9 after",
        "the number of tasks differs for a: the chunks may be others",
        "the recording after is not complete",
    )
    other = recording_of([Row(key="a")], [run_of(n_tasks=1, n_workers=4)], metadata=METADATA)
    assert "the number of workers differs: 2 before, 4 after" in taskscope.compare(before, other).warnings


def test_the_text_has_totals_prefixes_intervals_and_warnings() -> None:
    text = str(taskscope.compare(recording(1.0, "a", "b"), recording(2.0, "a", dask="2026.9")))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[:2] == ["taskscope · comparison", ""]
    assert lines[2:5] == [
        "before after ratio",
        "wall time 1 min 20 s 1 min 20 s × 1.00",
        "time in tasks 1 min 20 s 1 min 20 s × 1.00",
    ]
    assert lines[9].startswith("task type tasks time before time after")
    assert any(line.startswith("a 40 40 s 1 min 20 s × 2.00 (1.9") for line in lines)
    assert any(line == "b 40 → 0 40 s 0 s gone" for line in lines)
    assert lines[-1] == "warning: dask differs: 2026.8 before, 2026.9 after"


def test_the_table_has_a_row_per_prefix() -> None:
    table = taskscope.compare(recording(1.0, "a"), recording(2.0, "b")).to_pandas()
    assert list(table.columns) == [
        *("prefix", "kind", "n_tasks_before", "n_tasks_after", "time_s_before", "time_s_after"),
        *("cpu_s_before", "cpu_s_after", "mean_ratio", "low", "high"),
    ]
    assert dict(zip(table["prefix"], table["kind"], strict=True)) == {"a": "gone", "b": "new"}


def test_nothing_is_compared_without_a_fault() -> None:
    comparison = taskscope.compare(recording_of([]), recording_of([]))
    assert (comparison.prefixes, comparison.makespan_s) == ((), Change(None, None))
    assert str(comparison).startswith("taskscope · comparison")


@pytest.mark.parametrize("n", [30, 5_000])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(n: int) -> None:
    chance = np.random.default_rng(5)
    covered = 0
    for _ in range(60):
        low, high = _interval(chance.gamma(2, 1, n), chance.gamma(2, 1.2, n))
        assert low is not None
        assert high is not None
        covered += low <= 1.2 <= high
    assert 50 <= covered <= 60


def test_one_task_has_no_interval() -> None:
    assert _interval(np.ones(1), np.ones(5)) == (None, None)
