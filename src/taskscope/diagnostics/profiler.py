"""Record tasks: when each one ran, where, and what it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from taskscope.diagnostics.recorded import RecordedProfiler
from taskscope.diagnostics.results import Results, TaskData, task_data, task_texts
from taskscope.errors import OptionError, TaskscopeError
from taskscope.options import Options

if TYPE_CHECKING:
    from bokeh.plotting import figure

__all__ = ["Profiler"]

_Get = Callable[..., Any]


class Profiler(RecordedProfiler):
    """Records every task, timed by the worker that ran it.

    Parameters
    ----------
    get
        A scheduler, such as ``dask.threaded.get``, for the `get` of this profiler; not needed otherwise.

    Raises
    ------
    OptionError
        If `get` is not a function.

    Notes
    -----
    ``results`` has the tasks that finished, of the computes that no task started; ``recording`` has all.

    Examples
    --------
    >>> import dask
    >>> with Profiler() as prof:
    ...     dask.get({"x": 1, "y": (max, "x", 10), "z": (min, "y", 2)}, "z")
    2
    >>> [(row.key, row.task) for row in prof.results]
    [('y', <Task 'y' max('x')>), ('z', <Task 'z' min('y')>)]
    """

    def __init__(self, get: _Get | None = None) -> None:
        if get is not None and not callable(get):
            raise OptionError(f"get must be a scheduler such as dask.threaded.get, got {get!r}")
        super().__init__(Options(dt="any", metric="any"))
        self._get = get

    @property
    def results(self) -> Results[TaskData]:
        """The finished tasks, by compute and start."""
        results: Results[TaskData] = self._cached()
        return results

    def get(self, dsk: Any, keys: Any, **options: Any) -> Any:
        """Compute with this profiler's scheduler and record it: ``x.compute(scheduler=prof.get)``.

        Parameters
        ----------
        dsk, keys, options
            As of the scheduler.

        Raises
        ------
        TaskscopeError
            If the profiler was made without a scheduler.
        """
        if self._get is None:
            raise TaskscopeError(
                "this Profiler has no scheduler: write Profiler(dask.threaded.get), "
                "or `with Profiler() as prof:` around the compute"
            )
        owner = object()
        try:
            self._watch.open(owner)
            return self._get(dsk, keys, **options)
        finally:
            self._watch.close(owner)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        """Return the Gantt chart of this time, in seconds of ``time.perf_counter``."""
        from taskscope.charts import MAX_GLYPHS, plot_tasks

        watch = self._watch
        recording, origin = watch.recording(), watch.recorder.origin
        texts = task_texts(recording, watch.runs) if sum(map(len, recording.blocks)) <= MAX_GLYPHS else None
        return plot_tasks(recording, zero_s - origin, until_s - origin, texts=texts, **options)

    def _made(self) -> Results[TaskData]:
        watch = self._watch
        return task_data(watch.recording(), watch.runs, watch.recorder.origin, watch.cleared_s)
