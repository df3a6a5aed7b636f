"""The graph of a compute by task groups: how many tasks each has, how far they are, which groups it needs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import format_count, format_duration, plural, printable
from taskscope.analysis.result import Result, Section, columns_of
from taskscope.analysis.totals import group_progress
from taskscope.errors import UnknownNameError
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import GraphColumns

_MAX_SHOWN = 40
_NAME_WIDTH = 32
_MAX_NEEDED = 4


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """One task group of one compute.

    `n_tasks` leaves out data that the graph holds; each task counts in the state of its last end. Skipped
    tasks did not have to run, because a cluster had their results, or those of their dependents. `seconds`
    is the sum of all executions, `needs` are other groups whose results its tasks need, and `layer` is the
    longest way to it from a group without needs.
    """

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
    layer: int

    @property
    def done(self) -> float:
        """The part of its tasks that has finished or does not have to run, 0 to 1."""
        return (self.n_finished + self.n_skipped) / self.n_tasks


@dataclass(frozen=True, slots=True, repr=False)
class GroupGraph(Result):
    """The graphs of computes by task groups, each group after its dependencies.

    `reason` is why there is none.
    """

    groups: tuple[GroupProgress, ...]
    reason: str | None
    notes: tuple[str, ...]

    def table(self) -> dict[str, list[object]]:
        """Return a row for each group, with the fields of `GroupProgress`."""
        return columns_of(self.groups, *GroupProgress.__slots__)

    def sections(self) -> Iterator[Section]:
        """Yield a table of the groups, dependencies first."""
        if self.reason is not None:
            yield Section(f"cannot say how task groups depend on each other, because {self.reason}")
            return
        n_groups, n_tasks = len(self.groups), sum(of.n_tasks for of in self.groups)
        names, n_more = _short(self.groups), n_groups - _MAX_SHOWN
        yield Section(
            f"task graph · {format_count(n_groups)} {plural('group', n_groups)}, "
            f"{format_count(n_tasks)} {plural('task', n_tasks)}",
            ("group", "done", "time", "needs"),
            [_row(of, names) for of in self.groups[:_MAX_SHOWN]],
            (*([f"{n_more:,} more groups are in to_pandas()"] if n_more > 0 else []), *self.notes),
            is_last_left=True,
        )


def group_graph(recording: RecordedData, run: int | None = None) -> GroupGraph:
    """Return the graph by task groups: how many tasks each has, how far they are, which groups it needs.

    Of a block that has not ended ``run.recording.group_graph()`` has the present state.

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
    >>> [(of.prefix, of.n_finished, len(of.needs)) for of in run.recording.group_graph().groups]
    [('sum', 2, 0), ('max', 1, 1)]
    """
    known = {of.run: of for of in recording.runs}
    if run is not None and run not in known:
        raise UnknownNameError(f"unknown compute {run!r}; known: {', '.join(map(str, known)) or 'none'}")
    graphs = {n: g for n, g in recording.graphs.items() if n in known and run in (None, n)}
    groups = tuple(of for number, graph in graphs.items() for of in _of_run(recording, number, graph))
    unknown = [number for number, graph in graphs.items() if not graph.known]
    unsaid = f"dependencies of compute {', '.join(map(str, unknown))} are not known" if unknown else None
    reason = None if groups else "no graph was recorded"
    return GroupGraph(groups, reason, () if unsaid is None else (unsaid,))


def _of_run(recording: RecordedData, run: int, graph: GraphColumns) -> Iterator[GroupProgress]:
    """Yield the groups of a compute, each after its dependencies, except in cycles."""
    rows = group_progress(recording, run)
    is_task = np.ones(len(graph.group), np.bool_)
    is_task[graph.data] = False
    needs = _needs(graph, is_task)
    for group, layer in _layers(sorted(rows), needs).items():
        row = rows[group]
        yield GroupProgress(
            run=run,
            group=recording.groups[group].name,
            prefix=row.prefix,
            n_tasks=row.total + row.skipped,
            n_finished=row.finished,
            n_erred=row.erred,
            n_running=row.running,
            n_skipped=row.skipped,
            seconds=row.duration_s,
            needs=tuple(recording.groups[other].name for other in needs.get(group, ())),
            layer=layer,
        )


def _needs(graph: GraphColumns, is_task: NDArray[np.bool_]) -> Mapping[int, Sequence[int]]:
    """Return which groups need which others; data are no tasks."""
    by, needed = graph.edge_sources(), graph.edges
    both = is_task[by] & is_task[needed]
    pairs = np.unique(np.column_stack([graph.group[by[both]], graph.group[needed[both]]]), axis=0)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for group, other in pairs.tolist():
        if group != other:
            found[group].append(other)
    return found


def _layers(groups: Sequence[int], needs: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Return the layer of each group, dependencies first.

    In a circle of groups, the one with the fewest remaining dependencies is first.
    """
    left = {group: set(needs.get(group, ())) for group in groups}
    dependents: defaultdict[int, list[int]] = defaultdict(list)
    for group, others in left.items():
        for other in others:
            dependents[other].append(group)
    layers: dict[int, int] = {}
    ready = [group for group, others in left.items() if not others]
    while left:
        group = ready.pop(0) if ready else min(left, key=lambda g: len(left[g]))
        del left[group]
        layers[group] = 1 + max(
            (layers[other] for other in needs.get(group, ()) if other in layers), default=-1
        )
        for dependent in dependents[group]:
            if dependent in left:
                left[dependent].discard(group)
                if not left[dependent]:
                    ready.append(dependent)
    return layers


def _short(groups: Sequence[GroupProgress]) -> Mapping[tuple[int, str], str]:
    """Return what groups are called in text: by prefix where one group of the compute alone has it."""
    counts = Counter((of.run, of.prefix) for of in groups)
    return {
        (of.run, of.group): printable(of.prefix if counts[of.run, of.prefix] == 1 else of.group, _NAME_WIDTH)
        for of in groups
    }


def _row(of: GroupProgress, names: Mapping[tuple[int, str], str]) -> tuple[str, str, str, str]:
    done = f"{format_count(of.n_finished)} of {format_count(of.n_tasks - of.n_skipped)}"
    extras = [(of.n_erred, "failed"), (of.n_running, "running"), (of.n_skipped, "skipped")]
    done += "".join(f", {format_count(n)} {word}" for n, word in extras if n)
    needs = ", ".join(names[of.run, name] for name in of.needs[:_MAX_NEEDED])
    if len(of.needs) > _MAX_NEEDED:
        needs += f" and {len(of.needs) - _MAX_NEEDED:,} more"
    return names[of.run, of.group], done, format_duration(of.seconds), needs
