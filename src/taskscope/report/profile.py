"""The profile of a page: functions as a table, and the interactive flame graph where scripts run."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from html import escape

from taskscope.analysis.calls.profile import Profile, flame_message
from taskscope.analysis.display.colours import prefix_colours
from taskscope.analysis.quantities import format_count, format_duration, format_percent, printable
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import place_text
from taskscope.model.tables.stacks import StackColumns
from taskscope.report.embed import escaped_json

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
    rows = table_html(
        ("function", "self time", "share", "with calls", "samples", "defined in"), _functions(profile)
    )
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


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of escaped texts, without a head where all its names are empty."""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    caption = f"<thead><tr>{names}</tr></thead>" if any(head) else ""
    return f"<table>{caption}<tbody>{body}</tbody></table>"


def _data_html(recording: RecordedData) -> str:
    colours = prefix_colours(recording)
    shown = {name: colours.get(name, 0) for name in recording.stacks.of_tasks.prefixes}
    text = escaped_json({**packed_profile(recording.stacks.of_tasks), "colours": shown})
    return f'<script type="application/json" class="taskscope-profile">{text}</script>'


def _functions(profile: Profile) -> Iterable[Sequence[str]]:
    """Yield a row per function, the ones that take most of the time themselves first."""
    for own in profile.functions()[:_MAX_ROWS]:
        yield (
            printable(own.name, 80),
            format_duration(own.self_seconds),
            format_percent(own.self_seconds / profile.root.seconds),
            format_duration(own.seconds),
            format_count(own.self_samples),
            printable(
                place_text(own.file, own.line) if own.kind == "function" else "C code that Dask called", 120
            ),
        )
