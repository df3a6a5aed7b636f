from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import taskscope
from taskscope.analysis.redaction import redacted
from taskscope.analysis.summary import summary_text
from taskscope.errors import DamagedFileError
from taskscope.export import frames as frames_module
from taskscope.export import native
from taskscope.export.frames import CutOffError, FrameWriter, read_frames
from taskscope.export.load import _read
from taskscope.export.pack import pack, pieces, unpack
from taskscope.export.schema import SAMPLES
from taskscope.model.recording import RecordedData
from taskscope.record import Recorder
from tests.support.fake_clock import FakeClock
from tests.support.random_graphs import Plan, plans, record
from tests.support.recordings import recording_of, run_of
from tests.support.run_writing import begin_run, independent, lane_of, write_task
from tests.support.streaming import StreamedFile, streamed
from tests.support.tables import as_lists, rows
from tests.support.task_blocks import Row

Load: TypeAlias = Callable[..., RecordedData]
LOST_WITH_THE_END = "this file is not complete: "
CUT_OFF_STREAM = "it ends before part 32 is complete; what follows after that is missing"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., RecordedData]:
    path = tmp_path / "a.taskscope"
    path.touch()

    def load_bytes(content: bytes, **options: bool | int) -> RecordedData:
        # Over what was there: file systems flush a file that was emptied before it was written.
        with path.open("r+b", buffering=0) as file:
            file.write(content)
            file.truncate()
        return taskscope.load(path, **options)  # type: ignore[arg-type]  # the options of load

    return load_bytes


@pytest.fixture
def beginnings(tmp_path: Path) -> Callable[[bytes], Iterator[RecordedData | None]]:
    """Load a file at each length that it has while it is written; None where it cannot be read."""
    path = tmp_path / "growing.taskscope"

    def load_each(content: bytes) -> Iterator[RecordedData | None]:
        # One file that grows: writing each anew takes longer than loading it.
        with path.open("wb", buffering=0) as file:
            for place in range(len(content)):
                try:
                    yield taskscope.load(path)
                except DamagedFileError:
                    yield None
                file.write(content[place : place + 1])

    return load_each


def whole(recording: RecordedData) -> bytes:
    file = BytesIO()
    native.write(recording, file)
    return file.getvalue()


def frames_of(content: bytes) -> list[tuple[str, bytes]]:
    return list(read_frames(BytesIO(content), 2**30))


def frames_of_killed(content: bytes) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    with suppress(CutOffError):
        for frame in read_frames(BytesIO(content), 2**30):
            found.append(frame)  # noqa: PERF402 - those before the end are kept
    return found


def rebuilt(frames: list[tuple[str, bytes]]) -> bytes:
    file = BytesIO()
    writer = FrameWriter(file)
    for kind, content in frames:
        writer.write(kind, content)
    return file.getvalue()


def rows_of(recording: RecordedData) -> dict[str, list[tuple[str, ...]]]:
    return {name: rows(recording, name) for name in ("tasks", "resources", "dependencies")}


def assert_prefix(part: RecordedData, full: dict[str, list[tuple[str, ...]]]) -> None:
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


def test_every_truncation_is_a_prefix_or_an_error(
    recording: RecordedData, load: Load, beginnings: Callable[[bytes], Iterator[RecordedData | None]]
) -> None:
    content, full = whole(recording), rows_of(recording)
    lengths: list[int] = []
    for part in beginnings(content):
        if part is None:
            assert not lengths, "only a file without its first frame cannot be read"
        else:
            assert_prefix(part, full)
            lengths.append(len(part.tasks))
    assert (lengths[0], lengths[-1], lengths) == (0, 3, sorted(lengths))
    assert as_lists(load(content)) == as_lists(recording)


def test_every_truncation_of_a_file_that_was_being_written_is_a_prefix(
    fake_clock: FakeClock, beginnings: Callable[[bytes], Iterator[RecordedData | None]]
) -> None:
    content, live = streamed(fake_clock)
    recorder_s = redacted(live)
    tasks = rows(recorder_s, "tasks")
    all_rows = {name: rows(recorder_s, name) for name in ("dependencies", "workers", "resources")}
    entered = {row[:2] + row[4:5] for row in rows(recorder_s, "cache")}
    found: list[int] = []
    for part in beginnings(content):
        if part is None:
            assert not found, "only a file without its first frame cannot be read"
        else:
            # What was in flight at the end of the file is the only thing that more of the file changes.
            ended = [row for row in rows(part, "tasks") if row[10] == "'finished'"]
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
    ):
        tables["messages"][column].append(value)
    assert as_lists(loaded) == tables
    assert all(len(column) for table in tables.values() for column in table.values())
    assert repr(loaded.stacks) == repr(redacted(live).stacks)
    assert (len(loaded.stacks.rows), loaded.unknown) == (2, frozenset())
    assert dict(loaded.metadata) == {"label": "killed", "dt_s": 0.25, "truncated": True}
    assert "interrupted" in summary_text(loaded)


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


def test_a_flipped_bit_is_an_error_or_on_request_a_prefix(
    recording: RecordedData, load: Load, request: pytest.FixtureRequest
) -> None:
    n_prefixes, full = 0, rows_of(recording)
    for content in flips(whole(recording), 10_000 if request.config.getoption("--thorough") else 1_000):
        with pytest.raises(DamagedFileError, match="cannot load"):
            load(content)
        try:
            part = load(content, partial=True)
        except DamagedFileError:
            continue
        else:
            assert_prefix(part, full)
            n_prefixes += 1
    assert n_prefixes > 100


HOSTILE_BASE = [
    frames_of(
        whole(recording_of([Row(key=("inc-1", 0, 7), cpu_s=0.5), Row(key="x", lane=1, status="erred")]))
    ),
    frames_of_killed(streamed(FakeClock())[0]),
]


ODD = [b"null", b"-1", b"1e999", b"[[[[", b"NaN", b"{}", b'"', b"\xff\xff\xff\xff"]


@settings(max_examples=500)
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
        loaded = _read(BytesIO(rebuilt(frames)), partial=data.draw(st.booleans()), max_bytes=2**20)
    except DamagedFileError:
        return
    as_lists(loaded)
    assert summary_text(loaded)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(plans())
def test_whatever_was_recorded_comes_back_as_it_was(plan: Plan) -> None:
    recording = record(plan)[0].snapshot(metadata={"label": "\ud800 <b>"})
    loaded = _read(BytesIO(whole(recording)), partial=False, max_bytes=2**30)
    assert as_lists(loaded) == as_lists(recording)
    assert (loaded.totals, loaded.dropped, dict(loaded.metadata)) == (
        recording.totals,
        recording.dropped,
        dict(recording.metadata),
    )


@given(
    st.dictionaries(st.sampled_from(["edges", "task", "kept"]), st.integers(0, 3_000_000), max_size=3),
)
def test_columns_in_pieces_are_the_columns_again(lengths: dict[str, int]) -> None:
    columns = {name: np.arange(n, dtype="<i4") for name, n in lengths.items()}
    found: dict[str, list[np.ndarray]] = {name: [] for name in columns}
    for piece in pieces(columns):
        assert sum(part.nbytes for part in piece.values()) <= 4 * 2**20
        for name, part in piece.items():
            found[name].append(part)
    assert all((np.concatenate(parts) == columns[name]).all() for name, parts in found.items())


@given(st.lists(st.floats(width=64)))
def test_packed_numbers_keep_every_bit(values: list[float]) -> None:
    column = np.array(values, "<f8")
    head, columns = unpack(pack({"a": 1}, {"time": column}), SAMPLES)
    assert (head["a"], columns["time"].tobytes()) == (1, column.tobytes())


def test_a_decompression_bomb_is_refused_before_it_is_unpacked(
    recording: RecordedData, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = frames_of(whole(recording))[:1] + [("SMPL", bytes(60 * 2**20))] * 3
    content = rebuilt(bomb)
    assert len(content) < 2**20
    unpacked: list[int] = []
    unpack_frame = frames_module._unpack

    def watch(stored: bytes, n_bytes: int, number: int) -> bytes:
        unpacked.append(n_bytes)
        return unpack_frame(stored, n_bytes, number)

    monkeypatch.setattr(frames_module, "_unpack", watch)
    with pytest.raises(
        DamagedFileError, match=r"unpacks to more than 1,000,000 bytes; pass a larger max_bytes"
    ):
        load(content, max_bytes=1_000_000)
    assert [n for n in unpacked if n > 10_000] == []


@pytest.mark.parametrize("claim", [0, 10, 2**26 + 1])
def test_a_part_that_unpacks_to_something_else_than_it_claims_is_refused(
    claim: int, recording: RecordedData, load: Load
) -> None:
    stored = zlib.compress(bytes(10_000_000))
    header = struct.pack("<4sIIII", b"HEAD", 0, len(stored), claim, zlib.crc32(stored))
    content = whole(recording)[:12] + header + struct.pack("<I", zlib.crc32(header)) + stored
    with pytest.raises(DamagedFileError, match="claim"):
        load(content)


def test_a_file_that_goes_on_after_its_end_is_damaged(recording: RecordedData, load: Load) -> None:
    with pytest.raises(DamagedFileError, match="there is something after its end"):
        load(whole(recording) + b"x")


def test_parts_in_another_order_are_damaged(recording: RecordedData, load: Load) -> None:
    content = whole(recording)
    size = struct.unpack_from("<I", content, 12 + 8)[0] + 24
    first = content[12 : 12 + size]
    with pytest.raises(DamagedFileError, match="the header of part 2 is damaged"):
        load(content[: 12 + size] + first + content[12 + size :])


def test_a_newer_version_of_the_format_is_named(recording: RecordedData, load: Load) -> None:
    content = bytearray(whole(recording))
    content[8] = 3
    with pytest.raises(
        DamagedFileError, match=r"version 3\.0 of the format and this taskscope reads up to 2\.0; a newer"
    ):
        load(bytes(content))


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"hello", b"\x80\x04K\x01.", b"<!DOCTYPE html>", b"ARROW1"]
)
def test_a_file_of_another_kind_is_refused(content: bytes, load: Load) -> None:
    with pytest.raises(DamagedFileError, match="not a recording of taskscope: it begins with"):
        load(content)
