"""Every name of others that is private or replaced, in ``private_names.toml``, and that nothing else is used.

Where one of these fails after an upgrade, the message says what changed and which module of ours knows of it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import threading
import tomllib
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import pytest
import traitlets
from ipykernel.kernelbase import Kernel

import taskscope

ROOT = Path(taskscope.__file__).parent
LISTS = tomllib.loads(Path(__file__).with_name("private_names.toml").read_text("utf-8"))
NOT_PRIVATE = {name for names in LISTS.pop("not_private").values() for name in names}


class Name(NamedTuple):
    """One name of others."""

    path: str
    """The module, a colon, and the attributes below it."""
    relied_on: str
    holds: str
    used_as: str = ""

    @property
    def word(self) -> str:
        return self.used_as or re.split(r"[.:]", self.path)[-1]


NAMES = [Name(*each) for names in LISTS.values() for each in names]
LISTED = {name.word for name in NAMES} | NOT_PRIVATE


# -------------------------------------------------------------------------- what is relied on is as it was


def takes(function: Any, *wanted: str) -> bool:
    """Return whether a function takes these, in this order, whatever else it takes."""
    known = [name for name in inspect.signature(function).parameters if name in wanted]
    return known == list(wanted)


def variables(function: Any) -> set[str]:
    return {*function.__code__.co_varnames, *function.__code__.co_cellvars}


def calls(function: Any, name: str) -> bool:
    """Return whether a function looks a name up when it runs, so that a replacement is used."""

    def names_of(code: CodeType) -> set[str]:
        inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        return set(code.co_names).union(*map(names_of, inner))

    return name in names_of(inspect.unwrap(function).__code__)


def slots(kind: type) -> set[str]:
    return {name for base in kind.__mro__ for name in getattr(base, "__slots__", ())}


def declares(kind: type, name: str) -> bool:
    return any(name in getattr(base, "__annotations__", {}) for base in kind.__mro__)


def syncs(kind: Any, trait: str) -> bool:
    return isinstance(kind.class_traits(sync=True).get(trait), traitlets.Unicode)


@functools.cache
def kernel() -> Any:
    """Return a kernel that serves nobody, for what only instances have."""
    return Kernel()  # type: ignore[no-untyped-call]  # ipykernel's


def new_kernel(_: object) -> bool:
    return hasattr(kernel(), "_shell_parent")


TOLD: dict[str, object] = {
    each.__name__: each
    for each in (
        *(
            takes,
            variables,
            calls,
            slots,
            declares,
            syncs,
            kernel,
            new_kernel,
            ContextVar,
            threading,
            weakref,
        ),
        *(inspect.getsource, inspect.iscoroutinefunction, inspect.isgeneratorfunction),
        *(inspect.signature, inspect.unwrap),
    )
}
"""What expressions of the list may use."""


@functools.cache
def sources() -> dict[str, str]:
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in ROOT.rglob("*.py")}


@functools.cache
def words() -> dict[str, set[str]]:
    """Return the words of each module of ours, those with hyphens as a whole and in parts."""
    return {
        f"taskscope/{path}": {*re.findall(r"\w+", text), *re.findall(r"[\w-]+", text)}
        for path, text in sources().items()
    }


def relying(word: str) -> list[str]:
    """Return the modules of ours whose source has this word."""
    return sorted(path for path, found in words().items() if word in found)


def fault(name: Name) -> str | None:
    """Return what is no longer as we rely on, None if nothing is."""
    module, _, attributes = name.path.partition(":")
    try:
        it = functools.reduce(getattr, filter(None, attributes.split(".")), importlib.import_module(module))
        seen: object = eval(name.holds, {**TOLD, "it": it})
    except Exception as error:  # noqa: BLE001 - a name that is gone, or of another kind, fails in its own way
        seen = error
    if seen is True:
        return None
    where = ", ".join(relying(name.word))
    return f"{name.path} changed: we rely on {name.relied_on}; used in {where} (seen: {seen!r})"


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"{name.path}-{name.word}")
def test_what_is_relied_on_is_as_it_was(name: Name) -> None:
    assert fault(name) is None


def test_no_name_is_listed_that_is_not_used() -> None:
    assert [name.path for name in NAMES if not relying(name.word)] == []


# --------------------------------------------------------------------------------- nothing else is used


def is_private(name: str) -> bool:
    return name.startswith("_") and name != "_" and not (name.startswith("__") and name.endswith("__"))


def names_in(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the private names in a part of the source, and whether it defines them."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, True
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            yield name, isinstance(node.ctx, ast.Store)
        case ast.alias(asname=str() as name):
            yield name, True
        case ast.Attribute(attr=name):
            yield name, False
        case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
            yield from ((name, True) for name in ast.literal_eval(value))
        case ast.Constant(value=str() as name) if name.isidentifier():
            yield name, False
        case ast.ImportFrom(module=str() as module, names=names) if module != "_typeshed":
            parts = [*module.split("."), *(alias.name for alias in names)]
            yield from ((part, False) for part in parts)


def test_our_source_uses_no_private_name_of_others_that_is_not_listed() -> None:
    # What a module of taskscope defines is a name of its own, wherever it is used.
    ours, used = set[str](), dict[str, str]()
    for path, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            for name, is_defined in names_in(node):
                if is_defined:
                    ours.add(name)
                elif is_private(name):
                    used[name] = f"{path}: {name}"
    assert [place for name, place in used.items() if name not in ours | LISTED] == []
