from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from dask.utils import key_split
from hypothesis import given
from hypothesis import strategies as st

from taskscope.model.keys import MAX_TEXT, KeyBlock, KeyBuilder, key_block, key_text, split_key

names = st.sampled_from(["x-1", "sum", "it's", "(odd", "café", "</script>", "a-\ud800", "\u202egnp.exe", ""])
atoms = st.one_of(names, st.binary(max_size=3), st.integers(), st.floats(), st.booleans())
compact_keys = st.tuples(names, st.integers(-(2**31), 2**31 - 1), st.integers(-3, 3))
keys = st.one_of(
    atoms,
    st.text(max_size=8),
    compact_keys,
    st.lists(st.one_of(atoms, st.lists(atoms, max_size=2).map(tuple)), max_size=4).map(tuple),
)


def shown(block: KeyBlock, written: Sequence[object]) -> list[str]:
    return list(block.to_text([split_key(key)[0] for key in written]))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("x", "x"),
        ("</script><b>&", "</script><b>&"),
        ("\u202egnp.exe", "\u202egnp.exe"),
        ("lone \ud800", "lone \\ud800"),
        (np.str_("x-1"), "x-1"),
        (b"x-1", "b'x-1'"),
        (7, "7"),
        (1.5, "1.5"),
        (("x-1", 0, 2), "('x-1', 0, 2)"),
        (("x", ("y", b"z"), 1.5), "('x', ('y', b'z'), 1.5)"),
        (("lone \ud800", 1), "('lone \\ud800', 1)"),
        ((), "()"),
        ("", ""),
    ],
)
def test_a_key_is_shown_as_itself_or_as_its_repr(key: object, text: str) -> None:
    assert key_text(key) == text
    assert shown(key_block([key]), [key]) == [text]


def test_a_key_of_a_megabyte_is_cut_with_a_note_of_its_length() -> None:
    key = "k" * 1_000_000
    text = key_text(key)
    assert re.fullmatch(r"k+…\[1000000 characters, [0-9a-f]{16}\]", text)
    assert len(text) == MAX_TEXT
    assert key_block([key]).texts == (text,)
    assert shown(key_block([(key, 3)]), [(key, 3)]) == [key_text((key, 3))]
    assert len(key_text((key, 3))) <= MAX_TEXT


@pytest.mark.parametrize(
    "of_text", [lambda name: name, lambda name: (name, 1), lambda name: (name, (1, "a"))]
)
@pytest.mark.parametrize("length", [1_000, 2_000, 4_090, 5_000, 100_000])
def test_long_keys_that_differ_at_their_ends_stay_two_keys(
    length: int, of_text: Callable[[str], Any]
) -> None:
    keys = [of_text("k" * length + end) for end in ("1", "2")]
    texts = list(map(key_text, keys))
    assert len(set(texts)) == 2
    assert shown(key_block(keys), keys) == texts
    assert all(len(text) <= MAX_TEXT for text in texts)


@given(st.text(max_size=MAX_TEXT))
def test_any_text_within_the_limit_survives_and_encodes(text: str) -> None:
    shown_text = key_text(text)
    assert shown_text == text.encode("utf-8", "backslashreplace").decode("utf-8")
    shown_text.encode("utf-8")


@pytest.mark.parametrize(
    ("key", "group", "prefix"),
    [
        (("random_sample-0123456789abcdef0123456789abcdef", 3), None, "random_sample"),
        (("x-1", 0, 2), "x-1", "x"),
        ("inc-0123456789abcdef0123456789abcdef", "inc", "inc"),
        ("('x-2', 1)", "x", "x"),
        (b"hello-world-1", "hello-world", "hello-world"),
        ("ae05086432ca935f6eba409a8ecd4896", "data", "data"),
        ((), "Other", "Other"),
        (7, "Other", "Other"),
        (1.5, "Other", "Other"),
        ((("deep-1", 2), 3), "deep", "deep"),
        ("", "Other", "Other"),
        (b"\xff", "Other", "Other"),
    ],
)
def test_groups_and_prefixes_are_those_of_dask(key: object, group: str | None, prefix: str) -> None:
    expected_group = key[0] if group is None and isinstance(key, tuple) else group
    assert split_key(key) == (expected_group, prefix)


@given(keys)
def test_the_prefix_is_what_dask_itself_would_say(key: object) -> None:
    try:
        expected = key_split(key)
    except Exception:  # noqa: BLE001 - it raises anything for odd keys
        expected = "Other"
    assert split_key(key)[1] == key_text(expected)


def test_a_long_key_does_not_stay_in_the_cache_of_dask() -> None:
    key_split.cache_clear()
    long_key = "k-" + "9" * 10_000_000
    before = sys.getrefcount(long_key)
    split_key(long_key)
    assert sys.getrefcount(long_key) == before


@given(st.lists(keys))
def test_a_block_shows_the_keys_it_was_made_of(written: list[object]) -> None:
    block = key_block(written)
    assert len(block) == len(written)
    assert shown(block, written) == [key_text(key) for key in written]


@given(st.lists(keys, min_size=1), st.data())
def test_taking_rows_gives_the_keys_of_those_rows(written: list[object], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(written) - 1)))
    taken = key_block(written).take(np.array(rows, np.int64))
    assert shown(taken, [written[i] for i in rows]) == [key_text(written[i]) for i in rows]


@given(st.lists(st.lists(keys)))
def test_concatenated_blocks_show_all_keys_in_order(parts: list[list[object]]) -> None:
    joined = KeyBlock.concat([key_block(part) for part in parts])
    written = [key for part in parts for key in part]
    assert shown(joined, written) == [key_text(key) for key in written]


@given(st.lists(st.lists(keys)))
def test_a_builder_grows_to_the_block_that_all_its_slices_make(parts: list[list[object]]) -> None:
    builder = KeyBuilder()
    for part in parts:
        builder.extend(part)
        builder.build()
    whole = key_block([key for part in parts for key in part])
    built = builder.build()
    assert (built.dims.tolist(), built.ints.tolist(), built.texts) == (
        whole.dims.tolist(),
        whole.ints.tolist(),
        whole.texts,
    )
