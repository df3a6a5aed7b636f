"""What public functions raise for values that cannot work: the value, what was expected, what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import taskscope
from taskscope.diagnostics import Profiler, visualize
from taskscope.errors import OptionError
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row

RECORDING = recording_of([Row()])
NO_PATH = "must be a path, as text or a Path, got 3"
NO_RECORDING = "must be a taskscope.Recording, such as taskscope.load(file), got"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: taskscope.load(cast("Any", 3)), f"path {NO_PATH}"),
        (lambda: RECORDING.save(cast("Any", 3)), f"path {NO_PATH}"),
        (lambda: RECORDING.to_csv(cast("Any", 3)), f"directory {NO_PATH}"),
        (lambda: visualize(Profiler(), cast("Any", 3)), f"filename {NO_PATH}"),
        (
            lambda: taskscope.load("run.taskscope", max_bytes=-1),
            "max_bytes must be a positive whole number of bytes, got -1",
        ),
        (lambda: taskscope.compare(RECORDING, cast("Any", None)), f"after {NO_RECORDING} None"),
        (
            lambda: taskscope.compare(cast("Any", "a.taskscope"), RECORDING),
            f"before {NO_RECORDING} 'a.taskscope'",
        ),
        (lambda: visualize([3]), "profilers must be a profiler or a list of them, got 3"),
    ],
)
def test_a_value_of_another_type_is_named_with_what_was_expected(
    call: Callable[[], object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        call()
    assert list(tmp_path.iterdir()) == []
