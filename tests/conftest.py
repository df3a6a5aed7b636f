"""Fixtures that every test gets."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

from tests.support.fakes.clock import FakeClock
from tests.support.leak_check import no_leaks

__all__ = ["fake_clock", "no_leaks"]

# A shell that starts the tests in the background has them, and so the processes they start, ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Derandomised, so that a red build is red again for the next person; a slow machine is no failure.
settings.register_profile("taskscope", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("taskscope")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help="try as many damaged files and kills as are claimed (minutes)",
    )


@pytest.fixture
def fake_clock() -> FakeClock:
    return FakeClock()
