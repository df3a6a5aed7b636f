"""What was recorded, immutable: the value that every face of taskscope shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import MissingDependencyError, UnknownNameError, unknown_name
from taskscope.model.activities import NO_ACTIVITIES, ActivityColumns, Transfer
from taskscope.model.columns import GraphColumns, RowBlock
from taskscope.model.faces import face
from taskscope.model.held import NO_HELD, HeldRows
from taskscope.model.keys import KeyBlock
from taskscope.model.records import Group, GroupTotal, Lane, Message, Run, TaskBlock
from taskscope.model.resources import ResourceRows
from taskscope.model.rows import Part, join_rows
from taskscope.model.stacks import NO_STACKS, StackColumns
from taskscope.model.tables import TABLES, Columns, build_table
from taskscope.model.workers import WorkerSample

if TYPE_CHECKING:
    import pandas as pd
    from bokeh.models import GridPlot

    from taskscope.analysis.profile import Profile

__all__ = ["Recording"]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Everything recorded of one or more computes.

    Times are seconds after `started_at`. Get a table with `table` or `to_pandas`; :doc:`tables` has them all.

    Parameters
    ----------
    started_at
        The zero of all times, in UTC.
    zero_s
        The same zero on the recorder's axis; rows and graphs are kept on that axis and shifted when read.
    runs, groups, lanes, messages
        The small tables, as records.
    blocks, graphs
        The large ones, as columns.
    resources
        Samples of CPU and memory.
    totals
        Exact totals per group over all that the recorder ever saw.
    now_s
        When the snapshot was taken, on the recorder's axis.
    dropped
        How many tasks of these runs are no longer held.
    metadata
        Versions, host, cores, limits, options.
    stacks
        Samples of what worker threads were doing; see `profile`.
    activities
        What workers of a cluster did for tasks besides computing them.
    transfers
        What workers of a cluster logged of the data they sent to each other.
    workers
        What workers of a cluster said of their CPU and memory.
    holdings
        What workers of a cluster were seen to hold; on the recorder's axis.
    unknown
        Names of tables, and ``stacks``, of which a file has nothing or not all, because its process was
        killed or its end is missing. Any other one that is empty was seen to be empty.
    """

    started_at: datetime
    zero_s: float
    runs: tuple[Run, ...]
    groups: tuple[Group, ...]
    lanes: tuple[Lane, ...]
    blocks: tuple[RowBlock, ...]
    graphs: Mapping[int, GraphColumns]
    resources: ResourceRows
    messages: tuple[Message, ...]
    totals: tuple[GroupTotal, ...]
    now_s: float
    dropped: int
    metadata: Mapping[str, object]
    stacks: StackColumns = NO_STACKS
    activities: ActivityColumns = NO_ACTIVITIES
    transfers: tuple[Transfer, ...] = ()
    workers: tuple[WorkerSample, ...] = ()
    holdings: HeldRows = NO_HELD
    unknown: frozenset[str] = frozenset()

    @property
    def tasks(self) -> TaskBlock:
        """All tasks, with times after `started_at`; computed on each access.

        A task that was in flight at the snapshot stops at the snapshot: with status ``interrupted`` where
        its compute was over, else ``running``.
        """
        return join_rows([self._part(block) for block in self.blocks], self.zero_s)

    def _part(self, block: RowBlock) -> Part:
        graph = self.graphs[block.run]
        return block, _Identifier(graph), graph.errors

    def table(self, name: str) -> Columns:
        """Return a table as a mapping of column names to equally long arrays or lists.

        Parameters
        ----------
        name
            One of ``runs tasks activities transfers resources workers cache holdings dependencies messages``.

        Raises
        ------
        UnknownNameError
            If there is no such table.
        """
        if name not in TABLES:
            raise UnknownNameError(unknown_name("table", name, TABLES))
        return build_table(self, name)

    def to_pandas(self, name: str) -> pd.DataFrame:
        """Return a table as a pandas DataFrame.

        Parameters
        ----------
        name
            One of ``runs tasks activities transfers resources workers cache holdings dependencies messages``.

        Raises
        ------
        UnknownNameError
            If there is no such table.
        MissingDependencyError
            If pandas is not installed.
        """
        columns = self.table(name)
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError("to_pandas needs pandas; install it: pip install pandas") from error
        return pd.DataFrame(dict(columns))

    def profile(
        self,
        prefix: str | None = None,
        start_s: float | None = None,
        stop_s: float | None = None,
        worker: str | None = None,
    ) -> Profile:
        """Return what the worker threads were doing, from samples of their call stacks.

        Parameters
        ----------
        prefix
            Only tasks of this prefix.
        start_s, stop_s
            Only samples of this time, in seconds after `started_at`, to the nearest cycle (one second, where
            nothing else was asked for).
        worker
            Only this worker: the number of its process, or its address in a cluster.

        Raises
        ------
        UnknownNameError
            If no task of such a prefix, or on such a worker, was recorded.
        """
        found: Profile = face("profile")(self, prefix=prefix, start_s=start_s, stop_s=stop_s, worker=worker)
        return found

    def summary(self) -> str:
        """Return the text face of the recording."""
        text: str = face("summary_text")(self)
        return text

    def plot(
        self, *, theme: str = "light", palette: str | Sequence[str] | None = None, **options: object
    ) -> GridPlot:
        """Return Bokeh figures on one time axis: the tasks, CPU and memory, and what the scheduler held.

        They are as wide as the place they are shown in; show them with ``bokeh.io.show``, after
        ``bokeh.io.output_notebook()`` in a notebook.

        Parameters
        ----------
        theme
            ``"light"`` (default) or ``"dark"``: the ground they are drawn for.
        palette
            The name of a Bokeh palette, or colours, that prefixes take in turn; taskscope's own by default.
        **options
            Attributes of all Bokeh figures, such as ``height`` or ``title``, which win over ours.

        Returns
        -------
        GridPlot
            A column of one to three figures: what was not recorded is left out.

        Raises
        ------
        MissingDependencyError
            If Bokeh is not installed.
        OptionError
            If there is no such theme or palette.
        AttributeError
            If Bokeh's figures have no attribute of the name of an option.

        Notes
        -----
        Beyond 10,000 tasks the first figure is a picture, in which each column of a lane is as opaque as it
        was busy, and says so. What was not sampled is left open.
        """
        layout: GridPlot = face("plot")(self, theme=theme, palette=palette, **options)
        return layout

    def save(
        self,
        path: str | PathLike[str],
        *,
        overwrite: bool = False,
        redact: bool | Callable[[str], str] = False,
    ) -> None:
        """Write the recording to a file in the format of its extension.

        Parameters
        ----------
        path
            Where to; ``.taskscope`` is the format that `taskscope.load` reads back.
        overwrite
            Replace a file that exists; without it that is an error.
        redact
            True: names of keys, groups, labels and threads are replaced by numbers. A function gives each
            name its replacement. Credentials in URLs never reach a file.

        Raises
        ------
        FileError
            If the file cannot be written, or exists and `overwrite` is false.
        OptionError
            If the extension is not a known one.
        """
        face("save")(self, path, overwrite=overwrite, redact=redact)

    def to_html(
        self,
        path: str | PathLike[str],
        *,
        overwrite: bool = False,
        redact: bool | Callable[[str], str] = False,
    ) -> None:
        """Write one page that needs neither kernel nor network: picture, table, and the interactive chart.

        Parameters and errors are those of `save`. Times are rounded to a microsecond, CPU shares to 0.4 %.
        """
        face("to_html")(self, path, overwrite=overwrite, redact=redact)

    def to_chrome_trace(
        self,
        path: str | PathLike[str],
        *,
        overwrite: bool = False,
        redact: bool | Callable[[str], str] = False,
    ) -> None:
        """Write a JSON trace that Perfetto (ui.perfetto.dev) and ``chrome://tracing`` open.

        Lanes are threads; CPU, memory and what the scheduler held are counters; dependencies are arrows.
        Parameters and errors are those of `save`.
        """
        face("to_chrome_trace")(self, path, overwrite=overwrite, redact=redact)

    def to_speedscope(
        self,
        path: str | PathLike[str],
        *,
        overwrite: bool = False,
        redact: bool | Callable[[str], str] = False,
    ) -> None:
        """Write the sampled call stacks for speedscope (speedscope.app), a profile for each worker.

        The outermost frame of each stack is the prefix of the task, and the weight of a stack is the time
        that its samples stand for, an estimate. Stacks are in the order of time to the nearest cycle, of
        which `profile_cycle` is the length. Parameters and errors are those of `save`.

        Raises
        ------
        OptionError
            If no call stacks were sampled.
        """
        face("to_speedscope")(self, path, overwrite=overwrite, redact=redact)

    def to_parquet(
        self,
        directory: str | PathLike[str],
        *,
        overwrite: bool = False,
        redact: bool | Callable[[str], str] = False,
    ) -> None:
        """Write every table as a Parquet file of its name into a directory, which is made if need be.

        Where no cluster was watched, ``activities`` has one row for each task, its compute. Parameters and
        errors are those of `save`; needs PyArrow.
        """
        face("to_parquet")(self, directory, overwrite=overwrite, redact=redact)

    def to_csv(
        self,
        directory: str | PathLike[str],
        *,
        overwrite: bool = False,
        redact: bool | Callable[[str], str] = False,
    ) -> None:
        """Write every table as a CSV file of its name into a directory, which is made if need be.

        Where no cluster was watched, ``activities`` has one row for each task, its compute. Parameters and
        errors are those of `save`. What is unknown is left empty, and text that a spreadsheet would take for
        a formula gets an apostrophe in front.
        """
        face("to_csv")(self, directory, overwrite=overwrite, redact=redact)

    @classmethod
    def load(cls, path: str | PathLike[str], *, partial: bool = False) -> Recording:
        """Return the recording in a ``.taskscope`` file; see `taskscope.load`."""
        recording: Recording = face("load")(path, partial=partial)
        return recording

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the static result, which a notebook shows where a cell's last value is a recording."""
        bundle: dict[str, str] = face("result_bundle")(self)
        return bundle

    def __repr__(self) -> str:
        """Return one line that says what is in it."""
        n_tasks = sum(map(len, self.blocks))
        states = ", ".join(sorted({r.status for r in self.runs})) or "empty"
        dropped = f", {self.dropped:,} dropped" if self.dropped else ""
        return f"<Recording: {len(self.runs)} runs ({states}), {n_tasks:,} tasks{dropped}>"


class _Identifier:
    def __init__(self, graph: GraphColumns) -> None:
        self._graph = graph

    def __call__(self, tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]:
        return self._graph.group[tasks], self._graph.keys.take(tasks)
