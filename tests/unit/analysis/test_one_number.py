from __future__ import annotations

import re

import taskscope
from taskscope.analysis.quantities import format_bytes, format_duration
from taskscope.jupyter.widgets.values import still_progress, still_resource_values
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row


def test_a_quantity_of_one_compute_has_the_same_digits_in_every_view() -> None:
    rows = [Row(key=("inc-1", i), start_s=i / 3, stop_s=(i + 1) / 3, cpu_s=0.1) for i in range(12)]
    samples = [(ZERO_S, 20.0, 596.4e6, 1, 0.0), (ZERO_S + 2.0, 27.0, 605.2e6, 1, 0.0)]
    recording = recording_of(rows, [run_of(n_tasks=12, stop_s=4.0)], resources=samples)
    page = recording._repr_mimebundle_()["text/html"]
    facts = dict(re.findall(r"(\w[\w ]*)&nbsp;<b>([^<]*)</b>", page))
    change = taskscope.compare(recording, recording)
    peak_bytes, wall_s, task_s = (
        recording.memory_peak().peak_bytes,
        change.makespan_s.after,
        change.time_s.after,
    )

    assert facts["peak memory"].startswith(format_bytes(peak_bytes))
    assert still_resource_values(recording)["rss_peak_bytes"] == peak_bytes == change.peak_rss_bytes.after
    assert facts["wall time"] == format_duration(wall_s)
    assert recording.explain().makespan_s == recording.critical_path().makespan_s == wall_s
    assert still_progress(recording).elapsed_s == wall_s
    assert facts["busy"].endswith(f"{format_duration(task_s)} in tasks")
    assert recording.group_graph().to_pandas().seconds.sum() == task_s
    assert facts["CPU time"] == format_duration(change.cpu_s.after)
    assert still_progress(recording).total == change.n_tasks.after == 12
    for name, text in facts.items():
        assert re.search(rf"{name} +{re.escape(text)}\n", recording.summary())
