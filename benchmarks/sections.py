"""Which measurements there are: a section of RESULTS.md each, all of them within an hour."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass

__all__ = ["QUICK_S", "SECTIONS", "Section"]

QUICK_S = 160.0
"""For all of the quick sections together."""


@dataclass(frozen=True, slots=True)
class Section:
    """One benchmark, or several about one question, each run in a process of its own."""

    name: str
    budget_s: float
    """What it takes on two quiet cores."""
    arguments: tuple[str, ...]
    """What follows ``python -m``, for each process."""
    in_quick: bool = False

    @property
    def timeout_s(self) -> float:
        """After so many seconds a process is taken to hang."""
        return 120.0 + 2.0 * self.budget_s

    def commands(self, *, quick: bool) -> list[list[str]]:
        """Return what is executed."""
        more = ["--quick"] if quick else []
        return [[sys.executable, "-m", *shlex.split(arguments), *more] for arguments in self.arguments]


def _quick(name: str, budget_s: float, *arguments: str) -> Section:
    return Section(name, budget_s, arguments, in_quick=True)


def _whole(name: str, budget_s: float, *arguments: str) -> Section:
    return Section(name, budget_s, arguments)


SECTIONS = {
    section.name: section
    for section in (
        _quick("truth", 30, "benchmarks.local.truth"),
        _whole("instructions", 215, "benchmarks.local.instructions"),
        _quick("overhead", 560, "benchmarks.local.overhead"),
        _quick("diagnostics", 100, "benchmarks.local.diagnostics"),
        _quick("fixed-cost", 20, "benchmarks.local.fixed_cost"),
        _quick("first-load", 30, "benchmarks.local.first_load"),
        _quick("retained", 45, "benchmarks.local.retained"),
        _quick("memory", 90, "benchmarks.local.memory", "benchmarks.local.memory_peak"),
        _whole("files", 245, "benchmarks.files"),
        _quick("feed", 20, "benchmarks.frontend.feed"),
        _whole("stacks", 440, "benchmarks.inside.stacks", "benchmarks.inside.shares"),
        _whole("lines", 75, "benchmarks.inside.lines"),
        _whole("eta", 125, "benchmarks.eta"),
        _whole("explain", 120, "benchmarks.explain"),
        _whole("explain-replay", 50, "benchmarks.explain.replay"),
        _whole("explain-live", 50, "benchmarks.explain.live"),
        _quick("explain-limits", 10, "benchmarks.explain.limits"),
        _whole("cluster-truth", 140, "benchmarks.cluster truth cpu clocks"),
        _whole("cluster-cost", 210, "benchmarks.cluster cost plugins"),
        _whole("cluster-share", 200, "benchmarks.cluster share"),
        _whole("cluster-pages", 60, "benchmarks.cluster lag report"),
        _quick("cell-end", 65, "benchmarks.cluster.cell_end"),
        _quick("frontend", 210, "benchmarks.frontend sizes busy chart lanes series live"),
        _whole("frontend-lab", 80, "benchmarks.frontend replay panels reloads"),
        _whole("frontend-pages", 110, "benchmarks.frontend pages documents bokeh"),
    )
}
"""By name, in the order of RESULTS.md."""
