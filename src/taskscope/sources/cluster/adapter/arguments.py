"""Find the largest value that is part of a graph itself, and so is sent with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from taskscope.model.keys import key_text

__all__ = ["largest_argument"]

_MOST_PARTS = 20_000
_TASK = ("args", "kwargs", "value")
_LAYER = ("layers", "mapping")


def largest_argument(graph: object) -> tuple[str, float] | None:
    """Return the key of the task with the largest value in a graph, and the value's bytes.

    A graph is walked as it was handed over, without making tasks of it, and 20,000 parts of it at most.
    """
    found: tuple[str, float] | None = None
    walk: list[tuple[object, str]] = [(graph, "")]
    for _ in range(_MOST_PARTS):
        if not walk:
            break
        part, key = walk.pop()
        n_bytes = _value_bytes(part)
        if n_bytes > (0.0 if found is None else found[1]):
            found = key, n_bytes
        walk += _parts(part, key)
    return found


def _is_dask(thing: object) -> bool:
    return type(thing).__module__.partition(".")[0] in ("dask", "distributed")


def _value_bytes(value: Any) -> float:
    if isinstance(value, bytes | bytearray | str):
        return float(len(value))
    # Expressions wrap a dataframe, and pass its attributes on.
    if type(value).__name__.lstrip("_") in ("DataFrame", "BackendData"):
        return float(value.memory_usage().sum())
    if _is_dask(value):
        return 0.0
    n_bytes = getattr(value, "nbytes", 0)
    return float(n_bytes) if isinstance(n_bytes, int) else 0.0


def _parts(whole: Any, key: str) -> Iterator[tuple[object, str]]:
    if isinstance(whole, Mapping):
        # Names of arguments within a task are no keys.
        yield from ((part, key or key_text(name)) for name, part in whole.items())
    elif isinstance(whole, list | tuple | set | frozenset):
        yield from ((part, key) for part in whole)
    elif _is_dask(whole):
        yield from _parts_of_dask(whole, key)


def _parts_of_dask(whole: Any, key: str) -> Iterator[tuple[object, str]]:
    for operand in getattr(whole, "operands", ()):
        # An expression without keys of its own names its tasks after its class, that of `map` as it was told.
        name = str(whole.key) if hasattr(whole, "iterables") else type(whole).__name__.lower()
        has_keys = hasattr(operand, "operands") or hasattr(operand, "layers") or isinstance(operand, Mapping)
        yield operand, "" if has_keys else name
    for name in _LAYER:
        yield getattr(whole, name, None), key
    if hasattr(type(whole), "func") or hasattr(type(whole), "value"):
        yield from ((getattr(whole, name, None), key or key_text(whole.key)) for name in _TASK)
