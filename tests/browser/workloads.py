"""Cells that browser tests share: taskscope loaded, and computes that end when a test lets them."""

from pathlib import Path

LOAD = """
import os, threading, time, dask
from IPython.display import display
import taskscope
from taskscope import CacheWidget, Dashboard, FlameWidget, GanttWidget, ProgressWidget, ResourceWidget
%load_ext taskscope

gate = threading.Event()

def slow(i):
    time.sleep(0.02)
    return i

def wait(i):
    gate.wait(600)
    return i

def until(stage):
    while not os.path.exists(os.environ["JPY_SESSION_NAME"].removesuffix(".ipynb") + f".stage{stage}"):
        time.sleep(0.01)

def held(i):
    until(1)
    return i

def fail(i):
    raise ValueError(f"no <b>{i}</b>")

def computed(function, n, scheduler="threads"):
    tasks = [dask.delayed(function)(i) for i in range(n)]
    return dask.compute(*tasks, scheduler=scheduler, num_workers=4)

def in_groups(n_groups, n_each):
    graph = {(f"group{g:02}-1", i): (slow, i) for g in range(n_groups) for i in range(n_each)}
    return dask.threaded.get(graph, list(graph), num_workers=4)
import dask.threaded
"""
"""Loads taskscope; ``slow`` takes 20 ms, ``wait`` until ``gate`` is set, ``fail`` raises.

``held`` takes until `LabPage.release`, which reaches a kernel that is busy.
"""

PATIENT = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from tests.support.waiting import be_patient
be_patient()
"""
"""Before a cluster: a scheduler on a busy machine takes longer to answer than taskscope waits for it."""

HALF_DONE = """
from itertools import count
begun = count()
def half(i):
    if next(begun) < 4:
        time.sleep(0.2)
    else:
        until(1)
_ = computed(half, 8)
"""
"""Half of it runs until it is released."""

# Twelve tasks that need each other, and four beside them.
CHAIN = """def nap(*_):
    time.sleep(0.1)
chain = {("step", i): (nap, ("step", i - 1)) for i in range(1, 12)} | {("step", 0): (nap,)}
sides = {("side", i): (nap,) for i in range(4)}
_ = dask.threaded.get(chain | sides, [("step", 11), *sides], num_workers=4)"""

WORK = """
import os, time, dask
from taskscope.session import current
from IPython.display import display
from taskscope import ProgressWidget, GanttWidget, Dashboard
%load_ext taskscope

@dask.delayed
def slow(i):
    time.sleep(0.02)
    return i

def work(n):
    tasks = [slow(i, dask_key_name=("slow-1", i)) for i in range(n)]
    return dask.compute(*tasks, scheduler="threads", num_workers=4)

def held(i):
    while not os.path.exists(os.environ["JPY_SESSION_NAME"].removesuffix(".ipynb") + ".stage1"):
        time.sleep(0.01)
    return i

def work_on(n):
    held_tasks = [dask.delayed(held)(i) for i in range(4)]
    return work(n) + dask.compute(*held_tasks, scheduler="threads", num_workers=4)
"""
"""Loads taskscope with computes of many short tasks."""

UNDER_WAY = "feed.active && feed.tasks >= 100"
"""After ``work_on(100)`` has begun, which ends when it is released."""
