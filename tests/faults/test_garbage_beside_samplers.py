"""Sampling the stacks of other threads crashes nothing while garbage is collected.

Before Python 3.12, creating any object may collect garbage first, and finalizers let other threads run: a
frame may be freed while its object is made. After a plain walk along `f_back` this ends with signal 11.
"""

from __future__ import annotations

import subprocess
import sys

from tests.support.waiting import PATIENCE_S

SCRIPT = """
import gc, sys, threading, time
from taskscope.sources.stacks import calls_from, current_frames

stop_s = time.monotonic() + 5.0

class Slow:
    def __init__(self):
        self.me = self
    def __del__(self):
        time.sleep(0.0002)

def deep(n):
    return deep(n - 1) + len([n]) if n else 0

def _run_task_simple():
    for _ in range(200):
        deep(25)
    Slow()

def work():
    began.set()
    while time.monotonic() < stop_s:
        _run_task_simple()

began = threading.Event()
thread = threading.Thread(target=work)
thread.start()
began.wait()
look = lambda: calls_from(current_frames().get(thread.ident))
gc.set_threshold(50, 10**6, 10**6)
while time.monotonic() < stop_s:
    look()
    assert gc.isenabled()
thread.join()
print("fine")
"""


def test_a_process_whose_threads_are_sampled_while_it_collects_garbage_goes_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
