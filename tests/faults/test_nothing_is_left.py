"""After a thousand uses, good and bad, no thread, descriptor, child, callback or hold is left."""

from __future__ import annotations

import gc
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.interrupts.acts import ACTS
from tests.support.resources import held_now
from tests.support.waiting import until

USES = 1_000
STORMS = {"thread_storm", "forked", "looked_at_from_outside", "with_diagnostics"}
QUICK = [act for name, act in ACTS.items() if name not in STORMS]


def objects() -> Counter[str]:
    """Count what the garbage collector knows of this package, by type."""
    gc.collect()
    kinds = (type(thing) for thing in gc.get_objects())
    return Counter(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith("taskscope"))


@pytest.mark.parametrize("name", ACTS)
def test_an_act_ends_as_it_should_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    for _ in range(3):
        ACTS[name](chance, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_thousand_uses_leave_nothing_and_nothing_grows(tmp_path: Path) -> None:
    chance = random.Random(1)
    for act in QUICK:
        act(chance, tmp_path)
    before, held = objects(), held_now()
    rounds = USES // len(QUICK)
    for _ in range(rounds):
        for act in QUICK:
            act(chance, tmp_path)
    until(lambda: held_now().beyond(held) == [])
    # What the last act left until the next one may differ; what any act leaves each time adds up.
    assert {kind: n for kind, n in (objects() - before).items() if n >= rounds} == {}
