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
from typing import TypeAlias, TypedDict

from taskscope.model.activities import Transfer
from taskscope.model.records import Group, GroupTotal, Lane, Message, Run
from taskscope.model.stacks import Function
from taskscope.model.workers import WorkerSample

__all__ = [
    "ACTIVITIES",
    "ACTIVITY_SIZES",
    "GRAPH",
    "HOLDINGS",
    "LANDED",
    "OPTIONAL",
    "RECORDS",
    "ROWS",
    "SAMPLES",
    "STACKS",
    "TASK",
    "Head",
    "InFlight",
    "Kinds",
    "Last",
    "TickState",
]

Kinds: TypeAlias = Mapping[str, tuple[str, ...]]

ROWS: Kinds = {
    "task": ("<i4",),
    "start": ("<f8",),
    "duration": ("<f4",),
    "cpu": ("<f4",),
    "size": ("<u4", "<f8"),
    "lane": ("<u2",),
    "flags": ("|u1",),
}
"""As in `taskscope.model.columns.RowBlock`; the run is in the head."""

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

GRAPH: Kinds = {
    "group": ("<u4",),
    "n_dependencies": ("|u1", "<u4"),
    "edges": ("<i4",),
    "enter": ("<u4", "<f8"),
    "kept": ("<i4",),
    "data": ("<i4",),
    "data_sizes": ("<f8",),
    "values": ("<f8",),
    "spared": ("<i4",),
    **KEYS,
}
"""As in `taskscope.model.columns.GraphColumns`; `values` and `spared` may be absent."""

SAMPLES: Kinds = {
    "time": ("<f8",),
    "cpu_percent": ("<f8",),
    "rss_bytes": ("<f8",),
    "n_processes": ("<f8",),
    "gap": ("<f8",),
}

HOLDINGS: Kinds = {
    "run": ("<i4",),
    "group": ("<u4",),
    "time": ("<f8",),
    "n_keys": ("<u4",),
    "nbytes": ("<f8",),
    "n_unsized": ("<u4",),
}
"""As in `taskscope.model.held.HeldRows`."""

STACKS: Kinds = {
    "parent": ("<i4",),
    "function": ("<i4",),
    "start": ("<f8",),
    "run": ("<i4",),
    "prefix": ("<u4",),
    "worker": ("<u4",),
    "node": ("<i4",),
    "count": ("<u4",),
    "seconds": ("<f8",),
}
"""As in `taskscope.model.stacks.StackColumns` and its rows; names are in the small tables."""

ACTIVITIES: Kinds = {
    "run": ("<i4",),
    "task": ("<i4",),
    "lane": ("<u2",),
    "kind": ("|u1",),
    "start": ("<f8",),
    "duration": ("<f4",),
    "source": ("<u4",),
    "nbytes": ("<f8",),
}
"""As in `taskscope.model.activities.ActivityRows`; names are in the small tables."""

ACTIVITY_SIZES: Kinds = {"place": ("<i4",), "nbytes": ("<f8",)}
"""Bytes of activities by their place among those in the file."""

LANDED: Kinds = {"task": ("<i4",), "enter": ("<f8",), "values": ("<f8",), "spared": ("|u1",)}
"""Seconds after the recorder's zero, or what the user's cache metric gave, or 1 for what does not have to run
and 0 for what has to after all; what was written last of a task counts."""

_NUMBER = (int, float)
_TEXT_OR_NONE = (str, type(None))

RECORDS: Mapping[str, tuple[type, Mapping[str, tuple[type, ...]]]] = {
    "runs": (
        Run,
        {
            "run": (int,),
            "label": _TEXT_OR_NONE,
            "cell": _TEXT_OR_NONE,
            "scheduler": _TEXT_OR_NONE,
            "n_workers": (int, type(None)),
            "n_tasks": (int,),
            "start_s": _NUMBER,
            "stop_s": (*_NUMBER, type(None)),
            "status": (str,),
            "error": _TEXT_OR_NONE,
            "execution_count": (int, type(None)),
            "source_crc": (type(None),),
        },
    ),
    "groups": (Group, {"id": (int,), "name": (str,), "prefix": (str,)}),
    "lanes": (Lane, {"id": (int,), "worker": (str,), "thread": (int,), "label": (str,)}),
    "messages": (Message, {"time_s": _NUMBER, "level": (str,), "text": (str,)}),
    "totals": (
        GroupTotal,
        {
            "group": (str,),
            "prefix": (str,),
            "n_tasks": (int,),
            "n_erred": (int,),
            "duration_s": _NUMBER,
            "cpu_s": _NUMBER,
            "result_bytes": _NUMBER,
        },
    ),
    "errors": (dict, {"run": (int,), "task": (int,), "text": (str,)}),
    "functions": (Function, {"name": (str,), "file": (str,), "line": (int,)}),
    "stack_prefixes": (dict, {"name": (str,)}),
    "stack_workers": (dict, {"name": (str,)}),
    "activity_sources": (dict, {"name": (str,)}),
    "workers": (
        WorkerSample,
        {
            "time_s": _NUMBER,
            "worker": (str,),
            "name": (str,),
            "n_threads": (int,),
            "n_executing": (int, type(None)),
            **dict.fromkeys(
                (
                    "cpu_percent",
                    "rss_bytes",
                    "managed_bytes",
                    "unmanaged_bytes",
                    "spilled_bytes",
                    "limit_bytes",
                ),
                (*_NUMBER, type(None)),
            ),
        },
    ),
    "transfers": (
        Transfer,
        {
            "worker": (str,),
            "peer": (str,),
            "direction": (str,),
            "start_s": _NUMBER,
            "stop_s": _NUMBER,
            "nbytes": (*_NUMBER, type(None)),
            "compressed_bytes": (*_NUMBER, type(None)),
            "n_keys": (int,),
            "keys": (list,),
        },
    ),
}
"""The record of each small table, and the types of its fields."""

OPTIONAL = {"runs": {"execution_count", "source_crc"}}
"""Fields that the first files did not have."""


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
