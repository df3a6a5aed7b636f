"""What the scheduler held during the computes of a recording: rows to draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import GraphColumns
from taskscope.model.held import HeldEvents, HeldRows, HeldSeries, Stretches
from taskscope.model.recording import Recording
from taskscope.model.records import Run

__all__ = ["held_metrics", "held_rows", "key_sizes"]


def held_rows(recording: Recording, stretches: Stretches | None = None) -> HeldRows:
    """Return what was held of each group from moment to moment; times on the recorder's axis.

    Parameters
    ----------
    recording
        The recording.
    stretches
        How finely time is cut, as in `HeldSeries`.

    Returns
    -------
    HeldRows
        Exact at the moments they name; of each stretch these are the most, the least and the last. Of a
        cluster these are the moments at which it was looked what workers hold.
    """
    parts = [
        _run_rows(recording, run, recording.graphs[run.run], stretches)
        for run in recording.runs
        if run.run in recording.graphs and not run.is_on_cluster
    ]
    return HeldRows.concat([*parts, recording.holdings])


def held_metrics(recording: Recording) -> dict[int, str]:
    """Return the name of the user's cache metric, by run; runs without one are left out."""
    name = str(recording.metadata.get("metric", "metric"))
    return {run: name for run, graph in recording.graphs.items() if graph.values is not None}


def _run_rows(recording: Recording, run: Run, graph: GraphColumns, stretches: Stretches | None) -> HeldRows:
    stop = recording.now_s if run.stop_s is None else run.stop_s
    has_value = graph.values is not None
    series = HeldSeries(run.run, run.start_s, has_value=has_value, stretches=stretches)
    events = _events(recording, run.run, graph, stop)
    rows = series.add(events, stop)
    return HeldRows.concat([rows, series.flush() if run.stop_s is None else series.close(stop)])


def _events(recording: Recording, run: int, graph: GraphColumns, stop: float) -> HeldEvents:
    enter, leave = graph.enter_times(), graph.exit_times(stop)
    came = np.flatnonzero(~np.isnan(enter))
    # What leaves at the end leaves with `close`; of a compute that goes on, it stays.
    went = np.flatnonzero(leave < stop)
    keys = np.concatenate([came, went])
    times = np.concatenate([enter[came], leave[went]])
    sizes, values = key_sizes(recording, run, graph), graph.values
    order = np.argsort(times, kind="stable")
    keys, times = keys[order], times[order]
    return HeldEvents(
        step=np.unique(times, return_inverse=True)[1].astype(np.int64),
        time=times,
        group=graph.group[keys].astype(np.int64),
        sign=np.repeat([1, -1], [len(came), len(went)])[order],
        size=sizes[keys],
        value=np.full(len(keys), np.nan) if values is None else values[keys].astype(np.float64),
    )


def key_sizes(recording: Recording, run: int, graph: GraphColumns) -> NDArray[np.float64]:
    """Return the bytes of every key of a run, NaN where unknown or no longer held."""
    sizes = np.full(len(graph.group), np.nan)
    sizes[graph.data] = graph.data_sizes
    for block in recording.blocks:
        if block.run == run:
            sizes[block.task] = block.sizes()
    return sizes
