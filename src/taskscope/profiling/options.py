"""What a profiled block is asked to do, checked before it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike

from taskscope.errors import OptionError
from taskscope.export import check_target
from taskscope.session import MetricOption, Options

__all__ = ["BlockOptions"]


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """Options of a profiled block.

    Parameters
    ----------
    label
        A name for the block's computes.
    dt
        Seconds between resource samples.
    metric
        What the cache is measured in: ``nbytes``, ``count``, or a function of a result.
    max_tasks
        How many tasks are held at most.
    save
        Files to write at the end (``.taskscope`` while recording, too), in the format of their extensions.
        Files of these names are replaced.

    Raises
    ------
    OptionError
        If a value cannot work.
    FileError
        If a file could not be written.
    """

    label: str | None = None
    dt: float = 0.25
    metric: MetricOption = "nbytes"
    max_tasks: int = 1_000_000
    save: tuple[str | PathLike[str], ...] = ()
    recorded: Options = field(init=False)

    def __post_init__(self) -> None:
        """Check the values."""
        if self.label is not None and not isinstance(self.label, str):
            raise OptionError(f"label must be text, got {self.label!r}")
        object.__setattr__(self, "recorded", Options(self.dt, self.metric, self.max_tasks))
        for path in self.save:
            check_target(path, overwrite=True)
