"""How soon threads give up the interpreter's lock while they are sampled."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from taskscope.sources.stacks import SoonerSwitching


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before_s = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before_s)


def test_threads_switch_sooner_while_it_is_wanted_and_as_before_afterwards() -> None:
    sys.setswitchinterval(0.003)
    switching, seen = SoonerSwitching(), []
    for is_wanted in (True, True, False, False, True, False):
        switching.want(is_wanted)
        seen.append(round(sys.getswitchinterval(), 6))
    assert seen == [0.0005, 0.0005, 0.003, 0.003, 0.0005, 0.003]


def test_what_the_user_sets_meanwhile_stays() -> None:
    switching = SoonerSwitching()
    switching.want(True)
    sys.setswitchinterval(0.02)
    switching.want(False)
    assert sys.getswitchinterval() == pytest.approx(0.02)


def test_who_has_threads_switch_yet_sooner_is_left_alone() -> None:
    sys.setswitchinterval(0.0001)
    switching = SoonerSwitching()
    switching.want(True)
    assert sys.getswitchinterval() == pytest.approx(0.0001)
    switching.want(False)
    assert sys.getswitchinterval() == pytest.approx(0.0001)
