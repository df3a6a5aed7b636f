"""All tables of a recording in one folder, a file each."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from taskscope.analysis.redaction import Redact, redacted
from taskscope.errors import FileError
from taskscope.export.atomic import check_writable, write_atomically
from taskscope.export.tabular import check_parquet, write_csv, write_parquet
from taskscope.model.public_tables import TABLES
from taskscope.model.recording import RecordedData


def to_parquet(
    recording: RecordedData, directory: str | PathLike[str], *, overwrite: bool, redact: Redact
) -> None:
    """Write all tables; see `taskscope.Recording.to_parquet`."""
    check_parquet()
    _write(redacted(recording, redact=redact), directory, ".parquet", write_parquet, overwrite=overwrite)


def to_csv(
    recording: RecordedData, directory: str | PathLike[str], *, overwrite: bool, redact: Redact
) -> None:
    """Write all tables; see `taskscope.Recording.to_csv`."""
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
