"""A recording as a few lines of text, of the same shape for all that have computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from taskscope.analysis.explain.findings import explain
from taskscope.analysis.memory import memory_peak, most_allocated
from taskscope.analysis.quantities import (
    UNKNOWN,
    counted,
    format_bytes,
    format_count,
    format_duration,
    format_percent,
    format_shares,
    printable,
)
from taskscope.analysis.result import Result, Section
from taskscope.analysis.totals import (
    Outcome,
    PrefixTotal,
    State,
    Totals,
    WorkersTotals,
    count_workers,
    elapsed_s,
    measure_before_tasks,
    measure_resources,
    measure_totals,
)
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.tables.records import CLUSTER, Message

NO_DASK = "no Dask computation ran here"

_MAX_PREFIXES = 20
_NAME_WIDTH = 36
_FELT_S = 0.1
_MANY_BYTES = 50e6
_MOST_BAD = 10
MAX_EXPLAINED = 100_000
"""More tasks would take longer to explain than a person waits for a summary; 5 µs each."""
_TASKS_OF_COMPUTE = 200
"""To explain one more compute takes about as long as so many tasks."""


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Result):
    """The findings and totals of a recording that text, page and result show.

    `facts` are the measured totals as pairs of a name and a text, `why` is what `explain` answers, `advice`
    is what to do, and the code that it is about; `remarks` are errors and messages.
    """

    title: str
    totals: Totals
    facts: tuple[tuple[str, str], ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]
    remarks: tuple[str, ...]

    _rows = "totals.prefixes", PrefixTotal

    @classmethod
    def of(cls, recording: RecordedData) -> Summary:
        """Return the summary of a recording."""
        totals = measure_totals(recording)
        return cls(
            title(recording, totals),
            totals,
            tuple(_facts(recording, totals)),
            *_why(recording),
            tuple(_remarks(recording, totals)),
        )

    def sections(self) -> Iterator[Section]:
        """Yield the totals, the prefixes, and the remarks."""
        facts = [*self.facts, *zip(("why", "and"), self.why, strict=False)]
        facts += [("what to do", advice) for advice in self.advice[:1]]
        yield Section(self.title, rows=[(f"{name:<13}", value) for name, value in facts], left=2)
        if self.totals.n_runs:
            yield self.by_prefix(_MAX_PREFIXES)
        if self.remarks:
            yield Section("", notes=self.remarks)

    def by_prefix(self, most: int) -> Section:
        """Return a table with a row for each of `most` prefixes, and one for all others."""
        prefixes, rest = self.totals.prefixes[:most], self.totals.prefixes[most:]
        n_erred = sum(prefix.n_erred for prefix in self.totals.prefixes)
        has_cpu = CLUSTER in self.totals.schedulers and self.totals.cpu_s is not None
        extra = [*(["failed"] if n_erred else []), *(["CPU"] if has_cpu else [])]
        shares = format_shares([*(of.share for of in prefixes), sum(of.share for of in rest)])
        rows = [
            self._row(printable(of.prefix, _NAME_WIDTH), [of], share, extra)
            for of, share in zip(prefixes, shares, strict=False)
        ]
        if rest:
            rows.append(self._row(f"{len(rest):,} more", rest, shares[-1], extra))
        head = ("task type", "tasks", "time", "share", "median", "longest", *extra)
        return Section("", head, rows or [(UNKNOWN,) * len(head)])

    def _row(self, name: str, of: Sequence[PrefixTotal], share: str, extra: Sequence[str]) -> tuple[str, ...]:
        cpu_s = [row.cpu_s for row in of if row.cpu_s is not None]
        more = {
            "failed": format_count(sum(row.n_erred for row in of)),
            "CPU": format_duration(sum(cpu_s) if cpu_s else None),
        }
        return (
            name,
            format_count(sum(row.n_tasks for row in of)),
            format_duration(sum(row.duration_s for row in of)),
            share,
            # Medians of several prefixes are not the median of their tasks.
            format_duration(of[0].median_s if len(of) == 1 else None),
            format_duration(max(row.longest_s for row in of)),
            *(more[column] for column in extra),
        )


def summary_text(recording: RecordedData) -> str:
    """Return the text face of the recording."""
    return str(Summary.of(recording))


def title(recording: RecordedData, totals: Totals) -> str:
    """Return the first line: label, state, scheduler, workers, computes, tasks."""
    label = recording.metadata.get("label")
    parts = [printable(str(label))] if label else []
    interrupted = bool(recording.metadata.get("interrupted"))
    if not totals.n_runs:
        return " · ".join(["taskscope", *parts, *(["interrupted"] if interrupted else []), NO_DASK])
    parts += [
        "interrupted" if interrupted else state_word(totals.state),
        " + ".join(printable(name) for name in totals.schedulers) or "scheduler unknown",
        count_workers(totals.n_workers, totals.schedulers),
        counted(totals.n_runs, "compute"),
        counted(totals.n_tasks, "task"),
    ]
    return " · ".join(["taskscope", *parts])


def state_word(state: State) -> str:
    """Return a state as people call it."""
    return "failed" if state == "erred" else state


def _facts(recording: RecordedData, totals: Totals) -> list[tuple[str, str]]:
    """Return the measured totals as pairs of a name and a text, at most one line each."""
    wall_s = recording.metadata.get("wall_s")
    if not totals.n_runs and not isinstance(wall_s, float):
        return []
    wall = format_duration(totals.makespan_s if totals.n_runs else cast("float", wall_s))
    memory = ("peak memory", _peak_memory(recording, totals))
    if not totals.n_runs:
        return [("wall time", wall), memory]
    busy, before = f"{_task_time(recording, totals)} in tasks", measure_before_tasks(recording)
    computing_s = elapsed_s(recording.runs, recording.now_s)
    if (computes := format_duration(computing_s)) != wall:
        wall += f", {computes} of it in computes"
    # Times before tasks of computes that overlap add up to more.
    if before is not None and _FELT_S <= before.seconds <= computing_s:
        wall += f", {format_duration(before.seconds)} of it before tasks, mostly {before.longest()}"
    if totals.busy_fraction is not None:
        workers = count_workers(totals.n_workers, totals.schedulers)
        busy = f"{format_percent(totals.busy_fraction)} of {workers}, {busy}"
    facts = [
        ("wall time", wall),
        ("busy", busy),
        ("CPU", ", ".join(filter(None, (_cpu_share(recording, totals), _cpu(totals))))),
        memory,
        ("allocated", most_allocated(recording)),
        ("on workers", _on_workers(totals.workers)),
    ]
    return [(name, text) for name, text in facts if text]


def _task_time(recording: RecordedData, totals: Totals) -> str:
    return format_duration(totals.task_s) if count_tasks(recording) or not totals.n_tasks else UNKNOWN


def _cpu(totals: Totals) -> str:
    """Return the CPU time of tasks."""
    if not totals.n_cpu_unknown:
        return f"{format_duration(totals.cpu_s)} in tasks"
    unknown = f" ({counted(totals.n_cpu_unknown, 'task')} unknown)"
    return f"{format_duration(totals.cpu_s)} in tasks" + ("" if totals.cpu_s is None else unknown)


def _cpu_share(recording: RecordedData, totals: Totals) -> str:
    """Return how much of the cores this process used on average, where it ran the tasks."""
    n_cores, percent = recording.metadata.get("n_cores"), measure_resources(recording).cpu_mean_percent
    if CLUSTER in totals.schedulers or percent is None or not isinstance(n_cores, int):
        return ""
    share = percent / 100 / n_cores
    text = format_percent(share) if share <= 1 else f"{100 * share:.0f}%"
    return f"{text} of {counted(n_cores, 'core')}"


def _peak_memory(recording: RecordedData, totals: Totals) -> str:
    """Return the most memory of this process, and its parts where it grew much."""
    text = format_bytes(totals.peak_rss_bytes)
    if totals.peak_rss_bytes is None:
        return text
    if CLUSTER in totals.schedulers:
        return f"{text} in this process"
    place = recording.resources.peak_place(recording.runs)
    if place is not None and np.isnan(recording.resources.peak_bytes[place]):
        text += " (largest sample)"
    if count_tasks(recording) <= MAX_EXPLAINED:
        peak = memory_peak(recording)
        if peak.peak_bytes - peak.nbytes("base") >= _MANY_BYTES:
            return f"{text}: {peak.words()}"
    return text


def _on_workers(workers: WorkersTotals) -> str:
    """Return the lines on a cluster's workers; nothing where none was seen."""
    parts = []
    if workers.peak is not None:
        limit = f" of {format_bytes(workers.peak.limit_bytes)}" if workers.peak.limit_bytes else ""
        who = printable(workers.peak.name or workers.peak.worker, _NAME_WIDTH)
        parts.append(f"peak memory {format_bytes(workers.peak_bytes)}{limit} (worker {who})")
    if workers.transferred_bytes:
        parts.append(f"{format_bytes(workers.transferred_bytes)} transferred")
    if workers.spilled_bytes:
        parts.append(f"up to {format_bytes(workers.spilled_bytes)} spilled by one")
    if workers.n_stolen:
        parts.append(f"{counted(workers.n_stolen, 'task')} stolen from busier ones")
    if workers.n_lost:
        parts.append(f"{counted(workers.n_lost, 'execution')} lost with a worker")
    return ", ".join(parts)


def _remarks(recording: RecordedData, totals: Totals) -> list[str]:
    """Return errors, unfinished tasks, dropped rows and messages as lines."""
    ended_by = recording.metadata.get("error")
    errors = dict.fromkeys([*totals.errors, *([str(ended_by)] if ended_by else [])])
    notes = [f"error: {printable(error, 500)}" for error in errors]
    notes += _outcomes(totals.outcomes)
    if totals.n_failed_attempts:
        attempts = counted(totals.n_failed_attempts, "attempt")
        notes.append(f"{attempts} failed and the task was tried again; times above do not contain them")
    if totals.dropped:
        held = totals.n_tasks - totals.dropped
        notes.append(f"only {held:,} of {totals.n_tasks:,} tasks are kept; times above are of these")
    return notes + _said(recording.messages)


def _said(messages: Sequence[Message]) -> list[str]:
    """Return messages as lines; of workers the bad ones, and the number of normal starts and ends."""
    about_workers = [m for m in messages if m.event is not None]
    bad = [m for m in about_workers if m.level == "warning"]
    shown = [m for m in messages if m.event is None] + bad[:_MOST_BAD]
    notes = [f"{m.level}: {printable(m.text, 500)}" for m in shown]
    if len(bad) > _MOST_BAD:
        more = f"{len(bad) - _MOST_BAD:,} more such things happened to workers: see recording.messages"
        notes.append(f"warning: {more}")
    plain = Counter(str(m.event) for m in about_workers if m.level == "info")
    counts = ", ".join(f"{n:,} {event}" for event, n in plain.items())
    return notes + ([f"info: workers: {counts}"] if counts else [])


def _why(recording: RecordedData) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the answer of `explain`, where it is quick to find and a person would have felt the cause.

    Where the machine was busy as well, that is the second sentence. Then the advice, and its code.
    """
    n_tasks = count_tasks(recording) + _TASKS_OF_COMPUTE * len(recording.runs)
    if not recording.runs or n_tasks > MAX_EXPLAINED:
        return (), ()
    explained = explain(recording)
    is_felt = not explained.findings or explained.findings[0].worth_s >= _FELT_S
    if explained.reason is not None or not is_felt:
        return (), ()
    if not explained.findings:
        return (explained.answer,), ()
    why = (explained.answer, explained.busy)
    advice = (explained.findings[0].advice, explained.findings[0].code)
    return tuple(filter(None, why)), tuple(filter(None, advice))


_UNFINISHED: Mapping[Outcome, str] = {
    "interrupted": "interrupted",
    "lost": "lost",
    "running": "running",
    "given": "given to a worker (whether they ran is not known)",
    "not started": "not started",
    "not finished": "not finished",
}
_OTHERS: Mapping[Outcome, str] = {
    "background": "still running in the background",
    "skipped": "skipped: already computed, or not needed",
    "released": "released while they ran: their futures were deleted, so their results are lost",
    "not begun": "released before they ran: their futures were deleted",
    "unrecorded": "of computes that finished without a record: whether they ran is not known",
}


def _outcomes(outcomes: Mapping[Outcome, int]) -> list[str]:
    """Return the numbers of tasks that did not finish."""
    unfinished = [(outcomes[outcome], words) for outcome, words in _UNFINISHED.items() if outcome in outcomes]
    parts = [f"{format_count(n)} {words}" for n, words in unfinished[1:]]
    return [
        *([f"{counted(outcomes['failed'], 'task')} failed"] if "failed" in outcomes else []),
        *(", ".join([f"{counted(n, 'task')} {words}", *parts]) for n, words in unfinished[:1]),
        *(f"{counted(outcomes[of], 'task')} {words}" for of, words in _OTHERS.items() if of in outcomes),
    ]
