"""What every benchmark shares: repetition, statistics, tables, the line that says on what machine."""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, TypeVar

Name = TypeVar("Name", bound=str)
_LEAST_REPETITIONS = 3


class Measure(Protocol):
    """What each benchmark file offers."""

    def __call__(self, *, quick: bool) -> list[Table]: ...


@dataclass(frozen=True, slots=True)
class Table:
    """One measurement; rows may still be to come."""

    title: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]
    note: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the table as lines of Markdown, each row as soon as it was measured."""
        yield from (f"### {self.title}", "", _row(self.columns), _row(["---"] * len(self.columns)))
        yield from map(_row, self.rows)
        yield from (("", self.note, "") if self.note else ("",))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def spread(values: Sequence[float], form: str = "{:.2f}") -> str:
    """Return the median with the smallest and largest value: ``1.02 (0.99 to 1.07)``."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def interleaved(
    variants: Mapping[Name, Callable[[], float]], *, repetitions: int, patience_s: float = math.inf
) -> dict[Name, list[float]]:
    """Call every variant in turn, again and again, so that drift of the machine hits all alike.

    What takes long is repeated less often, but three times: no round begins after `patience_s` seconds.
    """
    measured: dict[Name, list[float]] = {name: [] for name in variants}
    start_s = time.perf_counter()
    for repetition in range(repetitions):
        if repetition >= _LEAST_REPETITIONS and time.perf_counter() - start_s > patience_s:
            break
        order = list(variants)
        for name in order if repetition % 2 else reversed(order):
            gc.collect()
            measured[name].append(variants[name]())
    return measured


def differences(values: Sequence[float], baseline: Sequence[float], *, scale: float) -> list[float]:
    """Return each value minus the baseline of the same repetition, times ``scale``."""
    return [(value - base) * scale for value, base in zip(values, baseline, strict=True)]


def machine() -> str:
    """Return one paragraph that says what the figures were measured on."""
    packages = ("taskscope", "dask", "distributed", "numpy", "bokeh", "psutil", "ipykernel", "jupyterlab")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    load = os.getloadavg()[0]
    return (
        f"{platform.system()} {platform.release()}, {_processor()}, {os.cpu_count()} cores, "
        f"load {load:.1f} at the start; {platform.python_implementation()} {platform.python_version()}, "
        f"{versions}."
    )


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def main(doc: str | None, measure: Measure) -> None:
    """Run one benchmark file as a command and print its tables as Markdown."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions: noisy")
    parser.add_argument("--tables", type=int, nargs="+", metavar="n", help="only these, counted from 1")
    options = parser.parse_args()
    print(f"{(doc or '').strip()}\n")
    for number, table in enumerate(measure(quick=options.quick), start=1):
        if options.tables and number not in options.tables:
            continue
        for line in table.lines():
            print(line, flush=True)
