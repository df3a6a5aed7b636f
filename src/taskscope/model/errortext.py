"""An exception as bounded, encodable text."""

from __future__ import annotations

MAX_ERROR_TEXT = 500
"""Longest message kept, in characters."""


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
