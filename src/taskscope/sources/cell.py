"""Which notebook cell is running, without importing IPython."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["current_cell"]


def current_cell() -> str | None:
    """Return the id of the cell whose code runs now, or ``In [n]`` in a terminal; None outside IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return None
    kernel = getattr(shell, "kernel", None)
    parent: Any = kernel.get_parent() if kernel is not None and hasattr(kernel, "get_parent") else None
    if isinstance(parent, Mapping):
        cell = parent.get("metadata", {}).get("cellId")
        if cell:
            return str(cell)
    return f"In [{shell.execution_count}]"
