"""Memory over time of a cluster or of this process, as distributed's MemorySampler has it."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from taskscope.errors import OptionError, TaskscopeError, required, unknown_name
from taskscope.options import Options, checked_dt
from taskscope.session import current

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client

_MEASURES = (
    *("process", "managed", "managed_spilled", "unmanaged", "unmanaged_old", "unmanaged_recent"),
    "optimistic",
)


def find_client() -> Any:
    """Return the current `distributed.Client`, None if there is none; never imports distributed."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


class MemorySampler:
    """Samples memory while a block runs: of a cluster's workers, or of this process and its children.

    Every block has a label, and all of them can be compared: as they came, or aligned by their beginnings.

    Attributes
    ----------
    samples
        By label, pairs of a time (seconds since the epoch) and bytes.

    Notes
    -----
    On a cluster it is distributed's own sampler, on the scheduler; without one the resident memory of this
    process and its children is read at the beginning, every `interval` seconds and at the end.

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
        client: Client | None = None,
        measure: str = "process",
        interval: float = 0.5,
    ) -> Any:
        """Return a context manager that samples memory; ``async with`` where the client is asynchronous.

        Parameters
        ----------
        label
            The key of the samples in `samples`; a random one by default.
        client
            The `distributed.Client` whose cluster is sampled. By default the current one; without any, this
            process is sampled.
        measure
            What is sampled of a cluster, see `distributed.scheduler.MemoryState`; of this process only
            ``process`` is known.
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
        client = client or find_client()
        if client is not None:
            from distributed.diagnostics import MemorySampler as OfCluster

            theirs = OfCluster()
            theirs.samples = self.samples
            return theirs.sample(label, client=client, measure=measure, interval=seconds)
        if measure != "process":
            raise OptionError(
                f"measure must be 'process' without a cluster, got {measure!r}; pass client= to sample one"
            )
        return self._sample_here(label or str(uuid.uuid4()), seconds)

    @contextmanager
    def _sample_here(self, label: str, interval_s: float) -> Iterator[None]:
        session, owner = current(), object()
        recorder, start_s = session.recorder, session.recorder.now_s()
        session.hold(owner, Options(dt=interval_s, metric="any"))
        try:
            session.sampler.block_started(owner)
            session.sampler.sample()
            yield
        finally:
            session.sampler.block_stopped(owner)
            rows = recorder.resources.rows().between(start_s, recorder.now_s())
            zero_s = recorder.started_at.timestamp()
            self.samples[label] = [(zero_s + time_s, int(rss)) for time_s, _, rss, *_ in rows.tuples()]
            session.release(owner)

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
        """Plot all series, in GiB; `align` as in `to_pandas`, the rest is for `pandas.DataFrame.plot`.

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
