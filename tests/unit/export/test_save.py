from __future__ import annotations

import csv
import errno
import json
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

import taskscope
from taskscope.errors import DamagedFileError, FileError, OptionError
from taskscope.export import arrow, check_target
from taskscope.model.recording import Recording
from taskscope.model.records import Message
from taskscope.model.tables import TABLES
from tests.support.recordings import ZERO_S, recording_of, run_of
from tests.support.task_blocks import Row


@pytest.fixture
def recording() -> Recording:
    rows = [
        Row(key=("inc-1", 0, 7), stop_s=1.0, cpu_s=0.5, size_bytes=8.0),
        Row(key="=cmd|'/c'!A1", lane=1, stop_s=0.5, status="erred"),
        Row(key=("add-1",), run=1, start_s=1.0, stop_s=1.5, observed_by="scheduler"),
    ]
    runs = [run_of(n_tasks=2, status="erred", error="ValueError: no"), run_of(1, n_tasks=1, start_s=1.0)]
    return recording_of(
        rows,
        runs,
        resources=[(0.5, np.nan, 7e6, 1, 0.0)],
        messages=[Message(ZERO_S, "info", "hello")],
        metadata={"label": "x", "dt_s": 0.25},
    )


def as_lists(recording: Recording) -> dict[str, dict[str, list[object]]]:
    return {
        name: {
            column: [repr(v) for v in np.asarray(values, object)]
            for column, values in recording.table(name).items()
        }
        for name in TABLES
    }


def test_a_saved_recording_comes_back_with_all_its_tables(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "a.taskscope")
    loaded = taskscope.load(tmp_path / "a.taskscope")
    assert as_lists(loaded) == as_lists(recording)
    assert (loaded.summary(), loaded.started_at, loaded.metadata) == (
        recording.summary(),
        recording.started_at,
        recording.metadata,
    )


def test_an_empty_recording_comes_back(tmp_path: Path) -> None:
    recording_of([]).save(tmp_path / "a.taskscope")
    assert as_lists(taskscope.load(tmp_path / "a.taskscope")) == as_lists(recording_of([]))


def test_a_truncated_file_is_damaged_at_every_length(recording: Recording, tmp_path: Path) -> None:
    path = tmp_path / "a.taskscope"
    recording.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedFileError, match="cannot load"):
            taskscope.load(path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"hello", b"\x80\x04K\x01."])
def test_a_file_of_another_kind_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.taskscope"
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match="not a"):
        taskscope.load(path)


def test_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        taskscope.load(tmp_path / "a.taskscope")


def test_text_is_the_summary(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == recording.summary() + "\n"


def test_html_is_one_document(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_csv_disarms_formulas_and_leaves_the_unknown_empty(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["key"], row["cpu_s"]) for row in rows] == [
        ("('inc-1', 0, 7)", "0.5"),
        ("'=cmd|'/c'!A1", ""),
        ("('add-1',)", ""),
    ]


def test_json_has_null_for_the_unknown(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (content["tasks"]["cpu_s"], content["resources"]["cpu_percent"]) == ([0.5, None, None], [None])


def test_parquet_has_the_tasks(recording: Recording, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="PyArrow is optional")
    recording.save(tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet").to_pydict()
    assert (table["prefix"], table["cpu_s"]) == (["inc", "=cmd|'/c'!A1", "add"], [0.5, None, None])


def test_a_file_is_not_replaced_unasked(recording: Recording, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("mine")
    with pytest.raises(FileError, match=r"a file of that name exists; pass overwrite=True"):
        recording.save(path)
    assert path.read_text() == "mine"
    recording.save(path, overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("taskscope")


def test_a_symbolic_link_is_replaced_and_never_followed(recording: Recording, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "a.txt"
    target.write_text("mine")
    link.symlink_to(target)
    with pytest.raises(FileError, match="a symbolic link of that name exists"):
        recording.save(link)
    recording.save(link, overwrite=True)
    assert (target.read_text(), link.is_symlink()) == ("mine", False)


def test_a_full_disk_leaves_the_old_file_and_no_rubbish(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.taskscope"
    path.write_text("mine")

    def fill(recording: Recording, file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setitem(taskscope.export.save.__globals__["FORMATS"], ".taskscope", fill)
    with pytest.raises(FileError, match="No space left on device; the recording is still in memory"):
        recording.save(path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["a.taskscope"]
    assert path.read_text() == "mine"


def test_what_could_not_be_saved_is_said_before_there_is_anything_to_save(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist; make it first"):
        check_target(tmp_path / "no" / "a.txt")
    (tmp_path / "d.txt").mkdir()
    with pytest.raises(FileError, match="it is a directory; name a file"):
        check_target(tmp_path / "d.txt")
    with pytest.raises(OptionError, match=r"by its extension; did you mean '\.html'\?"):
        check_target(tmp_path / "a.htm")


def test_a_newer_version_of_the_format_is_named(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow, "_VERSION", 2)
    recording.save(tmp_path / "a.taskscope")
    monkeypatch.undo()
    with pytest.raises(DamagedFileError, match="version 2 of the format, this taskscope reads 1"):
        taskscope.load(tmp_path / "a.taskscope")
