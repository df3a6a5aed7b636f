"""What `save=` leaves on disk while a block runs, and after it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import dask
import pytest

import taskscope
from taskscope.errors import ExistingFileError
from taskscope.export import FileStream
from taskscope.record import pump
from taskscope.session import current
from tests.support.recordings.tables import as_lists


def compute_until_a_message_has(text: str) -> None:
    def wait() -> None:
        deadline = time.monotonic() + 60
        while not any(text in m.text for m in current().recorder.messages) and time.monotonic() < deadline:
            time.sleep(0.01)

    dask.compute(dask.delayed(wait)(), scheduler="threads", num_workers=1)


def watch_flushes(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Return an event that is set when a stream has written its first frames, or failed to."""
    flushed = threading.Event()
    wait = threading.Event.wait

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            flushed.set()
            return wait(self, timeout)

    init = FileStream.__init__

    def watched(self: FileStream, *args: object, **options: object) -> None:
        init(self, *args, **options)  # type: ignore[arg-type]  # passed on as they came
        self._stop = Stop()

    monkeypatch.setattr(FileStream, "__init__", watched)
    return flushed


def test_the_file_is_there_while_the_block_runs_and_complete_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = tmp_path / "a.taskscope", tmp_path / "target"
    target.write_text("not ours")
    path.symlink_to(target)
    flushed = watch_flushes(monkeypatch)
    seen: list[taskscope.Recording] = []

    def look() -> None:
        assert flushed.wait(60)
        seen.append(taskscope.load(path))

    with taskscope.profile(label="a", save=path, overwrite=True, display=False) as run:
        dask.compute(dask.delayed(int)(1), dask.delayed(look)(), scheduler="threads", num_workers=2)
    (early,) = seen
    assert (early.metadata["truncated"], early.metadata["label"], early.runs[0].status) == (
        True,
        "a",
        "interrupted",
    )
    assert as_lists(taskscope.load(path)) == as_lists(run.recording)
    assert (target.read_text(), path.is_symlink()) == ("not ours", False)


def test_a_short_block_writes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = watch_flushes(monkeypatch)
    monkeypatch.setattr(pump, "TICK_S", 3600.0)  # shorter than a beat, however busy the machine
    with taskscope.profile(save=tmp_path / "a.taskscope", display=False) as run:
        dask.delayed(int)(1).compute(scheduler="synchronous")
    assert not flushed.is_set()
    assert as_lists(taskscope.load(tmp_path / "a.taskscope")) == as_lists(run.recording)


def test_a_folder_that_vanishes_is_noted_and_harms_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with taskscope.profile(save=folder / "a.taskscope", display=False) as run:
        folder.rmdir()
        compute_until_a_message_has(str(folder))
    notes = [message.text for message in run.recording.messages]
    assert [run.status for run in run.recording.runs] == ["finished"]
    assert len(notes) == 2
    assert notes[0].startswith("taskscope failed in writing")
    assert notes[1].startswith("not saved: FileError: cannot write")


def test_a_folder_that_vanishes_with_a_file_that_was_begun_is_no_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    flushed = watch_flushes(monkeypatch)
    with taskscope.profile(save=folder / "a.taskscope", display=False) as run:
        dask.compute(dask.delayed(flushed.wait)(60), scheduler="threads", num_workers=1)
        folder.rename(tmp_path / "elsewhere")
    (said,) = [m.text for m in run.recording.messages]
    assert said.startswith(f"not saved: FileError: cannot write '{folder}/a.taskscope': the directory")
    assert [record.message for record in caplog.records] == [said]


@pytest.mark.parametrize("name", ["a.taskscope", "a.txt"])
def test_a_file_that_exists_is_refused_before_anything_is_computed(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("mine")
    with pytest.raises(ExistingFileError, match="a file of that name exists; pass overwrite=True"):
        taskscope.profile(save=path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", ["a.taskscope", "a.txt"])
def test_a_file_that_comes_while_a_block_runs_is_not_replaced(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / name
    with taskscope.profile(save=path, display=False) as run:
        path.write_text("mine")
        assert dask.delayed(int)(1).compute(scheduler="synchronous") == 1
    assert path.read_text() == "mine"
    assert [r.status for r in run.recording.runs] == ["finished"]
    assert run.recording.messages[-1].text.startswith("not saved: ExistingFileError: cannot write")
    assert "not saved" in caplog.text
