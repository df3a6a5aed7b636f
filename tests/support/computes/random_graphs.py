"""Random graphs whose tasks know what was true, and the check that a recording of them is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import dask
from dask._task_spec import Alias, DataNode, GraphNode, Task, TaskRef
from hypothesis import strategies as st

from taskscope import Recording
from taskscope.model.keys import key_text
from tests.support.computes.local_computes import GroundTruth, overlaps, watching


class OddError(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no text for you")


class OddResult:
    """A result that raises whenever it is measured, shown or compared."""

    def __sizeof__(self) -> int:
        raise RuntimeError("no size for you")

    def __repr__(self) -> str:
        raise RuntimeError("no text for you")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison for you")

    __hash__ = None  # type: ignore[assignment]  # as unhashable as it is incomparable


ODD = OddResult()
RESULTS: dict[str, Callable[[], Any]] = {
    "number": lambda: 7,
    "list": lambda: [1, 2.5, "x"],
    "odd": lambda: ODD,
    "none": lambda: None,
}
ERRORS: dict[str, Callable[[], BaseException]] = {
    "value": lambda: ValueError("no good"),
    "odd": OddError,
    "interrupt": KeyboardInterrupt,
    "exit": lambda: SystemExit(3),
}

names = st.sampled_from(
    ["load-1", "sum", "</script>", "\u202egnp", "lone\ud800", "it's", "(odd", "x" * 5_000, ""]
)
keys = st.one_of(
    st.tuples(names, st.integers(0, 99)),
    st.tuples(names, st.integers(0, 9), st.integers(2**31, 2**33)),
    names,
    st.binary(max_size=2),
    st.integers(),
    st.floats(allow_nan=False),
    st.tuples(st.tuples(names, st.integers(0, 9)), st.integers(0, 9)),
)


@dataclass(frozen=True)
class Step:
    """One key of a graph: data, an alias, or a task that gives or raises something."""

    key: Any
    needs: tuple[Any, ...]
    kind: str
    outcome: str = ""


@dataclass(frozen=True)
class Plan:
    steps: tuple[Step, ...]
    requested: tuple[Any, ...]
    scheduler: str
    max_tasks: int

    def needed(self) -> list[Step]:
        """Return the steps that the requested keys depend on."""
        needed = set(self.requested)
        for step in reversed(self.steps):
            if step.key in needed:
                needed.update(step.needs)
        return [step for step in self.steps if step.key in needed]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    chosen = draw(st.lists(keys, min_size=1, max_size=12, unique_by=(key_text, lambda key: key)))
    steps = [_step(draw, key, chosen[:place]) for place, key in enumerate(chosen)]
    requested = draw(st.lists(st.sampled_from(chosen), min_size=1, max_size=4, unique=True))
    return Plan(
        tuple(steps),
        tuple(requested),
        draw(st.sampled_from(["synchronous", "threads"])),
        draw(st.sampled_from([1, 4, 1_000])),
    )


def _step(draw: st.DrawFn, key: Any, before: list[Any]) -> Step:
    if not before and draw(st.booleans()):
        return Step(key, (), "data")
    needs = tuple(draw(st.lists(st.sampled_from(before), max_size=3, unique=True))) if before else ()
    if len(needs) == 1 and draw(st.integers(0, 4)) == 0:
        return Step(key, needs, "alias")
    if draw(st.integers(0, 9)) == 0:
        return Step(key, needs, "raise", draw(st.sampled_from(list(ERRORS))))
    return Step(key, needs, "give", draw(st.sampled_from(list(RESULTS))))


@dataclass
class Outcome:
    """How a compute ended, and what its tasks saw."""

    results: tuple[Any, ...] | None = None
    error: BaseException | None = None
    truth: GroundTruth = field(default_factory=GroundTruth)

    def shown(self) -> tuple[object, ...]:
        """Return what a user sees; results are compared by identity where they cannot be otherwise."""
        results = None if self.results is None else [id(r) if r is ODD else r for r in self.results]
        error = self.error
        return (results, type(error), None if error is None else error.args)


def compute(plan: Plan) -> Outcome:
    outcome = Outcome()
    # Some releases of Dask leave out what nobody asked for, others compute it.
    graph = {step.key: _node(step, outcome.truth) for step in plan.needed()}
    with ThreadPoolExecutor(3) as pool:
        options: dict[str, Any] = {"pool": pool} if plan.scheduler == "threads" else {}
        get = dask.base.get_scheduler(scheduler=plan.scheduler)
        try:
            outcome.results = get(graph, list(plan.requested), **options)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is compared
            outcome.error = error
    return outcome


def _node(step: Step, truth: GroundTruth) -> GraphNode:
    if step.kind == "data":
        return DataNode(step.key, 5)
    if step.kind == "alias":
        return Alias(step.key, step.needs[0])
    return Task(step.key, _work, step, truth, *(TaskRef(key) for key in step.needs))


def _work(step: Step, truth: GroundTruth, *_needed: Any) -> Any:
    def work() -> Any:
        if step.kind == "raise":
            raise ERRORS[step.outcome]()  # noqa: RSE102 - it makes the exception
        return RESULTS[step.outcome]()

    return truth.task(key_text(step.key), work)


def record(plan: Plan) -> tuple[Recording, Outcome]:
    with watching(max_tasks=plan.max_tasks, stacks=False) as run:
        outcome = compute(plan)
    return run.recording, outcome


def violations(plan: Plan, recording: Recording, outcome: Outcome) -> list[str]:
    """Return everything that is not true of the recording of a compute."""
    tasks = recording.to_pandas("tasks")
    (run,) = recording.runs
    n_began = _how_many_began(plan, outcome)
    found = [f"{key} has {n} rows" for key, n in Counter(tasks["key"]).items() if n > 1]
    found += [f"message: {message.text}" for message in recording.messages if message.level != "info"]
    found += [f"{a} and {b} overlap in a lane" for a, b in overlaps(tasks)]
    found += _wrong_statuses(plan, outcome, dict(zip(tasks["key"], tasks["status"], strict=True)))
    n_seen = len(tasks) + recording.dropped
    if len(tasks) > plan.max_tasks:
        found.append(f"{len(tasks)} tasks are held, {plan.max_tasks} are wanted")
    if n_seen not in n_began:
        found.append(f"{n_began} tasks began, {n_seen} were seen")
    if len(tasks) == n_seen:
        found += outcome.truth.violations(tasks)
        if outcome.error is None:
            ((start_s, stop_s),) = recording.to_pandas("runs")[["start_s", "stop_s"]].to_numpy()
            outside = tasks[(tasks["start_s"] < start_s) | (tasks["stop_s"] > stop_s)]
            found += [f"{key} is outside of its compute" for key in outside["key"]]
    if run.status != _status_of_run(outcome):
        found.append(f"the run is {run.status}")
    if run.stop_s is None:
        found.append("the run is not over")
    return found


def _status_of_run(outcome: Outcome) -> str:
    if outcome.error is None:
        return "finished"
    return "interrupted" if isinstance(outcome.error, KeyboardInterrupt) else "erred"


def _how_many_began(plan: Plan, outcome: Outcome) -> range:
    """Return how many tasks began; aliases cannot say so themselves, and not all do when a compute fails."""
    n_aliases = sum(step.kind == "alias" for step in plan.needed())
    n_began = len(outcome.truth.seen)
    return range(n_began + (n_aliases if outcome.error is None else 0), n_began + n_aliases + 1)


def _wrong_statuses(plan: Plan, outcome: Outcome, statuses: dict[str, str]) -> list[str]:
    raising = {key_text(s.key): s.outcome for s in plan.steps if s.kind == "raise"}
    seen = {key for key, *_ in outcome.truth.seen}
    expected: dict[str, set[str]] = {}
    for key in statuses:
        if key in raising:
            expected[key] = {"interrupted" if raising[key] == "interrupt" else "erred"}
        elif outcome.error is None:
            expected[key] = {"finished"}
        else:
            # What ended after its compute had failed was not waited for.
            expected[key] = {"finished", "interrupted"}
    wrong = [f"{key} is {s}, not {expected[key]}" for key, s in statuses.items() if s not in expected[key]]
    unknown = set(statuses) - seen - {key_text(s.key) for s in plan.steps if s.kind == "alias"}
    return wrong + [f"{key} has a row and never ran" for key in unknown]
