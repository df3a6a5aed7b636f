"""distributed's MemorySampler, which samples this process where there is no cluster."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from taskscope.errors import MissingDependencyError, OptionError
from taskscope.options import DiagnosticOptions, checked_dt
from taskscope.session import current

if TYPE_CHECKING:
    from distributed.diagnostics import MemorySampler as _Sampler
else:
    try:
        from distributed.diagnostics import MemorySampler as _Sampler
    except ImportError:

        class _Sampler:
            """Stands in for distributed's class where distributed is not installed."""

            def __init__(self) -> None:
                self.samples = {}

            def __getattr__(self, name: str) -> object:
                raise MissingDependencyError(f"{name} is distributed's: pip install distributed")


class MemorySampler(_Sampler):
    """Samples memory while a block runs: of a cluster's workers, or of this process and its children.

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
        super().__init__()  # type: ignore[no-untyped-call]  # distributed's

    def sample(
        self,
        label: str | None = None,
        *,
        client: Any = None,
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
            See `distributed.scheduler.MemoryState`; of this process only ``process`` is known.
        interval
            Seconds between samples, 0.5 by default.

        Raises
        ------
        OptionError
            If a value cannot work.
        """
        seconds = checked_dt(interval, "interval")
        client = client or _current_client()
        if client is not None:
            return super().sample(label, client=client, measure=measure, interval=seconds)
        if measure != "process":
            raise OptionError(
                f"measure must be 'process' without a cluster, got {measure!r}; pass client= to sample one"
            )
        return self._sample_here(label or str(uuid.uuid4()), seconds)

    @contextmanager
    def _sample_here(self, label: str, interval_s: float) -> Iterator[None]:
        session, owner = current(), object()
        recorder, start_s = session.recorder, session.recorder.now_s()
        session.hold(owner, DiagnosticOptions(dt=interval_s))
        try:
            session.sampler.block_started(owner)
            session.sampler.sample()
            yield
        finally:
            session.sampler.block_stopped(owner)
            rows = recorder.resources.rows().between(start_s, recorder.now_s())
            zero_s = recorder.date(start_s).timestamp() - start_s
            self.samples[label] = [(zero_s + time_s, int(rss)) for time_s, _, rss, *_ in rows.tuples()]
            session.release(owner)


def _current_client() -> Any:
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None
