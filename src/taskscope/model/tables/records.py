"""The records of a recording: small frozen values, and the columns that hold many tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import KeyBlock
from taskscope.model.tables.columns import Measured
from taskscope.model.tables.workers import Scheduled
from taskscope.schema import About, Column

STATUSES = ("finished", "erred", "interrupted", "lost", "released", "running")
"""Task statuses, by their code in `TaskBlock.status`; ``running`` only occurs in a snapshot of a live run.

``released``: the client released the task's future while a worker of a cluster ran the task.
"""

FINISHED, ERRED, INTERRUPTED, LOST, RELEASED, RUNNING = range(len(STATUSES))
BAD_ENDS = (ERRED, INTERRUPTED, LOST, RELEASED)

OBSERVED_BY = ("worker", "scheduler")
"""The clock of a task's times."""

FLAGS: Mapping[str, Column] = {
    column.name: column
    for column in (
        Column("status", "text", "How it ended.", choices=STATUSES),
        Column("observed_by", "text", "Who took the times.", choices=OBSERVED_BY),
    )
}
"""The meaning of a task's flags, the lowest bits first; each takes as many as its choices need."""

_BITS = tuple((len(column.choices) - 1).bit_length() for column in FLAGS.values())
_SHIFTS = dict(zip(FLAGS, accumulate((0, *_BITS)), strict=False))
_MASKS = dict(zip(FLAGS, (2**n_bits - 1 for n_bits in _BITS), strict=True))


def flag_codes(flags: NDArray[np.uint8], name: str) -> NDArray[np.uint8]:
    """Return one part of flags, as places among its choices."""
    codes: NDArray[np.uint8] = (flags >> np.uint8(_SHIFTS[name])) & np.uint8(_MASKS[name])
    return codes


def split_flags(flags: NDArray[np.uint8]) -> dict[str, NDArray[np.uint8]]:
    """Return all parts of flags, as places among their choices."""
    return {name: flag_codes(flags, name) for name in FLAGS}


def join_flags(codes: Mapping[str, Any]) -> NDArray[np.uint8]:
    """Return the flags of these choices; of parts that are missing, the first choice."""
    known = {name: np.nan_to_num(values).astype(np.uint8) for name, values in codes.items()}
    shifted = [values << np.uint8(_SHIFTS[name]) for name, values in known.items()]
    flags: NDArray[np.uint8] = np.bitwise_or.reduce(np.broadcast_arrays(*shifted))
    return flags


def flag_of(name: str, choice: str) -> int:
    """Return the flags of one choice.

    Examples
    --------
    >>> flag_of("status", "lost"), flag_of("observed_by", "scheduler")
    (3, 8)
    """
    return FLAGS[name].choices.index(choice) << _SHIFTS[name]


CLUSTER = "distributed"
"""The scheduler's name in runs on a cluster."""
IN_THREADS = frozenset({"threads", "synchronous"})
"""The schedulers whose tasks run in this process."""

BEFORE = (
    "send_s",
    "received_s",
    "materialize_s",
    "order_s",
    "initialize_s",
    "pool_start_s",
)
"""Times before a compute's first task: columns of `Run`."""

RunStatus: TypeAlias = Literal["running", "finished", "erred", "interrupted"]


@dataclass(frozen=True, slots=True)
class Group:
    """A task group, in Dask's terms."""

    id: Annotated[int, About("Its number.")]
    name: Annotated[str, About("What it is called, with the token where it has one.")]
    prefix: Annotated[str, About("What its tasks are drawn and counted by.")]
    colour: Annotated[
        int | None, About("The number of its prefix's colour, by first appearance in the session.")
    ] = None
    span: Annotated[
        str | None,
        About(
            "The `distributed.span` that its tasks are in, with those around it, as in `load / decode`; none "
            "where there is no such span, and where the scheduler does not let itself be observed.",
            page=False,
        ),
    ] = None
    function: Annotated[
        str | None,
        About(
            "The user's function that its tasks call and where it is, as in `load (In [3], line 2)`; none "
            "where they call functions of libraries only."
        ),
    ] = None
    fused: Annotated[
        str | None,
        About(
            "The groups that Dask fused into its tasks, separated by blanks; known of those that begin a "
            "compute of this process.",
            internal=True,
            page=False,
        ),
    ] = None


def number_prefixes(groups: Sequence[Group]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the prefixes by first appearance, and the number that each group's has among them.

    Examples
    --------
    >>> number_prefixes([Group(0, "add-1", "add"), Group(1, "inc-1", "inc"), Group(2, "add-2", "add")])
    (('add', 'inc'), array([0, 1, 0]))
    """
    numbers: dict[str, int] = {}
    of_groups = [numbers.setdefault(group.prefix, len(numbers)) for group in groups]
    return tuple(numbers), np.array(of_groups, np.int64)


@dataclass(frozen=True, slots=True)
class Lane:
    """One row of the Gantt chart: a thread of a worker, and how deep computes are nested in it."""

    id: Annotated[int, About("Its number.")]
    worker: Annotated[str, About("Its process, by number, or its worker's address.", private="address")]
    thread: Annotated[int, About("The identifier of the thread.")]
    label: Annotated[str, About("What it is called on screen.")]


@dataclass(frozen=True, slots=True)
class Run:
    """One compute. Times are seconds after the recorder's (or the recording's) zero."""

    run: Annotated[int, About("The number of the compute, in the order in which they began.")]
    label: Annotated[str | None, About("What the user called it.")]
    cell: Annotated[str | None, About("The notebook's id of the cell that asked for it, else `In [n]`.")]
    scheduler: Annotated[
        str | None,
        About(
            "What computed it: threads, processes, sync, distributed…",
            known=(*sorted(IN_THREADS), "processes", CLUSTER),
        ),
    ]
    n_workers: Annotated[int | None, About("How many threads or processes, or workers of a cluster, it had.")]
    n_tasks: Annotated[
        int,
        About(
            "How many tasks it had to run; those do not count whose results, or the results of what needs "
            "them, a cluster had."
        ),
    ]
    start_s: Annotated[float, About("When it began.", unit="s", is_time=True)]
    stop_s: Annotated[float | None, About("When it ended.", unit="s", is_time=True)]
    status: Annotated[RunStatus, About("How it ended.")]
    error: Annotated[str | None, About("What ended it, type and message.", private="error")]
    execution_count: Annotated[
        int | None, About("The `n` of `In [n]` that the cell had then.", internal=True)
    ] = None
    source_crc: Annotated[
        int | None,
        About("The CRC-32 of the source that ran, in UTF-8.", internal=True, file=False),
    ] = None
    send_s: Annotated[
        float | None,
        About("How long a client packed the graph and handed it to the network, right before.", unit="s"),
    ] = None
    received_s: Annotated[
        float | None,
        About(
            "When the scheduler of a cluster began with the graph; this and what it took there is unknown "
            "where that is only asked, and of tasks of `submit` and `map`.",
            unit="s",
            is_time=True,
        ),
    ] = None
    materialize_s: Annotated[
        float | None, About("How long it unpacked the graph and made its tasks.", unit="s")
    ] = None
    order_s: Annotated[
        float | None,
        About(
            "How long the scheduler put them in order; one of this process right after the compute began.",
            unit="s",
        ),
    ] = None
    initialize_s: Annotated[
        float | None, About("How long it took them in, and chose workers for the first.", unit="s")
    ] = None
    pool_start_s: Annotated[
        float | None,
        About(
            "How long after the compute's start the first process of its pool began with a task; empty while "
            "none has, and where there is no such pool.",
            unit="s",
        ),
    ] = None
    lock_share: Annotated[
        float | None,
        About(
            "How often a thread held the interpreter's lock when the sampler needed it, 0 to 1: near 1 where "
            "threads take turns in running Python, near 0 where they wait for anything else, however busy "
            "the machine is; of workers of a cluster the mean. Unknown below about 0.2 s, for tasks of other "
            "processes, and where the kernel keeps no account of threads (other systems than Linux)."
        ),
    ] = None
    graph_bytes: Annotated[float | None, About("How large the graph was as it was sent.", unit="bytes")] = (
        None
    )
    largest_argument: Annotated[
        str | None, About("The key of the task with the largest argument that is part of the graph itself.")
    ] = None
    largest_argument_bytes: Annotated[float | None, About("How large that argument is.", unit="bytes")] = None
    called_from: Annotated[
        str | None, About("The line of the user's code that computed: `In [3], line 2`, or a file's.")
    ] = None
    array: Annotated[
        str | None,
        About(
            "The array that it begins with, as JSON: its name in the calling program, shape, largest chunk "
            "and bytes of an element.",
            internal=True,
        ),
    ] = None
    n_runs: Annotated[
        int, About("How many computes the row stands for: 1, or beyond 10,000 of them the oldest, added up.")
    ] = 1
    last_run: Annotated[
        int | None, About("The number of the last of these; empty where the row is one compute.")
    ] = None
    computing_s: Annotated[
        float | None,
        About("How long these computed, added up; empty where the row is one compute.", unit="s"),
    ] = None

    @property
    def asked_s(self) -> float:
        """When the client began to send its graph; of a compute in this process, when it began."""
        return self.start_s - (self.send_s or 0.0)

    @property
    def is_on_cluster(self) -> bool:
        return self.scheduler == CLUSTER

    @property
    def is_starting(self) -> bool:
        """Whether its pool of processes still starts, unless a task of it has ended."""
        return self.status == "running" and self.scheduler == "processes" and self.pool_start_s is None

    @property
    def name(self) -> str:
        """Its number, or those of the computes that are added up in it."""
        return f"compute {self.run}" if self.last_run is None else f"computes {self.run} to {self.last_run}"


def count_runs(runs: Iterable[Run]) -> int:
    """Return how many computes there are, with those that are added up in one row."""
    return sum(run.n_runs for run in runs)


def end_s(runs: Iterable[Run]) -> float:
    """Return when the last of these computes ended: infinity while one runs, and where there is none."""
    return max((math.inf if run.stop_s is None else run.stop_s for run in runs), default=math.inf)


@dataclass(frozen=True, slots=True)
class Estimate:
    """When computes will end, in seconds after the recorder's zero, or from now in `Progress.left`.

    About four of five true ends lie between `earliest_s` and `latest_s`, where `n_unseen` is 0.
    """

    stop_s: Annotated[float, About("The best guess.", unit="s", is_time=True)]
    earliest_s: Annotated[float, About("It is hardly before this.", unit="s", is_time=True)]
    latest_s: Annotated[float, About("It is hardly after this.", unit="s", is_time=True)]
    n_unseen: Annotated[
        int,
        About(
            "Tasks ahead of prefixes of which none has ended. They are taken to be like the others; if they "
            "take longer, the end is after `latest_s`."
        ),
    ] = 0


WorkerEvent: TypeAlias = Literal[
    "came", "restarted", "paused", "resumed", "retired", "left", "killed", "timed out", "died"
]
"""The events of a worker, as the scheduler has them; killed: because of its memory."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to the user: dropped rows, restored hooks, estimates, events of workers."""

    time_s: Annotated[
        float,
        About("When it was noticed; of a worker, when it happened.", unit="s", is_time=True),
    ]
    level: Annotated[Literal["info", "warning"], About("How much it matters.")]
    text: Annotated[str, About("What it is.", private="words")]
    worker: Annotated[
        str | None, About("The address of the worker to which something happened.", private="address")
    ] = None
    event: Annotated[
        WorkerEvent | None, About("What happened to that worker; killed: because of its memory.")
    ] = None
    words: Annotated[
        str | None,
        About(
            "The text without the names in it; unknown where it may be a name as a whole.",
            private="no",
            internal=True,
            page=False,
        ),
    ] = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A task in flight; `start_s` is the worker's where that is known, else of its submission."""

    run: Annotated[int, About("The compute.", refers="runs.run")]
    lane: Annotated[int | None, About("The lane that it runs in.", refers="lanes.id")]
    group: Annotated[int, About("Its task group.", refers="groups.id")]
    key_text: Annotated[str, About("The task's key.")]
    start_s: Annotated[float, About("When it began.", unit="s", is_time=True)]


@dataclass(frozen=True, slots=True)
class PrefixProgress:
    """Progress of one prefix of one run; a task that ran several times counts once, with its last state.

    `total` leaves out the `skipped` ones, which do not have to run, as a cluster has their results or later
    ones. Of the tasks that ended, `again` ended more than once, and `duration_s` is of all ends.
    """

    run: Annotated[int, About("The compute.", refers="runs.run")]
    prefix: Annotated[str, About("What the tasks are counted by.")]
    total: Annotated[int, About("How many of them have to run.")]
    finished: Annotated[int, About("How many finished.")]
    erred: Annotated[int, About("How many raised.")]
    running: Annotated[int, About("How many are in flight.")]
    interrupted: Annotated[
        int, About("How many were interrupted, lost, or released before they had finished.")
    ]
    duration_s: Annotated[float, About("How long all ends of them took.", unit="s")]
    scheduled: Scheduled | None = None
    """The states of tasks that have neither ended nor are running; None where they are not known."""
    skipped: Annotated[int, About("How many did not have to run.")] = 0
    released: Annotated[
        int, About("How many of the interrupted ones were released, before or while they ran.")
    ] = 0
    again: Annotated[int, About("How many ends there were beyond the first of each.")] = 0
    first_s: Annotated[
        float | None, About("When the first one of which there is a row began.", unit="s", is_time=True)
    ] = None

    @classmethod
    def of_counts(
        cls,
        run: int,
        prefix: str,
        counts: Sequence[int],
        *,
        planned: int,
        is_counted: bool,
        duration_s: float,
        skipped: int,
        released: int,
        again: int,
        first_s: float | None,
    ) -> PrefixProgress:
        """Return the progress of tasks with these `counts` by status, of `planned` ones.

        `released` is how many were released before they ran, which have no row.
        Without `is_counted` there may be more of them. Counts of a cluster arrive apart and may be of
        different moments, so that their sum is kept within the total.
        """
        total = max(planned, 0) if is_counted else max(planned, sum(counts))
        finished = min(counts[FINISHED], total)
        erred = min(counts[ERRED], total - finished)
        running = min(counts[RUNNING], total - finished - erred)
        released += counts[RELEASED]
        left = total - finished - erred - running
        interrupted = min(counts[INTERRUPTED] + counts[LOST] + released, left)
        ends = finished, erred, running, interrupted
        released = min(released, interrupted)
        return cls(run, prefix, total, *ends, duration_s, None, skipped, released, again, first_s)

    @property
    def ended(self) -> int:
        return self.finished + self.erred + self.interrupted

    @property
    def left(self) -> int:
        """How many have not ended."""
        return max(self.total - self.ended, 0)

    @property
    def ahead(self) -> int:
        """How many have neither ended nor are running."""
        return max(self.left - self.running, 0)

    @property
    def order(self) -> tuple[bool, float]:
        """The order of prefixes: by their first start; those without one are last."""
        began_s = math.inf if self.first_s is None else self.first_s
        return self.first_s is None and not self.running, began_s


_ADDED = (
    *("total", "finished", "erred", "running", "interrupted", "duration_s", "skipped", "released", "again"),
)


def join_progress(rows: Iterable[PrefixProgress]) -> list[PrefixProgress]:
    """Return rows of groups of one run added up by prefix, in the order in which they began."""
    joined: dict[str, PrefixProgress] = {}
    for row in rows:
        known = joined.get(row.prefix)
        if known is not None:
            sums = {name: getattr(known, name) + getattr(row, name) for name in _ADDED}
            began = min((s for s in (known.first_s, row.first_s) if s is not None), default=None)
            row = replace(known, **sums, first_s=began)  # noqa: PLW2901 - the row of all groups
        joined[row.prefix] = row
    return sorted(joined.values(), key=lambda row: row.order)


@dataclass(frozen=True, slots=True, eq=False)
class TaskBlock(Measured):
    """Many tasks as equally long columns, with the key of every row, and errors by row."""

    run: NDArray[np.int32]
    group: NDArray[np.uint32]
    lane: NDArray[np.uint16]
    start: NDArray[np.float64]
    stop: NDArray[np.float64]
    flags: NDArray[np.uint8]
    keys: KeyBlock
    errors: Mapping[int, str] = field(default_factory=dict)

    @property
    def status(self) -> NDArray[np.uint8]:
        """How each ended, as places in `STATUSES`."""
        return flag_codes(self.flags, "status")

    def __len__(self) -> int:
        return len(self.start)
