"""Run the benchmarks one after the other, each in a process of its own with a time limit.

python -m benchmarks               all of them; each writes its section of benchmarks/RESULTS.md
python -m benchmarks truth feed    only these sections; the others stay as they were
python -m benchmarks --missing     only those that RESULTS.md does not have yet
python -m benchmarks --quick       small sizes and few rounds, printed only: noisy; under three minutes
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.harness import commit, machine
from benchmarks.process import run
from benchmarks.results import finished, replaced, section
from benchmarks.sections import QUICK_S, SECTIONS, Section

LEFT_OUT = "left out, for the time is up"
RESULTS = Path(__file__).with_name("RESULTS.md")


def measure(one: Section, limit_s: float, *, quick: bool) -> str:
    """Run a section, keep its results unless `quick`, and return what kept it from the end."""
    if limit_s <= 0:
        return LEFT_OUT
    print(f"\n## {one.name}\n", flush=True)
    began, start_s, on = datetime.now(UTC), time.monotonic(), machine()
    ended = [run(command, limit_s=limit_s) for command in one.commands(quick=quick)]
    output, fault = (
        "\n".join(each.output for each in ended),
        "\n".join(filter(None, (each.fault for each in ended))),
    )
    took_s = time.monotonic() - start_s
    print(f"({one.name}: {took_s:.0f} s{', ' + fault if fault else ''})", flush=True)
    if not quick:
        measured = f"{began:%Y-%m-%d %H:%M} UTC, {took_s:.0f} s. {on}"
        keep(one.name, section(one.name, commit(), measured, output, fault))
    return fault


def keep(name: str, content: str) -> None:
    """Put one section into RESULTS.md, all at once or not at all."""
    new = RESULTS.with_suffix(".new")
    new.write_text(replaced(written(), name, content, list(SECTIONS)), encoding="utf-8")
    new.replace(RESULTS)


def written() -> str:
    return RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""


def chosen(options: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Section]:
    unknown = sorted(set(options.names) - set(SECTIONS))
    if unknown:
        parser.error(f"no section is called {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    if options.names:
        return [SECTIONS[name] for name in options.names]
    done = finished(written()) if options.missing else set()
    every = (one for one in SECTIONS.values() if one.name not in done)
    return [one for one in every if one.in_quick or not options.quick]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds, printed only")
    parser.add_argument("--missing", action="store_true", help="leave out what RESULTS.md has")
    parser.add_argument("names", nargs="*", metavar="section", help=", ".join(SECTIONS))
    options = parser.parse_args()
    # As `make` does: a BLAS with threads of its own would fight Dask's for the cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print(machine(), flush=True)
    until_s = time.monotonic() + (QUICK_S if options.quick else math.inf)
    faults = {
        one.name: measure(one, min(one.timeout_s, until_s - time.monotonic()), quick=options.quick)
        for one in chosen(options, parser)
    }
    failed = [name for name, fault in faults.items() if fault]
    print(f"\n{len(faults) - len(failed)} sections measured, {len(failed)} not")
    for name in failed:
        print(f"{name}: {faults[name]}")
    return int(any(fault not in ("", LEFT_OUT) for fault in faults.values()))


if __name__ == "__main__":
    sys.exit(main())
