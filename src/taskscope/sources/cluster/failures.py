"""What is run on a worker to read what it has told the scheduler of attempts that failed.

A worker keeps the last thousand batches of messages that it sent, at least two milliseconds apart each.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Report", "read_failures"]

Report: TypeAlias = dict[str, Any]
"""What a worker told of a failed attempt; but for the worker, it has what a record of the task stream has."""


def read_failures(
    read: dict[str, int], waiting: dict[Any, int], dask_worker: Any = None
) -> tuple[int, int, list[Report], list[tuple[Any, int]]]:
    """Run on a worker: return what failed since it was last read.

    Parameters
    ----------
    read
        How many batches of messages each worker had sent then.
    waiting
        Keys that have failed, and the scheduler's numbers of these attempts.

    Returns
    -------
    int, int
        How many batches it has sent now, and how many of the new ones it does not remember.
    list of dict
        The reports of failures in the others.
    list of tuple
        Keys of `waiting` that this worker was given since, and the numbers of these attempts.
    """
    stream = dask_worker.batched_stream
    n_sent, kept = stream.batch_count, list(stream.recent_message_log)
    known = read.get(dask_worker.address)
    n_new = n_sent if known is None else n_sent - known
    # A batch is counted before it is sent, and kept once it was: so one more may be new.
    new = kept[-(n_new + 1) :]
    # Of a batch of more than a megabyte only that is kept that it was one.
    n_missed = sum(isinstance(batch, str) for batch in new) + max(n_new - len(kept), 0)
    wanted = ("key", "run_id", "thread", "status", "stimulus_id", "startstops")
    reports = [
        {name: message[name] for name in wanted} | {"exception_text": str(message["exception_text"])[:1000]}
        for batch in new
        if not isinstance(batch, str)
        for message in batch
        if isinstance(message, dict) and message.get("startstops") and "exception_text" in message
    ]
    tasks = dask_worker.state.tasks
    given = [(key, tasks[key].run_id) for key in waiting if key in tasks]
    again = [(key, number) for key, number in given if number > waiting[key]]
    return n_sent, 0 if known is None else n_missed, reports, again


# So that it travels as code, not as the name of a module that workers may not have.
read_failures.__module__ = "__main__"
