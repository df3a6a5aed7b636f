"""A cluster for one test, and its client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, LocalCluster

__all__ = ["small_cluster"]


@contextmanager
def small_cluster(
    n_workers: int = 1, n_threads: int = 1, *, processes: bool = False, **options: Any
) -> Iterator[tuple[LocalCluster, Client]]:
    """Provide a cluster whose workers are in this process, or are processes without a limit of memory."""
    if processes:
        options = {"memory_limit": 0, **options}
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=n_threads,
            processes=processes,
            dashboard_address=":0",
            **options,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield cluster, client
