"""What a user holds of what was recorded: its tables, and everything that can be done with them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from os import PathLike
from typing import TYPE_CHECKING, ParamSpec, Protocol, Self

from taskscope.analysis.calls.lines import Lines, lines
from taskscope.analysis.calls.profile import Profile, in_proportion, profile
from taskscope.analysis.cluster import Bandwidth, Spans, bandwidth, spans
from taskscope.analysis.compare import ComparedData, compared
from taskscope.analysis.explain.critical_path import CriticalPath, critical_path
from taskscope.analysis.explain.finding import Explanation
from taskscope.analysis.explain.findings import explain
from taskscope.analysis.explain.what_if import WhatIf, what_if
from taskscope.analysis.memory import MemoryPeak, memory_peak
from taskscope.analysis.summary import summary_text
from taskscope.analysis.task_groups import GroupGraph, group_graph
from taskscope.export.native.reader import load as load_data
from taskscope.export.save import comparison_to_html, save, to_chrome_trace, to_html, to_speedscope
from taskscope.export.tabular import to_csv, to_parquet
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Run
from taskscope.options import Named
from taskscope.report import result_bundle
from taskscope.report.comparison import comparison_bundle
from taskscope.session import Session

if TYPE_CHECKING:
    from bokeh.models import GridPlot

__all__ = ["Comparison", "Recording", "compare", "load", "recorded"]


class Completion(Protocol):
    """What completes a recording of computes that go on in the background."""

    def wait(self, timeout: float | None = None) -> Recording:
        """Return the complete recording."""

    def then(self, callback: Callable[[Recording], None]) -> None:
        """Have `callback` called with the complete recording, at once if it is."""

    def fill(self, due: Recording) -> None:
        """Return once there is something in a recording that was `due`."""


_P = ParamSpec("_P")
_FIELDS = frozenset(field.name for field in fields(RecordedData))


def _writes(
    write: Callable[..., None], like: Callable[_P, None]
) -> Callable[[Callable[[Recording], None]], Callable[_P, None]]:
    """Make a method that calls `write` with the options of another one, also in types and ``help()``."""
    signature = inspect.signature(like)

    def decorate(documented: Callable[[Recording], None]) -> Callable[_P, None]:
        @wraps(documented)
        def method(*arguments: _P.args, **options: _P.kwargs) -> None:
            given = signature.bind(*arguments, **options)
            given.apply_defaults()
            write(*given.args, **given.kwargs)

        method.__signature__ = signature  # type: ignore[attr-defined]  # what inspect looks for
        method.__annotations__ = like.__annotations__
        return method

    return decorate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recording(RecordedData):
    """Everything recorded of one or more computes, immutable.

    Times are seconds after `started_at`. Get a table with `table` or `to_pandas`; :doc:`tables` has them all.
    """

    completion: Completion | None = None
    """What completes it, where a cluster went on with some of it; None where it is complete."""

    @classmethod
    def of(cls, data: RecordedData) -> Self:
        """Return the same tables with everything that can be done with them."""
        return cls(*(getattr(data, field.name) for field in fields(RecordedData)))

    @classmethod
    def due(cls, completion: Completion) -> Self:
        """Return one whose rows are on their way: who reads any of it waits until they are there."""
        recording = object.__new__(cls)
        object.__setattr__(recording, "completion", completion)
        return recording

    def take(self, other: Recording) -> None:
        """Have what another recording has; for one that was `due`."""
        # `completion` is the last field: until it is another, all can be filled again.
        for field in fields(Recording):
            object.__setattr__(self, field.name, getattr(other, field.name))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Wait for what is due; only then are there fields without a value."""
            if name not in _FIELDS:
                text = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(text, name=name, obj=self)
            self.completion.fill(self)
            return object.__getattribute__(self, name)

    def wait(self, timeout: float | None = None) -> Recording:
        """Return the recording of everything that its block began, once that is over.

        A block may leave work on a cluster that it does not wait for (``persist``, ``submit``,
        ``map``); this recording ends with the block. A variable that ``%%profile -o`` has bound is
        bound to the complete one by itself.

        Parameters
        ----------
        timeout
            The most seconds to wait; by default as long as it takes.

        Raises
        ------
        StillRunningError
            If it is not over by then; at once on the thread of a scheduler's event loop
            (``Client(asynchronous=True)``): ``await asyncio.to_thread(recording.wait)`` there.
        OptionError
            If `timeout` is no number of seconds.
        """
        return self if self.completion is None else self.completion.wait(timeout)

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
            Only samples of this time, in seconds after `started_at`, to the nearest second.
        worker
            Only this worker: the number of its process, or its address in a cluster.

        Raises
        ------
        UnknownNameError
            If no task of such a prefix, or on such a worker, was recorded.
        """
        return profile(self, prefix=prefix, start_s=start_s, stop_s=stop_s, worker=worker)

    def lines(
        self, prefix: str | None = None, function: Named | None = None, key: str | None = None
    ) -> Lines:
        """Return which source lines tasks took their time in, in the manner of ``%lprun``.

        Lines of functions that were named beforehand (``profile(lines=[f])``, ``%%profile --lines f``) are
        counted and timed; those of others are estimated from samples of the tasks' call stacks.

        Parameters
        ----------
        prefix
            Only tasks of this prefix.
        function
            Only this function: itself, or its name; of a qualified name (``Class.method``) the end is enough.
        key
            Only the task of this key, as the table ``measured_lines`` has it; of functions that were named.

        Raises
        ------
        UnknownNameError
            If no task of such a prefix was recorded, or no sample saw such a function, or nothing was
            counted in such a task.
        OptionError
            If `function` has no Python code.

        Examples
        --------
        >>> import dask, taskscope
        >>> with taskscope.profile(display=False) as run:
        ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
        >>> run.recording.lines()
        no sample was taken: sampling begins 0.1 s after the first compute unless lines are asked for

        Notes
        -----
        For tasks in threads of this process, in local process pools, and on clusters where lines were
        asked for. A line has the time of what it calls, too. Source text is left out where its file
        has changed since. Sampled lines shorter than a few hundredths of a second are hardly met, and
        without ``lines`` the first tenth of a second is not sampled. Counting is exact, needs Python 3.12
        or later, and costs one to three microseconds a line.
        """
        return lines(self, prefix, function, key)

    def memory_peak(self, worker: str | None = None) -> MemoryPeak:
        """Return the most memory in use and its parts: results, memory before the first task, the rest.

        Parameters
        ----------
        worker
            The address of a worker of a cluster; by default the one with the highest peak.

        Raises
        ------
        UnknownNameError
            If there is no such worker.

        Examples
        --------
        >>> import dask, taskscope
        >>> with taskscope.profile(display=False) as run:
        ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
        >>> peak = run.recording.memory_peak()
        >>> round(sum(part.nbytes for part in peak.parts)) == round(peak.peak_bytes)
        True

        Notes
        -----
        All parts are measured: results as Dask measures them (`dask.sizeof`), until the next compute begins;
        the process before the first task; the rest is what remains of the peak. On Linux the peak is the
        kernel's own; elsewhere, with child processes, and of workers it is the largest sample.
        """
        return memory_peak(self, worker)

    def bandwidth(self) -> Bandwidth:
        """Return how fast results went between each two workers of a cluster.

        Examples
        --------
        >>> import dask, taskscope
        >>> with taskscope.profile(display=False) as run:
        ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
        >>> run.recording.bandwidth()
        cannot say how fast results went between workers, because nothing ran on a cluster

        Notes
        -----
        From the workers' own logs (the table ``transfers``). The rate of one transfer is the one that
        distributed's page shows; where several go on at a time, the link moved more:
        `together_bytes_per_s`. A transfer ends when the receiver has the data as objects, so the rate
        of small results is not the network's.
        """
        return bandwidth(self)

    def spans(self) -> Spans:
        """Return the number, time and CPU time of the tasks of each ``distributed.span``.

        Examples
        --------
        >>> import dask, taskscope
        >>> with taskscope.profile(display=False) as run:
        ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
        >>> run.recording.spans()
        no spans, because nothing ran on a cluster

        Notes
        -----
        The scheduler puts a whole task group into one span, see the column ``span`` of the table ``tasks``.
        """
        return spans(self)

    def group_graph(self, run: int | None = None) -> GroupGraph:
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
        return group_graph(self, run)

    def critical_path(self, run: int | None = None) -> CriticalPath:
        """Return what set the makespan: a chain of tasks, and of waits with their causes.

        Parameters
        ----------
        run
            The number of a compute; by default all of them, with the time between them.

        Returns
        -------
        CriticalPath
            Its steps add up to the makespan, exactly in whole nanoseconds. ``slack_s`` has, for each row of
            the table ``tasks``, by how much it could have ended later. It prints as text.

        Raises
        ------
        UnknownNameError
            If there is no such compute.

        Examples
        --------
        >>> import dask, taskscope
        >>> with taskscope.profile(display=False) as run:
        ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
        >>> path = run.recording.critical_path()
        >>> [step.prefix for step in path.steps if step.kind == "task"]
        ['sum']
        >>> int(path.steps_ns.sum()) == path.makespan_ns
        True

        Notes
        -----
        A task is taken to have waited for the latest of those that it needs, or, if that ended later, for the
        one before in its lane. Linear in tasks and dependencies: about two seconds of CPU time for a million.
        """
        return critical_path(self, run)

    def what_if(
        self,
        workers: int | None = None,
        speed: Mapping[str, float] | None = None,
        without: str | Collection[str] | None = None,
        *,
        run: int | None = None,
    ) -> WhatIf:
        """Return what the makespan would have been with other workers, or with other durations.

        Parameters
        ----------
        workers
            How many tasks can run at a time; as many as could by default.
        speed
            By prefix, how many times faster its tasks are: ``{"load": 2.0}`` halves their durations.
        without
            Prefixes (or one) whose tasks take no time at all.
        run
            The number of a compute; by default all of them, with the time between them as it was.

        Returns
        -------
        WhatIf
            An estimate with a band, in seconds, bounds, and what limits it; or why nothing can be said. It
            prints as text.

        Raises
        ------
        OptionError
            If `workers` or a speed is not positive.
        UnknownNameError
            If there is no such prefix or compute.

        Examples
        --------
        >>> import dask, taskscope
        >>> with taskscope.profile(display=False) as run:
        ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
        >>> case = run.recording.what_if(speed={"sum": 2.0})
        >>> case.makespan_s <= case.recorded_s
        True

        Notes
        -----
        The recorded graph is run again in Dask's order: with its own schedulers the task runs first
        that became ready last; on a cluster tasks keep their workers where the number is the same.
        Waits that were not for a worker stay. The band is from durations drawn again within prefixes
        (up to 200 times; seeded), and wider by as much as a replay of what was recorded is off. Tasks
        that burn CPU get no faster by workers beyond the cores, nor, where they were seen to take
        turns, beyond the interpreter's lock; where that is not known the upper end allows for it.
        Memory and disks are taken to be no limit.
        """
        return what_if(self, workers, speed, without, run)

    def explain(self, run: int | None = None) -> Explanation:
        """Return why it took as long as it did: causes with evidence, the most worth first.

        Parameters
        ----------
        run
            The number of a compute; by default all of them, with the time between them.

        Returns
        -------
        Explanation
            Findings that are worth at least 5 % of the makespan and 50 ms, each with what it is worth in
            seconds, an estimate, and what to do; or why nothing can be said. It prints as text.

        Raises
        ------
        UnknownNameError
            If there is no such compute.

        Examples
        --------
        >>> import dask, taskscope
        >>> with taskscope.profile(display=False) as run:
        ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
        >>> run.recording.explain().reason is None
        True

        Notes
        -----
        Looked for are `taskscope.analysis.explain.finding.Cause`. What a finding is worth is the
        difference of two replays (see `what_if`), or time measured on the critical path. Findings may
        overlap.
        """
        return explain(self, run)

    def summary(self) -> str:
        """Return the text face of the recording."""
        return summary_text(self)

    def plot(
        self, *, theme: str = "light", palette: str | Sequence[str] | None = None, **options: object
    ) -> GridPlot:
        """Return Bokeh figures on one time axis: tasks, CPU and memory, and results in memory.

        They are as wide as their place; show them with ``bokeh.io.show``, after
        ``bokeh.io.output_notebook()`` in a notebook.

        Parameters
        ----------
        theme
            ``"light"`` (default) or ``"dark"``.
        palette
            The name of a Bokeh palette, or colours, that prefixes take in turn; taskscope's own by default.
        **options
            Attributes of all Bokeh figures, such as ``height`` or ``title``, which override taskscope's.

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
        was busy.
        """
        from taskscope.charts import plot

        return plot(self, theme=theme, palette=palette, **options)

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
        MissingDependencyError
            If it is ``.parquet``, and pyarrow is not installed (``pip install 'taskscope[parquet]'``).
        """
        save(self, path, overwrite=overwrite, redact=redact)

    @_writes(to_html, like=save)
    def to_html(self) -> None:
        """Write one page that needs neither kernel nor network: picture, table, and the interactive chart.

        Parameters and errors are those of `save`. Times are rounded to a microsecond, CPU shares to 0.4 %.
        """

    @_writes(to_chrome_trace, like=save)
    def to_chrome_trace(self) -> None:
        """Write a JSON trace that Perfetto (ui.perfetto.dev) and ``chrome://tracing`` open.

        Lanes are threads; CPU, memory and what the scheduler held are counters; dependencies are arrows.
        Parameters and errors are those of `save`.
        """

    @_writes(to_speedscope, like=save)
    def to_speedscope(self) -> None:
        """Write the sampled call stacks for speedscope (speedscope.app), a profile for each worker.

        The outermost frame of each stack is the prefix of the task, and the weight of a stack is the time
        that its samples stand for, an estimate. Stacks are in the order of time to the nearest second.
        Parameters and errors are those of `save`.

        Raises
        ------
        OptionError
            If no call stacks were sampled.
        """

    def to_parquet(
        self,
        directory: str | PathLike[str],
        *,
        overwrite: bool = False,
        redact: bool | Callable[[str], str] = False,
    ) -> None:
        """Write every table as a Parquet file of its name into a directory, which is made if need be.

        Where no cluster was watched, ``activities`` has one row for each task, its compute. Parameters and
        errors are those of `save`.
        """
        to_parquet(self, directory, overwrite=overwrite, redact=redact)

    @_writes(to_csv, like=to_parquet)
    def to_csv(self) -> None:
        """Write every table as a CSV file of its name into a directory, which is made if need be.

        Where no cluster was watched, ``activities`` has one row for each task, its compute. Parameters and
        errors are those of `save`. What is unknown is left empty, and text that a spreadsheet would take for
        a formula gets an apostrophe in front.
        """

    @classmethod
    def load(cls, path: str | PathLike[str], *, partial: bool = False) -> Recording:
        """Return the recording in a ``.taskscope`` file; see `taskscope.load`."""
        return load(path, partial=partial)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the static result, which a notebook shows where a cell's last value is a recording."""
        return result_bundle(self)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(ComparedData):
    """Two recordings side by side; made by `compare`."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return text, and HTML with both Gantt charts, for a cell whose last value this is."""
        return comparison_bundle(self)

    def to_html(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write one page that needs no network: both Gantt charts on one scale, and the comparison as tables.

        Parameters and errors are those of `taskscope.Recording.save`. Credentials in URLs are hidden.
        """
        comparison_to_html(self, path, overwrite=overwrite)


def recorded(session: Session, runs: Sequence[Run]) -> Recording:
    """Return what a session has of computes that follow each other, of which there is at least one."""
    recorder = session.recorder
    labels = {run.label for run in runs}
    stops = [recorder.now_s() if run.stop_s is None else run.stop_s for run in runs]
    recording = recorder.snapshot(
        runs[0].run,
        runs[-1].run,
        start_s=min(run.start_s for run in runs),
        stop_s=max(stops),
        metadata={**session.metadata(), "label": labels.pop() if len(labels) == 1 else None},
    )
    return Recording.of(in_proportion(recording))


def compare(before: Recording, after: Recording) -> Comparison:
    """Return what changed from one recording to the other: per prefix and in total.

    Parameters
    ----------
    before, after
        The recordings; the result is shown as text, in a notebook as tables and charts, and has `to_pandas`.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> [row.kind for row in taskscope.compare(run.recording, run.recording).prefixes]
    ['both']

    Notes
    -----
    The interval is that of a percentile bootstrap over tasks (1,000 resamples, of at most 2,000 tasks drawn
    from each side). It takes tasks for independent, and knows nothing of what differs from run to run: two
    recordings of the same code can differ clearly. Makespan and memory are one number per recording, so they
    have no interval.
    """
    data = compared(before, after)
    return Comparison(*(getattr(data, field.name) for field in fields(data)))


def load(path: str | PathLike[str], *, partial: bool = False, max_bytes: int | None = None) -> Recording:
    """Return the recording in a ``.taskscope`` file; never runs code, whatever the file holds.

    Parameters
    ----------
    path
        The file.
    partial
        Return what stands before the damage of a damaged file, instead of raising.
    max_bytes
        Most bytes that may be made of the file, by default 64 MiB and 256 times its size; what is more is
        refused before it is unpacked.

    Raises
    ------
    FileError
        If the file cannot be read.
    DamagedFileError
        If it is damaged, of another tool or of a newer version, or more would be made of it than `max_bytes`.

    Notes
    -----
    A file that ends early, because its process was killed or because a copy was cut off, is no error: what
    it holds is returned, with ``metadata["truncated"]`` and a message that says so. What is returned with
    `partial` is marked in the same way.
    """
    return Recording.of(load_data(path, partial=partial, max_bytes=max_bytes))
