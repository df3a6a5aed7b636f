"""What stays under a cell: text, and HTML with a picture that an interactive chart covers where it may."""

from __future__ import annotations

import base64
from html import escape

from taskscope.analysis.redaction import redacted
from taskscope.analysis.summary import summary_text, title
from taskscope.analysis.totals import Totals, measure_totals
from taskscope.model.recording import RecordedData
from taskscope.report.embed import (
    MAX_FRAME_LINK_BYTES,
    PackedLinks,
    count_tasks,
    links_note,
    pack_links,
    report_script,
)
from taskscope.report.page import chart_page
from taskscope.report.picture import picture_svg
from taskscope.report.table import facts_html, prefix_table_html, remarks_html

__all__ = ["MAX_EMBEDDED_TASKS", "result_bundle", "result_html", "still_bundle"]

MAX_EMBEDDED_TASKS = 20_000
"""Tasks put into a notebook for the interactive chart, about 35 bytes each."""

_HEAD_PX = 860
_CLUSTER_PX = 310
_MAX_LANES_PX = 420
# Those of rowHeightPx in labextension/src/charts/tasks/layout.ts.
_LANE_PX = ((4, 30), (8, 26), (16, 22), (32, 18), (float("inf"), 14))

# Where styles are stripped, so is the frame, and the picture needs no room for it.
# Notebooks have a theme of their own; without this, frames and pictures would follow the operating system's.
_THEME = (
    "<style>.taskscope-chart{position:relative}"
    ".taskscope-chart iframe{position:absolute;inset:0;width:100%;height:100%;border:0}"
    ".taskscope-result :is(iframe,img){color-scheme:light}"
    'body[data-jp-theme-light="false"] .taskscope-result :is(iframe,img),'
    "body.vscode-dark .taskscope-result :is(iframe,img){color-scheme:dark}</style>"
)


def result_bundle(recording: RecordedData) -> dict[str, str]:
    """Return the static result as a MIME bundle of ``text/plain`` and ``text/html``."""
    leaving = redacted(recording)
    return {"text/plain": summary_text(leaving), "text/html": _html(leaving)}


def still_bundle(recording: RecordedData) -> dict[str, str]:
    """Return the same without the interactive chart, to stand beside a widget that has one."""
    leaving = redacted(recording)
    return {"text/plain": summary_text(leaving), "text/html": _html(leaving, interactive=False)}


def result_html(recording: RecordedData) -> str:
    """Return the static result as self-contained HTML.

    Notes
    -----
    A viewer that strips frames, styles and scripts still shows title, picture, totals and table. Credentials
    in URLs are hidden.
    """
    return _html(redacted(recording))


def _html(recording: RecordedData, *, interactive: bool = True) -> str:
    totals = measure_totals(recording)
    parts = [f"<div><b>{escape(title(recording, totals))}</b></div>"]
    if recording.runs:
        parts += [facts_html(recording, totals), _chart(recording, totals, interactive=interactive)]
    parts += [remarks_html(recording, totals), prefix_table_html(totals.prefixes)]
    return f'{_THEME}<div class="taskscope-result">{"".join(parts)}</div>'


def _chart(recording: RecordedData, totals: Totals, *, interactive: bool) -> str:
    svg = picture_svg(recording, totals.prefixes)
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    n_tasks = count_tasks(recording)
    alt = escape(f"Gantt chart: {title(recording, totals)}", quote=True)
    picture = f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}" style="max-width:100%">'
    if not (interactive and n_tasks) or report_script(recording) is None:
        return f"<div>{picture}</div>"
    if n_tasks > MAX_EMBEDDED_TASKS:
        note = (
            f"The picture shows all {n_tasks:,} tasks. For the interactive chart, start the cell with"
            ' <code>%%profile -o run</code> and save it: <code>run.save("run.html")</code>'
        )
        return f"<div>{picture}</div><div>{note}</div>"
    style = f"min-height:{_chart_px(recording)}px"
    links = pack_links(recording, MAX_FRAME_LINK_BYTES)
    chart = f'<div class="taskscope-chart" style="{style}">{picture}{_frame(recording, links)}</div>'
    return chart + links_note(links, MAX_FRAME_LINK_BYTES)


def _chart_px(recording: RecordedData) -> int:
    """Return the height that the interactive chart will have, which a frame cannot give its page."""
    n_lanes = len(set().union(*(set(block.lane.tolist()) for block in recording.blocks)))
    lane_px = next(px for most, px in _LANE_PX if n_lanes <= most)
    head_px = _HEAD_PX + (_CLUSTER_PX if recording.workers else 0)
    return head_px + min(n_lanes * lane_px, _MAX_LANES_PX)


def _frame(recording: RecordedData, links: PackedLinks | None) -> str:
    # Single quotes around the value: the page is full of double ones.
    page = chart_page(recording, links).replace("&", "&amp;").replace("'", "&#39;")
    return (
        '<iframe sandbox="allow-scripts" loading="lazy" title="Interactive Gantt chart"'
        f" srcdoc='{page}'></iframe>"
    )
