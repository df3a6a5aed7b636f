"""The profile of a recording's computes on a cluster, asked of its scheduler."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from taskscope.analysis.totals import measure_totals
from taskscope.model.errortext import describe
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Message
from taskscope.sources.cluster.adapter import default_client
from taskscope.sources.cluster.workers.samples import cluster_stacks, sampling_interval_s

if TYPE_CHECKING:
    from distributed import Client

_MAX_PREFIXES = 20


def wait_for_profile(recording: RecordedData, timeout_s: float) -> RecordedData:
    """Return the recording with the samples that the workers of the default client took, if any came in time.

    For where workers do not let themselves be asked directly; their samples then have no time and no worker.
    """
    client = default_client()
    if client is None or client.asynchronous:
        return recording
    try:
        found: RecordedData = client.sync(
            ask_profile, recording, client, timeout_s, callback_timeout=timeout_s
        )
    except Exception as error:  # noqa: BLE001 - a scheduler that is gone must not take the recording with it
        return _without(recording, error)
    return found


async def ask_profile(recording: RecordedData, client: Client, timeout_s: float) -> RecordedData:
    """Return the recording with the samples that the workers of a client took, if any came in time."""
    runs = [run for run in recording.runs if run.is_on_cluster]
    start_s = min(run.start_s for run in runs)
    stop_s = max(math.inf if run.stop_s is None else run.stop_s for run in runs)
    epoch_s = recording.started_at.timestamp() - recording.zero_s
    scheduler = client.scheduler
    if scheduler is None:
        return _without(recording, RuntimeError("the client is not connected"))
    seconds = {t.prefix: t.duration_s for t in measure_totals(recording).prefixes[:_MAX_PREFIXES]}
    try:
        async with asyncio.timeout(timeout_s):
            found = await asyncio.gather(
                *(
                    scheduler.profile(
                        key=prefix,
                        workers=None,
                        merge_workers=True,
                        start=epoch_s + start_s - 1.0,
                        stop=None if math.isinf(stop_s) else epoch_s + stop_s + 1.0,
                        server=False,
                        scheduler=False,
                    )
                    for prefix in seconds
                )
            )
    except Exception as error:  # noqa: BLE001 - see wait_for_profile
        return _without(recording, error)
    stacks = cluster_stacks(
        dict(zip(seconds, found, strict=True)),
        seconds,
        run=runs[0].run,
        start_s=start_s,
        worker="cluster",
        interval_s=sampling_interval_s(),
    )
    return replace(recording, stacks=stacks) if len(stacks.rows) else recording


def _without(recording: RecordedData, error: BaseException) -> RecordedData:
    why = " in time" if isinstance(error, TimeoutError) else f": {describe(error)}"
    text = f"the scheduler gave no profile{why}"
    return replace(recording, messages=(*recording.messages, Message(recording.now_s, "warning", text)))
