"""``%load_ext taskscope``: the magics ``%%profile``, ``%profile`` and ``%taskscope``, and their options.

Cells that start with ``%%profile`` run as normal cells, and the block ends with the cell. Recordings
and their analysis are imported when a magic is first used, so that ``%load_ext`` takes little time.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import cell_magic
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import MagicArgumentParser, argument, magic_arguments

from taskscope.errors import ExistingFileError, OptionError, TaskscopeError
from taskscope.history import current as current_history
from taskscope.options import (
    HistoryOptions,
    MetricOption,
    Named,
    Surface,
    arguments,
    given_options,
    unknown_option,
)
from taskscope.session import current as current_session

if TYPE_CHECKING:
    from taskscope.profiling import BlockOptions
    from taskscope.recording import Recording

Ending: TypeAlias = Callable[[ExecutionResult | None], None]
_Cell: TypeAlias = tuple[ExecutionInfo | None, list[Ending]]


class CellStack:
    """Cells that are being run, innermost last, per thread; a cell may run others.

    IPython's events ``pre_run_cell`` and ``post_run_cell`` go to `enter` and `leave`. What an interrupt keeps
    `leave` from, it does at the end of the next cell.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def enter(self, info: ExecutionInfo) -> None:
        """Add a cell that starts."""
        self._cells().append((info, []))

    def at_end(self, ending: Ending) -> None:
        """Call `ending` with the result of the innermost cell, None where there is none."""
        cells = self._cells()
        if not cells:
            # A cell that is run silently has no events, and the one that loaded us had none yet.
            cells.append((None, []))
        cells[-1][1].append(ending)

    def leave(self, result: ExecutionResult | None) -> None:
        """Remove a cell that ended, and call its endings, latest first."""
        cells = self._cells()
        if result is not None and not any(self._is_of(result, info) for info, _ in cells):
            return  # an empty cell ends without having started
        while cells:
            info, endings = cells[-1]
            while endings:
                endings[-1](result)
                endings.pop()
            cells.pop()
            if result is None or self._is_of(result, info):
                return

    def abandon(self) -> None:
        """Call the endings of all running cells of this thread."""
        for _, endings in self._cells():
            for ending in endings:
                ending(ExecutionResult(None))
        self._cells().clear()

    def _cells(self) -> list[_Cell]:
        if not hasattr(self._local, "cells"):
            self._local.cells = []
        cells: list[_Cell] = self._local.cells
        return cells

    @staticmethod
    def _is_of(result: ExecutionResult, info: ExecutionInfo | None) -> bool:
        # Where a cell could not even be run, IPython makes a second description of it.
        if info is None or result.info is None:
            return True
        return result.info is info or bool(result.info.raw_cell == info.raw_cell)


_HEADER = re.compile(r"%%profile(?=\s|$)(?P<options>.*)")
_MARK = "%%profile"


def header_to_string(lines: list[str]) -> list[str]:
    r"""Return a cell's lines with a ``%%profile`` line replaced by a string literal.

    Examples
    --------
    >>> header_to_string(["%%profile -q\n", "1 + 1\n"])
    ["'%%profile -q'\n", '1 + 1\n']
    """
    match = _HEADER.match(lines[0]) if lines else None
    if match is None:
        return lines
    # A further cell magic is only seen in the first line; this is where IPython would have found it.
    body = cell_magic(header_to_string(lines[1:]))
    return [f"{_MARK + match['options'].rstrip()!r}\n", *body]


# IPython checks with every key whether a cell is complete. It knows the rule for cells that start with %%,
# and skips transformations that are marked as having side effects.
header_to_string.has_side_effects = True  # type: ignore[attr-defined]  # IPython's own protocol


class HeaderTransformer(ast.NodeTransformer):
    """Replaces the string by a call that starts profiling."""

    def __init__(self, begin: Callable[[str, bool], ast.expr]) -> None:
        self._begin = begin

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Replace the first statement if it is a %%profile magic."""
        first = node.body[0] if node.body else None
        if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
            return node
        text = first.value.value
        if not isinstance(text, str) or _HEADER.fullmatch(text) is None:
            return node
        rest = node.body[1:]
        begin = self._begin(text[len(_MARK) :], any(map(_awaits, rest)))
        call = ast.fix_missing_locations(ast.copy_location(ast.Expr(begin), first))
        n_futures = next((i for i, statement in enumerate(rest) if not _is_future(statement)), len(rest))
        node.body = [*rest[:n_futures], call, *rest[n_futures:]]
        return node


def _awaits(node: ast.AST) -> bool:
    """Return whether anything is awaited in it that is not within a function of its own."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
        return True
    if isinstance(node, ast.comprehension) and node.is_async:
        return True
    return any(map(_awaits, ast.iter_child_nodes(node)))


def _is_future(statement: ast.stmt) -> bool:
    # They have to stay first.
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


_F = TypeVar("_F")


def _options_of(surface: Surface) -> Callable[[_F], _F]:
    """Add the declared options."""

    def decorate(function: _F) -> _F:
        for flags, settings in reversed(list(arguments(surface))):
            function = argument(*flags, **settings)(function)
        return function

    return decorate


@magics_class
class ProfileMagics(Magics):
    """Profile a cell or a statement."""

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell, cells: CellStack) -> None:
        super().__init__(shell)
        self._cells = cells

    @no_var_expand
    @magic_arguments("profile")
    @argument("-o", "--output", metavar="NAME", help="bind the recording to this variable when the cell ends")
    @_options_of("%%profile")
    @line_cell_magic
    def profile(self, line: str, cell: str | None = None) -> object:
        """Record every Dask compute of a cell or a statement: live while it runs, then as a static result.

        %%profile [options] in the first line of a cell, which then runs as it would without that line.
        %profile [options] statement
        """
        if cell is not None:
            self._run_cell(line, cell)
            return None
        given, statement = split_statement(self.profile.parser, line)
        if not statement:
            raise UsageError("%profile needs a statement; to profile a whole cell, start it with %%profile")
        return self._run_statement(self._parse(given), statement)

    @no_var_expand
    @magic_arguments("taskscope")
    @argument("words", nargs="*", metavar="NUMBER | history [on | off]", help="a compute, or the history")
    @_options_of("%taskscope history on")
    @line_magic
    def taskscope(self, line: str) -> object:
        """List the computes of this session, return the recording of one, or keep long ones as files.

        %taskscope
        %taskscope NUMBER
        %taskscope history
        %taskscope history on [options]
        %taskscope history off
        """
        from taskscope.profiling import runs

        given = vars(_parsed(self.taskscope.parser, line, "%taskscope"))
        words = given.pop("words")
        given = {name: value for name, value in given.items() if value is not None}
        if words[:1] == ["history"]:
            _set_history(words[1:], given)
            return runs(history=True)
        computes = runs()
        if not words and not given:
            return computes
        for compute in computes:
            if words == [str(compute.number)] and not given:
                return compute.recording()
        numbers = f"{computes[0].number} to {computes[-1].number}" if computes else "there are none yet"
        raise UsageError(
            f"%taskscope takes the number of a compute ({numbers}), history, or nothing; got {line.strip()!r}"
        )

    def begin(self, line: str) -> None:
        """Start profiling the cell that is being run, up to its end."""
        from taskscope.profiling import Block

        options = self._parse(line)
        block = Block(options.block)

        def end(result: ExecutionResult | None) -> None:
            error = None if result is None else result.error_before_exec or result.error_in_exec
            if result is None:
                # A cell with await that was interrupted is cancelled, and has no result.
                error = KeyboardInterrupt()
            self._bind(options, block.leave(error))

        # Before it starts: the cell ends it, also if the start fails.
        self._cells.at_end(end)
        block.start()

    def _parse(self, line: str) -> MagicOptions:
        return parse_options(self.profile.parser, line, self.shell.user_ns)

    def _bind(self, options: MagicOptions, recording: Recording | None) -> None:
        name, variables = options.name, self.shell.user_ns
        if name is None or recording is None:
            return
        variables[name] = recording

        def bind_complete(complete: Recording) -> None:
            # The user may have bound the name again.
            if variables.get(name) is recording:
                variables[name] = complete

        if recording.completion is not None:
            recording.completion.then(bind_complete)

    def _run_cell(self, line: str, cell: str) -> None:
        # Only reached by run_cell_magic: IPython sees a cell's first line after `header_to_string` did.
        __tracebackhide__ = True
        self.shell.run_cell(f"%%profile {line}\n{cell}").raise_error()

    def _run_statement(self, options: MagicOptions, statement: str) -> object:
        __tracebackhide__ = True
        from taskscope.profiling import Block

        source = self.shell.transform_cell(statement)
        is_expression = _is_expression(source)
        block = Block(options.block)
        try:
            with block:
                return self.shell.ev(source.strip()) if is_expression else self.shell.ex(source)
        finally:
            self._bind(options, block.ended)


def _is_expression(source: str) -> bool:
    body = ast.parse(source).body
    return len(body) == 1 and isinstance(body[0], ast.Expr)


@dataclass(frozen=True, slots=True)
class MagicOptions:
    """The options of one use of the magic."""

    block: BlockOptions
    name: str | None


def parse_options(parser: MagicArgumentParser, line: str, namespace: Mapping[str, object]) -> MagicOptions:
    """Return the options that `line` holds."""
    from taskscope.profiling import BlockOptions

    given = _parsed(parser, line, "%%profile")
    try:
        return MagicOptions(
            block=BlockOptions(**_read(given_options(given), namespace)),
            name=_name(given.output),
        )
    except ExistingFileError as error:
        raise UsageError(f"%%profile: {error.problem}; add --overwrite to replace it") from None
    except (TaskscopeError, OSError) as error:
        raise UsageError(f"%%profile: {error}") from None


def _parsed(parser: MagicArgumentParser, line: str, magic: str) -> Namespace:
    try:
        words = [word for word, _ in _words(line)]
    except ValueError as error:
        raise UsageError(f"{magic}: cannot read {line.strip()!r}: {error}") from None
    given, unknown = parser.parse_known_args(words)
    if unknown:
        raise UsageError(f"{magic}: {unknown_option(parser, unknown[0])}")
    return given


def _set_history(words: list[str], given: dict[str, Any]) -> None:
    if words == ["on"]:
        try:
            numbers = {name: _number(given[name], name) for name in given if name != "folder"}
            current_history().turn_on(HistoryOptions(**given | numbers))
        except TaskscopeError as error:
            raise UsageError(f"%taskscope history: {error}") from None
    elif words == ["off"] and not given:
        current_history().turn_off()
    elif words or given:
        raise UsageError("write %taskscope history, or %taskscope history on, or %taskscope history off")


def split_statement(parser: MagicArgumentParser, line: str) -> tuple[str, str]:
    """Return the options in front of a line, and the statement after them, exactly as written.

    Examples
    --------
    >>> from IPython.core.magic_arguments import MagicArgumentParser
    >>> parser = MagicArgumentParser()
    >>> _ = parser.add_argument("--label")
    >>> split_statement(parser, '--label "a b"  f("x  y")')
    ('--label "a b"', 'f("x  y")')
    """
    start = len(line) - len(line.lstrip())
    while line.startswith("-", start):
        try:
            word, end = next(_words(line, start))
            if "=" not in word and _takes_value(parser, word):
                end = next(_words(line, end))[1]
        except (StopIteration, ValueError):
            return line.strip(), ""
        start = end
        start += len(line) - start - len(line[start:].lstrip())
    return line[:start].strip(), line[start:].strip()


def _words(line: str, start: int = 0) -> Iterator[tuple[str, int]]:
    """Yield words with quotes removed, and where each ends; backslashes are kept, for Windows paths."""
    stream = StringIO(line[start:])
    lexer = shlex.shlex(stream, posix=True)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    while (word := lexer.get_token()) is not None:
        yield word, start + stream.tell()


def _takes_value(parser: MagicArgumentParser, word: str) -> bool:
    # argparse has no public way to find an option by its name.
    action = parser._option_string_actions.get(word)
    # An option with any number of values has none before a statement.
    return action is not None and action.nargs not in (0, "*")


def _read(given: dict[str, Any], namespace: Mapping[str, object]) -> dict[str, Any]:
    if "dt" in given:
        given["dt"] = _number(given["dt"], "dt")
    if isinstance(given.get("lines"), list):
        given["lines"] = [_function(name, namespace) for name in given["lines"]]
    if "metric" in given:
        given["metric"] = _metric(given["metric"], namespace)
    return given


def _number(text: str, name: str) -> float:
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        unit = "bytes" if name == "most_bytes" else "seconds"
        raise OptionError(f"{name} must be a positive number of {unit}, got {text!r}") from None


def _function(name: str, namespace: Mapping[str, object]) -> Named:
    """Return the function of a name, or the name: samples may contain a function of that name."""
    first, *rest = name.split(".")
    found = namespace.get(first)
    for each in rest:
        found = getattr(found, each, None)
    return found if callable(found) else name


def _metric(name: str, namespace: Mapping[str, object]) -> MetricOption:
    found = namespace.get(name)
    if name not in {"nbytes", "count"} and callable(found):
        return cast("Callable[[Any], float]", found)
    return cast("MetricOption", name)


def _name(name: str | None) -> str | None:
    if name is not None and not name.isidentifier():
        raise UsageError(f"%%profile: -o needs a variable name, got {name!r}")
    return name


_HOME = __name__
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
        if getattr(shell, "kernel", None) is not None:
            from taskscope.jupyter.feed import current as current_feed

            current_feed().announce()

    def unload(self) -> None:
        """Undo `load`."""
        shell = self._shell
        shell.events.unregister("pre_run_cell", self.cells.enter)
        shell.events.unregister("post_run_cell", self.cells.leave)
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
            from taskscope.jupyter.widgets.base import RecorderWidget

            for holder in current_session().holders:
                if isinstance(holder, RecorderWidget):
                    holder.close()
            current_feed().close()
        current_history().turn_off()
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
        """Start profiling in a cell with ``await``; the event loop, maybe a scheduler's, runs on."""
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
