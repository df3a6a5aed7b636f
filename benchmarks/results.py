"""RESULTS.md: a section a benchmark, each of which can be measured again by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["finished", "replaced", "section"]

_HEAD = """\
# Results of `make bench`

Ours and the peer in the same run, on one machine. Each section says when, on what and under which load it
was measured, and by which command, which measures it again and leaves the others as they are. Ratios hold
better than times; figures are the median, with the smallest and the largest.
"""
_UNFINISHED = "**Did not finish:**"
_SECTION = re.compile(r"^## (\S+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def section(command: str, measured: str, output: str, fault: str) -> str:
    """Return the text of a section: how it came about, its tables, and what kept it from the end."""
    parts = [f"`{command}`. {measured}", output.strip()]
    if fault:
        parts.append(f"{_UNFINISHED}\n\n" + "\n".join(f"    {line}" for line in fault.splitlines()))
    return "\n\n".join(part for part in parts if part)


def finished(text: str) -> set[str]:
    """Return the names of the sections that were measured to their end."""
    return {name for name, body in _SECTION.findall(text) if _UNFINISHED not in body}


def replaced(text: str, name: str, content: str, order: Sequence[str]) -> str:
    """Return `text` with one section put in or exchanged, all in `order`, and those missing named."""
    held = {found: body.strip() for found, body in _SECTION.findall(text)} | {name: content}
    missing = [known for known in order if known not in held]
    said = f"\nNot measured yet: {', '.join(missing)}.\n" if missing else ""
    return _HEAD + said + "".join(f"\n## {known}\n\n{held[known]}\n" for known in order if known in held)
