"""The one optional package that files need."""

from __future__ import annotations

from types import ModuleType

from taskscope.errors import MissingDependencyError

__all__ = ["pyarrow"]


def pyarrow() -> ModuleType:
    """Return PyArrow.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependencyError(
            "this file format needs PyArrow; install it: pip install pyarrow"
        ) from error
    module: ModuleType = pa
    return module
