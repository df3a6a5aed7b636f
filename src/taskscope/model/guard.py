"""The one place where errors of taskscope's own code end: the user's computation must not feel them."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

_T = TypeVar("_T")


class Guard:
    """Runs a block of taskscope's own code: a fault in it is counted, warned of once, and suppressed.

    Exceptions that are no `Exception`, such as an interrupt, pass through.
    """

    __slots__ = ("_fault", "_where")

    def __init__(self, where: str, fault: Callable[[str, BaseException], None]) -> None:
        self._where = where
        self._fault = fault

    def value(self, observe: Callable[[], _T], default: _T) -> _T:
        """Return what `observe` returns, and the default where it fails."""
        with self:
            return observe()
        return default

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._fault(self._where, error)
        return True
