"""What a browser gets of a cluster, where it does not get all."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

from taskscope.analysis.display.page_tables import MAX_WORKER_SAMPLES, recorded_frames
from taskscope.analysis.summary import Summary
from taskscope.model.tables.workers import Metric
from taskscope.report.page import remarks_html
from tests.support.clusters.recordings import cluster_recording
from tests.support.wire_decoder import PageReader


def test_where_samples_of_workers_are_left_out_it_is_said_beside_the_chart() -> None:
    few = cluster_recording()
    n = MAX_WORKER_SAMPLES + 100
    many = replace(few, workers=tuple(replace(few.workers[0], time_s=few.zero_s + i) for i in range(n)))
    told = []
    for recording in (few, many):
        told_first = PageReader().read([recorded_frames(recording)[0]])
        said = [text for _, _, text in told_first["messages"]]
        page = unescape(remarks_html(recording, Summary.of(recording)))
        told.append((len(told_first["tables"]["worker_samples"]), said, page))
    shown, said, page = told[1]
    text = (
        f"the chart of workers shows {shown:,} of {n:,} samples: of each worker and stretch of time the last "
        "and the one of most memory; the table `workers` has all"
    )
    assert shown < n
    assert (said, text in page) == ([text], True)
    assert told[0][:2] == (len(few.workers), [])
    assert "samples" not in told[0][2]


def test_a_result_says_where_the_seconds_of_each_prefix_went_on_all_workers_together() -> None:
    metrics = (
        Metric(0, "tcp://a:1", "x", "thread-cpu", 1.5, 0.0, 0.0),
        Metric(0, "tcp://b:2", "x", "thread-cpu", 0.5, 0.0, 0.0),
        Metric(0, "tcp://a:1", "x", "disk-read", 0.25, 80.0, 1.0),
        Metric(0, "tcp://a:1", "x", "memory-read", 0.0, 80.0, 1.0),
    )
    frame = recorded_frames(replace(cluster_recording(), metrics=metrics))[0]
    assert PageReader().read([frame])["tables"]["seconds"] == [
        {"run": 0, "prefix": "x", "activity": "thread-cpu", "seconds": 2.0},
        {"run": 0, "prefix": "x", "activity": "disk-read", "seconds": 0.25},
    ]
