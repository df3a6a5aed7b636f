"""How `make bench` runs and keeps measurements; what it measures is not tested, for speed never is."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

import benchmarks
from benchmarks.goals import Goal, missed, tables
from benchmarks.harness import Table, spread
from benchmarks.process import Ended, run, stop
from benchmarks.results import commits, finished, replaced, section, sections
from benchmarks.sections import SECTIONS

ORDER = ["first", "second", "third"]
BENCHMARKS = Path(benchmarks.__path__[0])
RESULTS = (BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8")
ROOT = BENCHMARKS.parent
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_a_section_takes_its_place_and_leaves_the_others_as_they_are() -> None:
    text = replaced("", "second", "old", ORDER)
    text = replaced(text, "third", "| 3 |\n\n### not a section", ORDER)
    text = replaced(text, "second", "new", ORDER)
    assert text.endswith("\n\n## second\n\nnew\n\n## third\n\n| 3 |\n\n### not a section\n")
    assert "\nNot measured yet: first.\n" in text
    assert text.count("# Results of") == 1
    assert "Not measured yet" not in replaced(text, "first", "1", ORDER)


def test_a_section_that_failed_keeps_what_it_measured_names_its_fault_and_is_measured_again() -> None:
    good = section("first", "1a2b3c4d", "Today.", "| 1 |\n", "")
    bad = section("second", "1a2b3c4d + changes", "Today.", "| 2 |\n", "ended with status 1\nOops")
    assert good == "`python -m benchmarks first` at `1a2b3c4d`. Today.\n\n| 1 |"
    assert bad.endswith("| 2 |\n\n**Did not finish:**\n\n    ended with status 1\n    Oops")
    text = replaced(replaced("", "first", good, ORDER), "second", bad, ORDER)
    assert finished(text) == {"first"}
    assert commits(text) == {"first": "1a2b3c4d", "second": "1a2b3c4d + changes"}


def test_a_command_that_ends_gives_its_output_and_one_that_fails_what_it_said() -> None:
    assert run(program("print('one'); print('two')"), limit_s=60) == Ended("one\ntwo\n")
    failed = run(program("print('one'); raise SystemExit('no such luck')"), limit_s=60)
    assert failed == Ended("one\n", "ended with status 1\nno such luck")


def test_a_command_that_hangs_is_stopped() -> None:
    ended = run(program("import time; time.sleep(600)"), limit_s=0.5)
    assert (ended.output, ended.fault.splitlines()[0]) == ("", "stopped after 0.5 s")


def test_stopping_ends_all_that_a_command_started() -> None:
    child = "import time; time.sleep(600)"
    parent = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(program(parent), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        started = psutil.Process(int(process.stdout.readline()))
        stop(process, grace_s=0.1)
    started.wait(30)
    assert not started.is_running()


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_is_a_module_that_is_there(name: str) -> None:
    modules = [arguments.split()[0] for arguments in SECTIONS[name].arguments]
    assert all(find_spec(module) is not None for module in modules)


def test_all_sections_together_take_less_than_an_hour() -> None:
    assert sum(one.budget_s for one in SECTIONS.values()) <= 55 * 60


def test_what_is_worse_than_asked_for_is_listed_with_its_reason() -> None:
    body = (
        "### Frames of the cache\n\n| chart | zooming, ms |\n| --- | --- |\n| cache | 5.7 (5.2) / 7.0 |\n"
        "| workers | 2.0 / 1,017.0 |\n"
    )
    goal = Goal("frontend", "Frames of", "", "zooming", at_most=16, part=1, why="It is slow.")
    worse = missed({"frontend": body}, [goal])
    assert list(worse.rows) == [
        ("frontend", "workers: zooming, ms", "2.0 / 1,017.0", "≤ 16", "It is slow."),
    ]


def test_a_goal_beside_a_peer_is_reached_by_less_than_the_peer_takes() -> None:
    body = (
        "### A\n\n| graph | dask, µs | ours, µs |\n| --- | --- | --- |\n| tree | 4.0 (3.9 to 4.1) | 2.1 |\n"
    )
    goal = Goal("s", "A", "tree", "ours", times=0.5, peer="dask", why="Why.")
    assert list(missed({"s": body}, [goal]).rows) == [("s", "tree: ours, µs", "2.1", "≤ 0.5 × 4", "Why.")]
    assert list(missed({"s": body.replace("2.1", "1.9")}, [goal]).rows) == []


def test_a_goal_whose_row_is_not_there_is_not_taken_for_reached() -> None:
    goal = Goal("s", "Gone", "tree", "ours", at_most=1.0)
    assert list(missed({"s": "### A\n"}, [goal]).rows) == [("s", "Gone: ours", "not measured", "≤ 1", "")]


def test_results_are_of_sections_and_tables_that_are_there_measured_to_the_end_on_one_commit() -> None:
    """Missing sections are named at the top; results of before sections had commits may have any tables."""
    of_commit = commits(RESULTS)
    assert list(of_commit) == [name for name in SECTIONS if name in of_commit]
    assert finished(RESULTS) == set(of_commit)
    assert len(set(of_commit.values())) == 1
    if "" not in of_commit.values():
        missing = [name for name in SECTIONS if name not in of_commit]
        assert not missing or f"Not measured yet: {', '.join(missing)}." in RESULTS
        code = "".join(file.read_text(encoding="utf-8") for file in BENCHMARKS.rglob("*.py"))
        titles = [title for body in sections(RESULTS).values() for title in tables(body)]
        assert [title for title in titles if re.split(r"[\d,]", title)[0] not in code] == []


def test_figures_that_a_page_quotes_are_in_the_section_that_it_links_and_commands_are_sections() -> None:
    """A figure is quoted as the text of a link: ``[0.5 µs](benchmarks/RESULTS.md#overhead)``."""
    held, wrong = sections(RESULTS), []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for words, name in re.findall(r"\[([^\]]*)\]\([^)]*RESULTS\.md#([\w-]+)\)", text):
            figures = re.findall(r"\d[\d,.]*\d|\d", words)
            if name not in SECTIONS or not all(figure in held.get(name, "") for figure in figures):
                wrong.append((page.name, words, name))
        for names in re.findall(r"`python -m benchmarks ([^`]+)`", text):
            wrong += [(page.name, "command", n) for n in names.split() if n not in {*SECTIONS, "NAME"}]
    assert wrong == []


def test_a_table_is_markdown_with_its_note() -> None:
    table = Table("Title", ["a", "b"], [["1", spread([1.0, 3.0, 2.0])]], "Note.")
    expected = "### Title\n\n| a | b |\n| --- | --- |\n| 1 | 2.00 (1.00 to 3.00) |\n\nNote.\n"
    assert list(table.lines()) == expected.split("\n")
