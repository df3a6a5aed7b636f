"""All tables of a recording as plain values, to be compared."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from taskscope.analysis.display.page_tables import write
from taskscope.codec import budget_for
from taskscope.export.native.reader import read
from taskscope.model.public_tables import TABLES
from taskscope.model.recording import RecordedData
from taskscope.recording import Recording


def as_lists(recording: RecordedData, *names: str) -> dict[str, dict[str, list[str]]]:
    """Return these tables, by default all of them, with every value as its ``repr``."""
    return {
        name: {
            column: [repr(value) for value in np.asarray(values, object).tolist()]
            for column, values in recording.table(name).items()
        }
        for name in names or TABLES
    }


def rows(recording: RecordedData, name: str) -> list[tuple[str, ...]]:
    """Return the rows of a table, with every value as its ``repr``."""
    return list(zip(*as_lists(recording, name)[name].values(), strict=True))


def written(recording: RecordedData) -> bytes:
    """Return a recording as a file."""
    file = BytesIO()
    write(recording, file)
    return file.getvalue()


def read_back(content: bytes, *, partial: bool = False) -> Recording:
    """Return the recording in a file."""
    return Recording.of(read(BytesIO(content), budget_for(len(content)), partial=partial))


def filed(recording: RecordedData) -> Recording:
    """Return a recording as it comes back from a file."""
    return read_back(written(recording))
