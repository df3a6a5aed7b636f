"""Where the time of executing tasks went, as the workers of a cluster metered it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from taskscope.model.recording import RecordedData
from taskscope.model.tables.workers import PrefixSeconds, is_on_cpu

__all__ = ["ExecuteTotals", "cpu_by_prefix", "measure_executing", "seconds_by_prefix"]


@dataclass(frozen=True, slots=True)
class ExecuteTotals:
    """Where the time of executing tasks went, as a cluster's workers metered it.

    Parameters
    ----------
    cpu_s, off_cpu_s
        On the CPU of the tasks' threads, and off it, in tasks that finished.
    others
        What else it went to, and how many seconds, most first.
    """

    cpu_s: float
    off_cpu_s: float
    others: tuple[tuple[str, float], ...]

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.cpu_s + self.off_cpu_s + sum(seconds for _, seconds in self.others)


def cpu_by_prefix(recording: RecordedData) -> dict[str, float]:
    """Return what workers of a cluster metered of the CPU time of tasks that finished, by prefix."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for metric in recording.metrics:
        seconds[metric.prefix] += metric.seconds if is_on_cpu(metric.activity) else 0.0
    return dict(seconds)


def seconds_by_prefix(recording: RecordedData) -> list[PrefixSeconds]:
    """Return what executing tasks spent their time on, by compute and prefix, of all workers together."""
    seconds: defaultdict[tuple[int, str, str], float] = defaultdict(float)
    for metric in recording.metrics:
        if metric.seconds:
            seconds[metric.run, metric.prefix, metric.activity] += metric.seconds
    return [PrefixSeconds(*name, total) for name, total in seconds.items()]


def measure_executing(recording: RecordedData) -> ExecuteTotals | None:
    """Return where the time of executing tasks went; None where no worker told."""
    cpu_s = off_cpu_s = 0.0
    others: defaultdict[str, float] = defaultdict(float)
    for metric in recording.metrics:
        on_cpu = is_on_cpu(metric.activity)
        if on_cpu:
            cpu_s += metric.seconds
        elif on_cpu is not None:
            off_cpu_s += metric.seconds
        elif metric.seconds:
            others[metric.activity] += metric.seconds
    most = sorted(others.items(), key=lambda item: -item[1])
    return ExecuteTotals(cpu_s, off_cpu_s, tuple(most)) if recording.metrics else None
