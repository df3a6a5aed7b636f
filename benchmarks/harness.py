"""What every benchmark shares: repetition, statistics, tables, the line that says on what machine."""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, TypeVar

Name = TypeVar("Name")
Taken = TypeVar("Taken")
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


def quartiles(values: Sequence[float], form: str = "{:.2f}") -> str:
    """Return the median with the quartiles: ``1.02 (1.00 to 1.04)``."""
    if len(values) < _LEAST_REPETITIONS:
        return spread(values, form)
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def interleaved(
    variants: Mapping[Name, Callable[[], Taken]], *, repetitions: int, patience_s: float = math.inf
) -> dict[Name, list[Taken]]:
    """Call every variant in turn, again and again, so that drift of the machine hits all alike.

    What takes long is repeated less often, but three times: no round begins after `patience_s` seconds.
    """
    measured: dict[Name, list[Taken]] = {name: [] for name in variants}
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


def commit() -> str:
    """Return the short hash of the commit that is measured, and whether anything was changed since."""
    root = Path(__file__).parent
    try:
        head = _git(root, "rev-parse", "--short=8", "HEAD")
        # The results themselves change while they are measured.
        changed = _git(root, "status", "--porcelain", "--", ":/", ":!RESULTS.md")
    except (OSError, subprocess.CalledProcessError):
        return "no commit"
    return f"{head} + changes" if changed else head


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def main(doc: str | None, measure: Measure) -> None:
    """Run one benchmark file as a command and print its tables as Markdown."""
    options = _parser(doc).parse_args()
    _print(doc, measure(quick=options.quick))


def named_tables(doc: str | None, tables: Mapping[str, Callable[[bool], Table]]) -> None:
    """Run those of several benchmarks that the command line names, or all, and print their tables."""
    parser = _parser(doc)
    parser.add_argument("names", nargs="*", metavar="table", help=", ".join(tables))
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(tables))
    if unknown:
        parser.error(f"no table is called {', '.join(unknown)}; there are {', '.join(tables)}")
    _print(doc, (tables[name](options.quick) for name in options.names or tables))


def _parser(doc: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions: noisy")
    return parser


def _print(doc: str | None, tables: Iterable[Table]) -> None:
    print(f"{(doc or '').strip()}\n")
    for table in tables:
        for line in table.lines():
            print(line, flush=True)
