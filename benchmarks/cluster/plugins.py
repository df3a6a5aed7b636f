"""What the plugins' own code costs the scheduler and a worker for each task, apart from all else.

The scheduler's calls of a real run are kept and made again on a new observer, without other processes and
without the batching of messages, which `cost` has. A worker's calls are timed where they happen.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from distributed import Client, LocalCluster
from distributed.protocol import dumps, loads

import taskscope
from benchmarks.cluster.cost import increment
from benchmarks.harness import Table
from taskscope.sources.cluster.plugin import SchedulerObserver

_A_MESSAGE = 5
"""How many ends of trivial tasks a worker's message has."""


def measure_plugins(n_tasks: int, rounds: int) -> Table:
    return Table(
        f"Plugins: CPU time for each of {n_tasks:,} trivial tasks, in microseconds",
        ("where", "median", "quartiles"),
        _rows(n_tasks, rounds),
        "At most 10 are allowed on the scheduler and 10 on a worker.",
    )


def _rows(n_tasks: int, rounds: int) -> Iterator[tuple[str, str, str]]:
    sums: dict[str, list[float]] = {}
    for _ in range(rounds):
        found = _round(n_tasks)
        for place in ("scheduler", "worker"):
            found[f"{place}, all"] = sum(us for name, us in found.items() if name.startswith(place))
        for name, us in found.items():
            sums.setdefault(name, []).append(us)
    for name in sorted(sums):
        low, middle, high = statistics.quantiles(sums[name], n=4, method="inclusive")
        yield name, f"{middle:.1f}", f"{low:.1f} to {high:.1f}"


def _round(n_tasks: int) -> dict[str, float]:
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        taskscope.profile(display=False),
    ):
        client.submit(increment, 1, pure=False).result()
        scheduler, (worker,) = cluster.scheduler, cluster.workers.values()
        observer, plugin = (_ours(holder.plugins) for holder in (scheduler, worker))
        spy = _Spy(observer, plugin, scheduler)
        futures = client.map(increment, range(n_tasks), pure=False)
        client.gather(futures)
        keys = [future.key for future in futures]
        graph_s = _took(lambda: observer.note_tasks("client", keys))
    again = SchedulerObserver(SimpleNamespace(tasks=spy.tasks), observer.name, 100_000, b"")
    again.is_resting = False
    transitions_s = _took(lambda: _repeat(again, spy.calls))
    answer: list[Any] = []
    read_s = _took(lambda: answer.append(dumps(again.read(0, 20_000, b"", [], may_rest=False))))
    plain = [_plain(message, observer.name) for message in spy.messages]
    (dumps_s, loads_s), (plain_dumps_s, plain_loads_s) = _packed(spy.messages), _packed(plain)
    found = {
        "scheduler: transitions": transitions_s,
        "scheduler: graphs": graph_s,
        "scheduler: events are read": read_s,
        "scheduler: longer messages of workers": max(loads_s - plain_loads_s, 0.0),
        "worker: transitions": spy.worker_s,
        "worker: longer messages": max(dumps_s - plain_dumps_s, 0.0),
    }
    return {name: seconds / n_tasks * 1e6 for name, seconds in found.items()}


class _Spy:
    """Keeps the scheduler's calls and the messages about ended tasks, and times a worker's calls."""

    def __init__(self, observer: Any, plugin: Any, scheduler: Any) -> None:
        self.calls: list[tuple[Any, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.tasks: dict[Any, Any] = {}
        self.worker_s = 0.0
        worker = SimpleNamespace(address="tcp://10.0.0.1:4000")
        original, finished = plugin.transition, scheduler.stream_handlers["task-finished"]

        def observed(*args: Any, **details: Any) -> None:
            self.tasks.setdefault(args[0], SimpleNamespace(processing_on=worker))
            self.calls.append((args, _copied(details)))
            type(observer).transition(observer, *args, **details)

        def timed(*args: Any, **details: Any) -> None:
            # What reading the clock costs is measured each time: amid other code it is twice that of a loop.
            before_s, begin_s = time.thread_time(), time.thread_time()
            original(*args, **details)
            self.worker_s += time.thread_time() - begin_s - (begin_s - before_s)

        def noted(**message: Any) -> Any:
            self.messages.append({"op": "task-finished", **_copied(message)})
            return finished(**message)

        observer.transition, plugin.transition = observed, timed
        scheduler.stream_handlers["task-finished"] = noted


def _copied(details: dict[str, Any]) -> dict[str, Any]:
    steps = details.get("startstops")
    return details | ({"startstops": [dict(step) for step in steps]} if steps else {})


def _plain(message: dict[str, Any], name: str) -> dict[str, Any]:
    steps = [{what: value for what, value in step.items() if what != name} for step in message["startstops"]]
    return message | {"startstops": steps}


def _repeat(observer: SchedulerObserver, calls: Sequence[tuple[Any, Any]]) -> None:
    for args, details in calls:
        observer.transition(*args, **details)


def _ours(plugins: dict[Any, Any]) -> Any:
    return next(plugin for name, plugin in plugins.items() if str(name).startswith("taskscope"))


def _took(call: Callable[[], object]) -> float:
    begin_s = time.thread_time()
    call()
    return time.thread_time() - begin_s


def _packed(messages: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the seconds that it takes to pack and to unpack messages, the least of several times."""
    together = [messages[first : first + _A_MESSAGE] for first in range(0, len(messages), _A_MESSAGE)]
    frames = [dumps(some) for some in together]
    return (
        min(_took(lambda: [dumps(some) for some in together]) for _ in range(5)),
        min(_took(lambda: [loads(some, deserialize=False) for some in frames]) for _ in range(5)),
    )
