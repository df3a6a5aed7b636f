"""What a page may ask on the control comm: a whitelist, checked before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from taskscope.model.streams import StopWay

__all__ = [
    "VERBS",
    "BadRequestError",
    "Compare",
    "Dependencies",
    "Explain",
    "FileFormat",
    "Hello",
    "Rate",
    "Renew",
    "Request",
    "Resync",
    "Save",
    "Stop",
    "Tell",
    "parse_page",
    "parse_request",
]

_MAX_SHOWN = 60
_MAX_ID = 100


class BadRequestError(ValueError):
    """A page asked for something that does not exist or makes no sense; the text is for the page."""


@dataclass(frozen=True, slots=True)
class Hello:
    """Start the data stream, at `cursor` if the page's rows are of `epoch`."""

    cursor: int
    epoch: str | None


@dataclass(frozen=True, slots=True)
class Resync:
    """Send everything from row `cursor` on."""

    cursor: int


@dataclass(frozen=True, slots=True)
class Rate:
    """Send at most so many messages a second to this page."""

    per_second: float


@dataclass(frozen=True, slots=True)
class Renew:
    """The page is still there."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop a compute, in the way that the page was told of and the person has agreed to."""

    run: int
    way: StopWay


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Tell what the task of `row` needs, and what needs it."""

    row: int


@dataclass(frozen=True, slots=True)
class Tell:
    """Set a trait of a widget to what a person chose, while a cell keeps the widget's messages waiting."""

    model: str
    trait: str
    value: object


FileFormat: TypeAlias = Literal["taskscope", "html", "trace"]


@dataclass(frozen=True, slots=True)
class Save:
    """Write the computes of a window, both ends included, to a file; `last_run` None: and all after."""

    first_run: int
    last_run: int | None
    format: FileFormat


@dataclass(frozen=True, slots=True)
class Compare:
    """Compare the computes of a window, which are of one cell, with those of its execution before."""

    first_run: int
    last_run: int | None


@dataclass(frozen=True, slots=True)
class Explain:
    """Say why the computes of a window, both ends included, took as long as they did."""

    first_run: int
    last_run: int | None


Request: TypeAlias = Hello | Resync | Rate | Renew | Stop | Dependencies | Tell | Save | Compare | Explain


def parse_request(data: object) -> Request:
    """Return what `data` asks for."""
    fields = data if isinstance(data, Mapping) else {}
    verb = fields.get("verb")
    parse = _PARSERS.get(verb) if isinstance(verb, str) else None
    if parse is None:
        raise BadRequestError(f"unknown verb {_shown(verb)}; known are {', '.join(VERBS)}")
    return parse(fields)


def parse_page(data: object) -> str:
    """Return the page's id from the data a comm was opened with."""
    fields = data if isinstance(data, Mapping) else {}
    protocol, page = fields.get("protocol"), fields.get("page")
    if protocol != 1 or isinstance(protocol, bool):
        raise BadRequestError(
            f"protocol must be 1, got {_shown(protocol)}; reload the page after updating taskscope"
        )
    if not isinstance(page, str) or not 0 < len(page) <= _MAX_ID:
        raise BadRequestError(f"page must be a text of 1 to {_MAX_ID} characters, got {_shown(page)}")
    return page


def _row(name: str, value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise BadRequestError(f"{name} must be a row number from 0, got {_shown(value)}")
    return value


def _tell(model: object, trait: object, value: object) -> Tell:
    if not isinstance(model, str) or not 0 < len(model) <= _MAX_ID:
        raise BadRequestError(f"model must be the id of a widget, got {_shown(model)}")
    match trait, value:
        case "selected_key", None | str():
            return Tell(model, "selected_key", value)
        case "follow", bool():
            return Tell(model, "follow", value)
        case "time_range", None:
            return Tell(model, "time_range", None)
        case "time_range", [int() | float() as start, int() | float() as stop] if start < stop:
            return Tell(model, "time_range", [float(start), float(stop)])
        case "function", None | [str(), str(), int()]:
            return Tell(model, "function", value)
    raise BadRequestError(
        "a page may set selected_key (a text or null), follow (true or false), time_range (two numbers,"
        " the smaller one first, or null) and function (name, file and line, or null);"
        f" got {_shown(trait)} {_shown(value)}"
    )


def _stop(run: object, way: object) -> Stop:
    number = _run("run", run)
    if way not in ("interrupt", "cancel"):
        raise BadRequestError(f"way must be interrupt or cancel, got {_shown(way)}")
    return Stop(number, way)


def _run(name: str, value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise BadRequestError(f"{name} must be the number of a compute from 0, got {_shown(value)}")
    return value


def _window(fields: Mapping[str, object]) -> tuple[int, int | None]:
    first, last = _run("first_run", fields.get("first_run")), fields.get("last_run")
    return first, None if last is None else _run("last_run", last)


def _save(fields: Mapping[str, object]) -> Save:
    for format_ in get_args(FileFormat):
        if fields.get("format") == format_:
            return Save(*_window(fields), format_)
    known = ", ".join(get_args(FileFormat))
    raise BadRequestError(f"format must be one of {known}, got {_shown(fields.get('format'))}")


def _epoch(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BadRequestError(f"epoch must be a text, got {_shown(value)}")
    return value


def _per_second(value: object) -> float:
    if type(value) not in (int, float) or not 0.1 <= value <= 10:  # type: ignore[operator]  # a number here
        raise BadRequestError(f"per_second must be a number from 0.1 to 10, got {_shown(value)}")
    return float(value)  # type: ignore[arg-type]  # a number, checked above


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


_PARSERS: Mapping[str, Callable[[Mapping[str, object]], Request]] = {
    "hello": lambda fields: Hello(_row("cursor", fields.get("cursor", 0)), _epoch(fields.get("epoch"))),
    "resync": lambda fields: Resync(_row("cursor", fields.get("cursor"))),
    "rate": lambda fields: Rate(_per_second(fields.get("per_second"))),
    "renew": lambda _: Renew(),
    "stop": lambda fields: _stop(fields.get("run"), fields.get("way")),
    "dependencies": lambda fields: Dependencies(_row("row", fields.get("row"))),
    "save": _save,
    "compare": lambda fields: Compare(*_window(fields)),
    "explain": lambda fields: Explain(*_window(fields)),
    "tell": lambda fields: _tell(fields.get("model"), fields.get("trait"), fields.get("value")),
}
VERBS = tuple(_PARSERS)
