from __future__ import annotations

import csv
import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

import taskscope
from taskscope.errors import FileError, MissingDependencyError, OptionError
from taskscope.export import check_target
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.tables import as_lists


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


def test_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        taskscope.load(tmp_path / "a.taskscope")


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


def test_without_pyarrow_parquet_alone_says_what_to_install_and_leaves_nothing_behind(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    writers: list[Callable[[], object]] = [
        lambda: recording.save(tmp_path / "a.parquet"),
        lambda: recording.to_parquet(tmp_path / "folder"),
        lambda: taskscope.profile(save=tmp_path / "a.parquet"),
    ]
    for write in writers:
        with pytest.raises(
            MissingDependencyError,
            match=r"^Parquet needs pyarrow; install it: pip install 'taskscope\[parquet\]'$",
        ):
            write()
    assert list(tmp_path.iterdir()) == []
    assert list(recording.to_pandas("tasks")["prefix"]) == ["inc", "=cmd|'/c'!A1", "add"]


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
    with pytest.raises(
        OptionError, match=r"its ending '\.htm' is not one of \.taskscope, .*; did you mean '\.html'\?"
    ):
        check_target(tmp_path / "a.htm")


def test_a_file_has_the_rights_of_any_new_one_and_the_mask_of_the_process_is_left_alone(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as watched:
            watched.setattr(os, "umask", lambda _mask: pytest.fail("other threads make files, too"))
            recording.save(tmp_path / "a.taskscope")
    finally:
        os.umask(before)
    assert oct((tmp_path / "a.taskscope").stat().st_mode & 0o777) == oct(0o640)
    assert [path.name for path in tmp_path.iterdir()] == ["a.taskscope"]


def test_savers_return_where_the_file_is(recording: Recording, tmp_path: Path) -> None:
    path = tmp_path / "a"
    saved = [
        recording.save(path.with_suffix(".taskscope")),
        recording.to_html(path),
        recording.to_perfetto(path.with_suffix(".x")),
        taskscope.compare(recording, recording).to_html(path.with_suffix(".html")),
        recording.to_csv(path.with_suffix(".csv")),
    ]
    assert saved == [path.with_suffix(suffix) for suffix in (".taskscope", "", ".x", ".html", ".csv")]
    assert all(each.exists() for each in saved)
    assert saved[-1]._repr_html_() == f"<code>{saved[-1]}</code>"


@pytest.mark.parametrize(
    ("name", "link", "text"),
    [
        ("a b.html", "../saved/a%20b.html", "a b.html"),
        ("javascript:alert(1).html", "../saved/javascript%3Aalert%281%29.html", "javascript:alert(1).html"),
        ("<b>\"&'.html", "../saved/%3Cb%3E%22%26%27.html", "&lt;b&gt;&quot;&amp;&#x27;.html"),
        (os.fsdecode(b"\xff\n.html"), "../saved/%FF%0A.html", None),
    ],
)
def test_a_notebook_shows_where_a_file_is_as_a_link_from_its_own_folder(
    recording: Recording,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    link: str,
    text: str | None,
) -> None:
    notebooks, folder = tmp_path / "notebooks", tmp_path / "saved"
    notebooks.mkdir()
    folder.mkdir()
    monkeypatch.setenv("JPY_SESSION_NAME", str(notebooks / "a.ipynb"))
    monkeypatch.chdir(folder)
    html = recording.to_html(name)._repr_html_()
    start, _, shown = html.removesuffix("</a>").partition('">')
    assert start == f'<a href="{link}'
    assert shown.isprintable()
    assert text is None or shown == text
    assert json.loads(json.dumps(html).encode()) == html
