"""The computes of this session and of the history, each as a recording afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from os import PathLike
from pathlib import Path

from taskscope.analysis.quantities import format_count, format_duration, printable
from taskscope.analysis.result import Result, Section, columns_of, plain
from taskscope.errors import OptionError, TaskscopeError
from taskscope.history import current as current_history
from taskscope.history import history_files
from taskscope.model.tables.records import Run, count_runs
from taskscope.recording import Recording, load, recorded
from taskscope.session import current

_HEADER = ("", "when", "took", "tasks", "ended", "label", "cell", "file")


@dataclass(frozen=True, slots=True)
class Compute:
    """One compute of a session, by its number in the order in which they began."""

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
    path: str | None = None
    """The file of the history; None of computes of this session."""
    n_computes: int = 1
    """How many computes these are: beyond 10,000 the oldest are added up, and have no recordings."""

    def recording(self) -> Recording:
        """Return its recording; while it runs, of the rows there are.

        Raises
        ------
        TaskscopeError
            If it is no longer kept.
        """
        return _recording(self.number) if self.path is None else load(self.path)


class ComputeList(Result, tuple[Compute, ...]):
    """Computes, oldest first; it prints as a table."""

    __slots__ = ()

    _none = "no Dask computation was recorded in this session"

    def table(self) -> dict[str, list[object]]:
        """Return a row for each compute, with the fields of `Compute`."""
        return columns_of(self, *Compute.__slots__)

    def to_dict(self) -> dict[str, object]:
        """Return the computes as plain values, ready for JSON."""
        return {"computes": plain(list(self))}

    def sections(self) -> Iterator[Section]:
        """Yield the table."""
        n = len(_HEADER) - all(compute.path is None for compute in self)
        rows = [_row(compute)[:n] for compute in self]
        yield Section("" if rows else self._none, _HEADER[:n] if rows else (), rows, left=n)


class KeptList(ComputeList):
    """The computes of a history, oldest first."""

    _none = "no compute is kept; %taskscope history on keeps long ones"


def runs(*, history: bool | str | PathLike[str] = False) -> ComputeList:
    """Return the computes of this session that are recorded, or of the history, oldest first.

    After ``%load_ext taskscope`` these are all of the kernel, until their tasks are no longer kept
    (`max_tasks`); else the computes of the blocks and widgets that record now.

    Parameters
    ----------
    history
        Return the long computes that ``%taskscope history on`` has kept as files, of any kernel: True for
        the folder beside the notebook, or the one that was set; else the path of a folder. Files that cannot
        be read are left out.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(label="sum", display=False):
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    ...     [(c.label, c.n_tasks, c.status) for c in taskscope.runs()]
    [('sum', 1, 'finished')]
    """
    if history is not False:
        return _kept(current_history().folder if history is True else Path(history).expanduser())
    session = current()
    session.cluster.catch_up()
    recorder = session.recorder
    return ComputeList([_compute(run, recorder.date(run.start_s)) for run in recorder.runs()])


def _compute(run: Run, started_at: datetime, path: str | None = None) -> Compute:
    return Compute(
        run.run,
        run.label,
        run.cell if run.execution_count is None else f"In [{run.execution_count}]",
        run.scheduler,
        started_at,
        run.computing_s if run.stop_s is None or run.n_runs > 1 else run.stop_s - run.start_s,
        run.n_tasks,
        run.status,
        path,
        run.n_runs,
    )


def _kept(folder: Path) -> KeptList:
    found: list[Compute] = []
    for path in history_files(folder):
        # Another kernel may delete it.
        with suppress(TaskscopeError, OSError):
            found += _read(path, path.stat().st_mtime_ns)
    return KeptList(found)


@lru_cache(maxsize=10_000)
def _read(path: Path, _changed_ns: int) -> tuple[Compute, ...]:
    recording = load(path)
    zero = recording.started_at - timedelta(seconds=recording.zero_s)
    return tuple(_compute(run, zero + timedelta(seconds=run.start_s), str(path)) for run in recording.runs)


_WHERE_ELSE = "; after %load_ext taskscope all are recorded, and a block of profile() has its own `recording`"


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
    runs = current().recorder.runs()
    found = [run for run in runs if run.n_runs == 1]
    if len(found) < n:
        hint = "" if current().held else _WHERE_ELSE
        n_runs = f"{count_runs(runs):,} computes" + (
            f" and kept the last {len(found):,}" if found != runs else ""
        )
        raise TaskscopeError(f"last({n}) has none: this session has recorded {n_runs}{hint}")
    return _recording(found[-n].run)


def _recording(number: int) -> Recording:
    session = current()
    found = [run for run in session.recorder.runs(number, number) if run.n_runs == 1]
    if not found:
        raise TaskscopeError(f"compute {number} is no longer kept: max_tasks was reached, or nothing records")
    return recorded(session, found)


def _number(compute: Compute) -> str:
    last = compute.number + compute.n_computes - 1
    return str(compute.number) if compute.n_computes == 1 else f"{compute.number} to {last}"


def _row(compute: Compute) -> tuple[str, ...]:
    when = compute.started_at.astimezone()
    return (
        _number(compute) if compute.path is None else "",
        f"{when:%H:%M:%S}" if compute.path is None else f"{when:%Y-%m-%d %H:%M:%S}",
        format_duration(compute.duration_s),
        format_count(compute.n_tasks),
        compute.status,
        printable(compute.label or "", 40),
        printable(compute.cell or "", 40),
        "" if compute.path is None else printable(compute.path, 200),
    )
