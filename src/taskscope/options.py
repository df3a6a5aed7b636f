"""Every option of profiling, declared once.

The signature and the help of `taskscope.profile`, the options of ``%%profile`` and of ``taskscope run``, and
``docs/options.md`` are made of these declarations. Dask and numpy are not imported: a command's help needs
neither.
"""

from __future__ import annotations

import argparse
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from enum import IntEnum
from functools import partial, wraps
from logging import Logger
from os import PathLike
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MethodType
from typing import Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, cast, get_args

from taskscope.errors import OptionError, unknown_name

DEFAULT_DT = 0.25
DEFAULT_MAX_TASKS = 1_000_000
DEFAULT_INTERVAL_S = 0.01

MetricOption: TypeAlias = Literal["nbytes", "count"] | Callable[[Any], object]
Named: TypeAlias = str | Callable[..., object]
"""A function, its name, or the end of its qualified name."""
Panel: TypeAlias = Literal["inline", "dock"]
"""Where a block is live: under its cell, in JupyterLab's side panel, nowhere."""
Surface: TypeAlias = Literal["%%profile", "taskscope run", "%taskscope history on"]

_METRICS = ("nbytes", "count")
_MOST_WRAPPED = 100
_P = ParamSpec("_P")
_T = TypeVar("_T")


class TaskFacts(IntEnum):
    """The facts that are recorded of each task of a local scheduler; others are unknown in the recording."""

    NOTHING = 0
    TIMES = 1
    """When and in which thread it runs, and how it ends."""
    LANDINGS = 2
    """Also when its result enters the scheduler's cache."""
    ALL = 3
    """Also its CPU time, and how large its result is."""


@dataclass(frozen=True, slots=True)
class Argument:
    """How an option is written on a line of text."""

    flags: tuple[str, ...]
    value: str = ""
    const: bool = True
    help: str = ""
    in_run: bool = False
    takes_more: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of one option."""

    meaning: str
    more: str = ""
    arguments: tuple[Argument, ...] = ()


def option(default: _T, meaning: str, more: str = "", *arguments: Argument) -> _T:
    """Declare a field of a class of options."""
    return field(default=default, metadata={"option": Option(meaning, more, arguments)})


def checked_dt(dt: object, name: str = "dt") -> float:
    """Return a sampling interval, or raise OptionError.

    Raises
    ------
    OptionError
        If it is not a positive number of seconds.
    """
    if isinstance(dt, bool) or not isinstance(dt, (int, float)) or not 0 < dt < float("inf"):
        raise OptionError(f"{name} must be a positive number of seconds, got {dt!r}")
    return float(dt)


def checked_path(path: object, name: str = "path") -> Path:
    """Return a path with the user's home folder in place of ``~``.

    Raises
    ------
    OptionError
        If it is no text or path.
    """
    if not isinstance(path, str | PathLike):
        raise OptionError(f"{name} must be a path, as text or a Path, got {path!r:.80}")
    return Path(path).expanduser()


def check_flags(options: object, *names: str) -> None:
    """Raise OptionError if one of these options is neither True nor False."""
    for name in names:
        if type(value := getattr(options, name)) is not bool:
            raise OptionError(f"{name} must be True or False, got {value!r:.80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The recording options of one holder of the session; each field says how several holders are combined.

    Raises
    ------
    OptionError
        If a value cannot work.
    """

    # The shortest wins; "any" is ignored.
    dt: float | Literal["any"] = option(
        DEFAULT_DT,
        "Seconds between samples of CPU and memory.",
        "",
        Argument(("--dt",), "SECONDS", in_run=True),
    )
    # The latest wins; "any" is ignored.
    metric: MetricOption | Literal["any"] = option(
        "nbytes",
        'The measure of results in memory: ``"nbytes"``, ``"count"``, or a function of a result.',
        "",
        Argument(("--metric",), "NAME"),
    )
    # The largest wins.
    max_tasks: int = option(
        DEFAULT_MAX_TASKS, "How many tasks are kept at most; the oldest go first and are counted."
    )
    # One holder that wants it is enough.
    memory: bool = option(
        False,
        "Record which task and source line each byte in memory was allocated by when most was (memray).",
        "Of tasks that run in this process, on Linux and macOS; `Recording.memory_peak` has it once the block"
        " has ended. It needs ``pip install 'taskscope[memory]'``, and slows what calls much Python or"
        " allocates often.",
        Argument(("--memory",), in_run=True),
    )
    # One holder that wants it is enough; a profiled block does by default.
    stacks: bool = False
    # The shortest wins.
    profile_interval: float = option(DEFAULT_INTERVAL_S, "Seconds between samples of call stacks.")
    # All functions that a holder names are measured.
    lines: bool | Named | Sequence[Named] = option(
        False,
        "Show at the end in which source lines tasks spent their time: each line of these functions counted "
        "and timed or, without a name, the sampled lines of the functions that took longest.",
        "A function, its name, or several; True for the longest functions. To count and time takes one to "
        "three microseconds for each line that these functions run; other functions are as fast as before. "
        "Before Python 3.12 their lines are sampled. Before a script names end at ``--``.",
        Argument(("--lines",), "FUNC", in_run=True, takes_more=True),
    )

    @property
    def facts(self) -> TaskFacts:
        """The facts of each task that this holder needs."""
        return TaskFacts.ALL

    @property
    def samples_at_once(self) -> bool:
        """Whether also the first tenth of a second of a compute is worth samples of call stacks."""
        return False

    def __post_init__(self) -> None:
        """Check the values."""
        if self.dt != "any":
            checked_dt(self.dt)
        if not callable(self.metric) and self.metric not in (*_METRICS, "any"):
            raise OptionError(unknown_name("metric", self.metric, _METRICS) + ", or a function of a result")
        if type(self.max_tasks) is not int or self.max_tasks < 1:
            raise OptionError(f"max_tasks must be a positive whole number of tasks, got {self.max_tasks!r}")
        check_flags(self, "stacks", "memory")
        functions_named(self.lines)
        checked_dt(self.profile_interval, "profile_interval")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticOptions(Options):
    """The recording options of a diagnostic, which needs few facts of tasks."""

    dt: float | Literal["any"] = "any"
    metric: MetricOption | Literal["any"] = "any"
    facts: TaskFacts = TaskFacts.NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOptions(Options):
    """The options of a profiled block.

    Raises
    ------
    OptionError
        If a value cannot work.
    """

    label: str | None = option(
        None, "A name for the computes.", "", Argument(("--label",), "TEXT", in_run=True)
    )
    display: bool = option(
        True,
        "Show it: live under the cell in a notebook, elsewhere as progress and a summary on standard error.",
        "",
        Argument(("-q", "--quiet"), const=False, help="show nothing", in_run=True),
    )
    logger: Logger | None = option(
        None, "A logger that gets progress, every ten seconds, and the summary, instead of standard error."
    )
    panel: Panel | None = option(
        None,
        'Where it is live in a notebook: ``"inline"`` under the cell, or ``"dock"`` in the side panel of'
        " JupyterLab; the result stays under the cell.",
        "By default it is inline, and JupyterLab may be set to open the panel, too. Without the extension"
        ' there is no panel, and ``"dock"`` is inline.',
        Argument(("--panel",), "WHERE"),
    )
    save: str | PathLike[str] | tuple[str | PathLike[str], ...] | None = option(
        None,
        "A file, or a tuple of files, to write at the end, in the format of the extension.",
        "A ``.taskscope`` file is also written while computes run, for the case that the process is killed.",
        Argument(("-D", "--dump"), "FILE", help="save the recording, by FILE's extension", in_run=True),
        Argument(
            ("-T", "--text"),
            "FILE",
            help="save the summary and the lines that tasks took their time in; .txt",
            in_run=True,
        ),
    )
    overwrite: bool = option(
        False,
        "Replace files of these names.",
        "Without it, one that exists is an error before anything is computed.",
        Argument(("--overwrite",), in_run=True),
    )
    redact: bool = option(
        False,
        "Leave all texts out of these files but versions, types of errors and taskscope's own words.",
        "Keys, labels, functions, paths and workers are not in a file while it is being written either; see"
        " `Recording.save`. Credentials in URLs are always left out.",
        Argument(("--redact",), in_run=True),
    )
    stacks: bool = option(
        True,
        "Sample the call stacks of tasks, here and in a process pool, for `Recording.profile`.",
        "",
        Argument(("--no-stacks",), const=False, help="take no samples of call stacks"),
    )

    def __post_init__(self) -> None:
        """Check the values."""
        Options.__post_init__(self)
        check_flags(self, "display", "overwrite", "redact")
        for path in self.files:
            checked_path(path, "save")
        if self.label is not None and not isinstance(self.label, str):
            raise OptionError(f"label must be text, got {self.label!r}")
        if self.logger is not None and not hasattr(self.logger, "info"):
            raise OptionError(f"logger must be a logger of the module logging, got {self.logger!r}")
        if self.panel is not None and self.panel not in get_args(Panel):
            near = get_close_matches(str(self.panel), get_args(Panel), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise OptionError(f"panel must be 'inline' or 'dock', got {self.panel!r}{hint}")

    @property
    def files(self) -> tuple[str | PathLike[str], ...]:
        """The files that `save` names."""
        if self.save is None:
            return ()
        return self.save if isinstance(self.save, tuple) else (self.save,)

    @property
    def samples_at_once(self) -> bool:
        """Whether `lines` is set: short computes are sampled from their start then."""
        is_text = any(PurePath(path).suffix.lower() == ".txt" for path in self.files)
        return functions_named(self.lines) is not None or is_text


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """The options of the history, which ``%taskscope history on`` turns on.

    Raises
    ------
    OptionError
        If a value cannot work.
    """

    folder: str | PathLike[str] | None = option(
        None,
        "The folder of the files, made with the first one.",
        "By default ``taskscope-history`` beside the notebook.",
        Argument(("--folder",), "PATH"),
    )
    longer_s: float = option(
        10.0, "Computes of so many seconds or more are kept.", "", Argument(("--longer",), "SECONDS")
    )
    most_bytes: float = option(
        1_000_000_000,
        "The most bytes of the files together, such as ``2e9``: the oldest are deleted first.",
        "A file that grows counts; the others make room for it.",
        Argument(("--most",), "BYTES"),
    )

    def __post_init__(self) -> None:
        """Check the values."""
        checked_dt(self.longer_s, "longer_s")
        if not self.most_bytes > 0:
            raise OptionError(f"most_bytes must be a positive number of bytes, got {self.most_bytes!r}")


def functions_named(given: object) -> tuple[Named, ...] | None:
    """Return the functions of the option `lines`, empty for the longest ones; None without it.

    Raises
    ------
    OptionError
        If one is neither a function nor a name.
    """
    if isinstance(given, bool):
        return () if given else None
    several = given if isinstance(given, list | tuple) else (given,)
    for each in several:
        if isinstance(each, str) and each:
            continue
        if not callable(each):
            raise OptionError(f"lines must be True, False, or functions or their names, got {each!r:.80}")
        if code_of(each) is None:
            raise OptionError(
                f"lines must name Python functions, got {each!r:.80}: functions written in C, and classes, "
                "have no lines; of a class name the method"
            )
    return tuple(several)


def code_of(function: object) -> CodeType | None:
    """Return the code of a function, also of one that is decorated, bound, partial or delayed, or a callable.

    None: it has none.
    """
    for _ in range(_MOST_WRAPPED):
        if isinstance(function, partial):
            function = function.func
        elif isinstance(function, staticmethod | classmethod | MethodType):
            function = function.__func__
        elif type(function).__name__ == "DelayedLeaf":
            # `dask.delayed` wraps a function in this class; any attribute of it is another task.
            function = getattr(function, "__wrapped__", None)
        elif (wrapped := inspect.getattr_static(function, "__wrapped__", None)) is not None:
            function = wrapped
        else:
            break
    if isinstance(function, FunctionType):
        return function.__code__
    method = None if isinstance(function, type) else inspect.getattr_static(type(function), "__call__", None)
    return method.__code__ if isinstance(method, FunctionType) else None


def declared() -> list[tuple[Field[Any], Option]]:
    """Return the options of a profiled block: display and files first, then recording."""
    base = {one.name for one in fields(Options)}
    own = sorted(fields(ProfileOptions), key=lambda one: one.name in base)
    return [(one, one.metadata["option"]) for one in own]


def arguments(surface: Surface) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield what argparse's ``add_argument`` takes; options that were not given are None in the namespace."""
    history = [(one, one.metadata["option"]) for one in fields(HistoryOptions)]
    for one, what in history if surface == "%taskscope history on" else declared():
        for argument in what.arguments:
            if surface == "taskscope run" and not argument.in_run:
                continue
            settings = {"dest": one.name, "help": _help(one, what, argument)}
            yield argument.flags, settings | _action(one, argument)


def _action(one: Field[Any], argument: Argument) -> dict[str, Any]:
    if not argument.value:
        return {"action": "store_const", "const": argument.const}
    if argument.takes_more:
        return {"metavar": argument.value, "nargs": "*"}
    return {"metavar": argument.value, "action": "append" if one.name == "save" else "store"}


def _help(one: Field[Any], what: Option, argument: Argument) -> str:
    plain = what.meaning.rstrip(".").replace("``", "").replace('"', "")
    text = argument.help or plain[0].lower() + plain[1:]
    is_stated = argument.value and not argument.takes_more and one.default is not None
    return f"{text} (default: {one.default})" if is_stated else text


def unknown_option(parser: argparse.ArgumentParser, word: str) -> str:
    """Return a message for an option that a parser does not know, with the nearest one that it knows."""
    # argparse has no public way to list its options.
    known = [name for name in parser._option_string_actions if name not in {"-h", "--help"}]
    return unknown_name("option", word.partition("=")[0], known)


def given_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the options that a parsed line holds, by name."""
    known = {one.name for one in fields(ProfileOptions)}
    return {
        name: _meant(name, value)
        for name, value in vars(given).items()
        if name in known and value is not None
    }


def _meant(name: str, value: object) -> object:
    if isinstance(value, list):
        # An option with any number of values may have none.
        return tuple(value) if name == "save" else value or True
    return value


def takes_options(
    options: Callable[_P, ProfileOptions],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, _P], None]]:
    """Set the options as the signature of an ``__init__``, for type checkers, editors and ``help()``."""

    def decorate(init: Callable[..., None]) -> Callable[Concatenate[Any, _P], None]:
        own = inspect.signature(init)
        first = next(iter(own.parameters.values()))
        parameters = inspect.signature(options).parameters
        taken = {one.name: parameters[one.name] for one, _ in declared()}

        @wraps(init)
        def checked(self: object, **given: object) -> None:
            for name in given:
                if name not in taken:
                    hint = unknown_name("option", name, taken)
                    raise TypeError(
                        f"{type(self).__name__}() got an unexpected keyword argument {name!r}: {hint}"
                    )
            init(self, **given)

        signature = own.replace(parameters=[first, *taken.values()])
        checked.__signature__ = signature  # type: ignore[attr-defined]  # inspect reads it
        return cast("Callable[Concatenate[Any, _P], None]", checked)

    return decorate


def parameters_section() -> str:
    """Return the numpydoc section of the options."""
    lines = []
    for one, what in declared():
        default = "" if one.default is None else f" Default: {shown(one.default)}."
        text = f"{what.meaning} {what.more}".strip() + default
        lines += [one.name, *textwrap.wrap(text, 105, initial_indent="    ", subsequent_indent="    ")]
    return "\n".join(lines)


def shown(value: object) -> str:
    """Return a default as it is written."""
    return f'``"{value}"``' if isinstance(value, str) else f"{value:,}" if type(value) is int else str(value)
