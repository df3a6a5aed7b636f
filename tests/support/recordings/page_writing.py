"""Messages to a page, written from rows spelled out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from taskscope.model.keys import KeyBlock, key_block
from taskscope.model.tables.columns import RowBlock, round_down_f4
from taskscope.wire.writer import FrameWriter
from tests.support.recordings.task_blocks import Row, flags_of


class PageFrames(FrameWriter):
    """The writer of a page whose frames are kept."""

    @classmethod
    def begun(cls, recorder: str, epoch: str) -> PageFrames:
        frames: list[bytes] = []
        writer = cls.of_page(frames.append, recorder, epoch)
        writer.frames = frames
        writer.restart()
        return writer

    frames: list[bytes]

    def add_row_tasks(self, first: int, rows: Sequence[Row]) -> None:
        for run, same in groupby(rows, lambda row: row.run):
            part = list(same)
            errors = {i: row.error for i, row in enumerate(part) if row.error is not None}
            group = np.array([row.group for row in part], np.uint32)
            self.add_tasks_with_keys(first, _block(run, part), errors, keys_of(part), group)
            first += len(part)

    def message(self) -> bytes:
        """Return the only message, header included."""
        self.frame()
        header, frame = self.frames
        return header + frame


def keys_of(rows: Sequence[Row]) -> KeyBlock:
    return key_block([row.key for row in rows])


def _block(run: int, rows: Sequence[Row]) -> RowBlock:
    start = np.array([row.start_s for row in rows])
    return RowBlock(
        run=run,
        task=np.arange(len(rows), dtype=np.int32),
        start=start,
        duration=round_down_f4(np.array([row.stop_s for row in rows]) - start),
        lane=np.array([row.lane for row in rows], np.uint16),
        flags=flags_of(rows),
        cpu_s=np.array([row.cpu_s for row in rows], np.float32),
        nbytes=np.array([row.size_bytes for row in rows]),
    )
