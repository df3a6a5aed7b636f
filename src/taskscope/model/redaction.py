"""Redaction of recordings: of credentials always, on request of all that a program or a machine named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar

from taskscope.errors import OptionError
from taskscope.model.errortext import HIDDEN, type_of
from taskscope.model.keys import KeyBlock
from taskscope.model.recording import RecordedData
from taskscope.model.source_lines import is_of_library, wait_of_file
from taskscope.model.streams import RECORDS
from taskscope.model.tables.columns import GraphColumns
from taskscope.model.tables.records import Lane, Run
from taskscope.model.tables.stacks import CLIENT, Function, StackColumns
from taskscope.schema import Column, Private, columns_of

_T = TypeVar("_T")

_USER = re.compile(r"(?<=://)[^/?#\s'\"<>]*@")
_SECRET = re.compile(
    r"(?i)([?&;][^=&\s'\"]*(?:token|key|secret|passw|pwd|sig|signature|credential|auth)[^=&\s'\"]*=)[^&\s'\"#]+"
)
_OURS = re.compile(rf"|In \[\d+\]|{re.escape(CLIENT)}|nbytes|count")
"""Names that are Jupyter's or taskscope's own."""
_ADDRESS = re.compile(r"((?:tcp|tls|ucxx?|wss?|inproc)://)(.*?)((?::\d+)?(?:/\d+)*)", re.DOTALL)
_ATTEMPT = re.compile(r".* \(attempt \d+\)", re.DOTALL)
_LIBRARY_FOLDER = r"/(?:(?:site|dist)-packages|lib/python3\.\d+)/"
_LIMIT = re.compile(r"[A-Z]+_NUM_THREADS")
_VERSIONS = ("taskscope", "dask", "distributed", "numpy", "python", "platform")
_NUMBERS = ("pid", "n_cores", "memory_limit_bytes", "dt_s", "max_tasks", "wall_s", "interrupted", "truncated")
_FACTS: Mapping[str, Private] = {
    **dict.fromkeys(_VERSIONS, "no"),
    **dict.fromkeys((*_NUMBERS, "thread_limits", "label", "metric"), "name"),
    "error": "error",
}
"""The facts about a recording that redaction leaves, and what of each if it is a text."""


def without_credentials(text: str) -> str:
    """Return text without user names, passwords and secret parameters of the URLs in it.

    Examples
    --------
    >>> without_credentials("read s3://me:pw@host/a?sig=abc&part=1")
    'read s3://***@host/a?sig=***&part=1'
    """
    if "://" not in text:
        return text
    return _SECRET.sub(rf"\1{HIDDEN}", _USER.sub(f"{HIDDEN}@", text))


class Redaction:
    """Hides nothing, credentials in URLs, or all texts that are private by the marks of their columns."""

    def __init__(self, hides: Literal["nothing", "credentials", "names"]) -> None:
        self._hides = hides
        self._names: dict[str, str] = {}

    def text(self, text: str, private: Private = "name", known: Iterable[str] = ()) -> str:
        """Return what may be seen of a text; equal ones become equal ones."""
        if self._hides != "names":
            return text if self._hides == "nothing" else without_credentials(text)
        if private in {"error", "words"}:
            return type_of(text) if private == "error" else HIDDEN
        if private == "no" or text in known or _OURS.fullmatch(text):
            return without_credentials(text)
        return self._address(text) if private == "address" else self._name(text)

    def _name(self, text: str) -> str:
        return self._names.setdefault(text, f"name-{len(self._names) + 1}")

    def _address(self, text: str) -> str:
        """Return an address without its host, and the number of a process as it is."""
        if parts := _ADDRESS.fullmatch(text):
            return f"{parts[1]}{self._name(parts[2])}{parts[3]}"
        return text if text.isdecimal() else self._name(text)

    def record(self, row: _T) -> _T:
        """Return a redacted row of any table of records."""
        if self._hides == "nothing":
            return row
        changes: dict[str, object] = {
            column.name: self._value(row, column)
            for column in columns_of(type(row))
            if column.kind in {"text", "texts"} and not column.choices
        }
        if isinstance(row, Run):
            changes["source_crc"] = None
        if self._hides == "names" and isinstance(row, Lane):
            changes["label"] = f"lane {row.id}"
        if self._hides == "names" and isinstance(row, Function) and is_of_library(row.file):
            changes |= _of_library(row, changes["file"])
        return replace(row, **changes)  # type: ignore[type-var]  # records are dataclasses

    def _value(self, row: object, column: Column) -> object:
        value = getattr(row, column.name)
        if column.private == "words" and self._hides == "names":
            return getattr(row, "words", None) or HIDDEN
        if isinstance(value, str):
            return self.text(value, column.private, column.known)
        return value if value is None else self.texts(value)

    def records(self, rows: Iterable[_T]) -> tuple[_T, ...]:
        return tuple(map(self.record, rows))

    def texts(self, texts: Iterable[str], private: Private = "name") -> tuple[str, ...]:
        return tuple(self.text(text, private) for text in texts)

    def sources(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the redacted sources of activities: addresses of workers, and errors of attempts."""
        return tuple(self.text(text, "error" if _ATTEMPT.fullmatch(text) else "address") for text in texts)

    def errors(self, errors: Mapping[int, str]) -> dict[int, str]:
        return {task: self.text(text, "error") for task, text in errors.items()}

    def keys(self, keys: KeyBlock) -> KeyBlock:
        return KeyBlock(keys.dims, keys.ints, self.texts(keys.texts))

    def graph(self, graph: GraphColumns) -> GraphColumns:
        return replace(graph, keys=self.keys(graph.keys), errors=self.errors(graph.errors))

    def stacks(self, stacks: StackColumns) -> StackColumns:
        return replace(
            stacks,
            functions=self.records(stacks.functions),
            prefixes=self.texts(stacks.prefixes),
            workers=self.texts(stacks.workers, "address"),
        )

    def metadata(self, metadata: Mapping[str, object]) -> dict[str, object]:
        """Return the facts about a recording; if names are hidden, only known ones."""
        if self._hides == "names":
            return {name: self._fact(name, value) for name, value in metadata.items() if name in _FACTS}
        return {
            name: self.text(value) if isinstance(value, str) else value for name, value in metadata.items()
        }

    def _fact(self, name: str, value: object) -> object:
        if isinstance(value, str):
            return self.text(value, _FACTS[name])
        if isinstance(value, Mapping):
            return {limit: n for limit, n in value.items() if _LIMIT.fullmatch(limit) and str(n).isdecimal()}
        return value if value is None or isinstance(value, int | float) else HIDDEN


def _of_library(function: Function, hidden_file: object) -> dict[str, object]:
    """Return the changes of a function of a library: what it waits for is read from its file."""
    kind, part = wait_of_file(function.file)
    path = function.file.replace("\\", "/")
    is_known = kind is not None and re.search(rf"{_LIBRARY_FOLDER}{re.escape(part)}", path)
    changes = {"file": f"site-packages/{part if kind else hidden_file}"}
    return {**changes, "name": function.name} if is_known else {**changes}


NOTHING = Redaction("nothing")
"""Leaves all texts as they are."""


def redacted(recording: RecordedData, *, redact: bool = False) -> RecordedData:
    """Return the recording as it may leave the machine; credentials in URLs are always hidden.

    With True only numbers, versions, types of errors and words of Dask, distributed and taskscope are left.
    Names of keys, groups, labels, functions, files, workers and hosts become ``name-1``, ``name-2``…, equal
    ones the same. Functions of Python and of known packages that wait keep their names.
    """
    if type(redact) is not bool:
        raise OptionError(f"redact must be True or False, got {redact!r:.80}")
    redaction = Redaction("names" if redact else "credentials")
    records: dict[str, Any] = {
        name: redaction.records(getattr(recording, name)) for name in (*RECORDS, "workers")
    }
    return replace(
        recording,
        **records,
        graphs={run: redaction.graph(graph) for run, graph in recording.graphs.items()},
        metadata=redaction.metadata(recording.metadata),
        stacks=redaction.stacks(recording.stacks),
        activities=replace(recording.activities, sources=redaction.sources(recording.activities.sources)),
    )
