"""What a browser has to load."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.frontend.page import ROOT, bundle

__all__ = ["size_rows"]

BUDGETS_KB = {"Gantt chart, in a page of its own": 25, "lab extension": 150}
CHARTS = "labextension/src/charts"


def size_rows() -> Iterator[list[str]]:
    """Yield the sizes of the bundles, in kB of 1,000 bytes."""
    others = ("progress", "resources", "cache")
    yield _row("Gantt chart, in a page of its own", [alone := _charts("gantt")])
    yield _row("the three other charts", [rest := _charts(*others)])
    yield _row("all four, which share much", [every := _charts("gantt", *others)])
    yield ["what the Gantt chart adds to the others", *_sums(every, minus=rest), ""]
    yield ["what it shares with them", *_sums(alone, rest, minus=every), ""]
    package = ROOT / "src/taskscope"
    static = sorted((package / "labextension/static").glob("*.js"))
    yield _row("lab extension", [file.read_bytes() for file in static])
    yield _row("script of offline pages", [(package / "static/report.js").read_bytes()])


def _charts(*names: str) -> bytes:
    """Return the script of some charts."""
    with tempfile.TemporaryDirectory() as folder:
        entry, target = Path(folder) / "entry.ts", Path(folder) / "charts.js"
        lines = [f"export * as {name} from {json.dumps(str(ROOT / CHARTS / name))};" for name in names]
        entry.write_text("\n".join(lines), encoding="utf-8")
        bundle(entry, target)
        return target.read_bytes()


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


def _sums(*texts: bytes, minus: bytes) -> list[str]:
    sizes = [sum(map(size, texts)) - size(minus) for size in (len, _packed)]
    return [f"{sizes[0] / 1e3:.0f}", f"{sizes[1] / 1e3:.1f}"]
