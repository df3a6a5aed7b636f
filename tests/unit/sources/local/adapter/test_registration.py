"""The one private name of Dask that is replaced; these tests fail when Dask changes it."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import dask
import dask.local
import pytest
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


@contextmanager
def someone_else(
    inner: Callable[..., AbstractContextManager[Iterable[CallbackTuple]]],
    callbacks: Iterable[CallbackTuple] | None = None,
) -> Iterator[Iterable[CallbackTuple]]:
    with inner(callbacks) as active:
        yield active


def test_another_tool_that_replaced_the_same_name_later_is_left_in_place() -> None:
    seen: list[object] = []
    held = counting(seen)
    registration.install(held)
    ours = dask.local.local_callbacks

    def theirs(
        callbacks: Iterable[CallbackTuple] | None = None,
    ) -> AbstractContextManager[Iterable[CallbackTuple]]:
        return someone_else(ours, callbacks)

    dask.local.local_callbacks = theirs  # type: ignore[assignment]  # as loosely as another tool would
    registration.uninstall(held)
    try:
        assert dask.local.local_callbacks is theirs
        compute("released")
        registration.install(held)
        compute("held again")
        registration.uninstall(held)
        compute("released again")
    finally:
        dask.local.local_callbacks = ours
        registration.install(held)
        registration.uninstall(held)
    assert seen == ["held again"]
    assert dask.local.local_callbacks is original


def test_a_tool_that_came_while_nothing_was_held_is_asked_like_dask_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[object] = []
    held = counting(seen)
    registration.install(held)
    registration.uninstall(held)

    def theirs(
        callbacks: Iterable[CallbackTuple] | None = None,
    ) -> AbstractContextManager[Iterable[CallbackTuple]]:
        return someone_else(original, callbacks)

    monkeypatch.setattr(dask.local, "local_callbacks", theirs)
    registration.install(held)
    compute("held")
    registration.uninstall(held)
    assert (seen, dask.local.local_callbacks) == (["held"], theirs)


def test_a_registration_of_ours_that_another_tool_removed_is_made_again() -> None:
    seen: list[object] = []
    held = counting(seen)
    registration.install(held)
    dask.local.local_callbacks = original
    compute("removed")
    registration.uninstall(held)
    registration.install(held)
    compute("again")
    registration.uninstall(held)
    assert (seen, dask.local.local_callbacks) == (["again"], original)


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
    with watching() as recorder:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        compute("afterwards")
    assert failures == []
    keys = [repr((f"t{t}", n, i)) for t in range(4) for n in range(50) for i in range(5)]
    assert statuses(recorder) == dict.fromkeys([*keys, "afterwards"], "finished")
    assert run_facts(recorder, "status", "n_tasks") == [("finished", 5)] * 200 + [("finished", 1)]
    assert (Callback.active, dask.local.local_callbacks) == (set(), original)
