"""What does watching cost per task when there are a million? As in `overhead`, three rounds."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness import Table, main
from benchmarks.local.overhead import COLUMNS, NOTE, TITLE, compared
from benchmarks.workloads import tree


def rows(*, quick: bool) -> Iterator[list[str]]:
    yield compared(tree(50_000 if quick else 1_000_000), "sync", repetitions=3)


def measure(*, quick: bool) -> list[Table]:
    return [Table(TITLE, COLUMNS, rows(quick=quick), NOTE)]


if __name__ == "__main__":
    main(__doc__, measure)
