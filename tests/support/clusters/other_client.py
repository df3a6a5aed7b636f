"""A client of a cluster in a process of its own, which does what it is told, one line at a time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

_SCRIPT = """
import sys
from pathlib import Path
from distributed import Client, Event, wait
from tests.support.clusters.tasks import work
from tests.support.clusters.other_client import failing, held
if __name__ == "__main__":
    with Client(sys.argv[1]) as client:
        print("ready", flush=True)
        futures = {}
        for line in sys.stdin:
            what, *words = line.split()
            if what == "work":
                folder, name, n = words
                keys = [f"{name}-{i}" for i in range(int(n))]
                futures[name] = client.map(work, [Path(folder)] * int(n), keys, [0.001] * int(n), key=keys)
                wait(futures[name])
            elif what == "fail":
                wait(client.submit(failing, key=words[0]))
            elif what == "hold":
                futures[words[0]] = client.submit(held, words[1], key=words[0])
            elif what == "publish":
                client.publish_dataset(futures[words[0]], name=words[0])
            elif what == "wait":
                wait(futures[words[0]])
            print("done", flush=True)
"""


def failing() -> None:
    """Raise what nobody else is to see as theirs."""
    raise ValueError("of another client")


def held(event: str) -> str:
    """End once that is allowed."""
    from distributed import Event

    Event(event).wait()
    return event


class OtherClient:
    """Speaks with the process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._write = cast("IO[str]", process.stdin)
        self._read = cast("IO[str]", process.stdout)
        assert self._read.readline() == "ready\n"

    def do(self, *words: object) -> None:
        """Have something done, and return once it was.

        One of ``work folder name n``, ``fail key``, ``hold key event``, ``publish name``, ``wait key``.
        """
        print(*words, file=self._write, flush=True)
        assert self._read.readline() == "done\n"


@contextmanager
def other_client(address: str) -> Iterator[OtherClient]:
    """Yield a client of the scheduler at an address; its process ends with the block."""
    with subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield OtherClient(process)
        finally:
            cast("IO[str]", process.stdin).close()
            process.wait()
