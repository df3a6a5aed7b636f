"""Random faults for hours: ``make soak``, or ``python -m tests.faults.soak --minutes 5 --seed 7``.

Acts of `tests.faults.interrupts.acts` in random order, some of them in several threads at once. Each must end
as it should; every half minute nothing may be left behind, and memory must not have grown.
"""

from __future__ import annotations

import argparse
import gc
import logging
import random
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import psutil

from tests.faults.interrupts.acts import ACTS
from tests.support.resources import Held, held_now

ALONE = {"closed_output", "fault_of_ours", "forked", "saved", "folder_that_vanishes", "thread_storm"}
"""They exchange something of the whole process, or expect to be the only ones."""
LOOK_S = 30.0
SETTLE_S = 10.0
GROWTH_BYTES = 64_000_000


class Soak:
    """Runs acts, and collects what went wrong."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.faults: list[str] = []
        self.done: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._folder = folder
        self._process = psutil.Process()

    def run(self, seconds: float) -> None:
        """Act until the time is over."""
        threading.excepthook = lambda caught: self.faults.append(f"a thread: {caught.exc_value!r}")
        for name in ACTS:
            self._act(name, self._chance.random())
        before, bytes_before = self._settled(held_now()), self._process.memory_info().rss
        blocks_before = sys.getallocatedblocks()
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            look_s = min(time.monotonic() + LOOK_S, until_s)
            while time.monotonic() < look_s:
                self._round()
            left = self._settled(before).beyond(before)
            self.faults += [f"left behind: {thing}" for thing in left]
            grown = self._process.memory_info().rss - bytes_before
            if grown > GROWTH_BYTES:
                self.faults.append(f"memory grew by {grown / 1e6:.0f} MB")
            blocks = sys.getallocatedblocks() - blocks_before
            sys.stdout.write(
                f"{self.done.total():,} acts, {len(self.faults)} faults, {grown / 1e6:+.1f} MB,"
                f" {blocks:+,} blocks of Python's\n"
            )
            sys.stdout.flush()

    def _round(self) -> None:
        names = self._chance.choices(list(ACTS), k=self._chance.choice([1, 1, 1, 4]))
        if len(names) == 1 or ALONE & set(names):
            for name in names:
                self._act(name, self._chance.random())
            return
        threads = [threading.Thread(target=self._act, args=(name, self._chance.random())) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _act(self, name: str, seed: float) -> None:
        try:
            ACTS[name](random.Random(seed), self._folder)
        except BaseException:  # noqa: BLE001 - whatever it is, it is a finding
            self.faults.append(f"{name}, seed {seed!r}:\n{traceback.format_exc()}")
        self.done[name] += 1

    def _settled(self, before: Held) -> Held:
        """Return what is held once threads that were told to end have ended, or after some seconds."""
        until_s = time.monotonic() + SETTLE_S
        gc.collect()
        while (now := held_now()).beyond(before) and time.monotonic() < until_s:
            time.sleep(0.1)
        return now


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    logging.getLogger("taskscope").setLevel(logging.CRITICAL)
    # Python 3.12 and later warn of a fork while there are threads, which is what is tried.
    warnings.simplefilter("ignore", DeprecationWarning)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(options.seed, Path(folder))
        soak.run(60 * options.minutes)
    report = [f"seed {options.seed}", *soak.faults, f"{soak.done.total()} passed, {len(soak.faults)} failed"]
    sys.stdout.write("\n".join([*report, ""]))
    return min(len(soak.faults), 1)


if __name__ == "__main__":
    sys.exit(main())
