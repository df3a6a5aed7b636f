"""What a browser has to load."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.frontend.page import ROOT, bundle_in_parts

__all__ = ["size_rows"]

BUDGETS_KB = {"Gantt chart, in a page of its own": 25, "lab extension": 150}
CHARTS = "labextension/src/charts"


def size_rows() -> Iterator[list[str]]:
    """Yield the sizes of the bundles, in kB of 1,000 bytes."""
    others = ("progress", "resources", "cache")
    first, later = _charts("gantt")
    yield _row("Gantt chart, in a page of its own", first)
    yield _row("what it loads once its first picture stands", later)
    yield _row("the three other charts", _charts(*others)[0])
    yield _row("all four, which share much", _charts("gantt", *others)[0])
    package = ROOT / "src/taskscope"
    static = sorted((package / "labextension/static").glob("*.js"))
    yield _row("lab extension", [file.read_bytes() for file in static])
    yield _row("script of offline pages", [(package / "static/report.js").read_bytes()])


def _charts(*names: str) -> tuple[list[bytes], list[bytes]]:
    """Return the scripts that the first picture of some charts needs, and those that come after it."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"export * as {name} from {json.dumps(str(ROOT / CHARTS / name))};" for name in names]
        Path(folder, "entry.ts").write_text("\n".join(lines), encoding="utf-8")
        scripts = bundle_in_parts(Path(folder, "entry.ts"), Path(folder, "out"))
        return [file.read_bytes() for file in scripts.first], [file.read_bytes() for file in scripts.later]


def _packed(text: bytes) -> int:
    return len(gzip.compress(text, 9, mtime=0))


def _row(name: str, texts: list[bytes]) -> list[str]:
    budget = BUDGETS_KB.get(name)
    return [
        name,
        f"{sum(map(len, texts)) / 1e3:.0f}",
        f"{sum(map(_packed, texts)) / 1e3:.1f}",
        "" if budget is None else f"{budget}",
    ]
