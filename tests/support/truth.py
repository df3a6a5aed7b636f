"""Tasks that write down what they do, and the comparison of a recording with what they wrote.

A task is a `Deed` between two notes: when it began, in which process and thread, and how it ended. `read`
returns these notes as `Execution` rows, and `violations` compares them with the public tables of a recording.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from taskscope import Recording

__all__ = ["Deed", "Execution", "Expected", "calling", "has_begun", "read", "violations"]


# -------------------------------------------------------------------------------------------- in the tasks


@dataclass(frozen=True)
class Deed:
    """What a task does between its two notes, in this order."""

    until: Path | None = None
    """It waits until there is a file of that path."""
    fails: int = 0
    """So many executions of its key raise."""
    interrupts: bool = False
    """It raises KeyboardInterrupt."""
    dies: bool = False
    """It kills its process."""
    calls: Callable[..., object] | None = None
    """It calls this with the results that it needs; without, it returns its key in capitals."""

    def do(self, folder: Path, key: str, needed: tuple[object, ...]) -> object:
        """Do it, as the task of a key."""
        while self.until is not None and not self.until.exists():
            time.sleep(0.005)
        if self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.interrupts:
            raise KeyboardInterrupt
        if self.fails and sum(each.key == key for each in read(folder)) <= self.fails:
            raise ValueError(f"no luck of {key}")
        # Not the key itself: a text that is a key stands for its result.
        return key.upper() if self.calls is None else self.calls(*needed)


def calling(folder: Path, key: str, deed: Deed) -> Callable[..., object]:
    """Return the function of a task, which takes the results that it needs."""
    # In a graph of old a text that is a key stands for its result, so none is an argument.
    return partial(_noted, folder, key, deed)


def _noted(folder: Path, key: str, deed: Deed, *needed: object) -> object:
    note = partial(_write, folder, key)
    note("begun", time.perf_counter(), _worker())
    try:
        value = deed.do(folder, key, needed)
    except BaseException as error:
        note("raised", time.perf_counter(), f"{type(error).__name__}: {error}".removesuffix(": "))
        raise
    note("returned", time.perf_counter(), "")
    return value


def _write(folder: Path, key: str, what: str, time_s: float, detail: str) -> None:
    line = json.dumps([key, what, time_s, detail]) + "\n"
    # One write of a short line to a file of the thread's own: a kill tears and loses nothing of it.
    with (folder / f"{os.getpid()}-{threading.get_ident()}").open("a", buffering=1) as file:
        file.write(line)


def _worker() -> str:
    """Return the address of the worker that runs this task, or without a cluster the process's number."""
    if "distributed.worker" in sys.modules:
        from distributed import get_worker

        try:
            return str(get_worker().address)
        except ValueError:
            pass
    return str(os.getpid())


# -------------------------------------------------------------------------------------- what was written


@dataclass(frozen=True, slots=True)
class Execution:
    """One time that a task ran; times are `time.perf_counter`, which the processes of a machine share."""

    key: str
    worker: str
    thread: int
    start_s: float
    stop_s: float | None = None
    """None where it has not ended, or its process died."""
    error: str | None = None
    """Type and message of what it raised."""


def read(folder: Path) -> list[Execution]:
    """Return what all tasks wrote, in the order in which they began."""
    found: list[Execution] = []
    for file in folder.iterdir():
        begun: list[Execution] = []
        for key, what, time_s, detail in map(json.loads, file.read_text().splitlines()):
            if what == "begun":
                begun.append(Execution(key, detail, int(file.name.partition("-")[2]), time_s))
            else:
                # A task that computes has the tasks of that within its own.
                found.append(replace(begun.pop(), stop_s=time_s, error=detail or None))
        found += begun
    return sorted(found, key=lambda each: each.start_s)


def has_begun(folder: Path, *keys: str) -> bool:
    """Return whether tasks of all these keys have begun."""
    return {each.key for each in read(folder)}.issuperset(keys)


# ----------------------------------------------------------------------------------------- the comparison


@dataclass
class Expected:
    """What a workload knows of its recording that its tasks cannot know."""

    runs: list[tuple[int, str, str | None]]
    """Tasks, status and error of each compute."""
    unfinished: str | None = None
    """The status of executions that never ended."""
    retried: frozenset[str] = frozenset()
    """Keys that were submitted with retries, whose executions before the last are attempts."""
    abandoned: frozenset[str] = frozenset()
    """Keys whose execution ended after their compute, and whose result nobody took: they are interrupted."""
    unseen: frozenset[str] = frozenset()
    """Keys of tasks that ran where nobody records."""
    never_begun: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows, by key and status, of tasks that a worker had and did not begin."""
    needs: set[tuple[str, str]] = field(default_factory=set)
    """Each key with one that it depends on."""
    messages: list[str] = field(default_factory=list)
    tables: Mapping[tuple[str, ...], list[tuple[Any, ...]]] = field(default_factory=dict)
    """Rows of a table, by its name and those of its columns."""


def violations(
    recording: Recording, executions: Iterable[Execution], expected: Expected, *, slack_s: float = 0.0
) -> list[str]:
    """Return what of a recording's tables contradicts what its tasks wrote.

    Parameters
    ----------
    slack_s
        How far from its true place in time a row may be; how long it lasts is held to a microsecond.
    """
    executions = [each for each in executions if each.key not in expected.unseen]
    tasks = recording.to_pandas("tasks")
    runs = recording.to_pandas("runs")
    needs = recording.to_pandas("dependencies")
    ended, attempts = _split_attempts(executions, expected)
    pairs = _paired(tasks, ended)
    return [
        *_different("runs", expected.runs, _tuples(runs, "n_tasks", "status", "error")),
        *_different("needs", expected.needs, set(_tuples(needs, "key", "dependency"))),
        *_different("messages", expected.messages, recording.to_pandas("messages")["text"].tolist()),
        *_different("rows", _rows(ended, expected), Counter(_tuples(tasks, "key", "status"))),
        *_different("attempts", sorted(attempts), sorted(_attempts(recording))),
        *(
            each
            for (name, *columns), rows in expected.tables.items()
            for each in _different(name, rows, _tuples(recording.to_pandas(name), *columns))
        ),
        *(each for row, execution in pairs for each in _misplaced(row, execution)),
        *_overlapping(tasks[tasks["observed_by"] == "worker"]),
        *_off(pairs, executions, slack_s),
        *_unordered(pairs, expected.needs, slack_s),
    ]


def _tuples(table: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    found = table[list(columns)].astype(object)
    return list(found.where(found.notna(), None).itertuples(index=False, name=None))


def _different(what: str, expected: object, found: object) -> list[str]:
    return [] if expected == found else [f"{what}: expected {expected}, found {found}"]


def _split_attempts(
    executions: list[Execution], expected: Expected
) -> tuple[list[Execution], list[tuple[str, str]]]:
    """Return the executions that are rows of tasks, and key and text of those that are failed attempts."""
    last = {each.key: each for each in executions}
    numbers: Counter[str] = Counter()
    rows, attempts = [], []
    for each in executions:
        numbers[each.key] += 1
        if each.key in expected.retried and each is not last[each.key]:
            attempts.append((each.key, f"{each.error} (attempt {numbers[each.key]})"))
        else:
            rows.append(each)
    return rows, attempts


def _attempts(recording: Recording) -> list[tuple[str, str]]:
    found = recording.to_pandas("activities")
    return _tuples(found[found["activity"] == "failed-attempt"], "key", "error")


def _rows(ended: Iterable[Execution], expected: Expected) -> Counter[tuple[str, str]]:
    """Return how many rows of each key and status there are to be."""
    return Counter((each.key, _status(each, expected)) for each in ended) + expected.never_begun


def _status(execution: Execution, expected: Expected) -> str:
    if execution.stop_s is None:
        return expected.unfinished or "unknown"
    if execution.key in expected.abandoned or (execution.error or "").startswith("KeyboardInterrupt"):
        return "interrupted"
    return "finished" if execution.error is None else "erred"


Pair = tuple[Mapping[str, Any], Execution]


def _paired(tasks: pd.DataFrame, ended: Iterable[Execution]) -> list[Pair]:
    """Return each row with the execution that it is of: those of a key follow each other in both."""
    by_key = defaultdict[str, list[Execution]](list)
    for each in ended:
        by_key[each.key].append(each)
    rows = tasks.sort_values("start_s", kind="stable").to_dict("records")
    numbers: Counter[str] = Counter()
    pairs: list[Pair] = []
    for row in rows:
        of_key = by_key[str(row["key"])]
        if numbers[row["key"]] < len(of_key):
            pairs.append(({str(k): v for k, v in row.items()}, of_key[numbers[row["key"]]]))
        numbers[row["key"]] += 1
    return pairs


def _misplaced(row: Mapping[str, Any], execution: Execution) -> Iterator[str]:
    """Yield what of a row's columns is not as its task wrote it."""
    key = execution.key
    # A scheduler in this process does not know which one of a pool's runs a task.
    if row["worker"] != execution.worker and (row["observed_by"] == "worker" or ":" in row["worker"]):
        yield f"{key}: ran on {execution.worker}, recorded on {row['worker']}"
    if row["observed_by"] == "worker":
        if row["thread"] != execution.thread:
            yield f"{key}: ran in thread {execution.thread}, recorded in {row['thread']}"
        took_s = row["stop_s"] - row["start_s"]
        if execution.stop_s is not None and took_s < execution.stop_s - execution.start_s - _rounding_s(
            took_s
        ):
            yield f"{key}: took {execution.stop_s - execution.start_s} s, recorded {took_s} s"
        if row["cpu_s"] > took_s + 1e-3:
            yield f"{key}: {row['cpu_s']} s on the CPU in {took_s} s"
    if (
        isinstance(row["error"], str)
        and row["status"] in ("erred", "interrupted")
        and row["error"] != execution.error
    ):
        yield f"{key}: raised {execution.error}, recorded {row['error']}"


def _rounding_s(took_s: float) -> float:
    """Return by how much a recorded duration may be short: it is kept in single precision, rounded down."""
    return 2e-6 * (1 + took_s)


def _overlapping(tasks: pd.DataFrame) -> Iterator[str]:
    """Yield the tasks that begin before the one to their left in the same lane has ended."""
    for _, lane in tasks.sort_values(["lane", "start_s"]).groupby("lane"):
        stops = lane["stop_s"].cummax().shift()
        yield from (f"{key} overlaps in its lane" for key in lane["key"][lane["start_s"] < stops - 1e-6])


def _off(pairs: list[Pair], executions: list[Execution], slack_s: float) -> list[str]:
    """Return whether no place of the recording's zero has each row where its task was.

    Each row encloses what its task wrote, and nothing that other tasks wrote in the same thread. So the zero
    is not before `earliest_s`, and not after `latest_s`.
    """
    earliest_s, latest_s = [float("-inf")], [float("inf")]
    by_thread = defaultdict[tuple[str, int], list[Execution]](list)
    for each in executions:
        by_thread[each.worker, each.thread].append(each)
    for row, execution in pairs:
        if row["observed_by"] != "worker" or execution.stop_s is None:
            continue
        rounding_s = _rounding_s(row["stop_s"] - row["start_s"])
        latest_s.append(execution.start_s - row["start_s"])
        earliest_s.append(execution.stop_s - row["stop_s"] - rounding_s)
        for other in by_thread[execution.worker, execution.thread]:
            if other.stop_s is not None and other.stop_s <= execution.start_s:
                earliest_s.append(other.stop_s - row["start_s"])
            elif other.start_s >= execution.stop_s:
                latest_s.append(other.start_s - row["stop_s"])
    off_s = max(earliest_s) - min(latest_s)
    return [] if off_s <= slack_s else [f"times are {off_s} s off"]


def _unordered(pairs: list[Pair], needs: set[tuple[str, str]], slack_s: float) -> Iterator[str]:
    """Yield the tasks that begin before one that they need has ended."""
    starts = [(row["run"], execution.key, row["start_s"]) for row, execution in pairs]
    stops = {(row["run"], execution.key): row["stop_s"] for row, execution in pairs}
    for run, key, start_s in starts:
        late = [
            needed for of, needed in needs if of == key and start_s < stops.get((run, needed), 0.0) - slack_s
        ]
        yield from (f"{key} begins before {needed}, which it needs, has ended" for needed in late)
