"""Does what the documents tell people to do: ``make docs-check``.

Python blocks of a document are the cells of one notebook, in their order, and run in a real kernel. Commands
of shell blocks run in a folder of their own; targets of make are only looked up, for ``make test`` would call
this script again. Links to files and headings of this repository must lead somewhere; others are left to the
reader's network.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "notebooks/*.md", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
)
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CELL_S = 120
SCRIPT = "import dask\nprint(dask.delayed(sum)([1, 2]).compute())\n"


def main(documents: list[Path]) -> int:
    """Check documents, say what is wrong with them, and return the exit status."""
    faults = [f"{path}: {fault}" for path in documents for fault in check(path)]
    sys.stdout.write("\n".join([*faults, f"{len(documents)} documents, {len(faults)} faults", ""]))
    return min(len(faults), 1)


def check(path: Path) -> Iterator[str]:
    """Yield what is wrong with a document."""
    text = path.read_text(encoding="utf-8")
    blocks = FENCED.findall(text)
    yield from broken_links(path, FENCED.sub("", text))
    with tempfile.TemporaryDirectory() as folder:
        yield from failing_cells([source for kind, source in blocks if kind == "python"], folder)
        (Path(folder) / "script.py").write_text(SCRIPT, encoding="utf-8")
        lines = [line for kind, source in blocks if kind == "sh" for line in source.splitlines()]
        yield from failing_commands(lines, folder)


def broken_links(path: Path, text: str) -> Iterator[str]:
    """Yield links into this repository that lead nowhere."""
    for target in (first or second for first, second in LINK.findall(text)):
        file, _, anchor = target.partition("#")
        if "://" in target:
            continue
        there = (path.parent / file).resolve() if file else path
        if not there.exists():
            yield f"links to {file}, which does not exist"
        elif anchor and anchor not in anchors(there):
            yield f"links to #{anchor}, which {there.name} does not have"


def anchors(path: Path) -> set[str]:
    """Return the names of a document's headings, as GitHub makes them."""
    headings = HEADING.findall(path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def failing_cells(cells: list[str], folder: str) -> Iterator[str]:
    """Run cells in one kernel, and yield the error of the first that fails."""
    if not cells:
        return
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    # Files for the kernel's sockets: a port may be taken by another process before the kernel opens it.
    config = Config(KernelManager={"transport": "ipc", "ip": f"{tempfile.mkdtemp()}/kernel"})
    resources = {"metadata": {"path": folder}}
    client = NotebookClient(notebook, timeout=CELL_S, resources=resources, config=config)
    try:
        client.execute()
    except CellExecutionError as error:
        yield f"a Python block fails: {error}"


def failing_commands(lines: list[str], folder: str) -> Iterator[str]:
    """Run commands one after the other, and yield those that fail."""
    for line in lines:
        command = line.partition(" #")[0].strip()
        if command.startswith("make "):
            # Make runs what calls make in a dry run, too: it must not write the times of `make test`.
            target = command.removeprefix("make ")
            command = f"make -C {ROOT} --dry-run {target} TIMES={folder}/times >/dev/null"
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"`{line}` exits with {done.returncode}: {done.stderr[-500:]}"


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]] or DOCUMENTS))
