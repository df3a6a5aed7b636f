"""CPU, memory and the client's own thread are sampled from the first line of a block to its last."""

from __future__ import annotations

import math
import mmap
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import numpy as np
import psutil
import pytest

import taskscope
from taskscope.model.tables.stacks import CLIENT, CLIENT_RUN
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources import kernel_files
from taskscope.sources.resources import high_water_bytes, read_processes
from tests.support.waiting import PATIENCE_S, until

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these counters")


def _burn(seconds: float) -> None:
    stop = time.thread_time() + seconds
    while time.thread_time() < stop:
        sum(range(1000))


def _n_samples() -> int:
    return len(current().recorder.resources.rows())


def test_memory_and_cpu_are_sampled_where_no_compute_runs() -> None:
    with taskscope.profile(display=False, dt=0.01) as run:
        # Not of the heap: what earlier tests have freed there is taken first, and stays with the process.
        big = mmap.mmap(-1, 200_000_000)
        np.frombuffer(big, np.uint8).fill(1)
        n = _n_samples()
        until(lambda: _n_samples() >= n + 2)
        n = _n_samples()
        big.close()
        # One sample may be under way, and the thread may have waited before it deleted.
        after = _n_samples() + 1
        until(lambda: _n_samples() > after)
        dask.delayed(int)().compute(scheduler="synchronous")
        _burn(0.3)
        rss_bytes = current().recorder.resources.rows().rss_bytes
    resources = run.recording.to_pandas("resources")
    assert set(rss_bytes[n - 1 : after + 1]) <= set(resources.rss_bytes)
    # Samples near each other: the system may take other memory of the process away meanwhile.
    assert rss_bytes[n - 1] - rss_bytes[after] > 150e6
    seconds = resources.time_s.diff()
    assert (resources.cpu_percent * seconds / 100).sum() > 0.28
    assert run.recording.to_pandas("runs").n_tasks.tolist() == [1]


@linux_only
def test_a_peak_between_two_samples_is_seen() -> None:
    # A process that never had as much memory, with a child that rests.
    code = (
        "import dask, numpy as np, taskscope\n"
        "from multiprocessing import resource_tracker\n"
        "resource_tracker.ensure_running()\n"
        "with taskscope.profile(display=False, dt=60.0) as run:\n"
        "    dask.delayed(np.ones)(25_000_000).sum().compute(scheduler='synchronous')\n"
        "resources = run.recording.to_pandas('resources')\n"
        "print(resources.peak_bytes.max() - resources.rss_bytes.iloc[-1] > 150e6)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@linux_only
def test_the_kernels_mark_of_the_most_memory_is_left_to_other_tools() -> None:
    code = (
        "import dask, numpy as np, resource, taskscope\n"
        "from taskscope.sources.resources import high_water_bytes\n"
        "if __name__ == '__main__':\n"
        "    np.ones(50_000_000)\n"
        "    before = high_water_bytes(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "    with taskscope.profile(display=False) as run:\n"
        "        dask.delayed(np.ones)(25_000_000).sum().compute(scheduler='threads')\n"
        "    after = high_water_bytes(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "    print(after == before and before[0] > 400e6, 'largest sample' in run.recording.summary())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


@linux_only
def test_cpu_of_taskscopes_own_threads_is_no_ones() -> None:
    burnt, may_end = threading.Event(), threading.Event()

    def busy() -> None:
        _burn(0.5)
        burnt.set()
        # The CPU time of a thread that has ended cannot be read.
        may_end.wait(PATIENCE_S)

    before_s = time.process_time()
    with taskscope.profile(display=False, dt=0.02) as run:
        thread = threading.Thread(target=busy, name="taskscope-busy")
        thread.start()
        burnt.wait(PATIENCE_S)
    others_s = time.process_time() - before_s - 0.5
    may_end.set()
    thread.join()
    resources = run.recording.to_pandas("resources")
    # The kernel counts in hundredths of a second.
    assert (resources.cpu_percent * resources.time_s.diff() / 100).sum() <= others_s + 0.1


@linux_only
def test_cpu_beside_tasks_is_that_of_older_threads_and_of_children() -> None:
    go, done, may_end = threading.Event(), threading.Event(), threading.Event()

    def older() -> None:
        go.wait(PATIENCE_S)
        _burn(0.4)
        done.set()
        # The CPU time of a thread or a child that has ended cannot be read.
        may_end.wait(PATIENCE_S)

    def task() -> None:
        _burn(0.4)
        done.wait(PATIENCE_S)

    thread = threading.Thread(target=older)
    thread.start()
    code = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
    command = [sys.executable, "-I", "-S", "-c", code]
    with taskscope.profile(display=False, dt=0.05) as run:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        go.set()
        assert child.stdout is not None
        child.stdout.readline()
        dask.delayed(task)().compute(scheduler="threads")
    child.communicate(b"\n")
    may_end.set()
    thread.join()
    resources = run.recording.to_pandas("resources")
    used_s, beside_s = (
        float((resources[name] * resources.time_s.diff() / 100).sum())
        for name in ("cpu_percent", "beside_percent")
    )
    cpu_s = run.recording.to_pandas("tasks").cpu_s[0]
    assert beside_s > 0.7
    assert used_s - beside_s == pytest.approx(cpu_s, abs=0.25)


@linux_only
def test_threads_that_a_task_starts_are_not_beside_it() -> None:
    def task() -> None:
        thread = threading.Thread(target=_burn, args=(0.4,))
        thread.start()
        thread.join()

    with taskscope.profile(display=False, dt=0.02) as run:
        dask.delayed(task)().compute(scheduler="threads")
    resources = run.recording.to_pandas("resources")
    own = resources.cpu_percent - resources.beside_percent
    assert (own * resources.time_s.diff() / 100).sum() > 0.3


def _rest() -> None:
    stacks = current().recorder.stacks
    rows = stacks.between(0, None).rows
    n = int(rows.count[rows.run == CLIENT_RUN].sum())
    until(lambda: (r := stacks.between(0, None).rows).count[r.run == CLIENT_RUN].sum() >= n + 5)


def _clients(recording: Recording) -> set[str]:
    rows, stacks = recording.stacks.rows, recording.stacks
    nodes = rows.node[rows.run == CLIENT_RUN].tolist()
    assert {stacks.prefixes[p] for p in rows.prefix[rows.run == CLIENT_RUN]} <= {CLIENT}
    names = set()
    while nodes:
        node = nodes.pop()
        if node >= 0:
            names.add(stacks.functions[stacks.function[node]].name)
            nodes.append(stacks.parent[node])
    return names


def test_the_thread_of_a_block_is_sampled_between_computes(tmp_path: Path) -> None:
    with taskscope.profile(display=False) as run:
        _rest()
        dask.delayed(time.sleep)(0.2).compute(scheduler="threads")
    assert "_rest" in _clients(run.recording)
    lines = run.recording.stacks.lines
    assert lines.seconds[lines.run == CLIENT_RUN].sum() > 0
    # Another block has none of it, and a file has it.
    with taskscope.profile(display=False) as other:
        dask.delayed(int)().compute(scheduler="threads")
    assert "_rest" not in _clients(other.recording)
    run.recording.save(tmp_path / "run.taskscope")
    assert "_rest" in _clients(taskscope.load(tmp_path / "run.taskscope"))
    assert CLIENT not in str(run.recording.profile())
    assert CLIENT not in str(run.recording.lines())


def test_the_switch_interval_is_as_before_once_a_compute_has_ended() -> None:
    before_s, seen = sys.getswitchinterval(), []

    def task() -> None:
        until(lambda: sys.getswitchinterval() < before_s)
        seen.append(sys.getswitchinterval())

    with taskscope.profile(display=False):
        for _ in range(3):
            dask.delayed(task)().compute(scheduler="threads")
            assert sys.getswitchinterval() == before_s
    assert len(seen) == 3


def test_one_call_that_holds_the_lock_leaves_a_gap_that_is_marked() -> None:
    values = np.random.default_rng(0).random(3_000_000).tolist()
    with taskscope.profile(display=False, dt=0.001) as run:
        dask.delayed(lambda: sorted(values))().compute(scheduler="threads", optimize_graph=False)
    assert run.recording.to_pandas("resources").gap.any()


def test_children_are_counted_while_they_live_and_keep_their_exit_status() -> None:
    before = set(read_processes().cpu_s)
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "raise SystemExit(input() or 3)"],
                             stdin=subprocess.PIPE)  # fmt: skip
    own_bytes = psutil.Process().memory_info().rss
    reading = read_processes()
    assert set(reading.cpu_s) == before | {child.pid}
    assert reading.rss_bytes == pytest.approx(own_bytes, rel=0.1)
    assert reading.children_bytes > 0
    child.communicate(b"\n")
    read_processes()
    assert child.returncode == 3
    assert set(read_processes().cpu_s) == before


def test_where_the_kernel_has_no_mark_there_is_no_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> bytes:
        raise FileNotFoundError(path)

    monkeypatch.setattr(kernel_files, "read", refuse)
    assert math.isnan(high_water_bytes())


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the kernel keeps no such account")
def test_threads_of_taskscope_are_no_threads_that_want_a_core() -> None:
    done = threading.Event()
    threads = [threading.Thread(target=done.wait, name=name) for name in ("taskscope-mine", "users")]
    for thread in threads:
        thread.start()
    natives = [str(thread.native_id) for thread in threads]
    found = read_processes(with_ready=True).ready_s
    done.set()
    assert [native in found for native in natives] == [False, True]
