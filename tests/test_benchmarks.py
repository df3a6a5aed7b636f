"""How `make bench` runs and keeps measurements; what it measures is not tested, for speed never is."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import psutil
import pytest

from benchmarks.harness import Table, spread
from benchmarks.process import Ended, run, stop
from benchmarks.results import finished, replaced, section
from benchmarks.sections import SECTIONS

ORDER = ["first", "second", "third"]


def program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_a_section_takes_its_place_and_leaves_the_others_as_they_are() -> None:
    text = replaced("", "second", "old", ORDER)
    text = replaced(text, "third", "| 3 |\n\n### not a section", ORDER)
    text = replaced(text, "second", "new", ORDER)
    assert text.endswith(
        "\nNot measured yet: first.\n\n## second\n\nnew\n\n## third\n\n| 3 |\n\n### not a section\n"
    )
    assert text.count("# Results of") == 1
    assert "Not measured yet" not in replaced(text, "first", "1", ORDER)


def test_a_section_that_failed_keeps_what_it_measured_names_its_fault_and_is_measured_again() -> None:
    good = section("python -m benchmarks first", "Today.", "| 1 |\n", "")
    bad = section("python -m benchmarks second", "Today.", "| 2 |\n", "ended with status 1\nOops")
    assert good == "`python -m benchmarks first`. Today.\n\n| 1 |"
    assert bad.endswith("| 2 |\n\n**Did not finish:**\n\n    ended with status 1\n    Oops")
    text = replaced(replaced("", "first", good, ORDER), "second", bad, ORDER)
    assert finished(text) == {"first"}


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
    module = SECTIONS[name].arguments.split()[0]
    assert find_spec(module) is not None


def test_a_table_is_markdown_with_its_note() -> None:
    table = Table("Title", ["a", "b"], [["1", spread([1.0, 3.0, 2.0])]], "Note.")
    expected = "### Title\n\n| a | b |\n| --- | --- |\n| 1 | 2.00 (1.00 to 3.00) |\n\nNote.\n"
    assert list(table.lines()) == expected.split("\n")
