"""A recording's findings in one text, short enough for an issue or a message."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import accumulate

from taskscope.analysis.explain.critical_path import critical_path
from taskscope.analysis.explain.finding import Finding
from taskscope.analysis.explain.findings import explain
from taskscope.analysis.quantities import (
    format_bytes,
    format_count,
    format_duration,
    format_percent,
    plural,
    printable,
)
from taskscope.analysis.result import plain
from taskscope.analysis.summary import MAX_EXPLAINED, summary_text
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.redaction import redacted, without_credentials
from taskscope.model.source_lines import PlaceName, file_of, place_text, source_of, source_text

MAX_BYTES = 20_000
_MAX_LINE = 300
_MAX_LINES = 40
_MAX_SOURCE = 100
_AROUND = 3
_NO_SOURCE = (
    "the code itself is not here: files have none, and what has changed since is not printed; "
    "report() in the process that computed has it"
)
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
            yield from _finding(finding, explained.makespan_s, n_runs=len(recording.runs))
        if explained.verdict or not explained.findings:
            yield explained.verdict or explained.answer
    yield from ("", "## Code", "", *_code(recording))
    if count_tasks(recording) <= MAX_EXPLAINED:
        path = str(critical_path(recording)).splitlines()
        yield from ("", "## Critical path", "", *_first(path))
    yield from ("", "## Environment", "")
    yield from (f"{name}: {recording.metadata[name]}" for name in _FACTS if name in recording.metadata)


def _finding(finding: Finding, makespan_s: float, *, n_runs: int) -> Iterator[str]:
    yield f"{finding.cause}: {finding.worth(makespan_s, has_band=True)}"
    yield f"  {finding.text}"
    if finding.code is not None:
        yield f"  code: {finding.code}"
    yield f"  advice: {finding.advice}"
    for name, value in finding.evidence.items():
        # Numbers of tasks mean nothing without the recording.
        if name != "tasks" and value is not None and (name != "runs" or n_runs > 1):
            yield f"  {name}: {_evidence(name, plain(value))}"
    yield ""


def _evidence(name: str, value: object) -> str:
    """Return a value in the unit that its name ends with, with three digits."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_evidence(name, of)}" for key, of in value.items())
    if isinstance(value, list):
        return ", ".join(_evidence(name, of) for of in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    units = {"s": format_duration, "seconds": format_duration, "bytes": format_bytes, "share": format_percent}
    written = units.get(name.rpartition("_")[2])
    return written(value) if written else f"{value:.3g}" if isinstance(value, float) else format_count(value)


def _code(recording: RecordedData) -> Iterator[str]:
    """Yield the lines that computed, the user's functions by task type, and the source around both."""
    yield from _first([f"compute {run.run}: {run.called_from or 'line unknown'}" for run in recording.runs])
    functions = {group.prefix: group.function for group in recording.groups if group.function is not None}
    yield from (f"{printable(prefix, 80)} calls {function}" for prefix, function in functions.items())
    named = [run.called_from for run in recording.runs if run.called_from is not None]
    if named or functions:
        source = [*_source([*named, *functions.values()], recording.started_at)]
        yield from _first(source or [_NO_SOURCE], _MAX_SOURCE)


def _source(named: Iterable[str], started_at: datetime) -> Iterator[str]:
    """Yield three lines before and after each named place, where its source is known as it ran."""
    marked: defaultdict[str, set[int]] = defaultdict(set)
    for text in named:
        for file, line in text.places if isinstance(text, PlaceName) else ():
            marked[file].add(line)
    for file, lines in marked.items():
        source = source_of(file, started_at)
        shown = sorted({n for line in lines for n in range(line - _AROUND, line + _AROUND + 1)})
        texts = {n: known for n in shown if (known := source_text(source, n)) is not None}
        if texts:
            yield from ("", place_text(file_of(file), has_folder=False))
        for n, text in texts.items():
            if n - 1 not in texts and n != min(texts):
                yield "       …"
            yield f"{'>' if n in lines else ' '} {n:>4}  {without_credentials(text.expandtabs())}".rstrip()


def _first(lines: list[str], most: int = _MAX_LINES) -> Iterator[str]:
    yield from lines[:most]
    if len(lines) > most:
        n = len(lines) - most
        yield f"… {format_count(n)} more {plural('line', n)}"
