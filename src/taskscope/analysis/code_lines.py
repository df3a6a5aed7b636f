"""Where inside of tasks time went, by lines of their source: as sampled, or counted."""

from __future__ import annotations

import inspect
import math
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from taskscope.analysis.calls import NO_SAMPLE, functions_of, profile, tree
from taskscope.analysis.quantities import counted, format_count, plural
from taskscope.analysis.result import Result, Section, typed_columns
from taskscope.errors import OptionError, TaskscopeError, UnknownNameError, unknown_name
from taskscope.model.dataframes import Columns
from taskscope.model.keys import plain_text
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import (
    is_file_of,
    is_of_library,
    place_text,
    source_lines,
    source_of,
    source_text,
)
from taskscope.model.tables.columns import distinct
from taskscope.model.tables.stacks import Function, LineRows, MeasuredLine, StackColumns, StackRows
from taskscope.options import Named, code_of

_NOT_ON_CLUSTER = (
    "no lines of tasks on the cluster: workers sample lines where they are asked for, with %%profile --lines "
    "or profile(lines=True)"
)
_CUT_OFF = (
    "lines are not in this file: they are written last, and its process was killed, or its end is missing"
)
_MOST_SHOWN = 5
_MOST_KNOWN = 20
_LINE_COLUMNS = {
    "file": str,
    "function": str,
    "line": int,
    "measured_by": str,
    "hits": float,
    "n_samples": int,
    "seconds": float,
    "seconds_error": float,
    "self_seconds": float,
    "share": float,
    "cpu_share": float,
    "source": str,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One source line, as samples saw it (`hits` is None), or counted and timed.

    `source` is None where the file is not here, or has changed since. `seconds` contain the line's calls;
    `seconds_error` is their standard error, 0 where they were timed. `self_seconds` only the line itself and
    the C code that it called (NaN where timed). `cpu_share` is the part of the time in which its thread had a
    core, NaN where unknown.
    """

    number: int
    source: str | None
    n_samples: int
    seconds: float
    seconds_error: float
    self_seconds: float
    cpu_share: float
    hits: int | None = None


@dataclass(frozen=True, slots=True)
class FunctionLines:
    """The lines of one function that samples saw, or that ran, by number.

    `seconds` are the time in which it was on a stack, an estimate; the sum of its lines where they were
    timed.
    """

    function: Function
    seconds: float
    lines: tuple[Line, ...]

    @property
    def is_counted(self) -> bool:
        """Whether its lines were counted and timed, and not sampled."""
        return any(line.hits is not None for line in self.lines)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lines(Result):
    """Source lines of the functions that tasks ran, with the time they took.

    Counted functions come before sampled ones, the longest first. `seconds` and
    `n_samples` are of all samples of these tasks; for `unattributed_seconds` no Python function was on the
    stack, as Dask called C code itself. `note` is why something is missing. `task_seconds` are the measured
    durations of these tasks, and `counting_seconds` the part that counting took as measured in it (the
    interpreter needs about as much again to call it); both are NaN where no line was counted.

    Notes
    -----
    Seconds are estimates. Samples stand for the time since the one before, scaled so that those of a prefix
    add up to the durations of its tasks; estimated is where in a task it went. The standard error of a share
    ``p`` of a prefix is ``sqrt(p (1 - p) / n)``, where ``n`` is the square of the samples' sum over the sum
    of their squares; the errors of prefixes add up in squares. A line that calls itself again counts once
    for each sample. Tasks that no sample met have no lines.
    """

    functions: tuple[FunctionLines, ...]
    seconds: float
    n_samples: int
    unattributed_seconds: float
    note: str | None
    task_seconds: float = math.nan
    counting_seconds: float = math.nan

    _plain = ("seconds", "n_samples", "unattributed_seconds", "task_seconds", "counting_seconds", "note")
    _plain_rows = "lines"

    def table(self) -> Columns:
        """Return one row per line as equally long columns, the functions that took longest first.

        Columns: ``file, function, line, measured_by`` (``count`` or ``samples``), ``hits, n_samples, seconds,
        seconds_error, self_seconds, share`` (of the time of all these tasks), ``cpu_share, source``.
        """
        rows = [
            (
                *(function.file, function.name, line.number),
                *("samples" if line.hits is None else "count", line.hits, line.n_samples),
                *(line.seconds, line.seconds_error, line.self_seconds),
                line.seconds / ((self.seconds if line.hits is None else self.task_seconds) or math.nan),
                *(line.cpu_share, line.source),
            )
            for function, line in ((each.function, line) for each in self.functions for line in each.lines)
        ]
        return typed_columns(_LINE_COLUMNS, rows)

    def sections(self) -> Iterator[Section]:
        """Yield functions with their source and the time of each line, in the manner of ``%lprun``.

        Sampled functions are the five longest outside of libraries; the table has all.
        """
        if not self.functions:
            yield Section(self.note or "no sample saw a line of a Python function")
            return
        named, shown = [each for each in self.functions if each.is_counted], self._shown()
        if named:
            yield Section(
                f"Counted and timed, in {self.task_seconds:.3g} s of tasks, of which counting took "
                f"{self.counting_seconds:.3g} s or more:"
            )
            yield from map(_section, named)
        if shown:
            head = f"Sampled, not counted: {counted(self.n_samples, 'sample')}"
            yield Section(f"{head} of {self.seconds:.3g} s in tasks; ± is the standard error.")
            if self.unattributed_seconds:
                yield Section(f"Dask called C code itself, without a line: {self.unattributed_seconds:.3g} s")
            yield from map(_section, shown)
        n_left = len(self.functions) - len(named) - len(shown)
        if n_left:
            yield Section(
                f"{format_count(n_left)} more {plural('function', n_left)}, most of libraries: table()"
            )
        if self.note:
            yield Section(self.note)

    def _shown(self) -> Sequence[FunctionLines]:
        sampled = [each for each in self.functions if not each.is_counted]
        own = [each for each in sampled if not is_of_library(each.function.file)]
        return (own or sampled)[:_MOST_SHOWN]


def lines(
    recording: RecordedData,
    prefix: str | None = None,
    function: Named | None = None,
    key: str | None = None,
) -> Lines:
    """Return which source lines tasks took their time in, in the manner of ``%lprun``.

    Lines of functions that were named beforehand (``profile(lines=[f])``, ``%%profile --lines f``) are
    counted and timed; those of others are estimated from samples of the tasks' call stacks.

    Parameters
    ----------
    prefix
        Only tasks of this prefix.
    function
        Only this function: itself, or its name; of a qualified name (``Class.method``) the end is enough.
    key
        Only the task of this key, as the table ``measured_lines`` has it; of functions that were named.

    Raises
    ------
    UnknownNameError
        If no task of such a prefix was recorded, or no sample saw such a function, or nothing was
        counted in such a task.
    OptionError
        If `function` has no Python code.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> run.recording.lines()
    no sample was taken: without the option `lines`, sampling begins 0.1 s after the first compute

    Notes
    -----
    For tasks in threads of this process, in local process pools, and on clusters where lines were
    asked for. The time of a line includes its calls. Source text is left out where its file
    has changed since. Sampled lines shorter than a few hundredths of a second are hardly met, and
    without ``lines`` the first tenth of a second is not sampled. Counting is exact, needs Python 3.12
    or later, and costs one to three microseconds a line.
    """
    # It raises for an unknown prefix, and has the reason where nothing was sampled.
    profiled, started_at = profile(recording, prefix=prefix), recording.started_at
    measured = [
        each for each in recording.measured_lines if prefix in {None, each.prefix} and key in {None, each.key}
    ]
    named = [each for each in measured if _is_named(function, each.function, each.file)]
    counted = _counted(named, started_at)
    task_s = _task_seconds(recording, prefix, key) if counted else math.nan
    counting_s = math.fsum(each.counting_s for each in measured) if counted else math.nan
    if key is not None or (counted and function is not None):
        if not counted:
            raise UnknownNameError(_not_counted(recording, function, key))
        return Lines(tuple(counted), 0.0, 0, 0.0, None, task_s, counting_s)
    stacks = recording.stacks.of_tasks
    rows = stacks.lines
    if prefix is not None:
        rows = rows.part(np.array([name == prefix for name in (*stacks.prefixes, "")])[rows.prefix])
    places = None
    if function is not None:
        if not isinstance(function, str) and code_of(function) is None:
            raise OptionError(
                f"function must be a Python function or its name, got {function!r:.80}: what is written in "
                "C, and objects that are no functions, have no lines"
            )
        seen = [(place, stacks.functions[place]) for place in distinct(rows.function).tolist() if place >= 0]
        places = [place for place, each in seen if _is_named(function, each.name, each.file)]
        if not places and (len(rows) or recording.measured_lines):
            raise UnknownNameError(_not_seen(recording, rows, function))
    known = {(each.function.name, each.function.file) for each in counted}
    others = [
        each
        for each in sampled_functions(stacks, rows, places, started_at)
        if (each.function.name, each.function.file) not in known
    ]
    return Lines(
        functions=(*counted, *others),
        seconds=float(rows.self_seconds.sum()),
        n_samples=int(samples_of(stacks, rows).count.sum()),
        unattributed_seconds=float(rows.self_seconds[rows.function < 0].sum()),
        note=None if counted else _why_no_lines(recording, rows) or profiled.note,
        task_seconds=task_s,
        counting_seconds=counting_s,
    )


def _is_named(function: Named | None, name: str, file: str) -> bool:
    """Return whether a function of this name and file is meant; of a qualified name the end is enough."""
    if function is None or isinstance(function, str):
        return function is None or f".{name}".endswith(f".{function}")
    code = code_of(function)
    return code is not None and name == code.co_qualname and is_file_of(file, code)


def _counted(lines: Sequence[MeasuredLine], started_at: datetime) -> list[FunctionLines]:
    """Return the functions whose lines were counted, the longest first."""
    found: dict[Function, defaultdict[int, list[MeasuredLine]]] = {}
    for each in lines:
        function = Function(each.function, each.file, each.first_line)
        found.setdefault(function, defaultdict(list))[each.line].append(each)
    made = []
    for function, by_line in found.items():
        source = source_of(function.file, started_at)
        of = tuple(_sum_counted(n, by_line[n], source_text(source, n)) for n in sorted(by_line))
        made.append(FunctionLines(function, math.fsum(line.seconds for line in of), of))
    return sorted(made, key=lambda each: (-each.seconds, each.function.name))


def _sum_counted(number: int, rows: Sequence[MeasuredLine], source: str | None) -> Line:
    seconds, cpu_s = (math.fsum(map(attrgetter(name), rows)) for name in ("seconds", "cpu_s"))
    share = cpu_s / seconds if seconds else math.nan
    return Line(number, source, 0, seconds, 0.0, math.nan, share, sum(row.hits for row in rows))


def _task_seconds(recording: RecordedData, prefix: str | None, key: str | None) -> float:
    tasks = recording.table("tasks")
    chosen = np.ones(len(tasks["run"]), bool)
    for name, value in (("prefix", prefix), ("key", key)):
        if value is not None:
            chosen &= np.asarray(tasks[name] == value, bool)
    seconds = np.asarray(tasks["stop_s"], np.float64) - np.asarray(tasks["start_s"], np.float64)
    return float(np.nansum(seconds[chosen]))


def samples_of(stacks: StackColumns, rows: LineRows) -> StackRows:
    """Return the samples of the tasks that these lines are of."""
    return stacks.rows.part(np.isin(stacks.rows.run, rows.run) & np.isin(stacks.rows.prefix, rows.prefix))


def sampled_functions(
    stacks: StackColumns, rows: LineRows, places: Sequence[int] | None, started_at: datetime
) -> list[FunctionLines]:
    """Return the sampled lines of these functions, or of all; the longest function first."""
    wanted = rows.part(rows.function >= 0 if places is None else np.isin(rows.function, places))
    errors = _errors(rows, wanted)
    known = {
        (c.name, c.file, c.line): c.seconds for c in functions_of(tree(stacks, samples_of(stacks, rows)))
    }
    source_in = cache(lambda place: source_of(stacks.functions[place].file, started_at))
    pairs, which = np.unique(np.stack([wanted.function, wanted.line], axis=1), axis=0, return_inverse=True)
    names = ("count", "seconds", "self_seconds", "cpu_s", "cpu_known_s")
    sums = [np.bincount(which.ravel(), getattr(wanted, name), len(pairs)).tolist() for name in names]
    found: defaultdict[int, list[Line]] = defaultdict(list)
    for (place, number), n, seconds, own_s, cpu_s, known_s in zip(pairs.tolist(), *sums, strict=True):
        source, error = source_text(source_in(place), number), errors[place, number]
        share = cpu_s / known_s if known_s else math.nan
        found[place].append(Line(number, source, int(n), seconds, error, own_s, share))
    made = []
    for place, of in found.items():
        each = stacks.functions[place]
        # The tree of calls does not go as deep as lines do.
        seconds = known.get((each.name, each.file, each.line)) or math.fsum(line.seconds for line in of)
        made.append(FunctionLines(each, seconds, tuple(of)))
    return sorted(made, key=lambda each: (-each.seconds, each.function.name))


def _why_no_lines(recording: RecordedData, rows: LineRows) -> str | None:
    if len(rows):
        return None
    if recording.is_on_cluster:
        return _NOT_ON_CLUSTER
    return _CUT_OFF if len(recording.stacks.of_tasks.rows) else None


def lines_text(recording: RecordedData, functions: Sequence[Named] = ()) -> str:
    """Return the text of the functions that the option `lines` names, or why there is none."""
    return "\n\n".join(_text_or_why(recording, function) for function in functions or (None,))


_TOO_SHORT = "no sample was taken: tasks took less time than there is between samples"


def _text_or_why(recording: RecordedData, function: Named | None) -> str:
    try:
        found = lines(recording, function=function)
        return _TOO_SHORT if found.note == NO_SAMPLE else str(found)
    except TaskscopeError as error:
        return str(error)


def _not_counted(recording: RecordedData, function: Named | None, key: str | None) -> str:
    known = list(dict.fromkeys(each.key for each in recording.measured_lines if each.key is not None))
    if not known:
        return "lines of one task are known of functions that were named: `profile(lines=[f])`"
    if key not in known:
        return unknown_name("task", key, known[:_MOST_KNOWN])
    return f"the task {key!r} ran no line of {function!r:.80}"


def _not_seen(recording: RecordedData, rows: LineRows, function: Named) -> str:
    functions = recording.stacks.of_tasks.functions
    seen = [functions[place] for place in distinct(rows.function[rows.function >= 0])]
    # A mistyped name is more often one of the user's own functions than of the many of libraries.
    seen.sort(key=lambda each: is_of_library(each.file))
    known = dict.fromkeys(
        (*(each.function for each in recording.measured_lines), *(each.name for each in seen))
    )
    name = function if isinstance(function, str) else getattr(function, "__qualname__", repr(function))
    return f"{unknown_name('function', name, [*known][:_MOST_KNOWN])}. No sample of these tasks saw it"


def _errors(rows: LineRows, wanted: LineRows) -> dict[tuple[int, int], float]:
    """Return the standard errors of lines' times: how long the tasks of each prefix took is known exactly."""
    n = int(rows.prefix.max(initial=0)) + 1
    total_s = np.bincount(rows.prefix, rows.self_seconds, n)
    squares = np.bincount(rows.prefix, rows.self_squares, n)
    variances: defaultdict[tuple[int, int], float] = defaultdict(float)
    places = np.stack([wanted.function, wanted.line, wanted.prefix], axis=1)
    found, which = np.unique(places, axis=0, return_inverse=True)
    sums = np.bincount(which.ravel(), wanted.seconds, len(found)).tolist()
    for (function, line, prefix), seconds in zip(found.tolist(), sums, strict=True):
        share = min(seconds / total_s[prefix], 1.0) if total_s[prefix] else 0.0
        variances[function, line] += share * (1 - share) * float(squares[prefix])
    return {line: math.sqrt(variance) for line, variance in variances.items()}


def source_block(each: FunctionLines) -> list[tuple[int, str | None, Line | None]]:
    """Return number, text and measured line for each line of a function in its file."""
    known = {line.number: line for line in each.lines}
    source = source_lines(each.function.file) if any(line.source for line in each.lines) else []
    first = each.function.line
    numbers = set(known)
    if source and each.function.name != "<module>" and 0 < first <= len(source):
        numbers |= set(range(first, first + _length(source[first - 1 :])))
    return [
        (n, None if (text := source_text(source, n)) is None else text.rstrip(), known.get(n))
        for n in sorted(numbers)
    ]


def _length(source: Sequence[str]) -> int:
    try:
        return len(inspect.getblock(list(source)))
    except (IndentationError, SyntaxError, tokenize.TokenError):
        return 1


def _section(each: FunctionLines) -> Section:
    of = ("Hits", "Time (s)", "µs/hit") if each.is_counted else ("Samples", "Time (s)", "±")
    function = each.function
    has_source = any(line.source for line in each.lines)
    return Section(
        f"{function.name} · {place_text(function.file, function.line)} · {each.seconds:.4g} s",
        ("Line #", *of, "% Time", "% CPU", "Line Contents"),
        [(str(n), *_values(line, each.seconds), source or "") for n, source, line in source_block(each)],
        () if has_source else ("Its source is not here, or has changed.",),
        left=0,
        is_last_left=True,
    )


def _values(line: Line | None, total_s: float) -> tuple[str, ...]:
    if line is None:
        return ("",) * 5
    share = f"{100 * line.seconds / total_s:.1f}" if total_s else ""
    cpu = "" if math.isnan(line.cpu_share) else f"{100 * line.cpu_share:.0f}"
    if line.hits is None:
        return str(line.n_samples), f"{line.seconds:.3f}", f"{line.seconds_error:.3f}", share, cpu
    each_us = f"{1e6 * line.seconds / line.hits:.1f}" if line.hits else ""
    return str(line.hits), f"{line.seconds:.4f}", each_us, share, cpu


_MAX_LINES = 2_000
_NO_LINES = (
    "no sample kept a line of it: on a cluster, workers sample lines where they are asked for, with "
    "%%profile --lines or profile(lines=True)"
)
_NO_SOURCE = "its source is not here, or has changed"


def function_source(
    stacks: StackColumns, name: str, file: str, line: int, started_at: datetime
) -> dict[str, Any]:
    """Return the lines of a function in its file, each with its sampled seconds.

    ``lines`` are rows of number, text and seconds, unknown being None; ``note`` is the reason for missing
    lines.
    """
    places = [
        place
        for place, each in enumerate(stacks.functions)
        if (plain_text(each.name), plain_text(each.file), each.line) == (name, file, line)
    ]
    found = sampled_functions(stacks, stacks.lines, places, started_at)
    if not found:
        return {"function": [name, file, line], "seconds": 0.0, "lines": [], "note": _NO_LINES}
    block = source_block(found[0])[:_MAX_LINES]
    return {
        "function": [name, file, line],
        "seconds": found[0].seconds,
        "lines": [
            [number, None if text is None else plain_text(text), None if known is None else known.seconds]
            for number, text, known in block
        ],
        "note": None if any(text is not None for _, text, _ in block) else _NO_SOURCE,
    }
