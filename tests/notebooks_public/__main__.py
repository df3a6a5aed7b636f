"""Run notebooks that are not ours, plain and with ``%%profile`` on every cell, and say what differs.

    python -m tests.notebooks_public FOLDER_OR_NOTEBOOK…

runs each notebook three times, in the environment that it is called with: twice as it stands, once profiled.
It says, cell by cell, what a user would see changed (values, text, exceptions; lines in which the plain runs
differ are left out), which tasks the schedulers ran that no recording has, or the other way round, and the
seconds of both. Notebooks run as their authors wrote them: those that need a network or a library that is not
there fail in all three runs, and are compared as far as they go. Not part of ``make test``: the notebooks of
dask-examples and dask-tutorial are to be cloned beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import nbformat
from jupyter_client.asynchronous.client import AsyncKernelClient
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import run_sync

_HERE = Path(__file__).parent
_NAME = "_taskscope_of_cell_"
_NESTABLE = ("%%time", "%%timeit")
_TIMING = re.compile(r"CPU times: |Wall time: |\S+ \S+ ± ")


@dataclass
class _Outcome:
    """What one run of a notebook has shown and done."""

    texts: list[list[str]] = field(default_factory=list)
    """The lines that each code cell has shown, without what taskscope shows."""
    seconds: list[float] = field(default_factory=list)
    tasks: list[tuple[int, str, str]] = field(default_factory=list)
    """Of each task that ran: its cell, key and outcome."""
    recorded: list[tuple[int, int, str, str]] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)
    died: str = ""


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
        said = list(_compared(path, given.timeout))
        n_differ += any(line.startswith("!") for line in said)
        print("\n".join(f"  {line}" for line in said), flush=True)
    print(f"{len(notebooks)} notebooks, {n_differ} of them differ")
    return n_differ


def _notebooks(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(p for p in path.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
    return [path]


def _compared(path: Path, timeout: int) -> Iterator[str]:
    """Yield what there is to say of a notebook; what begins with ``!`` should not be."""
    plain, again = _run(path, timeout), _run(path, timeout)
    profiled = _run(path, timeout, profiled=True)
    for outcome, name in ((plain, "plain"), (profiled, "profiled")):
        if outcome.died:
            yield f"{'!' if outcome is profiled and not plain.died else ''} {name}: {outcome.died}"
    for cell, texts in enumerate(zip(plain.texts, again.texts, profiled.texts, strict=False), start=1):
        yield from _compared_texts(cell, *texts)
    same = Counter(key for _, key, _ in plain.tasks) == Counter(key for _, key, _ in profiled.tasks)
    n = {"plain": len(plain.tasks), "again": len(again.tasks), "profiled": len(profiled.tasks)}
    yield f"tasks that ran: {n}, {'the same' if same else 'other'} keys"
    ran = Counter((key, how) for _, key, how in profiled.tasks)
    recorded = Counter((key, how) for _, _, key, how in profiled.recorded if how in {"memory", "erred"})
    cells = {key: cell for cell, key, _ in profiled.tasks}
    for what, left in (("ran, not recorded", ran - recorded), ("recorded, did not run", recorded - ran)):
        by_cell = Counter[int]()
        for (key, _), count in left.items():
            by_cell[cells.get(key, 0)] += count
        if left:
            shown = ", ".join(key for key, _ in list(left)[:3])
            yield f"! {what}: {left.total()} tasks, by cell {dict(sorted(by_cell.items()))}; such as {shown}"
    others = Counter(how for *_, how in profiled.recorded if how not in {"memory", "erred"})
    if others:
        yield f"recorded otherwise: {dict(others)}"
    yield from (f"message in cell {cell}: {text}" for cell, text in profiled.notes)
    seconds = [sum(o.seconds) for o in (plain, again, profiled)]
    slower = [
        (round(p - max(a, b), 2), cell)
        for cell, (a, b, p) in enumerate(zip(plain.seconds, again.seconds, profiled.seconds, strict=False), 1)
    ]
    yield (
        f"seconds plain {seconds[0]:.1f} and {seconds[1]:.1f}, profiled {seconds[2]:.1f}; "
        f"cells that took longest more: {sorted(slower, reverse=True)[:3]}"
    )


def _compared_texts(cell: int, plain: list[str], again: list[str], profiled: list[str]) -> Iterator[str]:
    if plain != profiled and plain == again:
        missing, new = Counter(plain) - Counter(profiled), Counter(profiled) - Counter(plain)
        yield f"! cell {cell}: plain has {list(missing)[:3]!r:.300}, profiled has {list(new)[:3]!r:.300}"
    elif plain != profiled:
        # Lines differ from run to run; what a line says of its kind does not.
        texts = (plain, again, profiled)
        kinds = [Counter(re.sub(r"[\W\d_]+", " ", line)[:40] for line in text) for text in texts]
        if new := kinds[2] - (kinds[0] | kinds[1]):
            yield f"? cell {cell}: only profiled: {list(new)[:3]!r:.300}"


def _run(path: Path, timeout: int, *, profiled: bool = False) -> _Outcome:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    outcome = _Outcome()
    os.environ["PYTHONPATH"] = f"{_HERE}"
    os.environ["DASK_DISTRIBUTED__SCHEDULER__PRELOAD"] = '["ground_truth"]'
    client = NotebookClient(
        notebook, timeout=timeout, allow_errors=True, resources={"metadata": {"path": f"{path.parent}"}}
    )
    with tempfile.TemporaryDirectory() as folder, client.setup_kernel():
        ran, recorded = Path(folder, "ran.json"), Path(folder, "recorded.json")
        _hidden(client, "import ground_truth as _ground_truth\n_ground_truth.follow_local_schedulers()")
        if profiled:
            _hidden(client, "%load_ext taskscope")
        try:
            for index, cell in enumerate(code, start=1):
                if profiled and _is_profilable(cell.source):
                    cell.source = f"%%profile -o {_NAME}{index}\n{cell.source}"
                _hidden(client, f"_ground_truth.begin_cell({index})")
                begin = time.perf_counter()
                client.execute_cell(cell, notebook.cells.index(cell))
                outcome.seconds.append(time.perf_counter() - begin)
                outcome.texts.append(list(_lines(cell.outputs)))
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


def _lines(outputs: list[Any]) -> Iterator[str]:
    """Yield what a cell shows as text, without what taskscope shows and what differs from run to run."""
    yield from (line for line in _all_lines(outputs) if not _TIMING.match(line))


def _all_lines(outputs: list[Any]) -> Iterator[str]:
    for output in outputs:
        if output.output_type == "error":
            yield f"{output.ename}: {output.evalue}"
        elif output.output_type == "stream":
            yield from output.text.splitlines()
        elif output.output_type == "execute_result" and "text/plain" in output.data:
            yield from output.data["text/plain"].splitlines()


if __name__ == "__main__":
    sys.exit(main())
