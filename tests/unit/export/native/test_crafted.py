"""Files with right checksums and wrong content."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from taskscope.codec import Section
from taskscope.errors import DamagedFileError
from taskscope.model.streams import FILE
from taskscope.model.tables.columns import possible_sizes
from tests.support.files.cases import apart, changed, together, with_header
from tests.support.files.crafted import bases, crafted, loaded
from tests.support.recordings.tables import read_back

_N_FILES = 400


@pytest.mark.parametrize("part", range(4))
def test_a_crafted_file_loads_or_is_refused_as_damaged(part: int) -> None:
    seeds = range(part * _N_FILES // 4, (part + 1) * _N_FILES // 4)
    # Any other exception comes through.
    found = [loaded(crafted(seed)) is not None for seed in seeds]
    assert {True, False} == set(found)


def test_what_the_mutations_start_from_loads() -> None:
    assert None not in map(loaded, bases())


def _refusal(content: bytes) -> str:
    with pytest.raises(DamagedFileError) as caught:
        read_back(content, partial=True)
    return str(caught.value)


def test_keys_of_many_unknown_runs_are_refused_before_they_are_put_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = 100_000
    parts = apart(bases()[0])
    none: dict[str, Any] = {c.name: np.zeros(n, np.int64) for c in FILE["keys"].columns}
    keys = {**none, "run": np.arange(n), "dims": np.full(n, 255), "key_text": ["A"] * n}
    (batch,) = parts.batches
    told = {name: batch[name] for name in ("state", "metadata", "groups", "runs", "graphs")}
    parts.batches = [{**told, "keys": Section(0, keys)}]
    taken: list[int] = []
    monkeypatch.setattr("taskscope.model.keys.KeyBlock.take", lambda _, rows: taken.append(len(rows)))
    assert _refusal(together(parts)) == "it contradicts itself: a key is of a graph"
    assert taken == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda head: {**head, "zero_s": "1"}, "zero_s must be a number of seconds"),
        (lambda head: {**head, "started_at": "2026-01-02T03:04:05"}, "started_at must have a time zone"),
        (lambda head: {**head, "grows": 1}, "grows must be true or false"),
    ],
)
def test_types_of_the_header_are_checked(
    change: Callable[[dict[str, object]], dict[str, object]], why: str
) -> None:
    assert _refusal(with_header(bases()[0], change)) == f"it contradicts itself: {why}"


def test_metadata_are_an_object() -> None:
    content = changed(bases()[0], "metadata", "text", 0, json.dumps([1]))
    assert _refusal(content) == "it contradicts itself: metadata must be an object"


def test_what_a_users_function_says_of_a_size_can_be_saved_and_loaded() -> None:
    odd = np.array([np.inf, -np.inf, -1.0, 1e300, np.nan, 0.0, 7.0])
    assert repr(possible_sizes(odd).tolist()) == "[nan, nan, nan, nan, nan, 0.0, 7.0]"
