"""Files with right checksums and wrong content: refused as damaged, or usable by everything there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from taskscope.codec import Section
from taskscope.errors import DamagedFileError
from taskscope.model.streams import FILE
from taskscope.model.tables.columns import possible_sizes
from tests.support.files import crafted
from tests.support.files.cases import apart, changed, together, with_header
from tests.support.files.crafted import bases, fault, loaded
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.tables import read_back, written
from tests.support.recordings.task_blocks import Row

_N_FILES = 200
"""A sample; `python -m tests.support.files.crafted --files 20000` tries more."""


@pytest.mark.parametrize("part", range(4))
def test_a_crafted_file_is_refused_or_can_be_used_by_everything(part: int) -> None:
    seeds = range(part * _N_FILES // 4, (part + 1) * _N_FILES // 4)
    assert {seed: found for seed in seeds if (found := fault(crafted.crafted(seed)))} == {}


def test_what_the_mutations_start_from_can_be_used_by_everything() -> None:
    assert [fault(content) for content in bases()] == [None] * len(bases())
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
        (lambda head: {**head, "zero_s": 10**400}, "zero_s must be a number of seconds"),
        (lambda head: {**head, "zero_s": 1e308}, "zero_s must be a number of seconds"),
        (
            lambda head: {**head, "started_at": "9999-12-31T23:59:59-23:59"},
            "started_at must be a possible date",
        ),
        (lambda head: {**head, "grows": 1}, "it says whether it was written while recording"),
    ],
)
def test_a_head_is_checked_whole(change: Callable[[dict[str, object]], dict[str, object]], why: str) -> None:
    assert _refusal(with_header(bases()[0], change)) == f"it contradicts itself: {why}"


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"memory_limit_bytes": "4 GB"}, "memory_limit_bytes of the metadata cannot be '4 GB'"),
        ({"mine": [float("nan")]}, "numbers of the metadata must be possible"),
    ],
)
def test_metadata_are_checked(metadata: dict[str, object], why: str) -> None:
    content = changed(bases()[0], "metadata", "text", 0, json.dumps(metadata))
    assert _refusal(content) == f"it contradicts itself: {why}"


@pytest.mark.parametrize(
    ("data", "why"), [([0], "what ran is no data"), ([2, 2], "a key is data once"), ([2], None)]
)
def test_data_is_no_task_and_is_counted_once(data: list[int], why: str | None) -> None:
    rows = [Row(key=("inc-1", number), stop_s=1.0) for number in range(3)]
    graph = recording_of(rows).graphs[0]
    graph = replace(graph, data=np.array(data, np.int32), data_sizes=np.ones(len(data)))
    # The third key is in the graph and did not run.
    recording = replace(recording_of(rows[:2], [run_of(n_tasks=2)]), graphs={0: graph})
    content = written(recording)
    if why is None:
        assert fault(content) is None
        return
    assert _refusal(content) == f"it contradicts itself: {why}"


@pytest.mark.parametrize("value", [1e300, np.nan])
def test_a_number_of_a_column_is_finite_or_where_its_class_says_so_unknown(value: float) -> None:
    # Floats only: whole numbers and times can be no others.
    refused = {}
    for table, column in (("resources", "cpu_percent"), ("totals", "cpu_s"), ("totals", "duration_s")):
        try:
            content = changed(bases()[0], table, column, 0, value)
        except ValueError:
            # The writer already refuses it.
            refused[table, column] = True
        else:
            refused[table, column] = loaded(content) is None
    unknown = {("resources", "cpu_percent")} if np.isnan(value) else set()
    assert {name for name, was in refused.items() if not was} == unknown


def test_what_a_users_function_says_of_a_size_can_be_saved_and_loaded() -> None:
    odd = np.array([np.inf, -np.inf, -1.0, 1e300, np.nan, 0.0, 7.0])
    assert repr(possible_sizes(odd).tolist()) == "[nan, nan, nan, nan, nan, 0.0, 7.0]"
