"""What clusters meet that nobody planned: two kernels at a time, odd keys and messages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Client, LocalCluster

import taskscope
from taskscope.model.keys import key_text
from tests.support.clusters.recordings import rows
from tests.support.clusters.small_cluster import small_cluster
from tests.support.clusters.tasks import what_is_there
from tests.support.waiting import until

N_TASKS = 30
KERNEL = """
import json, sys, taskscope
from distributed import Client, wait
from tests.support.waiting import be_patient
be_patient()
tried = set()
def once(number):
    if number not in tried:
        tried.add(number)
        raise ValueError("no")
if __name__ == "__main__":
    address, name, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Client(address) as client, taskscope.profile(display=False) as run:
        assert client.submit(abs, -1, key=f"{name}-first").result() == 1
        print("there", flush=True)
        sys.stdin.readline()
        futures = client.map(abs, range(n), key=[f"{name}-{i}" for i in range(n)])
        futures.append(client.submit(once, name, key=f"{name}-twice", retries=1))
        wait(futures)
    recording = run.wait()
    attempts = recording.to_pandas("activities").query("activity == 'failed-attempt'")
    said = recording.to_pandas("messages").text
    print(json.dumps([sorted(recording.to_pandas("tasks").key), list(attempts.key), list(said)]), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def small() -> Iterator[tuple[LocalCluster, Client]]:
    with (
        small_cluster(1, 2, protocol="tcp://") as (cluster, client),
    ):
        yield cluster, client


def kernel(address: str, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", KERNEL, address, name, str(N_TASKS)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_two_kernels_have_each_its_own_tasks_and_one_that_is_killed_takes_nothing_from_the_other(
    small: tuple[LocalCluster, Client],
) -> None:
    cluster, client = small
    before = client.run_on_scheduler(what_is_there)

    def n_observers() -> int:
        return len(set(client.run_on_scheduler(what_is_there)["plugins"]) - set(before["plugins"]))

    with kernel(cluster.scheduler_address, "one") as one, kernel(cluster.scheduler_address, "two") as two:
        try:
            assert [line_of(process) for process in (one, two)] == ["there\n", "there\n"]
            assert n_observers() == 2
            one.kill()
            until(lambda: n_observers() == 1)
            assert two.stdin is not None
            two.stdin.write("go\n")
            two.stdin.flush()
            keys = sorted(["two-first", "two-twice", *(f"two-{i}" for i in range(N_TASKS))])
            assert json.loads(line_of(two)) == [keys, ["two-twice"], []]
        finally:
            one.kill()
            two.kill()
    until(lambda: client.run_on_scheduler(what_is_there) == before)


ODD_KEYS: tuple[Any, ...] = (
    "</script><img src=x onerror=alert(1)>",
    "\u202egnp.exe",
    "a" * 100_000,
    " ",
    "\x00\x1b[31m",
    "\N{CRAB}",
    ("</td>", 1, ("nested", 2.5)),
    ("all", -1),
)


def test_odd_keys_and_what_others_log_of_their_own_change_nothing_of_what_is_recorded(
    small: tuple[LocalCluster, Client],
) -> None:
    cluster, client = small
    address = cluster.workers[0].address
    with taskscope.profile(display=False) as run:
        futures = [client.submit(abs, -i, key=key) for i, key in enumerate(ODD_KEYS)]
        for topic in ("stealing", "scheduler", "worker-restart-memory", "all", address, "</script>"):
            for odd in (
                None,
                [],
                ["confirm"],
                ["confirm", "no such key", 1, 2, 3, 4],
                {"action": 7},
                "x" * 10_000,
            ):
                client.log_event(topic, odd)
        assert client.gather(futures) == list(range(len(ODD_KEYS)))
    recording = run.wait()
    expected = sorted(map(key_text, ODD_KEYS))
    assert sorted(key for (key,) in rows(recording, "tasks", "key")) == expected
    # Calls of `submit` are one compute only while earlier ones go on.
    assert {status for (status,) in rows(recording, "runs", "status")} == {"finished"}
    assert rows(recording, "messages", "text") == []
    assert rows(recording, "steals", "key") == []
