"""What keeps an interrupt, which may come at any line, from leaving things half done.

There are three ways. What ends something may be called again, and then ends what is left (most of this
package). What must not stop half way is taken out of the main thread, where interrupts are raised
(`uninterrupted`). And what a ``with`` statement began ends with it, even if ``__exit__`` was interrupted at
its first line (`Entered`).
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

__all__ = ["Entered", "seen_by_with", "uninterrupted"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Exit = TypeVar("_Exit", bound=Callable[..., Any])

_LOOKED_UP = "_taskscope_exit"


def uninterrupted(step: Callable[_P, _T]) -> Callable[_P, _T]:
    """Have Ctrl-C raise `KeyboardInterrupt` after a call of `step` and never within it.

    Python raises it in the main thread alone, so for that one another thread takes the step. A second Ctrl-C
    ends the waiting, too.
    """

    @functools.wraps(step)
    def call(*arguments: _P.args, **named: _P.kwargs) -> _T:
        if threading.current_thread() is not threading.main_thread():
            return step(*arguments, **named)
        taken = _Step(functools.partial(step, *arguments, **named))
        thread = threading.Thread(target=taken.take, name="taskscope-step", daemon=True)
        try:
            thread.start()
            thread.join()
        except BaseException as error:
            if thread.ident is not None:
                thread.join()
            elif isinstance(error, RuntimeError):
                # While the interpreter shuts down there are no new threads.
                return step(*arguments, **named)
            raise
        return cast(_T, taken.answer())

    return call


class _Step:
    def __init__(self, step: Callable[[], object]) -> None:
        self._step = step
        self._result: object = None
        self._error: BaseException | None = None

    def take(self) -> None:
        try:
            self._result = self._step()
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error

    def answer(self) -> object:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._result


class _SeenByWith:
    def __init__(self, leave: Callable[..., Any]) -> None:
        self._leave = leave

    def __get__(self, manager: object, kind: type | None = None) -> Callable[..., Any]:
        if manager is None:
            return self._leave
        found = self._bound_to(manager)
        vars(manager)[_LOOKED_UP] = weakref.ref(found)
        return found

    def _bound_to(self, manager: object) -> Callable[..., Any]:
        leave = self._leave
        if not inspect.iscoroutinefunction(leave):
            return functools.partial(leave, manager)

        # `async with` lets go of what it calls before it awaits the coroutine; its frame holds its function.
        async def found(*ending: object) -> object:
            return await leave(manager, *ending)

        return found


def seen_by_with(leave: _Exit) -> _Exit:
    """Let `Entered` know when the ``with`` or ``async with`` is over that has looked up this way out."""
    return cast(_Exit, _SeenByWith(leave))


class Entered:
    """One time that a context manager is entered: made first thing in its ``__enter__`` or ``__aenter__``.

    A ``with`` statement looks ``__exit__`` up before it calls ``__enter__``, and lets go of what it has found
    when it is over, however it ended. Nobody else has that, so with it goes what was begun. An interrupt at
    the first line of ``__exit__`` could be seen by nothing else.

    Parameters
    ----------
    manager
        What is entered; its ``__exit__`` and ``__aexit__`` are `seen_by_with`.
    end
        Ends what was begun. It may be called again, and must not raise.
    """

    def __init__(self, manager: object, end: Callable[[], object]) -> None:
        reference = vars(manager).pop(_LOOKED_UP, None)
        # Whoever calls the two methods by hand is on their own.
        found = None if reference is None else reference()
        self._ending = None if found is None else weakref.finalize(found, end)

    def is_over(self) -> None:
        """Know that what was begun has ended."""
        if self._ending is not None:
            self._ending.detach()
