"""Turn a cell that starts with ``%%profile`` into a normal cell that IPython runs by itself.

IPython hands a cell magic its body as text, and whoever runs that text loses ``await``, ``Out[n]`` and the
cell's own traceback. So the first line becomes a string of one line (nothing else moves), which a second step
finds in the syntax tree and replaces by a call. The rest of the cell is never touched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from IPython.core.inputtransformer2 import cell_magic

_HEADER = re.compile(r"%%profile(?=\s|$)(?P<options>.*)")
_MARK = "%%profile"


def header_to_string(lines: list[str]) -> list[str]:
    r"""Return a cell's lines with a ``%%profile`` line replaced by a string literal.

    Examples
    --------
    >>> header_to_string(["%%profile -q\n", "1 + 1\n"])
    ["'%%profile -q'\n", '1 + 1\n']
    """
    match = _HEADER.match(lines[0]) if lines else None
    if match is None:
        return lines
    # A further cell magic is only seen in the first line; this is where IPython would have found it.
    body = cell_magic(header_to_string(lines[1:]))
    return [f"{_MARK + match['options'].rstrip()!r}\n", *body]


# IPython checks with every key whether a cell is complete. It knows the rule for cells that start with %%,
# and skips transformations that are marked as having side effects.
header_to_string.has_side_effects = True  # type: ignore[attr-defined]  # IPython's own protocol


class HeaderTransformer(ast.NodeTransformer):
    """Replaces the string by a call that starts profiling."""

    def __init__(self, begin: Callable[[str, bool], ast.expr]) -> None:
        self._begin = begin

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Replace the first statement if it is a %%profile magic."""
        first = node.body[0] if node.body else None
        if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
            return node
        text = first.value.value
        if not isinstance(text, str) or _HEADER.fullmatch(text) is None:
            return node
        rest = node.body[1:]
        begin = self._begin(text[len(_MARK) :], any(map(_awaits, rest)))
        call = ast.fix_missing_locations(ast.copy_location(ast.Expr(begin), first))
        n_futures = next((i for i, statement in enumerate(rest) if not _is_future(statement)), len(rest))
        node.body = [*rest[:n_futures], call, *rest[n_futures:]]
        return node


def _awaits(node: ast.AST) -> bool:
    """Return whether anything is awaited in it that is not within a function of its own."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
        return True
    if isinstance(node, ast.comprehension) and node.is_async:
        return True
    return any(map(_awaits, ast.iter_child_nodes(node)))


def _is_future(statement: ast.stmt) -> bool:
    # They have to stay first.
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
