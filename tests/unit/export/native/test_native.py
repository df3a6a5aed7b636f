from __future__ import annotations

import json
import random
import struct
import tracemalloc
import zlib
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import taskscope
from taskscope import codec
from taskscope.analysis.display import page_tables
from taskscope.codec import Budget, CutOffError, Encoder, budget_for, read_frames
from taskscope.errors import DamagedFileError
from taskscope.export.native.reader import read
from taskscope.model.public_tables import TABLES
from taskscope.model.redaction import redacted
from taskscope.model.streams import FILE
from taskscope.model.tables.stacks import LineRows
from taskscope.record import Recorder
from taskscope.recording import Recording
from taskscope.wire import writer
from tests.support.computes.random_graphs import Plan, plans, record
from tests.support.fakes.clock import FakeClock
from tests.support.files.cases import PATH, cases
from tests.support.files.streaming import StreamedFile, streamed
from tests.support.recordings.run_writing import begin_run, independent, lane_of, write_task
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.tables import as_lists, filed, rows
from tests.support.recordings.tables import written as whole
from tests.support.recordings.task_blocks import Row

Load: TypeAlias = Callable[..., Recording]
_STATUS, _QUEUED = (
    [column.name for column in TABLES["tasks"].columns].index(name) for name in ("status", "queued_s")
)
HEAD_BYTES = 32
LOST_WITH_THE_END = "this file is not complete: "
CUT_OFF_STREAM = "it ends before part 4 is complete; what follows after that is missing"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Recording]:
    path = tmp_path / "a.taskscope"
    path.touch()

    def load_bytes(content: bytes, **options: bool | int) -> Recording:
        # Over what was there: file systems flush a file that was emptied before it was written.
        with path.open("r+b", buffering=0) as file:
            file.write(content)
            file.truncate()
        return taskscope.load(path, **options)  # type: ignore[arg-type]  # the options of load

    return load_bytes


@pytest.fixture
def beginnings(
    tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[[bytes], Iterator[Recording | None]]:
    """Load a file at the lengths that it has while it is written; None where it cannot be read."""
    path = tmp_path / "growing.taskscope"
    # Places in frames of all kinds are met all the same.
    step = 1 if request.config.getoption("--thorough") else 5

    def load_each(content: bytes) -> Iterator[Recording | None]:
        # One file that grows: writing each anew takes longer than loading it.
        with path.open("wb", buffering=0) as file:
            for place in range(0, len(content), step):
                try:
                    yield taskscope.load(path)
                except DamagedFileError:
                    yield None
                file.write(content[place : place + step])

    return load_each


def frames_of(content: bytes) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    with suppress(CutOffError):
        for frame in read_frames(BytesIO(content), budget_for(len(content))):
            found.append(frame)  # noqa: PERF402 - those before the end are kept
    return found


def rebuilt(frames: list[tuple[int, bytes]]) -> bytes:
    encoder = Encoder(FILE, {}, level=1)
    return b"".join(encoder._frame(kind, content) for kind, content in frames)


@pytest.fixture
def many_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a frame written for each table."""
    monkeypatch.setattr(writer, "_BYTES", 0)


def rows_of(recording: Recording) -> dict[str, list[tuple[str, ...]]]:
    found = {name: rows(recording, name) for name in ("tasks", "resources", "dependencies")}
    # How long a task was queued is known once its whole graph is.
    found["tasks"] = [(*row[:_QUEUED], *row[_QUEUED + 1 :]) for row in found["tasks"]]
    return found


def assert_prefix(part: Recording, full: dict[str, list[tuple[str, ...]]]) -> None:
    """Everything in `part` is in `full`, tasks in the same order, and it says that it is not all."""
    found = rows_of(part)
    assert found["tasks"] == full["tasks"][: len(found["tasks"])]
    assert set(found["resources"]) <= set(full["resources"])
    assert set(found["dependencies"]) <= set(full["dependencies"])
    assert part.metadata["truncated"] is True
    assert part.messages[-1].text.startswith(LOST_WITH_THE_END)


def test_a_file_keeps_the_cell_of_a_compute_and_its_prompt_number(load: Load) -> None:
    run = replace(run_of(n_tasks=1), cell="0f3c-77", execution_count=3)
    assert load(whole(recording_of([Row(key="a")], [run]))).runs == (run,)


def test_nothing_of_the_text_of_a_cell_is_in_a_file(tmp_path: Path) -> None:
    run = replace(run_of(n_tasks=1), cell="0f3c-77", source_crc=7)
    recording_of([Row(key="a")], [run]).save(tmp_path / "a.taskscope")
    assert taskscope.load(tmp_path / "a.taskscope").runs == (replace(run, source_crc=None),)


def test_of_a_saved_file_that_is_cut_at_any_byte_every_whole_part_is_read(
    recording: Recording, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_tables, "_LEAST_PART", 1)
    content, full = whole(recording), rows_of(recording)
    # Of header, computes, and three parts with a task and its key each, the last one has the end.
    ends = ends_of(content)
    assert len(ends) == 5
    for length in range(1, len(content)):
        n_whole = bisect_right(ends, length)
        within = length - ([0, *ends])[n_whole] >= HEAD_BYTES
        problem = (
            f"it ends {'within' if within else 'before'} part {n_whole + 1}{'' if within else ' is complete'}"
        )
        with pytest.raises(DamagedFileError, match=f"cannot load .*: {problem}"):
            load(content[:length])
        if n_whole < 2:
            with pytest.raises(DamagedFileError, match=problem):
                load(content[:length], partial=True)
            continue
        part = load(content[:length], partial=True)
        assert_prefix(part, full)
        assert part.messages[-1].text.startswith(f"{LOST_WITH_THE_END}{problem}; what follows")
        assert (len(part.tasks), part.runs, part.dropped) == (n_whole - 2, recording.runs, 5 - n_whole)
        assert rows_of(part)["resources"] == full["resources"]
        assert {"tasks", "dependencies", "cache"} >= part.unknown >= {"tasks"}
        assert str(part.explain()).startswith("cannot say why, because ")
    assert as_lists(load(content)) == as_lists(recording)


def ends_of(content: bytes) -> list[int]:
    """Return the place behind each frame."""
    ends = [0]
    while ends[-1] < len(content):
        ends.append(ends[-1] + HEAD_BYTES + struct.unpack_from("<I", content, ends[-1] + 16)[0])
    return ends[1:]


def test_a_truncated_file_that_was_being_written_is_a_prefix(
    fake_clock: FakeClock, load: Load, beginnings: Callable[[bytes], Iterator[Recording | None]]
) -> None:
    content, live = streamed(fake_clock)
    recorder_s = redacted(live)
    tasks = rows(recorder_s, "tasks")
    all_rows = {name: rows(recorder_s, name) for name in ("dependencies", "workers", "resources")}
    entered = {row[:2] + row[4:5] for row in rows(recorder_s, "cache")}
    found: list[int] = []
    for part in chain(beginnings(content), [load(content)]):
        if part is None:
            assert not found, "only a file without its first frame cannot be read"
        else:
            # What was in flight at the end of the file is the only thing that more of the file changes.
            ended = [row for row in rows(part, "tasks") if row[_STATUS] == "'finished'"]
            assert ended == tasks[: len(ended)]
            part_s = {table: rows(part, table) for table in all_rows}
            for table, known in all_rows.items():
                assert part_s[table] == known[: len(part_s[table])]
            assert part.transfers == recorder_s.transfers[: len(part.transfers)]
            is_known = bool(part_s["dependencies"])
            assert part.unknown == (set() if is_known or not part.runs else {"cache", "dependencies"})
            # When something went is known only at the end.
            assert {row[:2] + row[4:5] for row in rows(part, "cache")} <= entered
            found.append(len(ended))
    assert (found[0], found[-1], found) == (0, 4, sorted(found))


def test_a_killed_process_leaves_what_it_had_recorded(fake_clock: FakeClock, load: Load) -> None:
    content, live = streamed(fake_clock)
    loaded = load(content)
    tables = as_lists(redacted(live))
    # It ran at the last flush, and nobody saw its end.
    tables["tasks"]["status"][-1], tables["tasks"]["stop_s"][-1] = "'interrupted'", "4.5"
    tables["activities"]["stop_s"][4] = "4.5"
    tables["runs"]["status"], tables["runs"]["stop_s"] = ["'interrupted'"], ["4.5"]
    for column, value in (
        ("time_s", "4.5"),
        ("level", "'warning'"),
        ("text", repr(LOST_WITH_THE_END + CUT_OFF_STREAM)),
        ("worker", "None"),
        ("event", "None"),
    ):
        tables["messages"][column].append(value)
    # What workers metered, and the sums by line, are written last.
    written_last = {"metrics", "lines", "measured_lines", "peak_lines"}
    tables["lines"] = {column: [] for column in tables["lines"]}
    assert as_lists(loaded) == tables
    assert {name for name, table in tables.items() if not all(map(len, table.values()))} == written_last
    stacks = replace(redacted(live).stacks, lines=LineRows.empty())
    assert repr(loaded.stacks) == repr(stacks)
    assert (len(loaded.stacks.rows), loaded.unknown) == (2, frozenset())
    assert dict(loaded.metadata) == {"label": "killed", "dt_s": 0.25, "truncated": True}
    assert "interrupted" in loaded.summary()


def test_a_killed_process_leaves_what_its_tasks_raised(fake_clock: FakeClock, load: Load) -> None:
    recorder = Recorder(clock=fake_clock)
    file = StreamedFile(recorder, first_run=1)
    logs = [begin_run(recorder, independent(["a", "b", "c"])) for _ in range(3)]
    for number, log in enumerate(logs):
        for place, key in enumerate(["a", "b", "c"]):
            at = log.start + number + place / 4
            if key == "b" or (number, key) == (1, "c"):
                lane = lane_of(log).key
                error = ValueError(f"{number} {key} of s3://me:pw@host/x")
                log.fail(key, lane, at, at + 0.125, 0.0, error)
            else:
                write_task(log, key, at, at + 0.125)
        file.flush()
    file.close()
    tasks = load(file.content()).table("tasks")
    found = {
        (run, key): error
        for run, key, error in zip(*(tasks[c] for c in ("run", "key", "error")), strict=True)
    }
    assert found == {
        (run, key): f"ValueError: {run} {key} of s3://***@host/x"
        if key == "b" or (run, key) == (1, "c")
        else None
        for run in (1, 2)
        for key in ("a", "b", "c")
    }


def flips(content: bytes, n: int) -> Iterator[bytes]:
    chance = random.Random(7)
    for _ in range(n):
        damaged = bytearray(content)
        place = chance.randrange(len(content) * 8)
        damaged[place // 8] ^= 1 << place % 8
        yield bytes(damaged)


@pytest.mark.usefixtures("many_frames")
def test_a_flipped_bit_is_an_error_or_on_request_a_prefix(
    recording: Recording, load: Load, request: pytest.FixtureRequest
) -> None:
    n_prefixes, full = 0, rows_of(recording)
    for content in flips(whole(recording), 10_000 if request.config.getoption("--thorough") else 400):
        with pytest.raises(DamagedFileError, match="cannot load"):
            load(content)
        try:
            part = load(content, partial=True)
        except DamagedFileError:
            continue
        else:
            assert_prefix(part, full)
            n_prefixes += 1
    assert n_prefixes > 40


HOSTILE_BASE = [
    frames_of(
        whole(recording_of([Row(key=("inc-1", 0, 7), cpu_s=0.5), Row(key="x", lane=1, status="erred")]))
    ),
    frames_of(streamed(FakeClock())[0]),
]


ODD = [b"null", b"-1", b"1e999", b"[[[[", b"NaN", b"{}", b'"', b"\xff\xff\xff\xff"]


@settings(max_examples=2_000)
@given(st.data())
def test_a_hostile_file_whose_checksums_are_right_is_an_error_or_a_recording(data: st.DataObject) -> None:
    frames = list(data.draw(st.sampled_from(HOSTILE_BASE)))
    place, other = (data.draw(st.integers(0, len(frames) - 1)) for _ in range(2))
    kind, content = frames[place]
    start = data.draw(st.integers(0, len(content)))
    new = data.draw(st.binary(max_size=8) | st.sampled_from(ODD))
    frames[place] = (kind, content[:start] + new + content[start + data.draw(st.integers(0, 8)) :])
    if data.draw(st.booleans()):
        frames[other], frames[place] = frames[place], frames[other]
    try:
        loaded = Recording.of(read(BytesIO(rebuilt(frames)), Budget(2**22), partial=data.draw(st.booleans())))
    except DamagedFileError:
        return
    as_lists(loaded)
    assert loaded.summary()


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(plans())
def test_whatever_was_recorded_comes_back_as_it_was(plan: Plan) -> None:
    recording = replace(record(plan)[0], metadata={"label": "\ud800 <b>"})
    loaded = filed(recording)
    assert as_lists(loaded) == as_lists(recording)
    assert (loaded.dropped, dict(loaded.metadata)) == (recording.dropped, dict(recording.metadata))


def test_facts_that_are_too_long_for_a_file_are_left_out_and_said(recording: Recording) -> None:
    long = {"label": "é" * 10_000_000, "notes": ["x"] * 20_000, "dt_s": 0.5}
    loaded = filed(replace(recording, metadata=long))
    assert dict(loaded.metadata) == {
        "label": "(left out: it is too long for a file, 60,000,002 characters of JSON)",
        "notes": "(left out: it is too long for a file, 80,001 characters of JSON)",
        "dt_s": 0.5,
    }


def test_the_cases_of_both_languages_are_written_and_refused(load: Load) -> None:
    # Files say which taskscope made them, and zlib has versions: what they say is what counts.
    kept = json.loads(PATH.read_text(encoding="utf-8"))
    assert kept["refused"].keys() == cases()["refused"].keys(), "run: python -m tests.support.files.cases"
    for name, (content, why) in kept["refused"].items():
        with pytest.raises(DamagedFileError) as caught:
            load(b64decode(content))
        assert why in str(caught.value), name


def test_a_decompression_bomb_is_refused_before_it_is_unpacked(
    recording: Recording, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = rebuilt([frames_of(whole(recording))[0], *[(1, bytes(15 * 2**20))] * 3])
    assert len(content) < 2**20
    unpacked: list[int] = []
    unpack_frame = codec._unpacked

    def watch(stored: bytes, n_bytes: int, part: str) -> bytes:
        unpacked.append(n_bytes)
        return unpack_frame(stored, n_bytes, part)

    monkeypatch.setattr(codec, "_unpacked", watch)
    with pytest.raises(
        DamagedFileError, match=r"it unpacks to more than it may; pass a larger max_bytes if you trust it"
    ):
        load(content, max_bytes=1_000_000)
    assert [n for n in unpacked if n > 10_000] == []


@pytest.mark.parametrize("claim", [0, 10, 2**26 + 1])
def test_a_part_that_unpacks_to_something_else_than_it_claims_is_refused(
    claim: int, recording: Recording, load: Load
) -> None:
    content = whole(recording)
    stored = zlib.compress(bytes(1_000_000))
    head = content[:12] + struct.pack("<IIII", 0, len(stored), claim, zlib.crc32(stored))
    with pytest.raises(DamagedFileError, match="claim"):
        load(head + struct.pack("<I", zlib.crc32(head)) + stored)


def test_parts_in_another_order_are_damaged(recording: Recording, load: Load) -> None:
    content = whole(recording)
    with pytest.raises(DamagedFileError, match="part 2 is out of place"):
        load(content[: ends_of(content)[0]] + content)


def test_a_newer_version_of_the_format_is_named(recording: Recording, load: Load) -> None:
    content = bytearray(whole(recording))
    content[4] = 3
    content[28:32] = struct.pack("<I", zlib.crc32(content[:28]))
    with pytest.raises(
        DamagedFileError, match=r"version 3 of the format and this taskscope reads 1; a newer taskscope may"
    ):
        load(bytes(content))


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"hello", b"\x80\x04K\x01.", b"<!DOCTYPE html>", b"ARROW1"]
)
def test_a_file_of_another_kind_is_refused(content: bytes, load: Load) -> None:
    with pytest.raises(DamagedFileError) as refused:
        load(content)
    begins = f"it begins with {content[:8]!r}" if content else "it is empty"
    assert str(refused.value).endswith(f"not a recording of taskscope: {begins}")


def test_loading_takes_little_more_memory_than_what_was_loaded(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_PART_ROWS", 1_000)
    n = 50_000
    content = whole(
        recording_of([Row(key=("f-1", i), start_s=i * 1e-4, stop_s=i * 1e-4 + 1.0) for i in range(n)])
    )
    load(content)
    tracemalloc.start()
    loaded = load(content)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(loaded.tasks) == n
    # It is 1.50.
    assert most / kept < 1.6
