"""The append-only, bounded event log with an integer cursor."""

from taskscope.record.recorder import Recorder
from taskscope.record.tables.cache_usage import Holding
from taskscope.record.tables.stacklog import CountedCalls, StackLog
from taskscope.record.writers.graph import GraphSource
from taskscope.record.writers.runlog import (
    LaneActivity,
    LaneBuffer,
    LaneKey,
    RunLog,
    UnseenTask,
    WorkerCounts,
)

__all__ = [
    "CountedCalls",
    "GraphSource",
    "Holding",
    "LaneActivity",
    "LaneBuffer",
    "LaneKey",
    "Recorder",
    "RunLog",
    "StackLog",
    "UnseenTask",
    "WorkerCounts",
]
