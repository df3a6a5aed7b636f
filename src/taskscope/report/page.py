"""Documents around the interactive chart, in a notebook's frame and in a file, and parts of them."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from html import escape

from taskscope.analysis.calls import Profile, flame_message
from taskscope.analysis.calls import profile as calls_of
from taskscope.analysis.display.pictures import DARK, LIGHT
from taskscope.analysis.quantities import format_count, format_duration, printable
from taskscope.analysis.result import Section
from taskscope.analysis.summary import Summary
from taskscope.model.recording import RecordedData
from taskscope.model.redaction import redacted, without_credentials
from taskscope.model.tables.records import Run, count_runs
from taskscope.model.tables.stacks import StackColumns
from taskscope.report.embed import (
    MAX_PAGE_LINKS,
    TICK_S,
    PageScript,
    data_json,
    escaped_json,
    links_fit,
    links_note,
    page_path,
    page_tick_s,
    report_script,
)
from taskscope.report.picture import img_html, picture_svg

BODY_COLOURS = (
    f"body{{color:{LIGHT['ink']};background:{LIGHT['paper']}}}"
    f"@media(prefers-color-scheme:dark){{body{{color:{DARK['ink']};background:{DARK['paper']}}}}}"
)
_PAGE_STYLE = (
    ":root{color-scheme:light dark}"
    "body{margin:1rem;font:14px/1.5 system-ui,sans-serif}"
    f"{BODY_COLOURS}"
    "h1{font-size:1.1rem}h2{font-size:1rem}ul{padding-inline-start:1.2rem}pre{overflow:auto}img{max-width:100%}table{border-collapse:collapse}"
    "th,td{padding:0 .8em 0 0;text-align:right}th:first-child,td:first-child{text-align:left}"
)


def chart_page(recording: RecordedData, *, has_links: bool) -> str:
    """Return a document that is nothing but the interactive chart; see-through until its script has run."""
    style = (
        "html,body{margin:0;height:100%;font:13px system-ui,sans-serif}"
        ".taskscope-still{position:absolute;bottom:0;margin:4px}"
    )
    script = report_script(recording)
    return document("taskscope", style, _interactive(recording, script, has_links=has_links), script)


def page_html(recording: RecordedData, sections: str = "", profile: Profile | None = None) -> str:
    """Return a whole document that needs neither kernel nor network."""
    # Findings are above the charts. Picture and tables come before the data of the
    # interactive chart: they are painted first and stay where scripts are off, else it takes the
    # picture's place.
    summary = Summary.of(recording)
    name = summary.title
    has_links = links_fit(recording, MAX_PAGE_LINKS)
    left_out = "" if has_links else links_note(MAX_PAGE_LINKS)
    profile = calls_of(recording) if profile is None else profile
    has_profile = profile.n_samples > 0
    script = report_script(recording, is_page=True) if recording.runs or has_profile else None
    chart = _interactive(recording, script, has_links=has_links)
    flames = profile_html(recording, profile, interactive=script is not None) if has_profile else ""
    body = (
        f"<h1>{escape(name)}</h1>{facts_html(summary)}"
        f'{remarks_html(summary)}<div class="taskscope-place"></div>{_picture(recording, summary)}'
        f"{_rounding(recording)}{left_out}{computes_html(recording)}{prefix_table_html(summary)}{flames}{sections}{chart}"
    )
    return document(name, _PAGE_STYLE, body, script)


def _picture(recording: RecordedData, summary: Summary) -> str:
    if not recording.runs:
        return ""
    picture = img_html(picture_svg(recording, summary.totals.prefixes), f"Gantt chart: {summary.title}")
    return f'<details class="taskscope-picture" open><summary>Picture</summary>{picture}</details>'


def _rounding(recording: RecordedData) -> str:
    tick_s = page_tick_s(recording)
    if tick_s <= TICK_S:
        return ""
    return (
        "<p>So that this page stays small, times of its chart are rounded to"
        f" {format_duration(tick_s)}, at most a five-hundredth of the mean task."
        " The <code>.taskscope</code> file has them in full.</p>"
    )


def _interactive(recording: RecordedData, script: PageScript | None, *, has_links: bool) -> str:
    if script is None:
        return ""
    data = data_json(recording, page_path(recording), has_links=has_links) if recording.runs else None
    element = (
        "" if data is None else f'<script type="application/json" class="taskscope-data">{data}</script>'
    )
    return f"{element}{script.html}"


def document(name: str, style: str, body: str, script: PageScript | None) -> str:
    """Return a whole document, in which nothing but `script` runs."""
    allowed = "'none'" if script is None else script.sources
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        # Without it, a frame in a dark notebook would get a white ground instead of none.
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(name)}</title><style>{style}</style></head><body>{body}</body></html>"
    )


_MAX_CODE = 100_000
_UNSAID = {"interrupted", "error", "label"}


def performance_html(recording: RecordedData, code: str | None) -> str:
    """Return a whole document that needs neither kernel nor network."""
    leaving = redacted(recording)
    profile = calls_of(leaving)
    sections = (
        "" if profile.n_samples else profile_html(leaving, profile, interactive=False),
        section("Versions and machine", Section("", rows=list(_facts(leaving))).table_html()),
        section("Calling code", _code(code)),
    )
    return page_html(leaving, "".join(sections), profile)


def _facts(recording: RecordedData) -> Iterator[tuple[str, str]]:
    yield "started", recording.started_at.isoformat(sep=" ", timespec="seconds")
    for name, value in recording.metadata.items():
        if name not in _UNSAID and value is not None:
            yield name.replace("_", " "), printable(str(value), 200)


def _code(code: str | None) -> str:
    if code is None:
        return "<p>not available</p>"
    text = without_credentials(code)
    if len(text) > _MAX_CODE:
        text = f"{text[:_MAX_CODE]}\n… {len(code) - _MAX_CODE:,} more characters"
    return f"<pre>{escape(text.encode('utf-8', 'backslashreplace').decode())}</pre>"


_MAX_NUMBERS = 5
_FIRST = re.compile(r", |: | \((?!worker )")
_MAX_ROWS = 100


def facts_html(summary: Summary) -> str:
    """Return the first number of the measured totals as one line; the rest is behind a pointer."""
    parts = [
        f'<span title="{escape(value)}">{escape(name)}&nbsp;{escape(_FIRST.split(value)[0])}</span>'
        for name, value in summary.facts[:_MAX_NUMBERS]
    ]
    return f"<div>{' &nbsp; '.join(parts)}</div>"


def remarks_html(summary: Summary) -> str:
    """Return errors and messages as a list; nothing where there are none."""
    notes = [f"<li>{escape(note)}</li>" for note in (*summary.why, *summary.remarks)]
    if summary.advice:
        more = "".join(f"<br>{escape(line)}" for line in summary.advice)
        notes[0] = notes[0].replace("</li>", f"{more}</li>")
    return f"<ul>{''.join(notes)}</ul>" if notes else ""


def computes_html(recording: RecordedData) -> str:
    """Return the folded list of computes; nothing where there is only one."""
    runs = recording.runs[:_MAX_ROWS]
    if len(recording.runs) < 2:
        return ""
    rows = [
        (
            " · ".join(printable(name, 40) for name in (run.label, _prompt(run)) if name) or _numbers(run),
            run.status,
            format_count(run.n_tasks),
            format_duration(_seconds(run)),
        )
        for run in runs
    ]
    table = Section("", ("compute", "", "tasks", "time"), rows).table_html()
    return f"<details><summary>Computes ({count_runs(recording.runs):,})</summary>{table}</details>"


def _numbers(run: Run) -> str:
    """Return its number, counted from 1, or those of the computes that are added up in it."""
    first = run.run + 1
    return f"compute {first}" if run.last_run is None else f"computes {first} to {run.last_run + 1}"


def _seconds(run: Run) -> float | None:
    return run.computing_s if run.stop_s is None or run.computing_s is not None else run.stop_s - run.start_s


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
