from __future__ import annotations

import re
import threading
from dataclasses import replace
from pathlib import Path

import dask
import pytest

import taskscope
from taskscope.errors import OptionError, TaskscopeError, UnknownNameError
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


def even_then_alone(*, span: str | None = None) -> Recording:
    """Return two threads that are busy for four seconds; then one task runs alone for four."""
    even = [
        Row(key=("even-1", i), start_s=i // 2, stop_s=i // 2 + 1, lane=i % 2, cpu_s=1.0) for i in range(8)
    ]
    alone = Row(key="alone-1", start_s=4.0, stop_s=8.0, cpu_s=4.0)
    made = recording_of([*even, alone], [run_of(n_tasks=9, stop_s=8.0)])
    groups = tuple(replace(group, span=span if group.prefix == "alone" else None) for group in made.groups)
    return replace(made, groups=groups)


def test_a_range_of_time_is_explained_by_itself() -> None:
    recording = even_then_alone()

    early, late = recording.explain(stop_s=4.0), recording.explain(start_s=4.0)

    assert early.answer == (
        "nothing to gain here that is worth 5 % of the wall time. 2 threads ran tasks 100% of the time"
    )
    assert (early.makespan_s, late.makespan_s) == (4.0, 4.0)
    assert [finding.named("prefixes") for finding in late] == [["alone"]]
    assert recording.explain(start_s=3.5, stop_s=6.0).makespan_s == 2.5
    assert recording.explain(start_s=0, stop_s=8).to_dict() == recording.explain().to_dict()


def test_a_span_is_explained_from_its_first_task_to_its_last() -> None:
    recording = even_then_alone(span="load / decode")

    assert recording.explain(span="load").to_dict() == recording.explain(start_s=4.0).to_dict()
    assert recording.explain(span="load / decode", start_s=6.0).makespan_s == 2.0


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"start_s": 5.0, "stop_s": 4.0},
            OptionError,
            "nothing was recorded from 5 s to 4 s",
        ),
        ({"start_s": 9.0}, OptionError, "nothing was recorded from 9 s to 8 s"),
        (
            {"stop_s": float("nan")},
            OptionError,
            "stop_s must be seconds after the recording's",
        ),
        ({"start_s": "1"}, OptionError, "start_s must be seconds after"),
        ({"span": "lod"}, UnknownNameError, "unknown span 'lod'; did you mean 'load'?"),
    ],
)
def test_a_range_without_anything_in_it_is_refused(
    given: dict[str, object], error: type[TaskscopeError], message: str
) -> None:
    with pytest.raises(error) as raised:
        even_then_alone(span="load").explain(**given)  # type: ignore[arg-type]  # wrong types are the point
    assert str(raised.value).startswith(message)


def test_the_report_has_path_task_types_code_and_evidence_in_at_most_20_kb() -> None:
    recording = even_then_alone()
    named = replace(
        recording,
        runs=tuple(replace(run, called_from="In [3], line 2") for run in recording.runs),
        groups=tuple(replace(group, function="f (In [2], line 1)") for group in recording.groups),
    )
    text = named.report()
    first = named.explain()[0]

    assert text.startswith(named.summary())
    for part in (
        first.text,
        f"advice: {first.advice}",
        "code: tasks call f (In [2], line 1), computed at In [3], line 2",
    ):
        assert f"  {part}" in text
    assert all(f"  {name}: " in text for name in first.evidence if name not in {"tasks", "runs"})
    assert "compute 0: In [3], line 2\n" in text
    assert "## Critical path" in text
    assert taskscope.Recording.report is type(named).report


def waited(i: int) -> int:
    # It reads s3://me:secret@host/data
    threading.Event().wait(0.05)
    return i


def test_the_report_has_the_source_around_named_lines_in_the_process_that_computed_and_no_file_has_it(
    tmp_path: Path,
) -> None:
    with taskscope.profile(display=False) as run:
        dask.compute(*[dask.delayed(waited)(i) for i in range(20)], scheduler="threads", num_workers=2)
    here = run.recording.report()
    for redact in (False, True):
        run.recording.save(tmp_path / "run.taskscope", overwrite=True, redact=redact)
        saved = taskscope.load(tmp_path / "run.taskscope").report()
        assert "the code itself is not here" in saved
        assert ("Event()" in saved, "s3://" in saved, "in range(20)]" in saved) == (False, False, False)

    first = waited.__code__.co_firstlineno
    assert (
        f">{first:>5}  def waited(i: int) -> int:\n {first + 1:>5}      # It reads s3://***@host/data\n"
        in here
    )
    (computed,) = (line for line in here.splitlines() if "dask.compute(" in line)
    assert re.fullmatch(r">  +\d+          dask\.compute\(.*num_workers=2\)", computed)
    assert "the code itself is not here" not in here


def test_the_report_rounds_evidence_and_leaves_out_the_only_compute() -> None:
    text = even_then_alone().report()

    assert "\n  runs: " not in text
    assert "\n  prefixes: alone\n" in text
    assert re.search(r"\n  \w+_s: 4 s\n", text)


def test_the_report_of_huge_keys_and_many_computes_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        Row(run=run, key=(f"{'😀' * 5_000}{run}-1", 0), start_s=run, stop_s=run + 1.0, cpu_s=1.0)
        for run in range(40)
    ]
    errors = [f"{run}{'😀' * 9_000}" for run in range(40)]
    runs = [run_of(i, n_tasks=1, start_s=i, stop_s=i + 1.0, error=error) for i, error in enumerate(errors)]
    recording = recording_of(rows, runs)
    assert 10_000 < len(recording.report().encode()) <= 20_000
    monkeypatch.setattr("taskscope.report.text.MAX_BYTES", 15_000)
    text = recording.report()

    assert 10_000 < len(text.encode()) <= 15_000
    assert text.splitlines()[-1].endswith("are left out")
