"""Tasks of other clients are recorded where they are asked for, apart from ours."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from dask.delayed import delayed
from distributed import Client, Event, LocalCluster

import taskscope
from taskscope.analysis.progress import Progress, measure_progress
from taskscope.analysis.totals import Outcomes, measure_totals
from taskscope.errors import OptionError
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.cluster import Transport
from tests.support.clusters.other_client import OtherClient, other_client
from tests.support.clusters.tasks import Done, read_truth, work
from tests.support.waiting import until
from tests.unit.cluster.scheduler.test_observer import needs_numbered_records
from tests.unit.cluster.tasks.test_computes import rows

OTHERS = "distributed, other clients"


@pytest.fixture(scope="module")
def other(cluster: LocalCluster) -> Iterator[OtherClient]:
    with other_client(cluster.scheduler_address) as other:
        yield other


def tasks(recording: Recording) -> dict[str | None, Counter[tuple[str, str, str]]]:
    """Return keys, prefixes and statuses by what their runs call their scheduler."""
    schedulers = dict(rows(recording, "runs", "run", "scheduler"))
    found: dict[str | None, Counter[tuple[str, str, str]]] = {}
    for run, *row in rows(recording, "tasks", "run", "key", "prefix", "status"):
        found.setdefault(schedulers[run], Counter())[str(row[0]), str(row[1]), str(row[2])] += 1
    return found


def finished(name: str, n: int, mark: str = "") -> Counter[tuple[str, str, str]]:
    return Counter((f"{name}-{i}", name + mark, "finished") for i in range(n))


@pytest.mark.parametrize("transport", [pytest.param("poll", marks=needs_numbered_records), "observe"])
def test_every_task_of_others_is_recorded_once_and_none_of_ours(
    client: Client, other: OtherClient, truth: Path, transport: Transport
) -> None:
    event = Event(f"held-{transport}", client=client)
    before, theirs, both, bad, long = (f"{n}{transport}" for n in ("before", "theirs", "both", "bad", "long"))
    names = [f"{both}-o{i}" for i in range(20)]
    other.do("work", truth.parent, before, 10)
    with taskscope.profile(display=False, others=True, transport=transport) as run:
        first_run = current().recorder.next_run
        other.do("work", truth, theirs, 30)
        ours = client.map(work, [truth] * 20, names, [0.001] * 20, key=names)
        other.do("work", truth, both, 20)
        client.gather(ours)
        other.do("fail", f"{bad}-0")
        other.do("hold", f"{long}-0", event.name)
        until(lambda: of_others(progress_of(first_run)) == (51, 1, 1))
        # That its last task has ended is told before that its compute has.
        until(lambda: progress_of(first_run).state == "finished")
        progress = progress_of(first_run)
    event.set()
    other.do("wait", f"{long}-0")

    mark = " (other clients)"
    ended = [(f"{bad}-0", bad + mark, "erred"), (f"{long}-0", long + mark, "running")]
    assert tasks(run.recording) == {
        OTHERS: finished(theirs, 30, mark) + finished(both, 20, mark) + Counter(ended),
        "distributed": Counter((name, both, "finished") for name in names),
    }
    assert rows(run.recording, "messages", "text") == []
    assert set(rows(run.recording, "runs", "scheduler", "label", "n_workers", "n_tasks", "status")) == {
        (OTHERS, None, 4, None, "running"),
        ("distributed", None, 4, 20, "finished"),
    }
    check_times(run.recording, read_truth(truth))
    # Nothing of theirs is in a count of ours.
    assert (progress.total, progress.finished, progress.running, progress.state) == (20, 20, 0, "finished")
    assert [(p.prefix, p.total) for p in progress.prefixes] == [(both, 20)]
    totals = measure_totals(run.recording)
    assert (totals.n_runs, totals.n_tasks, totals.outcomes) == (1, 20, Outcomes(0, 0, 0, 20, 0))
    assert totals.others is not None
    assert (totals.others.n_ended, totals.others.n_erred, totals.others.n_running) == (51, 1, 1)


def progress_of(first_run: int) -> Progress:
    recorder = current().recorder
    return measure_progress(recorder.progress(first_run), recorder.runs(first_run), recorder.now_s())


def of_others(progress: Progress) -> tuple[int, int, int] | None:
    others = progress.others
    return None if others is None else (others.n_ended, others.n_erred, others.n_running)


def check_times(recording: Recording, truth: list[Done]) -> None:
    """What a worker measures of a task includes what the task itself saw."""
    done = {d.name: d for d in truth}
    zero = recording.started_at.timestamp()
    n = 0
    for key, start_s, stop_s, thread in rows(recording, "tasks", "key", "start_s", "stop_s", "thread"):
        if (task := done.get(str(key))) is not None:
            n += 1
            assert thread == task.thread
            assert stop_s - start_s >= task.stop - task.start - 1e-6
            assert task.start - zero == pytest.approx(start_s, abs=5.0)
    assert n == 70


def test_without_being_asked_for_none_of_them_is_recorded(
    client: Client, other: OtherClient, truth: Path
) -> None:
    with taskscope.profile(display=False) as run:
        other.do("work", truth, "unasked", 10)
        assert delayed(work)(truth, "mine", 0.0, dask_key_name="mine-0").compute() == "mine"
    assert tasks(run.recording) == {"distributed": finished("mine", 1)}
    assert measure_totals(run.recording).others is None


def test_a_block_that_computes_nothing_tells_of_others_and_claims_no_compute(
    client: Client, other: OtherClient, truth: Path
) -> None:
    with taskscope.profile(display=False, others=True) as run:
        with taskscope.profile(display=False, others=True) as inner:
            other.do("work", truth, "inner", 5)
        other.do("work", truth, "outer", 5)
    mark = " (other clients)"
    assert tasks(inner.recording) == {OTHERS: finished("inner", 5, mark)}
    assert tasks(run.recording) == {OTHERS: finished("inner", 5, mark) + finished("outer", 5, mark)}
    title, _, others = run.recording.summary().splitlines()
    assert title == "taskscope · no Dask computation ran here"
    assert others.startswith("  others         10 tasks of other clients ended, ")


def test_what_others_have_published_stays_theirs_and_what_we_do_with_it_is_ours(
    client: Client, other: OtherClient, truth: Path
) -> None:
    with taskscope.profile(display=False, others=True) as run:
        first_run = current().recorder.next_run
        other.do("work", truth, "shared", 3)
        other.do("publish", "shared")
        until(lambda: of_others(progress_of(first_run)) == (3, 0, 0))
        shared = client.get_dataset("shared")
        assert client.submit(len, shared, key="ours-0").result() == 3
        # What we ask for, too, and is there already, is computed by nobody again.
        keys = [f"shared-{i}" for i in range(3)]
        again = client.map(work, [truth] * 3, keys, [0.001] * 3, key=keys)
        assert client.gather(again) == keys
        client.unpublish_dataset("shared")
    assert tasks(run.recording) == {
        OTHERS: finished("shared", 3, " (other clients)"),
        "distributed": finished("ours", 1),
    }


def test_in_an_event_loop_they_are_recorded_from_its_first_line_on(
    cluster: LocalCluster, other: OtherClient, truth: Path
) -> None:
    async def run() -> Recording:
        async with (
            Client(cluster.scheduler_address, asynchronous=True),
            taskscope.profile(display=False, others=True) as block,
        ):
            await asyncio.to_thread(other.do, "work", truth, "looped", 5)
        return block.recording

    assert tasks(asyncio.run(run())) == {OTHERS: finished("looped", 5, " (other clients)")}


def test_what_is_no_yes_or_no_is_refused_at_once() -> None:
    with pytest.raises(OptionError, match="others must be True or False, got 'yes'"):
        taskscope.profile(others="yes")  # type: ignore[arg-type]  # what is tested
