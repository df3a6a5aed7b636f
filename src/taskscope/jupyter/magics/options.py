"""The options of ``%%profile``, from text."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from io import StringIO
from typing import Any, cast

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from taskscope.errors import ExistingFileError, OptionError, TaskscopeError
from taskscope.options import MetricOption, Named, given_options
from taskscope.profiling import BlockOptions


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
