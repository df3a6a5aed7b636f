"""Where inside of tasks time went, as sampled: by calls."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import counted, format_count, format_duration, format_percent
from taskscope.analysis.result import Result, Section, typed_columns
from taskscope.errors import UnknownNameError, unknown_name
from taskscope.model.dataframes import Columns
from taskscope.model.keys import plain_text
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import (
    place_text,
)
from taskscope.model.tables.columns import distinct
from taskscope.model.tables.records import TaskBlock
from taskscope.model.tables.stacks import (
    NOT_SAMPLED_WITHOUT_LOCK,
    Function,
    LineRows,
    StackColumns,
    StackRows,
)

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
        for place in distinct(rows.prefix).tolist()
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
_CYCLE_S = 1.0
"""For how long samples are taken to be counted together where their sampler does not say."""


def flame_message(stacks: StackColumns) -> dict[str, Any]:
    """Return a flame graph with a timeline: plain values, and all ``columns`` in one piece of bytes.

    It has the longest calls, with others as a part of the call that made them. Bins are equally wide; those
    without samples are left out.
    """
    rows = stacks.rows
    drawn, kept = _kept(stacks, _MAX_CALLS)
    bin_s, at, row, share = _binned(rows.start, rows.worker, stacks.cycle_s or _CYCLE_S)
    numbers, bins_of_rows = np.unique(at, return_inverse=True)
    n_prefixes, n_calls = max(len(stacks.prefixes), 1), len(kept) + 1
    places = (bins_of_rows * n_prefixes + rows.prefix[row]) * n_calls + drawn[rows.node[row]] + 1
    unique, inverse = np.unique(places, return_inverse=True)
    rest, call = np.divmod(unique, n_calls)
    bins, prefix = np.divmod(rest, n_prefixes)
    columns: dict[str, NDArray[Any]] = {
        "start_s": rows.start.min(initial=np.inf) + numbers * bin_s,
        "parent": drawn[stacks.parent[kept]],
        "function": stacks.function[kept],
        "bin": bins.astype(np.uint16),
        "prefix": prefix.astype(np.uint16),
        "node": (call - 1).astype(np.int32),
        "count": np.bincount(inverse, _whole_parts(rows.count, row, share), len(unique)).astype(np.uint32),
        "seconds": np.bincount(inverse, rows.seconds[row] * share, len(unique)).astype(np.float32),
    }
    return {
        "interval_s": stacks.interval_s,
        "bin_s": bin_s,
        "functions": [(plain_text(f.name), plain_text(f.file), f.line) for f in stacks.functions],
        "prefixes": list(map(plain_text, stacks.prefixes)),
        "n_left_out": len(stacks.parent) - len(kept),
        "lengths": {name: len(values) for name, values in columns.items()},
        "columns": b"".join(values.tobytes() for values in columns.values()),
    }


def _binned(
    begins: NDArray[np.float64], worker: NDArray[np.integer], cycle_s: float
) -> tuple[float, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the width of bins, then the bin, the row and the share of each part of a row.

    A cycle lasts until its worker's next one, `cycle_s` at most: its rows are divided where the next bin
    begins. How long one lasts that no other follows is not known.
    """
    since_s = begins - begins.min(initial=np.inf)
    bin_s = cycle_s
    while len(np.unique(since_s // bin_s)) > _MAX_BINS:
        bin_s *= 2
    at = (since_s // bin_s).astype(np.int64)
    lasts_s = _next_s(since_s, worker) - since_s
    lasts_s = np.where(lasts_s <= 1.5 * cycle_s, np.minimum(lasts_s, cycle_s), np.nan)
    beyond = np.nan_to_num(np.clip((since_s + lasts_s - (at + 1) * bin_s) / lasts_s, 0.0, 1.0))
    divided = np.flatnonzero(beyond)
    row = np.concatenate([np.arange(len(begins)), divided])
    share = np.concatenate([1.0 - beyond, beyond[divided]])
    return bin_s, np.concatenate([at, at[divided] + 1]), row, share


def _next_s(begins: NDArray[np.float64], worker: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return when the next cycle of each row's worker begins; infinity where there is none."""
    order = np.lexsort((begins, worker))
    ordered, owner = begins[order], worker[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (np.diff(ordered) != 0) | (np.diff(owner) != 0)
    first = np.flatnonzero(is_first)
    following = np.append(ordered[first[1:]], np.inf)
    following[:-1][np.diff(owner[first]) != 0] = np.inf
    found = np.empty(len(order))
    found[order] = np.repeat(following[: len(first)], np.diff(np.append(first, len(order))))
    return found


def _whole_parts(
    count: NDArray[np.uint32], row: NDArray[np.int64], share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return whole numbers of samples of the parts of rows, with the same sum; each row has an early part."""
    parts = np.rint(count[row] * share)
    n = len(count)
    parts[:n] = count - np.bincount(row[n:], parts[n:], n)
    return parts


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
