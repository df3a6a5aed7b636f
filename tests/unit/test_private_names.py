"""Every name of others that is private or replaced: what is relied on, and that nothing else is used.

Where one of these fails after an upgrade, the message says what changed and which module of ours knows of it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest
import traitlets
from ipykernel.kernelbase import Kernel

import taskscope
from taskscope.sources.local.adapter.scheduler import GRAPH_SLOTS
from taskscope.sources.local.timing import TimedTask

ROOT = Path(taskscope.__file__).parent
OTHERS = {
    "argparse",
    "comm",
    "dask",
    "distributed",
    "ipykernel",
    "IPython",
    "ipywidgets",
    "threading",
    "traitlets",
}


@dataclass(frozen=True)
class Name:
    """One name of others.

    Parameters
    ----------
    path
        The module, a colon, and the attributes below it.
    relied_on
        What we take for granted, to be read after "we rely on".
    look
        Gives `seen` while that holds.
    used_as
        How our source spells it, if not by the last part of `path`.
    """

    path: str
    relied_on: str
    look: Callable[[Any], object] = field(default=callable)
    seen: object = True
    used_as: str = ""

    @property
    def word(self) -> str:
        return self.used_as or re.split(r"[.:]", self.path)[-1]


def parameters(*wanted: str) -> Callable[[Any], object]:
    """Look whether a function takes these, in this order, whatever else it takes."""

    def look(function: Any) -> object:
        known = list(inspect.signature(function).parameters)
        places = [known.index(name) if name in known else None for name in wanted]
        return None not in places and places == sorted(places, key=lambda place: place or 0)

    return look


def variables(*names: str) -> Callable[[Any], object]:
    return lambda function: set(names) <= {*function.__code__.co_varnames, *function.__code__.co_cellvars}


def calls(*names: str) -> Callable[[Any], object]:
    """Look whether a function looks these up when it runs, so that a replacement is used."""
    return lambda function: set(names) <= names_of(inspect.unwrap(function).__code__)


def names_of(code: CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(names_of, inner))


def slots(*names: str) -> Callable[[Any], object]:
    return lambda kind: (
        set(names) <= {name for base in kind.__mro__ for name in getattr(base, "__slots__", ())}
    )


def is_a(kind: type) -> Callable[[Any], object]:
    return lambda value: isinstance(value, kind)


def annotated(name: str) -> Callable[[Any], object]:
    return lambda kind: any(name in getattr(base, "__annotations__", {}) for base in kind.__mro__)


def synced(trait: str) -> Callable[[Any], object]:
    return lambda kind: isinstance(kind.class_traits(sync=True).get(trait), traitlets.Unicode)


@functools.cache
def kernel() -> Any:
    """Make a kernel that serves nobody, for what only instances have."""
    return Kernel()  # type: ignore[no-untyped-call]  # ipykernel's


def no_hooks(kind: Any) -> object:
    return kind()._callback


def current_message(_: object) -> object:
    """Look where a kernel keeps the message it answers: ipykernel 7 and later, or 6."""
    ours = kernel()
    if hasattr(ours, "_shell_parent"):
        return isinstance(ours._shell_parent, ContextVar) and isinstance(ours._shell_parent_ident, ContextVar)
    return isinstance(ours._parents, dict) and isinstance(ours._parent_ident, dict)


WORKER = "which functions that run on workers read"
NAMES = (
    # Dask
    Name(
        "dask._task_spec:Task",
        "a class whose slots, func and args among them, may stay unset",
        slots("func", "args"),
    ),
    Name("dask._task_spec:GraphNode", "nodes with key and dependencies", slots("key", "_dependencies")),
    Name(
        "dask._task_spec:_execute_subgraph",
        "what fused tasks call, with (inner_dsk, outkey, inkeys, …)",
        parameters("inner_dsk", "outkey", "inkeys"),
    ),
    Name(
        "dask:_task_spec",
        "a module in one file, whose frames are left out of stacks",
        lambda m: bool(m.__file__),
    ),
    Name(
        "dask.local:local_callbacks",
        "local_callbacks(callbacks=None), a context manager",
        parameters("callbacks"),
    ),
    Name(
        "dask.local:get_async",
        "asking local_callbacks for the callbacks by its name",
        calls("local_callbacks"),
        used_as="local_callbacks",
    ),
    Name(
        "dask.local:get_async",
        "these local variables of the loop that calls hooks",
        variables("submit", "num_workers", "callbacks", "results", "failed", "key"),
        used_as="get_async",
    ),
    Name("dask.local:batch_execute_tasks", "tasks run below it", lambda f: isinstance(f.__code__, CodeType)),
    Name(
        "dask.callbacks:Callback.active",
        "a set of tuples of five that is swapped during a compute",
        is_a(set),
    ),
    Name("dask.callbacks:Callback._callback", "a property: the tuple of five", is_a(property)),
    Name(
        "dask.callbacks:Callback",
        "hooks that a subclass names _start, _start_state, _pretask, _posttask, _finish",
        lambda kind: list(inspect.signature(kind).parameters),
        ["start", "start_state", "pretask", "posttask", "finish"],
        used_as="_start",
    ),
    Name("dask.callbacks:Callback", "the hook _start_state", no_hooks, (None,) * 5, used_as="_start_state"),
    Name("dask.callbacks:Callback", "the hook _finish", no_hooks, (None,) * 5, used_as="_finish"),
    Name("dask.callbacks:Callback", "the hook _pretask", no_hooks, (None,) * 5, used_as="_pretask"),
    Name("dask.diagnostics:ResourceProfiler._is_running", "whether it samples", callable),
    Name(
        "dask.diagnostics:Profiler._plot",
        "_plot(**options), which visualize calls of profilers of others",
        callable,
    ),
    # distributed
    Name(
        "distributed:Client.get",
        "get(dsk, keys, …, sync=…), which compute calls",
        parameters("self", "dsk", "keys", "sync"),
    ),
    Name(
        "distributed:Client._graph_to_futures",
        "_graph_to_futures(expr, keys, …, retries=…), through which all work goes",
        parameters("self", "expr", "keys", "retries"),
    ),
    Name(
        "distributed:Client.submit",
        "submit going straight, or by one more frame, to _graph_to_futures",
        calls("_graph_to_futures"),
        used_as="_graph_to_futures",
    ),
    Name(
        "distributed:Client._send_to_scheduler",
        "_send_to_scheduler(msg), through which graphs are sent",
        parameters("self", "msg"),
    ),
    Name("distributed:Client.close", "close(timeout=…)", parameters("self", "timeout")),
    Name(
        "distributed:Client._start",
        "a coroutine after which a client has its scheduler",
        inspect.iscoroutinefunction,
    ),
    Name(
        "distributed:Client._close",
        "a coroutine that every way of closing comes to",
        inspect.iscoroutinefunction,
    ),
    Name(
        "distributed:Client.__init__",
        "the attribute _asynchronous",
        lambda f: "self._asynchronous =" in inspect.getsource(f),
        used_as="_asynchronous",
    ),
    Name("distributed:Client.__del__", "a finalizer that closes", calls("close")),
    Name(
        "distributed:Scheduler._create_taskstate_from_graph",
        "the local variables dsk and submitting_task where it calls update_graph of plugins",
        lambda function: variables("dsk", "submitting_task")(function) and calls("update_graph")(function),
        used_as="submitting_task",
    ),
    Name("distributed.client:thread_state", "the key of a thread's task", is_a(threading.local)),
    Name("distributed:Scheduler._instances", "the schedulers of this process", is_a(weakref.WeakSet)),
    *(
        Name("distributed:Worker", f"the attribute {name}, {WORKER}", annotated(name), used_as=name)
        for name in (
            "_tick_interval_observed",
            "active_threads",
            "active_threads_lock",
            "batched_stream",
            "scheduler_delay",
            "transfer_incoming_log",
            "transfer_outgoing_log",
        )
    ),
    Name("distributed.metrics:context_meter._callbacks", "the callbacks of a context", is_a(ContextVar)),
    Name(
        "distributed.worker_state_machine:BaseWorker._finish_async_instruction",
        'ledger.record(key="async-instruction") around the transitions of an ended task',
        calls("record"),
        used_as="_callbacks",
    ),
    Name(
        "distributed.metrics:DelayedMetricsLedger",
        "func, start and metrics, set when it is made, and _callback, a method",
        lambda kind: [*sorted(vars(kind())), kind()._callback.__self__.metrics],
        ["func", "metrics", "start", []],
        used_as="_callbacks",
    ),
    # ipykernel
    Name(
        "ipykernel.kernelbase:Kernel.set_parent",
        "set_parent(ident, parent, channel)",
        lambda f: list(inspect.signature(f).parameters),
        ["self", "ident", "parent", "channel"],
    ),
    Name("ipykernel.kernelbase:Kernel.get_parent", "get_parent(channel)", parameters("self", "channel")),
    Name(
        "ipykernel.kernelbase:Kernel._publish_status",
        "_publish_status(status, channel, parent)",
        lambda f: list(inspect.signature(f).parameters),
        ["self", "status", "channel", "parent"],
    ),
    *(
        Name(
            "ipykernel.kernelbase:Kernel",
            "the message that is answered, in two context variables (or dictionaries)",
            current_message,
            used_as=name,
        )
        for name in ("_shell_parent", "_shell_parent_ident", "_parents", "_parent_ident")
    ),
    Name(
        "ipykernel.kernelbase:Kernel",
        "control_handlers, where kernel_info_request can be replaced",
        lambda _: callable(kernel().control_handlers["kernel_info_request"]),
        used_as="control_handlers",
    ),
    # comm
    Name(
        "comm.base_comm:BaseComm.handle_msg",
        "handle_msg(msg), looked up on the comm",
        parameters("self", "msg"),
    ),
    Name(
        "comm.base_comm:CommManager.comm_msg",
        "handle_msg called on the comm itself",
        calls("handle_msg"),
        used_as="handle_msg",
    ),
    Name(
        "comm.base_comm:BaseComm.__del__",
        "a finalizer that calls close on the comm itself",
        calls("close"),
        used_as="close",
    ),
    Name(
        "comm:get_comm_manager", "targets by name", lambda f: isinstance(f().targets, dict), used_as="targets"
    ),
    # IPython
    Name(
        "IPython.core.interactiveshell:ExecutionResult.error_in_exec",
        "an error that may be taken back",
        lambda e: e,
        None,
    ),
    Name(
        "IPython.core.inputtransformer2:TransformerManager.check_complete",
        "transformations that name has_side_effects being left out",
        lambda f: "has_side_effects" in inspect.getsource(f),
        used_as="has_side_effects",
    ),
    Name(
        "IPython.core.formatters:IPythonDisplayFormatter",
        "_ipython_display_ showing an object",
        lambda kind: kind().print_method,
        "_ipython_display_",
        used_as="_ipython_display_",
    ),
    Name(
        "IPython.core.formatters:MimeBundleFormatter",
        "_repr_mimebundle_ giving its forms",
        lambda kind: kind().print_method,
        "_repr_mimebundle_",
        used_as="_repr_mimebundle_",
    ),
    # ipywidgets
    Name(
        "ipywidgets:Widget._lock_property",
        "a context manager that keeps values from being sent back",
        lambda f: (
            inspect.isgeneratorfunction(inspect.unwrap(f)) and "properties" in inspect.signature(f).parameters
        ),
    ),
    *(
        Name("ipywidgets:DOMWidget", f"the synced text trait {name}", synced(name), used_as=name)
        for name in (
            "_model_module",
            "_model_module_version",
            "_model_name",
            "_view_module",
            "_view_module_version",
            "_view_name",
        )
    ),
    # Python: documented as an implementation's own, or not at all
    Name(
        "argparse:ArgumentParser",
        "_option_string_actions, options by name",
        lambda kind: set(kind()._option_string_actions),
        {"-h", "--help"},
        used_as="_option_string_actions",
    ),
    Name(
        "threading:Thread",
        "_target, what a thread that has not ended runs",
        lambda kind: kind(target=len)._target is len,
        used_as="_target",
    ),
    Name(
        "threading",
        "_active, threads by identifier",
        lambda module: module._active[threading.get_ident()] is threading.current_thread(),
        used_as="_active",
    ),
    Name("distributed.worker:_run_task_simple", "what runs a task in a thread of a worker"),
    Name("sys:_getframe", "a frame, by depth", lambda f: f(0).f_code.co_name, "<lambda>"),
    Name(
        "sys:_current_frames",
        "the frames of all threads, by identifier",
        lambda f: threading.get_ident() in f(),
    ),
    Name(
        "sys",
        "_is_gil_enabled() where an interpreter may have no lock",
        lambda module: module._is_gil_enabled() in {True, False} if sys.version_info >= (3, 13) else True,
        used_as="_is_gil_enabled",
    ),
    Name("sys:excepthook", "what tells of an error that nothing caught"),
    Name("sys:argv", "the arguments of the program", is_a(list)),
)
"""Also what is written on objects of others: a method that is replaced is as private as it gets."""

DOCUMENTED = {"_fields", "_make", "_replace"}  # of named tuples
OUR_WORDS = {"_after", "_before", "_entries", "_registered_as", "_taskscope_finish_first", "_taskscope_exit"}
"""Texts that are no names of others: suffixes of columns, and keys in dictionaries of our own objects."""
WRITTEN = {
    "__annotations__",
    "__doc__",
    "__file__",
    "__loader__",
    "__module__",
    "__signature__",
    "__traceback__",
    "args",
    "argtypes",
    "body",
    "commenters",
    "escape",
    "index",
    "restype",
    "loader",
    "tb_next",
    "whitespace_split",
    "write",
}
"""Attributes of others that are there to be written: Python, inspect, ast, shlex and pandas say so."""


@functools.cache
def sources() -> dict[str, str]:
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in ROOT.rglob("*.py")}


@functools.cache
def trees() -> dict[str, ast.Module]:
    return {path: ast.parse(text) for path, text in sources().items()}


@functools.cache
def ours() -> Ours:
    return Ours.of(trees())


def found(path: str) -> object:
    module, _, attributes = path.partition(":")
    return functools.reduce(getattr, filter(None, attributes.split(".")), importlib.import_module(module))


def relying(word: str) -> list[str]:
    """Return the modules of ours whose source has this word."""
    pattern = re.compile(rf"\b{re.escape(word)}\b")
    return sorted(f"taskscope/{path}" for path, text in sources().items() if pattern.search(text))


def fault(name: Name) -> str | None:
    """Say what is no longer as we rely on, None if nothing is."""
    try:
        seen = name.look(found(name.path))
    except Exception as error:  # noqa: BLE001 - a name that is gone, or of another kind, fails in its own way
        seen = error
    if seen == name.seen:
        return None
    where = ", ".join(relying(name.word))
    return f"{name.path} changed: we rely on {name.relied_on}; used in {where} (seen: {seen!r})"


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"{name.path}-{name.word}")
def test_what_is_relied_on_is_as_it_was(name: Name) -> None:
    assert fault(name) is None


def test_a_change_is_told_with_what_changed_and_who_relies_on_it() -> None:
    where = "taskscope/sources/local/adapter/registration.py"
    gone = Name("dask.local:gone", "gone()", used_as="local_callbacks")
    other = Name("dask.local:local_callbacks", "local_callbacks(names)", parameters("names"))
    assert [fault(gone), fault(other)] == [
        (
            f"dask.local:gone changed: we rely on gone(); used in {where} "
            """(seen: AttributeError("module 'dask.local' has no attribute 'gone'"))"""
        ),
        (
            "dask.local:local_callbacks changed: we rely on local_callbacks(names); "
            f"used in {where} (seen: False)"
        ),
    ]


def test_no_name_is_listed_that_is_not_used() -> None:
    assert [name.path for name in NAMES if not relying(name.word)] == []


# ------------------------------------------------------------------ that nothing else is used


def is_private(name: str) -> bool:
    return name.startswith("_") and name != "_" and not (name.startswith("__") and name.endswith("__"))


@dataclass(frozen=True)
class Ours:
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
            theirs = {
                id(inner) for protocol in protocols for inner in ast.walk(protocol) if inner is not protocol
            }
            fields.update(slots_of(tree))
            for node in ast.walk(tree):
                if id(node) in theirs:
                    continue
                match node:
                    case (
                        ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name)
                    ):
                        methods.add(name)
                    case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                        fields.add(name)
                    case ast.Name(id=name, ctx=ast.Store()):
                        fields.add(name)
        return cls(frozenset(methods), frozenset(fields))


def is_protocol(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases)


def slots_of(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__slots__"]:
            yield from ast.literal_eval(node.value)


def uses(tree: ast.Module, everywhere: Ours) -> Iterator[tuple[int, str]]:
    """Yield lines and names of others that are private, or written."""
    here = Ours.of({"": tree})
    modules = imported(tree)
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


def imported(tree: ast.Module) -> set[str]:
    aliases = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {(alias.asname or alias.name).partition(".")[0] for alias in aliases}


def is_written(node: ast.Attribute, modules: set[str], everywhere: Ours) -> bool:
    """Tell whether this writes on an object of others: a field of ours is known, a method is replaced."""
    if isinstance(node.ctx, ast.Load):
        return False
    root = ast.unparse(node.value).partition(".")[0]
    return root in modules or node.attr not in everywhere.fields


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


LISTED = {name.word for name in NAMES} | DOCUMENTED | OUR_WORDS | WRITTEN


def test_our_source_uses_no_private_name_of_others_that_is_not_listed() -> None:
    unlisted = [
        f"{path}:{line}: {name}"
        for path, tree in trees().items()
        # Attributes of Bokeh's models are there to be written.
        if not path.startswith("charts/")
        for line, name in uses(tree, ours())
        if name not in LISTED
    ]
    assert unlisted == []


HOMES = {
    "dask": ("sources/local/adapter/", "sources/cluster/"),
    "distributed": ("sources/cluster/",),
    "ipykernel": ("jupyter/adapter/",),
    "ipywidgets": ("jupyter/widgets/",),
}
"""Which of our folders may know private names of a package."""
PRIVATE_MODULES = {"dask._task_spec", "dask.local"}
"""Modules of which nothing is documented, whatever their names look like."""


def known_where() -> Iterator[tuple[str, str]]:
    """Yield private names of others, by their package, and modules of ours that import or spell them."""
    for name in NAMES:
        if is_private(name.word) and not ours().defines(name.word):
            yield from ((name.path, path.removeprefix("taskscope/")) for path in relying(name.word))
    for path, tree in trees().items():
        for module in imported_names(tree):
            inside = any(f"{module}.".startswith(f"{private}.") for private in PRIVATE_MODULES)
            if inside or any(map(is_private, module.split("."))):
                yield module, path


def imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_private_names_of_a_package_are_known_in_its_folder_only() -> None:
    found = [(re.split(r"[.:]", name)[0], name, path) for name, path in known_where()]
    assert {package for package, _, _ in found} >= set(HOMES)
    astray = [(name, path) for package, name, path in found if not path.startswith(HOMES.get(package, ""))]
    assert astray == []


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
