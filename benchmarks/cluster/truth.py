"""Counts and summed compute time of a cluster's tasks against what the tasks wrote."""

from __future__ import annotations

import itertools
import logging
import os
import signal
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from numpy.typing import NDArray

import taskscope
from benchmarks.harness import Table
from taskscope.recording import Recording

_RETRIED_EVERY = 100
_KILLED_EVERY = 10
"""A worker is killed after one tenth of the tasks, two, …: with it goes half of what was computed."""
_NOTE = np.dtype(
    [("number", "i8"), ("thread", "u8"), ("start", "f8"), ("stop", "f8"), ("failed", "?")], align=True
)
_MOST_NOTES = 100_000


@lru_cache
def _notes(folder: str, pid: int, thread: int) -> tuple[NDArray[np.void], Iterator[int]]:
    """Return the notes of this thread, and the number of the next one.

    They are in memory that is a file's: writing takes no system call, and what was written outlives a kill.
    """
    notes = np.memmap(Path(folder) / f"notes-{pid}-{thread}", _NOTE, "w+", shape=_MOST_NOTES)
    return notes, itertools.count()


def written(folder: str, number: int, seconds: float) -> int:
    """Work, and write down from when to when; some numbers fail the first time."""
    start = time.time()
    thread = threading.get_ident()
    notes, places = _notes(folder, os.getpid(), thread)
    time.sleep(seconds)
    fails = number % _RETRIED_EVERY == 0 and not (Path(folder) / f"tried-{number}").exists()
    notes[next(places)] = (number, thread, start, time.time(), fails)
    if fails:
        (Path(folder) / f"tried-{number}").touch()
        raise ValueError(f"number {number}, the first time")
    return number


def measure_truth(n_tasks: int, kills: int) -> Table:
    return Table(
        f"Truth of {n_tasks:,} tasks, workers killed: {kills}, every {_RETRIED_EVERY}th task fails at first",
        ("what", "truth", "recorded"),
        _rows(n_tasks, kills),
        "What a worker did and could not report before it was killed is in the truth and nowhere else. What "
        "it times includes how the task is called, which the task's own clock does not see. Failed "
        "attempts are read from what workers have sent; what a killed worker had is lost with it.",
    )


def _rows(n_tasks: int, kills: int) -> Iterator[tuple[str, str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        recording = _run(folder, n_tasks, kills)
        ended, failed = _read(Path(folder))
    table = recording.table("tasks")
    status, key = np.asarray(table["status"]), np.asarray(table["key"])
    finished = Counter(int(str(k).partition("-")[2]) for k in key[status == "finished"])
    truth = Counter(number for number, *_ in ended)
    yield "tasks that finished", f"{len(truth):,}", f"{len(finished):,}"
    yield "tasks missing", "0", f"{len(truth.keys() - finished.keys()):,}"
    extra = sum(max(count - truth[number], 0) for number, count in finished.items())
    yield "executions told that did not happen, or twice", "0", f"{extra:,}"
    yield "executions that ended", f"{truth.total():,}", f"{finished.total():,}"
    yield "tasks lost with a worker", "not known", f"{int((status == 'lost').sum()):,}"
    attempts = list(recording.table("activities")["activity"]).count("failed-attempt")
    yield "failed attempts", f"{len(failed):,}", f"{attempts:,}"
    true_s, seen_s, worst_s = _summed(recording, ended)
    yield (
        "summed time of the executions that were told",
        f"{true_s:.3f} s",
        f"{seen_s:.3f} s ({seen_s / true_s:.4f})",
    )
    yield "error of a start: median, 99th percentile", "0", worst_s


def _run(folder: str, n_tasks: int, kills: int) -> Recording:
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=2,
            dashboard_address=":0",
            memory_limit=0,
            # They would list every task that was lost, and every failure.
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
        taskscope.profile(display=False, max_tasks=10 * n_tasks) as run,
    ):
        numbers = list(range(n_tasks))
        futures = client.map(
            written,
            [folder] * n_tasks,
            numbers,
            [0.002] * n_tasks,
            key=[f"written-{number}" for number in numbers],
            retries=2,
        )
        for kill in range(kills):
            # The futures are the first to know how far it is.
            futures[(kill + 1) * n_tasks // _KILLED_EVERY].result()
            pids = client.run(os.getpid)
            os.kill(pids[min(pids)], signal.SIGKILL)
        assert client.gather(futures) == numbers
    return run.recording


def _read(folder: Path) -> tuple[list[tuple[int, int, float, float]], list[int]]:
    """Return number, thread, start and stop of what ended, and the numbers of what failed."""
    ended, failed = [], []
    for file in folder.glob("notes-*"):
        notes = np.fromfile(file, _NOTE)
        for number, thread, start, stop, has_failed in notes[notes["thread"] > 0].tolist():
            if has_failed:
                failed.append(number)
            else:
                ended.append((number, thread, start, stop))
    return ended, failed


def _summed(recording: Recording, ended: list[tuple[int, int, float, float]]) -> tuple[float, float, str]:
    """Return true and recorded seconds of the executions that were told, and how far their starts are off."""
    by_place: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for number, thread, start, stop in ended:
        by_place[number, thread].append((start, stop))
    table, zero = recording.table("tasks"), recording.started_at.timestamp()
    true_s = seen_s = 0.0
    errors = []
    for key, thread, status, start_s, stop_s in zip(
        *(list(table[c]) for c in ("key", "thread", "status", "start_s", "stop_s")), strict=True
    ):
        if status == "finished":
            near = by_place[int(key.partition("-")[2]), int(thread)]
            start, stop = min(near, key=lambda span: abs(span[0] - zero - start_s))
            true_s, seen_s = true_s + stop - start, seen_s + stop_s - start_s
            errors.append(abs(start - zero - start_s))
    middle, high = np.percentile(errors, (50, 99)) * 1e3
    return true_s, seen_s, f"{middle:.2f} ms, {high:.2f} ms"
