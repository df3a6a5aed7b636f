"""The append-only, bounded event log with an integer cursor."""

from taskscope.recorder.appended import LaneActivity, LaneBuffer, LaneKey, UnseenTask
from taskscope.recorder.graphsource import GraphSource
from taskscope.recorder.holdings import Holding
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
