"""Source lines of tasks: sums of samples, and what is said of them."""

from __future__ import annotations

import functools
import json
import linecache
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import pytest
from IPython.core.compilerop import CachingCompiler
from traitlets import TraitError

import taskscope
from taskscope import FlameWidget
from taskscope.analysis.code_lines import function_source, lines_text
from taskscope.errors import OptionError, UnknownNameError
from taskscope.model.source_lines import file_of
from taskscope.model.tables.process import PeakLine
from taskscope.model.tables.stacks import NO_STACKS, MeasuredLine
from taskscope.record import StackLog
from taskscope.record.tables import stacklog
from taskscope.record.tables.sums import MeasuredLineLog
from taskscope.recording import Recording
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.sampled import offset_of, recording_of_samples
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.tables import read_back, rows, written
from tests.support.recordings.task_blocks import Row

SOURCE = """\
def load(path):
    data = read(path)
    return clean(data)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Model:
    @staticmethod
    def fit(data):
        return data


first = lambda x: x
"""


def codes(file: str) -> dict[str, CodeType]:
    """Return the code of all functions of the source, by name."""
    found: dict[str, CodeType] = {}
    waiting = [compile(SOURCE, file, "exec")]
    while waiting:
        code = waiting.pop()
        found[code.co_name] = code
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "work.py"
    path.write_text(SOURCE)
    # Before any of the recordings here was made.
    os.utime(path, (1, 1))
    return path


Sampled = Callable[..., Recording]


@pytest.fixture
def sampled(path: Path) -> Sampled:
    return partial(recording_of_samples, codes(str(path)))


def test_a_line_has_the_time_of_what_it_calls_and_adds_up_to_that_of_the_tasks(
    sampled: Sampled, path: Path
) -> None:
    recording = sampled(
        ([("load", 2)], 0.5, 0.25, "x"),
        ([("fit", 13), ("load", 3)], 1.0, None, "x"),
        ([("fit", 13), ("load", 3)], 2.0, 2.0, "x"),
        ([], 0.5, None, "y"),
    )
    found = recording.lines()
    table = found.to_pandas().drop(columns=["file", "seconds_error"])
    assert table.pop("hits").isna().all()
    assert table.to_dict("list") == {
        "function": ["load", "load", "Model.fit"],
        "line": [2, 3, 13],
        "measured_by": ["samples"] * 3,
        "n_samples": [1, 2, 2],
        "seconds": [0.5, 3.0, 3.0],
        "self_seconds": [0.5, 0.0, 3.0],
        "share": [0.125, 0.75, 0.75],
        "cpu_share": [0.5, 1.0, 1.0],
        "source": ["    data = read(path)", "    return clean(data)", "        return data"],
    }
    assert (found.seconds, found.n_samples, found.unattributed_seconds) == (4.0, 4, 0.5)
    # Of its prefix, whose time is known: (Σw)² / Σw² = 3.5² / 5.25 samples of equal weight would say as much.
    share = 3.0 / 3.5
    error = 3.5 * (share * (1 - share) * 5.25 / 3.5**2) ** 0.5
    assert list(found.table()["seconds_error"])[1:] == pytest.approx([error, error], rel=1e-12)
    assert [len(recording.lines(prefix=name).functions) for name in ("x", "y")] == [2, 0]
    assert set(found.table()["file"]) == {str(path)}


class KernelCompiler(CachingCompiler):
    """Names code by its text alone, as ipykernel does: a cell that runs again has the same file."""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return f"/tmp/ipykernel_1/{zlib.crc32(raw_code.encode())}.py"


def test_a_notebooks_function_is_called_by_its_cell_also_in_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiler = KernelCompiler()  # type: ignore[no-untyped-call]  # IPython has no types
    shell = SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    compiled_as = compiler.cache(SOURCE, 19)
    load = codes(compiled_as)["load"]
    log = StackLog(FakeClock(perf_s=0.0).perf_counter)
    log.note(0.01, 1.0)
    log.add(0, "x", "1", [(load, offset_of(load, 2))], 1.0, None)
    counted = MeasuredLineLog()
    counted.add(0, "x-1", "1", [(compiled_as, "fit", 11, 13, 2, 0.5, 0.5, 0.0)])
    recording = replace(
        recording_of([Row(key="x-1")], [run_of(n_tasks=1)]),
        stacks=log.between(0, None),
        measured_lines=counted.between(0, None),
        peak_lines=(PeakLine(0, 0, "x-1", "x", file_of(compiled_as), "fit", 13, 1000, 1),),
    )
    text = str(recording.lines())
    assert "load · In [19], line 1 · 1 s" in text
    assert "fit · In [19], line 11 · 0.5 s" in text
    assert list(recording.lines().table()["source"]) == ["        return data", "    data = read(path)"]
    # The cell runs again, unchanged.
    compiler.cache(SOURCE, 20)
    assert recording.lines(function=FunctionType(load, {})).table()["file"].tolist() == ["In [19]"]
    recording.save(tmp_path / "a.taskscope")
    saved = taskscope.load(tmp_path / "a.taskscope")
    for each in (recording, saved):
        assert set(each.lines().table()["file"]) == {"In [19]"}
        assert "x          In [19], line 13" in str(each.memory_peak().allocated)
        assert str(each.profile()).splitlines()[-1].endswith("In [19], line 1")
        each.to_speedscope(tmp_path / "a.json", overwrite=True)
        frames = json.loads((tmp_path / "a.json").read_text())["shared"]["frames"]
        (frame,) = [frame for frame in frames if frame["name"] == "load"]
        assert (frame["file"], frame["line"]) == ("In [19]", 1)
    # The cell of that number is another one in another kernel.
    assert set(saved.lines().table()["source"]) == {None}


def test_a_recursion_counts_once_for_each_line_and_sample(sampled: Sampled) -> None:
    recording = sampled(([("fib", 7)] * 40, 1.0, None, "x"), ([("fib", 7)] * 300, 1.0, None, "x"))
    (fib,) = recording.lines().functions
    (line,) = fib.lines
    assert (line.n_samples, line.seconds, line.self_seconds, fib.seconds) == (2, 2.0, 2.0, 2.0)


def test_it_prints_as_source_with_the_time_of_each_line(sampled: Sampled, path: Path) -> None:
    recording = sampled(
        ([("load", 2)], 1.0, 0.5, "x"), ([("load", 3)], 3.0, None, "x"), ([], 0.25, None, "x")
    )
    assert str(recording.lines()).splitlines() == [
        "Sampled, not counted: 3 samples of 4.25 s in tasks; ± is the standard error.",
        "",
        "Dask called C code itself, without a line: 0.25 s",
        "",
        f"load · {path}:1 · 4 s",
        "",
        "  Line #  Samples  Time (s)      ±  % Time  % CPU  Line Contents",
        "       1                                           def load(path):",
        "       2        1     1.000  1.346    25.0     50      data = read(path)",
        "       3        1     3.000  1.445    75.0             return clean(data)",
    ]


@pytest.mark.parametrize("name", ["Model.fit", "fit"])
def test_the_end_of_a_qualified_name_is_enough(sampled: Sampled, name: str) -> None:
    recording = sampled(([("fit", 13), ("load", 3)], 1.0, None, "x"))
    assert [each.function.name for each in recording.lines(function=name).functions] == ["Model.fit"]


def test_a_lambda_is_found_by_its_name(sampled: Sampled) -> None:
    recording = sampled(([("<lambda>", 16)], 1.0, None, "x"))
    assert str(recording.lines(function="<lambda>")).splitlines()[-1].endswith("first = lambda x: x")


def test_a_function_itself_can_be_given_also_a_decorated_one(sampled: Sampled, path: Path) -> None:
    namespace: dict[str, Any] = {}
    exec(compile(SOURCE, str(path), "exec"), namespace)
    recording = sampled(([("load", 2)], 1.0, None, "x"))
    decorated = functools.wraps(namespace["load"])(lambda path: path)
    for given in (namespace["load"], decorated):
        assert [each.function.name for each in recording.lines(function=given).functions] == ["load"]

    def load() -> None:
        """Be another function of the same name."""

    with pytest.raises(UnknownNameError, match=r"unknown function '.*load'"):
        recording.lines(function=load)


@pytest.mark.parametrize("given", [len, 3, object()])
def test_what_has_no_lines_is_refused(sampled: Sampled, given: Any) -> None:
    with pytest.raises(OptionError, match="function must be a Python function or its name, got "):
        sampled(([("load", 2)], 1.0, None, "x")).lines(function=given)


def test_the_nearest_name_is_said_where_there_is_none(sampled: Sampled) -> None:
    recording = sampled(([("fit", 13), ("load", 3)], 1.0, None, "x"))
    with pytest.raises(UnknownNameError) as raised:
        recording.lines(function="Model.fti")
    assert str(raised.value) == (
        "unknown function 'Model.fti'; did you mean 'Model.fit'? Known: 'load', 'Model.fit'. No sample of "
        "these tasks saw it"
    )
    with pytest.raises(UnknownNameError, match="unknown prefix 'z'"):
        recording.lines(prefix="z")


def test_source_that_has_changed_since_is_left_out(sampled: Sampled, path: Path) -> None:
    recording = sampled(([("load", 2)], 1.0, None, "x"))
    os.utime(path)
    found = recording.lines()
    assert list(found.table()["source"]) == [None]
    assert "Its source is not here, or has changed." in str(found)


def test_a_cell_of_this_notebook_has_its_source(sampled: Sampled, path: Path) -> None:
    recording = sampled(([("load", 2)], 1.0, None, "x"))
    path.unlink()
    linecache.cache[str(path)] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), str(path))
    try:
        assert list(recording.lines().table()["source"]) == ["    data = read(path)"]
    finally:
        del linecache.cache[str(path)]


@pytest.mark.parametrize("scheduler", ["processes", "threads"])
def test_why_there_are_none_is_said_whatever_is_asked_for(sampled: Sampled, scheduler: str) -> None:
    why = "no sample was taken: without the option `lines`, sampling begins 0.1 s after the first compute"
    recording = sampled(scheduler=scheduler)
    assert [str(recording.lines()), str(recording.lines(function="load"))] == [why, why]
    # Where the option was set, its absence is no reason.
    assert lines_text(recording, ["load"]) == (
        "no sample was taken: tasks took less time than there is between samples"
    )
    assert len(replace(recording, stacks=NO_STACKS).lines().table()["line"]) == 0


def test_a_file_gives_back_every_line(sampled: Sampled) -> None:
    recording = sampled(([("fit", 13), ("load", 3)], 1.0, 0.5, "x"), ([], 0.25, None, "y"))
    loaded = Recording.of(read_back(written(recording)))
    assert rows(loaded, "lines") == rows(recording, "lines")
    assert rows(loaded, "lines") == [
        ("0", "'x'", "'1'", *line, "1", "1.0", own, "0.5", "1.0", "1.0", own)
        for line, own in [(seen(recording, "Model.fit", 13), "1.0"), (seen(recording, "load", 3), "0.0")]
    ] + [("0", "'y'", "'1'", "None", "None", "0", "1", "0.25", "0.25", "0.0", "0.0", "0.0625", "0.0625")]
    assert str(loaded.lines()) == str(recording.lines())


def seen(recording: Recording, name: str, line: int) -> tuple[str, str, str]:
    (file,) = {function.file for function in recording.stacks.functions}
    return repr(file), repr(name), str(line)


def test_beyond_the_bound_lines_are_counted_together(
    sampled: Sampled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacklog, "_MAX_LINE_ROWS", 1)
    recording = sampled(([("load", 2)], 1.0, None, "x"), ([("load", 3)], 2.0, None, "x"))
    assert [(f.function.name, f.lines[0].seconds) for f in recording.lines().functions] == [
        ("load", 1.0),
        ("(more)", 2.0),
    ]


@pytest.fixture
def counted(path: Path) -> Recording:
    """Return a recording of two tasks, of which `load` was named."""
    of_load = (str(path), "load", 1)
    lines = (
        MeasuredLine(0, "a", "a", "1", *of_load, 2, 1, 0.5, 0.25, 0.0625),
        MeasuredLine(0, "a", "a", "1", *of_load, 3, 1, 0.25, 0.25, 0.0625),
        MeasuredLine(0, "b", "b", "1", *of_load, 2, 3, 1.0, 0.5, 0.25),
    )
    tasks = [Row(key="a"), Row(key="b", start_s=1.0, stop_s=4.0)]
    return replace(recording_of(tasks, [run_of(n_tasks=2)]), measured_lines=lines)


def test_lines_that_were_counted_say_how_often_and_how_long_they_ran(counted: Recording) -> None:
    table = counted.lines().to_pandas().drop(columns="file")
    assert table.pop("self_seconds").isna().all()
    assert table.to_dict("list") == {
        "function": ["load", "load"],
        "line": [2, 3],
        "measured_by": ["count", "count"],
        "hits": [4.0, 1.0],
        "n_samples": [0, 0],
        "seconds": [1.5, 0.25],
        "seconds_error": [0.0, 0.0],
        "share": [0.375, 0.0625],
        "cpu_share": [0.5, 1.0],
        "source": ["    data = read(path)", "    return clean(data)"],
    }


def test_counted_lines_print_as_those_of_lprun(counted: Recording, path: Path) -> None:
    assert str(counted.lines(function="load")).splitlines() == [
        "Counted and timed, in 4 s of tasks, of which counting took 0.375 s or more:",
        "",
        f"load · {path}:1 · 1.75 s",
        "",
        "  Line #  Hits  Time (s)    µs/hit  % Time  % CPU  Line Contents",
        "       1                                           def load(path):",
        "       2     4    1.5000  375000.0    85.7     50      data = read(path)",
        "       3     1    0.2500  250000.0    14.3    100      return clean(data)",
    ]


def test_lines_of_one_task_and_of_one_prefix(counted: Recording) -> None:
    (load,) = counted.lines(key="b").functions
    assert [(line.number, line.hits, line.seconds) for line in load.lines] == [(2, 3, 1.0)]
    assert (counted.lines(key="b").task_seconds, counted.lines(key="b").counting_seconds) == (3.0, 0.25)
    (load,) = counted.lines(prefix="a").functions
    assert [(line.number, line.hits) for line in load.lines] == [(2, 1), (3, 1)]
    with pytest.raises(UnknownNameError, match="unknown task 'c'"):
        counted.lines(key="c")
    with pytest.raises(UnknownNameError, match=r"of functions that were named: `profile\(lines=\[f\]\)`"):
        replace(counted, measured_lines=()).lines(key="a")


def test_counted_lines_are_the_same_in_a_file(counted: Recording, tmp_path: Path) -> None:
    counted.save(tmp_path / "a.taskscope")
    assert taskscope.load(tmp_path / "a.taskscope").measured_lines == counted.measured_lines
    counted.save(tmp_path / "b.taskscope", redact=True)
    redacted = taskscope.load(tmp_path / "b.taskscope").measured_lines
    assert [each.hits for each in redacted] == [1, 1, 3]
    assert "load" not in {each.function for each in redacted}


def test_a_function_that_was_counted_is_not_told_from_samples_too(
    sampled: Sampled, counted: Recording
) -> None:
    recording = replace(
        sampled(([("load", 2)], 0.5, 0.25, "a"), ([("fit", 13)], 1.0, None, "a")),
        measured_lines=counted.measured_lines,
    )
    found = recording.lines()
    assert [(each.function.name, each.is_counted) for each in found.functions] == [
        ("load", True),
        ("Model.fit", False),
    ]


def test_the_source_of_one_function_has_the_time_of_each_line(sampled: Sampled, path: Path) -> None:
    recording = sampled(
        ([("load", 2)], 0.5, 0.25, "x"),
        ([("fit", 13), ("load", 3)], 3.0, None, "y"),
    )
    found = functools.partial(function_source, recording.stacks, started_at=recording.started_at)
    assert found("load", str(path), 1) == {
        "function": ["load", str(path), 1],
        "seconds": 3.5,
        "lines": [
            [1, "def load(path):", None],
            [2, "    data = read(path)", 0.5],
            [3, "    return clean(data)", 3.0],
        ],
        "note": None,
    }
    none = {"function": ["load", "other.py", 1], "seconds": 0.0, "lines": []}
    assert found("load", "other.py", 1) == {
        **none,
        "note": "no sample kept a line of it: on a cluster, workers sample lines where they are asked for, "
        "with %%profile --lines or profile(lines=True)",
    }
    os.utime(path)
    assert found("load", str(path), 1) == {
        "function": ["load", str(path), 1],
        "seconds": 3.5,
        "lines": [[2, None, 0.5], [3, None, 3.0]],
        "note": "its source is not here, or has changed",
    }


def test_a_widget_shows_the_source_of_the_function_that_is_chosen(sampled: Sampled, path: Path) -> None:
    recording = sampled(([("load", 2)], 0.5, 0.25, "x"))
    widget = FlameWidget(recording)
    assert widget.get_state(["function", "source"]) == {"function": None, "source": {}}
    widget.set_trait("function", ["load", str(path), 1])
    assert widget.source == function_source(
        recording.stacks, "load", str(path), 1, started_at=recording.started_at
    )
    widget.set_trait("function", None)
    assert widget.source == {}
    for wrong in ("load", ["load", str(path)], ["load", str(path), "1"]):
        with pytest.raises(TraitError, match="'function' trait"):
            widget.set_trait("function", wrong)
    widget.close()
