"""A block returns when its computation does: what clusters have yet to tell of it comes on another thread."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from dask.delayed import delayed
from distributed import Client, wait

import taskscope
from taskscope.errors import StillRunningError
from taskscope.model.recording import RecordedData
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.cluster.scheduler import WatchedScheduler
from tests.support.waiting import PATIENCE_S


class Answers:
    """What holds up every scheduler that is asked for all that is new."""

    def __init__(self) -> None:
        self.may_come = threading.Event()
        self.are_asked_for = threading.Event()

    async def wait(self) -> None:
        self.are_asked_for.set()
        await asyncio.to_thread(self.may_come.wait, PATIENCE_S)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """Come when the test says so."""
    answers, step, poll = Answers(), WatchedScheduler.step, WatchedScheduler._step

    async def step_later(scheduler: WatchedScheduler) -> None:
        await answers.wait()
        await step(scheduler)

    async def poll_later(scheduler: WatchedScheduler, *, at_end: bool = False) -> None:
        # It would end the compute before the block ends, where that is slow.
        if not at_end:
            await asyncio.to_thread(answers.may_come.wait, PATIENCE_S)
        await poll(scheduler, at_end=at_end)

    monkeypatch.setattr(WatchedScheduler, "step", step_later)
    monkeypatch.setattr(WatchedScheduler, "_step", poll_later)
    yield answers
    answers.may_come.set()


def double(number: int) -> int:
    return 2 * number


def compute(name: str, n: int = 3) -> int:
    parts = [delayed(double)(i, dask_key_name=f"{name}-{i}") for i in range(n)]
    total: int = delayed(sum)(parts, dask_key_name=f"{name}_sum-0").compute()
    return total


def keys_of(recording: RecordedData) -> list[str]:
    return sorted(recording.table("tasks")["key"])


def read_on_a_thread(recording: Recording) -> tuple[threading.Thread, list[str]]:
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.extend(keys_of(recording)))
    reader.start()
    return reader, found


KEYS = ["a-0", "a-1", "a-2", "a_sum-0"]


@pytest.mark.parametrize("turn", range(3))
def test_a_block_returns_before_its_cluster_has_answered_and_who_reads_it_waits(
    client: Client, answers: Answers, turn: int
) -> None:
    with taskscope.profile(label="a", display=False) as run:
        assert compute("a") == 6
    # Held up for ever, if the block had waited.
    assert answers.are_asked_for.wait(PATIENCE_S)
    recording = run.recording
    assert (type(recording), hasattr(recording, "_repr_html_")) == (Recording, False)
    with pytest.raises(StillRunningError) as waited:
        recording.wait(0.0)
    assert str(waited.value) == "after 0 s, the cluster's last answers are on their way; wait longer"
    reader, found = read_on_a_thread(recording)
    assert reader.is_alive()
    answers.may_come.set()
    reader.join(PATIENCE_S)
    assert found == KEYS
    assert recording is run.recording is run.wait() is recording.wait(PATIENCE_S)
    assert (recording.completion, recording.runs[0].status, current().held) == (None, "finished", False)
    assert repr(run) == recording.summary()


@pytest.mark.parametrize("made", [copy.copy, lambda r: pickle.loads(pickle.dumps(r)), Recording.of])
def test_whatever_is_made_of_a_recording_that_is_on_its_way_has_all_of_it(client: Client, made: Any) -> None:
    with taskscope.profile(display=False) as run:
        compute("a")
    assert keys_of(made(run.recording)) == KEYS


def test_blocks_that_begin_meanwhile_have_their_own_tasks(client: Client, answers: Answers) -> None:
    with taskscope.profile(display=False) as first:
        compute("a")
    with taskscope.profile(display=False) as second:
        futures = client.map(double, [1, 2], key=["b-0", "b-1"])
        wait(futures)
    with taskscope.profile(display=False) as third:
        compute("c", 1)
    answers.may_come.set()
    assert keys_of(first.recording) == KEYS
    assert keys_of(second.recording) == ["b-0", "b-1"]
    assert keys_of(third.recording) == ["c-0", "c_sum-0"]
    assert [len(r.recording.runs) for r in (first, second, third)] == [1, 1, 1]


def test_a_client_that_is_closed_right_after_a_block_is_closed_when_the_answers_are_there(
    cluster: Any, answers: Answers
) -> None:
    with Client(cluster) as client:
        with taskscope.profile(display=False) as run:
            compute("a")
        closing = threading.Thread(target=client.close)
        closing.start()
        assert answers.are_asked_for.wait(PATIENCE_S)
        assert (client.status, closing.is_alive()) == ("running", True)
        answers.may_come.set()
        closing.join(PATIENCE_S)
    assert keys_of(run.recording) == KEYS
    assert run.recording.messages == ()
