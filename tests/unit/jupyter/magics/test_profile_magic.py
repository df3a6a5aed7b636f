from __future__ import annotations

from pathlib import Path

import dask
import pytest

import taskscope
from taskscope.recording import Recording
from taskscope.session import current
from tests.support.shell import Shell

COMPUTE = "import dask\nx = dask.delayed(sum)([1, 2]).compute(scheduler='synchronous')\n"


def recorded(shell: Shell, name: str = "run") -> Recording:
    recording = shell[name]
    assert isinstance(recording, Recording)
    return recording


def states(recording: Recording) -> list[tuple[str, str | None, int]]:
    return [(run.status, run.label, run.n_tasks) for run in recording.runs]


def test_a_cell_runs_as_without_the_line(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    result = shell.run(f"%%profile -o run --label 'a b'\n{COMPUTE}x + 1")
    assert (result.result, shell["x"], shell["_"], shell["Out"]) == (4, 3, 4, {1: 4})
    assert states(recorded(shell)) == [("finished", "a b", 1)]
    assert shell.shell.execution_count == 2
    captured = capsys.readouterr()
    assert captured.out.strip() == "Out[1]: 4"
    assert captured.err == recorded(shell).summary() + "\n"


@pytest.mark.parametrize("header", ["%%profile -q -o run\n%%time", "%%time\n%%profile -q -o run"])
def test_it_stacks_with_time_in_both_orders(
    shell: Shell, header: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = shell.run(f"{header}\n{COMPUTE}x + 1")
    assert (result.result, states(recorded(shell))) == (4, [("finished", None, 1)])
    assert "Wall time" in capsys.readouterr().out


def test_a_cell_may_await(shell: Shell) -> None:
    result = shell.run("%%profile -q -o run\nimport asyncio\nx = await asyncio.sleep(0, 41)\nx + 1")
    assert (result.result, states(recorded(shell))) == (42, [])


def test_future_imports_may_come_first(shell: Shell) -> None:
    assert shell.run("%%profile -q\nfrom __future__ import annotations\n7").result == 7


def test_a_syntax_error_is_that_of_the_cell(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    result = shell.run("%%profile -o run\nx = 1\ndef f(:")
    assert isinstance(result.error_before_exec, SyntaxError)
    assert (result.error_before_exec.lineno, "x" in shell, "run" in shell) == (3, False, False)


def test_an_exception_is_the_cells_own_and_the_summary_names_it(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run("def fail():\n    raise ValueError('no')\nerror = None")
    cell = "import dask\ndask.delayed(fail)().compute(scheduler='synchronous')"
    bare, ours = shell.run(cell), shell.run(f"%%profile -o run\n{cell}")
    assert type(ours.error_in_exec) is type(bare.error_in_exec) is ValueError
    captured = capsys.readouterr()
    assert "magics" not in captured.out
    assert "  error: ValueError: no" in captured.err.splitlines()
    assert states(recorded(shell)) == [("erred", None, 1)]


def test_an_error_outside_of_dask_is_named_too(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run("%%profile\n1 / 0")
    assert "  error: ZeroDivisionError: division by zero" in capsys.readouterr().err.splitlines()


def test_an_interrupt_is_never_held_back(shell: Shell) -> None:
    result = shell.run("%%profile -q -o run\nraise KeyboardInterrupt")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert (
        recorded(shell).summary().splitlines()[0] == "taskscope · interrupted · no Dask computation ran here"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--dt -1", "dt must be a positive number of seconds, got -1"),
        ("--dt soon", "dt must be a positive number of seconds, got 'soon'"),
        ("--lable x", "unknown option '--lable'; did you mean '--label'?"),
        ("run", "unknown option 'run'"),
        ("--lines len", "functions written in C, and classes, have no lines"),
        ("--metric nbyte", "unknown metric 'nbyte'; did you mean 'nbytes'?"),
        ("-D /no/such/a.txt", "the directory '/no/such' does not exist; make it first"),
        ("-D a.htm", "did you mean '.html'?"),
        ("-o 1x", "-o needs a variable name, got '1x'"),
        ("--label 'x", 'cannot read "--label \'x": No closing quotation'),
        ("-o", "expected one argument"),
        ("--panel docked", "panel must be 'inline' or 'dock', got 'docked'; did you mean 'dock'?"),
    ],
)
def test_an_option_that_cannot_work_is_told_with_what_would_before_the_cell_runs(
    shell: Shell, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    shell.run("len = len")
    assert not shell.run(f"%%profile {line}\nx = 1").success
    told = capsys.readouterr().err
    assert (told.startswith("UsageError: "), message in told, "x" in shell) == (True, True, False)


@pytest.mark.parametrize(
    ("cell", "result"),
    [
        ("%%profile -q\n'''\n  %%profile '''", "\n  %%profile "),
        ("'%%profiled'", "%%profiled"),
        ("'%%profile\\nx'", "%%profile\nx"),
        ("%%profile -q\nawaited = [i async for i in numbers()]\nawaited", [1, 2]),
    ],
)
def test_only_the_line_itself_is_taken(shell: Shell, cell: str, result: object) -> None:
    shell.run("async def numbers():\n    yield 1\n    yield 2")
    assert shell.run(cell).result == result


def test_a_metric_and_lines_may_be_functions_of_the_user(shell: Shell) -> None:
    shell.run("def rows(result):\n    return 2.5\nclass Model:\n    fit = rows")
    shell.run(f"%%profile -q -o run --metric rows --lines rows Model.fit\n{COMPUTE}")
    assert recorded(shell).to_pandas("cache")["metric"].tolist() == [2.5]


def test_files_are_written_when_the_cell_ends(shell: Shell, tmp_path: Path) -> None:
    shell.run(f"%%profile -q -D {tmp_path}/a.taskscope -T {tmp_path}/a.txt\n{COMPUTE}")
    loaded = taskscope.load(tmp_path / "a.taskscope")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == loaded.summary() + "\n"


def test_a_cell_that_would_replace_a_file_is_refused_before_it_runs(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("of yesterday")
    assert not shell.run(f"%%profile -q -D {path}\nran = True\n{COMPUTE}").success
    assert capsys.readouterr().err == (
        f"UsageError: %%profile: cannot write {str(path)!r}: a file of that name exists;"
        " add --overwrite to replace it\n"
    )
    assert ("ran" in shell, path.read_text()) == (False, "of yesterday")
    shell.run(f"%%profile -q --overwrite -D {path}\n{COMPUTE}")
    assert path.read_text(encoding="utf-8").startswith("taskscope · ")


def test_the_line_form_returns_the_value_and_binds_names(shell: Shell) -> None:
    shell.run(COMPUTE)
    shell.run("y = %profile -q -o run dask.delayed(sum)([x,  4]).compute(scheduler='synchronous')")
    shell.run("%profile -q z = 'a  b'")
    assert (shell["y"], shell["z"], states(recorded(shell))) == (7, "a  b", [("finished", None, 1)])


def test_the_line_form_raises_what_the_statement_raised(shell: Shell) -> None:
    assert isinstance(shell.run("%profile -q 1 / 0").error_in_exec, ZeroDivisionError)


def test_the_line_form_needs_a_statement(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run("%profile -q")
    assert capsys.readouterr().err.startswith("UsageError: %profile needs a statement")


def test_run_cell_magic_works_from_code(shell: Shell) -> None:
    shell.run(f"get_ipython().run_cell_magic('profile', '-q -o run', {COMPUTE!r})")
    assert states(recorded(shell)) == [("finished", None, 1)]


def test_a_cell_inside_of_a_cell_is_a_block_of_its_own(shell: Shell) -> None:
    inner = f"%%profile -q -o inner\n{COMPUTE}"
    shell.run(f"%%profile -q -o run\n{COMPUTE}\nget_ipython().run_cell({inner!r})\n{COMPUTE}")
    assert (len(recorded(shell, "inner").runs), len(recorded(shell).runs)) == (1, 3)


def test_help_names_every_option(shell: Shell) -> None:
    text = shell.shell.find_magic("profile", "cell").__doc__
    missing = [o for o in ("-o", "-D", "-T", "-q", "--label", "--dt", "--metric") if o not in text]
    assert missing == []


def test_an_unfinished_cell_is_not_run_by_the_terminal(shell: Shell) -> None:
    assert shell.shell.check_complete("%%profile\nx = 1")[0] == "incomplete"


def test_unloading_inside_of_a_profiled_cell_ends_its_block(shell: Shell) -> None:
    shell.run(f"%%profile -q -o run\n{COMPUTE}%unload_ext taskscope")
    assert states(recorded(shell)) == [("finished", None, 1)]


def test_loading_adds_no_output_to_a_notebook(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run("%unload_ext taskscope\n%load_ext taskscope")
    assert current().held
    assert capsys.readouterr() == ("", "")


def test_loading_watches_and_unloading_leaves_nothing(shell: Shell) -> None:
    plain = shell.shell
    before = (len(plain.ast_transformers), len(plain.input_transformers_cleanup))
    taskscope.load_ipython_extension(plain)
    assert (len(plain.ast_transformers), len(plain.input_transformers_cleanup)) == before
    assert current().held
    taskscope.unload_ipython_extension(plain)
    assert (len(plain.ast_transformers), len(plain.input_transformers_cleanup)) == (
        before[0] - 1,
        before[1] - 1,
    )
    assert (current().held, "profile" in plain.magics_manager.magics["cell"]) == (False, False)
    assert dask.delayed(sum)([1]).compute(scheduler="synchronous") == 1
    taskscope.unload_ipython_extension(plain)


def test_the_package_has_its_name_in_the_next_cell_and_never_takes_one(shell: Shell) -> None:
    plain = shell.shell
    assert (plain.user_ns["taskscope"], "taskscope" in plain.run_line_magic("who_ls", "")) == (
        taskscope,
        False,
    )
    taskscope.unload_ipython_extension(plain)
    assert "taskscope" not in plain.user_ns
    plain.user_ns["taskscope"] = "theirs"
    taskscope.load_ipython_extension(plain)
    taskscope.unload_ipython_extension(plain)
    assert plain.user_ns["taskscope"] == "theirs"


SAMPLED = """
import dask, time
from taskscope.session import current
def n_samples():
    rows = current().recorder.stacks.between(0, None).rows
    return rows.count[rows.run >= 0].sum()  # not of the thread of the cell, before it computes
def work(n):
    while n_samples() < n:
        time.sleep(0.001)
    if fails:
        raise ValueError("mine")
    return 7
"""


def test_lines_are_shown_below_the_summary_also_after_a_failure(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run(SAMPLED)
    compute = "dask.delayed(work)(n_samples() + 5).compute(scheduler='threads')"
    found = []
    for fails in (False, True, False):
        shell.run(f"fails = {fails}")
        capsys.readouterr()
        result = shell.run(f"%%profile -o run --lines work wrok\n{compute}")
        assert (result.result, type(result.error_in_exec)) == (
            (None, ValueError) if fails else (7, type(None))
        )
        found.append(capsys.readouterr().err)
        text = str(recorded(shell).lines(function=shell["work"]))
        assert f"{text}\n\nunknown function 'wrok'; did you mean 'work'?" in found[-1]
    assert ["        time.sleep(0.001)" in text for text in found] == [True] * 3


def test_lines_are_shown_of_a_named_function_and_in_silence_not_at_all(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run(f"{SAMPLED}\nfails = False")
    capsys.readouterr()
    shell.run("%%profile --lines work\ndask.delayed(work)(n_samples() + 5).compute(scheduler='threads')")
    assert "work · " in capsys.readouterr().err
    shell.run(f"%%profile -q --lines\n{COMPUTE}")
    assert capsys.readouterr().err == ""
