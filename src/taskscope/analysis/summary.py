"""A recording as a few lines of text, of the same shape for all that have computes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taskscope.analysis.quantities import (
    UNKNOWN,
    format_bytes,
    format_count,
    format_duration,
    format_percent,
    plural,
    printable,
)
from taskscope.analysis.totals import OthersTotals, Outcomes, PrefixTotal, State, Totals, measure_totals
from taskscope.model.recording import RecordedData
from taskscope.model.records import LOST

__all__ = ["NO_DASK", "facts", "others_text", "remarks", "state_word", "summary_text", "title"]

NO_DASK = "no Dask computation ran here"

_MAX_PREFIXES = 20
_NAME_WIDTH = 36


def summary_text(recording: RecordedData) -> str:
    """Return the text face of a recording."""
    totals = measure_totals(recording)
    lines = [title(recording, totals)]
    if recording.runs:
        lines += ["", *(f"  {name:<13}  {value}" for name, value in facts(recording, totals))]
    if totals.n_runs:
        lines += ["", *_table(totals.prefixes)]
    notes = remarks(recording, totals)
    return "\n".join([*lines, *([""] if notes else []), *(f"  {note}" for note in notes)])


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
        _workers(totals),
        _counted(totals.n_runs, "compute"),
        _counted(totals.n_tasks, "task"),
    ]
    return " · ".join(["taskscope", *parts])


def state_word(state: State) -> str:
    """Return a state as people call it."""
    return "failed" if state == "erred" else state


def facts(recording: RecordedData, totals: Totals) -> list[tuple[str, str]]:
    """Return the measured totals as pairs of a name and a text."""
    busy = format_percent(totals.busy_fraction)
    cpu = format_duration(totals.cpu_s)
    if totals.cpu_s is not None and totals.n_cpu_unknown:
        cpu += f" ({_counted(totals.n_cpu_unknown, 'task')} unknown)"
    memory = format_bytes(totals.peak_rss_bytes)
    dt_s = recording.metadata.get("dt_s")
    on_workers = _on_workers(recording)
    if totals.peak_rss_bytes is not None and on_workers:
        memory += " in this process"
    if totals.peak_rss_bytes is not None and isinstance(dt_s, float | int):
        memory += f" (sampled every {format_duration(dt_s)})"
    own = [
        ("wall time", format_duration(totals.makespan_s)),
        ("time in tasks", format_duration(totals.task_s if recording.runs else None)),
        ("busy", busy if busy == UNKNOWN else f"{busy} of {_workers(totals)}"),
        ("CPU time", cpu),
        ("peak memory", memory),
        *([("on workers", on_workers)] if on_workers else []),
    ]
    others = [] if totals.others is None else [("others", others_text(totals.others))]
    return [*(own if totals.n_runs else []), *others]


def _on_workers(recording: RecordedData) -> str:
    """Return what a cluster's workers used and lost; nothing where none was seen."""
    parts = []
    used = [(w.rss_bytes, w) for w in recording.workers if w.rss_bytes is not None]
    if used:
        most, sample = max(used, key=lambda pair: pair[0])
        limit = f" of {format_bytes(sample.limit_bytes)}" if sample.limit_bytes else ""
        who = printable(sample.name or sample.worker, _NAME_WIDTH)
        parts.append(f"peak memory {format_bytes(most)}{limit} (worker {who})")
    # Who sent it and who received it both have a log of it.
    moved = sum(t.nbytes or 0.0 for t in recording.transfers if t.direction == "incoming")
    spilled = max((w.spilled_bytes or 0.0 for w in recording.workers), default=0.0)
    n_lost = int(np.count_nonzero(recording.tasks.status == LOST)) if parts else 0
    parts += [f"{format_bytes(moved)} transferred"] if moved else []
    parts += [f"up to {format_bytes(spilled)} spilled by one"] if spilled else []
    parts += [f"{_counted(n_lost, 'task')} lost with a worker"] if n_lost else []
    return ", ".join(parts)


def others_text(others: OthersTotals) -> str:
    """Return what is known of other clients' tasks, in words.

    Examples
    --------
    >>> others_text(OthersTotals(n_ended=12, n_erred=1, n_running=2, duration_s=3.0))
    '12 tasks of other clients ended (1 failed), 3 s in tasks, 2 on a worker'
    """
    erred = f" ({format_count(others.n_erred)} failed)" if others.n_erred else ""
    parts = [
        f"{_counted(others.n_ended, 'task')} of other clients ended{erred}",
        f"{format_duration(others.duration_s)} in tasks",
        *([f"{format_count(others.n_running)} on a worker"] if others.n_running else []),
    ]
    return ", ".join(parts)


def remarks(recording: RecordedData, totals: Totals) -> list[str]:
    """Return what the user should know: errors, what did not finish, what was dropped, messages."""
    ended_by = recording.metadata.get("error")
    errors = dict.fromkeys([*totals.errors, *([str(ended_by)] if ended_by else [])])
    notes = [f"error: {printable(error, 500)}" for error in errors]
    notes += _outcomes(totals.outcomes)
    if totals.n_failed_attempts:
        attempts = _counted(totals.n_failed_attempts, "attempt")
        notes.append(f"{attempts} failed and the task was tried again; times above do not contain them")
    if totals.dropped:
        held = totals.n_tasks - totals.dropped
        notes.append(f"only {held:,} of {totals.n_tasks:,} tasks are held; times above are of these")
    return notes + [f"{m.level}: {printable(m.text, 500)}" for m in recording.messages]


def _outcomes(outcomes: Outcomes) -> list[str]:
    """Return what became of tasks, but of those that finished."""
    notes = []
    if outcomes.n_erred:
        notes.append(f"{_counted(outcomes.n_erred, 'task')} failed")
    if outcomes.n_unfinished:
        notes.append(f"{_counted(outcomes.n_unfinished, 'task')} did not finish")
    if outcomes.n_background:
        notes.append(f"{_counted(outcomes.n_background, 'task')} still running in the background")
    if outcomes.n_spared:
        notes.append(f"{_counted(outcomes.n_spared, 'task')} skipped: already computed, or not needed")
    if outcomes.n_unrecorded:
        recorded = format_count(outcomes.n_done - outcomes.n_unrecorded)
        notes.append(
            f"{_counted(outcomes.n_done, 'task')} of computes that finished, {recorded} of them recorded: "
            "whether the others ran is not known"
        )
    return notes


def _workers(totals: Totals) -> str:
    names = set(totals.schedulers)
    # What is a worker to Dask's own schedulers is to distributed a thread of one.
    noun = (
        "worker thread"
        if "distributed" in names
        else "thread"
        if names <= {"threads", "synchronous"}
        else "process"
        if names == {"processes"}
        else "worker"
    )
    return _counted(totals.n_workers, noun)


def _table(prefixes: Sequence[PrefixTotal]) -> list[str]:
    rows = [("prefix", "tasks", "time", "share")]
    rows += [
        (
            printable(row.prefix, _NAME_WIDTH),
            format_count(row.n_tasks),
            format_duration(row.duration_s),
            format_percent(row.share),
        )
        for row in prefixes[:_MAX_PREFIXES]
    ]
    if not prefixes:
        rows.append((UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN))
    rest = prefixes[_MAX_PREFIXES:]
    if rest:
        n_tasks, seconds = sum(r.n_tasks for r in rest), sum(r.duration_s for r in rest)
        share = format_percent(sum(r.share for r in rest))
        rows.append((f"{len(rest):,} more", format_count(n_tasks), format_duration(seconds), share))
    width = max(len(row[0]) for row in rows)
    return [f"  {name:<{width}}  {n:>9}  {time:>12}  {share:>6}" for name, n, time, share in rows]


def _counted(n: int | None, noun: str) -> str:
    return f"{format_count(n)} {plural(noun, n)}"
