"""Every name of others that is private or replaced, in ``private_names.toml``, and that nothing else is used.

Where one of these fails after an upgrade, the message says what changed and which module of ours knows of it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import threading
import tomllib
import weakref
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import pytest
import traitlets
from ipykernel.kernelbase import Kernel

import taskscope
from taskscope.sources.local.adapter.scheduler import GRAPH_SLOTS
from taskscope.sources.local.timing import TimedTask

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


def relying(word: str) -> list[str]:
    """Return the modules of ours whose source has this word."""
    pattern = re.compile(rf"\b{re.escape(word)}\b")
    return sorted(f"taskscope/{path}" for path, text in sources().items() if pattern.search(text))


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


def test_a_change_is_told_with_what_changed_and_who_relies_on_it() -> None:
    used = "used in taskscope/sources/local/adapter/registration.py"
    gone = Name("dask.local:gone", "gone()", "callable(it)", "local_callbacks")
    other = Name("dask.local:local_callbacks", "local_callbacks(names)", "takes(it, 'names')")
    assert [fault(gone), fault(other)] == [
        f"dask.local:gone changed: we rely on gone(); {used} (seen: "
        + repr(AttributeError("module 'dask.local' has no attribute 'gone'"))
        + ")",
        f"dask.local:local_callbacks changed: we rely on local_callbacks(names); {used} (seen: False)",
    ]


def test_no_name_is_listed_that_is_not_used() -> None:
    assert [name.path for name in NAMES if not relying(name.word)] == []


# --------------------------------------------------------------------------------- nothing else is used


def is_private(name: str) -> bool:
    return name.startswith("_") and name != "_" and not (name.startswith("__") and name.endswith("__"))


class Ours(NamedTuple):
    """What our modules define themselves."""

    methods: frozenset[str]
    fields: frozenset[str]

    def defines(self, name: str) -> bool:
        return name in self.methods or name in self.fields

    @classmethod
    def of(cls, trees: Mapping[str, ast.Module]) -> Ours:
        methods, fields = set[str](), set[str]()
        for tree in trees.values():
            # What a protocol names is somebody else's.
            protocols = [node for node in ast.walk(tree) if is_protocol(node)]
            theirs = {id(inner) for each in protocols for inner in ast.walk(each) if inner is not each}
            for node in ast.walk(tree):
                match node:
                    case _ if id(node) in theirs:
                        continue
                    case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                        methods.add(node.name)
                    case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                        fields.add(name)
                    case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
                        fields.update(ast.literal_eval(value))
                    case ast.Name(id=name, ctx=ast.Store()):
                        fields.add(name)
        return cls(frozenset(methods), frozenset(fields))


def is_protocol(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases)


@functools.cache
def trees() -> dict[str, ast.Module]:
    return {path: ast.parse(text) for path, text in sources().items()}


@functools.cache
def ours() -> Ours:
    return Ours.of(trees())


def uses(tree: ast.Module, everywhere: Ours) -> Iterator[tuple[int, str]]:
    """Yield lines and names of others that are private, or written."""
    here = Ours.of({"": tree})
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name):
                own = ast.unparse(node.value) in {"self", "cls", "super()", "type(self)"}
                if is_private(name) and not (everywhere if own else here).defines(name):
                    yield node.lineno, name
                if not own and is_written(node, modules, everywhere):
                    yield node.lineno, name
            case ast.Constant(value=str() as name) if name.isidentifier() and is_private(name):
                if not everywhere.defines(name):
                    yield node.lineno, name
            case ast.ImportFrom(module=str() as module, names=names) if module != "_typeshed":
                parts = [*module.split("."), *(alias.name for alias in names)]
                yield from ((node.lineno, part) for part in parts if is_private(part))


def is_written(node: ast.Attribute, modules: set[str], everywhere: Ours) -> bool:
    """Return whether this writes on an object of others: a field of ours is known, a method is replaced."""
    root = ast.unparse(node.value).partition(".")[0]
    return not isinstance(node.ctx, ast.Load) and (root in modules or node.attr not in everywhere.fields)


def test_our_source_uses_no_private_name_of_others_that_is_not_listed() -> None:
    unlisted = [
        f"{path}:{line}: {name}"
        for path, tree in trees().items()
        for line, name in uses(tree, ours())
        if name not in LISTED
    ]
    assert unlisted == []


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("x._secret", ["_secret"]),
        ("getattr(x, '_secret', None)", ["_secret"]),
        ("from dask.local import _secret", ["_secret"]),
        ("from dask._secret import name", ["_secret"]),
        ("import dask.local; dask.local.queue_get = print", ["queue_get"]),
        ("setattr(x, '_secret', 1)", ["_secret"]),
        ("comm.send = print", ["send"]),
        ("self._secret", ["_secret"]),
        ("self._mine = 1; self._mine", []),
    ],
)
def test_a_new_use_is_seen(line: str, seen: list[str]) -> None:
    tree = ast.parse(line)
    assert [name for _, name in uses(tree, Ours.of({"": tree}))] == seen


HOMES = {
    "dask": ("sources/local/adapter/", "sources/cluster/"),
    "distributed": ("sources/cluster/",),
    "ipykernel": ("jupyter/adapter/",),
    "ipywidgets": ("jupyter/widgets/",),
}
"""Which of our folders may know private names of a package."""
PRIVATE_MODULES = ("dask._task_spec.", "dask.local.")
"""Modules of which nothing is documented, whatever their names look like."""


def known_where() -> Iterator[tuple[str, str]]:
    """Yield private names of others, by their package, and modules of ours that import or spell them."""
    for name in NAMES:
        if is_private(name.word) and not ours().defines(name.word):
            yield from ((name.path, path.removeprefix("taskscope/")) for path in relying(name.word))
    for path, tree in trees().items():
        for node in ast.walk(tree):
            modules = [f"{node.module}."] if isinstance(node, ast.ImportFrom) else [""]
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else []:
                imported = f"{modules[0]}{alias.name}"
                if f"{imported}.".startswith(PRIVATE_MODULES) or any(map(is_private, imported.split("."))):
                    yield imported, path


def test_private_names_of_a_package_are_known_in_its_folder_only() -> None:
    found = [(re.split(r"[.:]", name)[0], name, path) for name, path in known_where()]
    assert {package for package, _, _ in found} >= set(HOMES)
    assert [
        (name, path) for package, name, path in found if not path.startswith(HOMES.get(package, ""))
    ] == []


OTHERS = {*HOMES, "argparse", "comm", "IPython", "threading", "traitlets"}


def inherited(kind: type) -> set[str]:
    """Return the private names that a class of ours defines and one of others above it has, too."""
    above = [base for base in kind.__mro__ if base.__module__.partition(".")[0] in OTHERS]
    names = {name for name in vars(kind) if is_private(name) and any(name in vars(base) for base in above)}
    # Traitlets keeps books in each class.
    return names & (ours().methods | ours().fields)


def our_modules() -> Iterator[ModuleType]:
    for found_module in pkgutil.walk_packages(taskscope.__path__, "taskscope."):
        if not found_module.name.endswith("__main__"):
            yield importlib.import_module(found_module.name)


def test_our_classes_override_no_private_name_of_others_that_is_not_listed() -> None:
    kinds = {kind for module in our_modules() for kind in vars(module).values() if inspect.isclass(kind)}
    unlisted = {
        f"{kind.__module__}.{kind.__qualname__}.{name}"
        for kind in kinds
        if kind.__module__.startswith("taskscope")
        # A timed task passes on whatever attributes the tasks of this release of Dask have.
        for name in inherited(kind) - LISTED - (GRAPH_SLOTS if kind is TimedTask else set())
    }
    assert unlisted == set()
