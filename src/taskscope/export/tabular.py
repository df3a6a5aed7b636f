"""The tables of a recording as files that other tools read."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING, BinaryIO

from taskscope.export.requirements import pyarrow
from taskscope.model.recording import RecordedData
from taskscope.model.tables import TABLES
from taskscope.schema import Column

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_csv", "write_json", "write_parquet"]


def _columns(recording: RecordedData, table: str = "tasks") -> dict[str, list[object]]:
    return {name: column.tolist() for name, column in recording.table(table).items()}


def write_parquet(recording: RecordedData, file: BinaryIO, table: str = "tasks") -> None:
    """Write one table as Parquet, with what is unknown as null; needs PyArrow."""
    arrow = pyarrow()
    import pyarrow.parquet as pq

    columns = recording.table(table)
    arrays = [
        arrow.array(columns[column.name], type=_type(arrow, column), from_pandas=True)
        for column in TABLES[table].columns
    ]
    pq.write_table(arrow.table(arrays, names=list(columns)), file, compression="zstd")


def _type(arrow: pa, column: Column) -> pa.DataType:
    # Said, because a column in which nothing is known would have no type.
    types = {"whole number": arrow.int64, "number": arrow.float64, "yes or no": arrow.bool_}
    found: pa.DataType = types.get(column.kind, arrow.string)()
    return found


def write_csv(recording: RecordedData, file: BinaryIO, table: str = "tasks") -> None:
    """Write one table as comma-separated values, with what is unknown left empty."""
    columns = _columns(recording, table)
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([_blank(value) for value in row] for row in zip(*columns.values(), strict=True))
    text.detach()


def write_json(recording: RecordedData, file: BinaryIO) -> None:
    """Write all tables as one JSON object of columns, with what is unknown as ``null``."""
    tables = ("runs", "tasks", "resources", "messages")
    content = {
        name: {column: [_null(v) for v in values] for column, values in _columns(recording, name).items()}
        for name in tables
    }
    head = {"started_at": recording.started_at.isoformat(), "metadata": dict(recording.metadata)}
    text = json.dumps({**head, **content}, allow_nan=False, default=str)
    file.write(text.encode())


def _unknown(value: object) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _blank(value: object) -> object:
    if _unknown(value):
        return ""
    # A spreadsheet would run a key that looks like a formula.
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value


def _null(value: object) -> object:
    return None if _unknown(value) else value
