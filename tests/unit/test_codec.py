from __future__ import annotations

import io
import random
import tracemalloc
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from taskscope.codec import (
    END,
    LIMITS,
    TICK_S,
    Budget,
    CutOffError,
    Decoder,
    Encoder,
    Section,
    budget_for,
    read_frames,
)
from taskscope.errors import DamagedFileError
from taskscope.model.streams import PAGE
from taskscope.schema import Column, Table, derived
from tests.support.golden_stream import HEADER, PATH, batches, crafted, framed, frames, golden, plain

VALUE = LIMITS["value"]


def read(
    stream: bytes, tables: Mapping[str, Table] = PAGE, budget: Budget | None = None
) -> list[dict[str, Section]]:
    """Return all batches; a stream without an end is one whose process was killed."""
    budget = budget or budget_for(len(stream))
    decoder = Decoder(tables, budget)
    found = []
    try:
        for kind, content in read_frames(io.BytesIO(stream), budget):
            if kind:
                found.append(decoder.batch(content))
            else:
                decoder.header(content)
    except CutOffError:
        pass
    return found


def written(*batches: Mapping[str, Section], tables: Mapping[str, Table] = PAGE, level: int = 0) -> bytes:
    encoder = Encoder(tables, HEADER, level=level)
    return b"".join([encoder.header(), *(encoder.batch(b, is_last=b is batches[-1]) for b in batches)])


def whole(name: str, *, optional: bool = False) -> Column:
    return derived(name, "whole number", "", optional=optional)


WHOLE = {"t": Table(name="t", meaning="", columns=(whole("v"),))}


def test_the_golden_stream_is_what_is_written_and_read() -> None:
    decoded = read(b"".join(frames()))
    assert PATH.read_text(encoding="utf-8") == golden(decoded), "run: python -m tests.support.golden_stream"
    for batch, sections in zip(batches(), decoded, strict=True):
        assert {name for name, section in batch.items() if len(section.columns[_first(name)])} == set(
            sections
        )
        for name, section in sections.items():
            assert plain(section) == plain(Section(section.first, _meant(name, batch[name])))


def _first(name: str) -> str:
    return PAGE[name].columns[0].name


def _meant(name: str, section: Section) -> dict[str, Any]:
    """Return what was written as it is to be read."""
    columns = {}
    for column in PAGE[name].columns:
        values = section.columns[column.name]
        if isinstance(values, np.ndarray) and values.dtype.kind == "i":
            is_time = column.wire.startswith(("time", "duration"))
            told = values * TICK_S if is_time else values
            values = np.where(values == -1, np.nan, told) if column.optional else told
        elif isinstance(values, np.ndarray) and column.wire.startswith("f4"):
            values = values.astype("f4")
        columns[column.name] = values
    return columns


_NUMBERS = st.one_of(
    st.integers(-VALUE, VALUE),
    st.integers(0, 300),
    st.integers(0, 70_000),
    st.just(7),
    st.sampled_from([-VALUE, VALUE]),
)


@given(st.lists(_NUMBERS, min_size=1, max_size=60), st.integers(0, 2**50))
def test_whole_numbers_come_back_as_they_were(values: list[int], first: int) -> None:
    (batch,) = read(written({"t": Section(first, {"v": np.array(values)})}, tables=WHOLE), WHOLE)
    assert batch["t"].first == first
    assert batch["t"].columns["v"].tolist() == values  # type: ignore[union-attr]  # an array


def test_a_task_takes_at_most_32_bytes_besides_its_key() -> None:
    n = 10_000
    took = 50_000 + np.arange(n) * 7919 % 10_000
    wide: dict[str, Any] = {
        "run": 0,
        "group": np.arange(n) % 300,
        "lane": np.arange(n) % 16,
        "nbytes": 8e6 * (np.arange(n) % 9),
    }
    columns = {
        c.name: [None] * n if c.wire.startswith("text") else np.broadcast_to(wide.get(c.name, 0), n)
        for c in PAGE["tasks"].columns
    }
    columns |= {"duration_s": took, "stop_s": 10**12 + np.cumsum(took), "cpu_s": took - 7}
    assert len(written({"tasks": Section(0, columns)})) / n <= 32


_TEXT = st.one_of(st.none(), st.text(max_size=20), st.just("\ud800"))


@given(st.lists(_TEXT, min_size=1, max_size=40))
def test_texts_come_back_with_half_characters_escaped(texts: list[str | None]) -> None:
    tables = {"t": Table(name="t", meaning="", columns=(derived("v", "text", "", optional=True),))}
    (batch,) = read(written({"t": Section(0, {"v": texts})}, tables=tables), tables)
    assert batch["t"].columns["v"] == [
        None if t is None else t.encode("utf-8", "backslashreplace").decode() for t in texts
    ]


@given(arrays.arrays("f8", st.integers(1, 40), elements=st.floats(allow_infinity=False, width=32)))
def test_numbers_come_back_as_they_were(values: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    columns = (
        derived("v", "number", "", optional=True),
        derived("p", "number", "", unit="percent", optional=True),
    )
    tables = {"t": Table(name="t", meaning="", columns=columns)}
    (batch,) = read(written({"t": Section(0, {"v": values, "p": values})}, tables=tables), tables)
    for found in batch["t"].columns.values():
        np.testing.assert_array_equal(found, values)


@given(st.lists(st.one_of(st.none(), st.integers(0, VALUE - 1)), min_size=1, max_size=40))
def test_what_is_unknown_stays_unknown(values: list[int | None]) -> None:
    tables = {"t": Table(name="t", meaning="", columns=(whole("v", optional=True),))}
    (batch,) = read(written({"t": Section(0, {"v": values})}, tables=tables), tables)  # type: ignore[dict-item]  # a list of numbers, as records have them
    expected = [np.nan if v is None else float(v) for v in values]
    np.testing.assert_array_equal(batch["t"].columns["v"], expected)


@given(
    st.lists(st.integers(-300, 10**6), min_size=1, max_size=200),
    st.lists(st.integers(1, 199), max_size=5),
    st.integers(0, 9),
)
def test_any_split_of_the_rows_gives_the_same_table(values: list[int], cuts: list[int], level: int) -> None:
    parts = np.split(np.array(values), sorted(c for c in cuts if c < len(values)))
    firsts = np.cumsum([0, *map(len, parts)])
    stream = written(
        *({"t": Section(int(first), {"v": part})} for first, part in zip(firsts, parts, strict=False)),
        tables=WHOLE,
        level=level,
    )
    found = [batch["t"] for batch in read(stream, WHOLE) if batch]
    assert np.concatenate([section.columns["v"] for section in found]).tolist() == values
    assert [section.first for section in found] == [f for f, p in zip(firsts, parts, strict=False) if len(p)]


def test_a_stream_ends_with_its_end_and_nothing_else() -> None:
    stream = written(batches()[0])
    with pytest.raises(DamagedFileError, match="something after its end"):
        read(stream + b"x")
    with pytest.raises(DamagedFileError, match="not a recording of taskscope"):
        read(b"PAR1" + stream)
    kinds = [kind for kind, _ in read_frames(io.BytesIO(stream), budget_for(len(stream)))]
    assert kinds == [0, END]


@pytest.mark.parametrize("level", [0, 1])
def test_of_a_stream_cut_anywhere_the_whole_frames_are_there(level: int) -> None:
    stream = written(*batches(), level=level)
    whole_ones = [[plain(s) for s in batch.values()] for batch in read(stream)]
    for end in range(1, len(stream), 97):
        found = [[plain(s) for s in batch.values()] for batch in read(stream[:end])]
        assert found == whole_ones[: len(found)]
        assert len(found) < 2


@pytest.mark.parametrize("level", [0, 1])
def test_a_flipped_bit_is_found(level: int) -> None:
    stream = written(*batches(), level=level)
    chance = random.Random(1)
    for _ in range(5_000):
        damaged = bytearray(stream)
        damaged[chance.randrange(len(stream))] ^= 1 << chance.randrange(8)
        with pytest.raises(DamagedFileError):
            list(read_frames(io.BytesIO(damaged), budget_for(len(stream))))


def test_a_frame_of_another_stream_is_refused() -> None:
    (first, second), encoder = batches(), Encoder(PAGE, HEADER)
    other = Encoder(PAGE, HEADER)
    other.header()
    other.batch(first)
    with pytest.raises(DamagedFileError, match="part 3 is out of place"):
        read(encoder.header() + encoder.batch(first) + other.batch(second))


def test_a_newer_format_is_named() -> None:
    head = bytearray(written(batches()[0])[:28])
    head[4] = 2
    with pytest.raises(DamagedFileError, match=r"version 2 .* a newer taskscope may read it"):
        read(bytes(head) + zlib.crc32(head).to_bytes(4, "little"))


@pytest.mark.parametrize("why", crafted())
def test_a_crafted_batch_is_refused(why: str) -> None:
    with pytest.raises(DamagedFileError):
        read(framed(crafted()[why]))


def test_rows_that_come_twice_are_refused_and_a_gap_is_seen() -> None:
    def rows(first: int) -> dict[str, Section]:
        return {"t": Section(first, {"v": np.arange(5)})}

    assert [batch["t"].first for batch in read(written(rows(0), rows(5), rows(90), tables=WHOLE), WHOLE)] == [
        0,
        5,
        90,
    ]
    with pytest.raises(DamagedFileError, match="rows come twice"):
        read(written(rows(0), rows(4), tables=WHOLE), WHOLE)


def test_columns_and_tables_are_matched_by_name() -> None:
    newer = {
        "extra": Table(name="extra", meaning="", columns=(whole("lane"), derived("took", "number", ""))),
        "t": Table(name="t", meaning="", columns=(whole("new"), derived("text", "text", ""), whole("v"))),
    }
    older = {"t": Table(name="t", meaning="", columns=(whole("v"), whole("gone", optional=True)))}
    columns = {"lane": np.arange(20) % 3, "took": np.arange(20) / 3}
    section = Section(3, {"new": np.arange(20), "text": ["é", "x"] * 10, "v": np.arange(20) * 1000})
    for level in (0, 1):
        stream = written({"extra": Section(0, columns), "t": section}, tables=newer, level=level)
        (batch,) = read(stream, older)
        assert list(batch) == ["t"]
        assert batch["t"].first == 3
        np.testing.assert_array_equal(batch["t"].columns["v"], np.arange(20) * 1000)
        np.testing.assert_array_equal(batch["t"].columns["gone"], np.full(20, np.nan))
        with pytest.raises(DamagedFileError, match="t lacks other"):
            read(stream, {"t": Table(name="t", meaning="", columns=(whole("other"),))})


def test_what_rows_refer_to_has_to_be_there() -> None:
    first, second = batches()
    del first["lanes"]
    with pytest.raises(DamagedFileError, match="lane must be known"):
        read(written(first))
    # What is said whole is of its own batch only.
    second["tasks"].columns["error"][3] = 0  # type: ignore[index]  # an array
    with pytest.raises(DamagedFileError, match="error must be known"):
        read(written(batches()[0], second))


def test_nothing_is_made_of_a_claim() -> None:
    n = LIMITS["rows"]
    tables = {"t": Table(name="t", meaning="", columns=tuple(whole(f"c{i}") for i in range(250)))}
    columns = {f"c{i}": np.zeros(n, np.int64) for i in range(250)}
    bomb = written({"t": Section(0, columns)}, tables=tables, level=9)
    # It describes 524 MB of columns.
    assert len(bomb) < 3_000
    tracemalloc.start()
    try:
        with pytest.raises(DamagedFileError, match="pass a larger max_bytes"):
            read(bomb, tables)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 100 * 2**20


def test_what_no_reader_takes_is_not_written() -> None:
    n = LIMITS["rows"] + 1
    for columns, problem in (
        ({"v": np.zeros(n, np.int64)}, f"{n:,} rows of v"),
        ({"v": np.array([VALUE + 1])}, "is too large"),
    ):
        with pytest.raises(ValueError, match=problem):
            written({"t": Section(0, columns)}, tables=WHOLE)
