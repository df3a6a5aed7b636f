"""The magics ``%%profile`` and ``%profile``, and their options from text."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from io import StringIO
from typing import Any, TypeVar, cast

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import MagicArgumentParser, argument, magic_arguments

from taskscope.errors import ExistingFileError, OptionError, TaskscopeError
from taskscope.jupyter.magics.cells import CellStack
from taskscope.options import MetricOption, Named, arguments, given_options
from taskscope.profiling import Block, BlockOptions, runs
from taskscope.recording import Recording

_F = TypeVar("_F")


def _profile_options(function: _F) -> _F:
    """Add the options that every surface has."""
    for flags, settings in reversed(list(arguments("%%profile"))):
        function = argument(*flags, **settings)(function)
    return function


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
    @_profile_options
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

    @line_magic
    def taskscope(self, line: str) -> object:
        """List the computes of this session, or return the recording of one.

        %taskscope
        %taskscope NUMBER
        """
        computes = runs()
        if not line.strip():
            return computes
        for compute in computes:
            if line.strip() == str(compute.number):
                return compute.recording()
        numbers = f"{computes[0].number} to {computes[-1].number}" if computes else "there are none yet"
        raise UsageError(
            f"%taskscope takes the number of a compute ({numbers}), or nothing; got {line.strip()!r}"
        )

    def begin(self, line: str) -> None:
        """Start profiling the cell that is being run, up to its end."""
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
    try:
        words = [word for word, _ in _words(line)]
    except ValueError as error:
        raise UsageError(f"%%profile: cannot read {line.strip()!r}: {error}") from None
    given, unknown = parser.parse_known_args(words)
    if unknown:
        raise UsageError(_unknown(parser, unknown[0]))
    try:
        return MagicOptions(
            block=BlockOptions(**_read(given_options(given), namespace)),
            name=_name(given.output),
        )
    except ExistingFileError as error:
        raise UsageError(f"%%profile: {error.problem}; add --overwrite to replace it") from None
    except (TaskscopeError, OSError) as error:
        raise UsageError(f"%%profile: {error}") from None


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
    # What takes any number of values takes none before a statement.
    return action is not None and action.nargs not in (0, "*")


def _unknown(parser: MagicArgumentParser, word: str) -> str:
    known = [name for name in parser._option_string_actions if name != "-h"]
    near = get_close_matches(word.partition("=")[0], known, n=1)
    hint = f" did you mean {near[0]!r}?" if near else ""
    return f"%%profile: unknown option {word!r};{hint} Known: {', '.join(known)}"


def _read(given: dict[str, Any], namespace: Mapping[str, object]) -> dict[str, Any]:
    if "dt" in given:
        given["dt"] = _number(given["dt"])
    if isinstance(given.get("lines"), list):
        given["lines"] = [_function(name, namespace) for name in given["lines"]]
    if "metric" in given:
        given["metric"] = _metric(given["metric"], namespace)
    return given


def _number(text: str) -> float:
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise OptionError(f"dt must be a positive number of seconds, got {text!r}") from None


def _function(name: str, namespace: Mapping[str, object]) -> Named:
    """Return the function of a name, or the name, by which samples may show it all the same."""
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
