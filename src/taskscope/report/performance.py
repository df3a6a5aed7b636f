"""A performance report: the page of a recording, with profile, transfers, versions and calling code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from taskscope.analysis.colours import prefix_colours
from taskscope.analysis.profile import CallNode, Profile
from taskscope.analysis.quantities import (
    format_bytes,
    format_count,
    format_duration,
    format_percent,
    printable,
)
from taskscope.analysis.redaction import redacted, without_credentials
from taskscope.model.recording import Recording
from taskscope.report.flame import flame_svg
from taskscope.report.page import page_html

__all__ = ["performance_html"]

_MAX_ROWS = 40
_MAX_CODE = 100_000
_UNSAID = {"interrupted", "error", "label"}


def performance_html(recording: Recording, code: str | None) -> str:
    """Return a whole document that needs neither kernel nor network.

    Parameters
    ----------
    recording
        What was recorded.
    code
        The source of what called, None where it is not known.
    """
    leaving = redacted(recording)
    sections = (
        _profile(leaving),
        _transfers(leaving),
        _section("Versions and machine", _table(("", ""), _facts(leaving))),
        _section("Calling code", _code(code)),
    )
    return page_html(leaving, "".join(sections))


def _section(name: str, content: str) -> str:
    return f"<section><h2>{escape(name)}</h2>{content}</section>"


def _profile(recording: Recording) -> str:
    profile = recording.profile()
    note = f"<p>{escape(profile.note)}</p>" if profile.note else ""
    if not profile.n_samples:
        return _section("Profile", note)
    interval = "" if profile.interval_s is None else f", taken every {format_duration(profile.interval_s)}"
    said = (
        f"<p>{format_count(profile.n_samples)} samples{interval}; they stand for "
        f"{format_duration(profile.root.seconds)} of task time, an estimate.</p>"
    )
    flame = flame_svg(profile, prefix_colours(recording))
    rows = _table(
        ("function", "own time", "share", "with calls", "samples", "defined in"), _functions(profile)
    )
    table = f"<details><summary>Functions by their own time</summary>{rows}</details>"
    return _section("Profile", f"{note}{said}{flame}{table}")


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


def _transfers(recording: Recording) -> str:
    if not any(run.is_on_cluster for run in recording.runs):
        return ""
    activities = recording.table("activities")
    chosen = np.array([activity == "transfer" for activity in activities["activity"]], bool)
    if not chosen.any():
        return _section("Transfers", "<p>no transfer between workers was recorded</p>")
    start, stop, sizes = (
        np.asarray(activities[c], np.float64)[chosen] for c in ("start_s", "stop_s", "nbytes")
    )
    known = "unknown bytes" if np.isnan(sizes).all() else format_bytes(float(np.nansum(sizes)))
    said = f"{format_count(len(sizes))} transfers, {format_duration(float((stop - start).sum()))}, {known}"
    return _section("Transfers", f"<p>{escape(said)}</p>")


def _facts(recording: Recording) -> Iterable[Sequence[str]]:
    yield "started", recording.started_at.isoformat(sep=" ", timespec="seconds")
    for name, value in recording.metadata.items():
        if name not in _UNSAID and value is not None:
            yield name.replace("_", " "), printable(str(value), 200)


def _code(code: str | None) -> str:
    if code is None:
        return "<p>not available</p>"
    text = without_credentials(code)
    if len(text) > _MAX_CODE:
        text = f"{text[:_MAX_CODE]}\n… {len(code) - _MAX_CODE:,} more characters"
    return f"<pre>{escape(text.encode('utf-8', 'backslashreplace').decode())}</pre>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    caption = f"<thead><tr>{names}</tr></thead>" if any(head) else ""
    return f"<table>{caption}<tbody>{body}</tbody></table>"
