"""What do files cost: seconds, bytes per task and memory; and what does writing one while recording cost?

A recorded tree graph is saved, loaded and exported, beside the HTML of dask.diagnostics for as many tasks.
Memory is how far the resident size rises meanwhile. Then the same computation with and without a file that is
written while it runs, and processes that are killed at random moments: how old was the newest task in their
files?
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from dask.diagnostics import Profiler, visualize

import taskscope
from benchmarks.harness import Table, differences, interleaved, main, spread
from benchmarks.workloads import tree
from taskscope.errors import DamagedFileError
from taskscope.model.recording import Recording

ENDLESS = """
import sys, time, dask, taskscope
def work(i):
    time.sleep(0.001)
with taskscope.profile(save=sys.argv[1], display=False):
    while True:
        dask.compute(*[dask.delayed(work)(i) for i in range(1000)], scheduler="threads", num_workers=4)
"""


def resident_bytes(kind: str) -> int | None:
    """Return ``VmRSS`` or ``VmHWM`` (the peak); None where there is no /proc."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    line = next(line for line in status.read_text().splitlines() if line.startswith(kind))
    return int(line.split()[1]) * 1024


def timed(work: Callable[[], object]) -> tuple[float, float | None]:
    """Return seconds, and how many bytes the resident size rose above what it was."""
    before = resident_bytes("VmRSS")
    if before is not None:
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    start_s = time.perf_counter()
    work()
    seconds = time.perf_counter() - start_s
    peak = resident_bytes("VmHWM")
    return seconds, None if before is None or peak is None else peak - before


def size(path: Path) -> int:
    return sum(p.stat().st_size for p in path.rglob("*")) if path.is_dir() else path.stat().st_size


def recorded(n_tasks: int) -> Recording:
    with taskscope.profile(display=False, max_tasks=2 * n_tasks) as run:
        tree(n_tasks).compute("sync")
    return run.recording


def formats(n_tasks: int, folder: Path) -> Iterator[list[str]]:
    recording = recorded(n_tasks)
    native = folder / "a.taskscope"
    jobs: dict[str, tuple[Callable[[], object], Path]] = {
        "save .taskscope": (partial(recording.save, native, overwrite=True), native),
        "load .taskscope": (partial(taskscope.load, native), native),
        "to_html": (partial(recording.to_html, folder / "a.html", overwrite=True), folder / "a.html"),
        "to_chrome_trace": (
            partial(recording.to_chrome_trace, folder / "a.json", overwrite=True),
            folder / "a.json",
        ),
        "to_parquet, all tables": (
            partial(recording.to_parquet, folder / "parquet", overwrite=True),
            folder / "parquet",
        ),
        "to_csv, all tables": (partial(recording.to_csv, folder / "csv", overwrite=True), folder / "csv"),
    }
    for name, (work, path) in jobs.items():
        yield row(name, n_tasks, work, path)
    del recording
    with Profiler() as profiler:
        tree(n_tasks).compute("sync")
    page = folder / "dask.html"
    yield row(
        "dask.diagnostics HTML",
        n_tasks,
        lambda: visualize([profiler], filename=str(page), show=False, save=True),
        page,
    )


def row(name: str, n_tasks: int, work: Callable[[], object], path: Path) -> list[str]:
    seconds, memory = timed(work)
    rise = "–" if memory is None else f"{memory / 1e6:.0f}"
    return [name, f"{n_tasks:,}", f"{seconds:.2f}", f"{size(path) / n_tasks:.1f}", rise]


def compute_s(n_tasks: int, clock: Callable[[], float], save: Path | None) -> float:
    """Return the seconds of the computation alone, by this clock."""
    workload = tree(n_tasks)
    with taskscope.profile(display=False, save=save, overwrite=True):
        start_s = clock()
        workload.compute("threads")
        return clock() - start_s


def overhead(n_tasks: int, rounds: int, folder: Path) -> Iterator[list[str]]:
    for name, clock in (("wall", time.perf_counter), ("CPU", time.process_time)):
        compute_s(n_tasks, clock, None)
        variants = {
            "recorded": partial(compute_s, n_tasks, clock, None),
            "with -D": partial(compute_s, n_tasks, clock, folder / "b.taskscope"),
        }
        seconds = interleaved(variants, repetitions=rounds)
        more = differences(seconds["with -D"], seconds["recorded"], scale=1e6 / n_tasks)
        ratio = [a / b for a, b in zip(seconds["with -D"], seconds["recorded"], strict=True)]
        yield [name, f"{n_tasks:,}", str(rounds), *map(spread, (seconds["recorded"], more, ratio))]


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
            ["what", "tasks", "seconds", "bytes per task", "memory rises by, MB"],
            formats(n_tasks, folder),
        ),
        Table(
            "A file written while recording (-D), threads",
            ["clock", "tasks", "rounds", "recorded, s", "-D, µs/task more", "-D / recorded"],
            overhead(5_000 if quick else 100_000, 3 if quick else 7, folder),
        ),
        Table(
            "Killed at random moments",
            ["kills", "age of the newest task in the file, s"],
            kills(3 if quick else 40, folder),
            note="Every file was loaded.",
        ),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
