"""Text that any JSON encoder accepts and that no message grows without bound by."""

from __future__ import annotations

__all__ = ["MAX_TEXT", "wire_text"]

MAX_TEXT = 512
"""Longest text on the wire, in characters; longer ones are cut and end in an ellipsis."""


def wire_text(text: str) -> str:
    r"""Return `text` cut to `MAX_TEXT` characters, with lone surrogates escaped.

    Examples
    --------
    >>> wire_text("a\ud800b")
    'a\\ud800b'
    """
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}…"
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
