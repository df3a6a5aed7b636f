"""The verbs that a page may send on the control comm: a whitelist, checked before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

FileFormat: TypeAlias = Literal["taskscope", "html", "trace"]

_Fields: TypeAlias = Mapping[str, object]
_MAX_SHOWN = 60
_MAX_ID = 100


class BadRequestError(ValueError):
    """A page sent something that does not exist or makes no sense; the text is for the page."""


def parse_request(data: object) -> tuple[str, tuple[object, ...]]:
    """Return the verb of a request and its checked arguments."""
    fields = data if isinstance(data, Mapping) else {}
    verb = fields.get("verb")
    if not isinstance(verb, str) or verb not in _ARGUMENTS:
        raise BadRequestError(f"unknown verb {_shown(verb)}; known are {', '.join(VERBS)}")
    return verb, _ARGUMENTS[verb](fields)


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


def _tell(fields: _Fields) -> tuple[object, ...]:
    model, trait, value = fields.get("model"), fields.get("trait"), fields.get("value")
    if not isinstance(model, str) or not 0 < len(model) <= _MAX_ID:
        raise BadRequestError(f"model must be the id of a widget, got {_shown(model)}")
    match trait, value:
        case "selected_key", None | str():
            return model, "selected_key", value
        case "follow", bool():
            return model, "follow", value
        case "time_range", None:
            return model, "time_range", None
        case "time_range", [int() | float() as start, int() | float() as stop] if start < stop:
            return model, "time_range", [float(start), float(stop)]
        case "function", None | [str(), str(), int()]:
            return model, "function", value
    raise BadRequestError(
        "a page may set selected_key (a text or null), follow (true or false), time_range (two numbers,"
        " the smaller one first, or null) and function (name, file and line, or null);"
        f" got {_shown(trait)} {_shown(value)}"
    )


def _stop(fields: _Fields) -> tuple[int, object]:
    number, way = _run("run", fields.get("run")), fields.get("way")
    if way not in ("interrupt", "cancel"):
        raise BadRequestError(f"way must be interrupt or cancel, got {_shown(way)}")
    return number, way


def _run(name: str, value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise BadRequestError(f"{name} must be the number of a compute from 0, got {_shown(value)}")
    return value


def _window(fields: _Fields) -> tuple[int, int | None]:
    first, last = _run("first_run", fields.get("first_run")), fields.get("last_run")
    return first, None if last is None else _run("last_run", last)


def _save(fields: _Fields) -> tuple[object, ...]:
    for format_ in get_args(FileFormat):
        if fields.get("format") == format_:
            return *_window(fields), format_
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


_ARGUMENTS: Mapping[str, Callable[[_Fields], tuple[object, ...]]] = {
    "hello": lambda fields: (_row("cursor", fields.get("cursor", 0)), _epoch(fields.get("epoch"))),
    "resync": lambda fields: (_row("cursor", fields.get("cursor")),),
    "rate": lambda fields: (_per_second(fields.get("per_second")),),
    "renew": lambda _: (),
    "stop": _stop,
    "dependencies": lambda fields: (_row("row", fields.get("row")),),
    "save": _save,
    "compare": _window,
    "explain": _window,
    "profile": _window,
    "tell": _tell,
}
VERBS = tuple(_ARGUMENTS)
