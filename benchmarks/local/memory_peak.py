"""Is the recorded peak of memory the true one?

Random graphs on threads: tasks of some prefixes do harmless work of several lengths, some with results that
stay in memory; those of one, fewer of them, have a temporary array of 200 MB for 20 to 80 ms. The true peak
is the most that another process reads of the kernel (``/proc/PID/statm``), again and again. Three of four
graphs are sampled every 0.25 s, the default, the others every 0.1 s.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Self

import dask
import numpy as np
from dask.delayed import Delayed

import taskscope
from benchmarks.harness import Table, main, spread

N_RUNS = 12
LARGE = "transform"
HARMLESS = ("load", "clean", "join", "score", "store")


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: the true peak, the recorded one, and the largest sample."""

    true_bytes: float
    recorded_bytes: float
    sampled_bytes: float


def harmless(wait_s: float, n_bytes: int) -> np.ndarray:
    result = np.ones(n_bytes // 8)
    time.sleep(wait_s)
    return result


def large(wait_s: float, n_bytes: int) -> float:
    values = np.ones(n_bytes // 8)
    time.sleep(wait_s)
    return float(values[0])


WATCH = """
import os, sys
if os.fork():
    os._exit(0)
most = 0
with open(f"/proc/{sys.argv[1]}/statm", "rb", buffering=0) as file:
    while not os.path.exists(sys.argv[2]):
        for _ in range(100):
            file.seek(0)
            most = max(most, int(file.read().split()[1]))
with open(sys.argv[2], "w") as file:
    file.write(f"{most * os.sysconf('SC_PAGE_SIZE')}\\n")
"""


class TruePeak:
    """Reads the memory of this process from one that is not its child, as fast as it can."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        self._file = Path(self._folder.name, "most")
        subprocess.run([sys.executable, "-IS", "-c", WATCH, str(os.getpid()), self._file], check=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._file.touch()
        while not (text := self._file.read_text()).endswith("\n"):
            time.sleep(0.01)
        self.nbytes = float(text)
        self._folder.cleanup()


def workload(random: Random, n_bytes: int) -> list[Delayed]:
    tasks = []
    for prefix in random.sample(HARMLESS, random.randint(2, len(HARMLESS))):
        size, most_s = random.choice([1_000, 100_000, 1_000_000]), random.uniform(0.02, 0.15)
        for i in range(random.randint(20, 60)):
            wait_s = random.uniform(0.2, 1.0) * most_s
            tasks.append(dask.delayed(harmless)(wait_s, size, dask_key_name=f"{prefix}-{i}"))
    for i in range(random.randint(10, 20)):
        work = partial(large, random.uniform(0.02, 0.08), n_bytes)
        tasks.append(dask.delayed(work)(dask_key_name=f"{LARGE}-{i}"))
    random.shuffle(tasks)
    return tasks


def seen(seed: int, n_bytes: int) -> Seen:
    random, dt = Random(seed), 0.25 if seed % 4 else 0.1
    tasks = workload(random, n_bytes)
    with TruePeak() as true, taskscope.profile(display=False, dt=dt) as run:
        dask.compute(*tasks, scheduler="threads", num_workers=random.choice([2, 3, 4]))
    sampled = float(run.recording.resources.rss_bytes.max())
    return Seen(true.nbytes, run.recording.memory_peak().peak_bytes, sampled)


def measure(*, quick: bool) -> list[Table]:
    runs = [seen(seed, 200_000_000) for seed in range(4 if quick else N_RUNS)]
    of_kernel = [100 * (run.recorded_bytes / run.true_bytes - 1) for run in runs]
    of_samples = [100 * (run.sampled_bytes / run.true_bytes - 1) for run in runs]
    rows = [
        ["the kernel's mark", *_errors(of_kernel)],
        ["the largest sample", *_errors(of_samples)],
    ]
    return [Table("The peak of memory", ["peak by", "off from the true one, %", "most off, %"], rows)]


def _errors(percents: list[float]) -> tuple[str, str]:
    return spread(percents, "{:+.1f}"), f"{max(percents, key=abs):+.1f}"


if __name__ == "__main__":
    main(__doc__, measure)
