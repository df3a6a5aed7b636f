"""A drop-in for ``dask.diagnostics``: change one import.

::

    from taskscope.diagnostics import ProgressBar, Profiler, ResourceProfiler, CacheProfiler, visualize

Every documented call of ``dask.diagnostics`` works as it did. What is different, and why:

=========================================== ===========================================================
with ``dask.diagnostics``                   here
=========================================== ===========================================================
``Profiler`` times submission to dequeue    tasks are timed by the worker that runs them
failed and running tasks never appear       they are in ``prof.recording``; ``results`` means what it did
``task`` holds functions and arguments      it holds the key, the name of what is called and the keys needed
``ResourceProfiler`` counts its own process it counts yours and its children; the first CPU use, which is
                                            unknown, is left out instead of being 0
a metric that raises ends the compute       the value is ``None``, with a message in the recording
concurrent computes lose registrations      nothing is lost; ``register`` twice is once, ``unregister`` of
                                            what is not registered does nothing, and ``with`` nests
``visualize`` overwrites, also by links     only ``profile.html`` is replaced unasked, and never a link:
                                            else pass ``overwrite=True``
HTML needs the network                      it does not; pass ``mode="cdn"`` for small files that do
every task has a colour of its own          colours are by prefix, with one legend
``register`` then ``visualize`` raises      it draws
a slower bar, a process, a quadratic cache  the cost per task is flat, and the bar costs no time
=========================================== ===========================================================

Under a `distributed.Client` as default scheduler the tasks of its workers are recorded, too. Results have
times on the axis of ``time.perf_counter``, as ``dask.diagnostics`` has them in fact.
The interface of 2015 works too: ``Profiler(get)``, ``prof.get``, ``prof.results()``, ``thread_prof``,
``process_prof``.

``performance_report`` and ``MemorySampler`` have the interface of ``distributed``'s, and work without a
cluster, too.
"""

from __future__ import annotations

import dask.multiprocessing
import dask.threaded

from taskscope.diagnostics.callback import Callback
from taskscope.diagnostics.memory_sampler import MemorySampler
from taskscope.diagnostics.performance_report import performance_report
from taskscope.diagnostics.profilers import CacheProfiler, Profiler, ResourceProfiler
from taskscope.diagnostics.progress import ProgressBar
from taskscope.diagnostics.visualize import visualize

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

# The profilers of 2015.
thread_prof = Profiler(dask.threaded.get)
process_prof = Profiler(dask.multiprocessing.get)
