"""The name that a user gave to the array that a compute begins with: advice can name it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

from taskscope.model.source_lines import is_of_library

_MAX_FRAMES = 60
_OWN = f"{__name__.partition('.')[0]}."


def find_array(groups: Collection[str]) -> str | None:
    """Return the array of the calling program with most chunks that is one of these groups, as JSON.

    That is its name there, its shape, its largest chunk and the bytes of an element.
    """
    array_type = getattr(sys.modules.get("dask.array.core"), "Array", None)
    frame = _caller() if groups and array_type is not None else None
    if frame is None:
        return None
    # Before Python 3.13 `f_locals` of a function keeps its values alive until it returns.
    is_kept = frame.f_code.co_flags & CO_OPTIMIZED and sys.version_info < (3, 13)
    arrays = [
        (name, value)
        for name, value in (
            *list(frame.f_globals.items()),
            *(() if is_kept else list(frame.f_locals.items())),
        )
        if type(value) is array_type and not name.startswith("_")
    ]
    found = [(name, array) for name, array in arrays if array.name in groups and _is_known(array)]
    if not found:
        return None
    name, array = max(found, key=lambda pair: math.prod(pair[1].numblocks))
    about = {
        "name": name,
        "shape": array.shape,
        "chunks": array.chunksize,
        "itemsize": array.dtype.itemsize,
    }
    return json.dumps(about)


def _is_known(array: Any) -> bool:  # noqa: ANN401 - an array of Dask's, which has no types
    return bool(array.shape) and not any(math.isnan(n) for n in array.shape)


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return None
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith((_OWN, "dask.", "distributed.")) and not is_of_library(
            frame.f_code.co_filename
        ):
            return frame
        frame = frame.f_back
    return None
