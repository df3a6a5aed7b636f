"""The graph of a compute by task groups: how many tasks each has, how far they are, which groups it needs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.schedule import own_runs
from taskscope.analysis.quantities import counted, format_count, format_duration, printable
from taskscope.analysis.result import TableResult
from taskscope.analysis.totals import group_progress
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import GraphColumns, distinct_pairs

_NAME_WIDTH = 32
_MAX_NEEDED = 4


class GroupRow(NamedTuple):
    """A task group of a compute."""

    run: int
    group: str
    prefix: str
    n_tasks: int
    n_finished: int
    n_erred: int
    n_running: int
    n_skipped: int
    seconds: float
    needs: tuple[str, ...]

    @property
    def done(self) -> str:
        """How far its tasks are, in words."""
        extras = [(self.n_erred, "failed"), (self.n_running, "running"), (self.n_skipped, "skipped")]
        more = "".join(f", {format_count(n)} {word}" for n, word in extras if n)
        return f"{format_count(self.n_finished)} of {format_count(self.n_tasks - self.n_skipped)}{more}"


def group_graph(recording: RecordedData, run: int | None = None) -> TableResult:
    """Return the graph by task groups: how many tasks each has, how far they are, which groups it needs.

    Of a block that has not ended ``run.recording.group_graph()`` has the present state. Columns: ``run,
    group, prefix, n_tasks`` (without data that the graph holds), ``n_finished, n_erred, n_running`` (by the
    last end of each), ``n_skipped`` (they did not have to run, because a cluster had their results, or those
    of their dependents), ``seconds`` (the sum of all executions), ``needs`` (groups whose results its tasks
    need). Each group is after its dependencies.

    Parameters
    ----------
    run
        The number of a compute; by default all of them, each with its own groups.

    Raises
    ------
    UnknownNameError
        If there is no such compute.

    Examples
    --------
    >>> import dask, taskscope
    >>> add = dask.delayed(sum, pure=False)
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(max)([add([1, 2]), add([3, 4])]).compute(scheduler="synchronous")
    >>> run.recording.group_graph().table()["prefix"]
    ['sum', 'max']
    """
    numbers = [one.run for one in own_runs(recording, run)]
    graphs = {number: recording.graphs[number] for number in numbers if number in recording.graphs}
    rows = [row for number, graph in graphs.items() for row in _of_run(recording, number, graph)]
    counts = Counter((row.run, row.prefix) for row in rows)
    # By prefix where one group of the compute alone has it.
    names = {
        row[:2]: printable(row.prefix if counts[row.run, row.prefix] == 1 else row.group, _NAME_WIDTH)
        for row in rows
    }

    def needs(row: GroupRow) -> str:
        needed = ", ".join(names[row.run, name] for name in row.needs[:_MAX_NEEDED])
        n_more = len(row.needs) - _MAX_NEEDED
        return f"{needed} and {n_more:,} more" if n_more > 0 else needed

    unknown = [number for number, graph in graphs.items() if not graph.known]
    n_tasks = sum(row.n_tasks for row in rows)
    return TableResult.of(
        rows,
        GroupRow,
        "cannot say how task groups depend on each other, because no graph was recorded",
        f"task graph · {counted(len(rows), 'group')}, {counted(n_tasks, 'task')}",
        {
            "group": lambda row: names[row[:2]],
            "done": lambda row: row.done,
            "time": lambda row: format_duration(row.seconds),
            "needs": needs,
        },
        [f"dependencies of compute {', '.join(map(str, unknown))} are not known"] if unknown else [],
        is_last_left=True,
    )


def _of_run(recording: RecordedData, run: int, graph: GraphColumns) -> Iterator[GroupRow]:
    """Yield the groups of a compute, each after its dependencies, except in cycles."""
    rows = group_progress(recording, run)
    is_task = np.ones(len(graph.group), np.bool_)
    is_task[graph.data] = False
    needs = _needs(graph, is_task)
    for group in _ordered(sorted(rows), needs):
        row = rows[group]
        counts = row.total + row.skipped, row.finished, row.erred, row.running, row.skipped
        needed = tuple(recording.groups[other].name for other in needs.get(group, ()))
        yield GroupRow(run, recording.groups[group].name, row.prefix, *counts, row.duration_s, needed)


def _needs(graph: GraphColumns, is_task: NDArray[np.bool_]) -> Mapping[int, Sequence[int]]:
    """Return which groups need which others; data are no tasks."""
    by, needed = graph.edge_sources(), graph.edges
    both = is_task[by] & is_task[needed]
    pairs = distinct_pairs(graph.group[by[both]], graph.group[needed[both]])
    found: defaultdict[int, list[int]] = defaultdict(list)
    for group, other in zip(*(groups.tolist() for groups in pairs), strict=True):
        if group != other:
            found[group].append(other)
    return found


def _ordered(groups: Sequence[int], needs: Mapping[int, Sequence[int]]) -> list[int]:
    """Return groups in the order of their numbers, but each after the groups that it needs."""
    placed: dict[int, None] = {}
    for group in groups:
        waiting = {group: None}
        while waiting:
            last = next(reversed(waiting))
            needed = (other for other in needs.get(last, ()) if other not in placed and other not in waiting)
            if (other := next(needed, None)) is None:
                placed[last] = waiting.pop(last)
            else:
                waiting[other] = None
    return list(placed)
