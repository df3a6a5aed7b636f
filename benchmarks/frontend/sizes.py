"""What a browser has to load."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

from benchmarks.frontend.page import ROOT

__all__ = ["size_rows"]

PAGES = {
    "offline pages": "report",
    "offline pages of clusters": "report-cluster",
    "offline pages with a profile": "report-profile",
}


def size_rows() -> Iterator[list[str]]:
    """Yield the sizes of the bundles, in kB of 1,000 bytes."""
    package = ROOT / "src/taskscope"
    static = sorted((package / "labextension/static").glob("*.js"))
    yield _row("lab extension", [file.read_bytes() for file in static])
    for name, file in PAGES.items():
        yield _row(f"script of {name}", [(package / f"static/{file}.js").read_bytes()])


def _packed(text: bytes) -> int:
    return len(gzip.compress(text, 9, mtime=0))


def _row(name: str, texts: list[bytes]) -> list[str]:
    return [
        name,
        f"{sum(map(len, texts)) / 1e3:.0f}",
        f"{sum(map(_packed, texts)) / 1e3:.1f}",
    ]
