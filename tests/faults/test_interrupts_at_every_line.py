"""A KeyboardInterrupt at any line of ours leaves nothing behind, and the next block records its own rows.

Tried are some points of each mode, others in each; ``make interrupts`` tries all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.interrupts import MODES, Mode, Pools, pools, sweep

EVERY = 170


@pytest.fixture(scope="module")
def shared() -> Iterator[Pools]:
    with pools() as both:
        yield both


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_an_interrupt_leaves_nothing_behind(mode: Mode, shared: Pools) -> None:
    _, findings = sweep(mode, shared, EVERY, seed=31 * MODES.index(mode))
    assert findings != []
    assert [str(finding) for finding in findings if finding.left] == []
