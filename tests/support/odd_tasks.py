"""Tasks that give and raise what is hard to handle; importable in any process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import dask
import numpy as np
import pandas as pd


class NoEqual:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison for you")

    __hash__ = None  # type: ignore[assignment]  # as unhashable as it is incomparable


class NoHash:
    def __hash__(self) -> int:
        raise RuntimeError("no hash for you")


class NoLength:
    def __len__(self) -> int:
        raise RuntimeError("no length for you")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth for you")


class NoBytes:
    @property
    def nbytes(self) -> int:
        raise RuntimeError("no bytes for you")


class NoSize:
    def __sizeof__(self) -> int:
        raise SystemExit("no size for you")


class NoAttributes:
    def __getattribute__(self, name: str) -> Any:
        if name in {"__class__", "__reduce_ex__", "__reduce__", "__getstate__", "__dict__"}:
            return object.__getattribute__(self, name)
        raise RuntimeError(f"no {name} for you")


class LyingClass:
    @property  # type: ignore[misc]  # it lies
    def __class__(self) -> Any:
        return dict


class NoItems(dict[Any, Any]):
    def items(self) -> Any:
        raise RuntimeError("no items for you")


class NoElements(list[Any]):
    def __iter__(self) -> Any:
        raise RuntimeError("no elements for you")

    def __len__(self) -> int:
        raise GeneratorExit("no length for you")


class Pickled:
    """Knows how often it was pickled on its way."""

    def __init__(self, times: int = 0) -> None:
        self.times = times

    def __reduce__(self) -> Any:
        self.times += 1
        return Pickled, (self.times,)


class NoReduce:
    def __reduce__(self) -> Any:
        raise StrictError(1, 2)


class NoReturn:
    """Can be sent, but not be received."""

    def __reduce__(self) -> Any:
        return fail_to_arrive, ("value",)


def fail_to_arrive(what: str) -> None:
    raise ArithmeticError(f"this {what} does not arrive")


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def endless() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


VALUES: dict[str, Callable[[], Any]] = {
    "number": lambda: 7,
    "none": lambda: None,
    "nan": lambda: float("nan"),
    "huge": lambda: 3**20_000,
    "lone surrogate": lambda: "\ud800",
    "NaT": lambda: pd.NaT,
    "array": lambda: np.arange(5),
    "objects": lambda: np.array([None, 3**70, "x"], object),
    "frame": lambda: pd.DataFrame({"a": [1, 2], "b": ["x", None]}),
    "class": lambda: OddDictError,
    "exception": lambda: ValueError("a value"),
    "no equal": NoEqual,
    "no hash": NoHash,
    "no length": NoLength,
    "no bytes": NoBytes,
    "no size": NoSize,
    "no attributes": NoAttributes,
    "lying class": LyingClass,
    "no items": lambda: NoItems(a=1),
    "no elements": lambda: NoElements([1, 2]),
    "nested": lambda: nested(50),
    "endless": endless,
    "pickled": Pickled,
    "generator": lambda: (i for i in range(3)),
    "lock": threading.Lock,
    "no reduce": NoReduce,
    "no return": NoReturn,
}


class StrictError(Exception):
    def __init__(self, one: object, two: object) -> None:
        super().__init__(one)
        self.two = two


class KeywordError(Exception):
    def __init__(self, *, code: int) -> None:
        super().__init__()
        self.code = code


class StrictStateError(Exception):
    def __getstate__(self) -> Any:
        return 1, 2

    def __setstate__(self, state: Any) -> None:
        self.one, self.two = state


class OddDictError(Exception):
    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # it raises
        raise RuntimeError("no attributes for you")


class OddAttributesError(Exception):
    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(f"no {name} for you")


class HidingError(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise SystemExit(f"no {name} for you")


class ReadOnlyError(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError(f"{name} cannot be set")


class OddTextError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


class InterruptingTextError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt("in the middle of a text")

    __repr__ = __str__


class OddText(str):
    __slots__ = ()

    def encode(self, *_: object) -> bytes:
        raise RuntimeError("no bytes for you")

    def __len__(self) -> int:
        raise RuntimeError("no length for you")


class EncodeError(Exception):
    def __str__(self) -> str:
        return OddText("odd")


class SlotsError(Exception):
    __slots__ = ("code",)

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class NoPickleError(Exception):
    def __reduce__(self) -> Any:
        raise StrictError(3, 4)


class LockError(Exception):
    def __init__(self) -> None:
        super().__init__("it has a lock")
        self.lock = threading.Lock()


class NoArrivalError(Exception):
    def __reduce__(self) -> Any:
        return fail_to_arrive, ("exception",)


class OddEqualError(Exception):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison for you")

    def __hash__(self) -> int:
        raise RuntimeError("no hash for you")


class LyingError(Exception):
    @property  # type: ignore[misc]  # it raises
    def __class__(self) -> Any:
        raise RuntimeError("no class for you")


class OddTracebackError(Exception):
    def with_traceback(self, _traceback: object) -> Any:
        raise RuntimeError("no traceback for you")


class OddClass(type):
    def __getattribute__(cls, name: str) -> Any:
        if name in {"__qualname__", "__name__"} and sys._getframe(1).f_globals["__name__"].startswith(
            "taskscope"
        ):
            raise RuntimeError("no name for you")
        return super().__getattribute__(name)


class OddClassError(Exception, metaclass=OddClass):
    """An exception of a class that taskscope cannot ask for its name."""


class TheirBaseError(BaseException):
    """Neither an Exception nor one of those that end a program."""


class TheirMemoryError(MemoryError):
    """Python uses objects of its own class again, and forgets to clear one of their flags."""


def noted() -> ValueError:
    error = ValueError("noted")
    error.add_note("one")
    error.add_note("two")
    return error


def notes_of_another_kind() -> ValueError:
    error = ValueError("noted")
    error.__notes__ = "not a list"  # type: ignore[assignment]  # which is why
    return error


def grouped() -> BaseExceptionGroup[Any]:
    return BaseExceptionGroup(
        "several", [raised(noted), ExceptionGroup("inner", [StrictError(1, 2)]), SystemExit(2)]
    )


def with_attributes() -> ValueError:
    error = ValueError("told", 3**70)
    error.told = {"a": [1, 2]}  # type: ignore[attr-defined]  # an attribute of its own
    return error


def raised(make: Callable[[], BaseException]) -> Any:
    """Return an exception that has been raised and caught, so that it has a traceback."""
    try:
        directly(make)
    except BaseException as error:  # noqa: BLE001 - whatever it is
        return error


def with_itself_as_context() -> ValueError:
    error, other = ValueError("one"), KeyError("other")
    error.__context__, other.__context__ = other, error
    return error


ERRORS: dict[str, Callable[[], BaseException]] = {
    "value": lambda: ValueError("no good"),
    "key": lambda: KeyError("k"),
    "os": lambda: FileNotFoundError(2, "no such file", "f"),
    "unicode": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    "lone surrogate": lambda: ValueError("\ud800"),
    "long": lambda: ValueError("x" * 5_000),
    "two arguments": with_attributes,
    "strict": lambda: StrictError(1, 2),
    "keyword": lambda: KeywordError(code=3),
    "strict state": lambda: StrictStateError("state"),
    "odd dict": lambda: OddDictError("dict"),
    "odd attributes": lambda: OddAttributesError("attributes"),
    "hiding": lambda: HidingError("hiding"),
    "read-only": lambda: ReadOnlyError("read-only"),
    "odd text": OddTextError,
    "interrupting text": InterruptingTextError,
    "encode": EncodeError,
    "odd argument": lambda: ValueError(OddText("odd")),
    "interrupting argument": lambda: ValueError(InterruptingTextError()),
    "slots": lambda: SlotsError(5),
    "no pickle": NoPickleError,
    "lock": LockError,
    "no arrival": NoArrivalError,
    "odd equal": lambda: OddEqualError(1),
    "lying": lambda: LyingError("class"),
    "odd traceback": lambda: OddTracebackError("traceback"),
    "odd class": lambda: OddClassError("class"),
    "notes": noted,
    "odd notes": notes_of_another_kind,
    "group": grouped,
    "in a circle": with_itself_as_context,
    "interrupt": KeyboardInterrupt,
    "exit": lambda: SystemExit(3),
    "generator exit": GeneratorExit,
    "stop": lambda: StopIteration(4),
    "stop async": StopAsyncIteration,
    "base": lambda: TheirBaseError("base"),
    "memory": lambda: TheirMemoryError("no more"),
}
SHARED: dict[str, BaseException] = {}
"""One exception object of each kind for a whole compute in this process, and for those after it."""


def shared(kind: str) -> BaseException:
    if kind not in SHARED:
        SHARED[kind] = ERRORS[kind]()
    return SHARED[kind]


def directly(make: Callable[[], BaseException]) -> None:
    raise make()


def from_a_cause(make: Callable[[], BaseException]) -> None:
    try:
        directly(lambda: KeyError("cause"))
    except KeyError as error:
        raise make() from error


def as_a_cause(make: Callable[[], BaseException]) -> None:
    try:
        directly(make)
    except BaseException as error:
        raise RuntimeError("because of that") from error


def in_a_context(make: Callable[[], BaseException]) -> None:
    try:
        directly(lambda: KeyError("context"))
    finally:
        raise make()


def from_none(make: Callable[[], BaseException]) -> None:
    try:
        directly(lambda: KeyError("suppressed"))
    except KeyError:
        raise make() from None


def again(make: Callable[[], BaseException]) -> None:
    try:
        directly(make)
    except BaseException as error:
        error.add_note("seen") if type(error) is ValueError else None
        raise


def in_a_compute(make: Callable[[], BaseException]) -> None:
    dask.delayed(directly)(make).compute(scheduler="synchronous")


def caught_of_a_compute(make: Callable[[], BaseException]) -> None:
    try:
        in_a_compute(make)
    except BaseException as error:
        raise LookupError("a compute failed") from error


def from_a_generator(make: Callable[[], BaseException]) -> None:
    def numbers() -> Any:
        yield 1
        directly(make)

    list(numbers())


def deep(make: Callable[[], BaseException], left: int | None = None) -> None:
    """Raise with room for 60 more calls on the stack."""
    if left is None:
        depth, frame = 0, sys._getframe()
        while frame.f_back is not None:
            depth, frame = depth + 1, frame.f_back
        # Not of the depth here, which recording changes.
        left = sys.getrecursionlimit() - 60 - depth // 20 * 20 - 40
    if left > 0:
        deep(make, left - 1)
    else:
        directly(make)


def without_end(make: Callable[[], BaseException]) -> None:
    without_end(make)


STYLES: dict[str, Callable[[Callable[[], BaseException]], None]] = {
    style.__name__: style
    for style in (
        directly,
        from_a_cause,
        as_a_cause,
        in_a_context,
        from_none,
        again,
        in_a_compute,
        caught_of_a_compute,
        from_a_generator,
        deep,
        without_end,
    )
}


def work(kind: str, name: str, style: str, *_needed: Any) -> Any:
    """Do what a task of a plan does."""
    if kind == "give":
        return VALUES[name]()
    if kind == "pass":
        return _needed
    if kind == "share":
        return STYLES[style](lambda: shared(name))
    return STYLES[style](ERRORS[name])
