"""Run notebooks that are not ours, plain and with ``%%profile`` on every cell, and say what differs.

    python -m tests.notebooks_public FOLDER_OR_NOTEBOOK…

runs each notebook three times, in the environment that it is called with: twice as it stands, once profiled.
It says, cell by cell, what a user would see changed (values, text, exceptions; lines in which the plain runs
differ are left out, and so are the tokens of keys), which tasks the schedulers ran that no recording has, or
the other way round, and the seconds of both. Notebooks run as their authors wrote them: those that need a
network or a library that is not there fail in all three runs, which is said, and are compared as far as they
go. Each run has its own copy of the notebook's folder, so that no run finds the files of an earlier one. Not
part of ``make test``: the notebooks of dask-examples and dask-tutorial are to be cloned beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import nbformat
from jupyter_client.asynchronous.client import AsyncKernelClient
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import run_sync

from tests.notebooks_public.compare import compared
from tests.notebooks_public.outcome import Outcome

_HERE = Path(__file__).parent
_NAME = "_taskscope_of_cell_"
_NESTABLE = ("%%time", "%%timeit")


def main() -> int:
    """Run the notebooks that the command line names; return how many differ."""
    parser = argparse.ArgumentParser("python -m tests.notebooks_public", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FOLDER_OR_NOTEBOOK")
    parser.add_argument("--timeout", type=int, default=120, help="seconds a cell may take")
    given = parser.parse_args()
    notebooks = [found for path in given.paths for found in _notebooks(path)]
    n_differ = 0
    for path in notebooks:
        print(f"== {path}", flush=True)
        plain, again = _run(path, given.timeout), _run(path, given.timeout)
        said = list(compared(plain, again, _run(path, given.timeout, profiled=True)))
        n_differ += any(line.startswith("!") for line in said)
        print("\n".join(f"  {line}" for line in said), flush=True)
    print(f"{len(notebooks)} notebooks, {n_differ} of them differ")
    return n_differ


def _notebooks(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(p for p in path.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
    return [path]


def _run(path: Path, timeout: int, *, profiled: bool = False) -> Outcome:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    outcome = Outcome()
    os.environ["PYTHONPATH"] = f"{_HERE}"
    # Dask goes through sets when it fuses tasks: which name they have depends on the seed.
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ["DASK_DISTRIBUTED__SCHEDULER__PRELOAD"] = '["ground_truth"]'
    client = NotebookClient(
        notebook, timeout=timeout, allow_errors=True, resources={"metadata": {"path": f"{_copy_of(path)}"}}
    )
    with _copied(path), tempfile.TemporaryDirectory() as folder, client.setup_kernel():
        ran, recorded = Path(folder, "ran.json"), Path(folder, "recorded.json")
        _hidden(client, "import ground_truth as _ground_truth")
        if profiled:
            _hidden(client, "%load_ext taskscope")
        try:
            for index, cell in enumerate(code, start=1):
                if profiled and _is_profilable(cell.source):
                    cell.source = f"%%profile -o {_NAME}{index}\n{cell.source}"
                _hidden(client, f"_ground_truth.begin_cell({index})")
                begin = time.perf_counter()
                client.execute_cell(cell, notebook.cells.index(cell))
                outcome.add_cell(cell.outputs, time.perf_counter() - begin)
            if profiled:
                # A scheduler may live in the kernel's event loop, which has to go on.
                written = f"_asyncio.to_thread(_recorded.write, {str(recorded)!r}, {_NAME!r}, 20)"
                _hidden(client, f"import asyncio as _asyncio, recorded as _recorded\nawait {written}")
                outcome.recorded, outcome.notes = json.loads(recorded.read_text(encoding="utf-8"))
            _hidden(client, f"_ground_truth.write({str(ran)!r})")
            outcome.tasks = [(c, k, h) for c, k, h in json.loads(ran.read_text(encoding="utf-8"))]
        except (CellTimeoutError, DeadKernelError, FileNotFoundError) as error:
            outcome.died = f"{type(error).__name__} in cell {len(outcome.texts) + 1}"
    return outcome


def _copy_of(path: Path) -> Path:
    """Return where a notebook runs: beside its folder, so that what it has of other folders is found."""
    folder = path.resolve().parent
    return folder.with_name(f"{folder.name}.run-{os.getpid()}")


@contextmanager
def _copied(path: Path) -> Iterator[None]:
    """Have a copy of a notebook's folder, by hard links; of one name in all runs: notebooks show it."""
    copy = _copy_of(path)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(path.resolve().parent, copy, symlinks=True, copy_function=os.link)
    try:
        yield
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def _hidden(client: NotebookClient, code: str) -> None:
    """Run code that is no cell."""
    execute = run_sync(cast("AsyncKernelClient", client.kc).execute_interactive)
    reply: Any = execute(code, silent=True, output_hook=_printed, timeout=120)
    if reply["content"]["status"] == "error":
        print("\n".join(reply["content"]["traceback"]), file=sys.stderr)


def _printed(message: dict[str, Any]) -> None:
    if message["msg_type"] == "stream":
        print(message["content"]["text"], end="", file=sys.stderr)


def _is_profilable(source: str) -> bool:
    first = source.lstrip().split(maxsplit=1)[0]
    return not first.startswith("%%") or first in _NESTABLE


if __name__ == "__main__":
    sys.exit(main())
