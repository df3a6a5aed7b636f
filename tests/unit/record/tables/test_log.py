from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from taskscope.model.tables.process import ResourceRows
from taskscope.record.tables import log as log_module
from taskscope.record.tables.log import Log
from taskscope.schema import About, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Numbers(Rows):
    value: Annotated[NDArray[np.int64], About("Its number in the log.")]


def numbers(values: Sequence[int]) -> Numbers:
    return Numbers(np.array(values, np.int64))


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 12)),
        st.tuples(st.just("drop"), st.integers(0, 12)),
        st.tuples(st.just("clear"), st.just(0)),
    )
)


@given(OPERATIONS, st.integers(1, 20), st.integers(0, 8), st.integers(1, 9))
def test_a_reader_gets_each_row_once_in_order_and_the_number_of_those_that_it_missed(
    operations: list[tuple[str, int]], max_rows: int, small: int, limit: int
) -> None:
    log = Log(Numbers, max_rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_module, "_SMALL", small)
        cursor, read, missed, dropped = 0, [], 0, []
        for name, count in operations:
            if name == "append":
                gone = log.append(numbers(range(log.cursor, log.cursor + count)))
                dropped += [value for rows in gone for value in rows.value.tolist()]
            elif name == "drop":
                dropped += [value for rows in log.drop(count) for value in rows.value.tolist()]
            else:
                dropped += log.rows().value.tolist()
                log.clear()
            first, rows = log.since(cursor, limit)
            missed += first - cursor
            read += rows.value.tolist()
            assert rows.value.tolist() == list(range(first, first + len(rows)))
            assert log.rows().value.tolist() == list(range(log.dropped, log.cursor))
            assert len(log.rows()) <= max_rows
            cursor = first + len(rows)
        assert dropped == list(range(log.dropped))
        while cursor < log.cursor:
            first, rows = log.since(cursor, limit)
            missed, cursor = missed + first - cursor, first + len(rows)
            read += rows.value.tolist()
        assert (len(read) + missed, len(set(read))) == (log.cursor, len(read))
        assert read == sorted(read)


def test_small_neighbours_are_kept_as_one_block_and_large_ones_are_not() -> None:
    log = Log(Numbers, 100_000)
    for size in (3000, 1000, 97, 5000):
        log.append(numbers(range(size)))
    assert [(first, len(rows)) for first, rows in log.blocks()] == [(0, 4000), (4000, 97), (4097, 5000)]


def test_what_is_left_of_a_block_holds_no_memory_of_what_was_dropped() -> None:
    log = Log(Numbers, 10)
    log.append(numbers(range(10_000)))
    ((_, rows),) = log.blocks()
    assert (rows.value.tolist(), rows.value.base) == (list(range(9990, 10_000)), None)


class ChangedWhileRead(list[tuple[int, Numbers]]):
    """Blocks that another thread changes right after somebody has looked whether there are any."""

    def __init__(self, blocks: list[tuple[int, Numbers]], change: Callable[[], None]) -> None:
        super().__init__(blocks)
        self._change: Callable[[], None] | None = change

    def __bool__(self) -> bool:
        found = len(self) > 0
        if found and self._change is not None:
            change, self._change = self._change, None
            change()
        return found


@pytest.mark.parametrize("more", [[], [4, 5]], ids=["cleared", "cleared-and-appended-to"])
def test_who_reads_while_another_thread_clears_is_told_rows_with_their_numbers(more: list[int]) -> None:
    def log() -> Log[Numbers]:
        log = Log(Numbers, 100)
        log.append(numbers([0, 1]))

        def change() -> None:
            log.clear()
            log.append(numbers(more))

        log._blocks = ChangedWhileRead(log.blocks(), change)
        return log

    assert log().dropped == 0
    first, rows = log().since(0, 9)
    assert (first, rows.value.tolist()) in ((0, [0, 1]), (2, more))


def test_samples_of_a_window_are_those_of_its_time() -> None:
    log = Log(ResourceRows, 10)
    for sample in [(1.0, math.nan, 1e6, 1, False), (2.0, 150.0, 2e6, 2, True), (3.0, 50.0, 3e6, 1, False)]:
        log.append(ResourceRows.of([sample]))
    assert repr(list(log.rows().between(0.0, 2.0).tuples())) == repr(
        [
            (1.0, math.nan, 1e6, 1.0, 0.0, math.nan, math.nan, math.nan),
            (2.0, 150.0, 2e6, 2.0, 1.0, math.nan, math.nan, math.nan),
        ]
    )
    assert log.rows().between(2.0, math.inf).time.tolist() == [2.0, 3.0]
