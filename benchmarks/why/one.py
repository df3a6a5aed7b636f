"""Run one workload, record it, and print what `explain()` answers as a line of JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass

import psutil

import taskscope
from benchmarks.why.workload import Prepare, blocks_for

__all__ = ["Answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said of one workload."""

    first: str
    """The first finding's cause; else "nothing", "busy" or "cannot-say"."""
    words: str
    """The first finding's text and advice."""
    text: str
    makespan_s: float
    others_cores: float
    """How many cores were used by processes that are not the workload's."""


class _Cores:
    """CPU seconds of the machine and of this process with its children."""

    def __init__(self) -> None:
        self._process = psutil.Process()

    def of_all_s(self) -> float:
        times = psutil.cpu_times()
        return float(times.user + times.nice + times.system)

    def of_own_s(self) -> float:
        times = self._process.cpu_times()
        seconds = times.user + times.system + times.children_user + times.children_system
        for child in self._process.children(recursive=True):
            try:
                own = child.cpu_times()
            except psutil.NoSuchProcess:
                continue
            seconds += own.user + own.system
        return float(seconds)


def answered(prepare: Prepare, options: dict[str, bool]) -> Answer:
    """Run a workload within `taskscope.profile`, and return what explains it."""
    blocks_for(1.0)
    with ExitStack() as stack:
        work, cores = prepare(stack), _Cores()
        all_s, own_s, began_s = cores.of_all_s(), cores.of_own_s(), time.perf_counter()
        with taskscope.profile(display=False, **options) as block:  # type: ignore[arg-type]  # options are data
            work()
        all_s, own_s = cores.of_all_s() - all_s, cores.of_own_s() - own_s
        took_s = time.perf_counter() - began_s
        explanation = block.recording.explain()
    text = str(explanation)
    if explanation.findings:
        found = explanation.findings[0]
        first, words = str(found.cause), f"{found.text}\n{found.advice}"
    else:
        first, words = ("busy" if "busy" in text else "nothing"), ""
    if explanation.reason is not None:
        first = "cannot-say"
    others = max(all_s - own_s, 0.0) / took_s
    return Answer(first, words, text, explanation.makespan_s, round(others, 2))


def main() -> None:
    """Answer for the workload that the command line names as ``arrays.three_reductions``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--options", type=json.loads, default={})
    given = parser.parse_args()
    module, _, function = given.name.partition(".")
    prepare = getattr(importlib.import_module(f"benchmarks.why.{module}"), function)
    print(json.dumps(asdict(answered(prepare, given.options))), flush=True)


if __name__ == "__main__":
    main()
