"""Two recordings on one page: their Gantt charts on one scale and in shared colours, and what changed."""

from __future__ import annotations

import base64
from html import escape

from taskscope.analysis.compare import ComparedData, compared
from taskscope.analysis.display.colours import DARK, LIGHT, N_COLOURS, prefix_colours
from taskscope.analysis.display.coverage import extent_s
from taskscope.analysis.quantities import format_count, printable
from taskscope.analysis.redaction import redacted
from taskscope.analysis.summary import title
from taskscope.analysis.totals import measure_totals
from taskscope.model.recording import RecordedData
from taskscope.report.picture import picture_svg
from taskscope.report.table import rows_html

_MAX_ROWS = 100
_ROW = 'th scope="row"'
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def comparison_bundle(comparison: ComparedData) -> dict[str, str]:
    """Return a MIME bundle of ``text/plain`` and ``text/html``; credentials are hidden."""
    before, after = (redacted(recording) for recording in comparison.recordings)
    leaving = compared(before, after)
    return {"text/plain": str(leaving), "text/html": f"<div>{_content(leaving)}</div>"}


def comparison_page(comparison: ComparedData) -> str:
    """Return a whole document without scripts."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>taskscope · comparison</title><style>{_style()}</style></head>"
        f"<body><h1>taskscope · comparison</h1>{_content(comparison)}</body></html>"
    )


def _content(comparison: ComparedData) -> str:
    before, after = comparison.recordings
    span_s = max(extent_s(before), extent_s(after))
    colours = _shared(prefix_colours(before), prefix_colours(after))
    charts = "".join(
        _chart(which, recording, span_s, colours)
        for which, recording in (("before", before), ("after", after))
    )
    warnings = "".join(f"<li>{escape(printable(text, 300))}</li>" for text in comparison.warnings)
    return (
        f"{rows_html(comparison.totals(), _ROW)}{f'<ul>{warnings}</ul>' if warnings else ''}"
        f"{charts}{_prefixes(comparison)}"
    )


def _shared(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """Return colours for both: a new prefix keeps its own, unless another one has it already."""
    colours = dict(before)
    free = [number for number in range(N_COLOURS) if number not in colours.values()]
    for name, number in after.items():
        if name not in colours:
            colours[name] = number if number in free or not free else free[0]
            free = [other for other in free if other != colours[name]]
    return colours


def _chart(which: str, recording: RecordedData, span_s: float, colours: dict[str, int]) -> str:
    totals = measure_totals(recording)
    svg = picture_svg(recording, totals.prefixes, span_s=span_s, colours=colours)
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    caption = escape(f"{which}: {title(recording, totals)}", quote=True)
    return (
        f'<figure><figcaption>{caption}</figcaption><img alt="Gantt chart, {caption}"'
        f' src="data:image/svg+xml;base64,{data}"></figure>'
    )


def _prefixes(comparison: ComparedData) -> str:
    more = len(comparison.prefixes) - _MAX_ROWS
    note = f"<p>{format_count(more)} more task types are not listed</p>" if more > 0 else ""
    explained = (
        "<p>The intervals hold the ratio of the means with 95 % confidence, by bootstrap over tasks."
        " They know nothing of what differs from run to run.</p>"
    )
    return f"<h2>By task type</h2>{rows_html(comparison.by_prefix(_MAX_ROWS), _ROW)}{note}{explained}"


def _style() -> str:
    rules = (
        "body{max-width:860px;margin:16px auto;padding:0 12px;font:14px system-ui,sans-serif;%s}"
        "h1{font-size:18px}h2{font-size:15px}img{max-width:100%%}figure{margin:12px 0}"
        "td,th{padding:2px 10px 2px 0;text-align:right}"
        "th[scope=row],th:first-child{text-align:left;font-weight:400}"
        "figcaption{overflow-wrap:anywhere;margin-bottom:4px}"
    )
    light = f"background:{LIGHT['paper']};color:{LIGHT['ink']}"
    dark = f"background:{DARK['paper']};color:{DARK['ink']}"
    return f"{rules % light}@media(prefers-color-scheme:dark){{body{{{dark}}}}}"
