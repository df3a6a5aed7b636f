"""How far into taskscope each test reaches: ``python -m benchmarks.suite.reach`` prints shares and lines.

A test reaches what it uses: a name that its file imports, and what the functions, classes and fixtures that
it uses reach, in its file, in a ``conftest.py`` above it and in ``tests.support``. Fixtures that all tests of
a folder get without naming them are the surroundings of tests and do not count.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"

PUBLIC = ("taskscope", "taskscope.diagnostics", "taskscope.errors", "taskscope.recording")
"""What a user may import; of ``taskscope.cli`` the function ``main`` is what a shell calls."""
ANALYSIS = ("taskscope.analysis", "taskscope.model", "taskscope.schema")
"""Pure functions of a recording, and the recording that they take as a value."""

KINDS = ("public names", "analysis", "below")


def kind_of(module: str, name: str) -> int:
    """Return the place in `KINDS` of what is imported by this name from this module."""
    if module in PUBLIC or (module, name) == ("taskscope.cli", "main"):
        return 0
    return 1 if module.startswith(ANALYSIS) else 2


@dataclass
class Module:
    """A file of tests: its definitions, and what its names stand for."""

    path: Path
    uses: dict[str, set[str]] = field(default_factory=dict)
    """Names that a definition at the top of the file uses, by its name; methods of a class are its own."""
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Module and name of what is imported, by the name that it has here."""
    tests: dict[str, set[str]] = field(default_factory=dict)
    """Names that a test uses, arguments included, by its name."""

    @classmethod
    def of(cls, path: Path) -> Module:
        module = cls(path)
        for node in ast.walk(tree := ast.parse(path.read_text("utf-8"))):
            module._add_import(node)
        for node in tree.body:
            module._add_definition(node, "")
        return module

    def _add_import(self, node: ast.AST) -> None:
        match node:
            case ast.ImportFrom(module=str(source), names=names):
                self.imported |= {each.asname or each.name: (source, each.name) for each in names}
            case ast.Import(names=names):
                self.imported |= {
                    each.asname or each.name.partition(".")[0]: (each.name, "") for each in names
                }

    def _add_definition(self, node: ast.stmt, owner: str) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found = self.tests if name.startswith("test") else self.uses
                found[owner + name] = names_in(node)
            case ast.ClassDef(name=name, body=body) if name.startswith("Test"):
                for each in body:
                    self._add_definition(each, f"{name}.")
            case ast.ClassDef(name=name):
                self.uses[name] = names_in(node)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for name in {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}:
                        self.uses.setdefault(name, set()).update(names_in(node))


def names_in(node: ast.AST) -> set[str]:
    """Return the names that a definition uses, those of its arguments and decorators included."""
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    found |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    texts = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
    # `usefixtures("name")`, and what is patched by a text.
    found |= {
        text for text in texts if isinstance(text, str) and (text.isidentifier() or "taskscope." in text)
    }
    return found


class Reach:
    """How far the tests of some folders reach."""

    def __init__(self, folder: Path = TESTS) -> None:
        self._modules = {path: Module.of(path) for path in sorted(folder.rglob("*.py"))}

    @cached_property
    def tests(self) -> dict[tuple[Path, str], int]:
        """The place in `KINDS` of each test, by its file and name; those in a browser are left out."""
        return {
            (path, name): self._reach(path, uses)
            for path, module in self._modules.items()
            if not path.is_relative_to(TESTS / "browser")
            for name, uses in module.tests.items()
        }

    def imported(self, path: Path) -> int:
        """Return the farthest place in `KINDS` of what a file imports itself."""
        return max((self._imported_kind((path, name)) for name in self._modules[path].imported), default=0)

    def _reach(self, path: Path, uses: set[str]) -> int:
        pending, seen, farthest = [(path, name) for name in uses], set[tuple[Path, str]](), 0
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            farthest = max(farthest, self._imported_kind(place))
            pending += self._used_by(place)
        return farthest

    def _imported_kind(self, place: tuple[Path, str]) -> int:
        path, name = place
        if name.startswith("taskscope."):
            return kind_of(name.rpartition(".")[0], "")
        module, imported = self._modules[path].imported.get(name, ("", ""))
        return kind_of(module, imported) if module.partition(".")[0] == "taskscope" else 0

    def _used_by(self, place: tuple[Path, str]) -> Iterator[tuple[Path, str]]:
        path, name = place
        module = self._modules[path]
        yield from ((path, used) for used in module.uses.get(name, ()))
        source, imported = module.imported.get(name, ("", ""))
        home = ROOT / f"{source.replace('.', '/')}.py"
        if home in self._modules:
            yield home, imported
        if name not in module.uses and not source:
            yield from ((conftest, name) for conftest in self._conftests(path) if conftest != path)

    def _conftests(self, path: Path) -> list[Path]:
        above = (folder / "conftest.py" for folder in path.parents)
        return [found for found in above if found in self._modules]


def n_lines(folder: Path = TESTS) -> int:
    """Return how many lines the tests have."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in folder.rglob("*.py"))


def shares(kinds: Iterable[int]) -> dict[str, float]:
    """Return the share of tests of each of `KINDS`, by the places of theirs."""
    counts = Counter(kinds)
    return {kind: counts[place] / max(counts.total(), 1) for place, kind in enumerate(KINDS)}


def main() -> None:
    """Print shares and lines, and with ``-v`` the files whose tests reach below."""
    reach = Reach()
    print(f"{n_lines():,} lines; {len(reach.tests):,} tests without a browser")
    by_file = shares(reach.imported(path) for path, _ in reach.tests)
    for kind, share in shares(reach.tests.values()).items():
        print(f"{share:6.1%}  {kind}; by the imports of their files {by_file[kind]:.1%}")
    if "-v" in sys.argv:
        below = Counter(path for (path, _), kind in reach.tests.items() if kind == len(KINDS) - 1)
        for path, n in below.most_common():
            print(f"{n:6} {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
