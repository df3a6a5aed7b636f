from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import KeyBlock, key_block
from taskscope.model.recording import join_rows
from taskscope.model.tables.columns import RowBlock, narrow_sizes
from taskscope.model.tables.records import FLAGS, split_flags


def block_of_run(run: int, flags: list[int]) -> RowBlock:
    n = len(flags)
    return RowBlock(
        run,
        np.arange(n, dtype=np.int32),
        np.arange(100, 100 + n, dtype=np.float64),
        np.full(n, 0.5, np.float32),
        np.full(n, run, np.uint16),
        np.array(flags, np.uint8),
        cpu_s=np.full(n, 0.25, np.float32),
        nbytes=narrow_sizes(np.full(n, 8.0)),
    )


def identify(tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]:
    return np.full(len(tasks), 7, np.uint32), key_block([("x", i) for i in tasks.tolist()])


def test_rows_of_several_runs_join_with_times_after_the_given_zero() -> None:
    first, second = block_of_run(0, [0, 1, 2]), block_of_run(4, [4 + 8])
    parts = [
        (first.part(slice(1, 3)), identify, {1: "ValueError: no", 0: "of a row before"}),
        (second, identify, {}),
    ]
    joined = join_rows(parts, zero_s=100.0)
    assert joined.run.tolist() == [0, 0, 4]
    assert joined.group.tolist() == [7, 7, 7]
    assert joined.lane.tolist() == [0, 0, 4]
    assert joined.start.tolist() == [1.0, 2.0, 0.0]
    assert joined.stop.tolist() == [1.5, 2.5, 0.5]
    assert joined.cpu_s.tolist() == [0.25, 0.25, 0.25]
    assert joined.nbytes.tolist() == [8.0, 8.0, 8.0]
    said = {
        name: [FLAGS[name].choices[code] for code in codes]
        for name, codes in split_flags(joined.flags).items()
    }
    assert said == {
        "status": ["erred", "interrupted", "running"],
        "observed_by": ["worker", "worker", "scheduler"],
        "cpu_from": ["measured"] * 3,
    }
    assert list(joined.keys.iter_text(["x"] * 3)) == ["('x', 1)", "('x', 2)", "('x', 0)"]
    assert joined.errors == {0: "ValueError: no"}


def test_no_rows_join_to_empty_columns_of_the_right_types() -> None:
    joined = join_rows([])
    columns = (
        joined.run, joined.group, joined.lane, joined.start, joined.stop, joined.cpu_s, joined.nbytes,
        joined.flags,
    )  # fmt: skip
    assert [(len(c), c.dtype.str[1:]) for c in columns] == [
        (0, code) for code in ("i4", "u4", "u2", "f8", "f8", "f4", "f8", "u1")
    ]
    assert len(joined) == len(joined.keys) == 0
