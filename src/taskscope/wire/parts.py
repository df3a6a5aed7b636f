"""Tables in parts: what is too much for one frame goes ahead of it, in as many as it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from taskscope.codec import Section
from taskscope.model.streams import PAGE

__all__ = ["PART_ROWS", "cuts", "in_parts", "text_bytes"]

PART_ROWS = 65_536
"""Most rows of a table in one part."""

_PART_BYTES = 3 * 2**20
_FRAME_BYTES = 6 * 2**20
_FEW_ROWS = 400
"""So many rows fit into a frame beside its tasks, whatever texts they have."""

_ALWAYS = "state"
_WITH_TASKS = frozenset({"errors", "tasks", "turns"})


def cuts(columns: Mapping[str, Any], n: int) -> list[int]:
    """Return the ends of parts of `n` rows that are of bounded size; the last one is `n`."""
    texts = [values for values in columns.values() if _is_text(values)]
    if not texts:
        return [*range(PART_ROWS, n, PART_ROWS), n]
    sizes = np.sum([[len(t) * (1 if t.isascii() else 4) if t else 0 for t in v] for v in texts], axis=0)
    if int(sizes.sum()) < _PART_BYTES:
        return [*range(PART_ROWS, n, PART_ROWS), n]
    sums, found, at = np.cumsum(sizes), [], 0
    while at < n:
        before = int(sums[at - 1]) if at else 0
        last = int(np.searchsorted(sums, before + _PART_BYTES, "right"))
        at = min(max(last, at + 1), at + PART_ROWS, n)
        found.append(at)
    return found


def text_bytes(columns: Mapping[str, Any]) -> int:
    """Return how many bytes texts take at most."""
    return sum(
        len(text) * (1 if text.isascii() else 4)
        for values in columns.values()
        if _is_text(values)
        for text in values
        if text
    )


def _is_text(values: object) -> bool:
    return isinstance(values, list) and any(isinstance(value, str) for value in values)


def in_parts(sections: Mapping[str, Section]) -> list[dict[str, Section]]:
    """Return a batch of a page as one or more; the last has the tasks and all that is told whole.

    What tasks refer to comes before them.
    """
    ahead = {name: section for name, section in sections.items() if _can_go_ahead(name)}
    rest = {name: section for name, section in sections.items() if name not in ahead}
    if sum(map(_n_rows, ahead.values())) <= _FEW_ROWS:
        return [dict(sections)]
    found: list[dict[str, Section]] = []
    waiting: dict[str, Section] = {}
    n_bytes = 0
    for name, part in _parts(ahead):
        size = 8 * len(part.columns) * _n_rows(part) + text_bytes(part.columns)
        if waiting and (name in waiting or n_bytes + size > _FRAME_BYTES):
            found.append({_ALWAYS: sections[_ALWAYS], **waiting})
            waiting, n_bytes = {}, 0
        waiting[name] = part
        n_bytes += size
    if not found and n_bytes <= _PART_BYTES:
        return [dict(sections)]
    return [*found, {_ALWAYS: sections[_ALWAYS], **waiting}, rest]


def _can_go_ahead(name: str) -> bool:
    # What is told whole is told in one frame; but each row of these counts by itself.
    return name in {"completed", "metered"} or (PAGE[name].mode != "whole" and name not in _WITH_TASKS)


def _parts(sections: Mapping[str, Section]) -> Iterator[tuple[str, Section]]:
    # As frames have them: what is referred to comes first.
    for name in (name for name in PAGE if name in sections):
        first, columns = sections[name]
        is_numbered = PAGE[name].mode == "append"
        start = 0
        for stop in cuts(columns, _n_rows(sections[name])):
            part = {column: values[start:stop] for column, values in columns.items()}
            yield name, Section(first + start if is_numbered else 0, part)
            start = stop


def _n_rows(section: Section) -> int:
    return len(next(iter(section.columns.values())))
