"""A comparison as text and as a table."""

from __future__ import annotations

from taskscope.analysis.compare import Change, Comparison, Difference
from taskscope.analysis.quantities import UNKNOWN, format_bytes, format_count, format_duration, printable

__all__ = ["comparison_columns", "comparison_text", "prefix_cells", "total_cells"]

_MAX_PREFIXES = 20


def comparison_text(comparison: Comparison) -> str:
    """Return the comparison as lines of text."""
    lines = ["taskscope · comparison", ""]
    lines += [f"  {a:<12}  {b:>12}  {c:>12}  {d:>7}" for a, b, c, d in total_cells(comparison)]
    lines += ["", *_prefix_lines(comparison)]
    if comparison.warnings:
        lines += ["", *(f"  warning: {printable(text, 300)}" for text in comparison.warnings)]
    return "\n".join(lines)


def total_cells(comparison: Comparison) -> list[tuple[str, str, str, str]]:
    """Return the quantities of the whole recordings as a table, its head first."""
    totals = (
        ("makespan", comparison.makespan_s, format_duration),
        ("task time", comparison.time_s, format_duration),
        ("CPU time", comparison.cpu_s, format_duration),
        ("peak memory", comparison.peak_rss_bytes, format_bytes),
    )
    cells = [("", "before", "after", "ratio")]
    cells += [(name, show(c.before), show(c.after), _ratio(c.ratio)) for name, c, show in totals]
    tasks = comparison.n_tasks
    return [*cells, ("tasks", _n(tasks.before), _n(tasks.after), _ratio(tasks.ratio))]


def prefix_cells(comparison: Comparison, most: int) -> list[tuple[str, str, str, str, str]]:
    """Return `most` prefixes as a table, its head first."""
    head = ("prefix", "tasks", "time before", "time after", "mean per task (95 %)")
    return [head, *(_row(row) for row in comparison.prefixes[:most])]


def _prefix_lines(comparison: Comparison) -> list[str]:
    cells = prefix_cells(comparison, _MAX_PREFIXES)
    width = max(len(row[0]) for row in cells)
    lines = [f"  {a:<{width}}  {b:>15}  {c:>12}  {d:>12}  {e}" for a, b, c, d, e in cells]
    more = len(comparison.prefixes) - _MAX_PREFIXES
    return [*lines, *([f"  {more:,} more prefixes"] if more > 0 else [])]


def _row(row: Difference) -> tuple[str, str, str, str, str]:
    n = _n(row.n_tasks.after)
    if row.n_tasks.before != row.n_tasks.after:
        n = f"{_n(row.n_tasks.before)} → {n}"
    times = _time(row.time_s, before=True), _time(row.time_s, before=False)
    return printable(row.prefix, 36), n, *times, _verdict(row)


def _time(change: Change, *, before: bool) -> str:
    return format_duration(change.before if before else change.after)


def _verdict(row: Difference) -> str:
    if row.kind != "both":
        return row.kind
    if row.low is None or row.high is None:
        return _ratio(row.mean_ratio)
    clear = "" if row.is_clear else ", no clear change"
    return f"{_ratio(row.mean_ratio)} ({row.low:.2f} to {row.high:.2f}{clear})"


def _ratio(value: float | None) -> str:
    return UNKNOWN if value is None else f"× {value:.2f}"


def _n(value: float | None) -> str:
    return UNKNOWN if value is None else format_count(int(value))


def comparison_columns(comparison: Comparison) -> dict[str, list[object]]:
    """Return one row per prefix as columns."""
    rows = comparison.prefixes
    columns: dict[str, list[object]] = {"prefix": [r.prefix for r in rows], "kind": [r.kind for r in rows]}
    for name in ("n_tasks", "time_s", "cpu_s"):
        columns[f"{name}_before"] = [getattr(r, name).before for r in rows]
        columns[f"{name}_after"] = [getattr(r, name).after for r in rows]
    for name in ("mean_ratio", "low", "high"):
        columns[name] = [getattr(r, name) for r in rows]
    return columns
