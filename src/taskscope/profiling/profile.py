"""The context manager that profiles a block of code."""

from __future__ import annotations

from os import PathLike
from types import FrameType

from taskscope.analysis.redaction import Redact
from taskscope.errors import OptionError, TaskscopeError
from taskscope.profiling.context import BlockContext
from taskscope.profiling.options import BlockOptions, Panel
from taskscope.profiling.profiled import ProfiledBlock
from taskscope.recording import Recording
from taskscope.session import MetricOption, current
from taskscope.sources.cluster import Transport, is_client
from taskscope.sources.stacks import DEFAULT_CYCLE_S, DEFAULT_INTERVAL_S

__all__ = ["profile"]


class profile(BlockContext):  # noqa: N801 - read as a verb: with taskscope.profile() as run
    """Record every Dask compute of a block, and show it.

    Parameters
    ----------
    label
        A name for the block's computes.
    dt
        Seconds between samples of CPU and memory, 0.25 by default.
    metric
        What the scheduler's cache is measured in: ``"nbytes"`` (default), ``"count"``, or a function of
        a result.
    display
        Show it: live under the cell in a notebook, elsewhere as a summary on standard error at the end.
    panel
        Where it is live in a notebook: ``"inline"`` under the cell, ``"dock"`` in JupyterLab's side panel,
        ``"none"`` nowhere. The result always stays under the cell. By default it is inline, and JupyterLab
        may be set to open the panel, too. Without the extension there is no panel, and ``"dock"`` is inline.
    save
        A file to write at the end, in the format of its extension. A ``.taskscope`` file is also written
        while computes run, for the case that the process is killed.
    overwrite
        Replace a file of that name; without it, one that exists is an error before anything is computed.
    redact
        True: names of keys, groups, labels and functions are not in that file, nor while it is being written;
        a function gives each its replacement; see `Recording.save`. Credentials in URLs never are.
    client
        A ``distributed.Client`` to watch from the start of the block, though it is not Dask's default
        scheduler. What clients of this process are given to do in the block is recorded anyway.
    max_tasks
        How many tasks are held at most, 1,000,000 by default; the oldest go first and are counted.
    stacks
        Sample what the worker threads of this process are doing, for `Recording.profile`; True by default.
    profile_interval
        Seconds between these samples, 0.01 by default.
    profile_cycle
        For how many seconds samples are counted together, 1 by default: what the profile tells apart in time.
    transport
        How records come from a cluster's scheduler. ``"observe"`` (default): a plugin of ours on it is told
        of each task that ended, and is taken out with our connection; nothing of taskscope is needed there.
        Where the scheduler does not allow that, a message in the recording says so, and it is as with
        ``"poll"``: nothing of ours runs there, the scheduler's own task stream is read (distributed 2026.6
        and later), which it then keeps for the rest of its life.
    others
        Record what other clients have the cluster's scheduler do during the block, too; False by default.
        Their tasks are computes of their own, whose scheduler is called ``distributed, other clients`` and
        whose prefixes end with ``(other clients)``; they are in no count, estimate or total of yours. How
        many there will be, who asked for them and how they depend on each other is unknown. Keys are shown
        as they are: every client of a scheduler can see them.

    Raises
    ------
    OptionError, FileError
        At once, if an option cannot work or the file could not be written.

    Notes
    -----
    The block's own exception always comes through unchanged. A file that cannot be written at the end is
    logged, and noted in the recording, which stays usable. Computes that other threads start during the block
    are part of it. Blocks may be nested. With an asynchronous client ``async with`` waits, at the beginning
    and at the end, for the scheduler without holding up the event loop; ``with`` may miss its first and last
    tasks.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(label="one", display=False) as run:
    ...     dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    3
    >>> run.recording.runs[0].label
    'one'
    """

    def __init__(
        self,
        *,
        label: str | None = None,
        dt: float = 0.25,
        metric: MetricOption = "nbytes",
        display: bool = True,
        save: str | PathLike[str] | None = None,
        overwrite: bool = False,
        redact: Redact = False,
        client: object = None,
        max_tasks: int = 1_000_000,
        stacks: bool = True,
        profile_interval: float = DEFAULT_INTERVAL_S,
        profile_cycle: float = DEFAULT_CYCLE_S,
        panel: Panel | None = None,
        transport: Transport = "observe",
        others: bool = False,
    ) -> None:
        if client is not None and not is_client(client):
            raise OptionError(f"client must be a distributed.Client or None, got {client!r}")
        files = () if save is None else (save,)
        self._options = BlockOptions(
            label=label,
            dt=dt,
            metric=metric,
            max_tasks=max_tasks,
            save=files,
            overwrite=overwrite,
            redact=redact,
            stacks=stacks,
            profile_interval=profile_interval,
            profile_cycle=profile_cycle,
            panel=panel,
            transport=transport,
            others=others,
        )
        self._client = client
        self._display = display
        self._block: ProfiledBlock | None = None

    @property
    def recording(self) -> Recording:
        """What was recorded; inside of the block, what was recorded so far.

        Raises
        ------
        TaskscopeError
            If the block has not started.
        """
        if self._block is None:
            raise TaskscopeError("nothing is recorded yet: use it as `with taskscope.profile() as run: ...`")
        return self._block.recording

    def __repr__(self) -> str:
        """Return the summary, or why there is none."""
        if self._block is None:
            return "taskscope.profile: not started yet"
        result = self._block.result
        return "taskscope.profile: not finished yet" if result is None else result.summary()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return what its recording shows in a notebook, or why there is none."""
        result = None if self._block is None else self._block.result
        return {"text/plain": repr(self)} if result is None else result._repr_mimebundle_()

    def _begin(self, caller: FrameType) -> None:
        if self._block is not None:
            raise TaskscopeError("this profile was used before; make a new one for each block")
        self._block = ProfiledBlock(current(), self._options, display=self._display)
        self._block.start()
        if self._client is not None:
            current().cluster.watch(self._client)

    def _close(self) -> None:
        if self._block is not None:
            self._block.close()

    def _end(self, error: BaseException | None, left_s: float | None) -> None:
        assert self._block is not None
        self._block.stop(error, left_s)
