"""How a table is declared: once, as a dataclass, from which everything else about it is made.

A class of records (`Run`) or of columns (`ActivityRows`) annotates each field with its type, and with `About`
what a type cannot say: the unit, what it refers to, what it means. From that come what a file may hold
and how it is checked, the tables that a user gets, and the page of the documentation that describes them.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import cache
from typing import Any, Literal, Self, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["whole number", "number", "text", "yes or no", "texts"]
"""What a value is, in a record and in the table that a user gets."""

Mode: TypeAlias = Literal["append", "restart", "by key", "whole"]
"""How the rows of a batch relate to earlier rows: they follow them; follow them, or replace all of them where
the first has number 0; replace those of the same key; or are all rows there are, even where there are none.
"""

_KINDS: dict[type, Kind] = {
    bool: "yes or no",
    int: "whole number",
    float: "number",
    str: "text",
    tuple: "texts",
}


Private: TypeAlias = Literal["name", "address", "error", "words", "no"]
"""What redaction leaves of a text: of a name a number, equal ones the same; of an address all but its host;
of an error its type; of a message taskscope's words, which are in its column `words`; or all.
"""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind
    meaning: str
    _: KW_ONLY
    unit: str = ""
    optional: bool = False
    refers: str = ""
    choices: tuple[str, ...] = ()
    is_time: bool = False
    stored: tuple[str, ...] = ()
    internal: bool = False
    is_exact: bool = False
    page: bool = True
    file: bool = True
    private: Private = "name"
    known: tuple[str, ...] = ()

    @property
    def wire(self) -> str:
        """What a stream carries, as readers of all languages know it; ``?``: it may be unknown."""
        return _wire(self)

    def places(self, values: Sequence[Any]) -> list[int | None]:
        """Return the places of values among the choices; unknown stays unknown."""
        return [None if value is None else self.choices.index(value) for value in values]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the column in a user's table."""
        if self.kind == "number":
            return np.dtype(np.float64)
        if self.kind == "yes or no":
            return np.dtype(np.bool_)
        return np.dtype(np.int64 if self.kind == "whole number" and not self.optional else object)


@cache
def _wire(column: Column) -> str:
    unknown = "?" if column.optional else ""
    if column.kind == "text" and not column.choices:
        return f"text{unknown}"
    if n_choices := 2 if column.kind == "yes or no" else len(column.choices):
        return f"int{unknown} < {n_choices}"
    if column.kind == "number" and (column.is_exact or column.unit not in {"s", "bytes"}):
        return f"f8{unknown}"
    if column.kind == "number" and column.unit == "s":
        return f"{'time' if column.is_time else 'duration'}{unknown}"
    table, _, referred = column.refers.partition(".")
    return f"int{unknown} of {table}" if referred == "id" else f"int{unknown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table that a user, a page or a file gets."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    mode: Mode = "append"
    key: tuple[str, ...] = ()
    page: bool = True
    file: bool = True
    public: bool = False
    """Whether users get its records, without internal columns, as a table of the same name."""
    record: type[Any] | None = None
    """The class of its rows, where a recording has them as records."""


def marked(tables: Iterable[Table], mark: Literal["page", "file"]) -> dict[str, Table]:
    """Return the tables, by name, and the columns of them that have this mark."""
    return {
        table.name: replace(table, columns=tuple(c for c in table.columns if getattr(c, mark)))
        for table in tables
        if getattr(table, mark)
    }


@dataclass(frozen=True, slots=True)
class About:
    """What the type of a field does not say of its column, as its annotation; see `Column`.

    `page` and `file`: whether pages and files carry it; `private`: what redaction leaves of its texts besides
    `known` ones.
    """

    meaning: str
    unit: str = ""
    refers: str = ""
    is_time: bool = False
    internal: bool = False
    optional: bool = False
    kind: Kind | None = None
    page: bool = True
    file: bool = True
    private: Private = "name"
    known: tuple[str, ...] = ()


def shown(declared: type, column: str, **changes: object) -> Column:
    """Return a declared column as a user's table shows it, with these attributes of `Column` changed."""
    (found,) = [c for c in columns_of(declared) if c.name == column]
    return replace(found, **changes)  # type: ignore[arg-type]  # checked by Column


def columns_of(declared: type) -> tuple[Column, ...]:
    """Return the columns that a class of records or of columns declares."""
    return _columns_of(declared)


@cache
def _columns_of(declared: Hashable) -> tuple[Column, ...]:
    hints = get_type_hints(declared, include_extras=True)
    return tuple(
        Column(name=name, **{**said, **_typed(hint.__origin__), **({"kind": kind} if kind else {})})
        for name, hint in hints.items()
        for about in getattr(hint, "__metadata__", ())
        if isinstance(about, About)
        for said in [asdict(about)]
        for kind in [said.pop("kind")]
    )


def _typed(hint: object) -> dict[str, Any]:
    """Return what a type says of a column."""
    parts = get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)
    known: list[Any] = [_resolved(part) for part in parts if part is not types.NoneType]
    if get_origin(known[0]) is np.ndarray:
        scalars = [get_args(get_args(part)[1])[0] for part in known]
        return {"kind": _array_kind(scalars[0]), "stored": tuple(np.dtype(s).str for s in scalars)}
    choices = get_args(known[0]) if get_origin(known[0]) is Literal else ()
    plain = str if choices else get_origin(known[0]) or known[0]
    return {"kind": _KINDS[plain], "optional": len(known) < len(parts), "choices": choices}


def _resolved(hint: object) -> object:
    # NumPy's NDArray is a `type` statement's alias from Python 3.12 on.
    value = getattr(get_origin(hint), "__value__", None)
    return hint if value is None else value[get_args(hint)]


def _array_kind(scalar: type[np.generic]) -> Kind:
    return "number" if issubclass(scalar, np.floating) else "whole number"


def unknown(stored: str) -> float:
    """Return what stands for unknown in a column of this type."""
    return np.nan if np.dtype(stored).kind == "f" else -1


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Equally long columns, each a field that is an array; other fields are true of all rows."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return next(len(getattr(self, c.name)) for c in columns_of(type(self)) if c.stored)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return {c.name: getattr(self, c.name) for c in columns_of(type(self)) if c.stored}

    def part(self, rows: slice | NDArray[Any]) -> Self:
        """Return these rows."""
        return self._with({name: values[rows] for name, values in self.arrays().items()})

    def copy(self) -> Self:
        """Return the same rows in memory of their own."""
        return self._with({name: values.copy() for name, values in self.arrays().items()})

    def _with(self, arrays: dict[str, NDArray[Any]]) -> Self:
        return replace(self, **arrays)

    def continues_in(self, rows: Self) -> bool:
        """Whether `rows` can stand behind these in one block."""
        del rows
        return True

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of all parts, in order; what is true of all rows is that of the first part."""
        if not parts:
            return cls.empty()
        arrays = [part.arrays() for part in parts]
        return parts[0]._with({name: np.concatenate([a[name] for a in arrays]) for name in arrays[0]})

    @classmethod
    def of(cls, rows: Sequence[Sequence[object]]) -> Self:
        """Return rows given one by one, for a class whose fields are all arrays.

        Columns at the end that may be unknown are unknown where rows have no values for them.
        """
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(columns_of(cls))
        rest = columns_of(cls)[len(columns) :]
        columns += [(unknown(c.stored[0]),) * len(rows) for c in rest if c.optional]
        return cls(*(np.array(v, c.stored[0]) for v, c in zip(columns, columns_of(cls), strict=True)))

    def tuples(self) -> Iterator[tuple[Any, ...]]:
        """Return the rows one by one."""
        return zip(*(values.tolist() for values in self.arrays().values()), strict=True)

    @classmethod
    def empty(cls) -> Self:
        """Return no rows, for a class whose fields are all arrays."""
        return cls(*(np.empty(0, c.stored[0]) for c in columns_of(cls)))
