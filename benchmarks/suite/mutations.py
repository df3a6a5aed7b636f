"""How many faults the tests notice: the source is broken in one line at a time, in a copy of the repository.

python -m benchmarks.suite.mutations --seed 1 --number 30 --file faults.json

Each fault is put into a copy, where the tests of its room run until one fails. A test that also fails without
the fault is left out. The file has the list, and which test noticed each fault; the command goes on where a
list is not finished. ``--tests FOLDER`` runs the tests of another copy of the repository, so that two states
of the tests can be compared by the same faults.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["ROOMS", "Fault", "Room", "faults_in"]

ROOT = Path(__file__).parents[2]
LIMIT_S = 3600.0
"""After so many seconds tests are stopped: a fault that makes them hang is noticed."""
LEFT_OUT = shutil.ignore_patterns("node_modules", "build", "__pycache__", ".*")


@dataclass(frozen=True, slots=True)
class Room:
    """A part of the source that keeps promises."""

    source: str
    tests: tuple[str, ...]
    """Which are to notice its faults, as arguments of pytest; those that take little time first."""


HERE, ON_A_CLUSTER = "tests/truth -k 'not cluster'", "tests/truth -k cluster"
LOCAL = (
    HERE,
    "tests/property/test_random_graphs.py",
    "tests/property/test_odd_values.py",
    "tests/unit/sources",
)
ROOMS = (
    Room("codec.py", ("tests/unit/test_codec.py", "tests/property", "tests/unit/export")),
    Room("schema.py", ("tests/unit/model", "tests/unit/export")),
    Room("model/", ("tests/unit/model", "tests/property", "tests/unit/export", "tests/unit/analysis")),
    Room("record/", ("tests/unit/record", "tests/property", *LOCAL, "tests/unit/analysis", ON_A_CLUSTER)),
    Room("sources/local/", LOCAL),
    Room("sources/cluster/", ("tests/property/test_cluster_events.py", ON_A_CLUSTER, "tests/unit/cluster")),
    Room("wire/", ("tests/unit/wire", "tests/property", "tests/unit/jupyter", "tests/unit/export/native")),
    Room("export/", ("tests/unit/export", "tests/property", "tests/unit/profiling/test_streamed_file.py")),
    Room("analysis/", ("tests/unit/analysis", "tests/unit/report", "tests/unit/jupyter/widgets")),
    Room("profiling/", ("tests/unit/profiling", "tests/unit/session", "tests/unit/jupyter/magics")),
    Room("diagnostics/", ("tests/unit/diagnostics",)),
    Room("jupyter/feed/", ("tests/unit/jupyter",)),
)
"""The rooms whose promises a user would miss first; of several that fit the first is taken."""


# -------------------------------------------------------------------------------------------------- faults


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of the source as it was, and as it is broken."""

    path: str
    """Below the source's folder."""
    line: int
    kind: str
    function: str
    before: str
    after: str

    def put_into(self, source: Path) -> None:
        """Break the line in a copy of the source."""
        file = source / self.path
        lines = file.read_text("utf-8").splitlines(keepends=True)
        if lines[self.line - 1].rstrip("\n") != self.before:
            raise ValueError(f"{self.path}:{self.line} is not {self.before!r}; choose faults anew")
        lines[self.line - 1] = self.after + "\n"
        file.write_text("".join(lines), "utf-8")


SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    first: second
    for one, other in (
        (ast.Lt, ast.LtE),
        (ast.Gt, ast.GtE),
        (ast.Eq, ast.NotEq),
        (ast.Is, ast.IsNot),
        (ast.In, ast.NotIn),
        (ast.Add, ast.Sub),
        (ast.Mult, ast.Div),
        (ast.And, ast.Or),
    )
    for first, second in ((one, other), (other, one))
}


def faults_in(path: str, text: str) -> list[Fault]:
    """Return the faults of one line that the functions of a module can have."""
    lines = text.splitlines()
    found = []
    for function in _functions(ast.parse(text)):
        for node in _code_of(function):
            change = _change(node)
            if change is not None and node.lineno == node.end_lineno:  # type: ignore[attr-defined]  # each has a place
                kind, where, new = change
                before = lines[where.lineno - 1]
                start, stop = (
                    len(before.encode()[:n].decode()) for n in (where.col_offset, where.end_col_offset or 0)
                )
                after = before[:start] + new + before[stop:]
                found.append(Fault(path, where.lineno, kind, function.name, before, after))
    return found


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _code_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """Yield what runs in a function, without functions in it, texts, and what makes an error's message."""
    pending: list[ast.AST] = list(function.body)
    left_out = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Raise, ast.JoinedStr, ast.Assert)
    while pending:
        node = pending.pop(0)
        if isinstance(node, left_out):
            continue
        yield node
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.AnnAssign):
            children = [node.value] if node.value is not None else []
        pending += children


def _change(node: ast.AST) -> tuple[str, Any, str] | None:
    """Return the kind of a fault, what of the code is replaced, and by what text."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return "condition", test, f"not ({ast.unparse(test)})"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Delete():
            return "statement", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return "statement", node, "pass"
        case ast.Constant(value=int() | float() as value):
            return "constant", node, repr(not value if isinstance(value, bool) else value + 1)
    return _swapped(node)


def _swapped(node: ast.AST) -> tuple[str, Any, str] | None:
    """Return the same of a node whose operator can be swapped."""
    other: Any
    match node:
        case ast.Compare(ops=[operator], left=left, comparators=others) if type(operator) in SWAPPED:
            other = SWAPPED[type(operator)]()
            return "comparison", node, f"({ast.unparse(ast.Compare(left, [other], others))})"
        case ast.BinOp(op=operator, left=left, right=right) if type(operator) in SWAPPED:
            other = SWAPPED[type(operator)]()
            return "operator", node, f"({ast.unparse(ast.BinOp(left, other, right))})"
        case ast.BoolOp(op=operator, values=values):
            other = SWAPPED[type(operator)]()
            return "operator", node, f"({ast.unparse(ast.BoolOp(other, values))})"
    return None


def chosen(seed: int, number: int, source: Path) -> list[Fault]:
    """Return so many faults of the rooms, no two of them in one function and no more than two in a file."""
    pool = [
        fault
        for path in sorted(source.rglob("*.py"))
        if room_of(name := path.relative_to(source).as_posix())
        for fault in faults_in(name, path.read_text("utf-8"))
    ]
    picked: list[Fault] = []
    for fault in random.Random(seed).sample(pool, len(pool)):
        in_file = [each for each in picked if each.path == fault.path]
        if len(in_file) < 2 and fault.function not in [each.function for each in in_file]:
            picked.append(fault)
        if len(picked) == number:
            break
    return picked


def room_of(path: str) -> Room | None:
    """Return the room of a module, by its path below the source's folder."""
    return next((room for room in ROOMS if path.startswith(room.source)), None)


# --------------------------------------------------------------------------------------------------- tests


class Copy:
    """A copy of the repository, in which a line of the source is broken while tests run."""

    def __init__(self, folder: Path, tests: Path) -> None:
        self.folder = folder
        self.source = folder / "src" / "taskscope"
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT, dirs_exist_ok=True)
        if tests != ROOT:
            shutil.rmtree(folder / "tests")
            shutil.copytree(tests / "tests", folder / "tests", ignore=LEFT_OUT)
        self.flaky: list[str] = []
        """Tests that failed without a fault."""

    def noticed(self, fault: Fault) -> str | None:
        """Return the first test that fails with a fault and not without it, None if there is none."""
        room = room_of(fault.path)
        assert room is not None
        kept = (ROOT / "src" / "taskscope" / fault.path).read_bytes()
        for tests in room.tests:
            folder, *only = shlex.split(tests)
            while (self.folder / folder).exists():
                fault.put_into(self.source)
                failed = self._first_failure([folder, *only])
                self._restore(fault.path, kept)
                if failed is None:
                    break
                if self._first_failure([failed], is_whole=True) is None:
                    return failed
                self.flaky.append(failed)
        return None

    def _restore(self, path: str, content: bytes) -> None:
        (self.source / path).write_bytes(content)
        for cached in (self.source / path).parent.glob(f"__pycache__/{Path(path).stem}.*"):
            cached.unlink()

    def _first_failure(self, tests: list[str], *, is_whole: bool = False) -> str | None:
        """Return the first of these tests that fails, None if all pass."""
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:nbval",
            "-p",
            "no:cacheprovider",
            "-x",
            "-q",
            "-rfE",
        ]
        command += ["--timeout", "300", *tests]
        for flaky in [] if is_whole else self.flaky:
            command += ["--deselect", flaky]
        environment = {**os.environ, "PYTHONPATH": f"{self.folder / 'src'}", "OPENBLAS_NUM_THREADS": "1"}
        try:
            ended = subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{tests[0]} (stopped after {LIMIT_S:.0f} s)"
        if ended.returncode in (0, 5):
            return None
        found = re.search(r"^(?:FAILED|ERROR) (\S+\.py(?:::\S+(?:\[.*?\])?)?)", ended.stdout, re.MULTILINE)
        return found[1] if found else f"{tests[0]} (ended with status {ended.returncode})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument(
        "--file", type=Path, required=True, help="the list, with which test noticed each fault"
    )
    parser.add_argument("--tests", type=Path, default=ROOT, help="the copy of the repository whose tests run")
    options = parser.parse_args()
    if options.file.exists():
        results = json.loads(options.file.read_text("utf-8"))
    else:
        faults = chosen(options.seed, options.number, ROOT / "src" / "taskscope")
        results = [{"fault": asdict(fault), "noticed_by": None, "is_run": False} for fault in faults]
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), options.tests)
        for number, result in enumerate(results, start=1):
            fault = Fault(**result["fault"])
            if not result["is_run"]:
                result |= {"noticed_by": copy.noticed(fault), "is_run": True}
                options.file.write_text(json.dumps(results, indent=1), "utf-8")
            noticed = result["noticed_by"] or "not noticed"
            print(
                f"{number:3} {fault.path}:{fault.line} {fault.kind}: {fault.after.strip()}: {noticed}",
                flush=True,
            )
    n_noticed = sum(result["noticed_by"] is not None for result in results)
    print(f"{n_noticed} of {len(results)} faults are noticed")


if __name__ == "__main__":
    main()
