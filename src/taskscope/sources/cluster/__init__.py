"""Record what clients compute on clusters of dask.distributed, by asking the scheduler."""

from taskscope.sources.cluster.adapter import cluster_is_default, is_client
from taskscope.sources.cluster.source import ClusterSource

__all__ = ["ClusterSource", "cluster_is_default", "is_client"]
