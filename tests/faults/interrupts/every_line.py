"""A KeyboardInterrupt at each line of ours that runs on the user's thread, one at a time: what does it leave?

``make interrupts`` tries the points of all modes; a test tries some of them.

A point is the n-th time that a line of this package begins on the thread that computes. Where one line
begins very often, its first, second, middle and last time are tried. Left out are two events at which the
interpreter never looks for signals: a ``with`` statement is traced once more when it is left, between the end
of its block and the call of ``__exit__``; and where a handler is but ``continue`` or ``pass``, its line
begins with the end of the handling, where an exception would leave the handled one behind for good.
"""

from __future__ import annotations

import argparse
import asyncio
import dis
import gc
import io
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, Self
from unittest.mock import patch

import dask
import dask.local
import dask.multiprocessing
import dask.threaded
from dask._task_spec import Task, TaskRef
from dask.callbacks import Callback

import taskscope
from taskscope import diagnostics
from taskscope import session as session_module
from taskscope.jupyter.magics.extension import Extension
from taskscope.record import pump
from taskscope.session import current
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.source import run_label
from tests.support.computes.local_computes import process_pool
from tests.support.resources import Held, held_now, watch_sockets
from tests.support.shell import shell_with_taskscope

__all__ = ["MODES", "Finding", "Mode", "Place", "Pools", "Sweep", "Tracer", "pools", "sweep"]

OURS = str(Path(taskscope.__file__).parent)
SCHEDULERS = ("synchronous", "threads", "processes")
OUTCOMES = ("finishing", "failing", "interrupted")
"""How a compute ends; one that is interrupted is so by the user, and what is tried is a second Ctrl-C."""
KINDS = ("plain", "async", "file", "diagnostics", "registered", "stacks", "magic", "lines")
ON_A_CLUSTER = ("plain", "async", "stacks")
N_TASKS = 6
SETTLE_S = 20.0
"""How long threads and processes that were told to end may take to."""

Pools = Mapping[str, Executor]

_ORIGINAL = dask.local.local_callbacks


@dataclass(frozen=True, slots=True)
class Mode:
    """What is done while it is interrupted."""

    scheduler: str
    outcome: str
    kind: str

    def __str__(self) -> str:
        """Return a name for a test."""
        return f"{self.kind}-{self.scheduler}-{self.outcome}"


@dataclass(frozen=True, slots=True)
class Place:
    """A line, as a person finds it."""

    file: str
    function: str
    line: int

    def __str__(self) -> str:
        """Return it as tracebacks name lines."""
        return f"{self.file}:{self.line} {self.function}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What an interrupt at one point left behind."""

    mode: Mode
    point: int | Place
    place: Place
    left: tuple[str, ...]

    def __str__(self) -> str:
        """Return it as a line."""
        return f"{self.mode}, point {self.point}, {self.place}: {'; '.join(self.left)}"


MODES = [
    *(Mode(s, o, k) for k in KINDS for s in SCHEDULERS for o in OUTCOMES),
    *(Mode("cluster", o, k) for k in ON_A_CLUSTER for o in OUTCOMES),
]


class OwnError(Exception):
    """What the user's task raises."""


@dataclass
class Tracer:
    """Counts points, and raises at one of them, or where a line begins for the first time."""

    at: int | Place | None = None
    places: list[Place] | None = None
    n: int = 0
    raised: Place | None = None

    def __enter__(self) -> Self:
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, _event: str, _argument: object) -> Any:
        return self._local if frame.f_code.co_filename.startswith(OURS) else None

    def _local(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line" and frame.f_lasti not in _without_signals(frame.f_code):
            place = Place(frame.f_code.co_filename[len(OURS) + 1 :], frame.f_code.co_qualname, frame.f_lineno)
            if self.places is not None:
                self.places.append(place)
            if self.at in (self.n, place):
                self.raised = place
                raise KeyboardInterrupt
            self.n += 1
        return self._local


@cache
def _without_signals(code: CodeType) -> frozenset[int]:
    """Return where lines begin at which no signal is looked for."""
    ends = {step.offset for step in dis.get_instructions(code) if step.opname == "POP_EXCEPT"}
    return _left_with(code) | ends


def _left_with(code: CodeType) -> frozenset[int]:
    """Return where a ``with`` statement is left: from the end of its block to the call of ``__exit__``."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in {"PRECALL", "CACHE"}]
    found: set[int] = set()
    for place in range(len(steps) - 3):
        three = steps[place : place + 3]
        if all(s.opname == "LOAD_CONST" and s.argval is None for s in three) and (
            steps[place + 3].opname == "CALL" and steps[place + 3].arg == 2
        ):
            found.update(
                s.offset
                for s in steps[max(place - 1, 0) : place + 3]
                if s in three or s.opname in {"NOP", "SWAP"}
            )
    return frozenset(found)


def _number(i: int) -> int:
    return i


def _total(*numbers: int) -> int:
    return sum(numbers)


def _fails(*_: int) -> int:
    raise OwnError("the user's own")


def _takes_time(i: int) -> int:
    time.sleep(0.15)
    return i


def graph(outcome: str, *, lasts: bool, number: int = 0) -> dict[str, Any]:
    """Return a graph of some tasks, whose last key is wanted."""
    keys = [f"number-{number}-{i}" for i in range(N_TASKS - 1)]
    numbers: dict[str, Any] = {key: Task(key, _number, i) for i, key in enumerate(keys)}
    if lasts:
        numbers[keys[0]] = Task(keys[0], _takes_time, 0)
    last = _fails if outcome == "failing" else _total
    return {**numbers, f"total-{number}": Task(f"total-{number}", last, *map(TaskRef, keys))}


class _PressedByUser(Callback):
    """Presses Ctrl-C while a compute goes on."""

    def _posttask(self, *_: object) -> None:
        raise KeyboardInterrupt


@contextmanager
def pools() -> Iterator[Pools]:
    """Provide the pools that computes run in, by the names of their schedulers."""
    with ThreadPoolExecutor(2) as threads, process_pool() as processes:
        # All of its threads are there from the beginning.
        together = threading.Barrier(2)
        for waiting in [threads.submit(together.wait) for _ in range(2)]:
            waiting.result()
        yield {"threads": threads, "processes": processes}


class Sweep:
    """Interrupts blocks of all modes, and looks at what is left."""

    def __init__(self, folder: Path, pools: Pools) -> None:
        self._folder = folder
        self._pools = pools
        self._shell: Any = None
        self._client: Any = None
        self._n_files = 0
        self._n_computes = 0
        self._ignored: list[str] = []
        """What Python could raise nowhere, and printed; warnings are errors here."""

    # What is interrupted -----------------------------------------------------------------------------------

    def act(self, mode: Mode) -> None:
        """Do once what people do, and fail as they would see it."""
        {
            "plain": self._plain,
            "async": self._async,
            "file": self._file,
            "diagnostics": self._diagnostics,
            "registered": self._registered,
            "stacks": self._stacks,
            "magic": self._magic,
            "lines": self._lines,
        }[mode.kind](mode)

    def compute(self, mode: Mode, *, lasts: bool = False) -> None:
        # A scheduler may still have what an interrupted compute has put there.
        self._n_computes += 1
        dsk = graph(mode.outcome, lasts=lasts, number=self._n_computes)
        last = next(reversed(dsk))
        try:
            with ExitStack() as stack:
                if mode.outcome == "interrupted":
                    stack.enter_context(self._pressed(mode))
                if mode.scheduler == "synchronous":
                    dask.get(dsk, last)
                elif mode.scheduler == "cluster":
                    self._client.get(dsk, last)
                else:
                    get = dask.threaded.get if mode.scheduler == "threads" else dask.multiprocessing.get
                    get(dsk, last, pool=self._pools[mode.scheduler])
        except OwnError:
            if mode.kind == "magic":
                raise

    def _pressed(self, mode: Mode) -> AbstractContextManager[object]:
        """Have Ctrl-C pressed in the midst of a compute."""
        if mode.scheduler != "cluster":
            return _PressedByUser()  # type: ignore[no-untyped-call]  # Dask's is untyped
        # Where a client waits for results.
        return patch.object(type(self._client), "gather", side_effect=KeyboardInterrupt)

    def _plain(self, mode: Mode) -> None:
        with taskscope.profile(display=False, stacks=False, label="interrupted"):
            self.compute(mode)

    def _lines(self, mode: Mode) -> None:
        with taskscope.profile(display=False, stacks=False, lines=[graph, "nothing"]):
            self.compute(mode)

    def _async(self, mode: Mode) -> None:
        async def block() -> None:
            async with taskscope.profile(display=False, stacks=False):
                self.compute(mode)

        # As in a kernel: `asyncio.run` would make a Ctrl-C something else.
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(block())
        finally:
            loop.close()

    def _registered(self, mode: Mode) -> None:
        bar = diagnostics.ProgressBar(out=io.StringIO(), dt=0.01)
        profilers = (diagnostics.Profiler(), diagnostics.CacheProfiler(), bar)

        def unregister() -> None:
            for profiler in profilers:
                profiler.unregister()

        try:
            for profiler in profilers:
                profiler.register()
            self.compute(mode)
        finally:
            try:
                unregister()
            except KeyboardInterrupt:
                # Whoever is interrupted here, too, does it again.
                unregister()
                raise

    def _file(self, mode: Mode) -> None:
        self._n_files += 1
        path = self._folder / f"{self._n_files}.taskscope"
        with patch.object(pump, "TICK_S", 0.002), taskscope.profile(display=False, stacks=False, save=path):
            self.compute(mode)

    def _stacks(self, mode: Mode) -> None:
        # Long enough for the helper process and the sampler of call stacks.
        with patch.object(pump, "TICK_S", 0.002), taskscope.profile(display=False):
            self.compute(mode, lasts=True)

    def _diagnostics(self, mode: Mode) -> None:
        profilers = (diagnostics.Profiler(), diagnostics.ResourceProfiler(), diagnostics.CacheProfiler())
        bar = diagnostics.ProgressBar(out=io.StringIO(), dt=0.01)
        with bar, profilers[0], profilers[1], profilers[2]:
            self.compute(mode)

    def _magic(self, mode: Mode) -> None:
        said = io.StringIO()
        self._shell.user_ns["compute"] = lambda: self.compute(mode)
        with redirect_stdout(said):
            result = self._shell.run_cell("%%profile -q -o run\ncompute()", store_history=True)
        error = result.error_before_exec or result.error_in_exec
        # IPython shows what comes after the cell's own code, and raises nothing.
        if isinstance(error, KeyboardInterrupt) or "KeyboardInterrupt" in said.getvalue():
            raise KeyboardInterrupt

    # What is left ----------------------------------------------------------------------------------------

    def left(self, before: Held, faults: int) -> list[str]:
        """Return what is there that was not, once threads and processes had time to end."""
        deadline = time.monotonic() + SETTLE_S
        while (found := self._left_now(before, faults)) and time.monotonic() < deadline:
            time.sleep(0.005)
        return found

    def _left_now(self, before: Held, faults: int) -> list[str]:
        session = current()
        recorder = session.recorder
        # What a task in flight wrote after all had gone is let in by whoever looks next.
        recorder.pull(0.1)
        # The extension holds the session, and keeps a helper.
        others = 0 if self._shell is None else 1
        checks = {
            "dask.local replaced": not others and dask.local.local_callbacks is not _ORIGINAL,
            "a callback installed": len(registration._in_all) > others,
            "a callback registered": bool(registration._registered),
            "a compute that has Callback.active": bool(registration._computes),
            "Callback.active": bool(Callback.active),
            "the session held": len(session._holders) > others,
            "the session half attached": session._is_attached != bool(others),
            "the sampler counts a compute": bool(session.sampler._active),
            "the sampler of stacks counts a compute": bool(session.stacks._active),
            "a subscriber": len(session.pump._subscribers) > 1,
            "a run that goes on": any(run.status == "running" for run in recorder.runs()),
            "an active recorder": recorder.is_active(),
            "a log": bool(session.source._logs),
            "a label": run_label.get() is not None,
            # They go on the client's own thread; the next block would see that it waits for them still.
            "a future": self._client is not None and bool(self._client.futures),
            "a lock": session._lock.locked() or registration._lock.locked(),
        }
        found = [name for name, is_left in checks.items() if is_left]
        found += [f"said: {message.text}" for message in recorder.messages[faults:]]
        found += [f"ignored: {ignored}" for ignored in self._ignored]
        if not others:
            found += held_now().beyond(before)
        return found + [path.name for path in self._folder.iterdir() if path.name.startswith(".")]

    def next_block(self, mode: Mode) -> list[str]:
        """Return what is wrong with a block that comes after."""
        after = Mode(mode.scheduler, "finishing", "plain")
        try:
            with taskscope.profile(display=False, stacks=False) as run, diagnostics.Profiler() as profiler:
                self.compute(after)
            rows = sorted(run.recording.table("tasks")["key"].tolist())
            statuses = sorted(one.status for one in run.recording.runs)
            seen = sorted(str(row.key) for row in profiler.results)
        except Exception as error:  # noqa: BLE001 - that is the finding
            return [f"the next block raised {error!r}"]
        keys = sorted(graph("finishing", lasts=False, number=self._n_computes))
        wrong = (
            []
            if (rows, statuses) == (keys, ["finished"])
            else [f"the next block has {len(rows)} rows, runs {statuses}"]
        )
        return wrong if seen == keys else [*wrong, f"the next profiler has {len(seen)} rows"]

    # Points ------------------------------------------------------------------------------------------------

    @contextmanager
    def prepared(self, mode: Mode) -> Iterator[None]:
        """Have what a mode needs, and what every process has after its first use."""
        with ExitStack() as stack:
            stack.enter_context(patch.object(sys, "unraisablehook", self._ignore))
            if mode.kind == "magic":
                stack.enter_context(self._in_a_shell())
            if mode.scheduler == "cluster":
                stack.enter_context(self._with_a_cluster())
            for _ in range(2):
                with suppress(OwnError, KeyboardInterrupt):
                    self.act(mode)
                self.next_block(mode)
            yield

    def _ignore(self, ignored: sys.UnraisableHookArgs) -> None:
        self._ignored.append(f"{ignored.exc_value!r} in {ignored.object!r}")

    @contextmanager
    def _with_a_cluster(self) -> Iterator[None]:
        from distributed import Client, LocalCluster

        watch_sockets()
        options: dict[str, Any] = {"dashboard_address": ":0", "processes": False}
        with (
            LocalCluster(n_workers=1, threads_per_worker=2, **options) as cluster,
            Client(cluster) as self._client,
        ):
            yield

    @contextmanager
    def _in_a_shell(self) -> Iterator[None]:
        with shell_with_taskscope() as self._shell:
            yield
        self._shell = None

    def points(self, mode: Mode) -> list[Place]:
        """Return the places of all points, in order."""
        tracer = Tracer(places=[])
        with suppress(KeyboardInterrupt), tracer:
            self.act(mode)
        assert tracer.places is not None
        return tracer.places

    def interrupt(self, mode: Mode, point: int | Place) -> Finding | None:
        """Interrupt at one point, or when a line begins first; None if it was not come to."""
        before, faults = held_now(), len(current().recorder.messages)
        came: BaseException | None = None
        tracer = Tracer(at=point)
        self._ignored.clear()
        try:
            with tracer:
                self.act(mode)
        except BaseException as error:  # noqa: BLE001 - looked at below
            came = error
        if tracer.raised is None:
            return None
        left = [] if type(came) is KeyboardInterrupt else [f"the interrupt came as {came!r}"]
        came = None
        if mode.kind == "async":
            # A task of an event loop and its exception hold each other, and all that the frames between had.
            gc.collect()
        left += self.left(before, faults)
        left += self.next_block(mode)
        if left:
            _start_over()
        return Finding(mode, point, tracer.raised, tuple(left))


def chosen(places: list[Place]) -> list[int]:
    """Return the points to try: of a line that begins often, its first, second, middle and last time."""
    by_line: dict[Place, list[int]] = defaultdict(list)
    for point, place in enumerate(places):
        by_line[place].append(point)
    found: set[int] = set()
    for points in by_line.values():
        found |= {points[0], points[min(1, len(points) - 1)], points[len(points) // 2], points[-1]}
    return sorted(found)


def _start_over() -> None:
    """Undo what was left, so that the next point is tried on its own."""
    session = current()
    kept = [held for held in session._holders.values() if isinstance(held[0], Extension)]
    session._holders.clear()
    session.release(None)
    registration._registered.clear()
    registration._computes.clear()
    registration._withdrawn.clear()
    registration._in_all = ()
    registration._installed = False
    dask.local.local_callbacks = _ORIGINAL
    Callback.active = set()
    run_label.set(None)
    session_module._current._session = None
    for owner, options in kept:
        current().hold(owner, options)


def sweep(mode: Mode, pools: Pools, every: int = 1, seed: int = 0) -> tuple[int, list[Finding]]:
    """Interrupt at each point of a mode, or one of so many; return how many there are, and what was left."""
    with TemporaryDirectory() as folder:
        swept = Sweep(Path(folder), pools)
        with swept.prepared(mode):
            places = swept.points(mode)
            tried = chosen(places)[seed % every :: every]
            return len(places), [f for p in tried if (f := swept.interrupt(mode, p)) is not None]


def main() -> None:
    """Try all points, and fail if any leaves something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--mode", action="append", help="such as plain-threads-failing, or plain; all by default"
    )
    parser.add_argument("--every", type=int, default=1, help="try one point of so many")
    given = parser.parse_args()
    total: Counter[str] = Counter()
    modes = [m for m in MODES if not given.mode or any(wanted in str(m) for wanted in given.mode)]
    for mode in modes:
        with pools() as shared:
            n_points, findings = sweep(mode, shared, given.every)
        bad = [finding for finding in findings if finding.left]
        total += Counter(points=n_points, tried=len(findings), left=len(bad))
        say(f"{mode!s:34} {n_points:6,} points, {len(findings):5,} tried, {len(bad):4,} left something")
        for finding in bad:
            say(f"    {finding}")
    say(f"{total['points']:,} points, {total['tried']:,} tried, {total['left']:,} left something")
    sys.exit(bool(total["left"]))


def say(text: str) -> None:
    """Write a line at once: there are minutes between them."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
