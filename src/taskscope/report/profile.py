"""The profile of a page: a picture, the interactive flame graph where scripts run, functions as a table."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from taskscope.analysis.calls.profile import CallNode, Profile, flame_message
from taskscope.analysis.display.colours import DARK, LIGHT, PALETTE, prefix_colours, rgb
from taskscope.analysis.quantities import format_count, format_duration, format_percent, printable
from taskscope.model.recording import RecordedData
from taskscope.report.embed import escaped_json

__all__ = ["flame_svg", "profile_html", "section", "table_html"]

_MAX_ROWS = 40
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
    colours = prefix_colours(recording)
    picture = (
        '<details class="taskscope-picture" open><summary>Picture</summary>'
        f"{flame_svg(profile, colours)}</details>"
    )
    rows = table_html(
        ("function", "self time", "share", "with calls", "samples", "defined in"), _functions(profile)
    )
    table = f"<details><summary>Functions by self time</summary>{rows}</details>"
    data = _data_html(recording, colours) if interactive else ""
    return section("Profile", f"{note}{said}{picture}{table}{data}")


def section(name: str, content: str) -> str:
    """Return a part of a page with its heading."""
    return f"<section><h2>{escape(name)}</h2>{content}</section>"


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of escaped texts, without a head where all its names are empty."""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    caption = f"<thead><tr>{names}</tr></thead>" if any(head) else ""
    return f"<table>{caption}<tbody>{body}</tbody></table>"


def _data_html(recording: RecordedData, colours: dict[str, int]) -> str:
    message = flame_message(recording.stacks)
    columns: bytes = message.pop("columns")
    data = base64.b64encode(zlib.compress(columns, _LEVEL)).decode("ascii")
    shown = {name: colours.get(name, 0) for name in recording.stacks.prefixes}
    text = escaped_json({**message, "bytes": len(columns), "data": data, "colours": shown})
    return f'<script type="application/json" class="taskscope-profile">{text}</script>'


def _functions(profile: Profile) -> Iterable[Sequence[str]]:
    """Yield a row per function, the ones that take most of the time themselves first."""
    own: dict[tuple[str, str], list[CallNode]] = {}
    for _, node in profile.root.walk():
        place = f"{node.file}:{node.line}" if node.kind == "function" else "C code that Dask called"
        if node.self_samples:
            own.setdefault((node.name, place), []).append(node)
    ordered = sorted(own.items(), key=lambda item: -sum(n.self_seconds for n in item[1]))
    for (name, place), nodes in ordered[:_MAX_ROWS]:
        seconds = sum(n.self_seconds for n in nodes)
        yield (
            printable(name, 80),
            format_duration(seconds),
            format_percent(seconds / profile.root.seconds),
            format_duration(max(n.seconds for n in nodes)),
            format_count(sum(n.self_samples for n in nodes)),
            printable(place, 120),
        )


_WIDTH_PX = 1000
_ROW_PX = 18
_MAX_DEPTH = 60
_MIN_PX = 0.5
_CHARACTER_PX = 6.4


def flame_svg(profile: Profile, colours: Mapping[str, int]) -> str:
    """Return a flame graph as an SVG element, its names escaped, without calls of less than half a pixel."""
    bars = list(_bars(profile, colours))
    height = (max((depth for depth, _ in bars), default=0) + 1) * _ROW_PX
    text = f".taskscope-flame rect{{stroke:{LIGHT['paper']}}}.taskscope-flame text{{fill:{LIGHT['ink']}}}"
    dark = f"@media(prefers-color-scheme:dark){{.taskscope-flame rect{{stroke:{DARK['paper']}}}}}"
    return (
        f'<svg class="taskscope-flame" role="img" aria-label="Flame graph; the table below has its figures"'
        f' viewBox="0 0 {_WIDTH_PX} {height}" width="100%" font-family="system-ui,sans-serif" font-size="11">'
        f"<style>{text}{dark}</style>{''.join(bar for _, bar in bars)}</svg>"
    )


def _bars(profile: Profile, colours: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    scale = _WIDTH_PX / profile.root.seconds if profile.root.seconds else 0.0
    waiting = [(0, 0.0, profile.root, "#d8dee4")]
    while waiting:
        depth, x, node, fill = waiting.pop()
        if node.kind == "prefix":
            fill = _tint(PALETTE[colours.get(node.name, 0)])
        yield depth, _bar(profile, node, x, depth * _ROW_PX, node.seconds * scale, fill)
        for child in node.children if depth < _MAX_DEPTH else ():
            if child.seconds * scale >= _MIN_PX:
                waiting.append((depth + 1, x, child, fill))
            x += child.seconds * scale


def _bar(profile: Profile, node: CallNode, x: float, y: int, width: float, fill: str) -> str:
    n_characters = int((width - 6) / _CHARACTER_PX)
    label = escape(printable(node.name, n_characters)) if n_characters > 2 else ""
    place = f" ({printable(node.file, 200)}:{node.line})" if node.kind == "function" else ""
    facts = (
        f"{printable(node.name, 200)}{place}: {format_duration(node.seconds)}, "
        f"{format_percent(node.seconds / profile.root.seconds)}, {format_count(node.n_samples)} samples"
    )
    return (
        f'<g><title>{escape(facts)}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}"'
        f' height="{_ROW_PX - 1}" fill="{fill}" stroke-width="0.5"/>'
        f'<text x="{x + 3:.1f}" y="{y + 12}">{label}</text></g>'
    )


def _tint(colour: str) -> str:
    """Return a colour light enough for dark text to be read on it."""
    return "#" + "".join(f"{round(part * 0.45 + 255 * 0.55):02x}" for part in rgb(colour))
