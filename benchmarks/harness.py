"""What every benchmark shares: repetition, statistics, tables, the line that says on what machine."""

from __future__ import annotations

import argparse
import gc
import os
import platform
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, TypeVar

Name = TypeVar("Name", bound=str)


class Measure(Protocol):
    """What each benchmark file offers."""

    def __call__(self, *, quick: bool) -> list[Table]: ...


@dataclass(frozen=True, slots=True)
class Table:
    """One measurement, ready to be printed."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        lines = [f"### {self.title}", "", _row(self.columns), _row(["---"] * len(self.columns))]
        lines += [_row(row) for row in self.rows]
        return "\n".join([*lines, *(["", self.note] if self.note else []), ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def spread(values: Sequence[float], form: str = "{:.2f}") -> str:
    """Return the median with the smallest and largest value: ``1.02 (0.99 to 1.07)``."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def interleaved(variants: Mapping[Name, Callable[[], float]], *, repetitions: int) -> dict[Name, list[float]]:
    """Call every variant in turn, again and again, so that drift of the machine hits all alike."""
    measured: dict[Name, list[float]] = {name: [] for name in variants}
    for repetition in range(repetitions):
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
    packages = ("taskscope", "dask", "numpy", "psutil", "ipykernel")
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
    quick = parser.parse_args().quick
    print(f"## {Path(sys.argv[0]).stem}\n\n{(doc or '').strip()}\n")
    for table in measure(quick=quick):
        print(table.markdown(), flush=True)
