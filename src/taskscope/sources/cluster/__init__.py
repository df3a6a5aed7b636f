"""Record what clients compute on clusters of dask.distributed, by observing the scheduler."""

from taskscope.sources.cluster.adapter import (
    Call,
    Submission,
    may_have_clients,
    release,
    watch,
)
from taskscope.sources.cluster.adapter import clear as clear_clients
from taskscope.sources.cluster.source import CLIENTS, ClusterSource

__all__ = [
    "CLIENTS",
    "Call",
    "ClusterSource",
    "Submission",
    "clear_clients",
    "may_have_clients",
    "release",
    "watch",
]
