"""How much data went from which worker to which, and how fast."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.activities import Transfer
from taskscope.model.recording import Recording

__all__ = ["Bandwidth", "measure_bandwidth"]


@dataclass(frozen=True, slots=True, eq=False)
class Bandwidth:
    """A matrix of workers: data goes from that of the row to that of the column.

    Parameters
    ----------
    workers
        Addresses of the workers, sorted.
    n_transfers
        How often.
    nbytes
        How much, as the workers measure results.
    busy_s
        How long the transfers took, added up; several at a time count each.
    bytes_per_s
        `nbytes` by `busy_s`, NaN where nothing was sent: what one transfer had of the network.
    n_unknown
        Transfers of unknown size, which are not in the matrix.
    """

    workers: tuple[str, ...]
    n_transfers: NDArray[np.int64]
    nbytes: NDArray[np.float64]
    busy_s: NDArray[np.float64]
    bytes_per_s: NDArray[np.float64]
    n_unknown: int


def measure_bandwidth(recording: Recording) -> Bandwidth:
    """Return what the workers sent to each other, by what the receivers logged.

    Where a receiver is gone and its log with it, what the senders logged stands in. What clients fetched is
    left out.
    """
    transfers = [t for t in recording.transfers if t.nbytes is not None and t.peer]
    received = {t.worker for t in transfers if t.direction == "incoming"}
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for transfer in transfers:
        sender, receiver = _ends(transfer)
        if transfer.direction == "incoming" or receiver not in received:
            entry = sums[sender, receiver]
            entry[0] += 1
            entry[1] += transfer.nbytes or 0.0
            entry[2] += transfer.stop_s - transfer.start_s
    workers = tuple(sorted({worker for pair in sums for worker in pair}))
    places = {worker: place for place, worker in enumerate(workers)}
    matrix = np.zeros((3, len(workers), len(workers)))
    for (sender, receiver), entry in sums.items():
        matrix[:, places[sender], places[receiver]] = entry
    count, nbytes, busy_s = matrix
    rate = np.divide(nbytes, busy_s, out=np.full_like(nbytes, np.nan), where=busy_s > 0)
    unknown = np.isnan(np.asarray(recording.table("transfers")["nbytes"], np.float64))
    return Bandwidth(workers, count.astype(np.int64), nbytes, busy_s, rate, int(unknown.sum()))


def _ends(transfer: Transfer) -> tuple[str, str]:
    """Return who sent and who received."""
    if transfer.direction == "incoming":
        return transfer.peer or "", transfer.worker
    return transfer.worker, transfer.peer or ""
