"""Cells that browser tests share: taskscope loaded, and computes that end when a test lets them."""

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
