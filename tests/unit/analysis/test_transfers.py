from __future__ import annotations

from dataclasses import replace

import numpy as np

from taskscope.analysis.transfers import measure_bandwidth
from taskscope.model.activities import Transfer
from tests.support.recordings import recording_of
from tests.support.task_blocks import Row


def test_the_matrix_goes_from_sender_to_receiver_and_counts_each_transfer_once() -> None:
    transfers = (
        Transfer("b", "a", "incoming", 0.0, 2.0, 100.0, None, 1, ()),
        Transfer("b", "a", "incoming", 3.0, 5.0, 300.0, None, 2, ()),
        Transfer("a", "b", "outgoing", 0.0, 2.0, 100.0, 90.0, 1, ()),
        Transfer("a", "gone", "outgoing", 0.0, 1.0, 50.0, 40.0, 1, ()),
        Transfer("b", "", "outgoing", 0.0, 1.0, 999.0, 999.0, 1, ()),
        Transfer("a", "b", "incoming", 0.0, 1.0, None, None, 0, ()),
    )
    found = measure_bandwidth(replace(recording_of([Row(key="x-1")]), transfers=transfers))
    assert found.workers == ("a", "b", "gone")
    assert found.n_transfers.tolist() == [[0, 2, 1], [0, 0, 0], [0, 0, 0]]
    assert found.nbytes.tolist() == [[0, 400, 50], [0, 0, 0], [0, 0, 0]]
    assert found.busy_s.tolist() == [[0, 4, 1], [0, 0, 0], [0, 0, 0]]
    assert np.nan_to_num(found.bytes_per_s, nan=-1).tolist() == [[-1, 100, 50], [-1] * 3, [-1] * 3]
    assert found.n_unknown == 1


def test_without_transfers_there_is_nothing() -> None:
    found = measure_bandwidth(recording_of([Row(key="x-1")]))
    assert (found.workers, found.nbytes.shape, found.n_unknown) == ((), (0, 0), 0)
