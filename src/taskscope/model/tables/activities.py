"""Activities of a cluster's workers besides computing, and transfers between workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from taskscope.schema import About, Rows

ACTIVITIES = ("transfer", "disk-read", "disk-write", "deserialize", "serialize", "other", "failed-attempt")
"""Kinds of activity by their code; computing is in the rows of tasks.

A failed attempt is computing that raised and was followed by another attempt, for the task has ``retries``.
"""
FAILED_ATTEMPT = ACTIVITIES.index("failed-attempt")


@dataclass(frozen=True, slots=True, eq=False)
class ActivityRows(Rows):
    """Activities as equally long columns."""

    run: Annotated[NDArray[np.int32], About("The compute.", refers="runs.run")]
    task: Annotated[
        NDArray[np.int32], About("The task's number in the graph of its run.", refers="keys.task")
    ]
    lane: Annotated[NDArray[np.uint16], About("The lane of the task.", refers="lanes.id")]
    kind: Annotated[NDArray[np.uint8], About("A place in `ACTIVITIES`.")]
    start: Annotated[NDArray[np.float64], About("When it began.", unit="s", is_time=True)]
    duration: Annotated[NDArray[np.float32], About("How long it took.", unit="s")]
    source: Annotated[
        NDArray[np.uint32],
        About(
            "The worker that data came from, or what a failed attempt raised: a place in "
            "`ActivityColumns.sources`; 0 for none."
        ),
    ]
    nbytes: Annotated[
        NDArray[np.float64],
        About(
            "How much came from there.",
            unit="bytes",
            optional=True,
        ),
    ]
    group: Annotated[NDArray[np.uint32], About("The group of the task.", refers="groups.id", internal=True)]


@dataclass(frozen=True, slots=True, eq=False)
class ActivityColumns:
    """Activities, and the names that they refer to."""

    rows: ActivityRows
    sources: tuple[str, ...]
    dropped: int = 0


NO_ACTIVITIES = ActivityColumns(ActivityRows.empty(), ("",))
"""The activities of a recording that has none."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Data that went from one worker to another, as one of them logged it."""

    worker: Annotated[str, About("The address of the worker whose log it is.", private="address")]
    peer: Annotated[
        str | None,
        About(
            "The address of the other one; None for a client or the scheduler, which fetched a result.",
            private="address",
        ),
    ]
    direction: Annotated[Literal["incoming", "outgoing"], About("Whether it came to the worker or left it.")]
    start_s: Annotated[float, About("When it began.", unit="s", is_time=True)]
    stop_s: Annotated[float, About("When it ended.", unit="s", is_time=True)]
    nbytes: Annotated[float | None, About("How much it was, as the worker measures results.", unit="bytes")]
    compressed_bytes: Annotated[
        float | None, About("How much it was on the wire; only the sender knows.", unit="bytes")
    ]
    n_keys: Annotated[int, About("How many results; 0 where only the receiving task reported it.")]
    keys: Annotated[
        tuple[str, ...],
        About("The keys of some of them; in a user's table joined by semicolons.", page=False, file=False),
    ]


@dataclass(frozen=True, slots=True)
class Steal:
    """A task that waited on one worker and that the scheduler wanted to be another's: work stealing."""

    time_s: Annotated[float, About("When it was settled.", unit="s", is_time=True)]
    run: Annotated[int, About("The compute.", refers="runs.run")]
    key: Annotated[str, About("The task's key.", page=False)]
    from_worker: Annotated[str, About("The address of the worker that it waited on.", private="address")]
    to_worker: Annotated[str, About("The address of the worker that was to have it.", private="address")]
    outcome: Annotated[
        Literal["stolen", "refused", "rescheduled"],
        About(
            "What became of it; refused: its worker was running it by then; rescheduled: one of the two "
            "was gone, and the scheduler chose anew."
        ),
    ]
    cost_s: Annotated[
        float | None,
        About(
            "How long the scheduler expected it to take on the first worker, with the transfer of what it "
            "needs: an estimate of the scheduler's, as are the next two.",
            unit="s",
        ),
    ] = None
    from_occupancy_s: Annotated[
        float | None,
        About("How much work the first worker had when that was decided.", unit="s", page=False),
    ] = None
    to_occupancy_s: Annotated[
        float | None, About("How much work the other one had.", unit="s", page=False)
    ] = None
