"""How fast results went from one worker of a cluster to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from taskscope.analysis.quantities import format_bytes, format_count, format_duration, plural, printable
from taskscope.analysis.result import Result, Section, columns_of
from taskscope.model.recording import RecordedData

__all__ = ["Bandwidth", "WorkerPair", "bandwidth"]

_MAX_SHOWN = 20
_NAME_WIDTH = 24


@dataclass(frozen=True, slots=True)
class WorkerPair:
    """What one worker sent to another.

    Parameters
    ----------
    sender, receiver
        Their addresses.
    n_transfers
        How many transfers there were, each of one or more results.
    n_unsized
        How many of them had an unknown size, and count in nothing that follows.
    nbytes
        How much it was, as the worker measures results.
    seconds
        How long the transfers took, added up.
    busy_s
        For how long at least one of them went on.
    """

    sender: str
    receiver: str
    n_transfers: int
    n_unsized: int
    nbytes: float
    seconds: float
    busy_s: float

    @property
    def bytes_per_s(self) -> float:
        """How fast a single transfer was on average, as distributed counts it; NaN where that is unknown."""
        return self.nbytes / self.seconds if self.seconds > 0 else np.nan

    @property
    def together_bytes_per_s(self) -> float:
        """How fast the link was while anything went over it; NaN where that is unknown."""
        return self.nbytes / self.busy_s if self.busy_s > 0 else np.nan


_COLUMNS = (*WorkerPair.__slots__, "bytes_per_s", "together_bytes_per_s")


@dataclass(frozen=True, slots=True, repr=False)
class Bandwidth(Result):
    """How fast results went between each two workers.

    Parameters
    ----------
    pairs
        Those between which something went, most bytes first.
    names
        What workers are called, by address, as far as that is known.
    reason
        Why nothing can be said; None where something can.
    notes
        What is not known, and why.
    """

    pairs: tuple[WorkerPair, ...]
    names: tuple[tuple[str, str], ...]
    reason: str | None
    notes: tuple[str, ...]

    @property
    def nbytes(self) -> float:
        """How much went between workers."""
        return sum(pair.nbytes for pair in self.pairs)

    def table(self) -> dict[str, list[object]]:
        """Return a row for each pair, with the fields and rates of `WorkerPair`.

        ``.to_pandas().set_index(["sender", "receiver"]).bytes_per_s.unstack()`` makes a matrix of it.
        """
        return columns_of(self.pairs, *_COLUMNS)

    def name_of(self, address: str) -> str:
        """Return what a worker is called; its address where that is not known."""
        return dict(self.names).get(address, address)

    def sections(self) -> Iterator[Section]:
        """Yield a table of the pairs, the one with the most bytes first."""
        if self.reason is not None:
            yield Section(f"cannot say how fast results went between workers, because {self.reason}")
            return
        n = sum(pair.n_transfers for pair in self.pairs)
        n_more = len(self.pairs) - _MAX_SHOWN
        yield Section(
            f"bandwidth · {format_bytes(self.nbytes)} in {format_count(n)} {plural('transfer', n)}",
            ("from", "to", "transfers", "bytes", "a transfer", "rate"),
            [self._row(pair) for pair in self.pairs[:_MAX_SHOWN]],
            (*([f"{n_more:,} more pairs are in to_pandas()"] if n_more > 0 else []), *self.notes),
            left=2,
        )

    def _row(self, pair: WorkerPair) -> tuple[str, ...]:
        n_sized = pair.n_transfers - pair.n_unsized
        known = n_sized > 0 and pair.seconds > 0
        return (
            printable(self.name_of(pair.sender), _NAME_WIDTH),
            printable(self.name_of(pair.receiver), _NAME_WIDTH),
            format_count(pair.n_transfers),
            format_bytes(pair.nbytes if n_sized else None),
            format_duration(pair.seconds / n_sized if n_sized else None),
            f"{format_bytes(pair.bytes_per_s)}/s" if known else format_bytes(None),
        )


def bandwidth(recording: RecordedData) -> Bandwidth:
    """Return how fast results went between each two workers.

    Notes
    -----
    Of a transfer that both ends logged, the receiver's log counts: it is the one that distributed's own page
    is made of, and that has the time until the data was there.
    """
    between = _by_pair(_read(recording))
    pairs = sorted((_measure(*pair, some) for pair, some in between.items()), key=lambda p: -p.nbytes)
    names = {sample.worker: f"worker {sample.name}" for sample in recording.workers if sample.name}
    involved = {address for pair in pairs for address in (pair.sender, pair.receiver)}
    n_unsized = sum(pair.n_unsized for pair in pairs)
    unsized = f"{format_count(n_unsized)} {plural('transfer', n_unsized)} of unknown size left out"
    return Bandwidth(
        pairs=tuple(pairs),
        names=tuple((address, name) for address, name in names.items() if address in involved),
        reason=None if pairs else _reason(recording),
        notes=(unsized,) if n_unsized else (),
    )


def _read(recording: RecordedData) -> Iterable[tuple[tuple[str, str], str, float, float, float]]:
    """Yield sender and receiver, whose log it is, start, stop and bytes of what went between workers."""
    table = recording.table("transfers")
    names = ("worker", "peer", "direction", "start_s", "stop_s", "nbytes")
    for worker, peer, direction, start, stop, nbytes in zip(
        *(table[name].tolist() for name in names), strict=True
    ):
        # Without another end a client or the scheduler fetched it.
        if peer is not None and peer != worker:
            pair = (peer, worker) if direction == "incoming" else (worker, peer)
            yield pair, direction, start, stop, nbytes


def _by_pair(
    transfers: Iterable[tuple[tuple[str, str], str, float, float, float]],
) -> dict[tuple[str, str], Sequence[tuple[float, float, float]]]:
    logs: defaultdict[tuple[str, str], defaultdict[str, list[tuple[float, float, float]]]]
    logs = defaultdict(lambda: defaultdict(list))
    for pair, direction, *transfer in transfers:
        start, stop, nbytes = transfer
        logs[pair][direction].append((start, stop, nbytes))
    return {pair: of.get("incoming") or of["outgoing"] for pair, of in logs.items()}


def _measure(sender: str, receiver: str, transfers: Sequence[tuple[float, float, float]]) -> WorkerPair:
    start, stop, nbytes = np.array(sorted(transfers), np.float64).T
    sized = ~np.isnan(nbytes)
    start, stop, nbytes = start[sized], stop[sized], nbytes[sized]
    until = np.maximum.accumulate(stop)
    # What of each comes after all that began before it.
    alone = np.maximum(stop - np.maximum(start, np.concatenate([start[:1], until[:-1]])), 0.0)
    return WorkerPair(
        sender=sender,
        receiver=receiver,
        n_transfers=len(transfers),
        n_unsized=len(transfers) - len(start),
        nbytes=float(nbytes.sum()),
        seconds=float((stop - start).sum()),
        busy_s=float(alone.sum()),
    )


def _reason(recording: RecordedData) -> str:
    if "transfers" in recording.unknown:
        return "the file ends before its transfers"
    if not any(run.is_on_cluster for run in recording.runs):
        return "nothing ran on a cluster"
    return "no result went from one worker to another"
