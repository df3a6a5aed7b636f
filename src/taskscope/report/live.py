"""A small picture of a running block, for front ends without the extension; replaced once a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from taskscope.analysis.display.pictures import LIGHT, PALETTE, colours_of
from taskscope.analysis.progress import Progress
from taskscope.analysis.quantities import format_duration, format_left, format_percent, printable
from taskscope.analysis.summary import state_word
from taskscope.model.tables.records import Group, PrefixProgress, RunningTask
from taskscope.report.picture import img_html, svg_document

_WIDTH_PX = 640
_ROW_PX = 20
_LABEL_PX = 200
_BAR_PX = 300
_MAX_ROWS = 8
_HINT = (
    "Live in JupyterLab and Notebook 7, where taskscope is installed beside them (reload the page after"
    " that); VS Code and Colab show this picture."
)


def live_bundle(
    progress: Progress, running: Sequence[RunningTask], groups: Sequence[Group], *, hint: str = _HINT
) -> dict[str, str]:
    """Return a MIME bundle with the progress of the computes, and a hint how to see more."""
    line = progress_text(progress)
    svg = _svg(progress, colours_of(groups))

    # An executed notebook, which may be read anywhere, keeps the last one.
    hint = hint if progress.state in {"waiting", "running"} else ""
    longest = f"<div>longest running: {escape(_longest(running))}</div>" if running else ""
    html = (
        f"<div><b>{escape(line)}</b></div>"
        f"{img_html(svg, line)}{longest}{f'<div><small>{hint}</small></div>' if hint else ''}"
    )
    return {"text/plain": line, "text/html": html}


def progress_text(progress: Progress) -> str:
    """Return how far computes are as one line."""
    if progress.state == "waiting":
        return "taskscope · no Dask compute yet"
    finished = f"{progress.finished:,} of {progress.total:,} tasks ({format_percent(progress.fraction)})"
    parts = [
        f"taskscope · {state_word(progress.state)}",
        finished if progress.is_counted else f"{progress.finished:,} finished, total not known yet",
        f"{progress.running:,} {'on a worker' if progress.is_on_cluster else 'running'}",
        *([progress.live_state] if progress.live_state else []),
        f"{format_duration(progress.elapsed_s)} elapsed",
    ]
    if progress.scheduled is not None and progress.scheduled.no_worker:
        parts.append(f"{progress.scheduled.no_worker:,} that no worker can run")
    if progress.skipped:
        parts.append(f"{progress.skipped:,} skipped (already computed)")
    if progress.erred:
        parts.append(f"{progress.erred:,} failed")
    if progress.state == "running" and (progress.left is not None or not progress.live_state):
        parts.append(_left(progress))
    return " · ".join(parts)


def _left(progress: Progress) -> str:
    left = progress.left
    return "too early to estimate" if left is None else format_left(left.stop_s, left.latest_s, left.n_unseen)


def _longest(running: Sequence[RunningTask]) -> str:
    return printable(min(running, key=lambda task: task.start_s).key_text, 80)


def _svg(progress: Progress, colours: Mapping[str, int]) -> str:
    rows = [("all tasks", LIGHT["faint"], progress.finished, progress.running, progress.total)]
    rows += [_row(prefix, PALETTE[colours[prefix.prefix]]) for prefix in progress.prefixes[-_MAX_ROWS:]]
    height = len(rows) * _ROW_PX + 8
    return svg_document((_bar(i, *row) for i, row in enumerate(rows)), _WIDTH_PX, height, 12)


def _row(prefix: PrefixProgress, colour: str) -> tuple[str, str, int, int, int]:
    return prefix.prefix, colour, prefix.finished, prefix.running, prefix.total


def _bar(row: int, name: str, fill: str, finished: int, running: int, total: int) -> str:
    x, y = _LABEL_PX + 8, 4 + row * _ROW_PX
    done = _BAR_PX * finished / total if total else 0
    going = _BAR_PX * min(running / total, 1 - finished / total) if total else 0
    return (
        f'<text x="{_LABEL_PX}" y="{y + 14}" text-anchor="end">{escape(printable(name, 28))}</text>'
        f'<rect class="rest" x="{x}" y="{y + 4}" width="{_BAR_PX}" height="12"/>'
        f'<rect x="{x}" y="{y + 4}" width="{done:.1f}" height="12" fill="{fill}"/>'
        f'<rect x="{x + done:.1f}" y="{y + 4}" width="{going:.1f}" height="12" fill="{fill}" opacity="0.4"/>'
        f'<text x="{_LABEL_PX + _BAR_PX + 16}" y="{y + 14}">{finished:,} / {total:,}</text>'
    )
