"""The static result under a cell: text, and HTML with a picture below an interactive chart."""

from __future__ import annotations

from html import escape

from taskscope.analysis.summary import Summary
from taskscope.analysis.totals import Totals
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.redaction import redacted
from taskscope.report.embed import (
    MAX_FRAME_LINKS,
    links_fit,
    links_note,
    report_script,
)
from taskscope.report.page import chart_page, computes_html, facts_html, prefix_table_html, remarks_html
from taskscope.report.picture import img_html, picture_svg

MAX_EMBEDDED_TASKS = 20_000
"""Tasks put into a notebook for the interactive chart, about 35 bytes each."""

# The height of a frame is known only inside of it: these are the heights of its parts, as of layoutLanes
# in labextension/src/charts/tasks/layout.ts.
_LANE_PX = ((4, 30), (8, 26), (16, 22), (32, 18), (float("inf"), 14))
_BRIEF_LANE_PX = ((4, 22), (6, 18), (float("inf"), 14))
_MIN_LANES_PX = 36
_MAX_LANES_PX = 420
_MAX_BRIEF_LANES_PX = 112
_BRIEF_PX = 124
_MAX_BRIEF_PX = 278
_ALL_PX = 596
_CLUSTER_PX = 384
_LEGEND_ROW_PX = 24
_LEGEND_WIDTH_PX = 900

# Where styles are stripped, so is the frame, and the picture needs no room for it.
# Notebooks have a theme of their own; without this, frames and pictures would follow the operating system's.
# The extension (labextension/src/hosts/lab/results.ts) sets the theme and the height of frames.
_THEME = (
    "<style>.taskscope-result{padding:12px 12px 0;"
    "font:12px/1.45 var(--jp-ui-font-family,system-ui,sans-serif)}"
    ".taskscope-chart{position:relative;margin:6px -12px 0;min-height:var(--taskscope-brief)}"
    ".taskscope-result:has(.taskscope-more[open]) .taskscope-chart{min-height:var(--taskscope-all)}"
    ".taskscope-chart>img{max-height:var(--taskscope-brief)}"
    ".taskscope-chart iframe{position:absolute;inset:0;width:100%;height:100%;border:0}"
    ".taskscope-result :is(iframe,img){color-scheme:light}"
    'body[data-jp-theme-light="false"] .taskscope-result :is(iframe,img),'
    "body:is(.vscode-dark,.vscode-high-contrast:not(.vscode-high-contrast-light)) .taskscope-result "
    ":is(iframe,img){color-scheme:dark}</style>"
)


def result_bundle(recording: RecordedData) -> dict[str, str]:
    """Return the static result as a MIME bundle of ``text/plain`` and ``text/html``."""
    return _bundle(redacted(recording))


def still_bundle(recording: RecordedData) -> dict[str, str]:
    """Return the same without the interactive chart, for beside a widget."""
    return _bundle(redacted(recording), interactive=False)


def _bundle(recording: RecordedData, *, interactive: bool = True) -> dict[str, str]:
    summary = Summary.of(recording)
    return {"text/plain": str(summary), "text/html": _html(recording, summary, interactive=interactive)}


def _html(recording: RecordedData, summary: Summary, *, interactive: bool) -> str:
    parts = [f"<div><b>{escape(summary.title)}</b></div>"]
    if recording.runs:
        parts += [facts_html(summary), _chart(recording, summary, interactive=interactive)]
    more = bool(recording.runs) and _has_frame(recording, interactive=interactive)
    parts += [remarks_html(summary), computes_html(recording)]
    parts += [prefix_table_html(summary, more_charts=more)]
    return f'{_THEME}<div class="taskscope-result">{"".join(parts)}</div>'


def _chart(recording: RecordedData, summary: Summary, *, interactive: bool) -> str:
    totals = summary.totals
    n_tasks = count_tasks(recording)
    picture = img_html(picture_svg(recording, totals.prefixes), f"Gantt chart: {summary.title}")
    if not _has_frame(recording, interactive=interactive):
        if not interactive or n_tasks <= MAX_EMBEDDED_TASKS:
            return f"<div>{picture}</div>"
        note = (
            f"The picture shows all {n_tasks:,} tasks. For the interactive chart, start the cell with"
            ' <code>%%profile -o run</code> and save it: <code>run.save("run.html")</code>'
        )
        return f"<div>{picture}</div><div>{note}</div>"
    brief_px, all_px = _chart_px(recording, totals)
    style = f"--taskscope-brief:{brief_px}px;--taskscope-all:{all_px}px"
    has_links = links_fit(recording, MAX_FRAME_LINKS)
    frame = _frame(recording, has_links=has_links)
    chart = f'<div class="taskscope-chart" style="{style}">{picture}{frame}</div>'
    return chart if has_links else chart + links_note(MAX_FRAME_LINKS)


def _has_frame(recording: RecordedData, *, interactive: bool) -> bool:
    is_small = 0 < count_tasks(recording) <= MAX_EMBEDDED_TASKS
    return interactive and is_small and report_script(recording) is not None


def _chart_px(recording: RecordedData, totals: Totals) -> tuple[int, int]:
    """Return the heights that the interactive chart will have at first and with all of its parts."""
    used = set().union(*(set(block.lane.tolist()) for block in recording.blocks))
    n_rows = len(used)
    if recording.workers:
        n_rows += len({lane.worker for lane in recording.lanes if lane.id in used})
    words_px = sum(7 * len(prefix.prefix[:24]) + 60 for prefix in totals.prefixes)
    legend_rows = -(-words_px // _LEGEND_WIDTH_PX)
    brief_px = (
        _BRIEF_PX
        + lanes_px(n_rows, is_brief=True)
        + _LEGEND_ROW_PX * (2 if recording.workers else min(legend_rows, 2))
    )
    all_px = (
        _ALL_PX
        + lanes_px(n_rows)
        + 2 * _LEGEND_ROW_PX * min(legend_rows, 4)
        + (_CLUSTER_PX if recording.workers else 0)
    )
    return min(brief_px, _MAX_BRIEF_PX), all_px


def lanes_px(n_rows: int, *, is_brief: bool = False) -> int:
    """Return how high the part with the lanes is."""
    heights, most_px = (_BRIEF_LANE_PX, _MAX_BRIEF_LANES_PX) if is_brief else (_LANE_PX, _MAX_LANES_PX)
    row_px = next(px for most, px in heights if n_rows <= most)
    return min(max(n_rows * row_px, _MIN_LANES_PX), most_px)


def _frame(recording: RecordedData, *, has_links: bool) -> str:
    # Single quotes around the value: the page is full of double ones.
    page = chart_page(recording, has_links=has_links).replace("&", "&amp;").replace("'", "&#39;")
    return (
        '<iframe sandbox="allow-scripts" loading="lazy" title="Interactive Gantt chart"'
        f" srcdoc='{page}'></iframe>"
    )
