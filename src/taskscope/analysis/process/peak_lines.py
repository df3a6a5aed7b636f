"""Which tasks and source lines had allocated what was there when most was, where that was recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from taskscope.analysis.quantities import format_bytes, format_percent, printable
from taskscope.analysis.result import Result, Section, columns_of
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import source_of
from taskscope.model.tables.memory import PeakLine

__all__ = ["AllocatedLine", "Allocations", "allocations"]

_MAX_SHOWN = 10


@dataclass(frozen=True, slots=True)
class AllocatedLine:
    """What a source line had allocated for a task, and not yet freed.

    Parameters
    ----------
    key, prefix
        The task; a key of None: several, as only the 20,000 largest rows are told apart. Both None: no task.
    file, function, line
        Where: the innermost line that is of no library, or, if all are, the innermost one.
    source
        What the line says; None where the file is not here, or has changed since.
    nbytes, n_allocations
        How much, and in how many pieces.
    """

    key: str | None
    prefix: str | None
    file: str | None
    function: str | None
    line: int | None
    source: str | None
    nbytes: int
    n_allocations: int


@dataclass(frozen=True, slots=True, repr=False)
class Allocations(Result):
    """What was allocated, and not yet freed, when that was most, since recording it began.

    It is what was asked for (``malloc``, ``mmap``), measured; what the process had in memory, or had
    before, is something else.

    Parameters
    ----------
    lines
        By task and source line, the largest first; what no task had is the last.
    """

    lines: tuple[AllocatedLine, ...]

    @property
    def nbytes(self) -> int:
        """How much it was."""
        return sum(line.nbytes for line in self.lines)

    @property
    def located_share(self) -> float:
        """The share of which task and line are known; NaN where nothing was recorded."""
        located = sum(line.nbytes for line in self.lines if line.key is not None and line.line is not None)
        return located / self.nbytes if self.nbytes else float("nan")

    def by_task(self) -> dict[str, int]:
        """Return how many bytes each task had, the most first."""
        return _summed((line.key, line.nbytes) for line in self.lines if line.key is not None)

    def by_prefix(self) -> dict[str, int]:
        """Return how many bytes tasks of each prefix had, the most first."""
        return _summed((line.prefix, line.nbytes) for line in self.lines if line.prefix is not None)

    def table(self) -> dict[str, list[object]]:
        """Return a row for each task and line, with the fields of `AllocatedLine`."""
        return columns_of(self.lines, *AllocatedLine.__slots__)

    def words(self) -> str:
        """Return the line that had most, over all tasks of a prefix; nothing where none is known."""
        rows = _by_line(self.lines)
        if not rows:
            return ""
        (prefix, where, _), nbytes = rows[0]
        return f"{format_bytes(nbytes)} by {where} (tasks: {printable(prefix, 36)})"

    def sections(self) -> Iterator[Section]:
        """Yield each line over all tasks of a prefix, the largest first."""
        if not self.lines:
            yield Section("not recorded by task and line: use memory=True, or %%profile --memory")
            return
        share = format_percent(self.located_share)
        yield Section(
            f"allocated when it was most · {format_bytes(self.nbytes)} ({share} of it with task and line)",
            ("task type", "line", "bytes", "share", "source"),
            [
                (prefix, where, format_bytes(n), format_percent(n / self.nbytes), (source or "").strip())
                for (prefix, where, source), n in _by_line(self.lines)[:_MAX_SHOWN]
            ],
            left=2,
            is_last_left=True,
        )


_Place = tuple[str, str, str | None]
"""A prefix, file and number of a line, and its source."""


def _by_line(lines: Sequence[AllocatedLine]) -> list[tuple[_Place, int]]:
    sums: defaultdict[_Place, int] = defaultdict(int)
    for line in lines:
        if line.prefix is not None and line.file is not None:
            file = line.file.replace("\\", "/").rpartition("/")[2]
            sums[line.prefix, f"{printable(file, 36)}:{line.line}", line.source] += line.nbytes
    return sorted(sums.items(), key=lambda item: -item[1])


def _summed(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    sums: defaultdict[str, int] = defaultdict(int)
    for name, nbytes in pairs:
        sums[name] += nbytes
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def allocations(recording: RecordedData) -> Allocations:
    """Return what was allocated at the highest of the peaks that were recorded."""
    totals: defaultdict[int, int] = defaultdict(int)
    for row in recording.peak_lines:
        totals[row.peak] += row.nbytes
    highest = max(totals, key=totals.__getitem__, default=None)
    rows = [row for row in recording.peak_lines if row.peak == highest]
    sources = cache(lambda file: source_of(file, recording.started_at))
    return Allocations(tuple(_line(row, sources(row.file) if row.file else ()) for row in rows))


def _line(row: PeakLine, source: Sequence[str]) -> AllocatedLine:
    text = source[row.line - 1] if row.line is not None and 0 < row.line <= len(source) else None
    return AllocatedLine(
        row.key, row.prefix, row.file, row.function, row.line, text, row.nbytes, row.n_allocations
    )
