"""Which cluster a diagnostic is about, if any."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["find_client"]


def find_client() -> Any:
    """Return the current `distributed.Client`, None if there is none; never imports distributed."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None
