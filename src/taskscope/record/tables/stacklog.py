"""Call stacks as the sampler saw them: a tree of calls, counts per cycle, and sums per source line."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from types import CodeType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import key_text
from taskscope.model.source_lines import file_of, line_at, source_of, wait_of_line
from taskscope.model.tables.stacks import (
    CLIENT,
    CLIENT_RUN,
    NO_STACKS,
    WAITS,
    Function,
    LineRows,
    StackColumns,
    StackRows,
)
from taskscope.record.tables.log import Log

_MAX_NODES = 100_000
_MAX_DEPTH = 256
_MAX_ROWS = 500_000
_MAX_PREFIXES = 10_000
_MAX_LINE_ROWS = 200_000
_MORE = "(more)"
_Sums: TypeAlias = dict[tuple[int, int, int, int], list[float]]
"""Samples and their seconds, by run, prefix, worker and innermost call."""
_LineSums: TypeAlias = dict[tuple[int, int, int, int], list[float]]
"""The values of `LineRows`, by run, prefix, worker and line."""
_N_LINE_SUMS = 7


@dataclass(frozen=True, slots=True)
class CountedCalls:
    """Samples that were counted elsewhere, of one stack."""

    run: int
    prefix: str
    worker: str
    calls: tuple[Function, ...]
    count: int
    seconds: float
    lines: tuple[int, ...] | None = None
    squares: float = 0.0
    cpu_s: float = 0.0
    cpu_known_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StackPlace:
    """How far a reader is: how many rows, functions, calls, prefixes and workers it has read."""

    rows: int = 0
    functions: int = 0
    nodes: int = 0
    prefixes: int = 0
    workers: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class StackPart:
    """Names, calls and rows that a reader had not read yet; rows refer to names and calls."""

    place: StackPlace
    functions: list[Function]
    parent: NDArray[np.int32]
    function: NDArray[np.int32]
    prefixes: list[str]
    workers: list[str]
    rows: StackRows
    open_rows: StackRows


class StackLog:
    """Samples of the threads of this process, and samples from other processes.

    One thread writes; others may read at the same time. The tree has at most 100,000 calls of at most 256
    levels: calls beyond count for their caller. The oldest rows beyond half a million are dropped. Lines have
    at most 200,000 sums: further lines count as ``(more)``.
    """

    def __init__(self, now_s: Callable[[], float]) -> None:
        self.interval_s: float | None = None
        self.cycle_s: float | None = None
        self._now_s = now_s
        self._lock = threading.Lock()
        self.clear()

    def note(self, interval_s: float, cycle_s: float) -> None:
        """Set how often samples are taken from this call on, and how long they are counted together."""
        self.interval_s, self.cycle_s = interval_s, cycle_s

    def clear(self) -> None:
        """Drop all samples, and their code objects."""
        with self._lock:
            self._functions: list[Function] = []
            self._places: dict[Function, int] = {}
            # The code objects are kept, so that no other one gets their identity.
            self._code: dict[int, tuple[int, CodeType]] = {}
            self._parent = array("i")
            self._function = array("i")
            self._nodes: dict[tuple[int, int], int] = {}
            self._prefixes: dict[str, int] = {}
            self._workers: dict[str, int] = {}
            self._lines: dict[tuple[int, int], int] = {}
            self._line_of: dict[tuple[int, int], int] = {}
            """Places of lines by the identity of a code object and the offset in it."""
            self._line_sums: _LineSums = {}
            self._before_block: dict[int, float] = {}
            """When the block began that a client's samples before a run are of."""
            self._open: _Sums = {}
            self._open_s: float | None = None
            self._log = Log(StackRows, _MAX_ROWS)
            self._dropped = 0
            self.interval_s = self.cycle_s = None

    def add(
        self,
        run: int,
        prefix: str,
        worker: str,
        stack: Sequence[tuple[CodeType, int]],
        seconds: float,
        cpu_s: float | None = None,
    ) -> None:
        """Count one sample of `seconds`, its innermost call first."""
        with self._lock:
            node = self._node(self._see(code) for code, _ in stack[: -_MAX_DEPTH - 1 : -1])
            if self._open_s is None:
                self._open_s = self._now_s()
            of = run, self._prefix(prefix), self._worker(worker)
            _count(self._open, (*of, node), 1, seconds)
            known_s = 0.0 if cpu_s is None else seconds
            lines = [self._line(code, offset) for code, offset in stack]
            self._add_to_lines(of, lines, (1, seconds, cpu_s or 0.0, known_s, seconds * seconds))

    def add_client(
        self, next_run: int, worker: str, stack: Sequence[tuple[CodeType, int]], seconds: float
    ) -> None:
        """Count one sample of a thread that runs a block, taken between computes, before that run."""
        self.add(-1 - next_run, CLIENT, worker, stack, seconds)

    def begin_client(self, next_run: int) -> None:
        """Start a block before this run: earlier samples between computes are dropped."""
        of = -1 - next_run
        with self._lock:
            self._end_cycle()
            self._before_block[of] = self._now_s()
            self._line_sums = {key: sums for key, sums in self._line_sums.items() if key[0] != of}

    def _add_to_lines(
        self, of: tuple[int, int, int], lines: Iterable[int], values: tuple[float, float, float, float, float]
    ) -> None:
        n, seconds, cpu_s, cpu_known_s, squares = values
        is_own = 1
        # In a recursion a line is on the stack more than once; the innermost call counts first.
        for line in dict.fromkeys(lines) or (self._place_line(-1, 0),):
            sums = self._line_sums.get((*of, line)) or self._new_line_sums(of, line)
            sums[0] += n
            sums[1] += seconds
            sums[2] += seconds * is_own
            sums[3] += cpu_s
            sums[4] += cpu_known_s
            sums[5] += squares
            sums[6] += squares * is_own
            is_own = 0

    def _new_line_sums(self, of: tuple[int, int, int], line: int) -> list[float]:
        if len(self._line_sums) >= _MAX_LINE_ROWS:
            line = self._place_line(self._place(Function(_MORE, "", 0)), 0)
        return self._line_sums.setdefault((*of, line), [0.0] * _N_LINE_SUMS)

    def _line(self, code: CodeType, offset: int) -> int:
        known = self._line_of.get((id(code), offset))
        if known is None:
            line = line_at(code, offset)
            known = self._line_of[id(code), offset] = self._place_line(self._see(code), line)
        return known

    def _place_line(self, function: int, line: int) -> int:
        return self._lines.setdefault((function, line), len(self._lines))

    def hand_over(self, start_s: float, counted: Iterable[CountedCalls]) -> None:
        with self._lock:
            sums = self._sums_of(counted)
            if sums:
                self._append(_rows(sums, start_s))

    def _sums_of(self, counted: Iterable[CountedCalls]) -> _Sums:
        sums: _Sums = {}
        for each in counted:
            node = self._node(map(self._place, each.calls[:_MAX_DEPTH]))
            key = (each.run, self._prefix(each.prefix), self._worker(each.worker), node)
            _count(sums, key, each.count, each.seconds)
            if each.lines is not None:
                called = zip(map(self._place, each.calls), each.lines, strict=True)
                lines = [self._place_line(function, line) for function, line in called]
                values = each.count, each.seconds, each.cpu_s, each.cpu_known_s, each.squares
                self._add_to_lines(key[:3], reversed(lines), values)
        return sums

    def end_cycle(self) -> None:
        """Close the cycle; the next sample begins a new one."""
        with self._lock:
            self._end_cycle()

    def between(self, first_run: int, last_run: int | None) -> StackColumns:
        """Return the samples of the tasks of these runs, both ends included; None means up to the last."""
        with self._lock:
            # A cycle that readers ended would be shorter than others.
            rows = StackRows.concat([self._log.rows(), self._open_rows()])
            if not len(rows) and not self._line_sums:
                return replace(
                    NO_STACKS, interval_s=self.interval_s, cycle_s=self.cycle_s, dropped=self._dropped
                )
            last = np.inf if last_run is None else last_run
            # Samples of the client before a run, and after the last one, have its number below zero.
            before = -1 - rows.run
            mine = (rows.run >= first_run) & (rows.run <= last)
            of_client = (before >= first_run) & (before <= last + 1)
            for of, start_s in self._before_block.items():
                of_client &= (rows.run != of) | (rows.start >= start_s)
            rows = replace(rows, run=np.where(rows.run < 0, np.int32(CLIENT_RUN), rows.run))
            columns = StackColumns(
                tuple(self._functions),
                np.array(self._parent, np.int32),
                np.array(self._function, np.int32),
                tuple(self._prefixes),
                tuple(self._workers),
                rows.part(mine | of_client),
                self.interval_s,
                self.cycle_s,
                self._dropped,
                self._line_rows(first_run, last_run),
            )
        return columns.pruned()

    def _line_rows(self, first_run: int, last_run: int | None) -> LineRows:
        lines = list(self._lines)
        last = np.inf if last_run is None else last_run
        return LineRows.of(
            [
                (max(run, CLIENT_RUN), prefix, worker, *lines[line], *sums)
                for (run, prefix, worker, line), sums in self._line_sums.items()
                if first_run <= run <= last or first_run <= -1 - run <= last + 1
            ]
        )

    def since(self, at: StackPlace) -> StackPart:
        """Return the new names, calls and rows since `at`; rows of the current cycle are new each time."""
        with self._lock:
            _, rows = self._log.since(at.rows, _MAX_ROWS)
            open_rows = self._open_rows()
            return StackPart(
                place=StackPlace(
                    self._log.cursor,
                    len(self._functions),
                    len(self._parent),
                    len(self._prefixes),
                    len(self._workers),
                ),
                functions=self._functions[at.functions :],
                parent=np.array(self._parent[at.nodes :], np.int32),
                function=np.array(self._function[at.nodes :], np.int32),
                prefixes=list(self._prefixes)[at.prefixes :],
                workers=list(self._workers)[at.workers :],
                # Charts leave out clients' work between computes.
                rows=rows.part(rows.run >= 0),
                open_rows=open_rows.part(open_rows.run >= 0),
            )

    def _end_cycle(self) -> None:
        if self._open_s is None:
            return
        self._append(self._open_rows())
        self._open, self._open_s = {}, None

    def _append(self, rows: StackRows) -> None:
        self._dropped += sum(int(gone.count.sum()) for gone in self._log.append(rows))

    def _open_rows(self) -> StackRows:
        return _rows(self._open, np.nan if self._open_s is None else self._open_s)

    def _prefix(self, name: str) -> int:
        known = self._prefixes.get(name)
        if known is None:
            name = name if len(self._prefixes) < _MAX_PREFIXES else _MORE
            known = self._prefixes.setdefault(name, len(self._prefixes))
        return known

    def _worker(self, name: str) -> int:
        return self._workers.setdefault(name, len(self._workers))

    def _node(self, functions: Iterable[int]) -> int:
        """Return the call that these functions lead to, outermost first."""
        node = -1
        nodes = self._nodes
        for function in functions:
            child = nodes.get((node, function))
            if child is None:
                if len(nodes) >= _MAX_NODES:
                    return node
                child = nodes[node, function] = len(nodes)
                self._parent.append(node)
                self._function.append(function)
            node = child
        return node

    def _see(self, code: CodeType) -> int:
        known = self._code.get(id(code))
        if known is None:
            name, file = key_text(code.co_qualname), key_text(code.co_filename)
            known = self._code[id(code)] = self._place(Function(name, file, code.co_firstlineno)), code
        return known[0]

    def _place(self, function: Function) -> int:
        place = self._places.get(function)
        if place is None:
            named = replace(function, file=file_of(function.file))
            if named.name.endswith("<lambda>"):
                source = source_of(named.file, datetime.now(UTC))
                named = replace(named, wait=wait_of_line(source, named.line))
            place = self._places.setdefault(named, len(self._functions))
            self._places[function] = place
            if place == len(self._functions):
                self._functions.append(named)
        return place


def with_waits(stacks: StackColumns, recorded_at: datetime) -> StackColumns:
    """Return the samples with the waits that the source of their lines reads like, as it was at that time."""
    rows, functions = stacks.lines, stacks.functions
    if not len(rows):
        return stacks
    source = cache(lambda function: source_of(functions[function].file, recorded_at))

    @cache
    def code(function: int, line: int) -> int:
        kind = wait_of_line(source(function), line) if function >= 0 else None
        return -1 if kind is None else WAITS.index(kind)

    # Where a line only calls others its text has no part.
    wait = np.full(len(rows), -1, np.int8)
    own = np.flatnonzero(rows.self_seconds)
    wait[own] = list(map(code, rows.function[own].tolist(), rows.line[own].tolist()))
    return replace(stacks, lines=replace(rows, wait=wait))


def _count(sums: _Sums, key: tuple[int, int, int, int], count: int, seconds: float) -> None:
    counted = sums.get(key)
    if counted is None:
        sums[key] = [count, seconds]
    else:
        counted[0] += count
        counted[1] += seconds


def _rows(sums: _Sums, start_s: float) -> StackRows:
    n = len(sums)
    keys = np.array(list(sums), np.int64).reshape(n, 4)
    values = np.array(list(sums.values()), np.float64).reshape(n, 2)
    return StackRows(
        np.full(n, start_s),
        keys[:, 0].astype(np.int32),
        keys[:, 1].astype(np.uint32),
        keys[:, 2].astype(np.uint32),
        keys[:, 3].astype(np.int32),
        values[:, 0].astype(np.uint32),
        values[:, 1],
    )
