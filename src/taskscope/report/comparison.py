"""Two recordings on one page: their Gantt charts on one scale and in shared colours, and what changed."""

from __future__ import annotations

from html import escape

from taskscope.analysis.compare import ComparedData, compared
from taskscope.analysis.display.pictures import N_COLOURS, extent_s, prefix_colours
from taskscope.analysis.quantities import format_count, printable
from taskscope.analysis.summary import title
from taskscope.analysis.totals import measure_totals
from taskscope.model.recording import RecordedData
from taskscope.model.redaction import redacted
from taskscope.report.page import BODY_COLOURS, document
from taskscope.report.picture import img_html, picture_svg

_MAX_ROWS = 100
_STYLE = (
    f"{BODY_COLOURS}"
    "body{max-width:860px;margin:16px auto;padding:0 12px;font:14px system-ui,sans-serif}"
    "h1{font-size:18px}h2{font-size:15px}img{max-width:100%}figure{margin:12px 0}"
    "td,th{padding:2px 10px 2px 0;text-align:right}"
    "th[scope=row],th:first-child{text-align:left;font-weight:400}"
    "figcaption{overflow-wrap:anywhere;margin-bottom:4px}"
)
_ROW = 'th scope="row"'


def comparison_bundle(comparison: ComparedData) -> dict[str, str]:
    """Return a MIME bundle of ``text/plain`` and ``text/html``; credentials are hidden."""
    before, after = (redacted(recording) for recording in comparison.recordings)
    leaving = compared(before, after)
    return {"text/plain": str(leaving), "text/html": f"<div>{_content(leaving)}</div>"}


def comparison_page(comparison: ComparedData) -> str:
    """Return a whole document without scripts."""
    name = "taskscope · comparison"
    return document(name, _STYLE, f"<h1>{name}</h1>{_content(comparison)}", None)


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
        f"{comparison.totals().table_html(_ROW)}{f'<ul>{warnings}</ul>' if warnings else ''}"
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
    caption = f"{which}: {title(recording, totals)}"
    image = img_html(svg, f"Gantt chart, {caption}")
    return f"<figure><figcaption>{escape(caption)}</figcaption>{image}</figure>"


def _prefixes(comparison: ComparedData) -> str:
    more = len(comparison.prefixes) - _MAX_ROWS
    note = f"<p>{format_count(more)} more task types are not listed</p>" if more > 0 else ""
    explained = (
        "<p>The intervals hold the ratio of the means with 95 % confidence, by how much tasks scatter."
        " They know nothing of what differs from run to run.</p>"
    )
    return f"<h2>By task type</h2>{comparison.by_prefix(_MAX_ROWS).table_html(_ROW)}{note}{explained}"
