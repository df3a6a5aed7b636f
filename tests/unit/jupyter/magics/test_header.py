from __future__ import annotations

import ast

import pytest

from taskscope.jupyter.magics.header import HeaderTransformer, header_to_string


@pytest.mark.parametrize(
    "cell",
    [
        "%%profiler\nx\n",
        " %%profile\nx\n",
        "x\n%%profile\n",
        "%%profile?\n",
        "%%profile??\n",
        "%profile x\n",
        "",
    ],
)
def test_other_cells_are_left_alone(cell: str) -> None:
    lines = cell.splitlines(keepends=True)
    assert header_to_string(lines) == lines


def test_only_the_first_line_changes_whatever_is_in_the_others() -> None:
    body = ["def f():\n", "\treturn '''\n", "  %%profile '''\n"]
    assert header_to_string(["%%profile --label 'a b'  \n", *body]) == [
        "\"%%profile --label 'a b'\"\n",
        *body,
    ]


def test_a_cell_magic_below_is_seen_by_ipython() -> None:
    assert header_to_string(["%%profile -q\n", "%%time\n", "x\n"]) == [
        "'%%profile -q'\n",
        "get_ipython().run_cell_magic('time', '', 'x\\n')\n",
    ]


def transformed(source: str) -> str:
    def begin(line: str, awaits: bool) -> ast.expr:  # noqa: FBT001 - the transformer's own protocol
        return ast.parse(f"{'begin_in_loop' if awaits else 'begin'}({line!r})", mode="eval").body

    return ast.unparse(HeaderTransformer(begin).visit(ast.parse(source)))


def test_the_string_becomes_a_call() -> None:
    assert transformed("'%%profile -q'\nx = 1") == "begin(' -q')\nx = 1"


@pytest.mark.parametrize(
    ("rest", "awaits"),
    [
        ("y = [await x]", True),
        ("async with x:\n    pass", True),
        ("async for y in x:\n    pass", True),
        ("if z:\n    y = [i async for i in x]", True),
        ("async def f():\n    await x", False),
        ("class A:\n\n    async def f(self):\n        await x", False),
        ("f = lambda: (y async for y in x)", False),
    ],
)
def test_a_cell_that_awaits_outside_of_functions_begins_in_its_loop(
    rest: str,
    awaits: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    call = "begin_in_loop" if awaits else "begin"
    assert transformed(f"'%%profile'\n{rest}").splitlines()[0] == f"{call}('')"


def test_future_imports_stay_first() -> None:
    source = "'%%profile'\nfrom __future__ import annotations\nx = 1"
    assert transformed(source) == "from __future__ import annotations\nbegin('')\nx = 1"


@pytest.mark.parametrize("source", ["'%%profiled'", "x = '%%profile'", "'%%profile\\nx'", "", "b'%%profile'"])
def test_other_strings_stay(source: str) -> None:
    assert transformed(source) == ast.unparse(ast.parse(source))
