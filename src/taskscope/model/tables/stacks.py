"""Samples of what worker threads were doing: a tree of calls, counted per cycle, run, prefix and worker."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from taskscope.schema import About, Rows

CLIENT, CLIENT_RUN = "(client)", -1
"""Prefix and run of samples of a thread that runs a block, taken while no compute runs."""

NOT_SAMPLED_WITHOUT_LOCK = (
    "call stacks are not sampled: this Python runs threads without its global lock (GIL), and looking at the "
    "stack of a thread that runs may crash it then"
)
"""The message of a recording whose process could not be sampled."""

Wait: TypeAlias = Literal["lock", "sleep", "network", "file", "process", "queue", "result", "event"]
WAITS: tuple[Wait, ...] = get_args(Wait)
"""Kinds of waits by their code in `LineRows`; -1 is none."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that was seen on a stack."""

    name: Annotated[str, About("What it is called.")]
    file: Annotated[str, About("The file that defines it.")]
    line: Annotated[int, About("The line where it is defined; 0: unknown.")]
    wait: Annotated[
        Wait | None,
        About("What a lambda waits for by the text of its line; none where it does not.", page=False),
    ] = None


@dataclass(frozen=True, slots=True, eq=False)
class StackRows(Rows):
    """Counts of samples as equally long columns, by the innermost call that was seen."""

    start: Annotated[NDArray[np.float64], About("When the cycle began.", unit="s", is_time=True)]
    run: Annotated[NDArray[np.int32], About("The compute.", refers="runs.run")]
    prefix: Annotated[NDArray[np.uint32], About("A place in `StackColumns.prefixes`.")]
    worker: Annotated[NDArray[np.uint32], About("A place in `StackColumns.workers`.")]
    node: Annotated[
        NDArray[np.int32],
        About("The innermost call, a place in `StackColumns.parent`; -1 where Dask called C code itself."),
    ]
    count: Annotated[NDArray[np.uint32], About("How many samples saw it.")]
    seconds: Annotated[NDArray[np.float64], About("The time these samples stand for, an estimate.", unit="s")]


@dataclass(frozen=True, slots=True, eq=False)
class LineRows(Rows):
    """Sums over samples as equally long columns, by source line: each counts once for a line that it saw."""

    run: Annotated[NDArray[np.int32], About("The compute.", refers="runs.run")]
    prefix: Annotated[NDArray[np.uint32], About("A place in `StackColumns.prefixes`.")]
    worker: Annotated[NDArray[np.uint32], About("A place in `StackColumns.workers`.")]
    function: Annotated[
        NDArray[np.int32],
        About("A place in `StackColumns.functions`; -1 where Dask called C code itself."),
    ]
    line: Annotated[NDArray[np.int64], About("The number of the line in its file; 0: unknown.")]
    count: Annotated[NDArray[np.uint32], About("How many samples saw it.")]
    seconds: Annotated[
        NDArray[np.float64],
        About("The time these samples stand for, an estimate, with what the line called.", unit="s"),
    ]
    self_seconds: Annotated[
        NDArray[np.float64],
        About("The part of it in which the line itself ran, or C code that it called.", unit="s"),
    ]
    cpu_s: Annotated[
        NDArray[np.float64],
        About("How much CPU time the thread took in those of these samples that know it.", unit="s"),
    ]
    cpu_known_s: Annotated[
        NDArray[np.float64], About("The time that the samples stand for that know the CPU time.", unit="s")
    ]
    squares: Annotated[
        NDArray[np.float64], About("The squares of the times that the samples stand for, added up.")
    ]
    self_squares: Annotated[NDArray[np.float64], About("The same, of those in which the line itself ran.")]
    wait: Annotated[
        NDArray[np.int8],
        About(
            "What the line waits for by its text: a place in `WAITS`; -1: nothing, or the text is not known.",
            optional=True,
            internal=True,
        ),
    ]


LineSums: TypeAlias = tuple[str, str, int, int, int, float, float, float]
"""A line: file, function, its first line, the line, hits, seconds, CPU seconds, seconds of counting it."""


@dataclass(frozen=True, slots=True)
class MeasuredLine:
    """A source line of a function that was named to be measured, in one task."""

    run: Annotated[int, About("The compute.", refers="runs.run")]
    key: Annotated[str | None, About("The task; none: several, as there were more lines than are kept.")]
    prefix: Annotated[str, About("The task's prefix.")]
    worker: Annotated[str, About("The process, or the address of the worker.", private="address")]
    file: Annotated[str, About("The file.")]
    function: Annotated[str, About("The function that the line is in.")]
    first_line: Annotated[int, About("The line where that is defined.")]
    line: Annotated[int, About("The number of the line in its file.")]
    hits: Annotated[int, About("How often it was begun.")]
    seconds: Annotated[float, About("How long it took, with what it called.", unit="s")]
    cpu_s: Annotated[float, About("CPU time of the task's thread in it.", unit="s")]
    counting_s: Annotated[
        float, About("How long it took to count it: in the task's time, in no line's.", unit="s")
    ] = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class StackColumns:
    """All samples of a recording."""

    functions: tuple[Function, ...]
    parent: NDArray[np.int32]
    function: NDArray[np.int32]
    prefixes: tuple[str, ...]
    workers: tuple[str, ...]
    rows: StackRows
    interval_s: float | None = None
    cycle_s: float | None = None
    dropped: int = 0
    lines: LineRows = field(default_factory=LineRows.empty)

    @property
    def of_tasks(self) -> StackColumns:
        """The samples of tasks, without those of a client between computes."""
        if (self.rows.run >= 0).all() and (self.lines.run >= 0).all():
            return self
        rows, lines = self.rows.part(self.rows.run >= 0), self.lines.part(self.lines.run >= 0)
        return replace(self, rows=rows, lines=lines).pruned()

    def pruned(self) -> StackColumns:
        """Return the same without calls, functions and names that no row refers to."""
        lines, n_rows = self.lines, len(self.rows)
        used = np.zeros(len(self.parent), bool)
        used[self.rows.node[self.rows.node >= 0]] = True
        # Parents are before their children, so one pass from the end reaches all of them.
        for node in range(len(used) - 1, -1, -1):
            if used[node] and self.parent[node] >= 0:
                used[self.parent[node]] = True
        places = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
        n_calls, of_line = np.count_nonzero(used), lines.function >= 0
        functions, function = _places(self.function[used], lines.function[of_line])
        prefixes, prefix = _places(self.rows.prefix, lines.prefix)
        workers, worker = _places(self.rows.worker, lines.worker)
        rows = replace(
            self.rows,
            prefix=prefix[:n_rows].astype(np.uint32),
            worker=worker[:n_rows].astype(np.uint32),
            node=places[self.rows.node],
        )
        of_lines = np.full(len(lines), -1, np.int32)
        of_lines[of_line] = function[n_calls:]
        return replace(
            self,
            functions=tuple(self.functions[place] for place in functions.tolist()),
            parent=places[self.parent[used]],
            function=function[:n_calls].astype(np.int32),
            prefixes=tuple(self.prefixes[place] for place in prefixes.tolist()),
            workers=tuple(self.workers[place] for place in workers.tolist()),
            rows=rows,
            lines=replace(
                lines,
                function=of_lines,
                prefix=prefix[n_rows:].astype(np.uint32),
                worker=worker[n_rows:].astype(np.uint32),
            ),
        )


def _places(*columns: NDArray[np.integer]) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return the different numbers in these columns, and the place of each element among these."""
    found, place = np.unique(np.concatenate(columns), return_inverse=True)
    return found, place


NO_STACKS = StackColumns((), np.empty(0, np.int32), np.empty(0, np.int32), (), (), StackRows.empty())
"""The samples of a recording that has none."""
