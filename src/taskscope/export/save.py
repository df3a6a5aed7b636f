"""Choose a format by a file's extension, and write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TypeAlias

from taskscope.analysis.code_lines import lines
from taskscope.analysis.compare import ComparedData, compared
from taskscope.analysis.display import page_tables
from taskscope.analysis.summary import summary_text
from taskscope.errors import OptionError
from taskscope.export import tabular
from taskscope.export.atomic import check_writable, write_atomically
from taskscope.export.perfetto import write_perfetto
from taskscope.export.saved import SavedFile
from taskscope.export.speedscope import write_speedscope
from taskscope.model.recording import RecordedData, Tables
from taskscope.model.redaction import redacted
from taskscope.options import checked_path
from taskscope.report import page_html
from taskscope.report.comparison import comparison_page

Writer: TypeAlias = Callable[[RecordedData, BinaryIO], object]


def write_text(recording: RecordedData, file: BinaryIO) -> None:
    """Write the summary, and the source lines that tasks were sampled in, if they were."""
    text = summary_text(recording)
    # The thread of a block is sampled, too, where no task was.
    if (found := lines(recording)).functions:
        text += f"\n\n{found}"
    file.write(f"{text}\n".encode())


def write_html(recording: RecordedData, file: BinaryIO) -> None:
    """Write one document that needs neither kernel nor network."""
    file.write(page_html(recording).encode())


FORMATS: Mapping[str, Writer] = {
    ".taskscope": page_tables.write,
    ".html": write_html,
    ".txt": write_text,
    ".pftrace": write_perfetto,
    ".parquet": lambda recording, file: tabular.ParquetTables(recording)()(file),
    ".csv": lambda recording, file: tabular.write_csv(Tables(recording), file),
    ".json": lambda recording, file: tabular.write_json(Tables(recording), file),
}
"""How each extension is written. Only ``.taskscope`` holds all tables and can be loaded again."""


def check_target(path: str | PathLike[str], *, overwrite: bool = False) -> Path:
    """Return `path` if a recording can be saved there, before there is one."""
    target = checked_path(path)
    if _writer(target) is FORMATS[".parquet"]:
        tabular.check_parquet()
    check_writable(target, overwrite=overwrite)
    return target


def save(
    recording: RecordedData, path: str | PathLike[str], *, overwrite: bool = False, redact: bool = False
) -> SavedFile:
    """Write the recording to a file in the format of its extension.

    Parameters
    ----------
    path
        Where to; ``.taskscope`` is the format that `taskscope.load` reads back.
    overwrite
        Replace a file that exists; without it that is an error.
    redact
        Leave only numbers, versions, types of errors and taskscope's own words; names become ``name-1``,
        ``name-2``…, equal ones the same. Credentials in URLs never reach a file.

    Returns
    -------
    SavedFile
        The path. Where it is the last value of a cell, a notebook shows it as a link to the file.

    Raises
    ------
    FileError
        If the file cannot be written, or exists and `overwrite` is false.
    OptionError
        If the extension is not a known one, or `redact` is neither True nor False.
    MissingDependencyError
        If it is ``.parquet``, and pyarrow is not installed (``pip install 'taskscope[parquet]'``).
    """
    target = check_target(path, overwrite=overwrite)
    return _write(recording, target, _writer(target), overwrite=overwrite, redact=redact)


def write_as(
    recording: RecordedData,
    path: str | PathLike[str],
    *,
    extension: str,
    overwrite: bool = False,
    redact: bool = False,
) -> None:
    """Write the recording in the format of an extension, whatever the path's own is; else as `save`."""
    _write(recording, checked_path(path), FORMATS[extension], overwrite=overwrite, redact=redact)


def to_html(
    recording: RecordedData, path: str | PathLike[str], *, overwrite: bool = False, redact: bool = False
) -> SavedFile:
    """Write one page that needs neither kernel nor network: picture, table, and the interactive chart.

    Parameters, value and errors are those of `save`. Times are rounded to a microsecond, CPU shares to 0.4 %.
    """
    return _write(recording, checked_path(path), write_html, overwrite=overwrite, redact=redact)


def to_perfetto(
    recording: RecordedData, path: str | PathLike[str], *, overwrite: bool = False, redact: bool = False
) -> SavedFile:
    """Write a trace that Perfetto (ui.perfetto.dev) opens, in its own format: ``.pftrace``.

    Lanes are threads; CPU, memory and cache usage are counters. A counter with more than 10,000 changes has
    the maximum of each ten-thousandth of the time. It has no dependencies. Parameters, value and errors are
    those of `save`.
    """
    return _write(recording, checked_path(path), write_perfetto, overwrite=overwrite, redact=redact)


def comparison_to_html(comparison: ComparedData, path: str | PathLike[str], *, overwrite: bool) -> SavedFile:
    """Write one document; see `taskscope.recording.Comparison.to_html`."""
    leaving = compared(*map(redacted, comparison.recordings))
    page = comparison_page(leaving).encode()
    target = checked_path(path)
    write_atomically(target, lambda file: file.write(page), overwrite=overwrite)
    return SavedFile(target)


def to_speedscope(
    recording: RecordedData, path: str | PathLike[str], *, overwrite: bool = False, redact: bool = False
) -> SavedFile:
    """Write the sampled call stacks for speedscope (speedscope.app), a profile for each worker.

    The outermost frame of each stack is the prefix of the task, and the weight of a stack is the time
    that its samples stand for, an estimate. Stacks are in the order of time to the nearest second.
    Parameters, value and errors are those of `save`.

    Raises
    ------
    OptionError
        If no call stacks were sampled.
    """
    return _write(recording, checked_path(path), write_speedscope, overwrite=overwrite, redact=redact)


def _write(
    recording: RecordedData, target: Path, write: Writer, *, overwrite: bool, redact: bool
) -> SavedFile:
    leaving = redacted(recording, redact=redact)
    write_atomically(target, lambda file: write(leaving, file), overwrite=overwrite)
    return SavedFile(target)


def _writer(path: Path) -> Writer:
    writer = FORMATS.get(path.suffix.lower())
    if writer is None:
        near = get_close_matches(path.suffix.lower(), FORMATS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        ending = f"its ending {path.suffix!r} is" if path.suffix else "it has no ending that is"
        known = f"{'not ' if path.suffix else ''}one of {', '.join(FORMATS)}"
        raise OptionError(f"cannot tell the format of {str(path)!r}: {ending} {known}{hint}")
    return writer
