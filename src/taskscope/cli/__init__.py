"""The command ``taskscope``: view and export saved recordings, and profile a script."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from taskscope.errors import ExistingFileError, TaskscopeError, unknown_name
from taskscope.model.version import __version__
from taskscope.options import arguments, unknown_option

EXPORTS = {
    "html": ".html",
    "txt": ".txt",
    "json": ".json",
    "perfetto": ".pftrace",
    "speedscope": ".speedscope.json",
    "parquet": "-parquet",
    "csv": "-csv",
    "taskscope": "-copy.taskscope",
}
"""The formats, and what takes the place of the file's extension by default."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    given = _parser().parse_args(arguments)
    try:
        status: int = given.function(given)
    except ExistingFileError as error:
        sys.stderr.write(f"taskscope: {error.problem}; add --overwrite to replace it\n")
        return 1
    except TaskscopeError as error:
        sys.stderr.write(f"taskscope: {error}\n")
        return 1
    return status


class _Parser(argparse.ArgumentParser):
    """Names what it does not know, what was expected, and the nearest that it knows."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: ANN401 - of several signatures
        """Refuse words that are left over: the parser of all commands would print its own usage."""
        given, rest = super().parse_known_args(args, namespace)
        for word in rest:
            if word.startswith("-"):
                self.error(unknown_option(self, word))
            # argparse gives an argument that may be missing nothing where an option is before it.
            free = [a.dest for a in self._get_positional_actions() if getattr(given, a.dest, None) is None]
            if not free:
                self.error(self._surplus(word))
            setattr(given, free[0], word)
        return given, []

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - of any option
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, unknown_name("value", value, map(str, action.choices)))

    def _surplus(self, word: str) -> str:
        taken = [str(action.metavar) for action in self._get_positional_actions()]
        return f"{word!r} is one argument too many: {self.prog} takes {' '.join(taken)} and options"


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="taskscope", description="See what Dask computations did: view, export or compute a recording."
    )
    parser.add_argument("--version", action="version", version=f"taskscope {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_view(commands.add_parser("view", help="open a recording in a browser"))
    _add_export(commands.add_parser("export", help="write a recording in another format"))
    _add_info(commands.add_parser("info", help="print the summary and the tables of a recording"))
    _add_explain(commands.add_parser("explain", help="print why it took as long as it did, and advice"))
    _add_compare(commands.add_parser("compare", help="print the differences of two recordings"))
    _add_top(commands.add_parser("top", help="follow a recording that another process writes, live"))
    _add_run(commands.add_parser("run", help="run a Python script or module and record what Dask does in it"))
    return parser


def _loaded_when_run(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """Return a command that is imported when it runs: dask and numpy take most of a second."""

    def command(given: argparse.Namespace) -> int:
        status: int = getattr(importlib.import_module(f"taskscope.cli.{module}"), name)(given)
        return status

    return command


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .taskscope file")
    parser.add_argument(
        "--partial", action="store_true", help="of a damaged or cut file, read the parts before that"
    )


def _add_view(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    parser.add_argument("--no-open", action="store_true", help="only print where the page was written")
    parser.set_defaults(function=_loaded_when_run("files", "view"))


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    parser.add_argument("output", metavar="OUTPUT", nargs="?", help="where to; by default beside FILE")
    parser.add_argument("--to", choices=EXPORTS, help="the format; by default that of the ending of OUTPUT")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")
    parser.add_argument("--redact", action="store_true", help="leave names and texts of the program out")
    parser.set_defaults(function=_loaded_when_run("files", "export"))


def _add_info(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    parser.set_defaults(function=_loaded_when_run("files", "info"))


def _add_explain(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print findings as JSON")
    form.add_argument(
        "--text",
        action="store_true",
        help="print summary, findings with evidence, code and critical path: at most 20 kB, for an issue",
    )
    parser.set_defaults(function=_loaded_when_run("files", "explain"))


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="BEFORE", help="a .taskscope file")
    parser.add_argument("after", metavar="AFTER", help="a .taskscope file")
    parser.add_argument(
        "-o", "--output", metavar="PAGE", help="write both Gantt charts on one scale, as HTML"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a page that is there")
    parser.add_argument(
        "--partial", action="store_true", help="of damaged or cut files, read the parts before that"
    )
    parser.set_defaults(function=_loaded_when_run("files", "compare"))


def _add_top(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .taskscope file that grows, or a complete one")
    parser.set_defaults(function=_loaded_when_run("live", "top"))


def _add_run(parser: argparse.ArgumentParser) -> None:
    for flags, settings in arguments("taskscope run"):
        if settings["dest"] == "dt":
            settings["type"] = float
        parser.add_argument(*flags, **settings)
    parser.add_argument(
        "--live",
        action="store_true",
        help="show tasks, threads, CPU and memory below the output while computes run, then findings",
    )
    parser.add_argument(
        "-m",
        dest="is_module",
        action="store_true",
        help="run a module, as python -m does",
    )
    parser.add_argument(
        "program",
        metavar="PROGRAM ...",
        nargs=argparse.REMAINDER,
        help="a Python script, or with -m a module; all that follows belongs to it",
    )
    parser.set_defaults(function=_loaded_when_run("run", "run"))
