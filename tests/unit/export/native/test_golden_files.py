"""Files that an earlier version wrote are read for ever."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import taskscope
from taskscope.codec import FORMAT
from tests.support.recordings.tables import as_lists

FILES = sorted((Path(__file__).parents[3] / "fixtures" / "files").glob("*.taskscope"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_golden_file_is_read_as_ever(path: Path) -> None:
    recording = taskscope.load(path)
    assert {
        "started_at": recording.started_at.isoformat(),
        "metadata": dict(recording.metadata),
        "dropped": recording.dropped,
        "tables": as_lists(recording),
    } == json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def test_there_is_a_whole_and_a_killed_file_of_every_version() -> None:
    names = [f"v{version}-{kind}" for version in range(1, FORMAT + 1) for kind in ("killed", "whole")]
    assert [path.stem for path in FILES] == names
