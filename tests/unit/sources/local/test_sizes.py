"""Result sizes: right, cheap, and without touching anybody's random state."""

from __future__ import annotations

import random
import sys
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest

import taskscope
from tests.support.computes.local_computes import run_facts, task_rows

WORDS = [f"word {i:04d}" for i in range(1_000)]


class Unmeasurable:
    def __sizeof__(self) -> int:
        raise RuntimeError("no size for you")


class Odd:
    """Raises whatever is asked of it, but for what it is."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Odd
        raise RuntimeError(f"no {name} for you")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison for you")

    __hash__ = None  # type: ignore[assignment]  # as unhashable as it is incomparable


RESULTS: dict[str, Any] = {
    "number": 7,
    "text": "x" * 1_000,
    "list": WORDS,
    "tuple": tuple(WORDS),
    "set": set(WORDS),
    "dict": dict.fromkeys(WORDS, 1.5),
    "nested": [[WORDS] * 20] * 20,
    "array": np.ones((100, 100)),
    "objects": pd.DataFrame({"a": WORDS, "b": range(1_000)}).astype({"a": object}),
    "series": pd.Series(WORDS, dtype=object),
    "index": pd.Index(WORDS, dtype=object),
    "multi-index": pd.MultiIndex.from_product([WORDS[:10], range(10)]),
    "categories": pd.Series(WORDS, dtype="category"),
    "odd": Odd(),
    "generator": iter(WORDS),
}


def result_size(result: object) -> float:
    """Return how large the result of a task is recorded to be."""
    with taskscope.profile(display=False, stacks=False) as run:
        dask.get({"x": (lambda: result,)}, "x")
    return float(run.recording.to_pandas("tasks")["result_bytes"][0])


def random_states() -> tuple[object, ...]:
    name, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - the state to be left alone
    return random.getstate(), name, bytes(np.asarray(keys)), *rest


@pytest.mark.parametrize("name", list(RESULTS))
def test_measuring_does_not_change_what_the_user_will_draw(name: str) -> None:
    before = random_states()
    result_size(RESULTS[name])
    assert random_states() == before


@pytest.mark.parametrize("name", ["list", "objects"])
def test_dask_s_own_measuring_would_have_changed_it(name: str) -> None:
    before = random_states()
    dask.sizeof.sizeof(RESULTS[name])
    assert random_states() != before


@pytest.mark.parametrize(
    ("name", "true_bytes"),
    [
        ("number", sys.getsizeof(7)),
        ("text", sys.getsizeof("x" * 1_000)),
        ("list", sys.getsizeof(WORDS) + sum(map(sys.getsizeof, WORDS))),
        ("tuple", sys.getsizeof(tuple(WORDS)) + sum(map(sys.getsizeof, WORDS))),
        ("set", sys.getsizeof(set(WORDS)) + sum(map(sys.getsizeof, WORDS))),
        ("array", 80_000),
        ("objects", int(RESULTS["objects"].memory_usage(deep=True).sum())),
        ("series", int(RESULTS["series"].memory_usage(deep=True))),
    ],
)
def test_sizes_are_true_where_elements_are_alike(name: str, true_bytes: int) -> None:
    assert result_size(RESULTS[name]) == pytest.approx(true_bytes, rel=0.01)


def test_a_broadcast_array_is_as_large_as_what_it_holds() -> None:
    assert result_size(np.broadcast_to(np.ones(10), (1_000, 10))) == 80.0


@pytest.mark.parametrize("result", [Unmeasurable(), [Unmeasurable()], {"a": Unmeasurable()}])
def test_what_cannot_be_measured_is_unknown(result: object) -> None:
    assert np.isnan(result_size(result))


def test_elements_of_a_generator_are_not_used_up() -> None:
    result = iter(WORDS)
    result_size(result)
    assert list(result) == WORDS


def test_a_list_that_holds_itself_is_measured() -> None:
    loop: list[object] = [1]
    loop.append(loop)
    assert result_size(loop) > sys.getsizeof(loop)


class Stubborn:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __sizeof__(self) -> int:
        raise self.error


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), KeyboardInterrupt(), RuntimeError("no")])
def test_whatever_measuring_a_result_raises_the_task_gives_it(
    run: taskscope.profile, error: BaseException
) -> None:
    for _ in range(2):
        assert type(dask.delayed(Stubborn)(error).compute(scheduler="threads")) is Stubborn
    assert task_rows(run, "status") == [("finished",)] * 2


def test_an_interrupt_while_a_result_is_measured_is_an_interrupt(run: taskscope.profile) -> None:
    with pytest.raises(KeyboardInterrupt):
        dask.delayed(Stubborn)(KeyboardInterrupt()).compute(scheduler="synchronous")
    assert run_facts(run, "status") == [("interrupted",)]
