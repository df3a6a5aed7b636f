"""Write what is made of the declaration of the tables: ``python -m docs.tables``.

That is ``docs/tables.md`` and the tables of the decoder in the browser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from taskscope.codec import FORMAT, LIMITS
from taskscope.model.streams import PAGE as TOLD
from taskscope.model.tables import TABLES
from taskscope.schema import Column, Table

__all__ = ["DECODER", "PAGE", "decoder", "page"]

PAGE = Path(__file__).with_suffix(".md")
DECODER = PAGE.parents[1] / "labextension/src/wire/tables.ts"

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


_DECODER_BEGINS = """\
/**
 * Made by `python -m docs.tables` from taskscope.model.streams; change it there.
 *
 * What a column is: `int`, `time` (seconds after the zero), `duration` (at least 0), `f4`, `f8`, `text`; `?`:
 * it may be unknown; `< n`: a place in `choices`, or 0 and 1; `of <table>`: a row of that table, by number.
 * `by`: the columns that transform 2 goes by.
 */
"""


def decoder() -> str:
    """Return the tables of a page's stream as TypeScript."""
    limits = ", ".join(f"{name}: {most}" for name, most in LIMITS.items())
    tables = (line for table in TOLD.values() for line in _declaration(table))
    return "\n".join(
        [
            f"{_DECODER_BEGINS}export const FORMAT = {FORMAT};\n",
            f"export const LIMITS = {{ {limits} }} as const;\n",
            "export const TABLES = {",
            *tables,
            "} as const;",
            "",
        ]
    )


def _declaration(table: Table) -> Iterator[str]:
    mode = "by " + ",".join(table.key) if table.key else table.mode
    yield f"  {table.name}: {{"
    yield f"    mode: '{mode}',"
    yield "    columns: {"
    yield ",\n".join(f"      {column.name}: '{column.wire}'" for column in table.columns)
    yield "    },"
    yield _entries("by", {c.name: (c.by, c.plus) for c in table.columns if c.by}) + ","
    yield _entries("choices", {c.name: c.choices for c in table.columns if c.choices})
    yield "  }" if table.name == list(TOLD)[-1] else "  },"


def _entries(name: str, values: Mapping[str, Sequence[str]]) -> str:
    entries = (f"{column}: [{', '.join(map(repr, of))}]" for column, of in values.items())
    inner = ", ".join(entries)
    return f"    {name}: {{ {inner} }}" if inner else f"    {name}: {{}}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    DECODER.write_text(decoder(), encoding="utf-8")
