"""A recorded compute gives and raises exactly what an unrecorded one does, however odd its values are."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import dask
import numpy as np
import pandas as pd
import pytest

import taskscope
from tests.support.computes.process_tasks import OwnReduceError

SCHEDULERS = ("synchronous", "threads", "processes")


class NoTruth:
    """A value that raises when it is compared, hashed, measured, or used as a condition."""

    __hash__ = None  # type: ignore[assignment]  # unhashable on purpose

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __sizeof__(self) -> int:
        raise SystemExit("no size")


class NoText:
    """A value without a readable text."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class DeepList(list[Any]):
    """A list that contains itself."""

    @classmethod
    def make(cls) -> DeepList:
        made = cls()
        made.append(made)
        return made


class DetailedError(Exception):
    """An exception with two required arguments and an attribute, as many libraries have."""

    def __init__(self, code: int, where: str) -> None:
        super().__init__(code, where)
        self.code = code


class TextlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no message")


VALUES: dict[str, Callable[[], object]] = {
    "no truth": NoTruth,
    "no text": NoText,
    "contains itself": DeepList.make,
    "none": lambda: None,
    "nan": lambda: float("nan"),
    "an exception, returned": lambda: ValueError("a value, not a failure"),
    "a class": lambda: int,
    "an object array": lambda: np.array([None, "x", 1], object),
    "a table": lambda: pd.DataFrame({"a": [1, None]}),
    "a lone surrogate": lambda: "\ud800",
}


def give(name: str) -> object:
    return VALUES[name]()


def fail(name: str) -> NoReturn:
    if name == "cause and note":
        error = ValueError("outer")
        error.add_note("a note")
        raise error from KeyError("inner")
    if name == "context":
        try:
            raise KeyError("first")  # noqa: TRY301 - the context is made here
        except KeyError:
            raise DetailedError(7, "here")  # noqa: B904 - the implicit context is what is compared
    if name == "nested":
        dask.delayed(fail, pure=False)("cause and note").compute(scheduler="synchronous")
    if name == "no text":
        raise TextlessError
    raise {
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "own recipe": OwnReduceError(42),
        "plain": OSError(2, "No such file", "x.csv"),
    }[name]


@dataclass
class Raised:
    """The parts of an exception that a caller can see."""

    type: str
    args: tuple[object, ...]
    attributes: dict[str, object]
    cause: str | None
    context: str | None
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        attributes = {name: value for name, value in vars(error).items() if name != "__notes__"}
        cause, context = (None if e is None else repr(e) for e in (error.__cause__, error.__context__))
        return cls(
            type(error).__qualname__, error.args, attributes, cause, context, getattr(error, "__notes__", [])
        )


def raised_by(name: str, scheduler: str, **options: bool) -> Raised:
    with pytest.raises(BaseException) as info:  # noqa: PT011 - any exception is compared whole
        dask.delayed(fail, pure=False)(name).compute(scheduler=scheduler, num_workers=2, **options)
    return Raised.of(info.value)


def shown(value: object) -> str:
    """Return what can be compared of a value of any kind."""
    if isinstance(value, pd.DataFrame):
        return value.to_json()
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    if isinstance(value, NoTruth | NoText | DeepList):
        return type(value).__qualname__
    return ascii(value)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_recorded_tasks_give_the_values_that_they_give_unrecorded(scheduler: str) -> None:
    tasks = [dask.delayed(give, pure=False)(name) for name in VALUES]
    plain = dask.compute(*tasks, scheduler=scheduler, num_workers=2)
    with taskscope.profile(display=False, stacks=False) as run:
        recorded = dask.compute(*tasks, scheduler=scheduler, num_workers=2)
    assert list(map(shown, recorded)) == list(map(shown, plain))
    assert run.recording.to_pandas("tasks").status.tolist() == ["finished"] * len(VALUES)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("name", ["cause and note", "context", "own recipe", "no text", "plain"])
def test_a_recorded_task_raises_the_exception_that_it_raises_unrecorded(name: str, scheduler: str) -> None:
    plain = raised_by(name, scheduler)
    with taskscope.profile(display=False, stacks=False) as run:
        recorded = raised_by(name, scheduler)
    assert recorded == plain
    assert run.recording.to_pandas("tasks").status.tolist() == ["erred"]


@pytest.mark.parametrize("name", ["exit", "interrupt", "nested"])
@pytest.mark.parametrize("options", [{}, {"rerun_exceptions_locally": True}], ids=["", "run again here"])
def test_what_ends_a_compute_of_this_process_is_what_ends_it_unrecorded(
    name: str, options: dict[str, bool]
) -> None:
    plain = raised_by(name, "threads", **options)
    with taskscope.profile(display=False, stacks=False):
        assert raised_by(name, "threads", **options) == plain


def test_a_value_is_the_same_object_and_is_not_kept_alive() -> None:
    made: list[weakref.ref[NoText]] = []

    def make() -> NoText:
        value = NoText()
        made.append(weakref.ref(value))
        return value

    def take(value: NoText) -> int:
        return int(made[0]() is value)

    with taskscope.profile(display=False, stacks=False) as run:
        assert dask.delayed(take)(dask.delayed(make)()).compute(scheduler="threads") == 1
    gc.collect()
    assert (run.recording.to_pandas("tasks").status.tolist(), made[0]()) == (["finished"] * 2, None)
