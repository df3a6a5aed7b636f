"""Exceptions as bounded, encodable text, and messages with and without the names in them."""

from __future__ import annotations

import re

MAX_ERROR_TEXT = 500
"""Longest message kept, in characters."""

HIDDEN = "***"
"""What redaction leaves of a text."""

_TYPE = re.compile(r"([^\W\d]\w*(?:\.(?:<locals>|[^\W\d]\w*))*)(?:: .*| \(attempt \d+\))?", re.DOTALL)


def describe(error: BaseException) -> str:
    """Return the type and the message of an exception, bounded."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a user's __str__ may raise anything
        text = "(its message could not be read)"
    if len(text) > MAX_ERROR_TEXT:
        text = f"{text[:MAX_ERROR_TEXT]}…"
    name = type(error).__qualname__
    return (f"{name}: {text}" if text else name).encode("utf-8", "backslashreplace").decode("utf-8")


def type_of(description: str) -> str:
    """Return the type of a described exception, which is not hidden.

    Examples
    --------
    >>> type_of("ValueError: no such key: 'a'"), type_of("no such key: 'a'")
    ('ValueError', '***')
    """
    found = _TYPE.fullmatch(description)
    return HIDDEN if found is None else found[1]


def worded(words: str, *names: object) -> tuple[str, str]:
    """Return a message with the names, and without: each ``%s`` stands for one, or for an exception.

    Examples
    --------
    >>> worded("%s is not written: %s", "a.txt", OSError("no room"))
    ('a.txt is not written: OSError: no room', '*** is not written: OSError')
    """
    if not names:
        return words, words
    shown = [describe(name) if isinstance(name, BaseException) else str(name) for name in names]
    types = [type_of(describe(name)) if isinstance(name, BaseException) else HIDDEN for name in names]
    return words % tuple(shown), words % tuple(types)
