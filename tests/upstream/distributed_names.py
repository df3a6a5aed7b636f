"""Have distributed's tests of its MemorySampler and of its task stream test ours, and count that they did.

Loaded by pytest before anything is collected: these names then are ours.
"""

from __future__ import annotations

from typing import Any

import distributed
import distributed.client
import distributed.diagnostics
import distributed.diagnostics.memory_sampler
import pytest
from distributed.utils_test import cleanup, client, cluster_fixture, loop, loop_in_thread

from taskscope.diagnostics import MemorySampler
from tests.upstream import task_stream
from tests.upstream.reach import Reach

__all__ = ["cleanup", "client", "cluster_fixture", "loop", "loop_in_thread"]

_PLUGIN = "is about a plugin that runs on the scheduler; ours reads the scheduler's records with a cursor"
REACH = Reach(
    ("taskscope", "distributed's own"),
    elsewhere={},
    different=dict.fromkeys(
        ("test_TaskStreamPlugin", "test_maxlen", "test_collect", "test_collect_start_index"), _PLUGIN
    ),
)
for _name in ("sample", "to_pandas", "plot"):
    setattr(MemorySampler, _name, REACH.ours(getattr(MemorySampler, _name)))
_samplers: tuple[Any, ...] = (distributed.diagnostics, distributed.diagnostics.memory_sampler)
for _module in _samplers:
    _module.MemorySampler = MemorySampler
_streams: tuple[Any, ...] = (distributed, distributed.client)
for _module in _streams:
    _module.get_task_stream = REACH.ours(task_stream.get_task_stream)
distributed.Client.get_task_stream = REACH.ours(task_stream.of_client)  # type: ignore[method-assign]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(REACH)
