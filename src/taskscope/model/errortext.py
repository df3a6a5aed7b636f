"""An exception as bounded, encodable text, whatever its class does when it is looked at."""

from __future__ import annotations

import threading
from types import FrameType, TracebackType, WrapperDescriptorType

__all__ = [
    "MAX_ERROR_TEXT",
    "describe",
    "drop_frame",
    "drop_frames",
    "is_a",
    "raw_dict",
    "set_traceback",
    "traceback_of",
]

MAX_ERROR_TEXT = 500
"""Longest message kept, in characters."""

_PATIENCE_S = 1.0
_UNREADABLE = "(its message could not be read)"
_PLAIN = (str, bytes, int, float, complex, bool, type(None))

# As the interpreter itself reads these: a class, or its metaclass, may answer look-ups as it likes.
_name_of = type.__dict__["__qualname__"].__get__
_bases_of = type.__dict__["__mro__"].__get__
_names_in = type.__dict__["__dict__"].__get__
_args_of = BaseException.__dict__["args"].__get__
_dict_of = BaseException.__dict__["__dict__"].__get__
_traceback = BaseException.__dict__["__traceback__"]

_PLAIN_READERS = tuple(
    vars(kind)["__str__"]
    for kind in (BaseException, KeyError, ImportError, AttributeError, NameError)
    if "__str__" in vars(kind)
)
"""The ``__str__`` of the interpreter that look at nothing but the arguments."""


def is_a(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Return whether an exception is of this kind; `isinstance` would ask its class what it claims to be."""
    return issubclass(type(error), kind)


def raw_dict(error: BaseException) -> dict[str, object]:
    """Return what is in an exception's ``__dict__``."""
    found: dict[str, object] = _dict_of(error)
    return found


def traceback_of(error: BaseException) -> TracebackType | None:
    """Return an exception's traceback."""
    found: TracebackType | None = _traceback.__get__(error)
    return found


def drop_frame(error: BaseException, frame: FrameType) -> None:
    """Take a frame that is about to raise an exception further out of its traceback."""
    outermost = traceback_of(error)
    if outermost is not None and outermost.tb_frame is frame:
        set_traceback(error, outermost.tb_next)


def drop_frames(error: BaseException, file: str) -> None:
    """Take all frames of a file out of an exception's traceback."""
    before, here = None, traceback_of(error)
    while here is not None:
        if here.tb_frame.f_code.co_filename != file:
            before = here
        elif before is None:
            set_traceback(error, here.tb_next)
        else:
            before.tb_next = here.tb_next
        here = here.tb_next


def set_traceback(error: BaseException, traceback: TracebackType | None) -> None:
    """Set an exception's traceback, which its class may forbid."""
    _traceback.__set__(error, traceback)


def describe(error: BaseException) -> str:
    """Return the type and the message of an exception, bounded; never raises.

    A ``__str__`` written in Python is called in a thread of its own: whatever it raises, and however long it
    takes, has nothing to do with the thread that asks, and an interrupt of that thread stays one.
    """
    name = _encodable(_name_of(type(error)))
    text = _encodable(str(error) if _reads_plainly(error) else _read_apart(error))
    if len(text) > MAX_ERROR_TEXT:
        text = f"{text[:MAX_ERROR_TEXT]}…"
    return f"{name}: {text}" if text else name


def _encodable(text: str) -> str:
    # Not its own method: it may be of a class derived from str.
    return str.encode(text, "utf-8", "backslashreplace").decode("utf-8")


def _reads_plainly(error: BaseException) -> bool:
    """Tell whether ``str(error)`` runs nothing but the interpreter's own code."""
    own = next(names["__str__"] for names in map(_names_in, _bases_of(type(error))) if "__str__" in names)
    is_plain = type(own) is WrapperDescriptorType and own in _PLAIN_READERS
    return is_plain and all(type(part) in _PLAIN for part in _args_of(error))


def _read_apart(error: BaseException) -> str:
    texts: list[str] = []

    def read() -> None:
        try:
            texts.append(str(error))
        except BaseException:  # noqa: BLE001 - a user's __str__ may raise anything
            texts.append(_UNREADABLE)

    try:
        thread = threading.Thread(target=read, name="taskscope-error-text", daemon=True)
        thread.start()
    except RuntimeError:
        # No thread can be had, as at the end of the interpreter.
        return _UNREADABLE
    thread.join(_PATIENCE_S)
    return texts[0] if texts else _UNREADABLE
