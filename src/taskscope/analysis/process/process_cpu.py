"""What CPU time a process used besides that of its tasks' own threads, and beside tasks of which prefix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.schedule import own_runs
from taskscope.analysis.process.nonnegative import MIN_SAMPLES, fit_counts, fitted, too_few
from taskscope.analysis.process.running import Running, running
from taskscope.analysis.quantities import format_duration, plural, printable
from taskscope.model.frames import frame_of
from taskscope.model.recording import RecordedData

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PrefixCpu", "ProcessCpu", "process_cpu"]

_N_FITS = 200
_MAX_SHOWN = 12


@dataclass(frozen=True, slots=True)
class PrefixCpu:
    """CPU time of the tasks of a prefix.

    Parameters
    ----------
    prefix
        The prefix.
    tasks_s
        What the threads used that ran the tasks; measured.
    beside_s, low_s, high_s
        What the process used besides, that comes and goes with these tasks: threads that they started, as
        BLAS, numexpr and pools do. An estimate, with its band (5 to 95 % of a block bootstrap over samples).
    """

    prefix: str
    tasks_s: float
    beside_s: float
    low_s: float
    high_s: float

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, repr=False)
class ProcessCpu:
    """The CPU time of a process: of its tasks' own threads, beside them by prefix, and the rest.

    Parameters
    ----------
    process_s
        What the process and its children used while computes ran; measured. NaN where nothing can be said.
    tasks_s
        What of it the threads used that ran tasks, or the processes of a pool; measured.
    rest_s
        What neither these nor `prefixes` have: the scheduler, the rest of the program, taskscope.
    prefixes
        By prefix, most CPU time first.
    reason
        Why nothing can be said; None where something can.
    notes
        What is not known, and why.
    """

    process_s: float
    tasks_s: float
    rest_s: float
    prefixes: tuple[PrefixCpu, ...]
    reason: str | None
    notes: tuple[str, ...]

    @property
    def beside_s(self) -> float:
        """What comes and goes with tasks, and is not of their own threads."""
        return math.fsum(of.beside_s for of in self.prefixes)

    def to_pandas(self) -> pd.DataFrame:
        """Return the prefixes as a pandas DataFrame, with the columns of `PrefixCpu`.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        return frame_of([of.to_dict() for of in self.prefixes], list(PrefixCpu.__slots__))

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        names = ("process_s", "tasks_s", "rest_s")
        return {
            **{name: None if self.reason else getattr(self, name) for name in names},
            "prefixes": [of.to_dict() for of in self.prefixes],
            "reason": self.reason,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Return it as text, the prefix with the most CPU time first."""
        if self.reason is not None:
            return f"cannot say what the process computed, because {self.reason}"
        title = f"CPU time · {format_duration(self.process_s)} of the process"
        shown = self.prefixes[:_MAX_SHOWN]
        width = max([len(printable(of.prefix, 36)) for of in shown], default=0)
        lines = [
            f"  {printable(of.prefix, 36):<{width}}  {format_duration(of.tasks_s):>9} in its tasks' threads"
            f"{_beside_text(of) if of.beside_s >= self.process_s / 100 else ''}"
            for of in shown
        ]
        lines.append(f"  with no tasks: {format_duration(self.rest_s)}")
        return "\n".join([title, "", *lines, *([""] if self.notes else []), *(f"  {n}" for n in self.notes)])

    __repr__ = __str__


def _beside_text(of: PrefixCpu) -> str:
    band = f"{format_duration(of.low_s)} to {format_duration(of.high_s)}"
    return f", about {format_duration(of.beside_s)} beside them ({band})"


def process_cpu(recording: RecordedData) -> ProcessCpu:
    """Return what the process computed; see `taskscope.Recording.process_cpu`."""
    runs = own_runs(recording, None)
    if not runs:
        return _nothing("no Dask computation was recorded")
    if any(run.is_on_cluster for run in runs):
        return _nothing("tasks ran on workers of a cluster: their processes are not among those sampled")
    samples = recording.resources
    percent = samples.cpu_percent[1:]
    seconds = np.diff(samples.time)
    is_known = (percent >= 0) & (percent < np.inf) & (seconds > 0)
    if not is_known.any():
        return _nothing("no sample of the CPU was taken")
    used = np.where(is_known, np.nan_to_num(percent) / 100 * seconds, 0.0)[is_known]
    tasks = running(recording, runs)
    ran, own = tasks.seconds_between(samples.time)[is_known], tasks.cpu_between(samples.time)[is_known]
    fits = _beside(used - own.sum(axis=1), ran, seconds[is_known])
    process_s, tasks_s = float(used.sum()), float(own.sum())
    # Whatever is estimated, it is part of what there was.
    left_s = max(process_s - tasks_s, 0.0)
    fits *= np.minimum(left_s / np.maximum(fits.sum(axis=1), 1e-12), 1.0)[:, None]
    prefixes = _by_prefix(tasks, own.sum(axis=0), fits)
    rest_s = max(left_s - float(fits[0].sum()), 0.0)
    return ProcessCpu(process_s, tasks_s, rest_s, prefixes, None, tuple(_notes(tasks, len(used))))


def _nothing(reason: str) -> ProcessCpu:
    return ProcessCpu(math.nan, math.nan, math.nan, (), reason, ())


def _beside(
    left_s: NDArray[np.float64], ran_s: NDArray[np.float64], seconds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what was used beside tasks of each prefix, a row for each fit; the first is of all samples."""
    if len(left_s) < MIN_SAMPLES:
        return np.zeros((1, ran_s.shape[1]))
    # What goes on whatever runs: the scheduler, the kernel of the notebook.
    counts = fit_counts(len(left_s), _N_FITS)
    rates = fitted(np.column_stack([ran_s, seconds]), left_s, counts)[:, :-1]
    beside_s: NDArray[np.float64] = rates * ran_s.sum(axis=0)
    return beside_s


def _by_prefix(
    tasks: Running, own_s: NDArray[np.float64], fits: NDArray[np.float64]
) -> tuple[PrefixCpu, ...]:
    low, high = np.percentile(fits, [5, 95], axis=0)
    found = [
        PrefixCpu(prefix, own, beside, min(least, beside), max(most, beside))
        for prefix, own, beside, least, most in zip(
            tasks.prefixes, own_s.tolist(), fits[0].tolist(), low.tolist(), high.tolist(), strict=True
        )
    ]
    return tuple(sorted(found, key=lambda of: -(of.tasks_s + of.beside_s)))


def _notes(tasks: Running, n_samples: int) -> list[str]:
    few = too_few(n_samples, "beside which tasks")
    notes = [few] if few else []
    n_unknown = int(np.isnan(tasks.cpu_s).sum())
    if n_unknown:
        notes.append(
            f"the CPU time of {n_unknown} {plural('task', n_unknown)} is not known: it counts as beside"
        )
    return notes
