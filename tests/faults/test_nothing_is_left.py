"""After a thousand uses, good and bad, no thread, descriptor, child, callback or hold is left."""

from __future__ import annotations

import contextlib
import gc
import io
import random
import shutil
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import dask.threaded
import pytest
from dask.callbacks import Callback

import taskscope
from taskscope import diagnostics
from tests.support.resources import held_now
from tests.support.waiting import until

USES = 1_000
Act = Callable[[random.Random, Path], None]


def compute(chance: random.Random) -> None:
    n = chance.randrange(1, 60)
    ones = {("one", i): (abs, -1) for i in range(n)}
    graph: dict[Any, Any] = {**ones, "sum": (sum, list(ones))}
    if chance.random() < 0.5:
        assert dask.get(graph, "sum") == n
        return
    # In a pool that ends: Dask keeps one of its own for every thread that ever computed.
    with ThreadPoolExecutor(2) as pool:
        assert dask.threaded.get(graph, "sum", pool=pool) == n


def fail(error: BaseException) -> Any:
    raise error


def block(chance: random.Random, _folder: Path) -> None:
    with taskscope.profile(display=False, label="outer"), taskscope.profile(display=False) as run:
        compute(chance)
    assert [one.status for one in run.recording.runs] == ["finished"]


def profilers(chance: random.Random, _folder: Path) -> None:
    kinds = [diagnostics.Profiler, diagnostics.CacheProfiler, diagnostics.ResourceProfiler]
    with ExitStack() as stack:
        for kind in chance.sample(kinds, chance.randrange(1, 4)):
            stack.enter_context(kind())
        stack.enter_context(diagnostics.ProgressBar(out=io.StringIO()))
        compute(chance)


def registered(chance: random.Random, _folder: Path) -> None:
    profiler = diagnostics.Profiler()
    profiler.register()
    compute(chance)
    profiler.unregister()


def task_that_fails(chance: random.Random, _folder: Path) -> None:
    error = chance.choice([ValueError("no"), KeyboardInterrupt(), SystemExit(3), MemoryError()])
    with pytest.raises(type(error)), taskscope.profile(display=False):
        dask.get({"bad": (fail, error)}, "bad")


def callback_that_fails(chance: random.Random, _folder: Path) -> None:
    hooks: list[Any] = [None] * 5
    hooks[chance.randrange(5)] = lambda *_: fail(ValueError("no"))
    with pytest.raises(ValueError, match="no"), taskscope.profile(display=False), Callback(*hooks):
        dask.get({"a": (abs, -1)}, "a")


def threads_at_once(chance: random.Random, _folder: Path) -> None:
    def work(seed: int) -> None:
        with taskscope.profile(display=False):
            compute(random.Random(seed))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [chance.randrange(10**6) for _ in range(16)]))


def saved(chance: random.Random, folder: Path) -> None:
    path = folder / "saved.taskscope"
    with taskscope.profile(display=False, save=path):
        compute(chance)
    assert len(taskscope.load(path).table("tasks")["key"]) > 0
    path.unlink()


def folder_that_vanishes(chance: random.Random, folder: Path) -> None:
    place = folder / "gone"
    place.mkdir()
    with taskscope.profile(display=False, save=place / "a.taskscope") as run:
        compute(chance)
        place.rename(place.with_suffix(".moved"))
    shutil.rmtree(place.with_suffix(".moved"))
    assert any(message.text.startswith("not saved") for message in run.recording.messages)


def closed_output(chance: random.Random, _folder: Path) -> None:
    closed = io.StringIO()
    closed.close()
    with contextlib.redirect_stderr(closed), contextlib.redirect_stdout(closed), taskscope.profile():
        compute(chance)


ACTS: tuple[Act, ...] = (
    *(block, profilers, registered, task_that_fails, callback_that_fails),
    *(threads_at_once, saved, folder_that_vanishes, closed_output),
)
QUICK = [act for act in ACTS if act not in {threads_at_once, profilers}]


def objects() -> Counter[str]:
    """Count what the garbage collector knows of this package, by type."""
    gc.collect()
    kinds = (type(thing) for thing in gc.get_objects())
    return Counter(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith("taskscope"))


@pytest.mark.parametrize("act", ACTS)
def test_an_act_ends_as_it_should_and_leaves_nothing(act: Act, tmp_path: Path) -> None:
    chance = random.Random(act.__name__)
    for _ in range(3):
        act(chance, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_thousand_uses_leave_nothing_and_nothing_grows(tmp_path: Path) -> None:
    chance = random.Random(1)
    for act in QUICK:
        act(chance, tmp_path)
    before, held = objects(), held_now()
    rounds = USES // len(QUICK)
    for _ in range(rounds):
        for act in QUICK:
            act(chance, tmp_path)
    until(lambda: held_now().beyond(held) == [])
    # What the last act left until the next one may differ; what any act leaves each time adds up.
    assert {kind: n for kind, n in (objects() - before).items() if n >= rounds} == {}
