"""Which tasks of a run do not have to run: the cluster has their results, or those of what needs them.

The scheduler says what it has in memory, and what nobody needs. Either may be so because the task has run
since its records were read, so it is decided once all records were read that it had when it said so.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from taskscope.sources.cluster.ownership import Ownership
from taskscope.sources.cluster.runs import Idle, TrackedRun
from taskscope.sources.cluster.stream import TaskStream

__all__ = ["IDLE", "note_idle", "settle"]

_THERE, _NOT_NEEDED = "memory", "released"
IDLE = frozenset((_THERE, _NOT_NEEDED))
"""The states of tasks that are neither ahead nor being computed."""
_AHEAD = frozenset(("waiting", "queued", "processing", "no-worker"))


def note_idle(
    run: TrackedRun,
    keys: Sequence[Hashable],
    states: Mapping[Hashable, str | None],
    n_records: int,
    ownership: Ownership,
) -> None:
    """Note what a scheduler said, to be decided by `settle`.

    Parameters
    ----------
    run
        The run.
    keys, states
        Tasks of it, and in which states they were.
    n_records
        How many records the scheduler had then, or a little later.
    ownership
        Whose tasks are.
    """
    there = [key for key in keys if states.get(key) == _THERE]
    not_needed: list[Hashable] = []
    # Until the scheduler has gone through the graph, what another graph has and does not need may be needed.
    if (
        run.landed
        or run.log.submitted
        or any(states.get(key) in _AHEAD and ownership.owner(key) is run for key in keys)
    ):
        not_needed = [key for key in keys if states.get(key) == _NOT_NEEDED and key not in run.requested]
    if there or not_needed:
        run.idle.append(Idle(n_records, there, not_needed))


def settle(run: TrackedRun, stream: TaskStream) -> None:
    """Tell the recorder of tasks of which all records were read by now, and there are none."""
    while run.idle and run.idle[0].n_records <= stream.cursor:
        _, there, not_needed = run.idle.popleft()
        # What an error or the user has ended is not needed either, but did not finish.
        keys = there if run.failed or run.status not in (None, "finished") else [*there, *not_needed]
        if stream.has_all_of(run):
            run.spare(key for key in keys if not run.is_seen(key))
