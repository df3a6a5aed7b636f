from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.kernel import Kernel, running_kernel


@pytest.fixture(scope="package")
def kernel() -> Iterator[Kernel]:
    """Return a real kernel of its own for the tests of what we use of ipykernel."""
    with running_kernel() as kernel:
        yield kernel
