from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.jupyter.feed.control import MAX_LINKS
from taskscope.jupyter.feed.requests import BadRequestError, parse_page, parse_request


@pytest.mark.parametrize(
    ("request_", "filled_in"),
    [
        ({"verb": "hello"}, {"cursor": 0, "epoch": None}),
        ({"verb": "hello", "cursor": 7, "epoch": "e"}, {}),
        ({"verb": "resync", "cursor": 3}, {}),
        ({"verb": "rate", "per_second": 2}, {}),
        ({"verb": "renew"}, {}),
        ({"verb": "stop", "run": 3, "way": "cancel"}, {}),
        ({"verb": "dependencies", "row": 12}, {}),
        ({"verb": "save", "first_run": 1, "format": "html"}, {"last_run": None}),
        ({"verb": "save", "first_run": 1, "last_run": 2, "format": "trace"}, {}),
        ({"verb": "compare", "first_run": 1, "last_run": 2}, {}),
        ({"verb": "explain", "first_run": 1, "last_run": None}, {}),
        ({"verb": "tell", "model": "m", "trait": "selected_key", "value": "x"}, {}),
        ({"verb": "tell", "model": "m", "trait": "follow", "value": False}, {}),
        ({"verb": "tell", "model": "m", "trait": "time_range", "value": [1, 2.5]}, {}),
        ({"verb": "tell", "model": "m", "trait": "function", "value": ["f", "f.py", 3]}, {}),
        ({"verb": "tell", "model": "m", "trait": "function", "value": None}, {}),
    ],
)
def test_a_request_has_its_fields_and_no_others(
    request_: dict[str, object], filled_in: dict[str, object]
) -> None:
    assert parse_request({**request_, "extra": [1]}) == (
        request_["verb"],
        {**{name: value for name, value in request_.items() if name != "verb"}, **filled_in},
    )


KNOWN = "hello, resync, rate, renew, stop, dependencies, save, compare, explain, profile, tell"
MAY_TELL = (
    "a page may set selected_key (a text or null), follow (true or false), time_range (two numbers, the"
    " smaller one first, or null) and function (name, file and line, or null); got"
)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"verb": "rm -rf"}, f"unknown verb 'rm -rf'; known are {KNOWN}"),
        (None, f"unknown verb None; known are {KNOWN}"),
        ({"verb": "dependencies", "row": "3"}, "row must be a row number from 0, got '3'"),
        ({"verb": "tell", "trait": "follow"}, "model must be the id of a widget, got None"),
        ({"verb": "tell", "model": "m", "trait": "layout", "value": {}}, f"{MAY_TELL} 'layout' {{}}"),
        (
            {"verb": "tell", "model": "m", "trait": "time_range", "value": [2, 1]},
            f"{MAY_TELL} 'time_range' [2, 1]",
        ),
        (
            {"verb": "tell", "model": "m", "trait": "function", "value": ["f", "f.py"]},
            f"{MAY_TELL} 'function' ['f', 'f.py']",
        ),
        ({"verb": "stop"}, "run must be the number of a compute from 0, got None"),
        ({"verb": "stop", "run": 1, "way": "kill"}, "way must be interrupt or cancel, got 'kill'"),
        (
            {"verb": "save", "first_run": 0, "format": "../x"},
            "format must be one of taskscope, html, trace, got '../x'",
        ),
        (
            {"verb": "save", "first_run": "0", "format": "html"},
            "first_run must be the number of a compute from 0, got '0'",
        ),
        ({"verb": "compare"}, "first_run must be the number of a compute from 0, got None"),
        (
            {"verb": "compare", "first_run": 0, "last_run": -1},
            "last_run must be the number of a compute from 0, got -1",
        ),
        ({"verb": "resync"}, "cursor must be a row number from 0, got None"),
        ({"verb": "resync", "cursor": True}, "cursor must be a row number from 0, got True"),
        ({"verb": "hello", "cursor": -1}, "cursor must be a row number from 0, got -1"),
        ({"verb": "hello", "epoch": {}}, "epoch must be a text, got {}"),
        ({"verb": "rate", "per_second": 1000}, "per_second must be a number from 0.1 to 10, got 1000"),
        ({"verb": "rate", "per_second": math.nan}, "per_second must be a number from 0.1 to 10, got nan"),
    ],
)
def test_what_cannot_be_done_is_said_clearly(data: object, error: str) -> None:
    with pytest.raises(BadRequestError) as caught:
        parse_request(data)
    assert str(caught.value) == error


def refusal(parse: Callable[[], object]) -> bytes:
    try:
        parse()
    except BadRequestError as error:
        return str(error).encode()
    return b""


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("hello"),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["verb", "cursor", "epoch"]) | st.text(), inner)
    ),
    max_leaves=8,
)


@given(anything)
def test_anything_is_either_a_request_or_a_short_clear_refusal(data: object) -> None:
    for parse in (parse_request, parse_page):
        assert len(refusal(partial(parse, data))) < 250


def test_another_protocol_is_refused() -> None:
    with pytest.raises(BadRequestError, match="protocol must be 1, got 2; reload the page"):
        parse_page({"protocol": 2, "page": "p"})


def test_pages_and_kernel_tell_of_equally_many_dependencies() -> None:
    sources = (Path(__file__).parents[5] / "labextension" / "src").rglob("*.ts")
    told = [int(n) for source in sources for n in re.findall(r"\bMAX_LINKS = (\w+)", source.read_text())]
    assert told == [MAX_LINKS]
