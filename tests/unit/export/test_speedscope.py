"""Call stacks for speedscope, held against the JSON schema that speedscope 1.25 ships."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from taskscope.cli import main
from taskscope.errors import OptionError
from taskscope.model.tables.stacks import LineRows
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "speedscope" / "file-format-schema.json").read_text()
)


@pytest.fixture
def recording() -> Recording:
    samples = [
        Sample(("f", "g"), 3, 0.3, start_s=1.0),
        Sample(("f",), 1, 0.1),
        Sample((), 2, 0.25, prefix="y", worker="5678"),
        Sample(("f", "</script>"), 1, 0.05, prefix="y"),
    ]
    label = {"label": "qr", "taskscope": "0.1.0"}
    return replace(recording_of([Row(key="x-1")], metadata=label), stacks=stacks_of(samples))


def test_each_worker_is_a_profile_of_stacks_under_prefixes(recording: Recording, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    recording.to_speedscope(path)
    content = json.loads(path.read_text())
    jsonschema.validate(content, SCHEMA)
    assert content == {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {
            "frames": [
                {"name": "f", "file": "f.py", "line": 1},
                {"name": "g", "file": "g.py", "line": 1},
                {"name": "</script>", "file": "</script>.py", "line": 1},
                {"name": "task x"},
                {"name": "task y"},
            ]
        },
        "profiles": [
            {
                "type": "sampled",
                "name": "worker 1234",
                "unit": "seconds",
                "startValue": 0.0,
                "endValue": pytest.approx(0.45),
                "samples": [[3, 0], [4, 0, 2], [3, 0, 1]],
                "weights": [0.1, 0.05, 0.3],
            },
            {
                "type": "sampled",
                "name": "worker 5678",
                "unit": "seconds",
                "startValue": 0.0,
                "endValue": 0.25,
                "samples": [[4]],
                "weights": [0.25],
            },
        ],
        "name": "qr",
        "activeProfileIndex": 0,
        "exporter": "taskscope 0.1.0",
    }


def test_the_command_line_writes_it_and_names_can_be_hidden(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "a.taskscope")
    assert main(["export", str(tmp_path / "a.taskscope"), "--to", "speedscope", "--redact"]) == 0
    text = (tmp_path / "a.speedscope.json").read_text()
    jsonschema.validate(json.loads(text), SCHEMA)
    assert "task x" not in text
    assert "qr" not in text


def test_without_call_stacks_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(OptionError, match="no call stacks to export; record it with stacks=True"):
        recording_of([Row(key="x-1")]).to_speedscope(path)
    assert list(tmp_path.iterdir()) == []


def test_lines_are_a_profile_of_their_own_below_their_functions(tmp_path: Path) -> None:
    stacks = stacks_of([Sample(("f", "g"), 3, 0.3)])
    # Lines 4 of f, 2 of g, and C code that Dask called: only what runs itself is a sample.
    lines = LineRows.of(
        [
            (0, 0, 0, 0, 4, 3, 0.3, 0.0, 0.0, 0.0, 0.03, 0.0),
            (0, 0, 0, 1, 2, 3, 0.3, 0.3, 0.0, 0.0, 0.03, 0.03),
            (0, 0, 0, -1, 0, 1, 0.1, 0.1, 0.0, 0.0, 0.01, 0.01),
        ]
    )
    path = tmp_path / "a.json"
    replace(recording_of([Row(key="x-1")]), stacks=replace(stacks, lines=lines)).to_speedscope(path)
    content = json.loads(path.read_text())
    jsonschema.validate(content, SCHEMA)
    assert content["shared"]["frames"][-1] == {"name": "g:2", "file": "g.py", "line": 2}
    assert content["profiles"][1] == {
        "type": "sampled",
        "name": "lines of worker 1234",
        "unit": "seconds",
        "startValue": 0.0,
        "endValue": 0.4,
        "samples": [[2, 1, 3], [2]],
        "weights": [0.3, 0.1],
    }
