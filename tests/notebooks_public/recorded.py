"""What ``%%profile`` has recorded in the cells of a kernel, written down at its end."""

from __future__ import annotations

import json
from pathlib import Path

from IPython.core.getipython import get_ipython

import taskscope
from taskscope.errors import StillRunningError

_OUTCOMES = {"finished": "memory", "erred": "erred"}


def write(path: str, prefix: str, wait_s: float) -> None:
    """Write down each task that a recording has: its cell, compute, key and outcome.

    A compute is told by the first cell that has it; later ones that waited for it have it, too.
    """
    shell = get_ipython()
    assert shell is not None
    recordings = {
        int(name.removeprefix(prefix)): value
        for name, value in shell.user_ns.items()
        if name.startswith(prefix) and isinstance(value, taskscope.Recording)
    }
    rows: dict[int, list[tuple[int, int, str, str]]] = {}
    notes: list[tuple[int, str]] = []
    for cell, recording in sorted(recordings.items()):
        try:
            whole = recording.wait(wait_s)
        except StillRunningError as error:
            notes.append((cell, str(error)))
            whole = recording
        tasks = whole.to_pandas("tasks")
        of_cell: dict[int, list[tuple[int, int, str, str]]] = {}
        for run, key, status in zip(tasks["run"], tasks["key"], tasks["status"], strict=True):
            of_cell.setdefault(run, []).append((cell, int(run), str(key), _OUTCOMES.get(status, status)))
        rows = of_cell | rows
        notes += [(cell, str(text)) for text in whole.to_pandas("messages")["text"]]
    Path(path).write_text(json.dumps([[row for of in rows.values() for row in of], notes]), encoding="utf-8")
