"""Rows as frames of `taskscope.codec`: of pages, files, and offline pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from taskscope.model.keys import plain_text
from taskscope.model.tables.columns import Neighbour, TaskLinks

__all__ = ["PROTOCOL", "batch_message", "encode_links"]

PROTOCOL: Literal[1] = 1


def batch_message() -> dict[str, object]:
    """Return the JSON part of a message whose one buffer has a frame."""
    return {"protocol": PROTOCOL, "kind": "batch"}


def encode_links(links: TaskLinks) -> Mapping[str, object]:
    """Return links as plain JSON; the lists may be cut, the counts are of all.

    Examples
    --------
    >>> encode_links(TaskLinks((Neighbour(3, "x"),), 1, (), 0))
    {'dependencies': [(3, 'x')], 'n_dependencies': 1, 'dependents': [], 'n_dependents': 0}
    """
    return {
        "dependencies": _rows(links.dependencies),
        "n_dependencies": links.n_dependencies,
        "dependents": _rows(links.dependents),
        "n_dependents": links.n_dependents,
    }


def _rows(links: Iterable[Neighbour]) -> list[tuple[int | None, str]]:
    return [(link.row, plain_text(link.key_text)) for link in links]
