"""The blocks of a `taskscope.diagnostics.MemorySampler`: one sampled by a scheduler, one sampled here."""

from __future__ import annotations

import logging
import uuid
from types import TracebackType
from typing import Any, Protocol, Self

from taskscope.errors import TaskscopeError
from taskscope.model.errortext import describe
from taskscope.model.interrupts import Entered, seen_by_with
from taskscope.recorder.pump import Tick
from taskscope.session import Options, current

__all__ = ["ClusterSamples", "LocalSamples", "Samples"]

_Series = dict[str, list[tuple[float, int]]]
_log = logging.getLogger("taskscope")


class Samples(Protocol):
    """A block that is sampled, in either form."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def __aenter__(self) -> object: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class LocalSamples:
    """Samples of this process and its children, by the sampler that all of taskscope shares.

    Parameters
    ----------
    series
        Where the samples go.
    label
        Under which name.
    interval_s
        Seconds between samples.
    """

    def __init__(self, series: _Series, label: str | None, interval_s: float) -> None:
        self._series = series
        self._label = label or str(uuid.uuid4())
        self._options = Options(dt=interval_s, metric="any")
        self._start_s = 0.0
        self._entered: Entered | None = None

    def __enter__(self) -> Self:
        if self._entered is not None:
            raise TaskscopeError("this block is being sampled; ask for another one by sample()")
        entered = Entered(self, self._close)
        try:
            self._entered = entered
            session = current()
            session.hold(self, self._options)
            self._start_s = session.recorder.now_s()
            session.pump.subscribe(self._tick)
            session.sampler.compute_started(self)
            session.sampler.sample()
            session.pump.wake()
            return self  # noqa: TRY300 - an interrupt may come here, too
        except BaseException:
            self._close()
            raise

    @seen_by_with
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        entered = self._entered
        try:
            self._close()
        except BaseException:
            self._close()
            raise
        if entered is not None:
            entered.is_over()

    def _close(self) -> None:
        if self._entered is None:
            return
        session = current()
        session.pump.unsubscribe(self._tick)
        session.sampler.compute_stopped(self)
        recorder = session.recorder
        rows = recorder.resources.rows().between(self._start_s, recorder.now_s())
        zero_s = recorder.started_at.timestamp()
        self._series[self._label] = [
            (zero_s + time_s, int(rss_bytes)) for time_s, _, rss_bytes, *_ in rows.tuples()
        ]
        session.release(self)
        self._entered = None

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _tick(self, _: Tick) -> None:
        # Without a compute nobody else sees to it that samples are taken and read.
        session = current()
        session.sampler.tick()
        session.pump.wake()


class ClusterSamples:
    """Samples of a cluster's memory, which its scheduler takes.

    Parameters
    ----------
    series
        Where the samples go.
    label
        Under which name.
    client
        Whose scheduler.
    measure
        What is sampled.
    interval_s
        Seconds between samples.
    """

    def __init__(
        self, series: _Series, label: str | None, client: Any, measure: str, interval_s: float
    ) -> None:
        self._series = series
        self._label = label
        self._client = client
        self._measure = measure
        self._interval_s = interval_s
        self._key = ""

    def __enter__(self) -> Self:
        if self._client.asynchronous:
            raise TaskscopeError("this client is asynchronous: use `async with` instead of `with`")
        self._client.sync(self.__aenter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._client.sync(self._stop)
        except Exception as failure:  # noqa: BLE001 - told below, unless the user's own is on its way
            self._lost(failure, error)

    async def __aenter__(self) -> Self:
        self._key = await self._client.scheduler.memory_sampler_start(
            client=self._client.id, measure=self._measure, interval=self._interval_s
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._stop()
        except Exception as failure:  # noqa: BLE001 - told below, unless the user's own is on its way
            self._lost(failure, error)

    async def _stop(self) -> None:
        samples = await self._client.scheduler.memory_sampler_stop(key=self._key)
        self._series[self._label or self._key] = [(time_s, nbytes) for time_s, nbytes in samples]

    def _lost(self, failure: Exception, error: BaseException | None) -> None:
        if error is None:
            raise TaskscopeError(
                f"the scheduler kept the samples of {self._label or self._key!r}: {describe(failure)}"
            ) from failure
        # The user's own exception is on its way, and must not be replaced.
        _log.warning("the samples of %r are lost: %s", self._label or self._key, describe(failure))
