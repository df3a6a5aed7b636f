"""SVG pictures that scripts, fonts and networks are not needed for: the Gantt chart, and a running block."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

import numpy as np

from taskscope.analysis.display.pictures import (
    DARK,
    ENDED_BADLY,
    FAILED_COLOUR,
    LIGHT,
    PALETTE,
    Coverage,
    colours_of,
    measure_coverage,
    prefix_colours,
)
from taskscope.analysis.progress import Progress
from taskscope.analysis.quantities import format_duration, format_left, format_percent, printable
from taskscope.analysis.summary import state_word
from taskscope.analysis.totals import PrefixTotal
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import BAD_ENDS, Group, PrefixProgress, RunningTask, flag_codes

MAX_LANES = 40
"""Most drawn lanes; the picture has the number of further ones."""

WIDTH_PX = 800
_LEFT_PX = 128
_NAME_CHARS = 18
_RIGHT_PX = 14
_TOP_PX = 8
_AXIS_PX = 22
_LEGEND_ROW_PX = 18
_LEGEND_COLUMNS = 4
_MAX_LEGEND = 12
_N_COLUMNS = WIDTH_PX - _LEFT_PX - _RIGHT_PX
_LEAST_PX = 0.25
"""A column that was busy at all is never empty."""
_HATCHING = (
    '<pattern id="bad" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<rect width="6" height="6" fill="{FAILED_COLOUR}"/>'
    '<rect width="2" height="6" fill="#fff" opacity="0.5"/>'
    "</pattern>"
)


def picture_svg(
    recording: RecordedData,
    prefixes: Sequence[PrefixTotal],
    *,
    span_s: float | None = None,
    colours: Mapping[str, int] | None = None,
) -> str:
    """Return the Gantt chart of a recording as an SVG document, with these prefixes in its legend."""
    colours = prefix_colours(recording) if colours is None else colours
    coverage = measure_coverage(recording, _N_COLUMNS, span_s=span_s, colours=colours)
    n = min(len(coverage.lanes), MAX_LANES)
    shown = replace(coverage, lanes=coverage.lanes[:n], busy=coverage.busy[:n], colour=coverage.colour[:n])
    bottom, n_hidden = _TOP_PX + n * (LANE_PX + 1), len(coverage.lanes) - n
    parts = [*_lanes(recording, shown), *_axis(shown, bottom)]
    bottom += _AXIS_PX
    if n_hidden:
        parts.append(_text(_LEFT_PX, bottom + 8, f"{n_hidden:,} more threads are not drawn", 80))
        bottom += 16
    entries = _entries(recording, colours, prefixes)
    rows = -(-len(entries) // _LEGEND_COLUMNS)
    parts += _legend(entries, bottom)
    return svg_document(parts, WIDTH_PX, bottom + rows * _LEGEND_ROW_PX + 8, 11)


def svg_document(parts: Iterable[str], width: int, height: int, font_px: int) -> str:
    """Return an SVG document on a sheet of paper, in the colours of a light or a dark page."""

    def rules(colours: dict[str, str]) -> str:
        return (
            f".paper{{fill:{colours['paper']};stroke:{colours['line']}}}.rest{{fill:{colours['line']}}}"
            f"text{{fill:{colours['ink']}}}.faint{{fill:{colours['faint']}}}line{{stroke:{colours['line']}}}"
        )

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="system-ui,sans-serif" font-size="{font_px}">'
        f"<style>{rules(LIGHT)}@media(prefers-color-scheme:dark){{{rules(DARK)}}}</style>"
        f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="4"/>'
        f"{''.join(parts)}</svg>"
    )


def img_html(svg: str, alt: str, style: str = "max-width:100%") -> str:
    """Return an SVG document as an image, which needs no other file."""
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    alt = escape(alt, quote=True)
    return f'<img alt="{alt}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def _lanes(recording: RecordedData, shown: Coverage) -> list[str]:
    labels = [
        _text(_LEFT_PX - 6, _TOP_PX + i * (LANE_PX + 1) + 11, name, 99, anchor="end", css="faint")
        for i, name in enumerate(_cut([recording.lanes[lane].label for lane in shown.lanes.tolist()]))
    ]
    return [*labels, _HATCHING, *_bars(shown)] if labels else []


def _cut(labels: list[str]) -> list[str]:
    """Return names of lanes, shortened where they do not differ."""
    names: list[str] = []
    for tail in range(_NAME_CHARS // 4, _NAME_CHARS):
        names = [printable(label, _NAME_CHARS, tail) for label in labels]
        if len(set(names)) == len(set(labels)):
            break
    return names


def _axis(coverage: Coverage, bottom: int) -> list[str]:
    span_s = coverage.stop_s - coverage.start_s
    width = _N_COLUMNS
    parts = [f'<line x1="{_LEFT_PX}" y1="{bottom}.5" x2="{_LEFT_PX + width}" y2="{bottom}.5"/>']
    step_s = _tick_s(span_s)
    for tick in np.arange(0, span_s * (1 + 1e-9), step_s).tolist():
        x = round(_LEFT_PX + tick / span_s * width, 1)
        anchor = "end" if x > _LEFT_PX + width - 24 else "middle"
        parts.append(f'<line x1="{x}" y1="{bottom}" x2="{x}" y2="{bottom + 4}"/>')
        parts.append(_text(x, bottom + 15, format_duration(tick), 20, anchor=anchor, css="faint"))
    return parts


def _tick_s(span_s: float) -> float:
    """Return a step of 1, 2 or 5 times a power of ten for four to nine ticks."""
    rough = span_s / 8
    power = 10.0 ** np.floor(np.log10(rough))
    return float(next(f * power for f in (1, 2, 5, 10) if f * power >= rough))


def _entries(
    recording: RecordedData, places: Mapping[str, int], prefixes: Sequence[PrefixTotal]
) -> list[tuple[str, str]]:
    """Return the colours of the legend, with their names."""
    entries = [(PALETTE[places[p.prefix]], p.prefix) for p in prefixes[:_MAX_LEGEND]]
    if len(prefixes) > _MAX_LEGEND:
        entries.append(("none", f"{len(prefixes) - _MAX_LEGEND:,} more task types"))
    if any(np.isin(flag_codes(block.flags, "status"), BAD_ENDS).any() for block in recording.blocks):
        entries.append((FAILED_COLOUR, "failed or interrupted"))
    return entries


def _legend(entries: Sequence[tuple[str, str]], top: int) -> list[str]:
    width = (WIDTH_PX - 2 * _RIGHT_PX) // _LEGEND_COLUMNS
    parts = []
    for i, (fill, name) in enumerate(entries):
        x = _RIGHT_PX + i % _LEGEND_COLUMNS * width
        y = top + i // _LEGEND_COLUMNS * _LEGEND_ROW_PX + 4
        parts.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{fill}"/>')
        parts.append(_text(x + 15, y + 9, name, 26))
    return parts


def _text(x: float, y: float, text: str, limit: int, *, anchor: str = "start", css: str = "") -> str:
    style = f' class="{css}"' if css else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{style}>{escape(printable(text, limit))}</text>'


LANE_PX = 14
"""Height of one lane; one more row of pixels separates it from the next."""


def _bars(coverage: Coverage) -> Iterator[str]:
    """Yield a path for each colour, in which every column of a lane is as high as its busy share."""
    height = np.round(coverage.busy * LANE_PX, 2)
    height[(coverage.busy > 0) & (height < _LEAST_PX)] = _LEAST_PX
    paths: defaultdict[int, list[str]] = defaultdict(list)
    for lane, (of_lane, colours) in enumerate(zip(height, coverage.colour, strict=True)):
        bottom = _TOP_PX + lane * (LANE_PX + 1) + LANE_PX
        changes = np.flatnonzero((np.diff(of_lane) != 0) | (np.diff(colours) != 0)) + 1
        for first, last in pairwise([0, *changes.tolist(), len(of_lane)]):
            if h := float(of_lane[first]):
                path = f"M{_LEFT_PX + first} {bottom}v-{h:g}h{last - first}v{h:g}z"
                paths[int(colours[first])].append(path)
    for colour, parts in paths.items():
        fill = "url(#bad)" if colour == ENDED_BADLY else PALETTE[colour]
        yield f'<path fill="{fill}" d="{"".join(parts)}"/>'


_WIDTH_PX = 640
_ROW_PX = 20
_LABEL_PX = 200
_BAR_PX = 300
_MAX_ROWS = 8
_HINT = (
    "Live in VS Code, and in JupyterLab and Notebook 7 where taskscope is installed beside them (reload the"
    " page after that); Colab and VS Code with a remote Jupyter server show this picture."
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
    if progress.released:
        parts.append(f"{progress.released:,} released (futures deleted)")
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
