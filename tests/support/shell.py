"""IPython in this process, with the extension loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

__all__ = ["shell_with_taskscope"]


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
