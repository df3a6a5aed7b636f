"""What the frames of a ``.taskscope`` file hold, version 2.

===== ==================================================================================================
kind  content
===== ==================================================================================================
HEAD  JSON: when and where it was recorded, and whether it is written while recording (`Head`)
RECS  JSON: rows of one small table (`RECORDS`); a later row of a run replaces an earlier one, later
      messages replace all earlier ones
TASK  columns `TASK`: tasks that name their own key, as version 1 wrote them while recording
GRPH  columns `GRAPH` of one run, in pieces
PART  some columns `GRAPH` of one run, to be appended to those before, as written while recording; its
      dependencies lag behind its keys, and its head says how many keys there are (`GraphPart`)
ROWS  columns `ROWS`: tasks that name their key by its number in the graph of their run
LAND  columns `LANDED` of one run: when results entered the scheduler's cache, and what does not have to
      run, as written while recording
SMPL  columns `SAMPLES`: CPU and memory
HOLD  columns `HOLDINGS`: what workers of a cluster were seen to hold, to be appended
STCK  columns `STACKS`: samples of call stacks, in pieces
STKP  columns `STACKS`, to be appended, as written while recording; those of a cycle that is open replace
      those before, and the next that are not
ACTV  columns `ACTIVITIES`: what workers of a cluster did besides computing, in pieces
ACTP  columns `ACTIVITIES`, to be appended, as written while recording
ACTB  columns `ACTIVITY_SIZES`: how many bytes activities moved, told later
TICK  JSON: how late it is, and the tasks in flight (`TickState`; while recording, after everything else)
LAST  JSON: the end of a complete file
===== ==================================================================================================

Times are seconds after the recorder's zero. Columns follow a JSON head that
names them (`taskscope.export.pack`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias, TypedDict

from taskscope.model.activities import ActivityRows, Transfer
from taskscope.model.columns import GraphColumns, RowBlock
from taskscope.model.held import HeldRows
from taskscope.model.records import Group, GroupTotal, Lane, Message, Run
from taskscope.model.resources import ResourceRows
from taskscope.model.stacks import Function, StackRows
from taskscope.model.workers import WorkerSample
from taskscope.schema import About, columns_of

__all__ = [
    "ACTIVITIES",
    "ACTIVITY_SIZES",
    "GRAPH",
    "HOLDINGS",
    "LANDED",
    "METADATA",
    "RECORDS",
    "ROWS",
    "SAMPLES",
    "STACKS",
    "TASK",
    "Head",
    "InFlight",
    "Kinds",
    "Last",
    "Name",
    "TaskError",
    "TickState",
]

Kinds: TypeAlias = Mapping[str, tuple[str, ...]]


def _kinds(declared: type) -> Kinds:
    return {c.name: c.stored for c in columns_of(declared) if c.stored and not c.internal}


ROWS: Kinds = _kinds(RowBlock)
"""The run is in the head."""

KEYS: Kinds = {
    "dims": ("|u1",),
    "ints": ("<i4",),
    "text_bytes": ("<u4",),
    "texts": ("|u1",),
}
"""As in `taskscope.model.keys.KeyBlock`, texts as UTF-8 one after the other."""

TASK: Kinds = {
    "run": ("<i4",),
    "group": ("<u4",),
    "lane": ("<u2",),
    "start": ("<f8",),
    "duration": ("<f4",),
    "cpu": ("<f4",),
    "size": ("<u4", "<f8"),
    "flags": ("|u1",),
    **KEYS,
}

GRAPH: Kinds = {**_kinds(GraphColumns), **KEYS}
"""Of `GraphColumns`, `values` and `spared` may be absent."""

SAMPLES: Kinds = _kinds(ResourceRows)

HOLDINGS: Kinds = _kinds(HeldRows)

STACKS: Kinds = {"parent": ("<i4",), "function": ("<i4",), **_kinds(StackRows)}
"""As in `taskscope.model.stacks.StackColumns` and its rows; names are in the small tables."""

ACTIVITIES: Kinds = _kinds(ActivityRows)
"""Names that they refer to are in the small tables."""

ACTIVITY_SIZES: Kinds = {"place": ("<i4",), "nbytes": ("<f8",)}
"""Bytes of activities by their place among those in the file."""

LANDED: Kinds = {"task": ("<i4",), "enter": ("<f8",), "values": ("<f8",), "spared": ("|u1",)}
"""Seconds after the recorder's zero, or what the user's cache metric gave, or 1 for what does not have to run
and 0 for what has to after all; what was written last of a task counts."""


@dataclass(frozen=True, slots=True)
class TaskError:
    """What a task raised."""

    run: Annotated[int, About("The compute.", refers="runs.run")]
    task: Annotated[int, About("The task's number in the graph of its run.", refers="keys.task")]
    text: Annotated[str, About("Type and message.")]


@dataclass(frozen=True, slots=True)
class Name:
    """What rows of columns refer to by its place."""

    name: Annotated[str, About("The name.")]


RECORDS: Mapping[str, type] = {
    "runs": Run,
    "groups": Group,
    "lanes": Lane,
    "messages": Message,
    "totals": GroupTotal,
    "errors": TaskError,
    "functions": Function,
    "stack_prefixes": Name,
    "stack_workers": Name,
    "activity_sources": Name,
    "workers": WorkerSample,
    "transfers": Transfer,
}
"""The records of each small table; what a field may hold is what its class declares."""


METADATA: Mapping[str, tuple[type, ...]] = {
    "dt_s": (int, float),
    "interrupted": (bool,),
    "memory_limit_bytes": (int,),
    "n_cores": (int, float),
    "pid": (int,),
}
"""What those metadata are that more is made of than text; any of them may be None or missing."""


class Head(TypedDict):
    """The content of ``HEAD``."""

    started_at: str
    zero_s: float
    metadata: dict[str, object]
    streamed: bool
    n_rows: int | None
    """How many tasks follow; None while recording."""
    unknown: list[str]
    """`Recording.unknown`; the first files did not have it."""


InFlight: TypeAlias = tuple[int, int, int, float, int]
"""A task in flight: run, lane, number in the run's graph, start, flags."""


class TickState(TypedDict):
    """The content of ``TICK``; in version 1 tasks in flight were run, lane, group, text of the key, start."""

    now_s: float
    running: list[InFlight]


class Last(TypedDict):
    """The content of ``LAST``."""

    now_s: float
    dropped: int
