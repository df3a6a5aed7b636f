"""What the operating system says of this process and its children."""

from __future__ import annotations

import hashlib
import math
import mmap
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import psutil
import pytest

from taskscope.record import Recorder
from taskscope.sources.resources import processes as processes_module
from taskscope.sources.resources import procwatch
from taskscope.sources.resources.processes import ProcessReading, read_processes, take_peak
from taskscope.sources.resources.sampler import ResourceSampler
from taskscope.sources.resources.watcher import ProcessWatcher
from tests.support.waiting import PATIENCE_S, until

JIFFY_S = 0.02
"""How far off the operating system's counts of CPU seconds may be: a hundredth at each end."""
WAITING_CHILD = "import sys; print('ready', flush=True); sys.stdin.read()"


@contextmanager
def waiting_child() -> Iterator[int]:
    """Provide a child process that lives until its input closes."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", WAITING_CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        yield child.pid


def burn(cpu_s: float) -> None:
    end = time.process_time() + cpu_s
    while time.process_time() < end:
        pass


def running_watcher(dt: float) -> ProcessWatcher:
    watcher = ProcessWatcher.start()
    watcher.run(dt, with_peaks=True)
    return watcher


def next_samples(watcher: ProcessWatcher) -> list[tuple[float, ProcessReading]]:
    """Return the next samples of the helper, waited for on its pipe."""
    while not (samples := watcher.read()):
        assert select([watcher.samples], [], [], PATIENCE_S)[0], "the helper said nothing"
    return samples


def test_children_are_counted_while_they_live_and_found_anew_each_time() -> None:
    own = os.getpid()
    before = set(read_processes().cpu_s)
    with waiting_child() as child:
        reading = read_processes()
        assert set(reading.cpu_s) == before | {child}
        assert reading.rss_bytes > psutil.Process(own).memory_info().rss
    assert set(read_processes().cpu_s) == before


def test_without_children_only_this_process_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes_module, "_has_children", lambda: False)
    rss_bytes = psutil.Process().memory_info().rss
    reading = read_processes()
    assert set(reading.cpu_s) == {os.getpid()}
    assert reading.rss_bytes == pytest.approx(rss_bytes, rel=0.1)


def test_asking_for_children_takes_nobody_s_exit_status_away() -> None:
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "raise SystemExit(3)"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    read_processes()
    assert child.wait() == 3


def test_cpu_seconds_are_those_of_the_process() -> None:
    outer_s = time.process_time()
    first_s = read_processes().cpu_s[os.getpid()]
    inner_s = time.process_time()
    burn(0.05)
    inner_s = time.process_time() - inner_s
    read_s = read_processes().cpu_s[os.getpid()] - first_s
    outer_s = time.process_time() - outer_s
    assert inner_s - JIFFY_S <= read_s <= outer_s + JIFFY_S


def test_cpu_percent_times_its_interval_is_the_time_that_was_spent() -> None:
    recorder = Recorder()
    sampler = ResourceSampler(recorder)
    outer_s = time.process_time()
    sampler.compute_started("compute")
    inner_s = time.process_time()
    burn(0.1)
    inner_s = time.process_time() - inner_s
    sampler.compute_stopped("compute")
    outer_s = time.process_time() - outer_s
    (first, last) = recorder.resources.rows().tuples()
    assert inner_s - JIFFY_S <= (last[0] - first[0]) * last[1] / 100 <= outer_s + JIFFY_S


def test_the_helper_reads_what_this_process_would_and_not_itself() -> None:
    with waiting_child() as child:
        expected = set(read_processes().cpu_s)
        watcher = running_watcher(0.01)
        try:
            samples = next_samples(watcher)
            after = set(read_processes().cpu_s)
        finally:
            watcher.stop()
    assert child in expected
    assert [set(reading.cpu_s) for _, reading in samples] == [expected] * len(samples)
    # It is nobody's child that this process could wait for, or count.
    assert after == expected
    # With children, among them the process that workers of earlier tests were forked from.
    assert samples[0][1].rss_bytes == pytest.approx(read_processes().rss_bytes, rel=0.5)


def test_the_helper_s_times_are_on_this_process_s_axis_and_move_on() -> None:
    before = time.perf_counter()
    watcher = running_watcher(0.01)
    try:
        times = [time_s for time_s, _ in next_samples(watcher) + next_samples(watcher)]
    finally:
        watcher.stop()
    assert before < times[0]
    assert times == sorted(set(times))
    assert times[-1] < time.perf_counter()


def test_the_helper_sees_a_child_that_came_later() -> None:
    watcher = running_watcher(0.01)
    try:
        before = set(next_samples(watcher)[0][1].cpu_s)
        with waiting_child() as child:
            while child not in (seen := set(next_samples(watcher)[-1][1].cpu_s)):
                pass
        assert seen == before | {child}
    finally:
        watcher.stop()


def test_the_helper_ends_when_told_to() -> None:
    watcher = running_watcher(60.0)
    samples = os.dup(watcher.samples)
    try:
        next_samples(watcher)
        watcher.stop()
        os.set_blocking(samples, True)
        # Only the helper has the other end: this ends when it has.
        while os.read(samples, 65_536):
            pass
    finally:
        os.close(samples)


def test_the_helper_waits_until_it_is_told_to_sample_and_while_it_is_paused() -> None:
    watcher = ProcessWatcher.start()
    try:
        started = time.perf_counter()
        watcher.run(60.0, with_peaks=False)
        (first,) = next_samples(watcher)
        watcher.pause()
        resumed = time.perf_counter()
        watcher.run(60.0, with_peaks=False)
        (second,) = next_samples(watcher)
    finally:
        watcher.stop()
    assert started < first[0] < resumed < second[0]


def test_a_helper_that_was_killed_harms_nobody() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    commands_out, commands_in = os.pipe()
    os.close(commands_out)
    os.close(writing)
    watcher = ProcessWatcher(commands_in, reading)
    watcher.run(0.1, with_peaks=False)
    watcher.pause()
    assert watcher.read() == []
    watcher.stop()


def test_a_helper_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(OSError, match=r"^the sampling process could not be started: .*/nowhere/python"):
        ProcessWatcher.start()


def test_what_the_helper_says_is_read_by_whole_lines() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    watcher = ProcessWatcher(os.dup(writing), reading)
    os.write(writing, b"1.5 4096 5000.0 0.5 0.25 7=0.25\n2.5 81")
    assert watcher.read() == [(1.5, ProcessReading({7: 0.25}, 4096, 0.5, 0.25, 5000.0))]
    assert watcher.read() == []
    os.write(writing, b"92 9000.0 2.0 1.0 7=0.5 8=0.125\n")
    assert watcher.read() == [(2.5, ProcessReading({7: 0.5, 8: 0.125}, 8192, 2.0, 1.0, 9000.0))]
    os.close(writing)
    watcher.stop()


def helpers_of_this_process() -> list[psutil.Process]:
    own = str(os.getpid())
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if (line := process.info["cmdline"]) and line[-1] == own and line[-2].endswith("procwatch.py")
    ]


def test_samples_go_on_after_the_helper_was_killed() -> None:
    recorder = Recorder()
    sampler = ResourceSampler(recorder, 0.01)

    def has_five_more(n_before: int) -> bool:
        sampler.tick()
        return recorder.resources.cursor >= n_before + 5

    try:
        sampler.compute_started("compute")
        until(lambda: has_five_more(0))
        (first,) = helpers_of_this_process()
        first.kill()
        first.wait()
        # Of what it had said there may be five more to read.
        until(lambda: has_five_more(0) and bool(helpers_of_this_process()))
        n_before = recorder.resources.cursor
        until(lambda: has_five_more(n_before))
        (second,) = helpers_of_this_process()
        assert second.pid != first.pid
        assert sampler._thread is None
    finally:
        sampler.stop()


def test_a_thread_that_computes_is_ready_and_one_that_waits_is_not() -> None:
    ended, waiting = threading.Event(), threading.Event()
    waits = threading.Thread(target=waiting.wait)
    waits.start()
    computes = threading.Thread(target=_hash_until, args=(ended,))
    computes.start()
    watcher = running_watcher(0.05)
    try:
        readings: list[ProcessReading] = []
        while sum(not math.isnan(reading.active_share) for reading in readings) < 4:
            readings += [reading for _, reading in next_samples(watcher)]
    finally:
        ended.set()
        waiting.set()
        watcher.stop()
        computes.join()
        waits.join()
    assert {reading.active_share for reading in readings if not math.isnan(reading.active_share)} == {1.0}


def test_threads_were_ready_for_as_long_as_they_ran_or_waited_for_a_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    account = {"/1/a": b"100000000 0 1", "/1/b": b"0 50000000 1"}
    monkeypatch.setattr(procwatch, "threads_of", lambda _: list(account))
    monkeypatch.setattr(procwatch, "read", lambda path: account.get(path.removesuffix("/schedstat"), b""))
    times = procwatch.ReadyTime()
    assert math.isnan(times.taken([1], 10.0))
    account |= {"/1/a": b"300000000 100000000 2", "/1/b": b"50000000 100000000 3", "/1/new": b"0 100000000 1"}
    assert times.taken([1], 10.5) == pytest.approx(1.0)
    del account["/1/b"]
    assert times.taken([1], 11.0) == 0.0
    times.forget()
    assert math.isnan(times.taken([1], 12.0))
    account.clear()
    assert math.isnan(times.taken([1], 13.0))


def test_a_single_count_says_nothing_of_the_time_since_the_sample_before() -> None:
    counts = procwatch.ReadyCounts()
    counts.count([os.getpid()])
    assert all(map(math.isnan, counts.taken()))
    for _ in range(2):
        counts.count([os.getpid()])
    mean, share = counts.taken()
    assert (mean >= 1.0, share) == (True, 1.0)


def _hash_until(ended: threading.Event) -> None:
    while not ended.is_set():
        hashlib.sha256(bytes(1 << 20))


def touched(n_bytes: int) -> int:
    """Write to so much new memory, let go of it, and return how much was resident then."""
    pages = mmap.mmap(-1, n_bytes)
    for page in range(0, n_bytes, mmap.PAGESIZE):
        pages[page] = 1
    rss_bytes = psutil.Process().memory_info().rss
    pages.close()
    return rss_bytes


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets its mark be reset")
def test_a_peak_between_two_readings_is_seen_once() -> None:
    take_peak()
    expected = touched(50_000_000)
    first, second = take_peak(), take_peak()
    assert first == pytest.approx(expected, rel=0.02)
    assert second < first - 40_000_000


def test_where_the_kernel_has_no_mark_there_is_no_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert math.isnan(take_peak())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets its mark be reset")
def test_the_helper_reads_and_resets_the_mark_of_a_process() -> None:
    with waiting_child() as child:
        first, second = procwatch.take_peak(child), procwatch.take_peak(child)
        assert first >= second > 0
    assert math.isnan(procwatch.take_peak(child))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets its mark be reset")
def test_the_helper_leaves_the_mark_alone_where_it_is_not_asked_for() -> None:
    take_peak()
    expected = touched(50_000_000)
    watcher = ProcessWatcher.start()
    try:
        watcher.run(0.01, with_peaks=False)
        readings = [reading for _, reading in next_samples(watcher)]
    finally:
        watcher.stop()
    assert all(math.isnan(reading.peak_bytes) for reading in readings)
    assert take_peak() >= expected * 0.98
