"""The timeline of a flame graph: seconds of samples in equally wide bins."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from taskscope.analysis.calls import flame_message
from taskscope.model.tables.stacks import StackColumns
from taskscope.record.tables.stacklog import CountedCalls, StackLog
from tests.support.recordings.stacks import Sample, stacks_of

TYPES = {"start_s": "f8", "parent": "i4", "function": "i4", "bin": "u2", "prefix": "u2", "node": "i4"}
TYPES |= {"count": "u4", "seconds": "f4"}


def columns_of(message: dict[str, Any]) -> dict[str, Any]:
    data, columns = message["columns"], {}
    for name, length in message["lengths"].items():
        size = np.dtype(TYPES[name]).itemsize * length
        columns[name], data = np.frombuffer(data[:size], TYPES[name]), data[size:]
    return columns


def load(stacks: StackColumns) -> tuple[list[float], list[float]]:
    """Return the times of the bins and the mean number of threads in each."""
    message = flame_message(stacks)
    columns = columns_of(message)
    sums = np.bincount(columns["bin"], columns["seconds"], len(columns["start_s"]))
    return columns["start_s"].tolist(), (sums / message["bin_s"]).tolist()


def test_an_even_load_is_even_however_often_pages_read_it() -> None:
    now_s = 100.0
    log = StackLog(lambda: now_s)
    log.note(0.01, 1.0)
    code = load.__code__
    random.seed(3)
    reads_s, ends_s = 101.3, 101.02
    while now_s < 110.0:
        for _ in range(2):
            log.add(0, "x", "1", [(code, 0)], 0.01)
        if now_s >= ends_s:
            log.end_cycle()
            ends_s = now_s + 1.02
        if now_s >= reads_s:
            log.between(0, None)
            reads_s = now_s + random.uniform(0.9, 1.4)
        now_s += 0.01
    starts, threads = load(log.between(0, None))
    assert np.diff(starts) == pytest.approx(1.0)
    assert threads[:-1] == pytest.approx([2.0] * (len(threads) - 1), rel=0.05)


def test_an_even_load_of_processes_whose_cycles_begin_at_other_times_is_even() -> None:
    log = StackLog(lambda: 0.0)
    for cycle in range(20):
        for worker, begins_s in (("1", 0.0), ("2", 0.3), ("3", 0.7)):
            log.hand_over(begins_s + cycle, [CountedCalls(0, "x", worker, (), 100, 1.0)])
    _, threads = load(log.between(0, None))
    # How long the last cycles took is not known.
    assert threads[1:-1] == pytest.approx([3.0] * 18)


def test_cycles_that_were_cut_short_last_until_the_next_one() -> None:
    cycles = ((0.0, 0.6), (0.6, 1.0), (1.6, 0.52), (2.12, 0.01))
    samples = [Sample((), 1, seconds, start_s=at) for at, seconds in cycles]
    starts, threads = load(stacks_of(samples))
    assert (starts, [round(n, 6) for n in threads]) == ([100.0, 101.0, 102.0], [1.0, 1.0, 0.13])


def test_a_pause_has_no_bins_and_what_comes_after_it_is_apart() -> None:
    samples = [Sample((), 100, 1.0, start_s=at) for at in (0.0, 1.0, 500.5)]
    assert load(stacks_of(samples)) == ([100.0, 101.0, 600.0], [1.0, 1.0, 1.0])


def test_of_a_long_time_there_are_at_most_120_bins_with_all_samples() -> None:
    samples = [Sample((), 3, 0.7, start_s=at * 1.01) for at in range(1000)]
    message = flame_message(stacks_of(samples))
    columns = columns_of(message)
    assert (message["bin_s"], len(columns["start_s"])) == (16.0, 64)
    assert (columns["count"].sum(), columns["seconds"].sum()) == (3000, pytest.approx(700.0))
