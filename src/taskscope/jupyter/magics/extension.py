"""What ``%load_ext taskscope`` puts into a shell, and ``%unload_ext`` takes out again."""

from __future__ import annotations

import ast
import sys
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import InteractiveShell

from taskscope.jupyter.magics.cells import CellStack, HeaderTransformer, header_to_string
from taskscope.jupyter.magics.magic import ProfileMagics
from taskscope.session import current as current_session

_HOME = "taskscope.jupyter.magics.extension"
_PACKAGE = "taskscope"
_MAGICS = (("cell", "profile"), ("line", "profile"), ("line", "taskscope"))


class Extension:
    """One loaded extension of one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self.cells = CellStack()
        self.magics = ProfileMagics(shell, self.cells)
        self._transformer = HeaderTransformer(_call)
        self._before: dict[tuple[str, str], object] = {}
        self._named: dict[str, object] = {}
        """taskscope's names in the user's namespace."""

    def load(self) -> None:
        """Watch every Dask compute of this process, and offer the magics."""
        shell = self._shell
        current_session().hold(self)
        for kind, name in _MAGICS:
            before = shell.magics_manager.magics[kind].get(name)
            if before is not None:
                self._before[kind, name] = before
        shell.register_magics(self.magics)
        if _PACKAGE not in shell.user_ns:
            # `taskscope.Dashboard()` in the next cell is what people type; `%who` does not list it.
            self._named = {_PACKAGE: sys.modules[_PACKAGE]}
            shell.push(self._named, interactive=False)
        shell.input_transformers_cleanup.append(header_to_string)
        shell.ast_transformers.append(self._transformer)
        shell.events.register("pre_run_cell", self.cells.enter)
        shell.events.register("post_run_cell", self.cells.leave)
        shell.events.register("post_run_cell", self.cells.leave_again)
        if getattr(shell, "kernel", None) is not None:
            from taskscope.jupyter.feed import current as current_feed

            current_feed().announce()

    def unload(self) -> None:
        """Take everything back."""
        shell = self._shell
        shell.events.unregister("pre_run_cell", self.cells.enter)
        shell.events.unregister("post_run_cell", self.cells.leave)
        shell.events.unregister("post_run_cell", self.cells.leave_again)
        self.cells.abandon()
        if self._transformer in shell.ast_transformers:
            shell.ast_transformers.remove(self._transformer)
        if header_to_string in shell.input_transformers_cleanup:
            shell.input_transformers_cleanup.remove(header_to_string)
        for kind, name in _MAGICS:
            shell.magics_manager.magics[kind].pop(name, None)
            if (kind, name) in self._before:
                shell.magics_manager.magics[kind][name] = self._before[kind, name]
        shell.drop_by_id(self._named)
        if getattr(shell, "kernel", None) is not None:
            from taskscope.jupyter.feed import current as current_feed
            from taskscope.jupyter.widgets.base import following

            following.close_all()
            current_feed().close()
        current_session().release(self)


class _Extensions:
    """Owner of the extensions of all shells of this process."""

    def __init__(self) -> None:
        self._loaded: WeakKeyDictionary[InteractiveShell, Extension] = WeakKeyDictionary()

    def load(self, shell: InteractiveShell) -> None:
        if shell not in self._loaded:
            extension = Extension(shell)
            extension.load()
            self._loaded[shell] = extension

    def unload(self, shell: InteractiveShell) -> None:
        extension = self._loaded.pop(shell, None)
        if extension is not None:
            extension.unload()

    def begin(self, line: str) -> None:
        shell = InteractiveShell.instance()
        self._loaded[shell].magics.begin(line)

    async def begin_in_loop(self, line: str) -> None:
        """Begin where the event loop goes on while schedulers, which may live in it, are met."""
        self.begin(line)
        await current_session().cluster.ready()


_extensions = _Extensions()
load = _extensions.load
unload = _extensions.unload
begin = _extensions.begin
begin_in_loop = _extensions.begin_in_loop


def _call(line: str, awaits: bool) -> ast.expr:  # noqa: FBT001 - the transformer's own protocol
    """Return an expression that starts a block, and needs no name of the user's namespace."""
    name = "begin_in_loop" if awaits else "begin"
    call = ast.parse(f"__import__({_HOME!r}, fromlist=[{name!r}]).{name}({line!r})", mode="eval").body
    # Such a cell is run by an event loop in any case.
    return ast.Await(call) if awaits else call
