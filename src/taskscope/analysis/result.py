"""The base of every analysis result: its rows as plain values and pandas, its text, and its HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from html import escape
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

import numpy as np

from taskscope.analysis.quantities import printable
from taskscope.model.dataframes import Columns, data_frame, text_column

if TYPE_CHECKING:
    import pandas as pd

_MOST_CHARACTERS = 500
_HEAD = 'th scope="col"'
LEFT = ' style="text-align:left;white-space:pre-wrap"'


@dataclass(frozen=True, slots=True)
class Section:
    """A title, a table of texts and notes below it: the one source of a result's text and HTML.

    An empty `head` is left out. The first `left` columns are aligned to the left, and the last one with
    `is_last_left`.
    """

    title: str
    head: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    notes: Sequence[str] = ()
    left: int = 1
    is_last_left: bool = False

    def text(self) -> str:
        """Return the section as lines of text."""
        table = [tuple(map(_printed, row)) for row in ([self.head] if self.head else []) + [*self.rows]]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [_printed(self.title)] if self.title else []
        if table:
            lines += [*([""] if lines else []), *(self._line(row, widths) for row in table)]
        if self.notes:
            lines += [*([""] if table else []), *(f"  {_printed(note)}" for note in self.notes)]
        return "\n".join(lines)

    def _line(self, row: tuple[str, ...], widths: Sequence[int]) -> str:
        cells = [
            cell.ljust(width) if self._is_left(place) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"  {'  '.join(cells)}".rstrip()

    def html(self) -> str:
        """Return the section as HTML without scripts, in the colours of the page around it."""
        title = f"<div><b>{escape(_printed(self.title))}</b></div>" if self.title else ""
        notes = "".join(f"<div>{escape(_printed(note))}</div>" for note in self.notes)
        return f"{title}{self.table_html(left=LEFT) if self.rows else ''}{notes}"

    def table_html(self, first: str = "td", left: str = "") -> str:
        """Return the table as HTML; `first` is the element of first cells, `left` the style of left ones."""
        head = f"<thead>{self._row(self.head, _HEAD, _HEAD, left)}</thead>"
        rows = "".join(self._row(row, first, "td", left) for row in self.rows)
        return f"<table>{head if any(self.head) else ''}<tbody>{rows}</tbody></table>"

    def _row(self, row: tuple[str, ...], first: str, others: str, left: str) -> str:
        cells = (
            f"<{tag}{left if self._is_left(place) else ''}>{escape(_printed(cell))}</{tag[:2]}>"
            for place, cell in enumerate(row)
            for tag in [others if place else first]
        )
        return f"<tr>{''.join(cells)}</tr>"

    def _is_left(self, place: int) -> bool:
        n_columns = len(self.head or (self.rows[0] if self.rows else ()))
        return place < self.left or (self.is_last_left and place == n_columns - 1)


def _printed(text: str) -> str:
    return printable(text, _MOST_CHARACTERS)


class Result:
    """The base of the results of analyses; subclasses are frozen dataclasses with ``repr=False``.

    It prints as text, and a notebook shows it as a table.
    """

    __slots__ = ()
    _rows: ClassVar[tuple[str, type]]
    """The attribute with the rows of the table, and their dataclass, whose fields are the columns."""
    _plain: ClassVar[tuple[str, ...]] = ()
    """The attributes of `to_dict`; by default all fields."""
    _plain_rows: ClassVar[str | None] = None
    """The name of the table in `to_dict`."""

    def sections(self) -> Iterable[Section]:
        """Return the contents of the text and the HTML."""
        raise NotImplementedError

    def table(self) -> Columns | Mapping[str, Sequence[object]]:
        """Return the rows as equally long columns by name."""
        name, of = self._rows
        return columns_of(attrgetter(name)(self), *(field.name for field in fields(of)))

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame; unknown is NaN or None.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        return data_frame(self.table())

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain values, ready for JSON; unknown is None."""
        names = self._plain or [of.name for of in fields(self)]  # type: ignore[arg-type]  # subclasses are dataclasses
        values = {name: plain(getattr(self, name)) for name in names}
        return values if self._plain_rows is None else values | {self._plain_rows: plain(self.table())}

    def __str__(self) -> str:
        """Return the result as text."""
        return "\n\n".join(section.text() for section in self.sections())

    def __repr__(self) -> str:
        """Return the text, which a terminal shows."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return the result as HTML, which a notebook shows."""
        parts = "".join(f'<div style="margin:4px 0">{section.html()}</div>' for section in self.sections())
        return f'<div class="taskscope-result">{parts}</div>'


_Row = TypeVar("_Row", bound=NamedTuple)


@dataclass(frozen=True, slots=True, repr=False)
class TableResult(Result):
    """Equally long `columns` by name; `reason` is why there are no rows, `shown` the rows as text."""

    columns: Mapping[str, Sequence[object]]
    reason: str | None
    shown: Section

    _plain: ClassVar[tuple[str, ...]] = ("columns", "reason")

    @classmethod
    def of(
        cls,
        rows: Sequence[_Row],
        row: type[_Row],
        reason: str,
        title: str,
        shown: Mapping[str, Callable[[_Row], str]],
        notes: Sequence[str] = (),
        *,
        most: int = 40,
        left: int = 1,
        is_last_left: bool = False,
    ) -> TableResult:
        """Return rows, whose fields are the columns; `shown` makes the texts below each head."""
        columns = columns_of(rows, *row._fields)
        if not rows:
            return cls(columns, reason, Section(reason))
        texts = [tuple(text(each) for text in shown.values()) for each in rows[:most]]
        more = [f"{len(rows) - most:,} more rows are in to_pandas()"] if len(rows) > most else []
        return cls(columns, None, Section(title, tuple(shown), texts, [*more, *notes], left, is_last_left))

    def table(self) -> Mapping[str, Sequence[object]]:
        """Return the columns by name."""
        return self.columns

    def sections(self) -> Iterable[Section]:
        """Yield the table."""
        yield self.shown


def typed_columns(types: Mapping[str, type], rows: Sequence[Sequence[object]]) -> Columns:
    """Return rows as columns of these types; texts may be None."""
    values = zip(*rows, strict=True) if rows else ((),) * len(types)
    return {
        name: text_column(column) if of is str else np.array(column, of)
        for (name, of), column in zip(types.items(), values, strict=True)
    }


def columns_of(rows: Iterable[object], *names: str) -> dict[str, list[object]]:
    """Return attributes of rows as columns."""
    rows = tuple(rows)
    return {name: [getattr(row, name) for row in rows] for name in names}


def plain(value: object) -> object:
    """Return a value as numbers, texts, lists and dicts; NaN and infinity as None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        value = {of.name: getattr(value, of.name) for of in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(of) for name, of in value.items()}
    if isinstance(value, list | tuple):
        return [plain(of) for of in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
