"""Files with right checksums and wrong content: refused as damaged, or usable by everything there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest

from taskscope.errors import DamagedFileError
from taskscope.export import native
from taskscope.export.load import _read
from taskscope.export.pack import pack, pack_json, unpack
from taskscope.export.schema import SAMPLES
from taskscope.model.columns import possible_sizes
from taskscope.schema import columns_of
from tests.support import crafted
from tests.support.crafted import Frame, bases, fault, loaded, rebuilt
from tests.support.recordings import recording_of, run_of
from tests.support.task_blocks import Row

_N_FILES = 600
"""A sample; `python -m tests.support.crafted --files 20000` tries more."""


@pytest.mark.parametrize("part", range(4))
def test_a_crafted_file_is_refused_or_can_be_used_by_everything(part: int) -> None:
    seeds = range(part * _N_FILES // 4, (part + 1) * _N_FILES // 4)
    assert {seed: found for seed in seeds if (found := fault(crafted.crafted(seed)))} == {}


def test_what_the_mutations_start_from_can_be_used_by_everything() -> None:
    contents = [rebuilt(frames) for frames in bases()]
    assert [fault(content) for content in contents] == [None] * len(contents)
    assert None not in map(loaded, contents)


def _refusal(frames: list[Frame]) -> str:
    with pytest.raises(DamagedFileError) as caught:
        _read(BytesIO(rebuilt(frames)), partial=True, max_bytes=2**24)
    return str(caught.value)


def test_tasks_in_flight_of_a_run_without_a_graph_are_damage() -> None:
    head = next(frames[0] for frames in bases() if b'"unknown":[]' in frames[0][1])
    tick = ("TICK", pack_json({"now_s": 1.0, "running": [[0, 0, 0, 0.0, 0]]}))
    assert _refusal([head, tick]) == "it contradicts itself: tasks have a graph"


def test_tasks_of_many_unknown_runs_are_refused_before_they_are_put_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = 100_000
    columns = {name: np.zeros(n, types[0]) for name, types in crafted.COLUMNS["TASK"].items()}
    columns |= {"run": np.arange(n, dtype="<i4"), "dims": np.full(n, 255, "|u1"), "ints": np.empty(0, "<i4")}
    columns |= {"text_bytes": np.ones(n, "<u4"), "texts": np.full(n, 65, "|u1")}
    taken: list[int] = []
    monkeypatch.setattr("taskscope.model.keys.KeyBlock.take", lambda _, rows: taken.append(len(rows)))
    head = bases()[0][0]
    assert _refusal([head, ("TASK", pack({}, columns))]) == "it contradicts itself: tasks are of a run"
    assert taken == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda head: {**head, "zero_s": 10**400}, "zero_s must be a number of seconds"),
        (lambda head: {**head, "zero_s": 1e308}, "zero_s must be a number of seconds"),
        (
            lambda head: {**head, "metadata": {"memory_limit_bytes": "4 GB"}},
            "memory_limit_bytes of the metadata cannot be '4 GB'",
        ),
        (
            lambda head: {**head, "metadata": {"mine": [float("nan")]}},
            "numbers of the metadata must be possible",
        ),
        (
            lambda head: {**head, "started_at": "9999-12-31T23:59:59-23:59"},
            "started_at must be a possible date",
        ),
    ],
)
def test_a_head_is_checked_whole(change: Callable[[dict[str, object]], object], why: str) -> None:
    (_, content), *others = bases()[0]
    head = pack_json(change(json.loads(content)))
    assert _refusal([("HEAD", head), *others]) == f"it contradicts itself: {why}"


@pytest.mark.parametrize(
    ("data", "why"), [([0], "what ran is no data"), ([2, 2], "a key is data once"), ([2], None)]
)
def test_data_is_no_task_and_is_counted_once(data: list[int], why: str | None) -> None:
    rows = [Row(key=("inc-1", number), stop_s=1.0) for number in range(3)]
    graph = recording_of(rows).graphs[0]
    graph = replace(graph, data=np.array(data, np.int32), data_sizes=np.ones(len(data)))
    # The third key is in the graph and did not run.
    recording = replace(recording_of(rows[:2], [run_of(n_tasks=2)]), graphs={0: graph})
    file = BytesIO()
    native.write(recording, file)
    if why is None:
        assert fault(file.getvalue()) is None
        return
    with pytest.raises(DamagedFileError, match=f"^it contradicts itself: {why}$"):
        _read(BytesIO(file.getvalue()), partial=False, max_bytes=2**24)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, np.nan])
def test_a_number_of_a_column_is_finite_or_where_its_class_says_so_unknown(value: float) -> None:
    (_, content) = next(frame for frame in bases()[0] if frame[0] == "SMPL")
    _, columns = unpack(content, SAMPLES)
    (declared,) = {type(loaded(rebuilt(bases()[0])).resources)}  # type: ignore[union-attr]  # it loads
    refused = {}
    for column in columns_of(declared):
        changed = {**columns, column.name: np.full(len(columns["time"]), value)}
        frames = [(k, pack({}, changed) if k == "SMPL" else c) for k, c in bases()[0]]
        refused[column.name] = loaded(rebuilt(frames)) is None
    unknown = {"cpu_percent"} if np.isnan(value) else set()
    assert {name for name, was in refused.items() if not was} == unknown


def test_what_a_users_function_says_of_a_size_can_be_saved_and_loaded() -> None:
    odd = np.array([np.inf, -np.inf, -1.0, 1e300, np.nan, 0.0, 7.0])
    assert repr(possible_sizes(odd).tolist()) == "[nan, nan, nan, nan, nan, 0.0, 7.0]"
