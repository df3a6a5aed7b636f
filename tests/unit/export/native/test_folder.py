from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from taskscope.errors import FileError
from taskscope.model.public_tables import TABLES
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of


def test_parquet_has_every_table_with_its_types(recording: Recording, tmp_path: Path) -> None:
    recording.to_parquet(tmp_path / "out")
    assert sorted(p.stem for p in (tmp_path / "out").iterdir()) == sorted(TABLES)
    for name in TABLES:
        table = pq.read_table(tmp_path / "out" / f"{name}.parquet")
        expected = recording.to_pandas(name).astype(object)
        assert table.to_pydict() == expected.where(expected.notna(), None).to_dict("list")
    runs = pq.read_schema(tmp_path / "out" / "runs.parquet")
    assert (str(runs.field("label").type), str(runs.field("n_workers").type)) == ("string", "int64")


def test_csv_has_every_table_of_an_empty_recording_too(tmp_path: Path) -> None:
    recording_of([]).to_csv(tmp_path)
    for name in TABLES:
        with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            assert list(csv.reader(file)) == [list(recording_of([]).table(name))]


def test_one_file_that_is_there_stops_all(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "messages.csv").write_text("mine")
    with pytest.raises(FileError, match="pass overwrite=True"):
        recording.to_csv(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["messages.csv"]
    recording.to_csv(tmp_path, overwrite=True)
    assert (tmp_path / "messages.csv").read_text(encoding="utf-8").startswith("time_s")


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot make the directory"):
        recording.to_parquet(tmp_path / "no" / "where")
