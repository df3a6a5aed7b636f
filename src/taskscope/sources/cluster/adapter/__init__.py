"""The unpromised parts of ``dask.distributed`` that are used, and how its clients are watched.

Methods of ``distributed.Client`` are replaced while an observer watches: ``get``, which `dask.compute` calls,
``_graph_to_futures`` and ``_send_to_scheduler``, through which all work is sent, ``retry``, ``close``,
``shutdown``, ``_close`` and ``_release_key``. They only notify observers of the call. ``_start`` of an
asynchronous client returns when its scheduler is watched, after 2 s at most.

``tests/unit/test_private_names.py`` fails when one of these names changes, or another is used. This package
never imports distributed: without a client there is nothing to watch.
"""

from taskscope.sources.cluster.adapter.clients import (
    Call,
    Observer,
    Submission,
    all_workers,
    cancel,
    connection_of,
    default_client,
    future_states,
    is_client,
    loop_of_scheduler,
    may_have_clients,
    runs_in_this_loop,
    unfinished_keys,
)
from taskscope.sources.cluster.adapter.methods import clear, release, watch

__all__ = [
    "Call",
    "Observer",
    "Submission",
    "all_workers",
    "cancel",
    "clear",
    "connection_of",
    "default_client",
    "future_states",
    "is_client",
    "loop_of_scheduler",
    "may_have_clients",
    "release",
    "runs_in_this_loop",
    "unfinished_keys",
    "watch",
]
