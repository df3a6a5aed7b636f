"""Write ``docs/options.md`` from the declaration of the options: ``python -m docs.options``."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from taskscope.options import Argument, HistoryOptions, Option, declared, shown

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).with_suffix(".md")

_INTRODUCTION = """\
<!-- Made by `python -m docs.options` from taskscope.options; change it there. -->

# Options

What a profiled block takes, and how that is written: as a keyword of `taskscope.profile()`, in the
first line of a cell after `%%profile` (or before a statement, after `%profile`), and before the script of
`taskscope run`. `%%profile` has one more: `-o NAME` binds the recording to a variable.

| `profile()` | default | `%%profile` | `taskscope run` | meaning |
|---|---|---|---|---|
"""


_HISTORY = """
## The history

`%taskscope history on` keeps long computes as `.taskscope` files in one folder, `%taskscope history off`
ends it, and `%taskscope history` and `taskscope.runs(history=True)` list them. In JupyterLab the setting
*Keep long computes as files* turns it on with its defaults. Elsewhere put the lines `%load_ext taskscope` and
`%taskscope history on` into `c.InteractiveShellApp.exec_lines` of `ipython_config.py`. The options are:

| `%taskscope history on` | default | meaning |
|---|---|---|
"""


def page() -> str:
    """Return the page as Markdown."""
    rows = (
        f"| `{one.name}` | {_code(shown(one.default))} | {_written(what, in_run=False)} |"
        f" {_written(what, in_run=True)} | {_code(f'{what.meaning} {what.more}'.strip())} |\n"
        for one, what in declared()
    )
    history = (
        f"| {_written(what, in_run=False)} | {_code(shown(one.default))} |"
        f" {_code(f'{what.meaning} {what.more}'.strip())} |\n"
        for one, what in ((one, one.metadata["option"]) for one in fields(HistoryOptions))
    )
    return "".join([_INTRODUCTION, *rows, _HISTORY, *history])


def _code(text: str) -> str:
    return text.replace("``", "`")


def _written(what: Option, *, in_run: bool) -> str:
    chosen = [argument for argument in what.arguments if argument.in_run or not in_run]
    return ", ".join(f"`{f'{argument.flags[0]} {_value(argument)}'.strip()}`" for argument in chosen)


def _value(argument: Argument) -> str:
    return f"[{argument.value} …]" if argument.takes_more else argument.value


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
