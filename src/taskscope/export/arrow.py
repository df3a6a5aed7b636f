"""The format ``.taskscope``: one Arrow IPC stream per table, one after the other in one file.

The first stream is empty and carries everything small as JSON in its schema. Nothing in the file is code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import DamagedFileError
from taskscope.export.parts import from_parts, header, to_parts
from taskscope.export.requirements import pyarrow
from taskscope.model.recording import Recording

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read", "write"]

_VERSION = 1
_BATCH_ROWS = 100_000


def write(recording: Recording, file: BinaryIO) -> None:
    """Write a recording."""
    arrow = pyarrow()
    head = json.dumps({"version": _VERSION, **header(recording)}, default=str)
    _write_stream(file, arrow.table({}), "header", {"taskscope": head})
    for name, part in to_parts(recording).items():
        columns = {column: arrow.array(values) for column, values in part.items()}
        _write_stream(file, arrow.table(columns), name, {})


def read(file: BinaryIO) -> Recording:
    """Return the recording in a file.

    Raises
    ------
    DamagedFileError
        If the file is truncated, damaged, of a newer version, or not one of ours.
    """
    arrow = pyarrow()
    try:
        head, parts = _read_streams(arrow, file)
        return from_parts(head, parts)
    except (arrow.ArrowException, OSError, KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, DamagedFileError):
            raise
        raise DamagedFileError(f"not a complete recording of taskscope: {error}") from error


def _write_stream(file: BinaryIO, table: pa.Table, name: str, metadata: Mapping[str, str]) -> None:
    arrow = pyarrow()
    schema = table.schema.with_metadata({"table": name, **metadata})
    options = arrow.ipc.IpcWriteOptions(compression="zstd" if arrow.Codec.is_available("zstd") else None)
    with arrow.ipc.new_stream(file, schema, options=options) as writer:
        writer.write_table(table.replace_schema_metadata(schema.metadata), max_chunksize=_BATCH_ROWS)


def _read_streams(arrow: ModuleType, file: BinaryIO) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    head: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    source = arrow.PythonFile(file, mode="r")
    while file.read(1):
        file.seek(-1, 1)
        reader = arrow.ipc.open_stream(source)
        metadata = reader.schema.metadata or {}
        if not head:
            head = _header(metadata)
        table = reader.read_all()
        parts[metadata[b"table"].decode()] = {
            column: _values(table.column(column)) for column in table.column_names
        }
    if not head:
        raise DamagedFileError("not a recording of taskscope: the file is empty")
    return head, parts


def _header(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    text = metadata.get(b"taskscope")
    if text is None:
        raise DamagedFileError("not a recording of taskscope: an Arrow file of another tool")
    head: dict[str, Any] = json.loads(text)
    if head.get("version") != _VERSION:
        raise DamagedFileError(
            f"the file has version {head.get('version')!r} of the format, this taskscope reads {_VERSION}"
        )
    return head


def _values(column: pa.ChunkedArray) -> NDArray[Any]:
    if str(column.type) == "string":
        return np.array(column.to_pylist(), object)
    values: NDArray[Any] = column.to_numpy()
    return values
