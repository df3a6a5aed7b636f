from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.async_helpers import get_asyncio_loop

from tests.support.shell import Shell, shell_with_taskscope


@pytest.fixture(scope="session", autouse=True)
def ipython_loop() -> Iterator[None]:
    """Have IPython make the loop it keeps for ever before a test could be blamed for it."""
    loop = get_asyncio_loop()
    yield
    loop.close()


@pytest.fixture
def shell() -> Iterator[Shell]:
    with shell_with_taskscope() as shell:
        yield Shell(shell)
