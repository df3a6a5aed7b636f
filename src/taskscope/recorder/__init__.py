"""The append-only, bounded event log with an integer cursor."""

from taskscope.recorder.appended import LaneActivity, LaneBuffer, LaneKey, UnseenTask
from taskscope.recorder.cache_usage import Holding
from taskscope.recorder.graph import GraphSource
from taskscope.recorder.recorder import DEFAULT_MAX_TASKS, Recorder
from taskscope.recorder.runlog import RunLog
from taskscope.recorder.stacklog import CountedCalls, StackLog

__all__ = [
    "DEFAULT_MAX_TASKS",
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
]
