"""Which measurements there are: a section of RESULTS.md each, none longer than about ten minutes."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass

__all__ = ["QUICK_S", "SECTIONS", "Section"]

QUICK_S = 160.0
"""For all of the quick sections together."""


@dataclass(frozen=True, slots=True)
class Section:
    """One benchmark, or some of its tables, run in a process of its own."""

    name: str
    arguments: str
    """What follows ``python -m``."""
    timeout_s: float = 600.0
    """After so many seconds it is taken to hang."""
    in_quick: bool = True

    def command(self, *, quick: bool) -> list[str]:
        """Return what is executed."""
        return [sys.executable, "-m", *shlex.split(self.arguments), *(["--quick"] if quick else [])]


_LONG_S = 1800.0
SECTIONS = {
    section.name: section
    for section in (
        Section("truth", "benchmarks.local.truth"),
        Section("overhead", "benchmarks.local.overhead", _LONG_S),
        Section("overhead-million", "benchmarks.local.overhead_million", _LONG_S, in_quick=False),
        Section("in-situ", "benchmarks.local.in_situ --tables 1"),
        Section("instructions", "benchmarks.local.in_situ --tables 2", _LONG_S, in_quick=False),
        Section("fixed-cost", "benchmarks.local.fixed_cost"),
        Section("stall", "benchmarks.local.stall", _LONG_S),
        Section("retained", "benchmarks.local.retained"),
        Section("memory", "benchmarks.local.memory"),
        Section("memory-peak", "benchmarks.inside.memory_peak"),
        Section("files", "benchmarks.files --tables 1", _LONG_S),
        Section("files-live", "benchmarks.files --tables 2", in_quick=False),
        Section("files-killed", "benchmarks.files --tables 3", in_quick=False),
        Section("feed", "benchmarks.frontend.feed"),
        Section("slow-reader", "benchmarks.frontend.slow_reader", in_quick=False),
        Section("diagnostics", "benchmarks.diagnostics.cost --tables 1", _LONG_S, in_quick=False),
        Section("diagnostics-caches", "benchmarks.diagnostics.cost --tables 2 3", in_quick=False),
        Section("diagnostics-kept", "benchmarks.diagnostics.kept", in_quick=False),
        Section("diagnostics-plots", "benchmarks.diagnostics.plots", in_quick=False),
        Section("stacks", "benchmarks.inside.stacks --tables 1", _LONG_S, in_quick=False),
        Section("stacks-truth", "benchmarks.inside.stacks --tables 2", _LONG_S, in_quick=False),
        Section("lines", "benchmarks.inside.lines", _LONG_S, in_quick=False),
        Section("lines-exact", "benchmarks.inside.exact_lines", in_quick=False),
        Section("eta", "benchmarks.eta --tables 1", _LONG_S, in_quick=False),
        Section("why", "benchmarks.why", 3600.0, in_quick=False),
        Section("explain", "benchmarks.explain --tables 1", _LONG_S, in_quick=False),
        Section("explain-cluster", "benchmarks.explain --tables 2", _LONG_S, in_quick=False),
        Section("explain-replay", "benchmarks.explain.replay", _LONG_S, in_quick=False),
        Section("explain-live", "benchmarks.explain.live", _LONG_S, in_quick=False),
        Section("cluster", "benchmarks.cluster --tables 1", in_quick=False),
        Section("cluster-cost", "benchmarks.cluster --tables 2"),
        Section("cell-end", "benchmarks.cluster.cell_end"),
        Section("cluster-share", "benchmarks.cluster --tables 6", in_quick=False),
        Section("cluster-scale", "benchmarks.cluster --tables 3", _LONG_S, in_quick=False),
        Section("cluster-lag", "benchmarks.cluster --tables 5 7", in_quick=False),
        Section("cluster-eta", "benchmarks.eta --tables 2 3", _LONG_S, in_quick=False),
        Section("cluster-report", "benchmarks.cluster --tables 8", in_quick=False),
        Section("cluster-cpu", "benchmarks.cluster --tables 9", in_quick=False),
        Section("cluster-clocks", "benchmarks.cluster --tables 4", in_quick=False),
        Section("browser", "benchmarks.frontend.browser", in_quick=False),
        Section("frontend", "benchmarks.frontend sizes busy chart lanes series live"),
        Section("frontend-lab", "benchmarks.frontend replay panels reloads latency", in_quick=False),
        Section("frontend-pages", "benchmarks.frontend pages documents", in_quick=False),
        Section("frontend-bokeh", "benchmarks.frontend bokeh", in_quick=False),
        Section("frontend-endurance", "benchmarks.frontend endurance", 2700.0, in_quick=False),
    )
}
"""By name, in the order of RESULTS.md."""
