"""Run the benchmarks one after the other, each in a process of its own.

python -m benchmarks               all of them, and write benchmarks/RESULTS.md
python -m benchmarks --quick       small sizes, printed only
python -m benchmarks truth feed    only these, printed only
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from benchmarks.harness import machine

NAMES = (
    *("truth", "overhead", "in_situ", "fixed_cost", "retained", "memory", "files", "feed", "slow_reader"),
    *("diagnostics", "stacks", "eta", "cluster", "browser", "frontend"),
)
RESULTS = Path(__file__).with_name("RESULTS.md")


def run(name: str, *, quick: bool) -> str:
    """Run one benchmark, show its output and return it."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *(["--quick"] if quick else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode != 0:
        raise SystemExit(f"{shlex.join(command)} ended with {process.returncode}")
    return "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions: noisy")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(NAMES))
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    head = f"# Results of `make bench`\n\n{machine()}\n"
    print(head)
    sections = [head]
    for name in options.names or NAMES:
        sections.append(run(name, quick=options.quick))
        if not options.quick and not options.names:
            RESULTS.write_text("\n".join(sections), encoding="utf-8")
            print(f"written to {RESULTS}")


if __name__ == "__main__":
    main()
