"""Notice when computes go to a cluster, which no hook of the local schedulers sees."""

from __future__ import annotations

import sys

import dask

__all__ = ["cluster_is_default"]


def cluster_is_default() -> bool:
    """Return whether a `distributed.Client` is Dask's default scheduler; never imports distributed."""
    distributed = sys.modules.get("distributed")
    if distributed is None or dask.config.get("scheduler", None) not in {"dask.distributed", "distributed"}:
        return False
    try:
        distributed.default_client()
    except ValueError:
        return False
    return True
