"""Does `explain()` say first, of ordinary work, what an expert accepts?

Each workload of `benchmarks.why` runs in a process of its own, twice: on the machine as it is, and beside two
busy processes that are not its children. What is accepted, and what must never be said, stands in
`expectations.toml`, written down before the workload was first explained.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.harness import Table
from benchmarks.process import stop
from benchmarks.why.one import Answer

_LIMIT_S = 300.0
_QUICK = 6
_OTHERS_USED = 0.3
"""Cores that other processes used, from which on it is true that the machine was busy."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What may be said of a workload; see `expectations.toml`."""

    name: str
    accept: tuple[str, ...]
    never: tuple[str, ...]
    beside_also: tuple[str, ...] = ()
    never_words: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    options: str = "{}"

    def is_accepted(self, answer: Answer, *, beside: bool) -> bool:
        """Whether an expert accepts the answer."""
        accepted = {*self.accept, *(self.beside_also if beside else ())}
        if "nothing" in accepted and answer.others_cores >= _OTHERS_USED:
            accepted.add("busy")
        return answer.first in accepted and not self.is_never(answer)

    def is_never(self, answer: Answer) -> bool:
        """Whether the answer sends a reader the wrong way."""
        return answer.first in self.never or any(re.search(words, answer.words) for words in self.never_words)


def expectations() -> list[Expectation]:
    """Return what is expected of each workload, in the order of the file."""
    kinds = tomllib.loads(Path(__file__).with_name("expectations.toml").read_text(encoding="utf-8"))
    local = kinds.pop("everywhere")["never_words_without_a_cluster"]
    return [
        Expectation(
            name=f"{kind}.{name}",
            accept=tuple(row["accept"]),
            never=tuple(row["never"]),
            beside_also=tuple(row.get("beside_also", ())),
            never_words=(*row.get("never_words", ()), *(local if kind != "clusters" else ())),
            environment=tuple(row.get("environment", {}).items()),
            options=json.dumps(row.get("options", {})),
        )
        for kind, rows in kinds.items()
        for name, row in rows.items()
    ]


def answer_of(expected: Expectation) -> Answer:
    """Run a workload in a process of its own, and return what was said of it."""
    command = [sys.executable, "-m", "benchmarks.why.one", expected.name, "--options", expected.options]
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment | dict(expected.environment),
    )
    try:
        output, errors = process.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        stop(process)
        return Answer("failed", "", f"not over after {_LIMIT_S:.0f} s", 0.0, 0.0)
    if process.returncode:
        return Answer("failed", "", errors[-2_000:], 0.0, 0.0)
    return Answer(**json.loads(output.splitlines()[-1]))


@contextmanager
def two_busy_processes() -> Iterator[None]:
    """Keep two processes busy, which are children of no process of the benchmark."""
    loop = "for i in 1 2; do timeout 600 sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!; done"
    started = subprocess.run(
        ["sh", "-c", loop],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        check=True,
    )
    try:
        yield
    finally:
        for pid in started.stdout.split():
            os.kill(int(pid), signal.SIGTERM)


@dataclass(slots=True)
class _Rates:
    n: int = 0
    accepted: int = 0
    never: int = 0

    def add(self, expected: Expectation, answer: Answer, *, beside: bool) -> str:
        is_accepted, is_never = expected.is_accepted(answer, beside=beside), expected.is_never(answer)
        self.n += 1
        self.accepted += is_accepted
        self.never += is_never
        mark = "" if is_accepted else " (**never**)" if is_never else " (**not accepted**)"
        return answer.first + mark

    def __str__(self) -> str:
        share = 100 / max(self.n, 1)
        return (
            f"{self.accepted} of {self.n} accepted ({self.accepted * share:.1f} %), "
            f"{self.never} never ({self.never * share:.1f} %)"
        )


def _rows(
    chosen: Sequence[Expectation], n_rounds: int, write: Callable[[dict[str, object]], None]
) -> Iterable[tuple[str, ...]]:
    rates = {False: _Rates(), True: _Rates()}
    for expected in chosen:
        said: dict[bool, list[str]] = {False: [], True: []}
        cores: list[float] = []
        for beside in [False, True] * n_rounds:
            if beside:
                with two_busy_processes():
                    answer = answer_of(expected)
            else:
                answer = answer_of(expected)
                cores.append(answer.others_cores)
            said[beside].append(rates[beside].add(expected, answer, beside=beside))
            write({"name": expected.name, "beside": beside, "said": said[beside][-1], **asdict(answer)})
        yield (
            expected.name,
            ", ".join(expected.accept),
            ", ".join(said[False]),
            ", ".join(said[True]),
            f"{max(cores):.1f}",
        )
    yield "**all**", "", str(rates[False]), str(rates[True]), ""


def main() -> None:
    """Run the benchmark as a command, and print its table as Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"every {_QUICK}th workload")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="parts of workloads' names")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="how often each is run")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="whole answers, a line of JSON each")
    options = parser.parse_args()
    chosen = expectations()[:: _QUICK if options.quick else 1]
    if options.only:
        chosen = [one for one in expectations() if any(part in one.name for part in options.only)]

    def write(line: dict[str, object]) -> None:
        if options.answers is not None:
            with options.answers.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    columns = (
        "workload",
        "accepted first",
        "as it is",
        "beside two busy processes",
        "cores of others, as it is",
    )
    note = "Asked for: at least 95 % accepted and at most 2 % never, in both."
    print(f"{(__doc__ or '').strip()}\n")
    for line in Table(
        "First causes of ordinary work", columns, _rows(chosen, options.rounds, write), note
    ).lines():
        print(line, flush=True)


if __name__ == "__main__":
    main()
