"""A profile as one SVG picture: calls as bars as long as the time they took, below what made them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from taskscope.analysis.profile import CallNode, Profile
from taskscope.analysis.quantities import format_count, format_duration, format_percent, printable
from taskscope.report.palette import DARK, LIGHT, PALETTE, rgb

__all__ = ["flame_svg"]

_WIDTH_PX = 1000
_ROW_PX = 18
_MAX_DEPTH = 60
_MIN_PX = 0.5
_CHARACTER_PX = 6.4


def flame_svg(profile: Profile, colours: Mapping[str, int]) -> str:
    """Return a flame graph as an SVG element; the names in it are escaped.

    Parameters
    ----------
    profile
        What to draw: calls of less than half a pixel are left out.
    colours
        The number of each prefix's colour.
    """
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
