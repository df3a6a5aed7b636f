"""The profile of a page: a picture, the interactive flame graph where scripts run, functions as a table."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from html import escape

from taskscope.analysis.colours import prefix_colours
from taskscope.analysis.flame import flame_message
from taskscope.analysis.profile import CallNode, Profile
from taskscope.analysis.quantities import format_count, format_duration, format_percent, printable
from taskscope.model.recording import RecordedData
from taskscope.report.embed import escaped_json
from taskscope.report.flame import flame_svg

__all__ = ["profile_html", "section", "table_html"]

_MAX_ROWS = 40
_LEVEL = 9


def profile_html(recording: RecordedData, profile: Profile, *, interactive: bool) -> str:
    """Return the section of a recording's profile, with its data if that is to be `interactive`."""
    note = f"<p>{escape(profile.note)}</p>" if profile.note else ""
    if not profile.n_samples:
        return section("Profile", note)
    interval = "" if profile.interval_s is None else f", taken every {format_duration(profile.interval_s)}"
    said = (
        f"<p>{format_count(profile.n_samples)} samples{interval}; they stand for "
        f"{format_duration(profile.root.seconds)} of task time, an estimate.</p>"
    )
    colours = prefix_colours(recording)
    picture = (
        '<details class="taskscope-picture" open><summary>Picture</summary>'
        f"{flame_svg(profile, colours)}</details>"
    )
    rows = table_html(
        ("function", "own time", "share", "with calls", "samples", "defined in"), _functions(profile)
    )
    table = f"<details><summary>Functions by their own time</summary>{rows}</details>"
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
