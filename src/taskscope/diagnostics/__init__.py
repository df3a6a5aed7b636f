"""A drop-in for ``dask.diagnostics``: change one import.

::

    from taskscope.diagnostics import ProgressBar, Profiler, ResourceProfiler, CacheProfiler, visualize

Every documented call of ``dask.diagnostics`` is accepted. The differences:

=========================================== ===========================================================
with ``dask.diagnostics``                   here
=========================================== ===========================================================
``Profiler`` times submission to dequeue    tasks are timed by the worker that runs them
failed and running tasks never appear       they are in ``prof.recording``; ``results`` means what it did
``ResourceProfiler`` counts its own process it counts yours and its children; the first CPU use, which is
                                            unknown, is left out instead of being 0
a metric that raises ends the compute       the value is ``None``, with a message in the recording
concurrent computes lose registrations      nothing is lost; ``register`` is idempotent, and so is
                                            ``unregister``; ``with`` nests
``visualize`` overwrites, also by links     it overwrites; a link is replaced and its target left alone;
                                            ``overwrite=False`` raises instead
HTML of 16 kB needs the network             it does not, and has 1.3 MB; pass ``mode="cdn"`` for small
                                            files that do
every task has a colour of its own          colours are by prefix, with one legend
``register`` then ``visualize`` raises      it draws
rows have what each class shows             ``recording`` lacks what none that watches shows: a `Profiler`
                                            alone has neither CPU time nor sizes of results, a
                                            `ResourceProfiler` alone has no tasks
a slower bar, a process, a quadratic cache  the cost per task is flat, and the bar costs no time
=========================================== ===========================================================

With a `distributed.Client` as default scheduler the tasks of its workers are recorded, too. Results have
times on the axis of ``time.perf_counter``, as in ``dask.diagnostics``.

``performance_report`` and ``MemorySampler`` have the interface of ``distributed``'s, and work without a
cluster, too; ``MemorySampler`` is a subclass of distributed's, which has to be installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from taskscope.diagnostics.callback import Callback
from taskscope.diagnostics.drawing import visualize
from taskscope.diagnostics.performance_report import performance_report
from taskscope.diagnostics.profilers import CacheProfiler, Profiler, ResourceProfiler
from taskscope.diagnostics.progress import ProgressBar

if TYPE_CHECKING:
    from taskscope.diagnostics.memory_sampler import MemorySampler

    thread_prof: Profiler
    process_prof: Profiler

__all__ = [
    "CacheProfiler",
    "Callback",
    "MemorySampler",
    "Profiler",
    "ProgressBar",
    "ResourceProfiler",
    "performance_report",
    "process_prof",
    "thread_prof",
    "visualize",
]

_SCHEDULERS = {"process_prof": "dask.multiprocessing", "thread_prof": "dask.threaded"}


def __getattr__(name: str) -> object:
    """Load the subclass of distributed's class, and make the profilers of 2015, when they are first used."""
    if name == "MemorySampler":
        from taskscope.diagnostics.memory_sampler import MemorySampler

        return MemorySampler
    if name in _SCHEDULERS:
        # Of two threads that come here at once, both get the same profiler.
        return globals().setdefault(name, Profiler(import_module(_SCHEDULERS[name]).get))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
