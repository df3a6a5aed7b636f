"""IPython in this process, with the extension loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

__all__ = ["Shell", "shell_with_taskscope"]


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


@contextmanager
def shell_with_taskscope() -> Iterator[InteractiveShell]:
    config = Config()
    # No thread and no file for the history of a test.
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config, colors="nocolor")
    shell.run_line_magic("load_ext", "taskscope")
    try:
        yield shell
    finally:
        shell.run_line_magic("unload_ext", "taskscope")
        InteractiveShell.clear_instance()
