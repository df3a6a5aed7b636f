"""Recordings as users have them: tables, analyses, files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Protocol, Self

from taskscope.analysis import calls, code_lines, memory, story
from taskscope.analysis import summary as summaries
from taskscope.analysis.compare import ComparedData, compared
from taskscope.analysis.explain import critical_path as paths
from taskscope.analysis.explain import findings
from taskscope.analysis.explain import what_if as cases
from taskscope.errors import OptionError
from taskscope.export import tabular
from taskscope.export.native.reader import load as load_data
from taskscope.export.save import comparison_to_html
from taskscope.export.save import save as _save
from taskscope.export.save import to_html as _to_html
from taskscope.export.save import to_perfetto as _to_perfetto
from taskscope.export.save import to_speedscope as _to_speedscope
from taskscope.export.saved import SavedFile
from taskscope.model.recording import RecordedData, own_groups_and_lanes
from taskscope.model.tables.records import Run
from taskscope.report import result_bundle
from taskscope.report.comparison import comparison_bundle
from taskscope.report.text import report_text
from taskscope.session import Session

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM

__all__ = ["Comparison", "Recording", "compare", "load", "recorded"]


class Completion(Protocol):
    """The block that completes a recording whose computes go on in the background."""

    def wait(self, timeout: float | None = None) -> Recording:
        """Return the complete recording."""

    def then(self, callback: Callable[[Recording], None]) -> None:
        """Call `callback` with the complete recording, at once if it is complete."""

    def fill(self, due: Recording) -> None:
        """Return once there is something in a recording that was `due`."""


_FIELDS = frozenset(field.name for field in fields(RecordedData))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recording(RecordedData):
    """Everything recorded of one or more computes, immutable.

    Times are seconds after `started_at`. Get a table with `table` or `to_pandas`; :doc:`tables` has them all.
    """

    completion: Completion | None = None
    """The block that completes it, if computes went on after its end; None where it is complete."""

    @classmethod
    def of(cls, data: RecordedData) -> Self:
        """Return the same tables, with no groups and lanes but their own, and what can be done with them."""
        own = own_groups_and_lanes(data)
        return cls(*(getattr(own, field.name) for field in fields(RecordedData) if field.init))

    @classmethod
    def due(cls, completion: Completion) -> Self:
        """Return a recording whose rows have not arrived; reading it waits for them."""
        recording = object.__new__(cls)
        object.__setattr__(recording, "completion", completion)
        return recording

    def take(self, other: Recording) -> None:
        """Set the fields of another recording; for one that was `due`."""
        # `completion` is the last field: until it is another, all can be filled again.
        for field in fields(Recording):
            object.__setattr__(self, field.name, getattr(other, field.name))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Wait for the rows of a recording that is `due`, which has fields without a value."""
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
            If it is not over after that time; at once on the thread of a scheduler's event loop
            (``Client(asynchronous=True)``): ``await asyncio.to_thread(recording.wait)`` there.
        OptionError
            If `timeout` is no number of seconds.
        """
        return self if self.completion is None else self.completion.wait(timeout)

    profile = calls.profile
    lines = code_lines.lines
    memory_peak = memory.memory_peak
    story = story.story
    critical_path = paths.critical_path
    what_if = cases.what_if
    explain = findings.explain
    summary = summaries.summary_text
    report = report_text
    save = _save
    to_html = _to_html
    to_perfetto = _to_perfetto
    to_speedscope = _to_speedscope
    to_parquet = tabular.to_parquet
    to_csv = tabular.to_csv

    def plot(self, **options: object) -> LayoutDOM:
        """Return Bokeh figures on one time axis: tasks, CPU and memory, and results in memory.

        Dask's own functions draw them. Show them with ``bokeh.io.show``, after ``bokeh.io.output_notebook()``
        in a notebook.

        Parameters
        ----------
        **options
            ``palette`` (the name of a Bokeh palette), ``label_size``, and attributes of all Bokeh figures,
            such as ``height`` or ``title``, which override Dask's.

        Raises
        ------
        MissingDependencyError
            If Bokeh is not installed.
        OptionError
            If there are more than 50,000 tasks, or no such palette.
        AttributeError
            If Bokeh's figures have no attribute of the name of an option.
        """
        from taskscope.report.figures import plot

        return plot(self, options)

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

    def to_html(self, path: str | PathLike[str], *, overwrite: bool = False) -> SavedFile:
        """Write one page that needs no network: both Gantt charts on one scale, and the comparison as tables.

        Parameters, value and errors are those of `taskscope.Recording.save`. Credentials in URLs are hidden.
        """
        return comparison_to_html(self, path, overwrite=overwrite)


def recorded(session: Session, runs: Sequence[Run]) -> Recording:
    """Return the recording of one or more computes of a session that follow each other."""
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
    return Recording.of(calls.in_proportion(recording))


def compare(before: Recording, after: Recording) -> Comparison:
    """Return what changed from one recording to the other: per prefix and in total.

    Parameters
    ----------
    before, after
        The recordings; the result is shown as text, in a notebook as tables and charts, and has `to_pandas`.

    Raises
    ------
    OptionError
        If one is no recording.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> [row.kind for row in taskscope.compare(run.recording, run.recording).prefixes]
    ['both']

    Notes
    -----
    The interval is from the standard errors of both means. It takes tasks for independent, and knows nothing
    of what differs from run to run: two recordings of the same code can differ clearly. Makespan and memory
    are one number per recording, so they have no interval.
    """
    for name, each in (("before", before), ("after", after)):
        if not isinstance(each, RecordedData):
            raise OptionError(
                f"{name} must be a taskscope.Recording, such as taskscope.load(file), got {each!r:.80}"
            )
    data = compared(before, after)
    return Comparison(*(getattr(data, field.name) for field in fields(data)))


def load(path: str | PathLike[str], *, partial: bool = False, max_bytes: int | None = None) -> Recording:
    """Return the recording in a ``.taskscope`` file; never runs code, whatever the file holds.

    Parameters
    ----------
    path
        The file.
    partial
        Of a file that was damaged or cut off, return the rows in the whole parts before that, instead of
        raising.
    max_bytes
        Most bytes that may be made of the file, by default 64 MiB and 256 times its size; larger files are
        refused before they are unpacked.

    Raises
    ------
    FileError
        If the file cannot be read.
    DamagedFileError
        If it is damaged or cut off, of another tool or of a newer version, or more would be made of it than
        `max_bytes`.

    Notes
    -----
    The file of a process that was killed while it recorded ends early, which is no error: its rows are
    returned, with ``metadata["truncated"]`` and a message that says so. A saved file has its tasks in up to
    ten parts; where a copy of it was cut off, `partial` returns those before the cut, marked in the same way,
    and `Recording.unknown` names the tables that lack rows.
    """
    return Recording.of(load_data(path, partial=partial, max_bytes=max_bytes))
