"""RESULTS.md: what is worse than its goal, then a section for each benchmark."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.goals import missed

__all__ = ["commits", "finished", "replaced", "section", "sections"]

_HEAD = """\
# Results of `make bench`

Ours and the peer in the same run, on one machine. Each section has the commit, the time, the machine and its
load, and the command that measures it again and leaves the others as they are. Ratios hold better than times.
"""
_UNFINISHED = "**Did not finish:**"
_SECTION = re.compile(r"^## (\S+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_COMMIT = re.compile(r"\A`python -m benchmarks \S+` at `([^`]+)`\.")


def section(name: str, commit: str, measured: str, output: str, fault: str) -> str:
    """Return the text of a section: how it came about, its tables, and what kept it from the end."""
    parts = [f"`python -m benchmarks {name}` at `{commit}`. {measured}", output.strip()]
    if fault:
        parts.append(f"{_UNFINISHED}\n\n" + "\n".join(f"    {line}" for line in fault.splitlines()))
    return "\n\n".join(part for part in parts if part)


def sections(text: str) -> dict[str, str]:
    """Return the text of each section, by its name."""
    return {name: body.strip() for name, body in _SECTION.findall(text)}


def finished(text: str) -> set[str]:
    """Return the names of the sections that were measured to their end."""
    return {name for name, body in sections(text).items() if _UNFINISHED not in body}


def commits(text: str) -> dict[str, str]:
    """Return at which commit each section was measured, by its name; none where it does not say."""
    found = {name: _COMMIT.match(body) for name, body in sections(text).items()}
    return {name: one[1] if one else "" for name, one in found.items()}


def replaced(text: str, name: str, content: str, order: Sequence[str]) -> str:
    """Return `text` with one section put in or exchanged, all in `order`, and those missing named."""
    held = sections(text) | {name: content}
    missing = [known for known in order if known not in held]
    said = f"\nNot measured yet: {', '.join(missing)}.\n" if missing else ""
    worse = "".join(f"{line}\n" for line in missed(held).lines())
    parts = (f"\n## {known}\n\n{held[known]}\n" for known in order if known in held)
    return _HEAD + said + "\n" + worse.rstrip() + "\n" + "".join(parts)
