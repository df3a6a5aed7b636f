"""The result of `explain`, and the prepared computes in which it searches for causes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.critical_path import CriticalPath, WaitCause
from taskscope.analysis.explain.schedule import Schedule, prefixes_of
from taskscope.analysis.explain.waits import Stacks
from taskscope.analysis.explain.what_if import priced_s
from taskscope.analysis.quantities import format_duration, format_percent, printable
from taskscope.analysis.result import Result, Section, columns_of
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import distinct, distinct_pairs, median
from taskscope.model.tables.records import Run

Cause: TypeAlias = Literal[
    "interpreter-lock",
    "lock",
    "oversubscribed",
    "waiting",
    "short-tasks",
    "few-tasks",
    "serial-step",
    "long-chain",
    "stragglers",
    "recomputed",
    "memory-pressure",
    "transfers",
    "serialization",
    "large-graph",
    "no-workers",
    "pool-start",
    "slow-worker",
    "idle-workers",
    "client-gaps",
    "lost-work",
]
"""Why a compute took as long as it did.

``interpreter-lock``: threads took turns in running Python. ``lock``: tasks took turns at a lock of the user's
own. ``oversubscribed``: tasks started threads of their own, and together they were more than the cores.
``waiting``: tasks waited for files, the network, sleep or others. ``short-tasks``: scheduling tasks took
longer than running them. ``few-tasks``: fewer tasks than workers. ``serial-step``: a step unlike all others
ran alone. ``long-chain``: tasks that need each other. ``stragglers``: few tasks took far longer than those
like them. ``recomputed``: the same tasks ran in several computes. ``memory-pressure``: results went to disk.
``transfers``: results went from worker to worker. ``serialization``: arguments and results
were packed and unpacked. ``large-graph``: graphs were put in order, or sent. ``no-workers``: the cluster had
no worker. ``pool-start``: processes were started. ``slow-worker``: one worker took longer than the others for
the same. ``idle-workers``: some workers ran nothing though there was work. ``client-gaps``: the program did
something else. ``lost-work``: tasks ran again, as a worker was lost or they failed.
"""

BAND = 0.25
"""A price that no replay can bound is taken to be off by so much, of itself, to either side."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, and how many seconds it cost.

    Without it `worth_s` of the makespan would be saved, an estimate between `low_s` and `high_s`. Findings
    may overlap: they do not add up. `text` is what happened, `advice` the cure, and `evidence` has the
    numbers behind it, with units in their names.
    """

    cause: Cause
    worth_s: float
    low_s: float
    high_s: float
    text: str
    advice: str
    evidence: Mapping[str, object]
    code: str | None = None

    def named(self, what: Literal["prefixes", "runs"]) -> list[Any]:
        """Return the prefixes or the computes in its evidence; none where it has none."""
        found = self.evidence.get(what)
        return found if isinstance(found, list) else []

    def worth(self, makespan_s: float, *, has_band: bool = False) -> str:
        """Return how much of a makespan it cost, in words."""
        worth, whole = format_duration(self.worth_s), format_duration(makespan_s)
        if not self.low_s:
            return f"up to {worth} of {whole}"
        band = f" ({format_duration(self.low_s)} to {format_duration(self.high_s)})" if has_band else ""
        return f"about {worth}{band} of {whole}"


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Result):
    """A sequence of findings, the most worth first, which is true if there is any.

    Findings cost at least 5 % of `makespan_s` and 50 ms. `reason` is why there is no answer. `verdict` is one
    sentence where nothing was found, or on a busy machine; `busy` is that the machine was busy.
    """

    findings: tuple[Finding, ...]
    makespan_s: float
    reason: str | None = None
    verdict: str | None = None
    busy: str | None = None

    def __iter__(self) -> Iterator[Finding]:
        """Iterate over the findings, the most worth first."""
        return iter(self.findings)

    def __len__(self) -> int:
        """Return the number of findings."""
        return len(self.findings)

    def __getitem__(self, place: int) -> Finding:
        """Return a finding by its place."""
        return self.findings[place]

    @property
    def answer(self) -> str:
        """The explanation in one sentence."""
        if self.reason is not None:
            return f"cannot say why, because {self.reason}"
        if not self.findings:
            return self.verdict or "nothing to gain here"
        first = self.findings[0]
        return f"{first.cause}: {first.worth(self.makespan_s)}: {first.text}"

    def table(self) -> dict[str, list[object]]:
        """Return the findings as columns, without their evidence."""
        return columns_of(self.findings, "cause", "worth_s", "low_s", "high_s", "text", "advice", "code")

    def sections(self) -> Iterator[Section]:
        """Yield a card for each finding, then the verdict."""
        for found in self.findings:
            worth = found.worth(self.makespan_s, has_band=True)
            code = () if found.code is None else (found.code,)
            yield Section(f"{found.cause}: {worth}", notes=(found.text, *code, found.advice))
        if not self.findings:
            yield Section(self.answer)
        elif self.verdict:
            yield Section(self.verdict)


def measured(cause: Cause, worth_s: float, text: str, advice: str, evidence: Mapping[str, object]) -> Finding:
    """Return a finding with a measured price."""
    return Finding(cause, worth_s, worth_s * (1 - BAND), worth_s * (1 + BAND), text, advice, evidence)


def at_most(cause: Cause, worth_s: float, text: str, advice: str, evidence: Mapping[str, object]) -> Finding:
    """Return a finding of whose price only an upper bound is known."""
    return Finding(cause, worth_s, 0.0, worth_s, text, advice, evidence)


_STRAGGLER = 3.0
_FEW = 0.1
_LEAST_S = 1e-3
_MIN_LIKE = 8
_BESIDE = 0.5
_SEEN = 0.3
_NO_QUEUE = 0.1
_LATE_SHARE = 0.03


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """All computes that are explained: how long they took, what lay between them included, and their path."""

    recording: RecordedData
    makespan_s: float
    path: CriticalPath
    schedules: tuple[Schedule, ...]

    @property
    def prefixes(self) -> tuple[str, ...]:
        """All prefixes of the recording."""
        return prefixes_of(self.recording)[0]

    def waited_s(self, *causes: WaitCause) -> float:
        """Return how long the critical path waited for these."""
        waits = self.path.wait_s
        return sum(waits.get(cause, 0.0) for cause in causes)

    def share(self, seconds: float) -> str:
        """Return a part of the makespan in words."""
        return format_percent(min(seconds / self.makespan_s, 1.0) if self.makespan_s else 0.0)

    def most(self, prefix: NDArray[np.int64], seconds: NDArray[np.float64]) -> list[str]:
        """Return up to three prefixes with the most time."""
        sums = np.bincount(prefix, np.nan_to_num(seconds), len(self.prefixes))
        prefixes = self.prefixes
        return [prefixes[i] for i in np.argsort(-sums, kind="stable")[:3].tolist() if sums[i]]


@dataclass(frozen=True, eq=False)
class Part:
    """Computes that overlap, which are one graph, and what their tasks usually take."""

    whole: Whole
    schedule: Schedule
    kind: NDArray[np.int64]
    """A number for each task, the same for tasks that are alike."""
    usual_s: NDArray[np.float64]
    """The median of the tasks that are like each; its own duration where these are few."""
    is_late: NDArray[np.bool_]
    """Which few tasks took far longer than tasks like them."""

    @classmethod
    def of(cls, whole: Whole, schedule: Schedule) -> Part:
        """Return them prepared for the search for causes."""
        kind = kinds_of(schedule)
        usual_s, is_late = schedule.seconds.copy(), np.zeros(len(kind), bool)
        for number in np.flatnonzero(np.bincount(kind, minlength=1) >= _MIN_LIKE).tolist():
            mine = np.flatnonzero(kind == number)
            usual_s[mine] = median(schedule.seconds[mine])
            # Tasks that only waited longer for a core are not late.
            is_late[mine] = _few_late(schedule.seconds[mine]) & _few_late(schedule.takes_s[mine])
            # Nor are tasks that waited for threads of their own, which lacked a core; samples show waits.
            waits = schedule.load.waiting.get(schedule.names[schedule.prefix[mine[0]]], {})
            is_seen = sum(waits.values()) >= _SEEN
            has_own_threads = schedule.load.beside_share >= _BESIDE
            if not is_seen and (schedule.load.is_crowded or has_own_threads):
                own_s = np.nan_to_num(schedule.cpu_s[mine])
                later_s = schedule.seconds[mine] - usual_s[mine]
                computed = _few_late(own_s) & (own_s - median(own_s) >= 0.5 * later_s)
                # Next to no CPU time is no queue for a core.
                waited = schedule.cpu_s[mine] * schedule.load.stretch <= _NO_QUEUE * schedule.seconds[mine]
                is_late[mine] &= computed | (waited & (not has_own_threads))
        is_late &= schedule.seconds >= _LATE_SHARE * whole.makespan_s
        is_late &= ~np.array([is_of_shuffle(name) for name in schedule.names], bool)[schedule.prefix]
        return cls(whole, schedule, kind, usual_s, is_late)

    @cached_property
    def base_s(self) -> float:
        """How long a replay of them takes as they were."""
        return priced_s(self.schedule)

    @property
    def stacks(self) -> Stacks:
        """The samples of their tasks."""
        return self.schedule.load.stacks

    @property
    def runs(self) -> list[int]:
        """The numbers of the computes."""
        return [run.run for run in self.schedule.runs]

    def tasks(self, places: NDArray[np.integer]) -> Mapping[int, list[int]]:
        """Return the numbers of tasks in the graphs of their computes, by compute."""
        run, number = self.schedule.run[places], self.schedule.number[places]
        return {one: sorted(set(number[run == one].tolist())) for one in distinct(run).tolist()}

    def most(self, chosen: NDArray[np.bool_] | NDArray[np.integer]) -> list[str]:
        """Return up to three prefixes of these tasks, the longest first."""
        return self.whole.most(self.schedule.prefix[chosen], self.schedule.seconds[chosen])

    def saved_s(self, seconds: NDArray[np.float64]) -> float:
        """Return how much shorter the computes are when their tasks take so long."""
        return max(self.base_s - priced_s(self.schedule, seconds), 0.0)

    def saved_anew_s(self, seconds: NDArray[np.float64]) -> float:
        """Return the same where workers would then run more tasks, or fewer, than they did."""
        anew_s = priced_s(self.schedule, seconds, n_workers=self.schedule.n_threads)
        return max(self.saved_s(seconds), self.base_s - anew_s)

    def dispatched_s(
        self,
        at_once: NDArray[np.bool_],
        seconds: NDArray[np.float64] | None = None,
        lag_s: NDArray[np.float64] | None = None,
    ) -> float:
        """Return how much shorter than recorded the computes are if these tasks begin as soon as they can."""
        lag_s = np.where(at_once, 0.0, self.schedule.lag_s if lag_s is None else lag_s)
        return max(self.schedule.recorded_s - priced_s(self.schedule, seconds, lag_s), 0.0)


def kinds_of(schedule: Schedule) -> NDArray[np.int64]:
    """Return a number for each task, the same for tasks of a group with the same role in the graph.

    That is about as many inputs, inputs of the same groups, and dependents of the same groups.
    """
    n = len(schedule)
    if not n:
        return np.empty(0, np.int64)
    by, group = schedule.by, schedule.group
    rank = np.ceil(np.log2(schedule.n_needed + 1)).astype(np.int64)
    columns = (group, rank, _mixed(by, group[schedule.needed], n), _mixed(schedule.needed, group[by], n))
    hashed = np.zeros(n, np.uint64)
    for column in columns:
        hashed = _hashed(hashed + column.astype(np.uint64))
    return np.unique(hashed, return_inverse=True)[1]


def _mixed(place: NDArray[np.int64], group: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return a hash of the set of groups at each place."""
    place, group = distinct_pairs(place, group)
    found = np.zeros(n, np.uint64)
    np.add.at(found, place, _hashed(group.astype(np.uint64) + np.uint64(1)))
    return found.astype(np.int64)


def _hashed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return hashes of which sums differ for different sets of values, but for once in 2⁶⁴."""
    mixed = values * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return mixed * np.uint64(0xBF58476D1CE4E5B9)


def _few_late(took_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which few took far longer than the median; where many did, which took far longer than those."""
    late: NDArray[np.bool_] = took_s > max(_STRAGGLER * median(took_s), _LEAST_S)
    n_few = int(_FEW * len(took_s))
    if late.sum() > n_few:
        n_few = max(n_few, 1)
        late &= took_s > _STRAGGLER * float(np.sort(took_s)[-1 - n_few])
    return late


_SHUFFLE = re.compile(r"p2p|(^|-)(shuffle|barrier|transfer|unpack)(-|$)")


@lru_cache(10_000)
def is_of_shuffle(prefix: str) -> bool:
    """Return whether tasks of a prefix belong to distributed's shuffle, which wait for each other."""
    return _SHUFFLE.search(prefix) is not None


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence."""
    return ", ".join(printable(name, 36) for name in names)


_MOST_BYTES = 100e6


@dataclass(frozen=True, slots=True)
class UserArray:
    """An array of the calling program: its name there, shape, largest chunk and the bytes of an element."""

    name: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    itemsize: int
    is_made: bool = False
    """Whether it is made of no other array, so that its chunks are chosen where it is made."""

    @classmethod
    def of(cls, runs: Iterable[Run]) -> UserArray | None:
        """Return the array of the first compute that has one."""
        texts = (run.array for run in runs if run.array is not None)
        try:
            found = json.loads(next(texts, "null"))
            return found and cls(
                str(found["name"]),
                tuple(map(int, found["shape"])),
                tuple(max(int(n), 1) for n in found["chunks"]),
                int(found["itemsize"]),
                bool(found.get("is_made")),
            )
        except (ValueError, KeyError, TypeError):
            return None

    def larger(self, times: float, least_chunks: int) -> str | None:
        """Return the change to chunks at most about so many times as large; None where there is none."""
        pieces = self._pieces()
        most = math.prod(self.chunks) * self.itemsize * times
        while True:
            axis = max(range(len(pieces)), key=pieces.__getitem__)
            fewer = [math.ceil(n / 2) if i == axis else n for i, n in enumerate(pieces)]
            chunk_bytes = math.prod(self._even(fewer)) * self.itemsize
            if fewer == pieces or chunk_bytes > min(most, _MOST_BYTES) or math.prod(fewer) < least_chunks:
                return self._change(pieces)
            pieces = fewer

    def smaller(self, n_chunks: int) -> str | None:
        """Return the change to at least so many chunks; None where there is none."""
        pieces = self._pieces()
        while math.prod(pieces) < n_chunks and max(chunks := self._even(pieces)) > 1:
            axis = max(range(len(chunks)), key=chunks.__getitem__)
            pieces[axis] = min(2 * pieces[axis], self.shape[axis])
        return self._change(pieces)

    def _pieces(self) -> list[int]:
        return [math.ceil(n / chunk) for n, chunk in zip(self.shape, self.chunks, strict=True)]

    def _even(self, pieces: Sequence[int]) -> tuple[int, ...]:
        """Return chunks for at least so many pieces along each axis, of one length where there are such."""
        at_least = zip(self.shape, pieces, strict=True)
        divided = ((n, next((i for i in range(own, 2 * own) if n % i == 0), own)) for n, own in at_least)
        return tuple(math.ceil(n / own) for n, own in divided)

    def _change(self, pieces: list[int]) -> str | None:
        changed = [n != own for n, own in zip(pieces, self._pieces(), strict=True)]
        even = zip(changed, self._even(pieces), self.chunks, strict=True)
        chunks = tuple(new if is_new else old for is_new, new, old in even)
        if chunks == self.chunks:
            return None
        return (
            f"chunks={chunks} where {self.name} is made"
            if self.is_made
            else f"{self.name} = {self.name}.rechunk({chunks})"
        )
