"""The magics ``%%profile`` and ``%profile``."""

from __future__ import annotations

import ast
from typing import TypeVar

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from taskscope.jupyter.magics.cells import CellStack
from taskscope.jupyter.magics.options import MagicOptions, parse_options, split_statement
from taskscope.options import arguments
from taskscope.profiling import Block, runs
from taskscope.recording import Recording
from taskscope.session import current as current_session

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
        block = Block(current_session(), options.block)

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
        block = Block(current_session(), options.block)
        error: BaseException | None = None
        try:
            block.start()
            return self.shell.ev(source.strip()) if is_expression else self.shell.ex(source)
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._bind(options, block.leave(error))


def _is_expression(source: str) -> bool:
    body = ast.parse(source).body
    return len(body) == 1 and isinstance(body[0], ast.Expr)
