"""What may not leave the machine is in no file, whatever its format."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

import taskscope
from taskscope.codec import Budget, read_frames
from taskscope.errors import OptionError
from taskscope.model.redaction import without_credentials
from taskscope.model.tables.activities import FAILED_ATTEMPT, ActivityColumns, ActivityRows
from taskscope.model.tables.records import Message
from taskscope.recording import Recording
from taskscope.report import result_bundle
from tests.support.files.perfetto import packets_of
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row

URL = "s3://user:hunter2@bucket7/x?X-Amz-Signature=hunter2&part=7"
SAFE_URL = "s3://***@bucket7/x?X-Amz-Signature=***&part=7"


@pytest.fixture
def secret() -> Recording:
    recording = recording_of(
        [Row(key=(f"read-{URL}", 0)), Row(key=URL, status="erred")],
        [run_of(n_tasks=2, status="erred", error=f"OSError: {URL}")],
        messages=[Message(ZERO_S, "warning", f"cannot read: {URL}")],
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


def save_all(recording: Recording, folder: Path, *, redact: bool) -> dict[str, str]:
    for extension in (".taskscope", ".html", ".txt", ".csv", ".json"):
        recording.save(folder / f"a{extension}", redact=redact)
    recording.to_chrome_trace(folder / "trace.json", redact=redact)
    recording.to_perfetto(folder / "a.pftrace", redact=redact)
    recording.to_csv(folder / "csv", redact=redact)
    packed = {".taskscope", ".pftrace"}
    texts = {
        p.name: p.read_text("utf-8") for p in folder.rglob("*") if p.is_file() and p.suffix not in packed
    }
    texts["a.pftrace"] = "".join(map(str, packets_of((folder / "a.pftrace").read_bytes())))
    frames = read_frames(BytesIO((folder / "a.taskscope").read_bytes()), Budget(2**20))
    return texts | {"a.taskscope": "".join(content.decode("latin-1") for _, content in frames)}


def test_credentials_in_urls_reach_no_file(secret: Recording, tmp_path: Path) -> None:
    for name, text in save_all(replace(secret, metadata={"label": URL}), tmp_path, redact=False).items():
        assert "hunter2" not in text, name
    assert "hunter2" not in result_bundle(secret)["text/html"].replace("hunter2.example.org", "")
    loaded = taskscope.load(tmp_path / "a.taskscope")
    assert list(loaded.table("tasks")["key"]) == [f"('read-{SAFE_URL}', 0)", SAFE_URL]
    assert loaded.runs[0].error == f"OSError: {SAFE_URL}"
    assert loaded.activities.sources == ("", f"OSError: {SAFE_URL} (attempt 1)", "tcp://***@10.0.0.1:4001")


def test_with_redact_no_name_is_left_and_equal_names_stay_equal(secret: Recording, tmp_path: Path) -> None:
    for name, text in save_all(secret, tmp_path, redact=True).items():
        assert [word for word in ("bucket7", "example.org", "read-s3") if word in text] == [], name
    loaded = taskscope.load(tmp_path / "a.taskscope")
    tasks = {column: list(values) for column, values in loaded.table("tasks").items()}
    assert (loaded.runs[0].error, loaded.messages[0].text) == ("OSError", "cannot read")
    assert loaded.activities.sources == ("", "OSError", "tcp://***@10.0.0.1:4001")
    assert (tasks["error"], loaded.lanes[0].label) == ([None, "OSError"], "lane 0")
    assert tasks["key"][0] == f"('{tasks['group'][0]}', 0)"
    assert len({*tasks["key"], *tasks["group"], *tasks["prefix"]}) == len(
        {*secret.table("tasks")["key"], *secret.table("tasks")["group"], *secret.table("tasks")["prefix"]}
    )


def test_a_function_gives_each_name_its_replacement(secret: Recording, tmp_path: Path) -> None:
    secret.save(tmp_path / "a.json", redact=lambda text: f"<{len(text)}>")
    tasks = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["tasks"]
    assert tasks["key"] == [f"('<{len(SAFE_URL) + 5}>', 0)", f"<{len(SAFE_URL)}>"]


@pytest.mark.parametrize(
    ("redact", "message"),
    [(7, "redact must be True, False or a function of a text, got 7"), (len, "must return text, got ")],
)
def test_what_cannot_redact_is_refused_and_nothing_is_written(
    redact: Callable[[str], str], message: str, secret: Recording, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=message):
        secret.save(tmp_path / "a.json", redact=redact)
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
