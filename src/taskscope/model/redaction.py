"""Redaction of recordings: credentials always, names on request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from taskscope.errors import OptionError
from taskscope.model.keys import KeyBlock
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import is_of_library, wait_of_file
from taskscope.model.streams import RECORDS
from taskscope.model.tables.columns import GraphColumns
from taskscope.model.tables.records import Lane, Run
from taskscope.model.tables.stacks import Function, StackColumns
from taskscope.schema import columns_of

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


@dataclass(frozen=True, slots=True)
class Redaction:
    """The replacement of each kind of text (`schema.Holds`); equal texts become equal ones.

    With `hides_host` host and threads lose their names.
    """

    name: _Rename
    remark: _Rename
    address: _Rename = without_credentials
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
        if self is NOTHING:
            return row
        changes: dict[str, object] = {}
        for column in columns_of(type(row)):
            value = getattr(row, column.name)
            if (
                column.kind not in {"text", "texts"}
                or column.choices
                or column.holds == "public"
                or value is None
            ):
                continue
            rename: _Rename = getattr(self, column.holds)
            changes[column.name] = rename(value) if isinstance(value, str) else tuple(map(rename, value))
        if isinstance(row, Lane) and self.hides_host:
            changes["label"] = f"lane {row.id}"
        if isinstance(row, Function) and self.hides_host and is_of_library(row.file):
            # It stays one of a library; what its functions wait for is read from these.
            kind, part = wait_of_file(row.file)
            changes["file"] = f"site-packages/{part if kind else self.name(row.file)}"
            changes["name"] = row.name if kind else self.name(row.name)
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
        return self.remark(text) if " " in text else self.address(text)

    def graph(self, graph: GraphColumns) -> GraphColumns:
        errors = {task: self.remark(text) for task, text in graph.errors.items()}
        return replace(graph, keys=self.keys(graph.keys), errors=errors)

    def stacks(self, stacks: StackColumns) -> StackColumns:
        return replace(
            stacks,
            functions=self.records(stacks.functions),
            prefixes=tuple(map(self.name, stacks.prefixes)),
            workers=tuple(map(self.address, stacks.workers)),
        )

    def metadata(self, metadata: Mapping[str, object]) -> dict[str, object]:
        renames = {"label": self.name, "error": self.remark}
        kept = {
            key: renames.get(key, without_credentials)(value) if isinstance(value, str) else value
            for key, value in metadata.items()
        }
        return {**kept, "host": None} if self.hides_host else kept


NOTHING = Redaction(str, str, str)
"""Leaves all texts as they are."""


def redacted(recording: RecordedData, *, redact: Redact = False) -> RecordedData:
    """Return the recording as it may leave the machine; credentials in URLs are always hidden.

    With True names of keys, groups, labels, functions and their files become ``name-1``, ``name-2``…, of
    errors and messages only the beginning is left, and host and threads lose their names. Functions that wait
    in files of Python and of known packages keep their names. A function returns the replacement of each of
    these texts, but for threads.
    """
    redaction = Redaction.of(redact)
    sources = tuple(map(redaction.source, recording.activities.sources))
    records: dict[str, Any] = {
        name: redaction.records(getattr(recording, name)) for name in (*RECORDS, "workers")
    }
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
