"""Tables as files, one or all of a recording: Parquet, comma-separated values, JSON."""

from __future__ import annotations

import csv
import io
import json
import operator
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from os import PathLike
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import FileError, required
from taskscope.export.atomic import check_writable, write_atomically
from taskscope.export.saved import SavedFile
from taskscope.model.dataframes import Coded
from taskscope.model.public_tables import TABLES
from taskscope.model.recording import RecordedData, Tables
from taskscope.model.redaction import redacted
from taskscope.options import checked_path
from taskscope.schema import Kind

Write: TypeAlias = Callable[[BinaryIO], object]

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def check_parquet() -> None:
    """Raise if Parquet cannot be written, and load nothing: pyarrow takes 27 MB, which may be measured."""
    with required("Parquet", "pyarrow", "'taskscope[parquet]'"):
        if find_spec("pyarrow") is None:
            raise ImportError("pyarrow")


class ParquetTables:
    """Writers of the tables of a recording as Parquet, with unknown values as null."""

    def __init__(self, recording: RecordedData) -> None:
        import pyarrow as pa

        self._tables = Tables(recording)
        self._keys = pa.array(self._tables.keys.texts, pa.large_string())

    def __call__(self, name: str = "tasks") -> Write:
        """Return what writes a table, which is made now."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = self._tables.coded(name)
        arrays = {c.name: self._array(columns[c.name], c.kind) for c in TABLES[name].columns}
        # Dictionaries of numbers, most of them different, take longer than writing these.
        texts = [name for name, array in arrays.items() if pa.types.is_large_string(array.type)]
        options = {"compression": "zstd", "use_dictionary": texts}
        # Without Arrow's own types in the file, readers find texts of the usual type.
        return partial(pq.write_table, pa.table(arrays), store_schema=False, **options)

    def _array(self, values: NDArray[Any] | Coded, kind: Kind) -> Any:  # noqa: ANN401 - pyarrow has no types
        import pyarrow as pa

        if isinstance(values, Coded):
            is_key = values.texts is self._tables.keys.texts
            texts = self._keys if is_key else pa.array(values.texts, pa.large_string())
            return texts.take(pa.array(values.codes))
        # Said, because a column in which nothing is known would have no type.
        types: Mapping[Kind, Callable[[], Any]] = {
            "whole number": pa.int64,
            "number": pa.float64,
            "yes or no": pa.bool_,
        }
        return pa.array(values, types.get(kind, pa.large_string)(), from_pandas=True)


def write_csv(tables: Tables, file: BinaryIO, name: str = "tasks") -> None:
    """Write one table as comma-separated values, with unknown values left empty."""
    columns = tables.get(name)
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*map(_cells, columns.values()), strict=True))
    text.detach()


def write_json(tables: Tables, file: BinaryIO) -> None:
    """Write all tables as one JSON object of columns, with unknown values as ``null``."""
    content = {
        name: {column: _values(values) for column, values in tables.get(name).items()}
        for name in ("runs", "tasks", "resources", "messages")
    }
    recording = tables.recording
    head = {"started_at": recording.started_at.isoformat(), "metadata": dict(recording.metadata)}
    text = json.dumps({**head, **content}, allow_nan=False, default=str)
    file.write(text.encode())


def _values(column: NDArray[Any]) -> list[object]:
    """Return the values of a column, None where unknown."""
    if column.dtype.kind == "f":
        column = np.where(np.isfinite(column), column, None)  # type: ignore[call-overload]  # objects
    values: list[object] = column.tolist()
    return values


def _cells(column: NDArray[Any]) -> list[object]:
    """Return the values of a column; a spreadsheet would run text that starts like a formula."""
    values = _values(column)
    if column.dtype.kind != "O":
        return values
    return [f"'{v}" if isinstance(v, str) and v.startswith(_FORMULAS) else v for v in values]


def to_parquet(
    recording: RecordedData,
    directory: str | PathLike[str],
    *,
    overwrite: bool = False,
    redact: bool = False,
) -> SavedFile:
    """Write every table as a Parquet file of its name into a directory, which is made if need be.

    Where no cluster was watched, ``activities`` has one row for each task, its compute. Parameters,
    value and errors are those of `save`.
    """
    check_parquet()
    tables = ParquetTables(redacted(recording, redact=redact))
    return _write(directory, ".parquet", tables, overwrite=overwrite)


def to_csv(
    recording: RecordedData,
    directory: str | PathLike[str],
    *,
    overwrite: bool = False,
    redact: bool = False,
) -> SavedFile:
    """Write every table as a CSV file of its name into a directory, which is made if need be.

    Where no cluster was watched, ``activities`` has one row for each task, its compute. Parameters,
    value and errors are those of `save`. Unknown values are empty, and text that a spreadsheet would take for
    a formula gets an apostrophe in front.
    """
    tables = Tables(redacted(recording, redact=redact))
    return _write(directory, ".csv", lambda name: partial(write_csv, tables, name=name), overwrite=overwrite)


def _write(
    directory: str | PathLike[str], extension: str, writer: Callable[[str], Write], *, overwrite: bool
) -> SavedFile:
    folder = checked_path(directory, "directory")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the directory {str(folder)!r}: {error.strerror or error}") from error
    targets = {table: folder / f"{table}{extension}" for table in TABLES}
    for path in targets.values():
        check_writable(path, overwrite=overwrite)
    made = (
        partial(write_atomically, path, writer(table), overwrite=overwrite) for table, path in targets.items()
    )
    with ThreadPoolExecutor(2) as pool:
        try:
            pool.submit(int)
        except RuntimeError:
            # At the end of the process, where blocks that are still open save, no thread can begin.
            list(map(operator.call, made))
        else:
            # While one is written, which needs no lock of Python's as Parquet, the next one is made.
            list(pool.map(operator.call, made))
    return SavedFile(folder)
