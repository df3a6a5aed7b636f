"""Clusters: is all of it recorded, what does it cost the scheduler, and how far does it go?

The truth is written by the tasks themselves, each execution a line, from inside of the workers. Workers are
killed and tasks fail and are tried again meanwhile. The scheduler's cost is its own process's CPU time.
"""

from __future__ import annotations

from benchmarks.cluster.clocks import measure_clocks
from benchmarks.cluster.cost import measure_cost, measure_share
from benchmarks.cluster.cpu import measure_cpu
from benchmarks.cluster.lag import measure_lag
from benchmarks.cluster.plugins import measure_plugins
from benchmarks.cluster.report import measure_reports
from benchmarks.cluster.truth import measure_truth
from benchmarks.harness import named_tables

if __name__ == "__main__":
    named_tables(
        __doc__,
        {
            "truth": lambda quick: measure_truth(*((1_000, 1) if quick else (20_000, 3))),
            "cpu": lambda quick: measure_cpu(rounds=1 if quick else 5),
            "clocks": lambda quick: measure_clocks(quick=quick),
            "cost": lambda quick: measure_cost(300 if quick else 2_000, repetitions=2 if quick else 5),
            "plugins": lambda quick: measure_plugins(500 if quick else 3_000, rounds=3 if quick else 9),
            "share": lambda quick: measure_share(
                10 if quick else 100, compute_s=3.0 if quick else 5.0, repetitions=2 if quick else 5
            ),
            "lag": lambda quick: measure_lag(100 if quick else 1_000),
            "report": lambda quick: measure_reports(1_000 if quick else 10_000, rounds=3 if quick else 5),
        },
    )
