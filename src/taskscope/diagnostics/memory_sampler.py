"""Memory over time of several workloads, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskscope.diagnostics.clients import find_client
from taskscope.diagnostics.sampled_memory import ClusterSamples, LocalSamples, Samples
from taskscope.errors import MissingDependencyError, OptionError, TaskscopeError, unknown_name
from taskscope.sources.resources import checked_dt

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MemorySampler"]

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
    ) -> Samples:
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
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError("to_pandas needs pandas; install it: pip install pandas") from error
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
        try:
            return frame.plot(**{"xlabel": "time", "ylabel": "Memory (GiB)", **kwargs})
        except ImportError as error:
            raise MissingDependencyError(
                "plot needs matplotlib; install it: pip install matplotlib"
            ) from error
