"""A KeyboardInterrupt at any line of ours leaves nothing behind, and the next block records its own rows.

Tried are some points of each mode without a cluster, others in each; ``make interrupts`` tries all of all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from taskscope.sources.resources.limits import memory_limit_bytes
from tests.faults.interrupts.every_line import MODES, Mode, Pools, Sweep, Tracer, pools, sweep

EVERY = 340
LOCAL = [mode for mode in MODES if mode.scheduler != "cluster"]


@pytest.fixture(scope="module")
def shared() -> Iterator[Pools]:
    with pools() as both:
        yield both


@pytest.mark.parametrize("mode", LOCAL, ids=str)
def test_an_interrupt_leaves_nothing_behind(mode: Mode, shared: Pools) -> None:
    _, findings = sweep(mode, shared, EVERY, seed=31 * MODES.index(mode))
    assert findings != []
    assert [str(finding) for finding in findings if finding.left] == []


def test_an_injected_interrupt_leaves_no_exception_being_handled(tmp_path: Path) -> None:
    missing = (tmp_path / "one", tmp_path / "two")
    every = Tracer(places=[])
    with every:
        memory_limit_bytes(missing)
    left = []
    for point in range(len(every.places or [])):
        with suppress(KeyboardInterrupt), Tracer(at=point):
            memory_limit_bytes(missing)
        left.append(sys.exc_info())
    assert left == [(None, None, None)] * 11


@pytest.mark.parametrize(("kind", "way_out"), [("plain", "__exit__"), ("async", "__aexit__")])
def test_an_interrupt_at_any_line_of_a_block_s_way_out_leaves_nothing_behind(
    kind: str, way_out: str, shared: Pools, tmp_path: Path
) -> None:
    mode = Mode("synchronous", "finishing", kind)
    swept = Sweep(tmp_path, shared)
    with swept.prepared(mode):
        lines = {p for p in swept.points(mode) if p.function == f"BlockContext.{way_out}"}
        findings = [swept.interrupt(mode, line) for line in lines]
    assert len(lines) > 2
    assert [str(finding) for finding in findings if finding is None or finding.left] == []


def test_an_interrupt_where_a_cluster_is_left_leaves_no_thread_and_no_connection(
    shared: Pools, tmp_path: Path
) -> None:
    leaving = {"ClusterSource.detach", "Schedulers.close", "LoopThread.stop"}
    swept, mode = Sweep(tmp_path, shared), Mode("cluster", "finishing", "async")
    with swept.prepared(mode):
        lines = {p for p in swept.points(mode) if p.function in leaving}
        findings = [swept.interrupt(mode, line) for line in lines]
    assert len(lines) > 2
    assert [str(finding) for finding in findings if finding is None or finding.left] == []
