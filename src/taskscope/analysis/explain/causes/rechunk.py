"""Other chunks of the array that computes begin with, as a call in the user's own names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass

from taskscope.model.tables.records import Run

_MOST_BYTES = 100e6


@dataclass(frozen=True, slots=True)
class UserArray:
    """An array of the calling program: its name there, shape, largest chunk and the bytes of an element."""

    name: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    itemsize: int

    @classmethod
    def of(cls, runs: Iterable[Run]) -> UserArray | None:
        """Return the array of the first compute that has one."""
        texts = (run.array for run in runs if run.array is not None)
        try:
            found = json.loads(next(texts, "null"))
            return found and cls(
                str(found["name"]),
                tuple(map(int, found["shape"])),
                tuple(max(int(n), 1) for n in found["chunks"]),
                int(found["itemsize"]),
            )
        except (ValueError, KeyError, TypeError):
            return None

    def larger(self, times: float, least_chunks: int) -> str | None:
        """Return the call for chunks about so many times as large; None where there are none."""
        chunks = list(self.chunks)
        while math.prod(chunks) < times * math.prod(self.chunks):
            axis = max(range(len(chunks)), key=lambda i: self._n(chunks, i))
            grown = [*chunks]
            grown[axis] = min(2 * chunks[axis], self.shape[axis])
            too_large = math.prod(grown) * self.itemsize > _MOST_BYTES
            if grown == chunks or too_large or self._n_chunks(grown) < least_chunks:
                break
            chunks = grown
        return self._call(chunks)

    def smaller(self, n_chunks: int) -> str | None:
        """Return the call for at least so many chunks; None where there are none."""
        chunks = list(self.chunks)
        while self._n_chunks(chunks) < n_chunks and max(chunks) > 1:
            axis = max(range(len(chunks)), key=chunks.__getitem__)
            chunks[axis] = math.ceil(chunks[axis] / 2)
        return self._call(chunks)

    def _n(self, chunks: list[int], axis: int) -> int:
        return math.ceil(self.shape[axis] / chunks[axis])

    def _n_chunks(self, chunks: list[int]) -> int:
        return math.prod(self._n(chunks, axis) for axis in range(len(chunks)))

    def _call(self, chunks: list[int]) -> str | None:
        if tuple(chunks) == self.chunks:
            return None
        return f"{self.name} = {self.name}.rechunk({tuple(chunks)})"
