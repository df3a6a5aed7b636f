"""What people do to a profiler, well and badly: each act does it once and fails if it ended otherwise."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dask
import dask.threaded
from dask._task_spec import Task, TaskRef
from dask.callbacks import Callback

import taskscope
from taskscope import diagnostics
from taskscope.record import RunLog
from taskscope.sources.local import source as local
from tests.support.child_process import in_forked_child

__all__ = ["ACTS", "Act"]

Act = Callable[[random.Random, Path], None]


def _double(number: int) -> int:
    return 2 * number


def _fail(error: BaseException) -> int:
    raise error


def _graph(n: int) -> dict[Any, Any]:
    graph: dict[Any, Any] = {("double", i): Task(("double", i), _double, i) for i in range(n)}
    graph["sum"] = Task("sum", lambda *numbers: sum(numbers), *(TaskRef(("double", i)) for i in range(n)))
    return graph


def _computed(chance: random.Random) -> None:
    n = chance.randrange(1, 60)
    gets: list[Callable[..., Any]] = [dask.get, _get_in_threads]
    assert chance.choice(gets)(_graph(n), "sum") == n * (n - 1)


def _get_in_threads(graph: dict[Any, Any], key: str) -> Any:
    """Compute in a pool that ends: Dask keeps one of its own for every thread that ever computed."""
    with ThreadPoolExecutor(2) as pool:
        return dask.threaded.get(graph, key, pool=pool)


def plain(chance: random.Random, folder: Path) -> None:
    label = f"plain {chance.random()}"
    with taskscope.profile(display=False, label=label, stacks=chance.random() < 0.5) as run:
        _computed(chance)
    # A block is a window of time: what other threads compute meanwhile is in it, too.
    (own,) = (one for one in run.recording.runs if one.label == label)
    tasks = run.recording.to_pandas("tasks")
    statuses = set(tasks["status"][tasks["run"] == own.run])
    assert (own.status, statuses) == ("finished", {"finished"}), (own, statuses)


def nested(chance: random.Random, folder: Path) -> None:
    with taskscope.profile(display=False), taskscope.profile(display=False, label="inner"):
        _computed(chance)


def with_diagnostics(chance: random.Random, folder: Path) -> None:
    kinds = [diagnostics.Profiler, diagnostics.CacheProfiler, diagnostics.ResourceProfiler]
    with ExitStack() as stack:
        for kind in chance.sample(kinds, chance.randrange(1, 4)):
            stack.enter_context(kind())
        stack.enter_context(diagnostics.ProgressBar(out=io.StringIO()))
        _computed(chance)


def registered(chance: random.Random, folder: Path) -> None:
    profiler = diagnostics.Profiler()
    profiler.register()
    try:
        _computed(chance)
    finally:
        profiler.unregister()


def erring_task(chance: random.Random, folder: Path) -> None:
    error = chance.choice([ValueError("no"), KeyboardInterrupt(), SystemExit(3), MemoryError()])
    graph = {**_graph(5), "bad": Task("bad", _fail, error)}
    with _ending(error), taskscope.profile(display=False):
        dask.get(graph, ["sum", "bad"])


def erring_callback(chance: random.Random, folder: Path) -> None:
    error = chance.choice([ValueError("no"), KeyboardInterrupt(), SystemExit(3)])
    hooks: list[Any] = [None] * 5
    hooks[chance.randrange(5)] = lambda *_: _fail(error)
    with _ending(error), taskscope.profile(display=False), Callback(*hooks):
        dask.get(_graph(4), "sum")


def fault_of_ours(chance: random.Random, folder: Path) -> None:
    places: list[tuple[Any, str]] = [(local, "current_cell"), (local, "_graph_source"), (local, "TimedTask")]
    owner, name = chance.choice([*places, (RunLog, "open_lane")])
    with taskscope.profile(display=False), patch.object(owner, name, lambda *_: _fail(OSError("ours"))):
        _computed(chance)


def thread_storm(chance: random.Random, folder: Path) -> None:
    def work(seed: int) -> None:
        with taskscope.profile(display=False):
            _computed(random.Random(seed))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [chance.randrange(10**6) for _ in range(16)]))


def forked(chance: random.Random, folder: Path) -> None:
    def child() -> bool:
        with taskscope.profile(display=False) as run:
            total = dask.get(_graph(3), "sum")
        return bool(total == 6 and len(run.recording.tasks) == 4)

    with taskscope.profile(display=False):
        assert in_forked_child(child)
        _computed(chance)


def saved(chance: random.Random, folder: Path) -> None:
    path = folder / f"{chance.randrange(10**9)}.taskscope"
    with taskscope.profile(display=False, save=path):
        _computed(chance)
    assert len(taskscope.load(path).tasks) > 0
    path.unlink()


def folder_that_vanishes(chance: random.Random, folder: Path) -> None:
    place = folder / f"gone-{chance.randrange(10**9)}"
    place.mkdir()
    with taskscope.profile(display=False, save=place / "a.taskscope") as run:
        _computed(chance)
        place.rename(place.with_suffix(".moved"))
    shutil.rmtree(place.with_suffix(".moved"))
    assert any(message.text.startswith("not saved") for message in run.recording.messages)


def closed_output(chance: random.Random, folder: Path) -> None:
    closed = io.StringIO()
    closed.close()
    with contextlib.redirect_stderr(closed), contextlib.redirect_stdout(closed), taskscope.profile():
        _computed(chance)


def looked_at_from_outside(chance: random.Random, folder: Path) -> None:
    over = threading.Event()
    with taskscope.profile(display=False) as run:

        def look() -> None:
            while not over.is_set():
                run.recording.summary()

        looker = threading.Thread(target=look)
        looker.start()
        try:
            _computed(chance)
        finally:
            over.set()
            looker.join()


@contextmanager
def _ending(error: BaseException) -> Iterator[None]:
    try:
        yield
    except BaseException as came:
        if came is not error:
            raise
        error.__traceback__ = None
    else:
        raise AssertionError(f"{error!r} did not come out")


ACTS: dict[str, Act] = {
    act.__name__: act
    for act in (
        *(plain, nested, with_diagnostics, registered, erring_task, erring_callback, fault_of_ours),
        *(thread_storm, saved, folder_that_vanishes, closed_output, looked_at_from_outside),
        *((forked,) if hasattr(os, "fork") else ()),
    )
}
"""By name; each leaves nothing behind."""
