"""What a page takes out: a file that replaces nothing, a comparison with the cell's execution before."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from taskscope.export.saved import notebook_folder
from taskscope.jupyter.feed.actions import Keeping
from taskscope.jupyter.feed.requests import BadRequestError, FileFormat
from taskscope.session import Session
from tests.support.recordings.run_writing import begin_run, end_run, write_task

NOW = datetime(2026, 11, 23, 5, 12)  # noqa: DTZ001 - local time, as a clock in the room


class World:
    """Computes of a session, kept into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session = Session()
        self.keeping = Keeping(self.session, folder=lambda: self.folder, clock=lambda: NOW)

    def compute(
        self,
        cell: str | None,
        count: int | None,
        keys: tuple[str, ...] = ("x-1",),
        *,
        label: str | None = None,
    ) -> int:
        log = begin_run(self.session.recorder, dict.fromkeys(keys, ()))
        log.cell, log.execution_count, log.label = cell, count, label
        origin = self.session.recorder.origin
        for place, key in enumerate(keys):
            write_task(log, key, origin + place, origin + place + 1)
        end_run(log, stop=origin + len(keys))
        self.session.recorder.pull()
        return log.run

    def save(self, first: int, last: int | None, format_: FileFormat = "taskscope") -> Path:
        return self.keeping.save(first, last, format_)

    def refusal(self, first: int, last: int | None, *format_: FileFormat) -> str:
        with pytest.raises(BadRequestError) as refused:
            self.keeping.save(first, last, *format_) if format_ else self.keeping.compare(first, last)
        return str(refused.value)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("JPY_SESSION_NAME", "/books/my work.ipynb")
    return World(tmp_path)


def test_computes_are_saved_once_and_no_file_is_ever_replaced(world: World) -> None:
    runs = [world.compute("a", 4, label="load & sum/../x") for _ in range(2)]
    paths = [world.save(run, run) for run in (*runs, *runs)]
    stem = "my-work-load-sum-..-x-20261123-051200"
    assert [path.name for path in paths] == [f"{stem}.taskscope", f"{stem}-2.taskscope"] * 2
    assert sorted(world.folder.iterdir()) == sorted({*paths})
    paths[0].unlink()
    assert [world.save(run, run) for run in runs] == paths[:2]


def test_files_go_to_the_folder_of_the_notebook_where_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path)
    found = []
    for name in (str(tmp_path / "work" / "a.ipynb"), "a.ipynb", str(tmp_path / "gone" / "a.ipynb"), ""):
        monkeypatch.setenv("JPY_SESSION_NAME", name)
        found.append(notebook_folder())
    assert found == [tmp_path / "work", tmp_path, tmp_path, tmp_path]
