"""What a browser gets of a cluster, where it does not get all."""

from __future__ import annotations

from dataclasses import replace

from taskscope.analysis.display.page_tables import MAX_WORKER_SAMPLES, few_samples, recorded_frames
from taskscope.model.tables.workers import Metric
from tests.support.clusters.recordings import cluster_recording
from tests.support.wire_decoder import PageReader


def test_of_many_samples_of_workers_a_page_gets_the_extremes_and_the_last_of_each() -> None:
    few = cluster_recording()
    n = MAX_WORKER_SAMPLES + 100
    samples = [replace(few.workers[0], time_s=few.zero_s + i, rss_bytes=float(i % 7)) for i in range(n)]
    samples[1_000] = replace(samples[1_000], rss_bytes=1e9)
    samples[2_000] = replace(samples[2_000], worker="tcp://gone:1", n_threads=0)
    shown = few_samples(samples)
    assert len(shown) <= MAX_WORKER_SAMPLES
    assert all(any(one is samples[i] for one in shown) for i in (1_000, 2_000, n - 1))
    assert few_samples(few.workers) is few.workers


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
