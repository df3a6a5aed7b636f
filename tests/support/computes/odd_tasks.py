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


class OtherClass:
    """Says that it is something else when it is sent."""

    def __reduce__(self) -> Any:
        return dict, ([("not", "it")],)


class NoRecipe:
    def __reduce__(self) -> Any:
        return 7


class InterruptingRecipe:
    def __reduce_ex__(self, _protocol: object) -> Any:
        raise KeyboardInterrupt("in the middle of pickling")


class SlotsOnly:
    __slots__ = ("code", "unset")

    def __init__(self) -> None:
        self.code = 5


class OddBytes:
    def __init__(self, nbytes: object) -> None:
        self.nbytes = nbytes


class NoHashClass(type):
    def __hash__(cls) -> int:
        raise RuntimeError("no hash of this class for you")

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("no comparison of this class for you")

    def __instancecheck__(cls, _instance: object) -> bool:
        raise RuntimeError("no instances for you")


class OfNoHashClass(metaclass=NoHashClass):
    """Of a class that cannot be a key; of exceptions there can be none, as tblib has a dict of them."""


class NoClass:
    @property  # type: ignore[misc]  # it raises
    def __class__(self) -> Any:
        raise SystemExit("no class for you")


class NoFormat:
    def __repr__(self) -> str:
        raise RuntimeError("no text for you")

    def __array__(self, *_: object) -> Any:
        raise RuntimeError("no array for you")

    def __iter__(self) -> Any:
        raise RuntimeError("no elements for you")


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
    "other class": OtherClass,
    "no recipe": NoRecipe,
    "interrupting recipe": InterruptingRecipe,
    "slots": SlotsOnly,
    "text for bytes": lambda: OddBytes("many"),
    "less than no bytes": lambda: OddBytes(-(2**70)),
    "bytes without an end": lambda: OddBytes(float("inf")),
    "an array for bytes": lambda: OddBytes(np.arange(3)),
    "of a class without a hash": OfNoHashClass,
    "no class": NoClass,
    "no format": NoFormat,
    "very nested": lambda: nested(sys.getrecursionlimit() - 300),
    "too nested": lambda: nested(5 * sys.getrecursionlimit()),
    "an odd exception": lambda: raised(lambda: NoTracebackError("a value")),
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


class NoTracebackError(Exception):
    @property
    def __traceback__(self) -> Any:
        raise RuntimeError("no traceback for you")

    @__traceback__.setter
    def __traceback__(self, _traceback: object) -> None:
        raise SystemExit("no other traceback for you")


class NoCauseError(Exception):
    @property
    def __cause__(self) -> Any:  # type: ignore[override]  # it raises
        raise RuntimeError("no cause for you")

    @property
    def __context__(self) -> Any:  # type: ignore[override]  # it raises
        raise RuntimeError("no context for you")

    @property
    def __suppress_context__(self) -> Any:  # type: ignore[override]  # it raises
        raise RuntimeError("nothing is suppressed for you")


class NoArgumentsError(Exception):
    @property
    def args(self) -> Any:  # type: ignore[override]  # it raises
        raise RuntimeError("no arguments for you")


class NoNotesError(Exception):
    @property
    def __notes__(self) -> Any:  # type: ignore[override]  # it raises
        raise RuntimeError("no notes for you")

    def add_note(self, _note: str) -> None:
        raise RuntimeError("no notes from you")


class FalseError(Exception):
    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 0


class NoTruthError(Exception):
    def __bool__(self) -> bool:
        raise RuntimeError("no truth for you")


class OtherClassError(Exception):
    """Says that it is an interrupt, and is none."""

    @property  # type: ignore[misc]  # it lies
    def __class__(self) -> Any:
        return KeyboardInterrupt


class OtherOnArrivalError(Exception):
    def __reduce__(self) -> Any:
        return KeyError, ("another",)


class NoErrorOnArrivalError(Exception):
    def __reduce__(self) -> Any:
        return dict, ()


class NoRecipeError(Exception):
    def __reduce__(self) -> Any:
        return None, 1, 2


class InterruptingRecipeError(Exception):
    def __reduce_ex__(self, _protocol: object) -> Any:
        raise KeyboardInterrupt("in the middle of pickling")


class NoStateError(Exception):
    def __reduce__(self) -> Any:
        return NoStateError, (), {"a": 1}

    def __setstate__(self, _state: object) -> None:
        raise RuntimeError("no state for you")


class AllSlotsError(SlotsError):
    __slots__ = ("unset",)

    def __reduce__(self) -> Any:
        return AllSlotsError, (self.code,)


class NumberTextError(Exception):
    def __str__(self) -> Any:
        return 7  # noqa: PLE0307 - which is why


class EndlessTextError(Exception):
    def __str__(self) -> str:
        return str(self)


class OddGroup(ExceptionGroup[Exception]):
    """Does not let its members be looked at."""

    @property
    def exceptions(self) -> Any:
        raise RuntimeError("no members for you")

    def derive(self, _members: object) -> Any:
        raise RuntimeError("no part of it for you")


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


def group_of_groups() -> BaseExceptionGroup[Any]:
    inner: BaseExceptionGroup[Any] = ExceptionGroup("innermost", [raised(lambda: FalseError("inside"))])
    for depth in range(4):
        inner = ExceptionGroup(f"{depth}", [inner, NoTracebackError(depth), OtherClassError(depth)])
    return inner


def group_that_holds_itself() -> BaseExceptionGroup[Any]:
    member = KeyError("member")
    group = ExceptionGroup("outer", [member])
    member.__context__ = group
    return group


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
    "no traceback": lambda: NoTracebackError("traceback"),
    "no cause": lambda: NoCauseError("cause"),
    "no arguments": lambda: NoArgumentsError("arguments"),
    "no notes": lambda: NoNotesError("notes"),
    "false": lambda: FalseError("false"),
    "no truth": lambda: NoTruthError("truth"),
    "other class": lambda: OtherClassError("class"),
    "other on arrival": lambda: OtherOnArrivalError("one"),
    "no error on arrival": lambda: NoErrorOnArrivalError("one"),
    "no recipe": lambda: NoRecipeError("recipe"),
    "interrupting recipe": lambda: InterruptingRecipeError("recipe"),
    "no state": NoStateError,
    "all slots": lambda: AllSlotsError(6),
    "number text": lambda: NumberTextError("text"),
    "endless text": lambda: EndlessTextError("text"),
    "odd group": lambda: OddGroup("odd", [ValueError("member"), NoTracebackError("member")]),
    "group of groups": group_of_groups,
    "group that holds itself": group_that_holds_itself,
    "very nested argument": lambda: ValueError(nested(sys.getrecursionlimit() - 300)),
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
