"""Random graphs with odd values and exceptions, computed as they are and recorded: both must end alike.

`python -m tests.support.computes.odd_graphs --graphs 4000` tries many and says how many differed.
"""

from __future__ import annotations

import argparse
import copyreg
import multiprocessing
import os
import pickle
import random
import re
import sys
import threading
import time
import types
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing.pool import ThreadPool
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it has no annotations
import dask
import dask.multiprocessing
import numpy as np
import pandas as pd
import tblib.pickling_support  # type: ignore[import-untyped]  # it has no annotations
from dask._task_spec import Task, TaskRef

from taskscope.record import Recorder
from tests.support.computes import odd_tasks
from tests.support.computes.local_computes import watching

MODES = {
    "synchronous": 30,
    "threads": 20,
    "thread executor": 10,
    "thread pool": 8,
    "fork": 10,
    "bare fork": 8,
    "spawn": 5,
    "bare spawn": 2,
    "without tblib": 4,
    "own pool": 1,
}
"""How tasks are run, and how often."""
_IN_PROCESSES = tuple(MODES)[4:]
_ONE_AT_A_TIME = ("synchronous",)
_N_THREADS = 3
_MAX_DEPTH = 60


@dataclass(frozen=True)
class Step:
    """A task: whether it gives, passes on, raises or raises a shared exception, what, and how."""

    kind: str
    name: str
    style: str
    needs: tuple[int, ...]

    def may_fail(self) -> bool:
        return self.kind in {"raise", "share"} or self.name in _unsendable()


@dataclass(frozen=True)
class Plan:
    seed: int
    mode: str
    steps: tuple[Step, ...]
    computes: int
    rerun: bool

    def graph(self) -> dict[str, Task]:
        return {
            f"task-{place}": Task(
                f"task-{place}",
                odd_tasks.work,
                step.kind,
                step.name,
                step.style,
                *(TaskRef(f"task-{need}") for need in step.needs),
            )
            for place, step in enumerate(self.steps)
        }

    def requested(self) -> list[str]:
        """Return the keys that no other task needs."""
        needed = {need for step in self.steps for need in step.needs}
        return [f"task-{place}" for place in range(len(self.steps)) if place not in needed]


@cache
def _unsendable() -> frozenset[str]:
    """Return the names of values that cannot be sent to another process and on to a third."""
    # It knows the classes that there are by now, as in the processes of a pool.
    tblib.pickling_support.install()
    return frozenset(name for name, make in odd_tasks.VALUES.items() if not _survives(make()))


def _survives(value: Any) -> bool:
    try:
        for _ in range(2):
            value = pickle.loads(pickle.dumps(cloudpickle.loads(cloudpickle.dumps(value))))
    except BaseException:  # noqa: BLE001 - odd values raise anything
        return False
    return True


def make_plan(seed: int) -> Plan:
    """Return the plan of a seed."""
    rng = random.Random(seed)
    (mode,) = rng.choices(list(MODES), list(MODES.values()))
    steps: list[Step] = []
    n_may_fail = 0
    for place in range(rng.randint(1, 6)):
        needs = tuple(sorted(rng.sample(range(place), min(place, rng.choice([0, 0, 1, 2])))))
        # Which of several failing tasks a pool gets to first would be chance.
        may_fail = mode in _ONE_AT_A_TIME or not n_may_fail
        step = _step(rng, needs, may_fail=may_fail, may_share=mode not in _IN_PROCESSES)
        n_may_fail += step.may_fail()
        steps.append(step)
    return Plan(seed, mode, tuple(steps), rng.choice([1, 1, 2]), rng.randint(0, 9) == 0)


def _step(rng: random.Random, needs: tuple[int, ...], *, may_fail: bool, may_share: bool) -> Step:
    style = rng.choice(list(odd_tasks.STYLES))
    if may_fail and rng.randint(0, 9) < 4:
        # Another process has a copy, and which one runs it would be chance.
        kind = rng.choice(["raise", "raise", "share"]) if may_share else "raise"
        return Step(kind, rng.choice(list(odd_tasks.ERRORS)), style, needs)
    if needs and rng.randint(0, 2) == 0:
        return Step("pass", "", "", needs)
    names = [name for name in odd_tasks.VALUES if may_fail or name not in _unsendable()]
    return Step("give", rng.choice(names), "", needs)


@dataclass
class Pools:
    """The pools that plans run in; one that a plan has broken is made anew."""

    made: dict[str, Any] = field(default_factory=dict)

    def options(self, mode: str) -> dict[str, Any]:
        """Return what `get` is given to run tasks in this way."""
        match mode:
            case "synchronous":
                return {}
            case "own pool":
                return {"num_workers": 2}
            case "thread executor" | "bare fork" | "bare spawn":
                return {"pool": self._pool(mode), "bare": True}
            case _:
                return {"pool": self._pool(mode)}

    def settle(self, mode: str) -> None:
        """Wait until no thread of this process runs a task any more that nobody waited for."""
        pool, together = self.made.get(mode), threading.Barrier(_N_THREADS)
        if isinstance(pool, ThreadPoolExecutor):
            list(pool.map(lambda _: together.wait(), range(_N_THREADS)))
        elif isinstance(pool, ThreadPool):
            pool.map(lambda _: together.wait(), range(_N_THREADS), chunksize=1)

    def renew(self, mode: str) -> None:
        """Have another pool for what comes next."""
        pool = self.made.pop(mode, None)
        if isinstance(pool, Executor):
            pool.shutdown()

    def close(self) -> None:
        """End all pools."""
        for pool in self.made.values():
            if isinstance(pool, Executor):
                pool.shutdown()
            else:
                pool.terminate()
                pool.join()

    def _pool(self, mode: str) -> Any:
        if mode not in self.made:
            self.made[mode] = self._make(mode)
        return self.made[mode]

    def _make(self, mode: str) -> Any:
        fork, spawn = multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")
        match mode:
            case "threads" | "thread executor":
                return ThreadPoolExecutor(_N_THREADS)
            case "thread pool":
                return ThreadPool(_N_THREADS)
            case "without tblib":
                return ProcessPoolExecutor(2, fork, _forget_tblib)
            case _:
                return ProcessPoolExecutor(2, spawn if "spawn" in mode else fork, _quietly)


def _text_of_traceback(traceback: types.TracebackType | None) -> str:
    import traceback as module

    return "".join(module.format_tb(traceback))


def _reraise(error: Exception, traceback: Any = None) -> None:
    raise dask.multiprocessing.remote_exception(error, traceback)


def _quietly() -> None:
    # What breaks a pool is told there, too.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    # It knows the classes that there are when it is called, as some module does that a task may import.
    tblib.pickling_support.install()


def _forget_tblib() -> None:
    _quietly()
    for kind, reduce in list(copyreg.dispatch_table.items()):
        if reduce.__module__.startswith("tblib"):
            del copyreg.dispatch_table[kind]
    dask.multiprocessing._pack_traceback = _text_of_traceback


@contextmanager
def _without_tblib() -> Iterator[None]:
    """Have Dask do as it does where tblib is not installed."""
    kept = dask.multiprocessing.reraise
    dask.multiprocessing.reraise = _reraise
    # Of an exception that cannot be set anything it says something else the second time.
    dask.multiprocessing.exceptions.clear()
    try:
        yield
    finally:
        dask.multiprocessing.reraise = kept


def _get(plan: Plan, pools: Pools) -> Any:
    options = pools.options(plan.mode)
    with ExitStack() as stack:
        stack.enter_context(
            dask.config.set(
                {
                    "multiprocessing.context": "fork",
                    "multiprocessing.initializer": None if "pool" in options else _quietly,
                    "rerun_exceptions_locally": plan.rerun,
                }
            )
        )
        if options.pop("bare", False):
            # As `compute(scheduler=pool)` does.
            get = dask.base.get_scheduler(scheduler=options.pop("pool"))
        elif plan.mode in _IN_PROCESSES:
            get = dask.multiprocessing.get
            options["optimize_graph"] = False
        else:
            name = "synchronous" if plan.mode == "synchronous" else "threads"
            get = dask.base.get_scheduler(scheduler=name)
        if plan.mode == "without tblib":
            stack.enter_context(_without_tblib())
        return get(plan.graph(), plan.requested(), **options)


def outcomes(plan: Plan, pools: Pools) -> list[Any]:
    """Compute a plan as often as it says, and return everything that a user can see of how that ended."""
    odd_tasks.SHARED.clear()
    seen: list[Any] = []
    for _ in range(plan.computes):
        try:
            seen.append(("gave", shape(_get(plan, pools))))
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is compared
            if issubclass(type(error), BrokenExecutor):
                pools.renew(plan.mode)
            seen.append(("raised", facts(error)))
    return seen


def differences(plan: Plan, pools: Pools) -> list[str]:
    """Return what is not as in an unrecorded run, or wrong in the recording, of a plan."""
    expected = outcomes(plan, pools)
    with watching(Recorder()) as recorder:
        found = outcomes(plan, pools)
        pools.settle(plan.mode)
    wrong = [f"message: {message.text}" for message in recorder.messages]
    pairs = zip(expected, found, strict=True)
    wrong += [f"compute {i}: {_difference(a, b)}" for i, (a, b) in enumerate(pairs) if a != b]
    ends = ["finished" if how == "gave" else "failed" for how, _ in found]
    runs = [run for run in recorder.snapshot().runs if run.n_tasks == len(plan.steps)]
    if not any(step.style in {"in_a_compute", "caught_of_a_compute"} for step in plan.steps):
        statuses = ["finished" if run.status == "finished" else "failed" for run in runs]
        wrong += [] if statuses == ends else [f"the runs are {statuses}, the computes {ends}"]
    if recorder.is_active():
        wrong.append("a run is not over")
    return wrong


def _difference(expected: Any, found: Any, path: str = "") -> str:
    """Return the first place where two structures differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in [*expected, *found]:
            if expected.get(name) != found.get(name):
                return _difference(expected.get(name), found.get(name), f"{path}.{name}")
    if (
        isinstance(expected, (list, tuple))
        and isinstance(found, (list, tuple))
        and len(expected) == len(found)
    ):
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            if one != other:
                return _difference(one, other, f"{path}[{place}]")
    return f"{path}: {str(expected)[:600]} became {str(found)[:600]}"


def _raw(error: BaseException, name: str) -> Any:
    return BaseException.__dict__[name].__get__(error)


def facts(error: BaseException | None, seen: tuple[int, ...] = ()) -> Any:
    """Return everything about an exception that can be looked at without asking its class."""
    if error is None or id(error) in seen:
        return None if error is None else f"above {len(seen) - seen.index(id(error))}"
    seen = (*seen, id(error))
    kind = type(error)
    if issubclass(kind, BrokenExecutor):
        # What it says depends on whether a task was handed over just before or just after the pool broke.
        return _class_name(kind)
    # The members of a group are in a slot of it.
    return {
        "type": [_class_name(base) for base in type.__dict__["__mro__"].__get__(kind)],
        "args": shape(_raw(error, "args"), seen),
        "dict": shape(_raw(error, "__dict__"), seen),
        "slots": _slots(error, seen),
        "frames": _frames(_raw(error, "__traceback__")),
        "cause": facts(_raw(error, "__cause__"), seen),
        "context": facts(_raw(error, "__context__"), seen),
        "suppressed": BaseException.__dict__["__suppress_context__"].__get__(error),
    }


def _class_name(kind: type) -> str:
    return str(type.__dict__["__qualname__"].__get__(kind))


def _slots(error: BaseException, seen: tuple[int, ...]) -> Any:
    found = {}
    for base in type.__dict__["__mro__"].__get__(type(error)):
        for name, member in type.__dict__["__dict__"].__get__(base).items():
            if type(member) is types.MemberDescriptorType:
                try:
                    found[name] = shape(member.__get__(error), seen)
                except AttributeError:
                    found[name] = "unset"
    return found


def _frames(traceback: types.TracebackType | None) -> list[tuple[str, str, int]]:
    """Return file, function and line of each frame; a call that repeats itself counts once."""
    frames: list[tuple[str, str, int]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frame = (code.co_filename, code.co_name, traceback.tb_lineno)
        # How deep a recursion can go depends on the depth of the stack, which recording changes by one.
        if frame not in frames[-2:]:
            frames.append(frame)
        traceback = traceback.tb_next
    return frames


def shape(value: Any, seen: tuple[int, ...] = ()) -> Any:  # noqa: C901, PLR0911 - a kind a line
    """Return what a value is, by its real type, without calling anything of its own."""
    kind = type(value)
    if len(seen) > _MAX_DEPTH or id(value) in seen:
        return "again"
    inside = (*seen, id(value))
    if kind is int:
        return hex(value)
    # Not by a set: a class may have no hash.
    if any(kind is plain for plain in (float, complex, bool, bytes, type(None))):
        return repr(value)
    if issubclass(kind, str):
        return _class_name(kind), _address(str.__str__(value))
    if issubclass(kind, type):
        return _class_name(value)
    if issubclass(kind, BaseException):
        return facts(value, seen)
    if issubclass(kind, (list, tuple)):
        base: Any = list if issubclass(kind, list) else tuple
        return [_class_name(kind), *(shape(part, inside) for part in base.__iter__(value))]
    if issubclass(kind, dict):
        return {"type": _class_name(kind)} | {repr(k): shape(part, inside) for k, part in dict.items(value)}
    if issubclass(kind, (np.ndarray, pd.DataFrame)):
        return _class_name(kind), value.to_dict() if isinstance(value, pd.DataFrame) else value.tolist()
    return _class_name(kind), shape(_attributes(value), inside)


def _attributes(value: Any) -> Any:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def _address(text: str) -> str:
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    # See _frames.
    text = re.sub(r"\[Previous line repeated \d+ more times\]", "[repeated]", text)
    return re.sub(r"(?:process|pid|ForkProcess|SpawnProcess)[- ]\d+", "process", text)


def main() -> int:
    """Try many graphs, and say how many were not as in an unrecorded run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=4_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="none in processes that are slow to start")
    chosen = parser.parse_args()
    pools, tried, left = Pools(), Counter[str](), 0
    started = time.monotonic()
    try:
        for seed in range(chosen.first, chosen.first + chosen.graphs):
            plan = make_plan(seed)
            if chosen.quick and "spawn" in plan.mode:
                plan = replace(plan, mode="fork")
            tried[plan.mode] += 1
            wrong = differences(plan, pools)
            if wrong:
                left += 1
                _say(f"graph {seed}: {plan}", *wrong)
    finally:
        pools.close()
    _say(
        f"{chosen.graphs} graphs, each computed as it is and recorded, in {time.monotonic() - started:.0f} s",
        *(f"{mode}: {n}" for mode, n in tried.items()),
        f"left over: {left}",
    )
    return int(left > 0)


def _say(*lines: str) -> None:
    sys.stdout.write("\n  ".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
