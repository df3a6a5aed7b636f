"""How fast results went between workers, as squares."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from heapq import nlargest
from typing import Any

import numpy as np
from bokeh.models import LinearColorMapper
from bokeh.models.annotations import ColorBar
from bokeh.plotting import figure

from taskscope.analysis.bandwidth import Bandwidth
from taskscope.analysis.quantities import format_bytes, format_count, format_duration
from taskscope.charts.canvas import add_note, label, new_figure, set_tooltips

__all__ = ["plot_bandwidth"]

_MAX_WORKERS = 40
_LABEL_WIDTH = 24
_ROW_PX = 22
_BESIDE_PX = 190
_LIGHT_TO_DARK = [
    f"#{255 - i * 197 // 15:02x}{255 - i * 159 // 15:02x}{255 - i * 66 // 15:02x}" for i in range(1, 16)
]
_TOOLTIPS = [
    ("from", "@sender"), ("to", "@receiver"), ("transfers", "@n"), ("bytes", "@nbytes"),
    ("time of all of them", "@seconds"), ("rate of one", "@rate"), ("rate of all together", "@together"),
]  # fmt: skip


def plot_bandwidth(measured: Bandwidth, **options: Any) -> figure:
    """Return a figure with a square for each pair of workers; see `Recording.plot_bandwidth`."""
    moved: defaultdict[str, float] = defaultdict(float)
    for pair in measured.pairs:
        for address in (pair.sender, pair.receiver):
            moved[address] += pair.nbytes
    shown = sorted(nlargest(_MAX_WORKERS, moved, key=moved.__getitem__), key=measured.name_of)
    labels = _labels(measured, shown)
    pairs = [p for p in measured.pairs if p.sender in labels and p.receiver in labels]
    rates = np.array([p.bytes_per_s for p in pairs], np.float64) / 1e6
    names = [labels[address] for address in shown]
    plot = new_figure(
        options,
        title="Bandwidth between workers",
        x_range=names,
        y_range=names[::-1],
        height=max(_ROW_PX * len(names) + _BESIDE_PX, 300),
        x_axis_label="receiver",
        y_axis_label="sender",
        tools="hover,save",
    )
    mapper = LinearColorMapper(palette=_LIGHT_TO_DARK, low=0, high=float(np.nanmax(rates, initial=1.0)))
    plot.rect(
        "receiver", "sender", width=1, height=1, line_color=None,
        fill_color={"field": "mb_per_s", "transform": mapper},
        source={
            "sender": [labels[p.sender] for p in pairs],
            "receiver": [labels[p.receiver] for p in pairs],
            "mb_per_s": rates,
            "n": [format_count(p.n_transfers) for p in pairs],
            "nbytes": [format_bytes(p.nbytes) for p in pairs],
            "seconds": [format_duration(p.seconds) for p in pairs],
            "rate": [_rate(p.bytes_per_s) for p in pairs],
            "together": [_rate(p.together_bytes_per_s) for p in pairs],
        },
    )  # fmt: skip
    bar = ColorBar(color_mapper=mapper, title="MB/s")
    plot.add_layout(bar, "right")
    plot.xaxis.major_label_orientation = 0.8
    plot.grid.grid_line_color = None
    set_tooltips(plot, _TOOLTIPS)
    if len(moved) > len(shown):
        add_note(plot, f"the {len(shown)} workers that moved the most bytes, of {len(moved):,}")
    elif measured.reason is not None:
        add_note(plot, str(measured))
    return plot


def _labels(measured: Bandwidth, addresses: Sequence[str]) -> dict[str, str]:
    """Return what stands at the axes: workers' names, numbered where several are cut to the same."""
    names = [label(measured.name_of(address), _LABEL_WIDTH) for address in addresses]
    counts = Counter(names)
    return {
        address: name if counts[name] == 1 else f"{name} ({place})"
        for place, (address, name) in enumerate(zip(addresses, names, strict=True))
    }


def _rate(bytes_per_s: float) -> str:
    return "unknown" if np.isnan(bytes_per_s) else f"{format_bytes(bytes_per_s)}/s"
