from __future__ import annotations

import ast

from taskscope.jupyter.adapter.kernel import IdleClock
from tests.support.fakes.clock import FakeClock
from tests.support.kernel import Kernel

SETUP = """
from comm import get_comm_manager
from taskscope.jupyter.adapter.kernel import IdleClock
now_s = 100.0
def later(*_):
    global now_s
    now_s += 10.0
get_comm_manager().register_target("later", later)
clock = IdleClock(lambda: now_s)
unwatch = clock.watch_cells()
"""


def value(kernel: Kernel, expression: str) -> object:
    return ast.literal_eval(kernel.run(expression).text())


def test_seconds_between_cells_count_and_those_of_cells_do_not(kernel: Kernel) -> None:
    kernel.run(SETUP + "later()")
    assert value(kernel, "later(), clock()") == (None, 0.0)
    # A message is no cell, although IPython announces it as if it were.
    kernel.send("comm_open", {"comm_id": "later", "target_name": "later", "data": {}})
    kernel.until_quiet()
    assert value(kernel, "later(), clock()") == (None, 10.0)
    kernel.run("unwatch()")
    assert (
        value(kernel, "[c for c in get_ipython().events.callbacks['pre_run_cell'] if 'Idle' in str(c)]") == []
    )


def test_without_ipython_all_seconds_count() -> None:
    time = FakeClock()
    clock = IdleClock(time.perf_counter)
    assert clock.watch_cells() is None
    time.advance(5.0)
    assert clock() == 5.0
