"""The differences of two recordings: per prefix and in total, as values and as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import UNKNOWN, format_bytes, format_count, format_duration, printable
from taskscope.analysis.result import Result, Section, columns_of
from taskscope.analysis.totals import PrefixTotal, Totals, measure_totals, rows_by_prefix
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import CLUSTER

_QUANTILE = 1.96
"""Of the normal distribution, for 95 % confidence."""
_MAX_PREFIXES = 20
_VERSIONS = ("dask", "distributed", "numpy", "python", "taskscope")
_MACHINE = ("host", "platform", "n_cores", "memory_limit_bytes")


def _n(value: float | None) -> str:
    return UNKNOWN if value is None else format_count(int(value))


def _lost(totals: Totals) -> float | None:
    """Return how many executions workers took with them; unknown where there was no cluster."""
    return totals.workers.n_lost if CLUSTER in totals.schedulers else None


_QUANTITIES: Mapping[str, tuple[str, Callable[[float | None], str], Callable[[Totals], float | None]]] = {
    "makespan_s": ("wall time", format_duration, lambda t: t.makespan_s),
    "time_s": ("time in tasks", format_duration, lambda t: t.task_s),
    "cpu_s": ("CPU time", format_duration, lambda t: t.cpu_s),
    "peak_rss_bytes": ("peak memory", format_bytes, lambda t: t.peak_rss_bytes),
    "worker_peak_bytes": ("peak, one worker", format_bytes, lambda t: t.workers.peak_bytes),
    "transferred_bytes": ("transferred", format_bytes, lambda t: t.workers.transferred_bytes),
    "spilled_bytes": ("spilled by one", format_bytes, lambda t: t.workers.spilled_bytes),
    "n_lost": ("lost with workers", _n, _lost),
    "n_tasks": ("tasks", _n, lambda t: t.n_tasks),
}
"""The quantities of whole recordings: their words, their texts, and where they are measured."""
_ON_WORKERS = ("worker_peak_bytes", "transferred_bytes", "spilled_bytes", "n_lost")


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity in the first and in the second recording; None is unknown."""

    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        """How many times `before` is `after`; None where either is unknown or 0."""
        return self.after / self.before if self.before and self.after is not None else None


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences of the tasks of one prefix.

    `mean_ratio` is the mean duration after over that before, `low` and `high` its interval of 95 %
    confidence; None unless both recordings have tasks, two or more for the interval. `kind` is
    ``new`` (only after), ``gone`` (only before), or ``both``.
    """

    prefix: str
    n_tasks: Change
    time_s: Change
    cpu_s: Change
    mean_ratio: float | None
    low: float | None
    high: float | None
    kind: str

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes that nothing changed."""
        return self.low is not None and self.high is not None and not self.low <= 1.0 <= self.high


@dataclass(frozen=True, slots=True, repr=False)
class ComparedData(Result):
    """Two recordings side by side.

    `peak_rss_bytes` is of the recording process and its children, `worker_peak_bytes` and `spilled_bytes`
    are the most of any one worker of a cluster, and `n_lost` counts executions that ended with their worker.
    `prefixes` have the largest change of time first; `warnings` are reasons why the two may not be
    comparable.
    """

    makespan_s: Change
    time_s: Change
    cpu_s: Change
    n_tasks: Change
    peak_rss_bytes: Change
    worker_peak_bytes: Change
    transferred_bytes: Change
    spilled_bytes: Change
    n_lost: Change
    prefixes: tuple[Difference, ...]
    warnings: tuple[str, ...]
    recordings: tuple[RecordedData, RecordedData] = field(compare=False)

    _plain = (*_QUANTITIES, "prefixes", "warnings")

    def table(self) -> dict[str, list[object]]:
        """Return a row for each prefix: ``prefix, kind``, each quantity before and after, and the ratio."""
        columns: dict[str, list[object]] = columns_of(self.prefixes, "prefix", "kind")
        for name in ("n_tasks", "time_s", "cpu_s"):
            columns[f"{name}_before"] = [getattr(row, name).before for row in self.prefixes]
            columns[f"{name}_after"] = [getattr(row, name).after for row in self.prefixes]
        return columns | columns_of(self.prefixes, "mean_ratio", "low", "high")

    def sections(self) -> Iterator[Section]:
        """Yield the totals, the prefixes, and why the two may not be comparable."""
        yield self.totals()
        yield self.by_prefix(_MAX_PREFIXES)
        if self.warnings:
            yield Section("", notes=[f"warning: {text}" for text in self.warnings])

    def totals(self) -> Section:
        """Return the quantities of the whole recordings."""
        changes = {name: getattr(self, name) for name in _QUANTITIES}
        known = {name for name in _ON_WORKERS if changes[name].before or changes[name].after}
        rows = []
        for name, (words, show, _) in _QUANTITIES.items():
            if name not in _ON_WORKERS or name in known:
                one = "peak, this process" if known and name == "peak_rss_bytes" else words
                change = changes[name]
                rows.append((one, show(change.before), show(change.after), _ratio(change.ratio)))
        return Section("taskscope · comparison", ("", "before", "after", "ratio"), rows)

    def by_prefix(self, most: int) -> Section:
        """Return a row for each of `most` prefixes."""
        head = ("task type", "tasks", "time before", "time after", "mean per task (95 %)")
        n_more = len(self.prefixes) - most
        notes = [f"{n_more:,} more task types are in to_pandas()"] if n_more > 0 else []
        return Section("", head, [_row(row) for row in self.prefixes[:most]], notes)


def compared(before: RecordedData, after: RecordedData) -> ComparedData:
    """Return what changed from one recording to the other; see `taskscope.compare`."""
    totals = measure_totals(before), measure_totals(after)
    seconds = _durations(before), _durations(after)
    known = [{total.prefix: total for total in each.prefixes} for each in totals]
    rows = [
        _difference(
            name,
            [each.get(name) for each in known],
            _interval(seconds[0].get(name), seconds[1].get(name)),
        )
        for name in dict.fromkeys([*seconds[0], *seconds[1]])
    ]
    return ComparedData(
        **{name: Change(*map(of, totals)) for name, (_, _, of) in _QUANTITIES.items()},
        prefixes=tuple(sorted(rows, key=lambda row: -abs(_gain(row.time_s)))),
        warnings=tuple(_warnings(before, after, totals, rows)),
        recordings=(before, after),
    )


def _gain(change: Change) -> float:
    return (change.after or 0.0) - (change.before or 0.0)


def _durations(recording: RecordedData) -> dict[str, NDArray[np.float64]]:
    seconds = recording.tasks.stop - recording.tasks.start
    return {name: seconds[rows] for name, rows in rows_by_prefix(recording).items()}


def _difference(
    prefix: str, totals: Sequence[PrefixTotal | None], interval: tuple[float | None, float | None]
) -> Difference:
    before, after = totals
    means = [of.duration_s / of.n_tasks if of else 0.0 for of in totals]
    return Difference(
        prefix=prefix,
        n_tasks=Change(*(of.n_tasks if of else 0 for of in totals)),
        time_s=Change(*(of.duration_s if of else 0.0 for of in totals)),
        cpu_s=Change(*(of.cpu_s if of else None for of in totals)),
        mean_ratio=means[1] / means[0] if after and means[0] > 0 else None,
        low=interval[0],
        high=interval[1],
        kind="new" if before is None else "gone" if after is None else "both",
    )


def _interval(
    before: NDArray[np.float64] | None, after: NDArray[np.float64] | None
) -> tuple[float | None, float | None]:
    """Return between which values the ratio of the means lies, from how much durations scatter."""
    if before is None or after is None or min(len(before), len(after)) < 2:
        return None, None
    means = float(before.mean()), float(after.mean())
    if not min(means) > 0:
        return None, None
    # The error of a logarithm is the relative error, and the logarithm of a ratio is a difference.
    errors = (
        float(of.std(ddof=1)) / math.sqrt(len(of)) / mean
        for of, mean in zip((before, after), means, strict=True)
    )
    factor, ratio = math.exp(_QUANTILE * math.hypot(*errors)), means[1] / means[0]
    return ratio / factor, ratio * factor


def _warnings(
    before: RecordedData, after: RecordedData, totals: tuple[Totals, Totals], rows: list[Difference]
) -> list[str]:
    found = [
        f"{name} differs: {before.metadata.get(name)} before, {after.metadata.get(name)} after"
        for name in (*_VERSIONS, *_MACHINE)
        if before.metadata.get(name) != after.metadata.get(name)
    ]
    for quantity, name in (("schedulers", "the scheduler"), ("n_workers", "the number of workers")):
        values = [getattr(t, quantity) for t in totals]
        if values[0] != values[1]:
            found.append(f"{name} differs: {_shown(values[0])} before, {_shown(values[1])} after")
    changed = [row.prefix for row in rows if row.kind == "both" and row.n_tasks.before != row.n_tasks.after]
    if changed:
        found.append(f"the number of tasks differs for {', '.join(changed[:5])}: the chunks may be others")
    for name, recording in (("before", before), ("after", after)):
        if recording.dropped or recording.metadata.get("truncated"):
            found.append(f"the recording {name} is not complete")
    return found


def _shown(value: object) -> str:
    return " + ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _row(row: Difference) -> tuple[str, ...]:
    n = _n(row.n_tasks.after)
    if row.n_tasks.before != row.n_tasks.after:
        n = f"{_n(row.n_tasks.before)} → {n}"
    times = (format_duration(seconds) for seconds in (row.time_s.before, row.time_s.after))
    return (printable(row.prefix, 36), n, *times, _verdict(row))


def _verdict(row: Difference) -> str:
    if row.kind != "both":
        return row.kind
    if row.low is None or row.high is None:
        return _ratio(row.mean_ratio)
    clear = "" if row.is_clear else ", no clear change"
    return f"{_ratio(row.mean_ratio)} ({row.low:.2f} to {row.high:.2f}{clear})"


def _ratio(value: float | None) -> str:
    return UNKNOWN if value is None else f"× {value:.2f}"
