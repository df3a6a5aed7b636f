"""Record what workers' plugins send once a second: transfers, samples, the lock, lines, clocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, get_args

from taskscope.model.guard import Guard
from taskscope.model.keys import key_text, split_key
from taskscope.model.tables.activities import Transfer
from taskscope.model.tables.workers import LogLevel, LogLine
from taskscope.record import LaneKey
from taskscope.sources.cluster.plugin import unpack
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers import (
    Exchange,
    Worker,
    Workers,
    amount,
    thread_id,
)
from taskscope.sources.sampled import SentFunctions, counted_cycles

LOG_LEVELS = frozenset(get_args(LogLevel))
_Running: TypeAlias = dict[TrackedRun, dict[object, tuple[LaneKey, float]]]
"""Lane and start of running tasks, by run."""
_CYCLE_S = 1.0


class WorkerNews:
    """Records messages of workers' plugins; each kind that cannot be read is left out with a warning."""

    def __init__(
        self,
        workers: Workers,
        run_of: Callable[[Hashable], TrackedRun | None],
        runs: Collection[TrackedRun],
    ) -> None:
        self._workers = workers
        self._recorder = workers.recorder
        self._run_of = run_of
        self._runs = runs
        self._sent = SentFunctions()
        self._running: dict[str, _Running] = {}
        """What each worker has sent last of its running tasks."""
        self._with_running: set[TrackedRun] = set()
        self._has_changed = False
        """Whether that changed since `record_running`."""
        self._kinds: Mapping[str, Callable[[Worker, Any], None]] = {
            "metrics": workers.record_sample,
            "logs": self._take_logs,
            "transfers": self._take_transfers,
            "clock": self._compare,
            "n_failed": self._take_failures,
            "lock": self._take_looks,
            "samples": self._take_samples,
            "lines": self._take_lines,
            "running": self._take_running,
        }

    def take(self, address: str, news: bytes) -> None:
        worker = self._workers.get(address)

        def leave_out(kind: str, error: BaseException) -> None:
            self._recorder.warn(f"what %s reported of its {kind} is left out: %s", worker.label, error)

        with Guard("plugin", leave_out):
            for kind, value in unpack(news).items():
                with Guard(kind, leave_out):
                    if kind in self._kinds:
                        self._kinds[kind](worker, value)

    def refuse(self, address: str, why: str) -> None:
        """Warn that a worker has no plugin."""
        self._recorder.warn(
            "%s does not run taskscope's plugin (%s): "
            "CPU time, bytes of transfers and samples of its tasks are not known",
            self._workers.get(address).label,
            why,
        )

    def forget(self, address: str) -> None:
        """Forget the running tasks of a worker that is gone."""
        self._has_changed |= self._running.pop(address, None) is not None

    def log(self, worker: Worker | None, moment: float, level: Any, text: Any) -> None:
        """Record a line of a log at a moment on the clock's axis; without a worker it is the scheduler's."""
        if level in LOG_LEVELS:
            address = None if worker is None else worker.address
            self._recorder.logs.append(LogLine(self._recorder.seconds(moment), address, level, str(text)))

    def _take_logs(self, worker: Worker, lines: Iterable[Sequence[Any]]) -> None:
        shift_s = self._recorder.clock.shift_s() + worker.clock.ahead_s
        for moment, level, text in lines:
            self.log(worker, float(moment) + shift_s, level, text)

    def _take_failures(self, worker: Worker, n: Any) -> None:
        self._recorder.warn(f"{int(n):,} measurements of %s failed and are left out", worker.label)

    def _take_transfers(self, worker: Worker, entries: Iterable[Sequence[Any]]) -> None:
        recorder = self._recorder
        shift_s = recorder.clock.shift_s() + worker.clock.ahead_s
        for number, start, stop, peer, total, compressed, n_keys, keys in entries:
            recorder.activities.logged.append(
                Transfer(
                    worker=worker.address,
                    peer=str(peer) or None,
                    direction="outgoing" if number else "incoming",
                    start_s=recorder.seconds(start + shift_s),
                    stop_s=recorder.seconds(stop + shift_s),
                    nbytes=amount(total),
                    compressed_bytes=None if compressed is None else amount(compressed),
                    n_keys=int(amount(n_keys)),
                    keys=tuple(map(key_text, keys)),
                )
            )

    def _compare(self, worker: Worker, exchanges: Iterable[Sequence[float]]) -> None:
        found = [Exchange(*map(float, times)) for times in exchanges if all(map(math.isfinite, times))]
        if found:
            self._workers.clocks.note_host(worker.address, found)

    def _take_looks(self, _worker: Worker, looks: Iterable[Sequence[Any]]) -> None:
        now = self._recorder.clock.perf_counter()
        for ago_s, n, n_held in looks:
            if not 0 <= n_held <= n:
                raise ValueError(f"of {n} samples the lock was held at {n_held}")
            at = now - max(float(ago_s), 0.0)
            for run in self._runs:
                if run.log.start <= at <= (math.inf if run.over is None else run.over):
                    run.log.note_lock(int(n), int(n_held))

    def _take_samples(self, worker: Worker, samples: Mapping[str, Any]) -> None:
        now, functions = self._recorder.clock.perf_counter(), samples["functions"]
        found: dict[tuple[TrackedRun, str], dict[tuple[float, Any], list[float]]] = {}
        for key, ago_s, calls, *amounts in samples["stacks"]:
            run, at = self._run_of(key), now - amount(ago_s)
            new = list(map(amount, amounts))
            # A task of that key may have run before, for another client.
            if run is not None and run.log.start <= at + _CYCLE_S:
                # On whole seconds, so that the cycles of all workers are of one time.
                cycle = self._recorder.seconds(at) // 1.0
                sums = found.setdefault((run, split_key(key)[1]), {})
                known = sums.get((cycle, calls), [0.0] * len(new))
                sums[cycle, calls] = [a + b for a, b in zip(known, new, strict=True)]
        for (run, prefix), sums in found.items():
            stacks = [(*at, *values) for at, values in sums.items()]
            self._sent.add(run.log.run, run.codes)
            cycles = counted_cycles(
                self._sent,
                functions,
                stacks,
                run.log.run,
                prefix,
                worker.address,
                has_lines=samples["has_lines"],
            )
            began_s = self._recorder.seconds(run.log.start)
            for at_s, counted in cycles.items():
                self._recorder.hand_over_samples(max(at_s, began_s), run.log.run, counted)

    def _take_lines(self, worker: Worker, counts: Mapping[str, Any]) -> None:
        def warn(what: str, *names: object) -> None:
            self._recorder.warn(f"lines of functions on %s {what}", worker.label, *names)

        if "refusal" in counts:
            warn("are not counted: %s", counts["refusal"])
        if "is_late" in counts:
            warn("of tasks before it was asked first, or in time, are missing")
        if "n_lost" in counts:
            warn(f"of {counts['n_lost']:,} tasks are missing: they were too many")
        if "fault" in counts:
            warn("may be counted wrongly: %s", counts["fault"])
        for key, rows in counts.get("tasks", ()):
            run = self._run_of(key)
            if run is not None:
                number = run.log.run
                measured = [
                    (self._sent.function(number, row[1], row[0], row[2]).file, *row[1:]) for row in rows
                ]
                self._recorder.measured_lines.add(number, key, worker.address, measured)

    def _take_running(self, worker: Worker, running: Iterable[Sequence[Any]]) -> None:
        shift_s = worker.clock.ahead_s + self._recorder.clock.shift_s()
        found: _Running = {}
        for thread, key, began in running:
            run = self._run_of(key)
            sent = None if run is None else run.log.submitted.get(key)
            if run is not None and sent is not None:
                start = sent if began is None else float(began) + shift_s
                found.setdefault(run, {})[key] = worker.lane(thread_id(thread)), start
        self._running[worker.address], self._has_changed = found, True

    def record_running(self) -> None:
        """Record where the tasks of each run are running, once for all messages that were read together."""
        if not self._has_changed:
            return
        found: _Running = {run: {} for run in self._with_running}
        for running in self._running.values():
            for run, mine in running.items():
                found.setdefault(run, {}).update(mine)
        for run, mine in found.items():
            run.log.running_on = mine
        self._with_running = {run for run, mine in found.items() if mine}
        self._has_changed = False
