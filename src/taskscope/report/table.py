"""Totals and call stacks as HTML that survives every sanitiser: no scripts, escaped text."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from html import escape

from taskscope.analysis.calls.profile import Profile, flame_message
from taskscope.analysis.display.colours import prefix_colours
from taskscope.analysis.display.page_tables import few_samples, thinned_note
from taskscope.analysis.quantities import (
    format_count,
    format_duration,
    format_percent,
    format_shares,
    printable,
)
from taskscope.analysis.summary import Summary
from taskscope.analysis.totals import PrefixTotal
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import place_text
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


_MAX_CALLS = 40
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
    rows = table_html(
        ("function", "self time", "share", "with calls", "samples", "defined in"), _functions(profile)
    )
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


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of escaped texts, without a head where all its names are empty."""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    caption = f"<thead><tr>{names}</tr></thead>" if any(head) else ""
    return f"<table>{caption}<tbody>{body}</tbody></table>"


def _data_html(recording: RecordedData) -> str:
    colours = prefix_colours(recording)
    shown = {name: colours.get(name, 0) for name in recording.stacks.of_tasks.prefixes}
    text = escaped_json({**packed_profile(recording.stacks.of_tasks), "colours": shown})
    return f'<script type="application/json" class="taskscope-profile">{text}</script>'


def _functions(profile: Profile) -> Iterable[Sequence[str]]:
    """Yield a row per function, the ones that take most of the time themselves first."""
    for own in profile.functions()[:_MAX_CALLS]:
        yield (
            printable(own.name, 80),
            format_duration(own.self_seconds),
            format_percent(own.self_seconds / profile.root.seconds),
            format_duration(own.seconds),
            format_count(own.self_samples),
            printable(
                place_text(own.file, own.line) if own.kind == "function" else "C code that Dask called", 120
            ),
        )
