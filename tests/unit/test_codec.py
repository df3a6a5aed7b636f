from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from taskscope.codec import (
    LIMITS,
    TICK_S,
    Encoder,
    Section,
)
from taskscope.errors import DamagedFileError
from taskscope.model.streams import PAGE
from taskscope.schema import Column, Table
from tests.support.golden_stream import (
    HEADER,
    PATH,
    batches,
    crafted,
    described,
    framed,
    frames,
    golden,
    plain,
    read,
)

VALUE = LIMITS["value"]


def written(*batches: Mapping[str, Section], tables: Mapping[str, Table] = PAGE, level: int = 0) -> bytes:
    encoder = Encoder(tables, HEADER, level=level)
    return b"".join([encoder.header(), *(encoder.batch(b, is_last=b is batches[-1]) for b in batches)])


def whole(name: str, *, optional: bool = False) -> Column:
    return Column(name, "whole number", "", optional=optional)


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
def test_texts_come_back_as_they_were_but_for_half_characters(texts: list[str | None]) -> None:
    tables = {"t": Table(name="t", meaning="", columns=(Column("v", "text", "", optional=True),))}
    (batch,) = read(written({"t": Section(0, {"v": texts})}, tables=tables), tables)
    assert batch["t"].columns["v"] == [
        None if t is None else t.encode("utf-8", "replace").decode() for t in texts
    ]


@given(arrays.arrays("f8", st.integers(1, 40), elements=st.floats(allow_infinity=False, width=32)))
def test_numbers_come_back_as_they_were(values: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    columns = (
        Column("v", "number", "", optional=True),
        Column("p", "number", "", unit="percent", optional=True),
    )
    tables = {"t": Table(name="t", meaning="", columns=columns)}
    (batch,) = read(written({"t": Section(0, {"v": values, "p": values})}, tables=tables), tables)
    for found in batch["t"].columns.values():
        np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("why", crafted())
def test_a_crafted_batch_is_refused(why: str) -> None:
    with pytest.raises(DamagedFileError):
        read(framed(crafted()[why]))


def test_half_a_character_is_refused() -> None:
    column = ["text", "text", ["\ud800"]]
    with pytest.raises(DamagedFileError):
        read(framed(described({"tables": [["errors", 0, 1, [column]]]})))


def test_what_rows_refer_to_has_to_be_there() -> None:
    first, second = batches()
    del first["lanes"]
    with pytest.raises(DamagedFileError, match="lane must be known"):
        read(written(first))
    # Errors that begin anew replace those of the batch before.
    second["errors"] = Section(0, {"text": ["one"]})
    second["tasks"].columns["error"][3] = 1  # type: ignore[index]  # an array
    with pytest.raises(DamagedFileError, match="error must be known"):
        read(written(batches()[0], second))
