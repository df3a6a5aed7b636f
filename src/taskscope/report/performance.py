"""A performance report: the page of a recording, with profile, transfers, versions and calling code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from taskscope.analysis.calls.profile import profile as calls_of
from taskscope.analysis.cluster import bandwidth
from taskscope.analysis.quantities import format_bytes, format_count, format_duration, printable
from taskscope.analysis.redaction import redacted, without_credentials
from taskscope.model.recording import RecordedData
from taskscope.report.page import page_html
from taskscope.report.table import profile_html, section, table_html

_MAX_CODE = 100_000
_UNSAID = {"interrupted", "error", "label"}


def performance_html(recording: RecordedData, code: str | None) -> str:
    """Return a whole document that needs neither kernel nor network."""
    leaving = redacted(recording)
    profile = calls_of(leaving)
    sections = (
        "" if profile.n_samples else profile_html(leaving, profile, interactive=False),
        _transfers(leaving),
        section("Versions and machine", table_html(("", ""), _facts(leaving))),
        section("Calling code", _code(code)),
    )
    return page_html(leaving, "".join(sections), profile)


def _transfers(recording: RecordedData) -> str:
    if not any(run.is_on_cluster for run in recording.runs):
        return ""
    activities = recording.table("activities")
    chosen = np.array([activity == "transfer" for activity in activities["activity"]], bool)
    measured = bandwidth(recording)
    pairs = f"<pre>{escape(str(measured))}</pre>" if measured.pairs else ""
    if not chosen.any():
        return section("Transfers", pairs or "<p>no transfer between workers was recorded</p>")
    start, stop, sizes = (
        np.asarray(activities[c], np.float64)[chosen] for c in ("start_s", "stop_s", "nbytes")
    )
    known = "unknown bytes" if np.isnan(sizes).all() else format_bytes(float(np.nansum(sizes)))
    said = f"{format_count(len(sizes))} transfers, {format_duration(float((stop - start).sum()))}, {known}"
    return section("Transfers", f"<p>{escape(said)}</p>{pairs}")


def _facts(recording: RecordedData) -> Iterable[Sequence[str]]:
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
