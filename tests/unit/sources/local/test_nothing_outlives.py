"""Nothing of the user's is kept alive because it was recorded."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask
import pytest
from dask._task_spec import Task, TaskRef
from dask.utils import key_split

import taskscope
from tests.support.computes.local_computes import statuses
from tests.support.waiting import until


class Large:
    """Stands for a large array; unlike one it can be watched."""


def twice(_value: Large) -> Large:
    return Large()


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_neither_argument_nor_result_outlives_the_compute(run: taskscope.profile, scheduler: str) -> None:
    argument = Large()
    watched = [weakref.ref(argument)]
    intermediate: list[weakref.ref[Large]] = []

    def made(_value: Large) -> Large:
        large = Large()
        intermediate.append(weakref.ref(large))
        return large

    graph: dict[str, Any] = {
        "given": Task("given", made, argument),
        "result": Task("result", twice, TaskRef("given")),
    }
    (result,) = dask.base.get_scheduler(scheduler=scheduler)(graph, ["result"])
    watched += [*intermediate, weakref.ref(result)]
    del graph, argument, result
    # Before anything was folded. A pool's thread lets go of a task a moment after it has given its result.
    until(lambda: gc.collect() >= 0 and [reference() for reference in watched] == [None] * 3)
    assert statuses(run) == {"given": "finished", "result": "finished"}


def test_results_are_let_go_of_while_the_compute_goes_on(run: taskscope.profile) -> None:
    released: list[bool] = []
    made: list[weakref.ref[Large]] = []

    def make() -> Large:
        large = Large()
        made.append(weakref.ref(large))
        return large

    graph = {
        "large": Task("large", make),
        "small": Task("small", lambda _large: 1, TaskRef("large")),
        "last": Task("last", lambda _small: released.append(made[0]() is None), TaskRef("small")),
    }
    dask.get(graph, "last")
    unrecorded = list(released)
    assert unrecorded == [True]


def test_a_failed_compute_keeps_nothing_once_its_exception_is_gone(run: taskscope.profile) -> None:
    argument = Large()
    watched = weakref.ref(argument)

    def fail(_value: Large) -> None:
        raise ValueError("no")

    graph: dict[str, Any] = {"bad": Task("bad", fail, argument)}
    with pytest.raises(ValueError, match="no"):
        dask.get(graph, "bad")
    del graph, argument
    gc.collect()
    assert watched() is None
    assert statuses(run) == {"bad": "erred"}


def test_keys_of_a_folded_run_are_kept_as_columns_only(run: taskscope.profile) -> None:
    class Key(str):
        __slots__ = ("__weakref__",)

    key: Any = Key("watched")
    watched = weakref.ref(key)
    dask.get({key: Task(key, int, "7")}, [key])
    del key
    assert statuses(run) == {"watched": "finished"}
    key_split.cache_clear()  # Dask's own, bounded memory of keys
    gc.collect()
    assert watched() is None


def test_threads_of_the_user_s_pool_do_not_hold_the_run(run: taskscope.profile) -> None:
    argument = Large()
    watched = weakref.ref(argument)
    idle = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        dask.delayed(id, pure=False)(argument).compute(scheduler=pool)
        del argument
        pool.submit(idle.set).result()
        gc.collect()
        assert watched() is None
