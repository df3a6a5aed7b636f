"""What a user catches is what an unrecorded run would have raised, whatever hangs on it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import dask
import pytest

from tests.support.computes.local_computes import watching
from tests.support.computes.process_tasks import fail, fail_by_own_recipe, interrupt, unpicklable


class CodedError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def raise_coded() -> None:
    raise CodedError(42)


def raise_with_cause() -> None:
    try:
        raise_coded()
    except CodedError as error:
        raise RuntimeError("caused") from error


def raise_from_nested_compute() -> None:
    dask.delayed(raise_with_cause)().compute(scheduler="synchronous")


def facts(error: BaseException | None) -> dict[str, Any] | None:
    """Return everything about an exception that a user could look at."""
    if error is None:
        return None
    if type(error).__name__ == "_RemoteTraceback":
        # The traceback as text, in which a frame of taskscope may be.
        return {"type": "_RemoteTraceback"}
    state = {name: repr(value) for name, value in vars(error).items()}
    return {
        "type": type(error).__qualname__,
        "args": error.args,
        "text": str(error),
        "state": state,
        "cause": facts(error.__cause__),
        "context": facts(error.__context__),
        "suppressed": error.__suppress_context__,
    }


def raised_by(compute: Callable[[], object]) -> dict[str, Any] | None:
    try:
        compute()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is compared
        return facts(error)
    raise AssertionError("the compute did not fail")


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize(
    "task", [raise_coded, raise_with_cause, raise_from_nested_compute, interrupt, sys.exit]
)
def test_an_exception_of_a_task_is_that_of_an_unrecorded_run(
    task: Callable[[], object], scheduler: str
) -> None:
    graph = dask.delayed(task)()

    def compute() -> object:
        return graph.compute(scheduler=scheduler)

    expected = raised_by(compute)
    with watching():
        assert raised_by(compute) == expected


def test_an_exception_in_a_thread_pool_of_the_user_is_that_of_an_unrecorded_run(
    thread_pool: ThreadPoolExecutor,
) -> None:
    graph = dask.delayed(raise_with_cause)()

    def compute() -> object:
        return graph.compute(scheduler=thread_pool)

    expected = raised_by(compute)
    with watching():
        assert raised_by(compute) == expected


def test_an_exception_of_a_task_that_dask_runs_again_here_is_that_of_an_unrecorded_run() -> None:
    graph = dask.delayed(raise_coded)()

    def compute() -> object:
        return graph.compute(scheduler="threads", rerun_exceptions_locally=True)

    expected = raised_by(compute)
    with watching():
        assert raised_by(compute) == expected


@pytest.mark.parametrize(
    ("task", "arguments"),
    [(fail, ("no",)), (fail_by_own_recipe, (42,)), (interrupt, ()), (unpicklable, ())],
)
@pytest.mark.parametrize("bare", [True, False])
def test_an_exception_in_another_process_is_that_of_an_unrecorded_run(
    processes: ProcessPoolExecutor, task: Callable[..., object], arguments: tuple[object, ...], *, bare: bool
) -> None:
    options: dict[str, Any] = (
        {"scheduler": processes} if bare else {"scheduler": "processes", "pool": processes}
    )
    graph = dask.delayed(task)(*arguments)

    def compute() -> object:
        return graph.compute(**options)

    expected = raised_by(compute)
    with watching():
        assert raised_by(compute) == expected


def test_the_very_exception_object_of_the_task_reaches_the_user() -> None:
    error = CodedError(1)

    def raise_it() -> None:
        raise error

    with watching(), pytest.raises(CodedError) as caught:
        dask.delayed(raise_it)().compute(scheduler="threads")
    assert caught.value is error
