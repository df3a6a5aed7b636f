from __future__ import annotations

import threading
from operator import add, mul
from typing import Any

import dask
import dask.callbacks
import dask.local
import dask.threaded
import pytest
from dask.callbacks import add_callbacks

from taskscope.diagnostics import Callback
from tests.support.waiting import PATIENCE_S

GRAPH = {"a": (add, 1, 2), "b": (add, 3, "a"), "c": (mul, "a", "b")}
original = dask.local.local_callbacks


class PrintKeys(Callback):
    """The documents' own example."""

    def _pretask(self, key: object, dask: object, state: object) -> None:
        """Print the key of every task as it's started."""
        print(f"Computing: {key!r}!")  # noqa: T201 - what the documents do


def seeing(seen: list[object]) -> Callback:
    return Callback(pretask=lambda key, dsk, state: seen.append(key))


def compute(key: str = "x", **options: Any) -> None:
    assert dask.get({key: (abs, -1)}, key, **options) == 1


def test_the_documents_example_by_subclass(capsys: pytest.CaptureFixture[str]) -> None:
    with PrintKeys():
        assert dask.get(GRAPH, "c") == 18
    assert capsys.readouterr().out == "Computing: 'a'!\nComputing: 'b'!\nComputing: 'c'!\n"


def test_all_five_hooks_are_called_as_dask_calls_its_own() -> None:
    def told(kind: type[dask.callbacks.Callback]) -> list[tuple[object, ...]]:
        seen: list[tuple[object, ...]] = []
        hooks = {
            "start": lambda dsk: seen.append(("start", sorted(dsk))),
            "start_state": lambda dsk, state: seen.append(("start_state", sorted(state))),
            "pretask": lambda key, dsk, state: seen.append(("pretask", key)),
            "posttask": lambda key, result, dsk, state, worker: seen.append(
                ("posttask", key, result, worker)
            ),
            "finish": lambda dsk, state, failed: seen.append(("finish", failed)),
        }
        with kind(**hooks):
            dask.get(GRAPH, "c")
        return seen

    assert told(Callback) == told(dask.callbacks.Callback)
    assert len(told(Callback)) == 9


def test_the_tuple_form_and_add_callbacks_work() -> None:
    seen: list[object] = []
    callback = seeing(seen)
    with add_callbacks(callback, (None, None, lambda key, *_: seen.append(f"tuple {key}"), None, None)):
        compute()
    compute(callbacks=[callback._callback])
    compute()
    assert sorted(map(str, seen)) == ["tuple x", "x", "x"]


def test_register_twice_is_once_and_unregister_when_absent_is_nothing() -> None:
    seen: list[object] = []
    callback = seeing(seen)
    callback.unregister()
    callback.register()
    callback.register()
    compute("registered")
    callback.unregister()
    compute("unregistered")
    callback.unregister()
    assert seen == ["registered"]
    assert (Callback.active, dask.local.local_callbacks) == (set(), original)


def test_a_block_inside_of_a_block_or_a_registration_leaves_the_outer_one() -> None:
    seen: list[object] = []
    callback = seeing(seen)
    with callback:
        with callback:
            compute("inner")
        compute("outer")
    callback.register()
    with callback:
        compute("in a block")
    compute("registered")
    callback.unregister()
    compute("over")
    assert seen == ["inner", "outer", "in a block", "registered"]


def test_a_subclass_need_not_call_our_init() -> None:
    class Own(Callback):
        def __init__(self) -> None:
            self.seen: list[object] = []

        def _posttask(self, key: object, *_: object) -> None:
            self.seen.append(key)

    own = Own()
    own.register()
    with own:
        compute()
    own.unregister()
    assert own.seen == ["x"]


def test_it_stands_among_the_active_callbacks_where_tools_look_for_it() -> None:
    callback = seeing([])
    with callback:
        assert {callback._callback} == dask.callbacks.Callback.active == Callback.active
    assert Callback.active == set()


def test_computes_of_tasks_and_those_with_callbacks_of_their_own_do_not_call_it() -> None:
    seen: list[object] = []

    def nested() -> int:
        compute("nested")
        return 1

    with seeing(seen):
        dask.get({"sync": (nested,)}, "sync")
        dask.threaded.get({"threads": (nested,)}, "threads")
        compute("explicit", callbacks=[])
    assert seen == ["sync", "threads"]


def test_a_block_in_a_task_sees_the_computes_of_that_task() -> None:
    inner: list[object] = []
    outer: list[object] = []

    def nested() -> None:
        with seeing(inner):
            compute("nested")

    with seeing(outer):
        dask.threaded.get({"task": (nested,)}, "task")
    assert (inner, outer) == (["nested"], ["task"])


def test_a_registration_survives_four_threads_with_fifty_computes_each() -> None:
    seen: list[object] = []
    together = threading.Barrier(4)

    def computes(thread: int) -> None:
        together.wait(PATIENCE_S)
        for n in range(50):
            keys = [(f"t{thread}", n, i) for i in range(5)]
            dask.get(dict.fromkeys(keys, (int, "7")), keys)

    threads = [threading.Thread(target=computes, args=(n,)) for n in range(4)]
    callback = seeing(seen)
    callback.register()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    compute("afterwards")
    callback.unregister()
    callback.unregister()
    compute("over")
    assert set(seen) == {
        *((f"t{t}", n, i) for t in range(4) for n in range(50) for i in range(5)),
        "afterwards",
    }
    assert len(seen) == 1001
    assert (Callback.active, dask.local.local_callbacks) == (set(), original)


@pytest.mark.parametrize("registered_before", [True, False])
def test_what_is_registered_or_unregistered_during_another_compute_stays_so(
    *, registered_before: bool
) -> None:
    seen: list[object] = []
    callback = seeing(seen)
    started, go_on = threading.Event(), threading.Event()

    def wait() -> int:
        started.set()
        assert go_on.wait(PATIENCE_S)
        return 1

    if registered_before:
        callback.register()
    # Another callback of Dask's own must be where it was as well.
    bystander = dask.callbacks.Callback()
    with bystander:
        thread = threading.Thread(target=dask.get, args=({"long": (wait,)}, "long"))
        thread.start()
        assert started.wait(PATIENCE_S)
        if registered_before:
            callback.unregister()
        else:
            callback.register()
        go_on.set()
        thread.join()
        compute("later")
        assert bystander._callback in Callback.active
    callback.unregister()
    assert seen == (["long"] if registered_before else ["later"])
    assert Callback.active == set()


def test_an_exception_in_a_hook_ends_the_compute_as_with_dask() -> None:
    def fail(*_: object) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"), Callback(start=fail):
        compute()
    assert Callback.active == set()
