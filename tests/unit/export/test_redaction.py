"""What may not leave the machine is in no file, whatever its format."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

import taskscope
from taskscope.errors import OptionError
from taskscope.model.redaction import without_credentials
from taskscope.model.tables.activities import FAILED_ATTEMPT, ActivityColumns, ActivityRows
from taskscope.record.messages import warning
from taskscope.recording import Recording
from tests.support.files.contents import saved_contents
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row

URL = "s3://user:hunter2@bucket7/x?X-Amz-Signature=hunter2&part=7"
SAFE_URL = "s3://***@bucket7/x?X-Amz-Signature=***&part=7"


@pytest.fixture
def secret() -> Recording:
    recording = recording_of(
        [Row(key=(f"read-{URL}", 0)), Row(key=URL, status="erred")],
        [run_of(n_tasks=2, status="erred", error=f"OSError: {URL}")],
        messages=[warning(ZERO_S, "cannot read: %s", URL)],
        metadata={"label": URL, "host": "hunter2.example.org", "error": f"OSError: {URL}"},
    )
    graph = replace(recording.graphs[0], errors={1: f"OSError: {URL}"})
    lanes = tuple(replace(lane, label=f"thread {URL}") for lane in recording.lanes)
    rows = ActivityRows.of(
        [(0, 0, 0, FAILED_ATTEMPT, ZERO_S, 0.5, 1, math.nan, 0), (0, 0, 0, 0, ZERO_S, 0.5, 2, math.nan, 0)]
    )
    sources = ("", f"OSError: {URL} (attempt 1)", "tcp://user:hunter2@10.0.0.1:4001")
    return replace(
        recording,
        graphs={0: graph},
        lanes=lanes,
        runs=(replace(recording.runs[0], label=URL, largest_argument=f"('read-{URL}', 0)"),),
        activities=ActivityColumns(rows, sources),
    )


def test_credentials_in_urls_reach_no_file(secret: Recording, tmp_path: Path) -> None:
    for name, text in saved_contents(
        replace(secret, metadata={"label": URL}), tmp_path, redact=False
    ).items():
        assert b"hunter2" not in text, name
    assert "hunter2" not in secret._repr_mimebundle_()["text/html"].replace("hunter2.example.org", "")
    loaded = taskscope.load(tmp_path / "whole.taskscope")
    assert list(loaded.table("tasks")["key"]) == [f"('read-{SAFE_URL}', 0)", SAFE_URL]
    assert loaded.runs[0].error == f"OSError: {SAFE_URL}"
    assert loaded.activities.sources == ("", f"OSError: {SAFE_URL} (attempt 1)", "tcp://***@10.0.0.1:4001")


def test_with_redact_equal_names_stay_equal(secret: Recording, tmp_path: Path) -> None:
    secret.save(tmp_path / "a.taskscope", redact=True)
    loaded = taskscope.load(tmp_path / "a.taskscope")
    tasks = {column: list(values) for column, values in loaded.table("tasks").items()}
    assert (loaded.runs[0].error, loaded.messages[0].text) == ("OSError", "cannot read: ***")
    assert loaded.activities.sources == ("", "OSError", "tcp://name-7:4001")
    assert (tasks["error"], loaded.lanes[0].label) == ([None, "OSError"], "lane 0")
    assert tasks["key"][0] == f"('{tasks['group'][0]}', 0)"
    assert len({*tasks["key"], *tasks["group"], *tasks["prefix"]}) == len(
        {*secret.table("tasks")["key"], *secret.table("tasks")["group"], *secret.table("tasks")["prefix"]}
    )


def test_what_is_neither_true_nor_false_is_refused_and_nothing_is_written(
    secret: Recording, tmp_path: Path
) -> None:
    for refused in (7, str.upper):
        with pytest.raises(OptionError, match="redact must be True or False, got "):
            secret.save(tmp_path / "a.json", redact=refused)  # type: ignore[arg-type]  # refused
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no url: a@b?token=1", "no url: a@b?token=1"),
        ("https://u:p@h:80/p", "https://***@h:80/p"),
        ("https://h/@scope/x", "https://h/@scope/x"),
        ("https://u:p@ss@h/x", "https://***@h/x"),
        ("az://c/x?sv=1&SIG=a%2Fb#f", "az://c/x?sv=1&SIG=***#f"),
        ("('read-s3://u:p@h', 1)", "('read-s3://***@h', 1)"),
        ("a://u@h b://v:w@h?api_key=k", "a://***@h b://***@h?api_key=***"),
    ],
)
def test_credentials_are_found_wherever_a_url_has_them(text: str, expected: str) -> None:
    assert without_credentials(text) == expected
