"""The totals of a recording as HTML that survives every sanitiser: elements without scripts, text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from taskscope.analysis.display.page_tables import few_samples, thinned_note
from taskscope.analysis.quantities import format_count, format_duration, format_shares, printable
from taskscope.analysis.summary import Summary
from taskscope.analysis.totals import PrefixTotal
from taskscope.model.recording import RecordedData

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


def prefix_table_html(prefixes: Sequence[PrefixTotal], *, more_charts: bool = False) -> str:
    """Return one row per prefix, folded away; with it the charts above unfold where `more_charts`."""
    if not prefixes:
        return ""
    shares = format_shares([prefix.share for prefix in prefixes])
    rows = "".join(_row(*of) for of in list(zip(prefixes, shares, strict=True))[:_MAX_ROWS])
    more = len(prefixes) - _MAX_ROWS
    note = f"<div>{more:,} more task types are not listed</div>" if more > 0 else ""
    named = '<th title="Dask calls it prefix">task type</th>'
    head = named + "".join(f"<th>{name}</th>" for name in ("tasks", "failed", "time", "mean", "share"))
    name = f"By task type ({len(prefixes):,})"
    element = "details"
    if more_charts:
        name, element = f"More charts, and {name.lower()}", 'details class="taskscope-more"'
    return (
        f"<{element}><summary>{name}</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{note}</details>"
    )


def _row(prefix: PrefixTotal, share: str) -> str:
    cells = (
        printable(prefix.prefix, 80),
        format_count(prefix.n_tasks),
        format_count(prefix.n_erred),
        format_duration(prefix.duration_s),
        format_duration(prefix.duration_s / prefix.n_tasks),
        share,
    )
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
