"""Redaction of recordings: credentials always, names on request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_type_hints

from taskscope.errors import OptionError
from taskscope.model.keys import KeyBlock
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import GraphColumns
from taskscope.model.tables.records import Lane, Run
from taskscope.model.tables.stacks import StackColumns

Redact: TypeAlias = bool | Callable[[str], str]
_Rename: TypeAlias = Callable[[str], str]
_T = TypeVar("_T")

_HIDDEN = "***"
_USER = re.compile(r"(?<=://)[^/?#\s'\"<>]*@")
_SECRET = re.compile(
    r"(?i)([?&;][^=&\s'\"]*(?:token|key|secret|passw|pwd|sig|signature|credential|auth)[^=&\s'\"]*=)[^&\s'\"#]+"
)


def without_credentials(text: str) -> str:
    """Return text without user names, passwords and secret parameters of the URLs in it.

    Examples
    --------
    >>> without_credentials("read s3://me:pw@host/a?sig=abc&part=1")
    'read s3://***@host/a?sig=***&part=1'
    """
    if "://" not in text:
        return text
    return _SECRET.sub(rf"\1{_HIDDEN}", _USER.sub(f"{_HIDDEN}@", text))


_HOLDS: Mapping[str, Literal["name", "remark", "address", "public"]] = {
    "error": "remark",
    "text": "remark",
    **dict.fromkeys(("worker", "peer", "from_worker", "to_worker", "activity"), "address"),
    "WorkerSample.name": "address",
    "Lane.label": "address",
    "cell": "public",
    "scheduler": "public",
}
"""The kinds of text in columns; a column that is not here, of any table, holds names."""


@cache
def _texts(table: type) -> Mapping[str, str]:
    """Return the kind of each column of free text of a table; columns with choices are left out."""
    hints = get_type_hints(table)
    free = (name for name, hint in hints.items() if hint in (str, str | None, tuple[str, ...]))
    return {name: _HOLDS.get(f"{table.__name__}.{name}", _HOLDS.get(name, "name")) for name in free}


@dataclass(frozen=True, slots=True)
class Redaction:
    """The replacement of each kind of text in a redacted recording; equal texts become equal ones.

    `name` replaces names of keys, groups, labels and functions, and `remark` errors and messages; with
    `hides_host` host and threads lose their names.
    """

    name: _Rename
    remark: _Rename
    hides_host: bool = False

    @classmethod
    def of(cls, redact: Redact) -> Redaction:
        """Return what `redacted` does."""
        if not isinstance(redact, bool) and not callable(redact):
            raise OptionError(f"redact must be True, False or a function of a text, got {redact!r}")
        if redact is True:
            return cls(_Pseudonyms(), _beginning, hides_host=True)
        if callable(redact):
            rename = _checked(redact)
            return cls(rename, rename)
        return cls(without_credentials, without_credentials)

    def record(self, row: _T) -> _T:
        """Return a redacted row of any table of records."""
        changes: dict[str, object] = {}
        for column, holds in _texts(cast("type", type(row))).items():
            value = getattr(row, column)
            if value is not None and holds != "public":
                replace_text = {"name": self.name, "remark": self.remark}.get(holds, without_credentials)
                is_text = isinstance(value, str)
                changes[column] = replace_text(value) if is_text else tuple(map(replace_text, value))
        if isinstance(row, Lane) and self.hides_host:
            changes["label"] = f"lane {row.id}"
        if isinstance(row, Run):
            changes["source_crc"] = None
        return replace(row, **changes)  # type: ignore[type-var]  # records are dataclasses

    def records(self, rows: Iterable[_T]) -> tuple[_T, ...]:
        return tuple(map(self.record, rows))

    def keys(self, keys: KeyBlock) -> KeyBlock:
        return KeyBlock(keys.dims, keys.ints, tuple(map(self.name, keys.texts)))

    def source(self, text: str) -> str:
        """Return the redacted source of an activity: a worker's address or an error."""
        # No address has a space; an error is always noted with the number of the attempt.
        return self.remark(text) if " " in text else without_credentials(text)

    def graph(self, graph: GraphColumns) -> GraphColumns:
        errors = {task: self.remark(text) for task, text in graph.errors.items()}
        return replace(graph, keys=self.keys(graph.keys), errors=errors)

    def stacks(self, stacks: StackColumns) -> StackColumns:
        return replace(
            stacks,
            functions=self.records(stacks.functions),
            prefixes=tuple(map(self.name, stacks.prefixes)),
            workers=tuple(map(without_credentials, stacks.workers)),
        )

    def metadata(self, metadata: Mapping[str, object]) -> dict[str, object]:
        renames = {"label": self.name, "error": self.remark}
        kept = {
            key: renames.get(key, without_credentials)(value) if isinstance(value, str) else value
            for key, value in metadata.items()
        }
        return {**kept, "host": None} if self.hides_host else kept


_RECORDS = (
    *("runs", "groups", "lanes", "messages", "totals", "workers", "metrics"),
    *("measured_lines", "peak_lines", "transfers", "steals"),
)


def redacted(recording: RecordedData, *, redact: Redact = False) -> RecordedData:
    """Return the recording as it may leave the machine; credentials in URLs are always hidden.

    With True names of keys, groups, labels, functions and their files become ``name-1``, ``name-2``…, of
    errors and messages only the beginning is left, and host and threads lose their names. A function returns
    the replacement of each of these texts, but for threads.
    """
    redaction = Redaction.of(redact)
    sources = tuple(map(redaction.source, recording.activities.sources))
    records: dict[str, Any] = {name: redaction.records(getattr(recording, name)) for name in _RECORDS}
    return replace(
        recording,
        **records,
        graphs={run: redaction.graph(graph) for run, graph in recording.graphs.items()},
        metadata=redaction.metadata(recording.metadata),
        stacks=redaction.stacks(recording.stacks),
        activities=replace(recording.activities, sources=sources),
    )


class _Pseudonyms:
    """Gives each text a number by first appearance."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        return self._known.setdefault(text, f"name-{len(self._known) + 1}")


def _beginning(text: str) -> str:
    """Return the text before the first colon: the type of an error, the topic of a message."""
    return text.partition(":")[0]


def _checked(function: Callable[[str], object]) -> _Rename:
    def rename(text: str) -> str:
        new = function(without_credentials(text))
        if not isinstance(new, str):
            raise OptionError(f"the function given as redact must return text, got {new!r} for {text!r:.80}")
        return without_credentials(new)

    return rename
