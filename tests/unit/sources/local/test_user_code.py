"""The user's own code in a recording: the line that computes, and the functions that tasks call."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import dask.array as da
import dask.bag as db
import pytest
from dask import compute, delayed

import taskscope


def _line(function: Callable[..., Any], after: int = 0) -> str:
    return f"test_user_code.py:{function.__code__.co_firstlineno + after}"


def load(value: int) -> int:
    return value


def _decorated(function: Callable[[int], int]) -> Callable[[int], int]:
    @functools.wraps(function)
    def call(value: int) -> int:
        return function(value)

    return call


class Model:
    def predict(self, value: int) -> int:
        return value

    def __call__(self, value: int) -> int:
        return value


def _functions(compute: Callable[[], object]) -> set[str]:
    with taskscope.profile() as run:
        compute()
    found: list[Any] = run.recording.to_pandas("tasks")["function"].dropna().tolist()
    return set(found)


@pytest.mark.parametrize(
    ("compute", "named"),
    [
        (lambda: delayed(load)(1).compute(scheduler="sync"), f"load ({_line(load)})"),
        (lambda: delayed(functools.partial(load, 1))().compute(scheduler="sync"), f"load ({_line(load)})"),
        (
            lambda: delayed(_decorated(load))(1).compute(scheduler="sync"),
            f"load ({_line(load)})",
        ),
        (lambda: delayed(Model().predict)(1).compute(scheduler="sync"), f"predict ({_line(Model.predict)})"),
        (lambda: delayed(Model())(1).compute(scheduler="sync"), f"__call__ ({_line(Model.__call__)})"),
        (lambda: db.from_sequence([1, 2]).map(load).compute(scheduler="sync"), f"load ({_line(load)})"),
        (lambda: da.ones(4, chunks=2).map_blocks(load).compute(scheduler="sync"), f"load ({_line(load)})"),
    ],
)
def test_tasks_name_the_users_function_and_its_place(compute: Callable[[], object], named: str) -> None:
    assert _functions(compute) == {named}


def test_functions_of_libraries_are_not_named() -> None:
    assert _functions(lambda: delayed(operator.add)(1, 2).compute(scheduler="sync")) == set()


def test_a_function_that_was_defined_anew_under_its_name_has_its_new_place() -> None:
    def work() -> int:
        return 1

    first = work
    with taskscope.profile() as run:
        delayed(work)().compute(scheduler="sync")

        def work() -> int:  # as a cell that runs again does
            return 2

        delayed(work)().compute(scheduler="sync")
    tasks = run.recording.to_pandas("tasks")
    assert list(zip(tasks["group"], tasks["function"], strict=True)) == [
        ("work", f"work ({_line(first)})"),
        ("work", f"work ({_line(work)})"),
    ]


def test_lambdas_of_one_compute_are_not_taken_for_one_function() -> None:
    first = lambda value: value  # noqa: E731 - lambdas are the point
    second = lambda value: -value  # noqa: E731 - lambdas are the point
    values = [delayed(function)(1) for function in (first, second, operator.neg, first)]
    with taskscope.profile() as run:
        assert compute(*values, scheduler="sync") == (1, -1, -1, 1)
    tasks = run.recording.to_pandas("tasks").fillna("")
    assert sorted(zip(tasks["group"], tasks["function"], strict=True)) == [
        ("lambda", f"lambda ({_line(first)})"),
        ("lambda", f"lambda ({_line(first)})"),
        ("lambda", f"lambda ({_line(second)})"),
        ("neg", ""),
    ]


def test_a_compute_has_the_line_of_the_users_code_that_called_it() -> None:
    with taskscope.profile() as run:
        delayed(load)(1).compute(scheduler="sync")
    runs = run.recording.to_pandas("runs")
    assert runs["called_from"].tolist() == [
        _line(test_a_compute_has_the_line_of_the_users_code_that_called_it, 2)
    ]
