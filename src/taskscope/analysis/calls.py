"""Where inside of tasks time went, as sampled: by calls, and by source lines, which may also be counted."""

from __future__ import annotations

import inspect
import math
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import counted, format_count, format_duration, format_percent, plural
from taskscope.analysis.result import Result, Section, typed_columns
from taskscope.errors import OptionError, TaskscopeError, UnknownNameError, unknown_name
from taskscope.model.dataframes import Columns
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import (
    is_file_of,
    is_of_library,
    place_text,
    source_lines,
    source_of,
    source_text,
)
from taskscope.model.tables.records import TaskBlock
from taskscope.model.tables.stacks import (
    NOT_SAMPLED_WITHOUT_LOCK,
    Function,
    LineRows,
    MeasuredLine,
    StackColumns,
    StackRows,
)
from taskscope.options import Named, code_of
from taskscope.wire import wire_text

NO_SAMPLE = "no sample was taken: without the option `lines`, sampling begins 0.1 s after the first compute"

_MAX_SHOWN = 20
_Kind: TypeAlias = Literal["all", "prefix", "function"]
_Named: TypeAlias = tuple[_Kind, str, str, int]
_ALL = Function("all tasks", "", 0)
_COLUMNS = {
    "parent": int,
    "depth": int,
    "kind": str,
    "prefix": str,
    "function": str,
    "file": str,
    "line": int,
    "n_samples": int,
    "seconds": float,
    "self_samples": int,
    "self_seconds": float,
    "share": float,
}


@dataclass(frozen=True, slots=True, eq=False)
class CallNode:
    """A call with all calls that were made from it.

    `kind` is ``all`` for the root, ``prefix`` for a task prefix below it, else ``function``, with the file
    and line of its definition. `n_samples` and `seconds` contain the calls made from it; `self_samples` and
    `self_seconds` are its own code, or C code it called (of a prefix: C code that Dask called). `children`
    are the calls made from it, the longest first.
    """

    kind: _Kind
    name: str
    file: str
    line: int
    n_samples: int
    seconds: float
    self_samples: int
    self_seconds: float
    children: tuple[CallNode, ...] = field(default=(), repr=False)

    def walk(self) -> Iterator[tuple[int, CallNode]]:
        """Yield this call and all below it with their depth, each before the calls made from it."""
        waiting = [(0, self)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            waiting += [(depth + 1, child) for child in reversed(node.children)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profile(Result):
    """Call stacks of worker threads, sampled while tasks ran.

    `root` is the tree: all tasks, a child for each prefix, then functions. `interval_s` is the requested time
    between samples; None if nothing sampled. `note` is why something is missing.

    Notes
    -----
    Seconds are estimates: each sample counts for the time since the one before. A share of ``p`` in ``n``
    samples has a standard error of about ``sqrt(p (1 - p) / n)``.
    """

    root: CallNode
    interval_s: float | None
    note: str | None

    _plain = ("interval_s", "note")
    _plain_rows = "calls"

    @property
    def n_samples(self) -> int:
        """How many samples it is made of."""
        return self.root.n_samples

    def table(self) -> Columns:
        """Return one row per call as equally long columns, each call before those made from it.

        Columns: ``parent`` (number of a row, -1 for the first), ``depth, kind, prefix, function, file, line,
        n_samples, seconds, self_samples, self_seconds, share`` (of all seconds).
        """
        rows: list[tuple[object, ...]] = []
        above: list[tuple[int, str | None]] = []
        whole_s = self.root.seconds or math.nan
        for depth, node in self.root.walk():
            del above[depth:]
            parent, prefix = above[-1] if above else (-1, None)
            prefix = node.name if node.kind == "prefix" else prefix
            above.append((len(rows), prefix))
            own = node.n_samples, node.seconds, node.self_samples, node.self_seconds, node.seconds / whole_s
            rows.append((parent, depth, node.kind, prefix, node.name, node.file, node.line, *own))
        return typed_columns(_COLUMNS, rows)

    def sections(self) -> Iterator[Section]:
        """Yield the functions in which most of the time went, their own and with calls made from them."""
        n, seconds = self.n_samples, self.root.seconds
        notes = () if self.note is None else (self.note,)
        if not n:
            yield Section("profile · no samples", notes=notes)
            return
        yield Section(
            f"profile · {counted(n, 'sample')} of {format_duration(seconds)} in tasks",
            ("function", "self time", "share", "with calls", "samples", "defined in"),
            [
                (
                    own.name,
                    format_duration(own.self_seconds),
                    format_percent(own.self_seconds / seconds if seconds else None),
                    format_duration(own.seconds),
                    format_count(own.self_samples),
                    place_text(own.file, own.line) if own.kind == "function" else "C code that Dask called",
                )
                for own in self.functions()[:_MAX_SHOWN]
            ],
            notes,
            is_last_left=True,
        )

    def functions(self) -> list[CallNode]:
        """Return a call without children for each function with time of its own, the most of it first."""
        own = [call for call in functions_of(self.root) if call.self_samples]
        return sorted(own, key=lambda call: -call.self_seconds)


def functions_of(root: CallNode) -> list[CallNode]:
    """Return a call without children for each function; a sample counts once, though it calls itself."""
    sums: defaultdict[_Named, NDArray[np.float64]] = defaultdict(lambda: np.zeros(4))
    stack: list[_Named] = []
    on_stack: Counter[_Named] = Counter()
    for depth, node in root.walk():
        on_stack.subtract(stack[depth:])
        function = node.kind, node.name, node.file, node.line
        with_calls = (0, 0.0) if on_stack[function] else (node.n_samples, node.seconds)
        sums[function] += (*with_calls, node.self_samples, node.self_seconds)
        stack[depth:] = [function]
        on_stack[function] += 1
    return [
        CallNode(*of, int(n), seconds, int(n_own), own_s)
        for of, (n, seconds, n_own, own_s) in zip(
            sums, (each.tolist() for each in sums.values()), strict=True
        )
    ]


def profile(
    recording: RecordedData,
    prefix: str | None = None,
    worker: str | None = None,
) -> Profile:
    """Return the calls of worker threads, from samples of their call stacks.

    Parameters
    ----------
    prefix
        Only tasks of this prefix.
    worker
        Only this worker: the number of its process, or its address in a cluster.

    Raises
    ------
    UnknownNameError
        If no task of such a prefix, or on such a worker, was recorded.
    """
    stacks = recording.stacks.of_tasks
    chosen = np.ones(len(stacks.rows), bool)
    asked: tuple[tuple[Literal["prefix", "worker"], str | None, tuple[str, ...], list[str]], ...] = (
        ("prefix", prefix, stacks.prefixes, [group.prefix for group in recording.groups]),
        ("worker", worker, stacks.workers, [lane.worker for lane in recording.lanes]),
    )
    for kind, name, sampled, others in asked:
        if name is not None and name not in (*sampled, *others):
            raise UnknownNameError(unknown_name(kind, name, dict.fromkeys((*sampled, *others))))
        if name is not None:
            chosen &= np.array([one == name for one in (*sampled, "")])[getattr(stacks.rows, kind)]
    rows = stacks.rows.part(chosen)
    return Profile(tree(stacks, rows), stacks.interval_s, _note(recording, rows))


def tree(stacks: StackColumns, rows: StackRows) -> CallNode:
    """Return the calls of samples by prefix."""
    children = [
        _prefix_tree(stacks, rows.part(rows.prefix == place), stacks.prefixes[place])
        for place in np.unique(rows.prefix).tolist()
    ]
    return _node("all", _ALL, 0, 0.0, children)


def _prefix_tree(stacks: StackColumns, rows: StackRows, prefix: str) -> CallNode:
    n = len(stacks.parent)
    # The last place is for samples without a call, whose node is -1.
    count = np.bincount(rows.node % (n + 1), rows.count, n + 1).astype(np.int64)
    seconds = np.bincount(rows.node % (n + 1), rows.seconds, n + 1)
    below: defaultdict[int, list[CallNode]] = defaultdict(list)
    # A call is after its caller, so all of its children exist when its turn is.
    for call in range(n - 1, -1, -1):
        if count[call] or call in below:
            function = stacks.functions[stacks.function[call]]
            made = _node("function", function, int(count[call]), float(seconds[call]), below.pop(call, []))
            below[int(stacks.parent[call])].append(made)
    return _node("prefix", Function(prefix, "", 0), int(count[n]), float(seconds[n]), below.pop(-1, []))


def _node(
    kind: _Kind,
    function: Function,
    count: int,
    seconds: float,
    children: list[CallNode],
) -> CallNode:
    return CallNode(
        kind,
        function.name,
        function.file,
        function.line,
        count + sum(child.n_samples for child in children),
        seconds + math.fsum(child.seconds for child in children),
        count,
        seconds,
        tuple(sorted(children, key=lambda c: (-c.seconds, c.name, c.file, c.line))),
    )


def _note(recording: RecordedData, rows: StackRows) -> str | None:
    if dropped := recording.stacks.of_tasks.dropped:
        return f"{dropped:,} of the oldest samples are no longer kept"
    return None if len(rows) else _why_no_samples(recording)


def _why_no_samples(recording: RecordedData) -> str:
    if "stacks" in recording.unknown:
        return "not recorded: the process ended, or the file does, before its call stacks were written"
    if any(message.text.startswith(NOT_SAMPLED_WITHOUT_LOCK) for message in recording.messages):
        return NOT_SAMPLED_WITHOUT_LOCK
    if recording.stacks.interval_s is None:
        return "nothing was sampled: profile with stacks=True"
    unseen = sorted({str(r.scheduler) for r in recording.runs} - {"synchronous", "threads", "processes"})
    if unseen:
        return f"tasks of the scheduler {', '.join(unseen)} run where taskscope does not sample"
    return NO_SAMPLE


_MAX_BINS = 120
_MAX_CALLS = 4_000


def flame_message(stacks: StackColumns) -> dict[str, Any]:
    """Return a flame graph with a timeline: plain values, and all ``columns`` in one piece of bytes.

    It has the longest calls, with others as a part of the call that made them; cycles are joined to bins.
    """
    rows = stacks.rows
    drawn, kept = _kept(stacks, _MAX_CALLS)
    starts, cycle = np.unique(rows.start, return_inverse=True)
    joined = -(-len(starts) // _MAX_BINS) or 1
    n_prefixes, n_calls = max(len(stacks.prefixes), 1), len(kept) + 1
    places = (cycle // joined * n_prefixes + rows.prefix) * n_calls + drawn[rows.node] + 1
    unique, inverse = np.unique(places, return_inverse=True)
    rest, call = np.divmod(unique, n_calls)
    bins, prefix = np.divmod(rest, n_prefixes)
    columns: dict[str, NDArray[Any]] = {
        "start_s": starts[::joined],
        "parent": drawn[stacks.parent[kept]],
        "function": stacks.function[kept],
        "bin": bins.astype(np.uint16),
        "prefix": prefix.astype(np.uint16),
        "node": (call - 1).astype(np.int32),
        "count": np.bincount(inverse, rows.count, len(unique)).astype(np.uint32),
        "seconds": np.bincount(inverse, rows.seconds, len(unique)).astype(np.float32),
    }
    return {
        "interval_s": stacks.interval_s,
        "functions": [(wire_text(f.name), wire_text(f.file), f.line) for f in stacks.functions],
        "prefixes": list(map(wire_text, stacks.prefixes)),
        "n_left_out": len(stacks.parent) - len(kept),
        "lengths": {name: len(values) for name, values in columns.items()},
        "columns": b"".join(values.tobytes() for values in columns.values()),
    }


def _kept(stacks: StackColumns, max_calls: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return which call each is drawn as (the last element is for none), and the calls that are drawn."""
    n = len(stacks.parent)
    seconds = np.bincount(stacks.rows.node % (n + 1), stacks.rows.seconds, n + 1)
    parents = stacks.parent.tolist()
    # A call is after its caller.
    total = seconds.tolist()
    for call in range(n - 1, -1, -1):
        if parents[call] >= 0:
            total[parents[call]] += total[call]
    # Callers took at least as long and are before, so no drawn call lacks its caller.
    order = np.lexsort((np.arange(n), -np.array(total[:n])))
    kept = np.sort(order[:max_calls])
    drawn = np.full(n + 1, -1, np.int32)
    drawn[kept] = np.arange(len(kept))
    if n > max_calls:
        is_kept = np.zeros(n, bool)
        is_kept[kept] = True
        for call in np.flatnonzero(~is_kept).tolist():
            drawn[call] = drawn[parents[call]]
    return drawn, kept


def in_proportion(recording: RecordedData) -> RecordedData:
    """Return the recording with samples scaled to the measured time of their prefixes.

    Samplers take fewer samples than one an interval where threads hold the interpreter's lock, and fewest of
    short tasks. How long the tasks of each prefix took is known exactly, so only their insides are estimated.
    """
    stacks = recording.stacks
    if not len(stacks.rows) or recording.dropped:
        return recording
    rows, lines = stacks.rows, stacks.lines
    on_clusters = {run.run for run in recording.runs if run.is_on_cluster}
    elsewhere = {run.run for run in recording.runs} - on_clusters
    tasks = recording.tasks
    spent_s = _own_seconds(recording, tasks)
    # Samples of a cluster and of this process have different weights.
    for runs in (list(on_clusters), list(elsewhere)):
        measured_s = _by_prefix(recording, tasks, np.where(np.isin(tasks.run, runs), spent_s, 0.0))
        rows = _scaled(rows, rows.seconds, runs, measured_s, ("seconds",))
        lines = _scaled(lines, lines.self_seconds, runs, measured_s, _SECONDS, _SQUARES)
    return replace(recording, stacks=replace(stacks, rows=rows, lines=lines))


_SECONDS, _SQUARES = ("seconds", "self_seconds", "cpu_s", "cpu_known_s"), ("squares", "self_squares")
_R = TypeVar("_R", StackRows, LineRows)


def _scaled(
    rows: _R,
    seconds: NDArray[np.float64],
    runs: list[int],
    measured_s: NDArray[np.float64],
    linear: Sequence[str],
    squared: Sequence[str] = (),
) -> _R:
    """Return the rows, with the sampled seconds of each prefix in `runs` scaled to its measured seconds."""
    chosen = np.isin(rows.run, runs)
    sampled_s = np.bincount(rows.prefix[chosen], seconds[chosen], len(measured_s))
    is_known = (sampled_s > 0) & (measured_s > 0)
    of_prefix = np.where(is_known, measured_s / np.where(is_known, sampled_s, 1.0), 1.0)
    factor = np.where(chosen, of_prefix[rows.prefix], 1.0)
    columns = {name: getattr(rows, name) * factor for name in linear}
    return replace(rows, **columns, **{name: getattr(rows, name) * factor**2 for name in squared})


def _by_prefix(
    recording: RecordedData, tasks: TaskBlock, seconds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sums of tasks' seconds by place in `StackColumns.prefixes`."""
    sums: defaultdict[str, float] = defaultdict(float)
    of_group = np.bincount(tasks.group, seconds, len(recording.groups)).tolist()
    for group, of_tasks in zip(recording.groups, of_group, strict=True):
        sums[group.prefix] += of_tasks
    return np.array([sums[prefix] for prefix in recording.stacks.prefixes], np.float64)


def _own_seconds(recording: RecordedData, tasks: TaskBlock) -> NDArray[np.float64]:
    """Return how long each task took, without the tasks of computes that are nested in it in its thread."""
    own: NDArray[np.float64] = tasks.stop - tasks.start
    threads: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for lane in recording.lanes:
        threads[lane.worker, lane.thread].append(lane.id)
    for lanes in threads.values():
        # A compute within a task has a lane of its own.
        if len(lanes) > 1:
            _take_off_nested(own, tasks, np.flatnonzero(np.isin(tasks.lane, lanes)))
    return own


def _take_off_nested(own: NDArray[np.float64], tasks: TaskBlock, rows: NDArray[np.int64]) -> None:
    ordered = rows[np.lexsort((-tasks.stop[rows], tasks.start[rows]))]
    around: list[tuple[int, float]] = []
    for row, start, stop in zip(
        ordered.tolist(), tasks.start[ordered].tolist(), tasks.stop[ordered].tolist(), strict=True
    ):
        while around and around[-1][1] <= start:
            around.pop()
        if around:
            own[around[-1][0]] -= stop - start
        around.append((row, stop))


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

    Functions whose lines were counted are before those that were sampled, the longest first. `seconds` and
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
        seen = [(place, stacks.functions[place]) for place in np.unique(rows.function).tolist() if place >= 0]
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
    """Return the lines that the option `lines` asks for as text, or why there are none."""
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
    seen = [functions[place] for place in np.unique(rows.function[rows.function >= 0])]
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
        if (wire_text(each.name), wire_text(each.file), each.line) == (name, file, line)
    ]
    found = sampled_functions(stacks, stacks.lines, places, started_at)
    if not found:
        return {"function": [name, file, line], "seconds": 0.0, "lines": [], "note": _NO_LINES}
    block = source_block(found[0])[:_MAX_LINES]
    return {
        "function": [name, file, line],
        "seconds": found[0].seconds,
        "lines": [
            [number, None if text is None else wire_text(text), None if known is None else known.seconds]
            for number, text, known in block
        ],
        "note": None if any(text is not None for _, text, _ in block) else _NO_SOURCE,
    }
