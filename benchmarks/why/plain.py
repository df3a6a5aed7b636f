"""Bags, delayed pipelines, searches over parameters, files, servers, locks, processes."""

from __future__ import annotations

import collections
import gzip
import http.client
import json
import math
import os
import random
import re
import socketserver
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import dask
import dask.bag as db
import numpy as np

from benchmarks.process import stop
from benchmarks.why.workload import Work, blocks_for, count_in_python, hash_blocks

__all__ = [
    "accumulate_one_by_one",
    "bag_wordcount",
    "bag_wordcount_in_threads",
    "big_results_of_processes",
    "clean_records",
    "downloads",
    "downloads_at_once",
    "fsync_writes",
    "grid_search",
    "grid_search_uneven",
    "gzip_files",
    "json_lines",
    "lock_around_hashing",
    "pure_python_four_threads",
    "pure_python_processes",
    "pure_python_two_threads",
    "several_steps_one_loader",
    "sort_all_at_the_end",
    "sqlite_writers",
    "subprocess_beside",
    "subprocess_in_tasks",
    "synchronous",
    "tiny_delayed",
    "tree_of_sums",
    "tutorial_inc_sleep",
    "work_between_computes",
]


def tutorial_inc_sleep(_: ExitStack) -> Work:
    """The tutorial's loop: each call sleeps, as if it did something."""

    def inc(x: int) -> int:
        time.sleep(0.1)
        return x + 1

    results = [dask.delayed(inc)(i) for i in range(30)]
    return lambda: dask.delayed(sum)(results).compute()


def pure_python_two_threads(_: ExitStack) -> Work:
    return lambda: dask.compute(*[dask.delayed(count_in_python)(1_200_000, i) for i in range(48)])


def pure_python_four_threads(_: ExitStack) -> Work:
    return lambda: dask.compute(
        *[dask.delayed(count_in_python)(1_200_000, i) for i in range(48)], num_workers=4
    )


def pure_python_processes(_: ExitStack) -> Work:
    return lambda: dask.compute(
        *[dask.delayed(count_in_python)(2_500_000, i) for i in range(40)],
        scheduler="processes",
        num_workers=2,
    )


def json_lines(stack: ExitStack) -> Work:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    for i in range(8):
        rows = ({"id": j, "name": f"n{j % 97}", "tags": ["a", "b"], "x": j / 7} for j in range(60_000))
        (folder / f"{i}.json").write_text("\n".join(map(json.dumps, rows)))
    bag = db.read_text(str(folder / "*.json")).map(json.loads).map(lambda r: r["x"])
    return lambda: bag.sum().compute(scheduler="threads")


def clean_records(_: ExitStack) -> Work:
    """A pipeline load, clean, summarize; cleaning is regular expressions and dictionaries."""
    word = re.compile(r"(\w+)-(\d+)")

    def load(i: int) -> list[str]:
        source = random.Random(i)
        return [f"item-{source.randrange(999)} at {j}" for j in range(60_000)]

    def clean(lines: list[str]) -> list[tuple[str, int]]:
        return [(m[1].upper(), int(m[2])) for line in lines if (m := word.match(line))]

    def summarize(pairs: list[tuple[str, int]]) -> dict[int, int]:
        return dict(collections.Counter(number for _, number in pairs))

    load, clean, summarize = dask.delayed(load), dask.delayed(clean), dask.delayed(summarize)
    return lambda: dask.compute(*[summarize(clean(load(i))) for i in range(40)])


def _text(i: int) -> str:
    source = random.Random(i)
    return " ".join(f"word{source.randrange(5_000)}" for _ in range(60_000))


def bag_wordcount(_: ExitStack) -> Work:
    """Bags run in processes unless told otherwise; the text is small."""
    bag = db.from_sequence([_text(i)[:40_000] for i in range(8)], npartitions=4)
    return lambda: bag.map(str.split).flatten().frequencies().topk(10, lambda pair: pair[1]).compute()


def bag_wordcount_in_threads(_: ExitStack) -> Work:
    bag = db.from_sequence([_text(i) for i in range(48)], npartitions=12)
    counts = bag.map(str.split).flatten().map(str.upper).frequencies()
    return lambda: counts.topk(10, lambda pair: pair[1]).compute(scheduler="threads", num_workers=4)


def grid_search(_: ExitStack) -> Work:
    """Ridge regression for 30 penalties, of equal cost; the best is chosen."""
    rng = np.random.default_rng(0)
    x, y = rng.random((4_000, 400)), rng.random(4_000)

    def fit(penalty: float) -> tuple[float, float]:
        errors = []
        for half in (slice(0, None, 2), slice(1, None, 2)):
            solved = np.linalg.solve(x[half].T @ x[half] + penalty * np.eye(400), x[half].T @ y[half])
            errors.append(float(np.square(x @ solved - y).mean()))
        return math.fsum(errors), penalty

    return lambda: dask.delayed(min)([dask.delayed(fit)(10.0**p) for p in np.linspace(-3, 3, 30)]).compute()


def grid_search_uneven(_: ExitStack) -> Work:
    """Models of 10 to 1,500 rounds; the longest comes last."""
    blocks = blocks_for(0.001)

    def fit(n_rounds: int) -> int:
        return hash_blocks(n_rounds * blocks)

    rounds = [10, 20, 30, 50] * 8 + [1_500]
    return lambda: dask.delayed(max)([dask.delayed(fit)(n) for n in rounds]).compute()


def sort_all_at_the_end(_: ExitStack) -> Work:
    """Parts are sorted one by one, then all together in one task."""
    parts = [
        dask.delayed(lambda i: np.random.default_rng(i).random(3_000_000), pure=False)(i) for i in range(12)
    ]
    done = [dask.delayed(np.sort)(part) for part in parts]
    return lambda: dask.delayed(lambda xs: np.sort(np.concatenate(xs)).sum())(done).compute(num_workers=4)


def accumulate_one_by_one(_: ExitStack) -> Work:
    total: Any = 0
    for _step in range(25):
        total = dask.delayed(hash_blocks, pure=False)(blocks_for(0.07), total)
    return lambda: dask.compute(total)


def tree_of_sums(_: ExitStack) -> Work:
    parts: list[Any] = [dask.delayed(hash_blocks, pure=False)(blocks_for(0.04)) for _ in range(64)]
    while len(parts) > 1:
        parts = [
            dask.delayed(hash_blocks, pure=False)(blocks_for(0.02), *parts[i : i + 2])
            for i in range(0, len(parts), 2)
        ]
    return lambda: dask.compute(parts[0])


def several_steps_one_loader(_: ExitStack) -> Work:
    """Two results of the same slow step, each computed by itself."""
    loaded = [dask.delayed(hash_blocks, pure=True)(blocks_for(0.06) + i) for i in range(16)]
    low, high = dask.delayed(min, pure=True)(loaded), dask.delayed(max, pure=True)(loaded)
    return lambda: (low.compute(), high.compute())


def tiny_delayed(_: ExitStack) -> Work:
    tasks = [dask.delayed(lambda i: i + 1, pure=False)(i) for i in range(4_000)]
    return lambda: dask.delayed(sum)(tasks).compute()


def gzip_files(stack: ExitStack) -> Work:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    content = np.random.default_rng(0).integers(0, 60, 3_000_000).astype("u1").tobytes()
    for i in range(16):
        (folder / f"{i}.gz").write_bytes(gzip.compress(content, 1))

    def repack(path: Path) -> int:
        return path.with_suffix(".again").write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), 4))

    return lambda: dask.compute(*[dask.delayed(repack)(path) for path in sorted(folder.glob("*.gz"))])


class _Slow(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        time.sleep(0.12)
        body = b"x" * 20_000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


def serve() -> None:
    """Serve small answers after 120 ms, and print the port first."""
    socketserver.ThreadingTCPServer.request_queue_size = 256
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Slow) as server:
        print(server.server_address[1], flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def _server(stack: ExitStack) -> int:
    command = [sys.executable, "-c", "from benchmarks.why.plain import serve; serve()"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    stack.callback(stop, process, grace_s=2.0)
    assert process.stdout is not None
    return int(process.stdout.readline())


def _download(port: int, _i: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        connection.request("GET", "/")
        return len(connection.getresponse().read())
    finally:
        connection.close()


def downloads(stack: ExitStack) -> Work:
    port = _server(stack)
    return lambda: dask.compute(*[dask.delayed(_download)(port, i) for i in range(30)])


def downloads_at_once(stack: ExitStack) -> Work:
    port = _server(stack)
    return lambda: dask.compute(*[dask.delayed(_download)(port, i) for i in range(300)], num_workers=32)


def fsync_writes(stack: ExitStack) -> Work:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=".")))

    def write(i: int) -> int:
        with (folder / str(i)).open("wb") as file:
            for _ in range(12):
                file.write(os.urandom(200_000))
                file.flush()
                os.fsync(file.fileno())
        return i

    return lambda: dask.compute(*[dask.delayed(write)(i) for i in range(60)])


def sqlite_writers(stack: ExitStack) -> Work:
    """Each task adds rows to one database, which lets one writer in at a time."""
    path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "rows.db"
    with sqlite3.connect(path) as first:
        first.execute("create table rows (task, value)")

    def write(i: int) -> int:
        with sqlite3.connect(path, timeout=30, isolation_level=None) as connection:
            connection.execute("begin immediate")
            connection.executemany("insert into rows values (?, ?)", ((i, j) for j in range(2_000)))
            time.sleep(0.03)
            connection.execute("commit")
        connection.close()
        return i

    return lambda: dask.compute(*[dask.delayed(write)(i) for i in range(40)], num_workers=4)


def lock_around_hashing(_: ExitStack) -> Work:
    """Tasks compute under one lock of the user's own."""
    lock = threading.Lock()

    blocks = blocks_for(0.04)

    def work(i: int) -> int:
        with lock:
            return hash_blocks(blocks)

    return lambda: dask.compute(*[dask.delayed(work)(i) for i in range(40)], num_workers=4)


def big_results_of_processes(_: ExitStack) -> Work:
    parts = [dask.delayed(lambda i: np.ones(6_000_000) * i)(i) for i in range(12)]
    sums = [dask.delayed(lambda part: float(part.sum()))(part) for part in parts]
    return lambda: dask.compute(*sums, scheduler="processes", num_workers=2, optimize_graph=False)


def subprocess_in_tasks(_: ExitStack) -> Work:
    """Each task runs a program that computes, as GDAL's or a simulation's command line."""
    command = [sys.executable, "-c", "n = 0\nfor i in range(4_000_000): n += i"]

    def simulate(_i: int) -> int:
        return subprocess.run(command, check=True).returncode

    return lambda: dask.compute(*[dask.delayed(simulate)(i) for i in range(12)])


def subprocess_beside(stack: ExitStack) -> Work:
    """A program that the notebook started burns a core while tasks hash."""
    process = subprocess.Popen(["sh", "-c", "while :; do :; done"], text=True)
    stack.callback(stop, process, grace_s=2.0)
    return lambda: dask.compute(*[dask.delayed(hash_blocks, pure=False)(blocks_for(0.06)) for _ in range(40)])


def synchronous(_: ExitStack) -> Work:
    tasks = [dask.delayed(hash_blocks, pure=False)(blocks_for(0.06)) for _ in range(30)]
    return lambda: dask.compute(*tasks, scheduler="synchronous")


def _fit_here(n: int) -> float:
    return math.fsum(i**0.5 for i in range(n))


def work_between_computes(_: ExitStack) -> Work:
    def work() -> None:
        for _ in range(4):
            dask.compute(*[dask.delayed(hash_blocks, pure=False)(blocks_for(0.03)) for _ in range(8)])
            _fit_here(4_000_000)

    return work
