"""The synchronised traits, in groups that widgets are put together from."""

from __future__ import annotations

import traitlets


def _known(trait: type, help_text: str) -> traitlets.TraitType[object, object]:
    return trait(None, allow_none=True, help=f"{help_text}; None: unknown.").tag(sync=True)  # type: ignore[no-any-return]  # traitlets types its factories loosely


class ProgressTraits(traitlets.HasTraits):
    """How far the computes are; set by the kernel."""

    total = traitlets.Int(0, help="Tasks of all graphs, but those that do not have to run.").tag(sync=True)
    finished = traitlets.Int(0, help="Tasks that gave a result.").tag(sync=True)
    running = traitlets.Int(0, help="Tasks in flight.").tag(sync=True)
    erred = traitlets.Int(0, help="Tasks that raised.").tag(sync=True)
    starting = traitlets.Unicode(
        "", help="What a pool of processes does that runs no task yet: `starting 2 processes, 3.3 s`."
    ).tag(sync=True)
    skipped = traitlets.Int(
        0, help="Tasks that do not have to run: a cluster has their results, or those of what needs them."
    ).tag(sync=True)
    queued = _known(traitlets.Int, "Tasks of a cluster that could run if a worker had a free thread")
    waiting = _known(traitlets.Int, "Tasks of a cluster that wait for other tasks")
    no_worker = _known(traitlets.Int, "Tasks of a cluster for which no worker fits")
    asked = traitlets.Int(
        None, allow_none=True, help="Of how many tasks these three are, where not of all; None: of all."
    ).tag(sync=True)
    asked_s = _known(traitlets.Float, "When the scheduler said so, seconds after the zero")
    fraction = traitlets.Float(0.0, help="Finished of total, 0 to 1.").tag(sync=True)
    elapsed_s = traitlets.Float(0.0, help="Seconds during which computes ran.").tag(sync=True)
    eta_s = traitlets.Float(
        None, allow_none=True, help="An estimate of the seconds left; None: unknown."
    ).tag(sync=True)
    eta_low_s = traitlets.Float(
        None, allow_none=True, help="About four of five true ends lie between this and eta_high_s."
    ).tag(sync=True)
    eta_high_s = traitlets.Float(None, allow_none=True, help="See eta_low_s.").tag(sync=True)
    eta_unseen = traitlets.Int(
        0, help="Tasks ahead of prefixes of which none has ended: it may take longer than eta_high_s."
    ).tag(sync=True)
    state = traitlets.Enum(
        ["waiting", "running", "finished", "erred", "interrupted"],
        "waiting",
        help="One word for all computes.",
    ).tag(sync=True)
    groups = traitlets.List(
        traitlets.Dict(),
        help="Per prefix: prefix, total, finished, running, erred; on clusters the next six, too.",
    ).tag(sync=True)


class GanttTraits(traitlets.HasTraits):
    """The chart's counts and view; the browser may change the last three."""

    n_tasks = traitlets.Int(0, help="Tasks that came to an end.").tag(sync=True)
    n_lanes = traitlets.Int(0, help="Worker threads seen.").tag(sync=True)
    dropped = traitlets.Int(0, help="Tasks that are no longer kept.").tag(sync=True)
    follow = traitlets.Bool(True, help="Whether the chart moves with the present.").tag(sync=True)
    time_range = traitlets.List(
        traitlets.Float(),
        None,
        allow_none=True,
        minlen=2,
        maxlen=2,
        help="Shown: [start_s, stop_s]; None: all.",
    ).tag(sync=True)
    selected_key = traitlets.Unicode(None, allow_none=True, help="Key of the selected task.").tag(sync=True)


class ResourceTraits(traitlets.HasTraits):
    """CPU and memory of this process and its children; set by the kernel."""

    cpu_percent = _known(traitlets.Float, "CPU at the last sample, 100 per core")
    cpu_peak_percent = _known(traitlets.Float, "The most of all samples, 100 per core")
    n_cores = _known(traitlets.Int, "Cores that may be used")
    rss_bytes = _known(traitlets.Int, "Resident memory at the last sample")
    rss_peak_bytes = _known(traitlets.Int, "The most of all samples")
    limit_bytes = _known(traitlets.Int, "Memory that may be used")
    n_processes = traitlets.Int(0, help="Processes at the last sample.").tag(sync=True)
    n_samples = traitlets.Int(0, help="Samples taken.").tag(sync=True)
    n_gaps = traitlets.Int(0, help="How often samples were missing.").tag(sync=True)


class CacheTraits(traitlets.HasTraits):
    """Cache usage of the scheduler; set by the kernel."""

    metric = traitlets.Unicode("nbytes", help="nbytes, count, or the name of the user's metric.").tag(
        sync=True
    )
    n_keys = traitlets.Int(0, help="Keys in memory now.").tag(sync=True)
    nbytes = traitlets.Int(0, help="Bytes of those whose size is known.").tag(sync=True)
    n_unsized = traitlets.Int(0, help="Keys of unknown size.").tag(sync=True)
    value = _known(traitlets.Float, "What is in memory, in the user's metric")
    n_unvalued = traitlets.Int(0, help="Keys the user's metric gave nothing for.").tag(sync=True)
    peak_n_keys = traitlets.Int(0, help="The most keys in memory at once.").tag(sync=True)
    peak_nbytes = traitlets.Int(0, help="The most bytes in memory at once.").tag(sync=True)
    peak_value = _known(traitlets.Float, "The most in memory at once, in the user's metric")
    peak_at_least = traitlets.Bool(
        False, help="Whether computes ran at the same time; then the peaks are lower bounds."
    ).tag(sync=True)
    peak_s = _known(traitlets.Float, "When most was in memory by the metric, seconds after the zero")
    peak_groups = traitlets.List(
        traitlets.Dict(), help="At that moment, per group: group, prefix and the fields above, largest first."
    ).tag(sync=True)


_GROUPS = (ProgressTraits, GanttTraits, ResourceTraits, CacheTraits)
LIVE_TRAITS = frozenset({"data", "sampled_s"}) | frozenset(
    name
    for group in _GROUPS
    for name in group.class_own_traits()
    if name not in {"follow", "time_range", "selected_key"}
)
"""Traits that the kernel sets while computes run; the first two are of the flame graph."""
