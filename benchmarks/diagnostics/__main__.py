"""What does `taskscope.diagnostics` cost beside ``dask.diagnostics``, and what does it draw?

The same classes of both, on the same graphs, in turn: cost per task of each alone and of all four, the cache
profiler on graphs that keep much, the fixed cost of a compute, what stays in memory, and plots: the time to
make one, the size of its page, and how long a browser takes to show it.
"""

from __future__ import annotations

from benchmarks.diagnostics import cost, kept, plots
from benchmarks.harness import Table, main


def measure(*, quick: bool) -> list[Table]:
    return [
        *cost.measure(quick=quick),
        *kept.measure(quick=quick),
        *plots.measure(quick=quick),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
