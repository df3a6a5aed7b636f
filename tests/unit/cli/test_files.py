from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import taskscope
from taskscope.analysis.display import page_tables
from taskscope.cli import main
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "run.taskscope"
    recording_of([Row(key=("inc-1", 0)), Row(key="a\x1b[31m")], metadata={"dask": "2026.8"}).save(path)
    return path


def test_info_prints_summary_tables_and_facts(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(saved)]) == 0
    text = capsys.readouterr().out
    assert text.startswith(taskscope.load(saved).summary())
    assert "  started at  2026-01-02T03:04:05+00:00\n" in text
    assert "  runs                  1 row\n  tasks                 2 rows\n" in text
    assert "  dask: 2026.8\n" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("to", "name", "beginning"),
    [
        ("html", "run.html", "<!DOCTYPE html>"),
        ("txt", "run.txt", "taskscope"),
        ("json", "run.json", '{"started_at"'),
        ("perfetto", "run.pftrace", "\n"),
        ("csv", "run-csv/tasks.csv", "run,key"),
    ],
)
def test_export_writes_beside_the_file(
    to: str, name: str, beginning: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(saved), "--to", to]) == 0
    assert (saved.parent / name).read_bytes().startswith(beginning.encode())
    assert capsys.readouterr().out.startswith(str(saved.parent / Path(name).parts[0]))


def test_export_asks_before_it_replaces_and_redacts_on_request(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = saved.parent / "out.json"
    target.write_text("mine")
    command = ["export", str(saved), "--to", "json", str(target), "--redact"]
    assert main(command) == 1
    assert "add --overwrite to replace it" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0
    assert json.loads(target.read_text(encoding="utf-8"))["tasks"]["key"] == ["('name-1', 0)", "name-3"]


def test_view_opens_a_page(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []

    def open_page(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", open_page)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["view", str(saved)]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert opened == [page.as_uri()]
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert page.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("problem", ["it ends within part 4", "part 4 is damaged"])
@pytest.mark.parametrize("command", ["info", "explain"])
def test_a_damaged_file_is_said_and_its_sound_part_taken_on_request(
    command: str,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(page_tables, "_LEAST_PART", 1)
    path = tmp_path / "b.taskscope"
    recording_of([Row(key=("inc-1", 0)), Row(key="a")]).save(path)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content if "damaged" in problem else content[: len(content) * 98 // 100])
    assert main([command, str(path)]) == 1
    way_out = "partial=True (--partial) reads the parts before it"
    assert capsys.readouterr().err == f"taskscope: cannot load {str(path)!r}: {problem}; {way_out}\n"
    assert main([command, "--partial", str(path)]) == 0
    expected = {
        "info": f"warning: this file is not complete: {problem}; what follows after that is missing; unknown",
        "explain": "because 1 task of compute 0 has no row in this file, which is not complete",
    }
    assert expected[command] in capsys.readouterr().out


def python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_version_and_help_are_there_by_the_module_too_and_import_nothing_heavy() -> None:
    assert python("-m", "taskscope", "--version") == f"taskscope {taskscope.__version__}\n"
    assert python("-m", "taskscope", "--help").startswith("usage: taskscope [-h] [--version] COMMAND ...\n")
    code = (
        "import contextlib, sys\nfrom taskscope.cli import main\n"
        "with contextlib.suppress(SystemExit): main(['--version'])\n"
        "print(sorted({'dask', 'numpy', 'distributed', 'IPython', 'ipywidgets', 'bokeh'} & set(sys.modules)))"
    )
    assert python("-c", code).splitlines()[1:] == ["[]"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["export", "{}", "out.htm"], "'out.htm': its ending '.htm' is not one of .taskscope, "),
        (["export", "{}", "out"], "'out': it has no ending that is one of .taskscope, "),
        (["export", "{}"], "taskscope: name a file to write, or a format: --to html, "),
        (["export", "{}", "--to", "htlm"], "--to: unknown value 'htlm'; did you mean 'html'? Known: "),
        (["export", "{}", "--redcat"], "unknown option '--redcat'; did you mean '--redact'? Known: "),
        (["explain", "{}", "b"], "'b' is one argument too many: taskscope explain takes FILE and options"),
        (["compare", "a", "b", "c"], "takes BEFORE AFTER and options"),
        (["explian", "{}"], "unknown value 'explian'; did you mean 'explain'? Known: "),
    ],
)
def test_what_cannot_be_meant_is_named_with_what_was_expected(
    arguments: list[str], expected: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.suppress(SystemExit):
        assert main([argument.format(saved) for argument in arguments]) == 1
    said = capsys.readouterr().err
    assert expected in said
    assert said.startswith(("taskscope: ", f"usage: taskscope {arguments[0]} ", "usage: taskscope [-h]"))


def test_explain_prints_findings_as_text_and_as_json(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = taskscope.load(saved).explain()
    assert main(["explain", str(saved)]) == 0
    assert capsys.readouterr().out == f"{found}\n"
    assert main(["explain", "--json", str(saved)]) == 0
    assert json.loads(capsys.readouterr().out) == found.to_dict()
