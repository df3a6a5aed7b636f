"""A recording's findings in one text, short enough for an issue or a message."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from taskscope.analysis.explain.critical_path import critical_path
from taskscope.analysis.explain.finding import Finding
from taskscope.analysis.explain.findings import explain
from taskscope.analysis.quantities import format_count, plural, printable
from taskscope.analysis.result import plain
from taskscope.analysis.summary import MAX_EXPLAINED, summary_text
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.redaction import redacted

MAX_BYTES = 20_000
_MAX_LINE = 300
_MAX_LINES = 40
_FACTS = ("taskscope", "dask", "distributed", "numpy", "python", "platform", "n_cores", "thread_limits")


def report_text(recording: RecordedData) -> str:
    """Return the summary, the findings with their evidence, the user's code and the critical path as text.

    Returns
    -------
    str
        At most 20 kB in UTF-8, to paste into an issue or a message; credentials in URLs are hidden.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> "## Findings" in run.recording.report()
    True
    """
    lines = [printable(line, _MAX_LINE) for line in _lines(redacted(recording))]
    # Room for the line that says how many are left out.
    ends = accumulate(len(line.encode()) + 1 for line in lines)
    n = sum(end > MAX_BYTES - 60 for end in ends)
    if n:
        lines[-n:] = [f"… {format_count(n)} more {plural('line', n)} are left out"]
    return "\n".join(lines)


def _lines(recording: RecordedData) -> Iterator[str]:
    yield from _first(summary_text(recording).splitlines())
    yield from ("", "## Findings", "")
    if count_tasks(recording) > MAX_EXPLAINED:
        yield f"not searched for: more than {format_count(MAX_EXPLAINED)} tasks; see recording.explain()"
    else:
        explained = explain(recording)
        for finding in explained.findings:
            yield from _finding(finding, explained.makespan_s)
        if explained.verdict or not explained.findings:
            yield explained.verdict or explained.answer
    yield from ("", "## Code", "", *_code(recording))
    if count_tasks(recording) <= MAX_EXPLAINED:
        path = str(critical_path(recording)).splitlines()
        yield from ("", "## Critical path", "", *_first(path))
    yield from ("", "## Environment", "")
    yield from (f"{name}: {recording.metadata[name]}" for name in _FACTS if name in recording.metadata)


def _finding(finding: Finding, makespan_s: float) -> Iterator[str]:
    yield f"{finding.cause}: {finding.worth(makespan_s, has_band=True)}"
    yield f"  {finding.text}"
    if finding.code is not None:
        yield f"  code: {finding.code}"
    yield f"  advice: {finding.advice}"
    for name, value in finding.evidence.items():
        # Numbers of tasks mean nothing without the recording.
        if name != "tasks":
            yield f"  {name}: {plain(value)}"
    yield ""


def _code(recording: RecordedData) -> Iterator[str]:
    """Yield the lines that computed, and the user's functions by task type."""
    yield from _first([f"compute {run.run}: {run.called_from or 'line unknown'}" for run in recording.runs])
    functions = {group.prefix: group.function for group in recording.groups if group.function is not None}
    yield from (f"{printable(prefix, 80)} calls {function}" for prefix, function in functions.items())


def _first(lines: list[str]) -> Iterator[str]:
    yield from lines[:_MAX_LINES]
    if len(lines) > _MAX_LINES:
        n = len(lines) - _MAX_LINES
        yield f"… {format_count(n)} more {plural('line', n)}"
