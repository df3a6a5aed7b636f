"""The profilers of ``dask.diagnostics``, from what the recorder saw meanwhile, and their plots."""

from __future__ import annotations

import html
import tempfile
import time
import warnings
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from taskscope.analysis.display.colours import prefix_colours
from taskscope.diagnostics.callback import Callback
from taskscope.diagnostics.results import (
    CacheData,
    ResourceData,
    Results,
    TaskData,
    cache_data,
    cached_results,
    resource_data,
    task_data,
    task_texts,
)
from taskscope.diagnostics.window import ExplicitHooks, Metric, Sampling, Window
from taskscope.errors import OptionError, TaskscopeError
from taskscope.export.atomic import check_writable, write_atomically
from taskscope.model.recording import count_tasks
from taskscope.options import Options
from taskscope.recording import Recording
from taskscope.sources.cell import in_kernel
from taskscope.sources.local.adapter.registration import CallbackTuple

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM
    from bokeh.plotting import figure

__all__ = ["CacheProfiler", "Profiler", "RecordedProfiler", "ResourceProfiler", "visualize"]

_Row = TypeVar("_Row")
_DEFAULT_FILENAME = "profile.html"
_MARGIN_PX = 40


class RecordedProfiler(Callback, Generic[_Row]):
    """A profiler that watches while it is entered or registered; `metric` is a function of each result."""

    start_time: float | None
    """When watching began, in seconds of ``time.perf_counter``; None before."""
    end_time: float | None
    """When watching ended; None before."""
    has_prefixes = True
    """Whether the figure is coloured by prefix."""

    def __init__(self, options: Options, metric: Metric | None = None) -> None:
        super().__init__()
        self._window = Window(options, metric)
        self._explicit = ExplicitHooks(self._window)
        self._results: Results[_Row] = Results()
        self._results_state: tuple[object, ...] = ()
        self.start_time = None
        self.end_time = None

    @property
    def recording(self) -> Recording:
        """Everything that was recorded while this profiler watched, failed and interrupted tasks included."""
        return Recording.of(self._window.recording())

    @property
    def results(self) -> Results[_Row]:
        """What was recorded, as in ``dask.diagnostics``; the same list as long as nothing is new."""
        state = self._window.state()
        if state != self._results_state:
            self._results, self._results_state = Results(self._rows()), state
        return self._results

    def _rows(self) -> Iterator[_Row]:
        raise NotImplementedError

    def _register_hooks(self, owner: object) -> None:
        if self._is_outermost(owner):
            # A block begins afresh, a registration goes on.
            self.clear()
        if self.start_time is None:
            self.start_time = time.perf_counter()
        self._window.open(owner)

    def _unregister_hooks(self, owner: object) -> None:
        had = self._window.close(owner)
        # A block may be left once more, after an interrupt.
        if had or owner is not self._registration():
            self.end_time = time.perf_counter()

    def _is_outermost(self, owner: object) -> bool:
        """Whether this is the entering of a block that no other block of this profiler goes around."""
        return self._entered() == [owner]

    def clear(self) -> None:
        """Forget what was recorded; of a compute in flight, what ends from now on is recorded still."""
        self._window.clear()
        self._results, self._results_state = Results(), ()
        self.start_time = time.perf_counter() if self._window.is_open else None
        self.end_time = None

    def close(self) -> None:
        """Do nothing: no process or thread of this profiler outlives a compute. It may be called any time."""

    def visualize(self, **options: Any) -> LayoutDOM:
        """Show, and outside of notebooks save, the plot; see `taskscope.diagnostics.visualize`."""
        return visualize(self, **options)

    def plot(self, **options: Any) -> figure:
        """Return the Bokeh figure; options are those of `visualize` that draw."""
        return self.draw(*self.span(), **options)

    def _plot(self, **options: Any) -> figure:
        return self.plot(**options)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        """Return the Bokeh figure of this time, in seconds of ``time.perf_counter``."""
        raise NotImplementedError

    def span(self) -> tuple[float, float]:
        """Return from when to when there is something to draw, in seconds of ``time.perf_counter``."""
        now = time.perf_counter()
        start = now if self.start_time is None else self.start_time
        return start, now if self.end_time is None else self.end_time

    @property
    def _callback(self) -> CallbackTuple:
        """The form for ``dask.callbacks.add_callbacks`` and for ``compute(callbacks=…)``."""
        return self._explicit.callback


class Profiler(RecordedProfiler[TaskData]):
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
    ``results`` has the tasks that finished, of the computes that no task started, by compute and start;
    ``recording`` has all.

    Examples
    --------
    >>> import dask
    >>> with Profiler() as prof:
    ...     dask.get({"x": 1, "y": (max, "x", 10), "z": (min, "y", 2)}, "z")
    2
    >>> [(row.key, row.task) for row in prof.results]
    [('y', <Task 'y' max('x')>), ('z', <Task 'z' min('y')>)]
    """

    def __init__(self, get: Callable[..., Any] | None = None) -> None:
        if get is not None and not callable(get):
            raise OptionError(f"get must be a scheduler such as dask.threaded.get, got {get!r}")
        super().__init__(Options(dt="any", metric="any"))
        self._get = get

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
            self._window.open(owner)
            return self._get(dsk, keys, **options)
        finally:
            self._window.close(owner)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        from taskscope.charts import MAX_GLYPHS, plot_tasks

        window = self._window
        recording, origin = window.recording(), window.recorder.origin
        texts = task_texts(recording, window.runs) if count_tasks(recording) <= MAX_GLYPHS else None
        return plot_tasks(recording, zero_s - origin, until_s - origin, texts=texts, **options)

    def _rows(self) -> Iterator[TaskData]:
        return task_data(self._window)


class CacheProfiler(RecordedProfiler[CacheData]):
    """Records how long every result stays in the scheduler's cache.

    Parameters
    ----------
    metric
        What a result counts: a function of it, such as ``cachey.nbytes``; by default every result counts 1.
    metric_name
        Its name in plots; by default that of the function, or ``count``.

    Raises
    ------
    OptionError
        If `metric` is not a function.

    Notes
    -----
    ``results`` has what was in the cache, by when it left. The metric is called in the thread that computes,
    once per task. Where it raises, the value is None and the compute goes on. The cost of a task does not
    depend on how many results the cache has or had.

    Examples
    --------
    >>> import dask
    >>> with CacheProfiler(metric=lambda result: 2 * result, metric_name="twice") as cprof:
    ...     dask.get({"x": (abs, -1), "y": (max, "x", 10)}, "y")
    10
    >>> [(row.key, row.metric) for row in cprof.results]
    [('x', 2), ('y', 20)]
    """

    def __init__(self, metric: Metric | None = None, metric_name: str | None = None) -> None:
        if metric is not None and not callable(metric):
            raise OptionError(f"metric must be a function of a result, such as cachey.nbytes, got {metric!r}")
        super().__init__(Options(dt="any", metric="any"), metric)
        name = "count" if metric is None else getattr(metric, "__name__", type(metric).__name__)
        self._metric_name = metric_name or str(name)

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        from taskscope.charts import Scheme, plot_cache

        cached, origin = cached_results(self._window), self._window.recorder.origin
        own = Scheme.of(prefix_colours(self._window.recording()), options.get("palette"))
        options = {"scheme": own, **options}
        return plot_cache(cached, self._metric_name, zero_s - origin, until_s - origin, **options)

    def _rows(self) -> Iterator[CacheData]:
        return cache_data(self._window)


class ResourceProfiler(RecordedProfiler[ResourceData]):
    """Samples CPU and memory: throughout a ``with`` block, or while a compute runs if registered.

    Parameters
    ----------
    dt
        Seconds between samples, 1 by default. If something else samples too, the shorter interval holds.

    Raises
    ------
    OptionError
        If `dt` is not a positive number of seconds.

    Notes
    -----
    Besides, the first and the last moment of a block or a compute are sampled, so that a short one has a
    result. CPU use is the mean since the sample before, so the first sample has none, and is left out of
    ``results``; it is in ``recording``. Inside of a block ``results`` is empty, as in ``dask.diagnostics``.

    Examples
    --------
    >>> import dask
    >>> with ResourceProfiler(dt=0.5) as rprof:
    ...     dask.get({"x": (abs, -1)}, "x")
    1
    >>> len(rprof.results) > 0
    True
    """

    has_prefixes = False

    def __init__(self, dt: float = 1) -> None:
        super().__init__(Options(dt=dt, metric="any"))
        self._spans_s: dict[object, tuple[float, float]] = {}
        self._entered_s = 0.0
        self._sampling = Sampling()
        self._assigned: Results[ResourceData] | None = None

    @property
    def results(self) -> Results[ResourceData]:
        """The samples. What is assigned here is drawn instead."""
        return super().results if self._assigned is None else self._assigned

    @results.setter
    def results(self, rows: Iterable[tuple[float, float, float]]) -> None:
        self._assigned = Results(ResourceData(*row) for row in rows)

    def _register_hooks(self, owner: object) -> None:
        super()._register_hooks(owner)
        if self._is_outermost(owner):
            self._entered_s = self._window.recorder.now_s()
            self._sampling.begin()

    def _unregister_hooks(self, owner: object) -> None:
        if self._is_outermost(owner):
            self._sampling.end()
            self._spans_s[owner] = (self._entered_s, self._window.recorder.now_s())
        super()._unregister_hooks(owner)

    def clear(self) -> None:
        """Forget all samples."""
        super().clear()
        self._spans_s.clear()
        self._entered_s = self._window.recorder.now_s()
        self._assigned = None

    def draw(self, zero_s: float, until_s: float, **options: Any) -> figure:
        from taskscope.charts import plot_resources

        return plot_resources(self.results, zero_s, until_s, **options)

    def _is_running(self) -> bool:
        # Tests of dask.diagnostics ask for it by this name.
        return bool(self._entered()) or any(run.stop_s is None for run in self._window.runs.values())

    def _rows(self) -> Iterator[ResourceData]:
        window = self._window
        spans_s = list(self._spans_s.values())
        if not self._entered():
            runs = window.runs.values()
            spans_s += [(max(r.start_s, window.cleared_s), r.stop_s) for r in runs if r.stop_s is not None]
        return resource_data(window, spans_s)


class _Drawable(Protocol):
    """A profiler of Dask's or of somebody else's."""

    def _plot(self, **options: Any) -> figure: ...


def visualize(
    profilers: _Drawable | Sequence[_Drawable],
    filename: str | PathLike[str] = _DEFAULT_FILENAME,
    show: bool = True,  # noqa: FBT001, FBT002 - dask.diagnostics takes these by place too
    save: bool | None = None,  # noqa: FBT001 - see above
    mode: str | None = None,
    *,
    overwrite: bool = False,
    **options: Any,
) -> LayoutDOM:
    """Draw profilers, above each other on one x axis.

    Parameters
    ----------
    profilers
        One or several.
    filename
        Where to save.
    show
        Show the plot: under the cell in a notebook, else in a browser.
    save
        Write a file; by default everywhere but in a notebook.
    mode
        Where the file has Bokeh's scripts from; by default they are in it, so that it needs no network.
    overwrite
        Replace a file of that name. Without it only ``profile.html`` is replaced, and no symbolic link.
    **options
        ``palette`` (the name of a Bokeh palette, or colours), ``label_size`` (longest text in the hover box,
        60 characters by default), and attributes of Bokeh's figure such as ``width``, which win over ours.

    Returns
    -------
    LayoutDOM
        The Bokeh figure, or the grid of several.

    Raises
    ------
    FileError
        If the file cannot be written, or exists; this is found out before anything is drawn.
    AttributeError
        If Bokeh's figures have no attribute of the name of an option.
    MissingDependencyError
        If Bokeh is not installed.
    OptionError
        If there is no profiler, or the palette or the mode is not known.

    Notes
    -----
    Up to 10,000 tasks are drawn one by one. Beyond that the Gantt chart is a picture in which each column of
    a lane is as opaque as it was busy, and says so.
    """
    if "file_path" in options:
        warnings.warn(
            "The file_path keyword argument is deprecated: use filename instead.", FutureWarning, stacklevel=2
        )
        filename = options.pop("file_path")
    drawn = list(profilers) if isinstance(profilers, Sequence) else [profilers]
    if not drawn:
        raise OptionError("profilers must be a profiler or a list of them, got an empty list")
    in_notebook = in_kernel()
    target = Path(filename).expanduser()
    replaces = overwrite or (str(filename) == _DEFAULT_FILENAME and not target.is_symlink())
    saves = not in_notebook if save is None else save
    if saves:
        check_writable(target, overwrite=replaces)
    layout = _draw(drawn, options)

    def page() -> bytes:
        from taskscope.charts import html_document

        return html_document(layout, "Profile Results", mode).encode("utf-8", "backslashreplace")

    if saves:
        write_atomically(target, lambda file: file.write(page()), overwrite=replaces)
    if show:
        _show(layout, page, target if saves else None, in_notebook=in_notebook)
    return layout


def _draw(profilers: Sequence[_Drawable], options: dict[str, Any]) -> LayoutDOM:
    from taskscope.charts import Scheme, stacked

    ours = [p for p in profilers if isinstance(p, RecordedProfiler)]
    if len(profilers) == 1 or not ours:
        figures = [profiler._plot(**options) for profiler in profilers]
        return figures[0] if len(figures) == 1 else stacked(figures)
    start_s = min(profiler.span()[0] for profiler in ours)
    stop_s = max(profiler.span()[1] for profiler in ours)
    numbers = {prefix: n for profiler in ours for prefix, n in prefix_colours(profiler.recording).items()}
    shared: dict[str, Any] = {"scheme": Scheme.of(numbers, options.get("palette")), "legend": True}
    figures = []
    for profiler in profilers:
        if not isinstance(profiler, RecordedProfiler):
            figures.append(profiler._plot(**options))
        elif profiler.has_prefixes:
            figures.append(profiler.draw(start_s, stop_s, **{**options, **shared}))
            shared["legend"] = False
        else:
            figures.append(profiler.draw(start_s, stop_s, **options))
    return stacked(figures)


def _show(layout: LayoutDOM, page: Callable[[], bytes], saved: Path | None, *, in_notebook: bool) -> None:
    if in_notebook:
        from IPython.display import display

        # In a frame of its own it needs neither an extension nor a trusted notebook, and cannot reach either.
        source = html.escape(page().decode("utf-8"))
        style = f"width:100%;height:{_height_px(layout)}px;border:0"
        frame = f'<iframe sandbox="allow-scripts allow-downloads" style="{style}" srcdoc="{source}"></iframe>'
        display({"text/plain": "Profile Results", "text/html": frame}, raw=True)
        return
    if saved is None:
        with tempfile.NamedTemporaryFile("wb", prefix="profile-", suffix=".html", delete=False) as file:
            file.write(page())
        saved = Path(file.name)
    webbrowser.open(saved.resolve().as_uri())


def _height_px(layout: Any) -> int:
    rows = getattr(layout, "children", None)
    figures = [row[0] for row in rows] if rows else [layout]
    return sum(figure.height or 600 for figure in figures) + _MARGIN_PX
