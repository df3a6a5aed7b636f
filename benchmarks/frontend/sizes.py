"""What a browser has to load."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.frontend.page import ROOT, bundle

__all__ = ["size_rows"]

BUDGETS_KB = {"Gantt chart": 25, "lab extension": 150}


def size_rows() -> Iterator[list[str]]:
    """Yield the sizes of the bundles, in kB of 1,000 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "gantt.js"
        bundle("labextension/src/charts/gantt/index.ts", target)
        yield _row("Gantt chart", [target])
    package = ROOT / "src/taskscope"
    yield _row("lab extension", sorted((package / "labextension/static").glob("*.js")))
    yield _row("script of offline pages", [package / "static/report.js"])


def _row(name: str, files: list[Path]) -> list[str]:
    texts = [file.read_bytes() for file in files]
    packed = sum(len(gzip.compress(text, 9, mtime=0)) for text in texts)
    budget = BUDGETS_KB.get(name)
    return [
        name,
        f"{sum(map(len, texts)) / 1e3:.0f}",
        f"{packed / 1e3:.1f}",
        "" if budget is None else f"{budget}",
    ]
