"""How far off the times of a worker are whose clock is not the scheduler's, over a line that jitters.

The worker is a process on another loopback address, its `time.time` ahead by so much; all it sends to the
scheduler and back passes a proxy that delays each way by a constant and a random part. Tasks write down when
they ran by the clock of the machine, which is the scheduler's.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from distributed import Client, LocalCluster, get_task_stream

import taskscope
from benchmarks.harness import Table

_PROXY = """
import asyncio, random, sys
host, port, *delays = sys.argv[1:]
to_s, back_s, jitter_s = map(float, delays)
async def pipe(reader, writer, delay_s):
    loop, queue, free = asyncio.get_running_loop(), asyncio.Queue(), 0.0
    async def send():
        while (item := await queue.get()) is not None:
            due, data = item
            await asyncio.sleep(max(due - loop.time(), 0))
            writer.write(data)
        writer.close()
    sending = loop.create_task(send())
    while data := await reader.read(1 << 16):
        free = max(free, loop.time() + delay_s + (random.expovariate(1 / jitter_s) if jitter_s else 0))
        queue.put_nowait((free, data))
    queue.put_nowait(None)
    await sending
async def serve(reader, writer):
    there, back = await asyncio.open_connection(host, int(port))
    await asyncio.gather(pipe(reader, back, to_s), pipe(there, writer, back_s), return_exceptions=True)
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
_WORKER = """
import asyncio, sys, time
true_time, ahead_s = time.time, float(sys.argv[2])
time.time = lambda: true_time() + ahead_s
from distributed import Worker
async def main():
    async with Worker(sys.argv[1], nthreads=1, host="127.0.0.2", dashboard=False) as worker:
        await worker.finished()
asyncio.run(main())
"""
_BURSTS = 10
_TASKS = 20


@dataclass(frozen=True, slots=True)
class _Line:
    """Seconds: the clock's distance, the constant delays of both ways, and the mean of what comes on top."""

    ahead_s: float
    to_s: float = 0.0
    back_s: float = 0.0
    jitter_s: float = 0.0


_LINES = (
    _Line(5.0),
    _Line(5.0, jitter_s=0.005),
    _Line(-5.0, jitter_s=0.02),
    _Line(5.0, to_s=0.001, back_s=0.004, jitter_s=0.005),
    _Line(3600.0, to_s=0.005, back_s=0.001, jitter_s=0.02),
)


def timed(number: int) -> tuple[int, float]:
    """Return when this ran, by the clock that nobody has set."""
    start = time.clock_gettime(time.CLOCK_REALTIME)
    time.sleep(0.005)
    return number, start


def measure_clocks(*, quick: bool) -> Table:
    return Table(
        f"Error of a task's start in ms, over {_BURSTS * _TASKS} tasks: median, 95th percentile, most",
        (
            "clock ahead",
            "delay there, back, jitter (mean)",
            "half of the shortest trip",
            "distributed",
            "taskscope",
        ),
        (_row(line, bursts=3 if quick else _BURSTS) for line in _LINES[: 2 if quick else None]),
        "distributed: `get_task_stream`, corrected by the worker's latest heartbeat. By half of the shortest "
        "trip the clock's distance can be off at most; a task's time is off by what passes between its stop "
        "and its report, too.",
    )


def _row(line: _Line, *, bursts: int) -> Sequence[str]:
    with _cluster(line) as client, taskscope.profile(display=False) as run:
        true: dict[str, float] = {}
        with get_task_stream(client) as stream:
            for burst in range(bursts):
                numbers = range(burst * _TASKS, (burst + 1) * _TASKS)
                futures = client.map(timed, numbers, key=[f"timed-{n}" for n in numbers])
                true |= {f"timed-{n}": start for n, start in client.gather(futures)}
                # Longer than a heartbeat, so that distributed measures again.
                time.sleep(0.6)
        bounds = [
            best.bound_s
            for scheduler in taskscope.session.current().cluster.schedulers
            for host in scheduler.workers.clocks._hosts.values()
            if (best := host.best) is not None
        ]
    upstream = {
        record["key"]: step["start"]
        for record in stream.data
        for step in record["startstops"]
        if step["action"] == "compute"
    }
    recording = run.recording
    table, zero = recording.table("tasks"), recording.started_at.timestamp()
    ours = {str(k): s + zero for k, s in zip(table["key"], table["start_s"], strict=True)}
    ways = (
        "0"
        if line == _Line(line.ahead_s)
        else " / ".join(f"{s * 1e3:g}" for s in (line.to_s, line.back_s, line.jitter_s))
    )
    return (
        f"{line.ahead_s:+g} s",
        ways,
        f"{max(bounds) * 1e3:.2f}",
        _errors(upstream, true),
        _errors(ours, true),
    )


def _errors(seen: dict[str, float], true: dict[str, float]) -> str:
    errors = np.abs([seen[key] - start for key, start in true.items()]) * 1e3
    return ", ".join(f"{e:.2f}" for e in (*np.percentile(errors, (50, 95)), errors.max()))


@contextmanager
def _cluster(line: _Line) -> Iterator[Client]:
    with (
        LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=":0") as cluster,
        Client(cluster) as client,
        _process(
            _PROXY,
            *cluster.scheduler_address.removeprefix("tcp://").split(":"),
            line.to_s,
            line.back_s,
            line.jitter_s,
        ) as proxy,
    ):
        assert proxy.stdout is not None
        port = proxy.stdout.readline().strip()
        with _process(_WORKER, f"tcp://127.0.0.1:{port}", line.ahead_s):
            client.wait_for_workers(1)
            yield client


@contextmanager
def _process(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
