"""Which sources the built front end was made of: a digest beside it, written after each build."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

SOURCES = (
    "labextension/build-lib.mjs",
    "labextension/build-report.mjs",
    "labextension/jsx-in-reports.mjs",
    "labextension/minify.mjs",
    "labextension/rspack.config.cjs",
    "labextension/schema",
    "labextension/src",
    "labextension/style-space.cjs",
    "labextension/tsconfig.json",
    "package-lock.json",
    "package.json",
)
BUILT = ("src/taskscope/labextension", "src/taskscope/nbextension", "src/taskscope/static")
NEEDED = (
    "src/taskscope/labextension/package.json",
    "src/taskscope/nbextension/index.js",
    "src/taskscope/static/loader.js",
    "src/taskscope/static/report.js",
)
DIGEST = "labextension/built-from"


def is_current(root: Path) -> bool:
    """Tell whether the front end was built, of the sources as they are now."""
    written = root / DIGEST
    return not missing(root) and written.is_file() and written.read_text("ascii").strip() == digest(root)


def write_digest(root: Path) -> None:
    """Note which sources the front end was just built of; an sdist takes the note along."""
    if absent := missing(root):
        raise FileNotFoundError(f"npm run build made no {' and no '.join(absent)}; see its output above")
    (root / DIGEST).write_text(digest(root) + "\n", "ascii")


def missing(root: Path) -> list[str]:
    """Name what a build makes and is not there."""
    return [path for path in NEEDED if not (root / path).is_file()]


def digest(root: Path) -> str:
    """Hash names and contents, of what was built too: npm may have been run by hand in between."""
    sha = hashlib.sha256()
    for path in files(root):
        content = path.read_bytes()
        sha.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        sha.update(content)
    return sha.hexdigest()


def files(root: Path) -> Iterator[Path]:
    """List the files of the sources and of the build, in an order that each machine agrees on."""
    for top in (*SOURCES, *BUILT):
        found = [root / top, *(root / top).rglob("*")]
        yield from sorted((path for path in found if path.is_file()), key=Path.as_posix)


if __name__ == "__main__":
    write_digest(Path(__file__).parents[1])
