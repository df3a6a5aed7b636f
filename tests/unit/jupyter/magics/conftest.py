from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.async_helpers import get_asyncio_loop
from IPython.core.interactiveshell import InteractiveShell

from tests.support.shell import shell_with_taskscope


class Shell:
    """A shell in this process whose cells are run as a person would."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def run(self, cell: str) -> Any:
        return self.shell.run_cell(cell, store_history=True)

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.shell.user_ns


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
