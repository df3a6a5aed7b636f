"""An explanation for a page: plain values, in its rows and on its axis."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.critical_path import CriticalPath, WaitCause, critical_path
from taskscope.analysis.explain.finding import Cause, Explanation, Finding
from taskscope.analysis.quantities import format_count
from taskscope.analysis.totals import stop_of
from taskscope.model.recording import RecordedData
from taskscope.wire import wire_text
from taskscope.wire.writer import Columns, FrameWriter

_MAX_SPANS = 100
"""Most waits of one finding: the longest ones."""

_WAITS: Mapping[Cause, tuple[WaitCause, ...]] = {
    "client-gaps": ("client",),
    "no-workers": ("no-worker",),
    "pool-start": ("no-worker",),
    "large-graph": ("graph",),
    "transfers": ("transfer",),
    "memory-pressure": ("disk-read", "disk-write"),
    "serialization": ("serialize", "deserialize"),
    "lost-work": ("failed-attempt",),
}
"""The waits of the critical path for causes that belong to no single compute."""


MAX_STEPS = 30_000
"""Most steps of a path in a page; of more, text would take a second to make, and a page to read."""

RowsOf = Callable[[int, NDArray[np.int32]], Mapping[int, int]]
"""Returns the page's rows of tasks of a compute, by their numbers in its graph."""


def explanation_for_page(
    recording: RecordedData, explanation: Explanation, rows_of: RowsOf
) -> Mapping[str, object]:
    """Return findings and the path, times in seconds after the zero of the recorder."""
    path = critical_path(recording)
    return {
        "makespan_s": explanation.makespan_s,
        "answer": explanation.answer,
        "busy": explanation.busy,
        "findings": [_finding(recording, path, finding, rows_of) for finding in explanation.findings],
        "path": _path_for_page(path, rows_of, recording.zero_s),
    }


PathTables: TypeAlias = Mapping[str, Columns]
"""The critical path as tables of a page, by their names."""


def path_tables(path: CriticalPath, rows_of: RowsOf, zero_s: float) -> PathTables | str:
    """Return the path as tables of a page, times moved by `zero_s`, or the reason why there is none."""
    steps = path.steps
    if not steps:
        return "no Dask computation ran here"
    if len(steps) > MAX_STEPS:
        return (
            f"the critical path has {format_count(len(steps))} steps, a page shows one of at "
            f"most {format_count(MAX_STEPS)}; recording.critical_path() has no such limit"
        )
    rows: dict[int | None, Iterator[int | None]] = {
        run: map(rows_of(run, tasks).get, tasks.tolist()) for run, tasks in path.tasks().items()
    }
    waits = [step.kind == "wait" for step in steps]
    whats = [step.cause if step.kind == "wait" else step.prefix for step in steps]
    names = {what: number for number, what in enumerate(dict.fromkeys(whats))}
    return {
        "path_names": {"text": [wire_text(str(name)) for name in names]},
        "path": {
            "stop_s": [zero_s + at for at in (steps[0].start_s, *(s.start_s + s.duration_s for s in steps))],
            "name": [None, *(names[what] for what in whats)],
            "is_wait": [True, *waits],
            "row": [None, *(None if s.kind == "wait" else next(rows[s.run]) for s in steps)],
        },
    }


def _path_for_page(path: CriticalPath, rows_of: RowsOf, zero_s: float) -> Mapping[str, str]:
    """Return the frames of a stream with the path, in base64, or the reason why there is none."""
    tables = path_tables(path, rows_of, zero_s)
    if isinstance(tables, str):
        return {"reason": tables}
    frames: list[bytes] = []
    writer = FrameWriter.of_page(frames.append, "path", "")
    for table, columns in tables.items():
        writer.add(table, columns)
    writer.frame()
    return {"frames": base64.b64encode(b"".join(frames)).decode("ascii")}


def _finding(
    recording: RecordedData, path: CriticalPath, finding: Finding, rows_of: RowsOf
) -> Mapping[str, object]:
    evidence: Mapping[str, Any] = finding.evidence
    runs, prefixes = evidence.get("runs", ()), evidence.get("prefixes", ())
    spans_s = [(one.asked_s, stop_of(recording, one)) for one in recording.runs if one.run in runs]
    if not runs:
        waits = sorted(path.waits_s(*_WAITS.get(finding.cause, ())), key=lambda wait: wait[0] - wait[1])
        spans_s = [(a + recording.zero_s, b + recording.zero_s) for a, b in sorted(waits[:_MAX_SPANS])]
    tasks: Mapping[int, NDArray[np.int32]] = {}
    if evidence.get("is_chain"):
        tasks = {run: numbers for run, numbers in path.tasks().items() if run in runs}
    elif runs and "tasks" in evidence:
        tasks = {run: np.array(numbers, np.int32) for run, numbers in evidence["tasks"].items()}
    rows = [row for run, numbers in tasks.items() for row in rows_of(run, numbers).values()]
    return {
        "cause": finding.cause,
        "worth_s": finding.worth_s,
        "low_s": finding.low_s,
        "high_s": finding.high_s,
        "text": finding.text,
        "advice": finding.advice,
        "run": runs[0] if len(runs) == 1 else None,
        "spans_s": [list(span) for span in spans_s],
        "prefixes": list(prefixes),
        "rows": sorted(rows) if len(rows) <= MAX_STEPS else [],
    }
