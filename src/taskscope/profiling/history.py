"""The computes of this session, each as a recording afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import overload

from taskscope.analysis.quantities import format_count, format_duration, printable
from taskscope.errors import OptionError, TaskscopeError
from taskscope.model.tables.records import Run
from taskscope.recording import Recording, recorded
from taskscope.session import current

_HEADER = ("", "when", "took", "tasks", "ended", "label", "cell")


@dataclass(frozen=True, slots=True)
class Compute:
    """One compute of this session.

    Parameters
    ----------
    number
        Its number, in the order in which they began.
    label
        What the user called it.
    cell
        The notebook's id of the cell that asked for it, else ``In [n]``.
    scheduler
        What computed it.
    started_at
        When it began, in UTC.
    duration_s
        How long it took; None while it runs.
    n_tasks
        How many tasks it had to run.
    status
        How it ended, ``running`` before.
    """

    number: int
    label: str | None
    cell: str | None
    scheduler: str | None
    started_at: datetime
    duration_s: float | None
    n_tasks: int
    status: str

    def recording(self) -> Recording:
        """Return what was recorded of it; so far, while it runs.

        Raises
        ------
        TaskscopeError
            If it is not held any more.
        """
        return _recording(self.number)


class Computes(Sequence[Compute]):
    """The computes of this session, oldest first; it prints as a table."""

    def __init__(self, computes: Sequence[Compute]) -> None:
        self._computes = tuple(computes)

    @overload
    def __getitem__(self, place: int) -> Compute: ...
    @overload
    def __getitem__(self, place: slice) -> Computes: ...
    def __getitem__(self, place: int | slice) -> Compute | Computes:
        """Return one by its place, or some of them."""
        found = self._computes[place]
        return found if isinstance(found, Compute) else Computes(found)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._computes)

    def __repr__(self) -> str:
        """Return them as a table."""
        if not self._computes:
            return "no Dask computation was recorded in this session"
        rows = [_HEADER, *(_row(compute) for compute in self._computes)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADER))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows
        ]
        return "\n".join(line.rstrip() for line in lines)


def runs() -> Computes:
    """Return the computes of this session that are recorded, oldest first.

    After ``%load_ext taskscope`` these are all of the kernel, until their tasks are no longer kept
    (`max_tasks`); else those of the blocks and widgets that record now.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(label="sum", display=False):
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    ...     [(c.label, c.n_tasks, c.status) for c in taskscope.runs()]
    [('sum', 1, 'finished')]
    """
    session = current()
    session.cluster.catch_up()
    started_at = session.recorder.started_at
    return Computes(
        [
            Compute(
                run.run,
                run.label,
                run.cell if run.execution_count is None else f"In [{run.execution_count}]",
                run.scheduler,
                started_at + timedelta(seconds=run.start_s),
                None if run.stop_s is None else run.stop_s - run.start_s,
                run.n_tasks,
                run.status,
            )
            for run in _runs()
        ]
    )


def last(n: int = 1) -> Recording:
    """Return the recording of the last compute of this session, or of the `n`-th from the end.

    Parameters
    ----------
    n
        1 is the last one.

    Raises
    ------
    OptionError
        If `n` is not a positive whole number.
    TaskscopeError
        If so many are not recorded.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(label="sum", display=False):
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    ...     list(taskscope.last().table("tasks")["prefix"])
    ['sum']
    """
    if type(n) is not int or n < 1:
        raise OptionError(f"n must be 1 for the last compute, 2 for the one before, and so on; got {n!r}")
    current().cluster.catch_up()
    found = _runs()
    if len(found) < n:
        hint = "" if current().held else "; %load_ext taskscope records all from then on"
        raise TaskscopeError(f"computes that are recorded in this session: {len(found)}{hint}")
    return _recording(found[-n].run)


def _runs() -> list[Run]:
    return current().recorder.runs()


def _recording(number: int) -> Recording:
    session = current()
    found = session.recorder.runs(number, number)
    if not found:
        raise TaskscopeError(f"compute {number} is no longer kept: max_tasks was reached, or nothing records")
    return recorded(session, found)


def _row(compute: Compute) -> tuple[str, ...]:
    return (
        str(compute.number),
        f"{compute.started_at.astimezone():%H:%M:%S}",
        format_duration(compute.duration_s),
        format_count(compute.n_tasks),
        compute.status,
        printable(compute.label or "", 40),
        printable(compute.cell or "", 40),
    )
