"""The trace follows Google's "Trace Event Format": what each phase needs, and what refers to what."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest

import taskscope
from taskscope.errors import FileError
from taskscope.recording import Recording

REQUIRED = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "ts", "dur", "pid", "tid", "args"},
    "C": {"name", "ts", "pid", "args"},
    "b": {"name", "cat", "id", "ts", "pid", "tid", "args"},
    "e": {"name", "cat", "id", "ts", "pid", "tid"},
    "s": {"name", "cat", "id", "ts", "pid", "tid"},
    "f": {"name", "cat", "id", "ts", "pid", "tid", "bp"},
}


def trace_of(recording: Recording, tmp_path: Path) -> list[dict[str, Any]]:
    recording.to_chrome_trace(tmp_path / "a.json")
    trace = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert trace["displayTimeUnit"] == "ms"
    return list(trace["traceEvents"])


def problems(events: list[dict[str, Any]]) -> list[str]:
    """Return what a reader of the format would stumble over."""
    found = [f"unknown phase: {e}" for e in events if e["ph"] not in REQUIRED]
    found += [f"fields missing: {e}" for e in events if not REQUIRED[e["ph"]] <= e.keys()]
    found += [f"no number: {e}" for e in events for k in ("ts", "dur") if k in e and not e[k] >= 0]
    found += [*_wrong_values(events), *_wrong_names(events)]
    threads = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    slices = [e for e in events if e["ph"] == "X"]
    found += [f"unnamed thread: {e}" for e in slices if (e["pid"], e["tid"]) not in threads]
    found += _overlaps(slices)
    for first, last in (("b", "e"), ("s", "f")):
        ids = [sorted(e["id"] for e in events if e["ph"] == phase) for phase in (first, last)]
        found += [] if ids[0] == ids[1] else [f"{first} and {last} do not match"]
        found += [] if len({*ids[0]}) == len(ids[0]) else [f"two of {first} have one id"]
        begun = {e["id"]: (e["name"], e["cat"], e["ts"]) for e in events if e["ph"] == first}
        ended = {e["id"]: (e["name"], e["cat"], e["ts"]) for e in events if e["ph"] == last}
        both = begun.keys() & ended.keys()
        found += [f"another {last}: {i}" for i in both if begun[i][:2] != ended[i][:2]]
        found += [f"{last} before {first}: {i}" for i in both if ended[i][2] < begun[i][2]]
    inside = {(e["pid"], e["tid"], t) for e in slices for t in (e["ts"], round(e["ts"] + e["dur"], 3))}
    flows = [e for e in events if e["ph"] in "sf"]
    found += [f"loose arrow: {e}" for e in flows if (e["pid"], e["tid"], e["ts"]) not in inside]
    return found


def _wrong_values(events: list[dict[str, Any]]) -> list[str]:
    found = [f"no kind of number: {e}" for e in events for k in ("ts", "dur") if not _is_number(e.get(k, 0))]
    ids = ("pid", "tid")
    found += [f"no id: {e}" for e in events for k in ids if type(e[k]) is not int or e[k] < 0]
    found += [f"no name: {e}" for e in events if not isinstance(e["name"], str)]
    counters = [e for e in events if e["ph"] == "C"]
    found += [
        f"no count: {e}" for e in counters if not e["args"] or not all(map(_is_number, e["args"].values()))
    ]
    for name in {e["name"] for e in counters}:
        times = [e["ts"] for e in counters if e["name"] == name]
        found += [] if times == sorted(times) else [f"the counter {name} goes back in time"]
    return found


def _wrong_names(events: list[dict[str, Any]]) -> list[str]:
    named = Counter((e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "M")
    found = [f"named twice: {name}" for name, count in named.items() if count > 1]
    data = [e for e in events if e["ph"] != "M"]
    processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    found += [f"unnamed process: {e}" for e in data if e["pid"] not in processes]
    if data and any(e["ph"] == "M" for e in events[events.index(data[0]) :]):
        found.append("names come after what they name")
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _overlaps(slices: list[dict[str, Any]]) -> list[str]:
    """Return which slices of a thread neither follow nor enclose each other, but for rounding."""
    found = []
    open_until: dict[tuple[int, int], list[float]] = {}
    for e in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        ends = open_until.setdefault((e["pid"], e["tid"]), [])
        while ends and ends[-1] <= e["ts"] + 0.0015:
            ends.pop()
        if ends and e["ts"] + e["dur"] > ends[-1] + 0.0015:
            found.append(f"overlaps another: {e}")
        ends.append(e["ts"] + e["dur"])
    return found


def test_a_trace_of_a_real_compute_follows_the_format(tmp_path: Path) -> None:
    with taskscope.profile(label="sum", display=False) as run:
        da.ones((40, 40), chunks=10).sum().compute(scheduler="threads", num_workers=2)
    recording = run.recording
    events = trace_of(recording, tmp_path)
    assert problems(events) == []
    tasks = recording.table("tasks")
    slices = [e for e in events if e["ph"] == "X"]
    assert [(e["args"]["key"], e["name"], e["args"]["status"]) for e in slices] == list(
        zip(tasks["key"], tasks["prefix"], tasks["status"], strict=True)
    )
    starts = np.asarray(tasks["start_s"], float)
    assert np.allclose([e["ts"] / 1e6 for e in slices], starts, rtol=0, atol=1e-9)
    edges = recording.to_pandas("dependencies")
    assert Counter(e["ph"] for e in events)["s"] == sum(edges["dependency"].isin(list(tasks["key"])))
    assert {e["name"] for e in events if e["ph"] == "C"} >= {"results in memory (nbytes)"}


def test_unknown_numbers_are_left_out_and_errors_are_said(recording: Recording, tmp_path: Path) -> None:
    events = trace_of(recording, tmp_path)
    assert problems(events) == []
    assert [e["args"] for e in events if e["ph"] == "X"] == [
        {
            "key": "('inc-1', 0, 7)",
            "group": "inc-1",
            "run": 0,
            "status": "finished",
            "cpu_s": 0.5,
            "result_bytes": 8.0,
        },
        {
            "key": "=cmd|'/c'!A1",
            "group": "=cmd|'/c'!A1",
            "run": 0,
            "status": "erred",
            "error": "ValueError: no",
        },
        {"key": "('add-1',)", "group": "add-1", "run": 1, "status": "finished"},
    ]
    counters = {e["name"] for e in events if e["ph"] == "C"}
    assert counters == {"memory (bytes)", "results in memory (nbytes)"}


def test_the_check_notices_an_arrow_that_ends_nowhere(recording: Recording, tmp_path: Path) -> None:
    events = trace_of(recording, tmp_path)
    events.append({"ph": "s", "name": "d", "cat": "d", "id": 9, "ts": 99.0, "pid": 1, "tid": 0})
    assert len(problems(events)) == 2


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ({"ph": "X", "ts": 400_000.0, "dur": 900_000.0, "pid": 1, "tid": 0, "args": {}}, "overlaps another"),
        ({"ph": "X", "ts": 5e6, "dur": 1.0, "pid": 1, "tid": 9, "args": {}}, "unnamed thread"),
        ({"ph": "X", "ts": 5e6, "dur": 1.0, "pid": "1", "tid": 0, "args": {}}, "no id"),
        ({"ph": "X", "ts": 5e6, "dur": 1.0, "pid": 1, "tid": 0}, "fields missing"),
        ({"ph": "X", "ts": 5e6, "dur": float("inf"), "pid": 1, "tid": 0, "args": {}}, "no kind of number"),
        ({"ph": "C", "ts": 5e6, "pid": 1, "tid": 0, "args": {"value": "7"}}, "no count"),
        (
            {"ph": "C", "name": "memory (bytes)", "ts": 0.0, "pid": 0, "tid": 0, "args": {"value": 7}},
            "goes back",
        ),
        ({"ph": "C", "ts": 5e6, "pid": 7, "tid": 0, "args": {"value": 7}}, "unnamed process"),
        ({"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "a"}}, "named twice"),
        ({"ph": "b", "id": 0, "ts": 1.0, "pid": 0, "tid": 0, "args": {}}, "b and e do not match"),
    ],
)
def test_the_check_notices(event: dict[str, Any], problem: str, recording: Recording, tmp_path: Path) -> None:
    events = trace_of(recording, tmp_path)
    events.append({"name": "a", "cat": "a", **event})
    assert [text for text in problems(events) if problem in text]


def test_a_trace_does_not_replace_a_file_unasked(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("mine")
    with pytest.raises(FileError, match="pass overwrite=True"):
        recording.to_chrome_trace(tmp_path / "a.json")
