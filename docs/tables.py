"""Write ``docs/tables.md`` from the declaration of the tables: ``python -m docs.tables``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from taskscope.model.tables import TABLES
from taskscope.schema import Column, Table

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).with_suffix(".md")

_INTRODUCTION = """\
<!-- Made by `python -m docs.tables` from taskscope.model.tables; change it there. -->

# Tables

What `recording.to_pandas(name)`, `to_parquet` and `to_csv` give. Times are seconds after
`recording.started_at`. What is not known is `NaN` or `None`, never 0; columns where that can be are
marked *optional*. A key that is a string stands as it is, any other as its `repr`.
Columns are added in new versions, not renamed.
"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_INTRODUCTION, *(line for table in TABLES.values() for line in _section(table))])


def _section(table: Table) -> Iterator[str]:
    yield f"## {table.name}\n"
    yield f"{table.meaning}\n"
    yield "| column | values | meaning |"
    yield "|---|---|---|"
    for column in table.columns:
        yield f"| `{column.name}` | {_values(column)} | {_meaning(column)} |"
    yield ""


def _values(column: Column) -> str:
    unit = f", {column.unit}" if column.unit else ""
    optional = ", *optional*" if column.optional else ""
    return f"{column.kind}{unit}{optional}"


def _meaning(column: Column) -> str:
    choices = ", ".join(f"`{choice}`" for choice in column.choices)
    return f"{column.meaning} One of {choices}." if choices else column.meaning


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
