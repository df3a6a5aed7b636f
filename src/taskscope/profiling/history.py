"""The computes of this session, each as a recording afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from taskscope.analysis.quantities import format_count, format_duration, printable
from taskscope.analysis.result import Result, Section, columns_of, plain
from taskscope.errors import OptionError, TaskscopeError
from taskscope.recording import Recording, recorded
from taskscope.session import current

_HEADER = ("", "when", "took", "tasks", "ended", "label", "cell")


@dataclass(frozen=True, slots=True)
class Compute:
    """One compute of this session, by its number in the order in which they began."""

    number: int
    label: str | None
    cell: str | None
    """The notebook's id of the cell that computed it, else ``In [n]``."""
    scheduler: str | None
    started_at: datetime
    """In UTC."""
    duration_s: float | None
    """None while it runs."""
    n_tasks: int
    status: str

    def recording(self) -> Recording:
        """Return its recording; while it runs, of the rows there are.

        Raises
        ------
        TaskscopeError
            If it is no longer kept.
        """
        return _recording(self.number)


class ComputeList(Result, tuple[Compute, ...]):
    """The computes of this session, oldest first; it prints as a table."""

    __slots__ = ()

    def table(self) -> dict[str, list[object]]:
        """Return a row for each compute, with the fields of `Compute`."""
        return columns_of(self, *Compute.__slots__)

    def to_dict(self) -> dict[str, object]:
        """Return the computes as plain values, ready for JSON."""
        return {"computes": plain(list(self))}

    def sections(self) -> Iterator[Section]:
        """Yield the table."""
        rows = [_row(compute) for compute in self]
        none = "" if rows else "no Dask computation was recorded in this session"
        yield Section(none, _HEADER if rows else (), rows, left=len(_HEADER))


def runs() -> ComputeList:
    """Return the computes of this session that are recorded, oldest first.

    After ``%load_ext taskscope`` these are all of the kernel, until their tasks are no longer kept
    (`max_tasks`); else the computes of the blocks and widgets that record now.

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
    return ComputeList(
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
            for run in session.recorder.runs()
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
    found = current().recorder.runs()
    if len(found) < n:
        hint = "" if current().held else "; after %load_ext taskscope all computes are recorded"
        raise TaskscopeError(f"computes that are recorded in this session: {len(found)}{hint}")
    return _recording(found[-n].run)


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
