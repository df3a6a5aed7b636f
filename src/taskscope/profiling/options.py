"""What a profiled block is asked to do, checked before it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike
from typing import Literal, TypeAlias, get_args

from taskscope.analysis.redaction import Redact, Redaction
from taskscope.errors import OptionError
from taskscope.export import check_target
from taskscope.session import MetricOption, Options
from taskscope.sources.cluster import Transport
from taskscope.sources.stacks import DEFAULT_CYCLE_S, DEFAULT_INTERVAL_S

__all__ = ["BlockOptions", "Panel"]

Panel: TypeAlias = Literal["inline", "dock", "none"]
"""Where a block is live: under its cell, in JupyterLab's side panel, nowhere."""


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
    overwrite
        Replace files of these names.
    redact
        What becomes of names in these files, as in `taskscope.Recording.save`.
    stacks
        Whether to sample what the worker threads are doing.
    profile_interval, profile_cycle
        Seconds between these samples, and for how many seconds they are counted together.
    panel
        Where it is live in a notebook; None is ``inline`` and whatever else the person has set in JupyterLab.
    transport
        How records come from a cluster's scheduler: ``observe`` or ``poll``.
    others
        Whether tasks of other clients of that scheduler are recorded, too.

    Raises
    ------
    OptionError
        If a value cannot work.
    FileError
        If a file could not be written.
    ExistingFileError
        If there is one already, and `overwrite` is false.
    """

    label: str | None = None
    dt: float = 0.25
    metric: MetricOption = "nbytes"
    max_tasks: int = 1_000_000
    save: tuple[str | PathLike[str], ...] = ()
    overwrite: bool = False
    redact: Redact = False
    stacks: bool = True
    profile_interval: float = DEFAULT_INTERVAL_S
    profile_cycle: float = DEFAULT_CYCLE_S
    panel: Panel | None = None
    transport: Transport = "observe"
    others: bool = False
    recorded: Options = field(init=False)

    def __post_init__(self) -> None:
        """Check the values."""
        if self.label is not None and not isinstance(self.label, str):
            raise OptionError(f"label must be text, got {self.label!r}")
        if self.panel is not None and self.panel not in get_args(Panel):
            near = get_close_matches(str(self.panel), get_args(Panel), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise OptionError(f"panel must be 'inline', 'dock' or 'none', got {self.panel!r}{hint}")
        recorded = Options(
            self.dt,
            self.metric,
            self.max_tasks,
            self.stacks,
            profile_interval=self.profile_interval,
            profile_cycle=self.profile_cycle,
            transport=self.transport,
            others=self.others,
        )
        object.__setattr__(self, "recorded", recorded)
        Redaction.of(self.redact)
        for path in self.save:
            check_target(path, overwrite=self.overwrite)
