"""What the browser is to make of a file: written here, compared with its own reading in vitest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import taskscope
from tests.support.files.document_fixture import files, messages_of, messages_path, told_by


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.stem))
def test_the_messages_that_the_browser_compares_with_are_those_of_the_file(path: Path) -> None:
    kept = json.loads(messages_path(path).read_text(encoding="utf-8"))
    assert told_by(messages_of(taskscope.load(path))) == told_by(kept)
