"""What is used of ``dask.distributed`` beyond its documented interface, and how its clients are watched.

Eight methods of ``distributed.Client`` are replaced while anybody watches: ``get``, which `dask.compute`
calls and which tells when a compute has ended and how, ``_graph_to_futures``, through which all work goes to
the scheduler, ``retry``, by which work that it has goes on, ``close`` and ``shutdown``, and ``_close``, which
both come to, and ``_release_key``, by which futures are let go. They only tell us of the call. ``_start`` of
an asynchronous client ends when its scheduler is watched, after 2 s at most.

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
