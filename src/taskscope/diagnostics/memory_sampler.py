"""Memory over time of a cluster or of this process, as distributed's MemorySampler has it."""

from __future__ import annotations

import logging
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from taskscope.diagnostics.window import Sampling
from taskscope.errors import OptionError, TaskscopeError, required, unknown_name
from taskscope.model.errortext import describe
from taskscope.options import Options, checked_dt
from taskscope.profiling import BlockContext
from taskscope.session import current

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MemorySampler", "find_client"]

_Series = dict[str, list[tuple[float, int]]]
_log = logging.getLogger("taskscope")


def find_client() -> Any:
    """Return the current `distributed.Client`, None if there is none; never imports distributed."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


class LocalSamples(BlockContext):
    """Samples of this process and its children, by the sampler that all of taskscope shares."""

    def __init__(self, series: _Series, label: str | None, interval_s: float) -> None:
        self._series = series
        self._label = label or str(uuid.uuid4())
        self._options = Options(dt=interval_s, metric="any")
        self._start_s: float | None = None
        self._sampling = Sampling()

    def __enter__(self) -> Self:
        # Here, for what fails in `_begin` is ended, and this goes on.
        if self._start_s is not None:
            raise TaskscopeError("this block is being sampled; ask for another one by sample()")
        return super().__enter__()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    def _begin(self, caller: FrameType) -> None:
        session = current()
        self._start_s = session.recorder.now_s()
        session.hold(self, self._options)
        self._sampling.begin()
        session.sampler.sample()

    def _end(self, error: BaseException | None, left_s: float | None) -> None:
        self._close()

    def _close(self) -> None:
        if self._start_s is None:
            return
        session = current()
        self._sampling.end()
        recorder = session.recorder
        rows = recorder.resources.rows().between(self._start_s, recorder.now_s())
        zero_s = recorder.started_at.timestamp()
        self._series[self._label] = [
            (zero_s + time_s, int(rss_bytes)) for time_s, _, rss_bytes, *_ in rows.tuples()
        ]
        session.release(self)
        self._start_s = None


class ClusterSamples:
    """Samples of a cluster's memory, which its scheduler takes."""

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
        with self._telling(error):
            self._client.sync(self._stop)

    async def __aenter__(self) -> Self:
        self._key = await self._client.scheduler.memory_sampler_start(
            client=self._client.id, measure=self._measure, interval=self._interval_s
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._telling(error):
            await self._stop()

    async def _stop(self) -> None:
        samples = await self._client.scheduler.memory_sampler_stop(key=self._key)
        self._series[self._label or self._key] = [(time_s, nbytes) for time_s, nbytes in samples]

    @contextmanager
    def _telling(self, error: BaseException | None) -> Iterator[None]:
        """Say why there are no samples, by an exception unless the user's own is on its way."""
        try:
            yield
        except Exception as failure:
            label, why = self._label or self._key, describe(failure)
            if error is None:
                raise TaskscopeError(f"the scheduler kept the samples of {label!r}: {why}") from failure
            _log.warning("the samples of %r are lost: %s", label, why)


_MEASURES = (
    *("process", "managed", "managed_spilled", "unmanaged", "unmanaged_old", "unmanaged_recent"),
    "optimistic",
)


class MemorySampler:
    """Samples memory while a block runs: of a cluster's workers, or of this process and its children.

    Every block has a label, and all of them can be compared: as they came, or aligned by their beginnings.

    Attributes
    ----------
    samples
        By label, pairs of a time (seconds since the epoch) and bytes.

    Notes
    -----
    On a cluster the scheduler samples what its workers last told it, every half second; here the resident
    memory is read, at the beginning, every `interval` seconds and at the end. The figures of a block that was
    ended by an exception are kept. If something else samples this process, too, the shorter interval holds.

    Examples
    --------
    >>> import dask
    >>> ms = MemorySampler()
    >>> with ms.sample("one"):
    ...     dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    3
    >>> len(ms.samples["one"]) > 0
    True
    """

    def __init__(self) -> None:
        self.samples: dict[str, list[tuple[float, int]]] = {}

    def sample(
        self,
        label: str | None = None,
        *,
        client: object = None,
        measure: str = "process",
        interval: float = 0.5,
    ) -> LocalSamples | ClusterSamples:
        """Return a context manager that samples memory; ``async with`` where the client is asynchronous.

        Parameters
        ----------
        label
            What the samples are kept under in `samples`; a random one by default. The same label again
            replaces what it had.
        client
            The `distributed.Client` whose cluster is sampled. By default the current one; without any, this
            process is sampled.
        measure
            What is sampled of a cluster: one of ``process managed managed_spilled unmanaged unmanaged_old
            unmanaged_recent optimistic``, see `distributed.scheduler.MemoryState`. Of this process only
            ``process`` is known, its resident memory with that of its children.
        interval
            Seconds between samples, 0.5 by default.

        Raises
        ------
        OptionError
            If a value cannot work.
        """
        if measure not in _MEASURES:
            raise OptionError(unknown_name("measure", measure, _MEASURES))
        seconds = checked_dt(interval, "interval")
        client = find_client() if client is None else client
        if client is not None:
            return ClusterSamples(self.samples, label, client, measure, seconds)
        if measure != "process":
            raise OptionError(
                f"measure must be 'process' without a cluster, got {measure!r}; pass client= to sample one"
            )
        return LocalSamples(self.samples, label, seconds)

    def to_pandas(self, *, align: bool = False) -> pd.DataFrame:
        """Return all series as a DataFrame with a column per label, in bytes.

        Parameters
        ----------
        align
            False: rows are points in time (UTC). True: rows are the time since the first sample of each
            series, so that they can be compared.

        Notes
        -----
        Where another series has a sample, a series holds its last value, from its first sample to its last.
        """
        with required("to_pandas", "pandas"):
            import pandas as pd
        columns = {}
        for label, samples in self.samples.items():
            times_s, values = zip(*samples, strict=True) if samples else ((), ())
            index = pd.to_datetime(list(times_s), unit="s")
            series = pd.Series(list(values), index=index, name=label)
            if align and len(series):
                series.index = index - index[0]
            columns[label] = series[~series.index.duplicated()]
        frame = pd.DataFrame(columns)
        return frame.ffill().where(frame.bfill().notna()) if len(columns) > 1 else frame

    def plot(self, *, align: bool = False, **kwargs: Any) -> Any:
        """Plot all series, in GiB.

        Parameters
        ----------
        align
            As in `to_pandas`.
        kwargs
            For `pandas.DataFrame.plot`, whose result is returned.

        Raises
        ------
        TaskscopeError
            If nothing was sampled yet.
        """
        if not any(self.samples.values()):
            raise TaskscopeError("nothing was sampled yet: use it as `with sampler.sample('label'): ...`")
        frame = self.to_pandas(align=align) / 2**30
        with required("plot", "matplotlib"):
            return frame.plot(**{"xlabel": "time", "ylabel": "Memory (GiB)", **kwargs})
