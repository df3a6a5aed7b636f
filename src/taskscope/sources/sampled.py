"""Samples of tasks in another process, as they were sent, and as a recorder counts them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from types import CodeType, FunctionType
from typing import Any, TypeVar

from taskscope.model.keys import key_text
from taskscope.model.tables.stacks import Function
from taskscope.options import code_of
from taskscope.record import CountedCalls
from taskscope.sources.line_meter import SENT_AS_CODE

_MOST_RUNS = 32
"""Of so many computes the functions are kept, the latest ones."""
_T = TypeVar("_T")
_CALLABLE = (FunctionType, partial, staticmethod, classmethod)


class SentFunctions:
    """The files of functions that are sent as code, which have none where they run.

    A notebook or a script defines such functions, and any module lambdas and functions within functions. They
    are looked up by name and first line among the functions of the compute's graph, and in ``__main__`` when
    the first samples of the compute are read.
    """

    def __init__(self) -> None:
        self._codes: dict[int, tuple[CodeType, ...]] = {}
        self._files: dict[int, dict[tuple[str, int], str]] = {}

    def add(self, run: int, codes: Collection[CodeType]) -> None:
        """Set the functions that tasks of a run call."""
        if len(codes) != len(self._codes.get(run, ())):
            self._files.pop(run, None)
            _keep(self._codes, run, tuple(codes))

    def function(self, run: int, name: str, file: str, line: int) -> Function:
        if file == SENT_AS_CODE:
            files = self._files.get(run)
            if files is None:
                files = dict(_defined_in_main())
                for code in self._codes.get(run, ()):
                    files.update(_with_those_in(code))
                _keep(self._files, run, files)
            file = files.get((name, line), file)
        return Function(key_text(name), key_text(file), line)


def _keep(by_run: dict[int, _T], run: int, value: _T) -> None:
    by_run[run] = value
    for old in [*by_run][:-_MOST_RUNS]:
        by_run.pop(old, None)


def _defined_in_main() -> Iterator[tuple[tuple[str, int], str]]:
    """Yield name, first line and file of each function of ``__main__``, inner functions included."""
    values = list(vars(sys.modules["__main__"]).values())
    # Attributes are read of classes that are defined there only, as other values may be anything.
    classes = [vars(value) for value in values if type(value) is type]
    for members in classes:
        if members.get("__module__") == "__main__":
            values += members.values()
    for value in values:
        function = value.fget if type(value) is property else value
        kind = type(function)
        code = code_of(function) if kind in _CALLABLE or kind.__name__ == "DelayedLeaf" else None
        if code is not None:
            yield from _with_those_in(code)


def _with_those_in(code: CodeType) -> Iterator[tuple[tuple[str, int], str]]:
    yield (code.co_qualname, code.co_firstlineno), code.co_filename
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _with_those_in(each)


def counted_cycles(
    sent: SentFunctions,
    functions: Iterable[Sequence[Any]],
    stacks: Iterable[Sequence[Any]],
    run: int,
    prefix: str,
    worker: str,
    *,
    has_lines: bool = True,
) -> dict[float, list[CountedCalls]]:
    """Return samples of tasks of one prefix by the start of their cycle, on the sampling process's clock.

    `functions` are name, file and first line each; `stacks` are as in `shipped.Sampled`.
    """
    known = [sent.function(run, str(name), str(file), int(line)) for name, file, line in functions]
    cycles: dict[float, list[CountedCalls]] = {}
    for at, calls, n, seconds, squares, cpu_s, cpu_known_s in stacks:
        counted = CountedCalls(
            run,
            prefix,
            worker,
            tuple(known[place] for place, _ in reversed(calls)),
            int(n),
            float(seconds),
            tuple(int(line) for _, line in reversed(calls)) if has_lines else None,
            float(squares),
            float(cpu_s),
            float(cpu_known_s),
        )
        cycles.setdefault(float(at), []).append(counted)
    return cycles
