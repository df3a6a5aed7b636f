"""What do files cost: seconds, bytes per task and memory; and what does writing one while recording cost?

A recorded tree graph is saved, loaded and exported, each in a process of its own, beside the HTML of
dask.diagnostics for as many tasks. Memory is the most that this process ever held, and the most before (the
recording, and recording it, where it does). Then the same computation with and without a file that is
written while it runs, and processes that are killed at random moments: how old was the newest task in their
files?
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypedDict

from dask.diagnostics import Profiler, visualize
from dask.utils import key_split

import taskscope
from benchmarks.harness import Table, differences, interleaved, main, spread
from benchmarks.workloads import tree
from taskscope.errors import DamagedFileError
from taskscope.recording import Recording

ENDLESS = """
import sys, time, dask, taskscope
def work(i):
    time.sleep(0.001)
with taskscope.profile(save=sys.argv[1], display=False):
    while True:
        dask.compute(*[dask.delayed(work)(i) for i in range(1000)], scheduler="threads", num_workers=4)
"""


PEER = (
    "The last row is the shortest valid trace of these tasks, without dependencies, counters and states, by"
    " Python's own json: tools such as viztracer trace calls of Python, not Dask's tasks."
)
JOB = """
import json, resource, sys, time
from benchmarks.files import JOBS
name, n_tasks, source, target = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
print(json.dumps(JOBS[name](n_tasks, source, target)))
"""


def size(path: Path) -> int:
    return sum(p.stat().st_size for p in path.rglob("*")) if path.is_dir() else path.stat().st_size


def recorded(n_tasks: int) -> Recording:
    with taskscope.profile(display=False, max_tasks=2 * n_tasks) as run:
        tree(n_tasks).compute("sync")
    return run.recording


class Measured(TypedDict):
    """What a process found: seconds of the work alone, and the most it held before and altogether."""

    seconds: float
    before_bytes: int
    most_bytes: int


def measured(work: Callable[[], object]) -> Measured:
    before = most_bytes()
    start_s = time.perf_counter()
    work()
    return {"seconds": time.perf_counter() - start_s, "before_bytes": before, "most_bytes": most_bytes()}


def most_bytes() -> int:
    """Return the most that this process ever held; of Linux, where this is in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def save_job(n_tasks: int, source: str, target: str) -> Measured:
    recording = recorded(n_tasks)
    return measured(partial(recording.save, target, overwrite=True))


def load_job(n_tasks: int, source: str, target: str) -> Measured:
    return measured(partial(taskscope.load, source))


def export_job(method: str, n_tasks: int, source: str, target: str) -> Measured:
    recording = taskscope.load(source)
    return measured(partial(getattr(recording, method), target, overwrite=True))


def bokeh_job(n_tasks: int, source: str, target: str) -> Measured:
    with Profiler() as profiler:
        tree(n_tasks).compute("sync")
    return measured(lambda: visualize([profiler], filename=target, show=False, save=True))


def plain_trace_job(n_tasks: int, source: str, target: str) -> Measured:
    """Write what Dask's Profiler has as the shortest valid trace, by Python's own json."""
    with Profiler() as profiler:
        tree(n_tasks).compute("sync")

    def write() -> None:
        lanes: dict[object, int] = {}
        events = [
            {
                "ph": "X",
                "name": key_split(row.key),
                "cat": "compute",
                "pid": 1,
                "tid": lanes.setdefault(row.worker_id, len(lanes)),
                "ts": row.start_time * 1e6,
                "dur": (row.end_time - row.start_time) * 1e6,
                "args": {"key": str(row.key)},
            }
            for row in profiler.results
        ]
        Path(target).write_text(json.dumps({"traceEvents": events}))

    return measured(write)


JOBS: dict[str, Callable[[int, str, str], Measured]] = {
    "save .taskscope": save_job,
    "load .taskscope": load_job,
    "to_html": partial(export_job, "to_html"),
    "to_perfetto": partial(export_job, "to_perfetto"),
    "to_parquet, all tables": partial(export_job, "to_parquet"),
    "dask.diagnostics HTML": bokeh_job,
    "Chrome trace by json.dumps": plain_trace_job,
}


def formats(n_tasks: int, folder: Path) -> Iterator[list[str]]:
    native = folder / "a.taskscope"
    for place, (name, _) in enumerate(JOBS.items()):
        target = (
            native if name.endswith(".taskscope") else folder / f"{place}{'.html' if 'HTML' in name else ''}"
        )
        command = [sys.executable, "-c", JOB, name, str(n_tasks), str(native), str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found: Measured = json.loads(done.stdout.splitlines()[-1])
        yield [
            name,
            f"{n_tasks:,}",
            f"{found['seconds']:.2f}",
            f"{size(target) / n_tasks:.1f}",
            f"{found['before_bytes'] / 1e6:.0f}",
            f"{found['most_bytes'] / 1e6:.0f}",
        ]


class Cost(NamedTuple):
    """What a computation took, in seconds, and what leaving its block took after it."""

    wall_s: float
    cpu_s: float
    leaving_s: float


def compute(n_tasks: int, save: Path | None) -> Cost:
    workload = tree(n_tasks)
    with taskscope.profile(display=False, save=save, overwrite=True):
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        workload.compute("threads")
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        leaving_s = time.perf_counter()
    return Cost(wall_s, cpu_s, time.perf_counter() - leaving_s)


def overhead(n_tasks: int, rounds: int, folder: Path) -> Iterator[list[str]]:
    files: dict[str, Path | None] = {"recorded": None, "with -D": folder / "b.taskscope"}
    costs: dict[str, list[Cost]] = {name: [] for name in files}

    def once(name: str) -> float:
        costs[name].append(compute(n_tasks, files[name]))
        return costs[name][-1].wall_s

    compute(n_tasks, None)
    interleaved({name: partial(once, name) for name in files}, repetitions=rounds)
    clocks = zip(("wall", "CPU of all threads", "leaving the block"), Cost._fields, strict=True)
    for title, clock in clocks:
        plain, filed = ([getattr(cost, clock) for cost in costs[name]] for name in files)
        more = differences(filed, plain, scale=1e6 / n_tasks)
        ratio = [a / b for a, b in zip(filed, plain, strict=True)]
        yield [title, f"{n_tasks:,}", str(rounds), *map(spread, (plain, filed, more, ratio))]


def age_at_kill_s(path: Path, chance: random.Random) -> float:
    """Return how long before the kill the newest task in the file had ended."""
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)])
    while not has_tasks(path):
        time.sleep(0.02)
    time.sleep(0.5 + 2 * chance.random())
    killed_at = datetime.now(UTC)
    process.kill()
    process.wait()
    recording = taskscope.load(path)
    finished = recording.tasks.stop[recording.tasks.status == 0]
    return (killed_at - recording.started_at - timedelta(seconds=float(finished.max()))).total_seconds()


def has_tasks(path: Path) -> bool:
    try:
        return len(taskscope.load(path).tasks) > 0
    except (OSError, DamagedFileError):
        return False


def kills(n: int, folder: Path) -> Iterator[list[str]]:
    chance = random.Random(3)
    ages = [age_at_kill_s(folder / f"{i}.taskscope", chance) for i in range(n)]
    yield [str(n), spread(ages, "{:.3f}")]


def measure(*, quick: bool) -> list[Table]:
    folder = Path(tempfile.mkdtemp(prefix="taskscope-bench-"))
    n_tasks = 20_000 if quick else 1_000_000
    return [
        Table(
            "Save, load and export",
            ["what", "tasks", "seconds", "bytes per task", "most MB before", "most MB"],
            formats(n_tasks, folder),
            note=PEER,
        ),
        Table(
            "A file written while recording (-D), threads",
            ["clock", "tasks", "rounds", "recorded, s", "-D, s", "-D, µs/task more", "-D / recorded"],
            overhead(5_000 if quick else 50_000, 3 if quick else 5, folder),
            note="Tasks that do nothing: the worst case. The file is completed on leaving the block.",
        ),
        Table(
            "Killed at random moments",
            ["kills", "age of the newest task in the file, s"],
            kills(3 if quick else 15, folder),
            note="Every file was loaded.",
        ),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
