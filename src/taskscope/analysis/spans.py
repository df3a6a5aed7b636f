"""What the tasks of each `distributed.span` took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import format_count, format_duration, plural, printable
from taskscope.analysis.result import Result, Section, columns_of
from taskscope.analysis.totals import were_seen
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import ERRED

__all__ = ["SpanTotal", "Spans", "measure_spans"]

_MAX_SHOWN = 40
_NAME_WIDTH = 60
_WITHIN = " / "
"""What stands between a span and one within it."""


@dataclass(frozen=True, slots=True)
class SpanTotal:
    """What tasks of one span took, with those of the spans within it.

    Parameters
    ----------
    span
        Its name, with those around it, as in ``load / decode``.
    n_tasks, n_erred
        How many of its tasks were seen to run, and how many of those raised.
    task_s
        Sum of their durations.
    own_task_s
        That of tasks in no span within it: over all spans these add up.
    cpu_s
        Sum of the CPU time of the tasks for which it is known; None if that is none of them.
    n_cpu_unknown
        Tasks of which the CPU time is not known.
    """

    span: str
    n_tasks: int
    n_erred: int
    task_s: float
    own_task_s: float
    cpu_s: float | None
    n_cpu_unknown: int


@dataclass(frozen=True, slots=True, repr=False)
class Spans(Result):
    """What the tasks of each span took.

    Parameters
    ----------
    spans
        Each span by its name, a span before those within it.
    reason
        Why there are none; None where there are some.
    notes
        What is in no span, or is not known.
    """

    spans: tuple[SpanTotal, ...]
    reason: str | None
    notes: tuple[str, ...]

    def table(self) -> dict[str, list[object]]:
        """Return a row for each span, with the fields of `SpanTotal`."""
        return columns_of(self.spans, *SpanTotal.__slots__)

    def sections(self) -> Iterator[Section]:
        """Yield a table of the spans, those within others below them."""
        if self.reason is not None:
            yield Section(f"no spans, because {self.reason}")
            return
        n_more = len(self.spans) - _MAX_SHOWN
        yield Section(
            f"spans · {format_count(len(self.spans))}",
            ("span", "tasks", "failed", "time in tasks", "CPU time"),
            [_row(total) for total in self.spans[:_MAX_SHOWN]],
            (*([f"{n_more:,} more spans are in to_pandas()"] if n_more > 0 else []), *self.notes),
        )


def _row(total: SpanTotal) -> tuple[str, ...]:
    # A sum of some of them is the least that it was.
    at_least = "at least " if total.cpu_s is not None and total.n_cpu_unknown else ""
    return (
        printable(total.span, _NAME_WIDTH),
        format_count(total.n_tasks),
        format_count(total.n_erred),
        format_duration(total.task_s),
        at_least + format_duration(total.cpu_s),
    )


def measure_spans(recording: RecordedData) -> Spans:
    """Return what the tasks of each span took."""
    sums: dict[str, NDArray[np.float64]] = {}
    outside = np.zeros(len(_SUMS))
    for group, of_group in zip(recording.groups, _by_group(recording), strict=True):
        if group.span is None:
            outside += of_group
        elif of_group[0]:
            for span in _around(group.span):
                own = of_group[2] if span == group.span else 0.0
                sums[span] = sums.get(span, 0.0) + np.append(of_group, own)
    return Spans(
        spans=tuple(_total(span, sums[span]) for span in sorted(sums)),
        reason=None if sums else _reason(recording),
        notes=tuple(_notes(recording, outside)) if sums else (),
    )


_SUMS = ("n_tasks", "n_erred", "task_s", "cpu_s", "n_cpu_known")


def _by_group(recording: RecordedData) -> NDArray[np.float64]:
    """Return a row of `_SUMS` for each group."""
    tasks = recording.tasks
    seen = were_seen(tasks)
    has_cpu = ~np.isnan(tasks.cpu_s)
    weights = (
        seen,
        seen & (tasks.status == ERRED),
        np.where(seen, tasks.stop - tasks.start, 0.0),
        np.where(seen & has_cpu, tasks.cpu_s, 0.0),
        seen & has_cpu,
    )
    group, n_groups = tasks.group.astype(np.int64), len(recording.groups)
    return np.column_stack([np.bincount(group, of_tasks, n_groups) for of_tasks in weights])


def _around(span: str) -> Iterator[str]:
    """Yield a span, and those around it."""
    parts = span.split(_WITHIN)
    return (_WITHIN.join(parts[: n + 1]) for n in range(len(parts)))


def _total(span: str, sums: NDArray[np.float64]) -> SpanTotal:
    n_tasks, n_erred, task_s, cpu_s, n_cpu_known, own_task_s = sums.tolist()
    return SpanTotal(
        span=span,
        n_tasks=int(n_tasks),
        n_erred=int(n_erred),
        task_s=task_s,
        own_task_s=own_task_s,
        cpu_s=cpu_s if n_cpu_known else None,
        n_cpu_unknown=int(n_tasks - n_cpu_known),
    )


def _notes(recording: RecordedData, outside: NDArray[np.float64]) -> Iterator[str]:
    if n := int(outside[0]):
        yield f"{format_count(n)} {plural('task', n)} in no span: {format_duration(float(outside[2]))}"
    if n := recording.dropped:
        yield f"{format_count(n)} {plural('task', n)} no longer held, and in none of these sums"


def _reason(recording: RecordedData) -> str:
    if not any(run.is_on_cluster for run in recording.runs):
        return "nothing ran on a cluster"
    return "no task is in one, or the scheduler was not observed"
