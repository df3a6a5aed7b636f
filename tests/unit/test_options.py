from __future__ import annotations

import subprocess
import sys
from functools import lru_cache, partial, wraps
from typing import Any

import dask
import pytest

import taskscope
from docs.options import PAGE, page
from taskscope.errors import OptionError
from taskscope.options import Options, ProfileOptions, code_of, functions_named


def test_the_page_of_options_is_what_they_declare() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m docs.options"


def test_profile_refuses_what_it_does_not_know() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'lable'"):
        taskscope.profile(lable="x")  # type: ignore[call-arg]  # that is the point


def test_the_declaration_is_read_without_what_takes_long_to_import() -> None:
    code = (
        "import sys; from taskscope.cli import _parser; _parser();"
        " print(sorted({'dask', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


@pytest.mark.parametrize(
    ("given", "functions"),
    [(False, None), (True, ()), ("f", ("f",)), (page, (page,)), (["f", page], ("f", page)), ([], ())],
)
def test_functions_named_are_one_or_several_or_those_that_took_longest(given: Any, functions: Any) -> None:
    assert functions_named(given) == functions


@pytest.mark.parametrize("given", [None, 3, "", ["f", 3]])
def test_what_is_no_function_is_not_shown(given: Any) -> None:
    with pytest.raises(OptionError, match=r"^lines must be True, False, or functions or their names"):
        taskscope.profile(lines=given)


@pytest.mark.parametrize("given", [len, str, ProfileOptions, ["f", max]])
def test_what_has_no_lines_is_refused_before_anything_runs(given: Any) -> None:
    with pytest.raises(OptionError, match=r"functions written in C, and classes, have no lines; of a class"):
        taskscope.profile(lines=given)


class Model:
    def fit(self) -> None:
        """Be a method."""

    def __call__(self) -> None:
        """Be called."""

    @staticmethod
    def load() -> None:
        """Be static."""


def decorated(function: Any) -> Any:
    @wraps(function)
    def around() -> None:
        function()

    return around


def work() -> None:
    """Be a function."""


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (work, "work"),
        (decorated(work), "work"),
        (partial(decorated(work)), "work"),
        (dask.delayed(work), "work"),
        (Model.fit, "Model.fit"),
        (Model().fit, "Model.fit"),
        (Model(), "Model.__call__"),
        (Model.load, "Model.load"),
        (Model.__dict__["load"], "Model.load"),
        (lambda: None, "<lambda>"),
        (lru_cache(work), "work"),
    ],
)
def test_the_code_of_a_function_is_found_below_what_is_around_it(function: Any, name: str) -> None:
    code = code_of(function)
    assert code is not None
    assert code.co_qualname == name


@pytest.mark.parametrize(
    ("given", "at_once"),
    [
        ({}, False),
        ({"save": ("a.taskscope", "b.html")}, False),
        ({"save": ("a.taskscope", "b.TXT")}, True),
        ({"lines": True}, True),
        ({"lines": "f"}, True),
    ],
)
def test_short_computes_are_sampled_where_lines_are_asked_for(given: Any, at_once: Any) -> None:
    assert (ProfileOptions(**given).samples_at_once, Options().samples_at_once) == (at_once, False)
