from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.jupyter.feed.feed import MAX_LINKS
from taskscope.jupyter.feed.requests import BadRequestError, parse_page, parse_request


@pytest.mark.parametrize(
    ("request_", "filled_in"),
    [
        ({"verb": "hello"}, {"cursor": 0, "epoch": None}),
        ({"verb": "hello", "cursor": 7, "epoch": "e"}, {}),
        ({"verb": "resync", "cursor": 3}, {}),
        ({"verb": "rate", "per_second": 2}, {}),
        ({"verb": "history", "is_on": True}, {}),
        ({"verb": "renew"}, {}),
        ({"verb": "stop", "run": 3, "way": "cancel"}, {}),
        ({"verb": "dependencies", "row": 12}, {}),
        ({"verb": "save", "first_run": 1, "format": "html"}, {"last_run": None}),
        ({"verb": "save", "first_run": 1, "last_run": 2, "format": "trace"}, {}),
        ({"verb": "compare", "first_run": 1, "last_run": 2}, {}),
        ({"verb": "explain", "first_run": 1, "last_run": None, "start_s": 2}, {"stop_s": None}),
        ({"verb": "story", "first_run": 1, "last_run": 1, "key": "x"}, {}),
        ({"verb": "profile", "first_run": 1}, {"last_run": None}),
        ({"verb": "end_profile"}, {}),
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


def test_pages_and_kernel_tell_of_equally_many_dependencies() -> None:
    sources = (Path(__file__).parents[5] / "labextension" / "src").rglob("*.ts")
    told = [int(n) for source in sources for n in re.findall(r"\bMAX_LINKS = (\w+)", source.read_text())]
    assert told == [MAX_LINKS]
