"""Takes computes out of a page that shows them: as a file beside the notebook, or compared with others."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from taskscope.errors import ExistingFileError
from taskscope.jupyter.feed.verbs import BadRequestError, FileFormat
from taskscope.model.errortext import describe
from taskscope.model.tables.records import Run
from taskscope.recording import Recording, compare, recorded
from taskscope.report.comparison import comparison_page
from taskscope.session import Session

_T = TypeVar("_T")

MAX_PAGE_CHARS = 2_000_000
"""Longest comparison that is sent to a page: the server lets a kernel send some megabytes at a time."""

_MAX_SAME_NAME = 100
_EXTENSIONS: Mapping[FileFormat, str] = {"taskscope": ".taskscope", "html": ".html", "trace": ".trace.json"}


class Keeping:
    """Writes and compares recordings of a session, on the thread that asks.

    That is the page's subshell, which does nothing else meanwhile; what the page is sent goes on coming from
    another. An answer from a third thread would make ipykernel send all that the page asks from then on to
    that thread's shell: a comm is heard where it last spoke.
    """

    def __init__(
        self,
        session: Session,
        *,
        folder: Callable[[], Path] | None = None,
        clock: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._session = session
        self._folder = folder or notebook_folder
        self._clock = clock

    def save(self, first_run: int, last_run: int | None, format_: FileFormat) -> Path:
        """Write a file and return its path."""
        return self._done(lambda: self._write(self._runs(first_run, last_run), format_))

    def compare(self, first_run: int, last_run: int | None) -> str:
        """Return a page that compares the computes of a cell with those of its execution before."""
        before, after = self._executions(self._runs(first_run, last_run))
        return self._done(lambda: self._compared(before, after))

    def _done(self, act: Callable[[], _T]) -> _T:
        try:
            self._session.cluster.catch_up()
            return act()
        except BadRequestError:
            raise
        except Exception as error:  # whatever it is, the person who waits is told
            raise BadRequestError(describe(error)) from error

    def _runs(self, first_run: int, last_run: int | None) -> list[Run]:
        runs = self._session.recorder.runs(first_run, last_run)
        if not runs:
            raise BadRequestError("none of these computes is kept any more: max_tasks was reached")
        return runs

    def _executions(self, shown: list[Run]) -> tuple[list[Run], list[Run]]:
        """Return the computes of a cell's execution before, and all of the one of which some are shown."""
        of_cells = {(run.cell, run.execution_count) for run in shown}
        cell, count = next(iter(of_cells))
        if len(of_cells) > 1 or cell is None or count is None:
            raise BadRequestError("these computes are not of one cell: show one of them, then compare")
        all_runs = [run for run in self._session.recorder.runs() if run.cell == cell]
        earlier = [run for run in all_runs if run.run < shown[0].run and run.execution_count != count]
        if not earlier:
            raise BadRequestError("this cell has computed only once, as far as is recorded: run it again")
        before = [run for run in earlier if run.execution_count == earlier[-1].execution_count]
        return before, [run for run in all_runs if run.execution_count == count]

    def _recording(self, runs: list[Run]) -> Recording:
        return recorded(self._session, self._session.recorder.runs(runs[0].run, runs[-1].run))

    def _write(self, runs: list[Run], format_: FileFormat) -> Path:
        recording = self._recording(runs)
        write = {"html": recording.to_html, "trace": recording.to_chrome_trace}.get(format_, recording.save)
        stem = f"{_notebook_name()}-{_name(runs)}-{self._clock():%Y%m%d-%H%M%S}"
        for number in range(1, _MAX_SAME_NAME):
            path = self._folder() / f"{stem}{f'-{number}' if number > 1 else ''}{_EXTENSIONS[format_]}"
            try:
                write(path)
            except ExistingFileError:
                continue
            return path
        raise ExistingFileError(f"cannot write {stem!r}: {_MAX_SAME_NAME - 1} files of that name exist")

    def _compared(self, before: list[Run], after: list[Run]) -> str:
        page = comparison_page(compare(self._recording(before), self._recording(after)))
        if len(page) > MAX_PAGE_CHARS:
            raise BadRequestError(
                f"the comparison is too long for the page ({len(page):,} characters);"
                " taskscope.compare(before, after) has it"
            )
        return page


def notebook_folder() -> Path:
    """Return the folder of the notebook where the server says which that is, else the kernel's."""
    folder = Path(os.environ.get("JPY_SESSION_NAME", "")).parent
    return folder if folder.is_absolute() and folder.is_dir() else Path.cwd()


def _notebook_name() -> str:
    return _as_name(Path(os.environ.get("JPY_SESSION_NAME", "")).stem) or "dask"


def _name(runs: list[Run]) -> str:
    """Return what computes are called: by their label, by their cell's prompt, or that they are several."""
    labels, counts = {run.label for run in runs}, {run.execution_count for run in runs}
    label, count = next(iter(labels)), next(iter(counts))
    if len(labels) == 1 and label and _as_name(label):
        return _as_name(label)
    return f"In-{count}" if len(counts) == 1 and count is not None else "computes"


def _as_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text)[:60].strip("-.")
