"""What was allocated when most was in memory, by task and source line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from taskscope.schema import About

__all__ = ["PeakLine"]


@dataclass(frozen=True, slots=True)
class PeakLine:
    """What a source line had allocated for a task at the peak, and not yet freed."""

    peak: Annotated[int, About("Which peak: each time that memory was recorded has its own.")]
    run: Annotated[
        int | None,
        About("The compute; none: allocated by no task.", refers="runs.run"),
    ]
    key: Annotated[str | None, About("The task; none: no task, or several, as few are told apart.")]
    prefix: Annotated[str | None, About("The task's prefix.")]
    file: Annotated[str | None, About("The file of the line; none: no task, or no Python line of one.")]
    function: Annotated[str | None, About("The function that the line is in.")]
    line: Annotated[int | None, About("The number of the line in its file.")]
    nbytes: Annotated[int, About("How much, with what libraries allocated for it.", unit="bytes")]
    n_allocations: Annotated[int, About("In how many pieces.")]
