"""The requests that a page may send on the control comm: a whitelist, checked before anything is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args

FileFormat: TypeAlias = Literal["taskscope", "html", "trace"]

_MAX_SHOWN = 60
_MAX_ID = 100


class BadRequestError(ValueError):
    """A page sent a request that does not exist or makes no sense; the text is for the page."""


def is_count(value: object) -> bool:
    """Return whether a page's value is a whole number from 0 that JavaScript can hold."""
    return type(value) is int and 0 <= value < 2**53


def _is_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_ID


_ROW: tuple[str, Callable[[Any], bool]] = "a row number from 0", is_count
_RUN: tuple[str, Callable[[Any], bool]] = "the number of a compute from 0", is_count
_TIME: tuple[str, Callable[[Any], bool]] = (
    "seconds or null",
    lambda value: value is None or (type(value) in (int, float) and math.isfinite(value)),
)
_FIELDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "cursor": _ROW,
    "row": _ROW,
    "run": _RUN,
    "first_run": _RUN,
    "last_run": (_RUN[0], lambda value: value is None or is_count(value)),
    "key": ("the key of a task", lambda value: isinstance(value, str)),
    "start_s": _TIME,
    "stop_s": _TIME,
    "epoch": ("a text", lambda value: value is None or isinstance(value, str)),
    "per_second": ("a number from 0.1 to 10", lambda n: type(n) in (int, float) and 0.1 <= n <= 10),
    "is_on": ("true or false", lambda value: type(value) is bool),
    "way": ("interrupt or cancel", lambda value: value in ("interrupt", "cancel")),
    "format": (f"one of {', '.join(get_args(FileFormat))}", lambda name: name in get_args(FileFormat)),
    "model": ("the id of a widget", _is_id),
    "trait": ("the name of a trait", lambda _: True),
    "value": ("a value of the trait", lambda _: True),
}
"""The expectation of each field of a request, in words and as a check."""

_WINDOW = {"first_run": None, "last_run": None}
VERBS: Mapping[str, Mapping[str, object]] = {
    "hello": {"cursor": 0, "epoch": None},
    "resync": {"cursor": None},
    "rate": {"per_second": None},
    "history": {"is_on": None},
    "renew": {},
    "stop": {"run": None, "way": None},
    "dependencies": {"row": None},
    "save": {**_WINDOW, "format": None},
    "compare": _WINDOW,
    "explain": {**_WINDOW, "start_s": None, "stop_s": None},
    "story": {**_WINDOW, "key": None},
    "profile": _WINDOW,
    "end_profile": {},
    "tell": {"model": None, "trait": None, "value": None},
}
"""The fields of each request, with their defaults; `Feed` has a handler for each."""


def parse_request(data: object) -> tuple[str, dict[str, Any]]:
    """Return the verb of a request and its checked fields."""
    sent = data if isinstance(data, Mapping) else {}
    verb = sent.get("verb")
    if not isinstance(verb, str) or verb not in VERBS:
        raise BadRequestError(f"unknown verb {_shown(verb)}; known are {', '.join(VERBS)}")
    fields = {name: sent.get(name, default) for name, default in VERBS[verb].items()}
    for name, value in fields.items():
        expected, is_valid = _FIELDS[name]
        if not is_valid(value):
            raise BadRequestError(f"{name} must be {expected}, got {_shown(value)}")
    if verb == "tell" and not _may_set(fields["trait"], fields["value"]):
        raise BadRequestError(
            "a page may set selected_key (a text or null), follow (true or false), time_range (two numbers,"
            " the smaller one first, or null) and function (name, file and line, or null);"
            f" got {_shown(fields['trait'])} {_shown(fields['value'])}"
        )
    return verb, fields


def _may_set(trait: object, value: object) -> bool:
    match trait, value:
        case "time_range", [int() | float() as start, int() | float() as stop]:
            return start < stop
        case (
            ("selected_key", None | str())
            | ("follow", bool())
            | ("time_range", None)
            | ("function", None | [str(), str(), int()])
        ):
            return True
    return False


def parse_page(data: object) -> str:
    """Return the page's id from the data a comm was opened with."""
    fields = data if isinstance(data, Mapping) else {}
    protocol, page = fields.get("protocol"), fields.get("page")
    if type(protocol) is not int or protocol != 1:
        raise BadRequestError(
            f"protocol must be 1, got {_shown(protocol)}; reload the page after updating taskscope"
        )
    if not isinstance(page, str) or not _is_id(page):
        raise BadRequestError(f"page must be a text of 1 to {_MAX_ID} characters, got {_shown(page)}")
    return page


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
