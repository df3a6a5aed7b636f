"""What workers of a cluster were seen to hold, as frames of a ``.taskscope`` file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from taskscope.export.checks import check_columns, require
from taskscope.export.pack import pack, unpack
from taskscope.export.schema import HOLDINGS
from taskscope.model.held import HeldRows
from taskscope.model.recording import RecordedData

__all__ = ["check_holdings", "holding_frames", "holdings_of"]

_ROWS_PER_FRAME = 65_536


def holding_frames(rows: HeldRows) -> Iterator[tuple[str, bytes]]:
    """Yield the frames of rows; none for no rows."""
    for first in range(0, len(rows), _ROWS_PER_FRAME):
        part = rows.part(slice(first, first + _ROWS_PER_FRAME))
        yield "HOLD", pack({}, {name: getattr(part, name) for name in HOLDINGS})


def holdings_of(contents: Sequence[bytes]) -> HeldRows:
    """Return the rows in the contents of frames.

    Raises
    ------
    DamagedFileError
        If they contradict themselves.
    """
    parts = []
    for content in contents:
        _, columns = unpack(content, HOLDINGS)
        require(columns.keys() == HOLDINGS.keys(), "what was held has all columns")
        require(len({len(c) for c in columns.values()}) == 1, "columns of what was held must be equally long")
        n = len(columns["run"])
        parts.append(HeldRows(**columns, value=np.zeros(n), n_unvalued=columns["n_keys"]))
    return HeldRows.concat(parts)


def check_holdings(recording: RecordedData) -> None:
    """Raise unless the runs and groups that rows refer to are there.

    Raises
    ------
    DamagedFileError
        If not.
    """
    rows = recording.holdings
    known = {run.run for run in recording.runs}
    require(set(np.unique(rows.run).tolist()) <= known, "what was held is of a run")
    require((rows.group < len(recording.groups)).all(), "what was held is of a group")
    check_columns(HeldRows, rows.arrays())
    require((rows.nbytes >= 0).all(), "what was held has a size")
