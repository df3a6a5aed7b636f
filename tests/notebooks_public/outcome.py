"""What one run of a notebook has shown and done, and what of it two runs can be expected to share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

_TIMING = re.compile(r"CPU times: |Wall time: |\S+ \S+ ± ")
_TOKEN = re.compile(r"\b(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
_STATE_OF_FUTURE = re.compile(r"<Future: (?:pending|finished, type: [^,>]+),")
_LOG_RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ - ")


@dataclass
class Outcome:
    """What one run of a notebook has shown and done."""

    texts: list[list[str]] = field(default_factory=list)
    """The lines that each code cell has shown, without what taskscope shows."""
    logged: list[str] = field(default_factory=list)
    """Lines that processes have logged, which reach whatever cell is running then."""
    errors: list[tuple[int, str]] = field(default_factory=list)
    """The cells that ended with an exception, and which."""
    seconds: list[float] = field(default_factory=list)
    tasks: list[tuple[int, str, str]] = field(default_factory=list)
    """Of each task that ran: its cell, key and outcome."""
    recorded: list[tuple[int, int, str, str]] = field(default_factory=list)
    """Of each task that a recording has: its cell, compute, key and outcome."""
    notes: list[tuple[int, str]] = field(default_factory=list)
    died: str = ""
    """Why the run ended before its last cell; its tasks are not known then."""

    def add_cell(self, outputs: list[Any], seconds: float) -> None:
        """Note what a cell has shown."""
        self.seconds.append(seconds)
        shown, logged = _apart(_lines(outputs))
        self.texts.append([line for line in shown if not _TIMING.match(line)])
        self.logged += logged
        index = len(self.texts)
        self.errors += [(index, f"{o.ename}: {o.evalue}") for o in outputs if o.output_type == "error"]

    def names(self) -> Counter[str]:
        """How many tasks ran, by key without its token."""
        return Counter(without_tokens(key) for _, key, _ in self.tasks)


def without_tokens(text: str) -> str:
    """Leave out what differs in each run: tokens of keys, and whether a shown future was finished."""
    return _STATE_OF_FUTURE.sub("<Future:", _TOKEN.sub("…", text))


def kinds(lines: Iterable[str]) -> Counter[str]:
    """Count lines by what they say, whatever their numbers."""
    return Counter(re.sub(r"[\W\d_]+", " ", without_tokens(line))[:40] for line in lines)


def _apart(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return what a cell has shown, and the records of logs in between: each ends with an empty line."""
    shown: list[str] = []
    logged: list[str] = []
    in_record = False
    for line in lines:
        in_record = bool(_LOG_RECORD.match(line)) or (in_record and bool(line.strip()))
        (logged if in_record else shown).append(line)
    return shown, logged


def _lines(outputs: list[Any]) -> Iterator[str]:
    for output in outputs:
        if output.output_type == "error":
            yield f"{output.ename}: {output.evalue}"
        elif output.output_type == "stream":
            yield from output.text.splitlines()
        elif output.output_type == "execute_result" and "text/plain" in output.data:
            yield from output.data["text/plain"].splitlines()
