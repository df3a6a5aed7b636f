"""Dependencies between the rows of an offline page, as far as they are small enough."""

from __future__ import annotations

import base64
import zlib
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.page_tables import RowLinks
from taskscope.model.recording import RecordedData

__all__ = ["MAX_FRAME_LINK_BYTES", "MAX_PAGE_LINK_BYTES", "PackedLinks", "links_note", "pack_links"]

MAX_PAGE_LINK_BYTES = 1_000_000
"""Most bytes of dependencies in a page, deflated."""

MAX_FRAME_LINK_BYTES = 100_000
"""The same in the static result of a notebook."""

_MAX_RATIO = 40
_LEVEL = 6


class PackedLinks(TypedDict):
    """Columns in base64, deflated, and how many `bytes` they are before that.

    For each row: how many dependencies are rows, how many are not (2**32 - 1: nothing is known), and how many
    dependents are not. For each dependency: how many rows before the row that needs it it is, zigzag. All
    are u32, and in each column all low bytes come first.
    """

    bytes: int
    data: str


def pack_links(recording: RecordedData, max_bytes: int) -> PackedLinks | None:
    """Return the dependencies of a recording's rows; None where they take more than `max_bytes`."""
    # What does not shrink to a fortieth would be too much, whatever it is.
    n_edges = sum(len(graph.edges) for graph in recording.graphs.values())
    if 4 * n_edges > _MAX_RATIO * max_bytes:
        return None
    edges = RowLinks(recording).edges()
    n_rows = len(edges.other_needs)
    before = edges.source - edges.target
    columns = [
        np.bincount(edges.source, minlength=n_rows),
        edges.other_needs & 0xFFFFFFFF,
        edges.other_users,
        (before << 1) ^ (before >> 63),
    ]
    content = b"".join(map(_column, columns))
    packed = zlib.compress(content, _LEVEL)
    if len(packed) > max_bytes:
        return None
    return {"bytes": len(content), "data": base64.b64encode(packed).decode("ascii")}


def links_note(links: PackedLinks | None, max_bytes: int) -> str:
    """Return HTML that says that dependencies were left out; empty where they were not."""
    if links is not None:
        return ""
    return (
        f"<p>Dependencies of tasks are left out here: they would take more than {max_bytes / 1e6:.3g} MB."
        " Widgets of the recording and its <code>.taskscope</code> file in JupyterLab show them.</p>"
    )


def _column(values: NDArray[np.int64]) -> bytes:
    return values.astype("<u4").view(np.uint8).reshape(-1, 4).T.tobytes()
