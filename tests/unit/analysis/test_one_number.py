from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

import taskscope
from taskscope.analysis.progress import headline, measure_progress
from taskscope.analysis.quantities import format_bytes, format_duration
from taskscope.jupyter.widgets.values import still_progress, still_resource_values
from taskscope.model.tables.records import Run, RunStatus
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


def test_a_quantity_of_one_compute_has_the_same_digits_in_every_view() -> None:
    rows = [Row(key=("inc-1", i), start_s=i / 3, stop_s=(i + 1) / 3, cpu_s=0.1) for i in range(12)]
    # What was measured before the compute is not of it, and CPU and memory after its end are the block's own.
    before = [(-2.0, np.nan, 5e8, 1, 0.0), (0.0, 90.0, 5e8, 1, 0.0)]
    after = [(4.25, 199.0, 5e9, 1, 0.0), (4.5, 199.0, 596.4e6, 1, 0.0)]
    samples = [*before, (1.0, 20.0, 596.4e6, 1, 0.0), (4.0, 27.0, 605.2e6, 1, 0.0), *after]
    metadata = {"n_cores": 2, "wall_s": 4.5}
    runs = [run_of(n_tasks=12, stop_s=4.0)]
    recording = recording_of(rows, runs, resources=samples, metadata=metadata)
    page = recording._repr_mimebundle_()["text/html"]
    shown = re.findall(r'<span title="([^"]*)">(\w[\w ]*)&nbsp;([^<]*)</span>', page)
    facts = {name: whole for whole, name, _ in shown}
    change = taskscope.compare(recording, recording)
    peak_bytes, wall_s, task_s = (
        recording.memory_peak().peak_bytes,
        change.makespan_s.after,
        change.time_s.after,
    )
    progress, resources = still_progress(recording), still_resource_values(recording)

    assert facts["peak memory"].startswith(format_bytes(peak_bytes))
    assert resources["rss_peak_bytes"] == peak_bytes == change.peak_rss_bytes.after
    assert facts["wall time"] == (
        f"{format_duration(wall_s)}, {format_duration(progress.elapsed_s)} of it in computes"
    )
    assert recording.explain().makespan_s == recording.critical_path().makespan_s == progress.elapsed_s == 4.0
    assert facts["busy"].endswith(f"{format_duration(task_s)} in tasks")
    tasks = recording.to_pandas("tasks")
    assert (tasks.stop_s - tasks.start_s).sum() == task_s
    assert facts["CPU"] == f"13% of 2 cores, {format_duration(change.cpu_s.after)} in tasks"
    assert resources["cpu_mean_percent"] == (20.0 + 3 * 27.0) / 4
    assert [(name, first) for _, name, first in shown] == [
        ("wall time", "4.5 s"),
        ("busy", "50% of 2 threads"),
        ("CPU", "13% of 2 cores"),
        ("peak memory", "605 MB"),
    ]
    assert progress.total == change.n_tasks.after == 12
    for name, text in facts.items():
        assert re.search(rf"{name} +{re.escape(text)}\n", recording.summary())


def test_a_widget_of_now_shows_all_computes_of_the_cell_that_ran_last() -> None:
    def run(number: int, cell: str | None, count: int | None, start_s: float, stop_s: float | None) -> Run:
        status: RunStatus = "running" if stop_s is None else "finished"
        of = run_of(number, n_tasks=1, start_s=start_s, stop_s=stop_s, status=status)
        return replace(of, cell=cell, execution_count=count)

    old, persisted, computed = run(0, "a", 1, 0, 1), run(1, "a", 2, 2, 123), run(2, "a", 2, 123, 124.9)
    script, going = run(3, None, None, 125, 126), run(2, "a", 2, 123, None)

    assert headline([old, persisted, computed]) == [persisted, computed]
    assert headline([old, persisted, going]) == [persisted, going]
    assert headline([old, persisted, computed, script]) == [script]
    assert headline([]) == []
    whole = measure_progress([], headline([old, persisted, computed]), 1000.0)
    assert format_duration(whole.elapsed_s) == "2 min 3 s"
