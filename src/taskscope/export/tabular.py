"""Tables as files, one or all of a recording: Parquet, comma-separated values, JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from taskscope.errors import FileError, required
from taskscope.export.atomic import check_writable, write_atomically
from taskscope.model.public_tables import TABLES
from taskscope.model.recording import RecordedData
from taskscope.model.redaction import Redact, redacted
from taskscope.schema import Kind


def _columns(recording: RecordedData, table: str = "tasks") -> dict[str, list[object]]:
    return {name: column.tolist() for name, column in recording.table(table).items()}


def check_parquet() -> None:
    """Raise if Parquet cannot be written, and load nothing: pyarrow takes 27 MB, which may be measured."""
    with required("Parquet", "pyarrow", "'taskscope[parquet]'"):
        if find_spec("pyarrow") is None:
            raise ImportError("pyarrow")


def write_parquet(recording: RecordedData, file: BinaryIO, table: str = "tasks") -> None:
    """Write one table as Parquet, with unknown values as null."""
    check_parquet()
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Said, because a column in which nothing is known would have no type.
    types: Mapping[Kind, Callable[[], Any]] = {
        "whole number": pa.int64,
        "number": pa.float64,
        "yes or no": pa.bool_,
    }
    columns = recording.table(table)
    arrays = [
        pa.array(columns[column.name], type=types.get(column.kind, pa.string)(), from_pandas=True)
        for column in TABLES[table].columns
    ]
    pq.write_table(pa.table(arrays, names=list(columns)), file, compression="zstd")


def write_csv(recording: RecordedData, file: BinaryIO, table: str = "tasks") -> None:
    """Write one table as comma-separated values, with unknown values left empty."""
    columns = _columns(recording, table)
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([_blank(value) for value in row] for row in zip(*columns.values(), strict=True))
    text.detach()


def write_json(recording: RecordedData, file: BinaryIO) -> None:
    """Write all tables as one JSON object of columns, with unknown values as ``null``."""
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
    # A spreadsheet would run a key that starts like a formula.
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value


def _null(value: object) -> object:
    return None if _unknown(value) else value


def to_parquet(
    recording: RecordedData,
    directory: str | PathLike[str],
    *,
    overwrite: bool = False,
    redact: Redact = False,
) -> None:
    """Write every table as a Parquet file of its name into a directory, which is made if need be.

    Where no cluster was watched, ``activities`` has one row for each task, its compute. Parameters and
    errors are those of `save`.
    """
    check_parquet()
    _write(redacted(recording, redact=redact), directory, ".parquet", write_parquet, overwrite=overwrite)


def to_csv(
    recording: RecordedData,
    directory: str | PathLike[str],
    *,
    overwrite: bool = False,
    redact: Redact = False,
) -> None:
    """Write every table as a CSV file of its name into a directory, which is made if need be.

    Where no cluster was watched, ``activities`` has one row for each task, its compute. Parameters and
    errors are those of `save`. Unknown values are empty, and text that a spreadsheet would take for
    a formula gets an apostrophe in front.
    """
    _write(redacted(recording, redact=redact), directory, ".csv", write_csv, overwrite=overwrite)


def _write(
    recording: RecordedData,
    directory: str | PathLike[str],
    extension: str,
    write: Callable[[RecordedData, BinaryIO, str], None],
    *,
    overwrite: bool,
) -> None:
    folder = Path(directory).expanduser()
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the directory {str(folder)!r}: {error.strerror or error}") from error
    targets = {table: folder / f"{table}{extension}" for table in TABLES}
    for path in targets.values():
        check_writable(path, overwrite=overwrite)
    for table, path in targets.items():
        write_atomically(path, _writer(recording, table, write), overwrite=overwrite)


def _writer(
    recording: RecordedData, table: str, write: Callable[[RecordedData, BinaryIO, str], None]
) -> Callable[[BinaryIO], None]:
    return lambda file: write(recording, file, table)
