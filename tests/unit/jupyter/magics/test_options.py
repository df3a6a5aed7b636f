from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.error import UsageError

from taskscope.jupyter.magics.magic import ProfileMagics
from taskscope.jupyter.magics.options import MagicOptions, parse_options, split_statement
from taskscope.profiling import BlockOptions

PARSER = ProfileMagics.profile.parser


def test_without_options_there_are_the_defaults() -> None:
    assert parse_options(PARSER, "", {}) == MagicOptions(BlockOptions(), None)


def test_all_options(tmp_path: Path) -> None:
    dump, text = str(tmp_path / "a b.taskscope"), str(tmp_path / "a.txt")
    line = (
        f"""-o run -D "{dump}" -T {text} -q --label 'rechunk 2' --dt=0.1 --metric nbytes"""
        " --no-stacks --panel dock --memory"
    )
    assert parse_options(PARSER, line, {}) == MagicOptions(
        BlockOptions(
            label="rechunk 2",
            dt=0.1,
            metric="nbytes",
            display=False,
            save=(dump, text),
            stacks=False,
            panel="dock",
            memory=True,
        ),
        "run",
    )


def test_a_metric_may_be_a_function_of_the_user() -> None:
    assert parse_options(PARSER, "--metric len", {"len": len}).block.metric is len


def test_functions_whose_lines_are_shown_are_those_of_the_user_or_names() -> None:
    def work() -> None:
        """Be a function."""

    class Model:
        fit = work

    known = {"work": work, "Model": Model}
    line = "--lines work Model.fit elsewhere Model.none -q"
    assert parse_options(PARSER, line, known).block.lines == [*(work, work, "elsewhere", "Model.none")]
    assert parse_options(PARSER, "--lines", known).block.lines is True
    assert parse_options(PARSER, "-q", known).block.lines is False


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--dt -1", "dt must be a positive number of seconds, got -1"),
        ("--dt 0", "dt must be a positive number of seconds, got 0"),
        ("--dt nan", "dt must be a positive number of seconds, got nan"),
        ("--dt soon", "dt must be a positive number of seconds, got 'soon'"),
        ("--lable x", "unknown option '--lable'; did you mean '--label'?"),
        ("run", "unknown option 'run'"),
        ("--lines size", "what is written in C, and classes, have no lines"),
        ("--metric nbyte", "unknown metric 'nbyte'; did you mean 'nbytes'?"),
        ("-D /no/such/a.txt", "the directory '/no/such' does not exist; make it first"),
        ("-D a.htm", "did you mean '.html'?"),
        ("-o 1x", "-o needs a variable name, got '1x'"),
        ("--label 'x", 'cannot read "--label \'x": No closing quotation'),
        ("-o", "expected one argument"),
        ("--panel docked", "panel must be 'inline' or 'dock', got 'docked'; did you mean 'dock'?"),
        ("--panel right", "panel must be 'inline' or 'dock', got 'right'"),
    ],
)
def test_what_cannot_work_is_named_with_what_would(line: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_options(PARSER, line, {"size": len})
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("f('a  b', -1)", ("", "f('a  b', -1)")),
        ("-q f(x)", ("-q", "f(x)")),
        ("-q -o run  x = -y", ("-q -o run", "x = -y")),
        ("--label 'a -b' it''s", ("--label 'a -b'", "it''s")),
        ("--dt=0.1 x", ("--dt=0.1", "x")),
        ("--lines f(x)", ("--lines", "f(x)")),
        ("-q", ("-q", "")),
        ("", ("", "")),
    ],
)
def test_the_statement_after_the_options_is_kept_as_written(line: str, parts: tuple[str, str]) -> None:
    assert split_statement(PARSER, line) == parts
