"""Workloads whose tasks write their own truth; each returns what else is to be true of its recording.

The first ones run on every scheduler, the next on those of Dask itself, the last on a cluster.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask
import pytest
from dask.delayed import Delayed, delayed
from distributed import Client, Future, LocalCluster, as_completed, get_client, secede, wait

import taskscope
from tests.support.truth import Deed, Expected, calling, has_begun, read, violations
from tests.support.waiting import until

DONE = "finished", None


class Stage:
    """A scheduler, the folder into which tasks write what they do, and what needs what."""

    def __init__(self, folder: Path, scheduler: str, /, **options: object) -> None:
        self.scheduler = scheduler
        self.truth = folder / "truth"
        self.truth.mkdir()
        self.gate = folder / "gate"
        """Gated tasks wait until there is this file."""
        self.needs: set[tuple[str, str]] = set()
        self.run = taskscope.profile(display=False)
        self._options = options

    def task(self, key: str, *needed: Delayed, deed: Deed | None = None) -> Delayed:
        """Return a task of that key."""
        self.needs |= {(key, each.key) for each in needed}
        task: Delayed = delayed(calling(self.truth, key, deed or Deed()), pure=False)(
            *needed, dask_key_name=key
        )
        return task

    def gated(self, key: str, *needed: Delayed) -> Delayed:
        """Return a task that lasts until the gate is open."""
        return self.task(key, *needed, deed=Deed(until=self.gate))

    def compute(self, *tasks: Delayed, **options: Any) -> tuple[object, ...]:
        """Return the results of tasks."""
        found: tuple[object, ...] = dask.compute(*tasks, **self._options, **options)
        return found

    def open(self) -> None:
        """Let gated tasks end."""
        self.gate.touch()

    def await_begun(self, *keys: str) -> None:
        """Return once tasks of these keys have begun."""
        until(lambda: has_begun(self.truth, *keys), lambda: read(self.truth))

    @contextmanager
    def computing(self, *groups: tuple[Delayed, ...]) -> Iterator[None]:
        """Compute each group of tasks in a thread of its own, which ends with the block."""
        threads = [threading.Thread(target=self.compute, args=group) for group in groups]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.open()
            for thread in threads:
                thread.join()

    def expected(self, *runs: tuple[int, str, str | None], **known: Any) -> Expected:
        """Return what is to be recorded of these computes."""
        return Expected(list(runs), needs=self.needs, **known)


class ClusterStage(Stage):
    """A cluster of two workers with two threads each, which are there again at the end of each workload."""

    def __init__(self, folder: Path, cluster: LocalCluster, client: Client) -> None:
        super().__init__(folder, "distributed")
        self.cluster = cluster
        self.client = client

    @property
    def workers(self) -> dict[str, int]:
        """The process of each worker, by its address."""
        return dict(self.client.run(os.getpid))

    @contextmanager
    def third_worker(self) -> Iterator[tuple[str, int]]:
        """Provide the address and the process of a worker that comes, and leaves with the block."""
        before = self.workers
        self.cluster.scale(3)
        until(lambda: len(self.workers) == 3)
        (new,) = self.workers.items() - before.items()
        yield new
        # While tasks run, for the scheduler records lives of workers only as long.
        self.client.retire_workers(list(self.workers.keys() - before))
        self.cluster.scale(2)
        until(lambda: self.workers == before)

    def submit(self, key: str, *needed: Future[Any], deed: Deed | None = None, **options: Any) -> Future[Any]:
        """Submit a task of that key."""
        self.needs |= {(key, str(each.key)) for each in needed}
        return self.client.submit(calling(self.truth, key, deed or Deed()), *needed, key=key, **options)


Workload = Callable[[Any], Expected]


# ---------------------------------------------------------------------------------------- on every scheduler


def plain(stage: Stage) -> Expected:
    """Tasks that need others."""
    leaves = [stage.task(f"leaf-{i}") for i in range(20)]
    middle = [stage.task(f"middle-{i}", *leaves[4 * i : 4 * i + 4]) for i in range(5)]
    assert stage.compute(stage.task("root-0", *middle)) == ("ROOT-0",)
    return stage.expected((26, *DONE))


def fail(stage: Stage) -> Expected:
    """A task fails, and the one that needs it never begins."""
    bad = stage.task("bad-0", stage.task("good-0"), deed=Deed(fails=1))
    with pytest.raises(ValueError, match="no luck of bad-0"):
        stage.compute(stage.task("after-0", bad))
    return stage.expected((3, "erred", "ValueError: no luck of bad-0"))


def loop(stage: Stage) -> Expected:
    """One compute after another, each with a task of the same key."""
    for i in range(5):
        stage.compute(stage.task(f"last-{i}", stage.task("same-0")))
    return stage.expected(*[(2, *DONE)] * 5)


def persist(stage: Stage) -> Expected:
    """A compute needs results that an earlier one left in memory."""
    kept = dask.persist(*(stage.task(f"kept-{i}") for i in range(4)), **stage._options)
    wait_for(kept)
    assert stage.compute(stage.task("top-0", *kept)) == ("TOP-0",)
    return stage.expected((4, *DONE), (1, *DONE))


def wait_for(collections: tuple[Delayed, ...]) -> None:
    """Return once the futures of collections are finished; local schedulers have finished all."""
    futures = [each for one in collections for each in one.dask.values() if isinstance(each, Future)]
    if futures:
        wait(futures)


def nested(stage: Stage) -> Expected:
    """A task computes others; in another process, or in a worker, nobody records that."""
    inner = partial(_computed, stage.truth)
    assert stage.compute(stage.task("outer-0", deed=Deed(calls=inner))) == (4,)
    if stage.scheduler in ("synchronous", "threads"):
        return stage.expected((1, *DONE), (4, *DONE))
    return stage.expected((1, *DONE), unseen=frozenset(f"inner-{i}" for i in range(4)))


def _computed(folder: Path) -> int:
    parts = [delayed(calling(folder, f"inner-{i}", Deed()))(dask_key_name=f"inner-{i}") for i in range(4)]
    return len(dask.compute(*parts, scheduler="synchronous"))


# ------------------------------------------------------------------------------ on schedulers of many threads


def overlap(stage: Stage) -> Expected:
    """Two computes at a time, whose tasks begin before those of the other end."""
    groups = [stage.task(f"{name}-1", stage.gated(f"{name}-0")) for name in ("one", "other")]
    with stage.computing(*((each,) for each in groups)):
        stage.await_begun("one-0", "other-0")
    return stage.expected((2, *DONE), (2, *DONE))


def in_flight(stage: Stage) -> Expected:
    """While a compute runs, its recording has the tasks that run beside those that have ended."""
    slow = [stage.gated(f"slow-{i}", stage.task(f"first-{i}")) for i in range(2)]
    with stage.computing((stage.task("last-0", *slow),)):
        stage.await_begun("slow-0", "slow-1")
        running = stage.expected((5, "running", None), unfinished="running")
        until(lambda: violations(stage.run.recording, read(stage.truth), running, slack_s=1.0) == [])
    return stage.expected((5, *DONE))


# ------------------------------------------------------------------------------- on schedulers of Dask itself


def abandon(stage: Stage) -> Expected:
    """A task still runs when another one fails, and so ends for nothing."""
    slow = stage.gated("slow-0")
    bad = stage.task("bad-0", deed=Deed(until=stage.gate.with_name("may-fail"), fails=1))
    failing = threading.Thread(target=_open_once_begun, args=(stage,))
    failing.start()
    with pytest.raises(ValueError, match="no luck of bad-0"):
        stage.compute(slow, bad)
    failing.join()
    stage.open()
    until(lambda: all(each.stop_s is not None for each in read(stage.truth)))
    return stage.expected((2, "erred", "ValueError: no luck of bad-0"), abandoned=frozenset({"slow-0"}))


def _open_once_begun(stage: Stage) -> None:
    stage.await_begun("slow-0", "bad-0")
    stage.gate.with_name("may-fail").touch()


def interrupt(stage: Stage) -> Expected:
    """Ctrl-C when the first of two tasks has ended."""

    def press_ctrl_c(key: str, *_: object) -> None:
        if key == "after-0":
            raise KeyboardInterrupt

    callback = (None, None, press_ctrl_c, None, None)
    after = stage.task("after-0", stage.task("done-0"))
    with pytest.raises(KeyboardInterrupt):
        stage.compute(after, callbacks=[callback])
    return stage.expected((2, "interrupted", "KeyboardInterrupt"))


def interrupt_in_task(stage: Stage) -> Expected:
    """A task raises KeyboardInterrupt."""
    with pytest.raises(KeyboardInterrupt):
        stage.compute(stage.task("after-0", stage.task("pressed-0", deed=Deed(interrupts=True))))
    return stage.expected((2, "interrupted", "KeyboardInterrupt"))


def kill_process(stage: Stage) -> Expected:
    """A process of a pool is killed, and so all tasks that the pool runs are lost."""
    with pytest.raises(Exception, match="terminated abruptly"):
        stage.compute(
            stage.gated("beside-0", stage.task("done-0")),
            stage.task("dies-0", deed=Deed(until=stage.gate.with_name("may-die"), dies=True)),
            callbacks=[(None, None, partial(_kill_once_begun, stage), None, None)],
        )
    (run,) = stage.run.recording.runs
    return stage.expected((3, "erred", run.error), unfinished="lost")


def _kill_once_begun(stage: Stage, key: str, *_: object) -> None:
    if key == "beside-0":
        threading.Thread(target=_let_die, args=(stage,)).start()


def _let_die(stage: Stage) -> None:
    stage.await_begun("beside-0", "dies-0")
    stage.gate.with_name("may-die").touch()


# ---------------------------------------------------------------------------------------------- on a cluster


def retry(stage: ClusterStage) -> Expected:
    """Tasks fail, and their worker tries them again."""
    futures = [stage.submit(f"luck-{i}", deed=Deed(fails=i), retries=3, pure=False) for i in range(4)]
    hopeless = stage.submit("hopeless-0", deed=Deed(fails=9), retries=2, pure=False)
    wait([*futures, hopeless])
    keys = frozenset(each.key for each in (*futures, hopeless))
    return stage.expected((5, "erred", "ValueError: no luck of hopeless-0"), retried=keys)


def retry_by_hand(stage: ClusterStage) -> Expected:
    """The user retries a future that has failed, and with it the one that it needs."""
    needed = stage.submit("needed-0", deed=Deed(fails=1))
    needs = stage.submit("needs-0", needed)
    wait([needed, needs])
    # Else the retry is part of the compute.
    until(lambda: [each.status for each in stage.run.recording.runs] == ["erred"])
    needs.retry()
    assert needs.result() == "NEEDS-0"
    return stage.expected((2, "erred", "ValueError: no luck of needed-0"), (2, *DONE))


def kill_worker(stage: ClusterStage) -> Expected:
    """A worker is killed: what it ran is lost and runs again, as does what it had in memory."""
    with stage.third_worker() as (victim, pid):
        there: dict[str, Any] = {"workers": [victim], "allow_other_workers": True}
        held = [stage.submit("held-0", deed=Deed(until=stage.gate), **there)]
        done = stage.submit("done-0", **there)
        wait(done)
        held.append(stage.submit("held-1", deed=Deed(until=stage.gate), **there))
        stage.await_begun("held-0", "held-1")
        os.kill(pid, signal.SIGKILL)
        # What waits for the gate runs elsewhere.
        until(lambda: Counter(each.key for each in read(stage.truth)) >= Counter(["held-0", "held-1"] * 2))
        until(lambda: len(stage.workers) == 3)
    stage.open()
    assert stage.client.gather([done, *held]) == ["DONE-0", "HELD-0", "HELD-1"]
    lives = ["worker 2 came", "worker 2 died", "worker 2 was restarted by its nanny", "worker 2 was retired"]
    return stage.expected((3, *DONE), unfinished="lost", messages=lives)


def cancel(stage: ClusterStage) -> Expected:
    """Tasks that run are cancelled, and one that waits for them."""
    running = [stage.submit(f"runs-{i}", deed=Deed(until=stage.gate)) for i in range(4)]
    waiting = stage.submit("waits-0", *running)
    stage.await_begun(*(f"runs-{i}" for i in range(4)))
    stage.client.cancel([waiting, *running])
    return stage.expected((5, "interrupted", None), unfinished="interrupted")


def release(stage: ClusterStage) -> Expected:
    """A future is deleted while its task runs, and another one before its task could begin."""
    held = stage.submit("runs-0", deed=Deed(until=stage.gate))
    never = stage.submit("never-0", resources={"GPU": 1})
    stage.await_begun("runs-0")
    other = stage.submit("other-0")
    wait(other)
    del held, never
    until(lambda: list(stage.client.futures) == ["other-0"])
    return stage.expected((3, *DONE), unfinished="released")


def submit_loop(stage: ClusterStage) -> Expected:
    """Each result leads to the next task, while one goes on."""
    first = stage.submit("first-0", deed=Deed(until=stage.gate))
    steps = as_completed([stage.submit("step-0")])
    for i, future in enumerate(steps, start=1):
        if i < 20:
            steps.add(stage.submit(f"step-{i}", future))
    stage.open()
    assert first.result() == "FIRST-0"
    return stage.expected((21, *DONE))


def submitted_by_a_task(stage: ClusterStage) -> Expected:
    """A task submits others and waits for them, which are part of its compute."""
    inner = partial(_gathered, stage.truth)
    assert stage.submit("outer-0", deed=Deed(calls=inner), pure=False).result() == 4
    return stage.expected((5, *DONE))


def _gathered(folder: Path) -> int:
    client = get_client()
    secede()
    futures = [client.submit(calling(folder, f"inner-{i}", Deed()), key=f"inner-{i}") for i in range(4)]
    return len(client.gather(futures))


def scale_up(stage: ClusterStage) -> Expected:
    """A worker comes while tasks occupy all threads, and leaves."""
    held = [stage.submit(f"held-{i}", deed=Deed(until=stage.gate)) for i in range(4)]
    stage.await_begun(*(f"held-{i}" for i in range(4)))
    with stage.third_worker() as (new, _):
        there = [stage.submit(f"there-{i}", workers=[new]) for i in range(4)]
        wait(there)
        del there
    stage.open()
    wait(held)
    return stage.expected((8, *DONE), messages=["worker 2 came", "worker 2 was retired"])


def steal(stage: ClusterStage) -> Expected:
    """The scheduler has a worker steal a task that another one has not begun."""
    here, there = stage.workers
    busy = [
        stage.submit(f"{name}-{i}", deed=Deed(until=stage.gate), workers=[at])
        for name, at in (("here", here), ("there", there))
        for i in range(2)
    ]
    stage.await_begun(*(str(each.key) for each in busy))
    stolen = stage.submit("stolen-0", workers=[here], allow_other_workers=True)
    until(lambda: "stolen-0" in stage.client.processing()[here])
    stage.client.run_on_scheduler(_move, "stolen-0", there)
    until(lambda: "stolen-0" in stage.client.processing()[there])
    stage.open()
    wait([*busy, stolen])
    (execution,) = [each for each in read(stage.truth) if each.key == "stolen-0"]
    assert execution.worker == there
    known = {("steals", "key", "from_worker", "to_worker", "outcome"): [("stolen-0", here, there, "stolen")]}
    return stage.expected((5, *DONE), tables=known)


def _move(key: str, thief: str, dask_scheduler: Any = None) -> None:
    task, to = dask_scheduler.tasks[key], dask_scheduler.workers[thief]
    dask_scheduler.extensions["stealing"].move_task_request(task, task.processing_on, to)
