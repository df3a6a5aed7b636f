"""Where tasks of a prefix were, by samples of their call stacks, and which of it is waiting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from taskscope.analysis.quantities import format_percent, printable
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import is_of_library, place_text, wait_of_file
from taskscope.model.tables.columns import distinct
from taskscope.model.tables.stacks import WAITS, Function, StackColumns, Wait

WAIT_WORDS: dict[Wait, str] = {
    "lock": "a lock",
    "sleep": "sleep",
    "network": "the network",
    "file": "files",
    "process": "other processes",
    "queue": "a queue",
    "result": "results of other computations",
    "event": "other threads",
}
"""The kinds of waits, in words."""

_LOCKED = {"acquire", "__enter__"}
_MOST_CALLERS = 32
_ON_CPU = 0.5
_NEXT_TO_NONE = 0.1
"""A line that reads like a wait is one only with less CPU time than this part of its time."""
_AT_LOCK = 0.3
"""The same for a line that takes a lock, whose samples contain CPU time from before it."""
_ANYWHERE: frozenset[Wait] = frozenset({"lock", "sleep"})
"""Waits that the text of a library's line shows; a call of a file may hide threads that compute."""


class CodePlace(NamedTuple):
    """A line, or a function where the line is not known, with the part of the samples that saw it."""

    share: float
    kind: Wait | None
    """The kind of wait; None for computing, or a wait that is not recognized."""
    text: str


@dataclass(frozen=True, slots=True)
class _Call:
    """An innermost call: its kind of wait, the function to name, and whether its own lines decide."""

    kind: Wait | None
    function: int
    is_own: bool


class Stacks:
    """Samples of the tasks of some computes."""

    def __init__(
        self,
        recording: RecordedData,
        runs: Collection[int],
        spans_s: Sequence[tuple[float, float]] | None = None,
        *,
        cpu_shares: Mapping[str, float] | None = None,
        stretch: float = 1.0,
    ) -> None:
        """Read the samples of computes, or of spans of them.

        `cpu_shares` is the CPU time of each prefix's tasks over their durations. `stretch` is how many times
        as long as they had a core threads wanted one: a part of the time without a core is a queue for it.
        """
        self._cpu_shares, self._stretch = cpu_shares or {}, stretch
        self._stacks = recording.stacks
        rows, lines = self._stacks.rows, self._stacks.lines
        is_in = np.isin(rows.run, list(runs))
        if spans_s is not None:
            cycle_s, began_s = self._stacks.cycle_s or 0.0, rows.start - recording.zero_s
            within = [(began_s < stop_s) & (began_s + cycle_s > start_s) for start_s, stop_s in spans_s]
            is_in &= np.logical_or.reduce(within) if within else False
        self._rows = rows.part(is_in)
        self._lines = lines.part(np.isin(lines.run, list(runs)))
        self._found: dict[str, tuple[CodePlace, ...]] = {}

    def places(self, prefix: str) -> tuple[CodePlace, ...]:
        """Return where tasks of a prefix were, the largest part first; nothing where no sample saw one."""
        if prefix not in self._found:
            self._found[prefix] = tuple(self._places(prefix))
        return self._found[prefix]

    def waiting(self, prefix: str) -> dict[Wait, float]:
        """Return the part of the samples of a prefix in each kind of wait, most first."""
        parts: defaultdict[Wait, float] = defaultdict(float)
        for place in self.places(prefix):
            if place.kind is not None:
                parts[place.kind] += place.share
        return dict(sorted(parts.items(), key=lambda part: -part[1]))

    def outside(self, prefix: str) -> float:
        """Return the part of the samples of a prefix in C code that Dask called, and that had no core.

        A function of C that computes may have the interpreter's lock; one that waits has released it.
        """
        if prefix not in self._stacks.prefixes:
            return 0.0
        place = self._stacks.prefixes.index(prefix)
        lines = self._lines.part(self._lines.prefix == place)
        in_c = lines.part(lines.function < 0)
        known_s, whole_s = float(in_c.cpu_known_s.sum()), float(lines.self_seconds.sum())
        if not known_s or not self._is_off(float(in_c.cpu_s.sum()) / known_s):
            return 0.0
        return float(in_c.self_seconds.sum()) / whole_s

    def words(self, prefixes: Sequence[str], kinds: Collection[Wait | None] | None = None) -> str:
        """Return the source line with most samples of these prefixes; empty where there is none."""
        for prefix in prefixes:
            for place in self.places(prefix):
                if kinds is None or place.kind in kinds:
                    return f"{format_percent(min(place.share, 1.0))} of it in {place.text}"
        return ""

    def _places(self, prefix: str) -> Iterator[CodePlace]:
        stacks = self._stacks
        if prefix not in stacks.prefixes:
            return
        rows = self._rows.part(self._rows.prefix == stacks.prefixes.index(prefix))
        whole_s = float(rows.seconds.sum())
        if not whole_s:
            return
        sums: defaultdict[tuple[Wait | None, str], float] = defaultdict(float)
        for node in distinct(rows.node[rows.node >= 0]).tolist():
            seconds = float(rows.seconds[rows.node == node].sum())
            for kind, text, part in self._of_call(prefix, _call_of(stacks, node)):
                sums[kind, text] += seconds * part
        for (kind, text), seconds in sorted(sums.items(), key=lambda item: -item[1]):
            yield CodePlace(seconds / whole_s, kind, text)

    def _of_call(self, prefix: str, call: _Call) -> Iterator[tuple[Wait | None, str, float]]:
        """Yield the kind, place and part of the time of an innermost call."""
        function = self._stacks.functions[call.function]
        lines = self._lines.part(
            (self._lines.function == call.function)
            & (self._lines.prefix == self._stacks.prefixes.index(prefix))
        )
        weights = lines.self_seconds if call.is_own else lines.seconds
        if not weights.sum():
            # On a cluster lines are not known, but a lambda has one.
            kind = call.kind
            if kind is None and call.is_own:
                kind = self._wait_of_line(function.wait, self._cpu_shares.get(prefix), function)
            yield kind, code_place(function, function.line if function.name.endswith("<lambda>") else 0), 1.0
            return
        # The lines of a caller have all that it called: the longest one is taken to have this call.
        places = np.flatnonzero(weights) if call.is_own else [np.argmax(weights)]
        for i in map(int, places):
            known_s = float(lines.cpu_known_s[i])
            cpu_share = float(lines.cpu_s[i]) / known_s if known_s else self._cpu_shares.get(prefix)
            if call.kind is not None:
                is_wait = not known_s or (cpu_share or 0.0) <= _ON_CPU
                kind = call.kind if is_wait and (call.kind != "file" or self._is_off(cpu_share)) else None
            else:
                read = WAITS[lines.wait[i]] if lines.wait[i] >= 0 else None
                kind = self._wait_of_line(read, cpu_share, function) if call.is_own else None
            part = float(weights[i] / weights.sum()) if call.is_own else 1.0
            yield kind, code_place(function, int(lines.line[i])), part

    def _is_off(self, cpu_share: float | None, most: float = _NEXT_TO_NONE) -> bool:
        """Return whether code had next to no CPU time, and would have had on a quiet machine."""
        return cpu_share is not None and cpu_share <= min(most, _ON_CPU / self._stretch)

    def _wait_of_line(self, kind: Wait | None, cpu_share: float | None, function: Function) -> Wait | None:
        """Return the kind of wait of a line that calls no Python and reads like one of this kind."""
        if not self._is_off(cpu_share, _AT_LOCK if kind == "lock" else _NEXT_TO_NONE):
            kind = None
        return kind if kind in _ANYWHERE or not is_of_library(function.file) else None


def _call_of(stacks: StackColumns, node: int) -> _Call:
    """Classify the innermost call of a stack, by it and by its callers."""
    path: list[int] = []
    while node >= 0 and len(path) < _MOST_CALLERS:
        path.append(int(stacks.function[node]))
        node = int(stacks.parent[node])
    functions = [stacks.functions[place] for place in path]
    own = next((i for i, function in enumerate(functions) if not is_of_library(function.file)), 0)
    return _Call(_kind_of_calls(functions[:own]), path[own], own == 0)


def _kind_of_calls(functions: Sequence[Function]) -> Wait | None:
    """Return what calls of libraries wait for, the innermost first."""
    found: Wait | None = None
    for function in functions:
        kind, _ = wait_of_file(function.file)
        if kind == "event" and function.name in _LOCKED:
            kind = "lock"
        # The caller decides the kind of an event of `threading`.
        if kind is not None and (found is None or found == "event"):
            found = kind
    return found


def code_place(function: Function, line: int) -> str:
    """Return a function and a line as a person knows them: a cell by its number.

    Examples
    --------
    >>> code_place(Function("read", "/data/pread.py", 12), 31)
    '`read` of `pread.py:31`'
    >>> code_place(Function("read", "In [19]", 12), 31)
    '`read`, In [19], line 31'
    """
    name = printable(function.name, 40)
    if not function.file:
        return f"`{name}`"
    place = printable(place_text(function.file, line, has_folder=False), 48)
    return f"`{name}`, {place}" if place.startswith(("In [", "a cell")) else f"`{name}` of `{place}`"
