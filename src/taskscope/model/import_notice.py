"""Call a function after a module was imported, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


class ImportNotice(MetaPathFinder):
    """Calls a function once, right after a module was imported."""

    def __init__(self, name: str, imported: Callable[[], None]) -> None:
        self._name = name
        self._imported = imported

    def wait(self) -> None:
        """Wait for the import; idempotent."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def cancel(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module by the other finders, and wrap its loader."""
        if fullname != self._name:
            return None
        self.cancel()
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, self._imported)
        return spec


class _Telling(Loader):
    """The module's own loader, which afterwards is put back in its place."""

    def __init__(self, loader: Loader, imported: Callable[[], None]) -> None:
        self._loader = loader
        self._imported = imported

    def __getattr__(self, name: str) -> object:
        found: object = getattr(self._loader, name)
        return found

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._imported()
