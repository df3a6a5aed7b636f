"""The one private name of Dask that is replaced; these tests fail when Dask changes it."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import dask
import dask.local
from dask.callbacks import Callback

from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.registration import CallbackTuple
from tests.support.computes.local_computes import run_facts, statuses, watching

original = dask.local.local_callbacks


def counting(seen: list[object]) -> CallbackTuple:
    return (None, None, lambda key, *_: seen.append(key), None, None)


def compute(key: str, **options: Any) -> None:
    dask.get({key: (int,)}, key, **options)


def test_dask_asks_local_callbacks_once_per_compute_for_its_callbacks() -> None:
    assert list(inspect.signature(original).parameters) == ["callbacks"]
    source = inspect.getsource(dask.local.get_async)
    assert source.count("local_callbacks(") == 1
    with original(None) as found:
        assert list(found) == []


def test_dask_is_as_it_was_once_the_last_callback_is_released() -> None:
    first, second = counting([]), counting([])
    registration.install(first)
    registration.install(second)
    assert dask.local.local_callbacks is not original
    registration.uninstall(first)
    assert dask.local.local_callbacks is not original
    registration.uninstall(second)
    assert dask.local.local_callbacks is original
    registration.uninstall(second)
    assert dask.local.local_callbacks is original


def test_a_held_callback_sees_computes_until_it_is_released() -> None:
    seen: list[object] = []
    held = counting(seen)
    compute("before")
    registration.install(held)
    compute("during")
    registration.uninstall(held)
    compute("after")
    assert seen == ["during"]


def test_callbacks_of_the_user_come_first_and_their_set_is_untouched() -> None:
    order: list[str] = []
    held = (None, None, lambda *_: order.append("held"), None, None)
    user = Callback(pretask=lambda *_: order.append("user"))
    registration.install(held)
    try:
        with user:
            compute("x")
            assert {user._callback} == Callback.active
    finally:
        registration.uninstall(held)
    assert (order, Callback.active) == (["user", "held"], set())


def test_computes_with_callbacks_of_their_own_are_seen_too() -> None:
    own: list[object] = []
    held: list[object] = []
    callback = counting(held)
    registration.install(callback)
    try:
        compute("x", callbacks=[counting(own)])
    finally:
        registration.uninstall(callback)
    assert (own, held) == (["x"], ["x"])


def test_a_thousand_tasks_of_four_threads_with_fifty_computes_each_are_all_recorded() -> None:
    together = threading.Barrier(4)
    failures: list[BaseException] = []

    def computes(thread: int) -> None:
        try:
            together.wait()
            for n in range(50):
                keys = [(f"t{thread}", n, i) for i in range(5)]
                graph: dict[object, object] = dict.fromkeys(keys, (int, "7"))
                assert dask.get(graph, keys) == (7,) * 5
        except BaseException as error:  # noqa: BLE001 - reported by the thread that asserts
            failures.append(error)

    threads = [threading.Thread(target=computes, args=(n,)) for n in range(4)]
    with watching() as run:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        compute("afterwards")
    assert failures == []
    keys = [repr((f"t{t}", n, i)) for t in range(4) for n in range(50) for i in range(5)]
    assert statuses(run) == dict.fromkeys([*keys, "afterwards"], "finished")
    assert run_facts(run, "status", "n_tasks") == [("finished", 5)] * 200 + [("finished", 1)]
    assert (Callback.active, dask.local.local_callbacks) == (set(), original)
