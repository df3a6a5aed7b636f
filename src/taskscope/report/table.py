"""Totals and call stacks as HTML that survives every sanitiser: no scripts, escaped text."""

from __future__ import annotations

import base64
import zlib
from html import escape

from taskscope.analysis.calls.profile import Profile, flame_message
from taskscope.analysis.display.page_tables import few_samples, thinned_note
from taskscope.analysis.quantities import format_count, format_duration, printable
from taskscope.analysis.result import Section
from taskscope.analysis.summary import Summary
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Run
from taskscope.model.tables.stacks import StackColumns
from taskscope.report.embed import escaped_json

_MAX_ROWS = 100


def facts_html(summary: Summary) -> str:
    """Return the measured totals as one line."""
    parts = [f"{escape(name)}&nbsp;<b>{escape(value)}</b>" for name, value in summary.facts]
    return f"<div>{' &nbsp; '.join(parts)}</div>"


def remarks_html(recording: RecordedData, summary: Summary) -> str:
    """Return errors and messages as a list; nothing where there are none."""
    thinned = thinned_note(recording, len(few_samples(recording.workers)))
    said = [summary.why, *summary.remarks, thinned]
    notes = [f"<li>{escape(note)}</li>" for note in said if note]
    return f"<ul>{''.join(notes)}</ul>" if notes else ""


def computes_html(recording: RecordedData) -> str:
    """Return the folded list of computes; nothing where there is only one."""
    runs = recording.runs[:_MAX_ROWS]
    if len(recording.runs) < 2:
        return ""
    rows = [
        (
            " · ".join(printable(name, 40) for name in (run.label, _prompt(run)) if name)
            or f"compute {run.run + 1}",
            run.status,
            format_count(run.n_tasks),
            format_duration(None if run.stop_s is None else run.stop_s - run.start_s),
        )
        for run in runs
    ]
    table = Section("", ("compute", "", "tasks", "time"), rows).table_html()
    return f"<details><summary>Computes ({len(recording.runs):,})</summary>{table}</details>"


def _prompt(run: Run) -> str | None:
    if run.execution_count is not None:
        return f"In [{run.execution_count}]"
    return run.cell if run.cell is not None and run.cell.startswith("In [") else None


def prefix_table_html(summary: Summary, *, more_charts: bool = False) -> str:
    """Return the folded table with a row per prefix; with `more_charts` it unfolds the charts above, too."""
    n = len(summary.totals.prefixes)
    if not n:
        return ""
    table = summary.by_prefix(_MAX_ROWS).table_html()
    table = table.replace(">task type<", ' title="Dask calls it prefix">task type<', 1)
    name, element = f"By task type ({n:,})", "details"
    if more_charts:
        name, element = f"More charts, and {name.lower()}", 'details class="taskscope-more"'
    return f"<{element}><summary>{name}</summary>{table}</details>"


_LEVEL = 9


def profile_html(recording: RecordedData, profile: Profile, *, interactive: bool) -> str:
    """Return the section of a recording's profile, with its data if that is to be `interactive`."""
    note = f"<p>{escape(profile.note)}</p>" if profile.note else ""
    if not profile.n_samples:
        return section("Profile", note)
    interval = "" if profile.interval_s is None else f", about every {format_duration(profile.interval_s)}"
    said = (
        f"<p>{format_count(profile.n_samples)} samples{interval}; they stand for about "
        f"{format_duration(profile.root.seconds)} in tasks.</p>"
    )
    rows = "".join(each.table_html() for each in profile.sections())
    table = f"<details><summary>Functions by self time</summary>{rows}</details>"
    data = _data_html(recording) if interactive else ""
    return section("Profile", f"{note}{said}{table}{data}")


def packed_profile(stacks: StackColumns) -> dict[str, object]:
    """Return the calls of samples for a flame graph, their columns as compressed text."""
    message = flame_message(stacks)
    columns: bytes = message.pop("columns")
    data = base64.b64encode(zlib.compress(columns, _LEVEL)).decode("ascii")
    return {**message, "bytes": len(columns), "data": data}


def section(name: str, content: str) -> str:
    """Return a part of a page with its heading."""
    return f"<section><h2>{escape(name)}</h2>{content}</section>"


def _data_html(recording: RecordedData) -> str:
    text = escaped_json(packed_profile(recording.stacks.of_tasks))
    return f'<script type="application/json" class="taskscope-profile">{text}</script>'
