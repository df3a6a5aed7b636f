"""Record what clients compute on clusters of dask.distributed, by observing the scheduler."""

from taskscope.sources.cluster.adapter import (
    Call,
    may_have_clients,
)
from taskscope.sources.cluster.adapter import clear as clear_clients
from taskscope.sources.cluster.source import CLIENTS, ClusterSource

__all__ = [
    "CLIENTS",
    "Call",
    "ClusterSource",
    "clear_clients",
    "may_have_clients",
]
