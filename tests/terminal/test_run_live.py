"""``taskscope run --live`` on the screen of a real terminal, tmux: a picture below the script's output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.terminal import COMMAND, Screen
from tests.support.waiting import until

START = """
import dask, os, signal, sys, threading, time
def wait_for(name):
    while not os.path.exists(name): time.sleep(0.02)
def load(i):
    time.sleep(0.001)
    return i
"""
PRINTING = f"""{START}
def clean(i):
    wait_for("shown")
    # In one write, for other threads print, too.
    sys.stdout.write(f"line {{i}}\\n")
    if i % 10 == 0: os.system(f"echo shell {{i}}")
    return i
def last(_): wait_for("go")
print(sys.stdout.isatty(), os.get_terminal_size().columns, sys.argv[1:], __name__)
print("a line without an end", end="", flush=True)
cleaned = [dask.delayed(clean)(dask.delayed(load)(i)) for i in range(40)]
dask.compute(dask.delayed(last)(cleaned), scheduler="threads", num_workers=4)
print("the end")
"""


def live(folder: Path, source: str, width: int = 80, before: str = "") -> Screen:
    (folder / "script.py").write_text(source)
    command = shlex.join([*COMMAND, "run", "--live", "script.py", "--an", "argument"])
    return Screen(folder, f"{before} {command}", width, 24)


def scrolls_whole(screen: Screen) -> bool:
    """Return whether the whole screen scrolls, as before the picture."""
    return screen.run("display-message", "-p", "#{scroll_region_upper} #{scroll_region_lower}") == "0 23\n"


@pytest.mark.parametrize("width", [80, 20])
def test_nothing_that_a_script_prints_while_it_computes_is_lost(width: int, tmp_path: Path) -> None:
    with live(tmp_path, PRINTING, width) as screen:
        shown = screen.shows("script.py · running", "4/40", "0/40", "CPU ", "memory ", "thread 4")
        assert f"True {width} ['--an', 'argument'] __main__" in shown.replace("\n", "")
        assert not scrolls_whole(screen)
        (tmp_path / "shown").touch()
        shown = screen.shows("80 of 81 tasks", "thread 4")
        assert [line for line in shown.splitlines() if len(line) > width] == []
        screen.run("resize-window", "-x", "60", "-y", "30")
        until(lambda: any(re.fullmatch("-{60}", line) for line in screen.text().splitlines()), screen.text)
        (tmp_path / "go").touch()
        screen.shows("status 0")
        output, _, end = screen.text(scrolled=True).partition("the end\n")
    lines = output.replace("a line without an end", "").splitlines()
    own = [f"line {i}" for i in range(40)] + [f"shell {i}" for i in range(0, 40, 10)]
    assert sorted(line for line in lines if re.match("line|shell", line)) == sorted(own)
    # Nothing is left of the picture.
    assert [line for line in lines if "task" in line or "-----" in line or "thread" in line] == []
    assert end.startswith("taskscope · script.py · finished · ")
    assert "waiting: about " in end


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("raise ValueError('mine')", 1, "ValueError: mine"),
        ("os.kill(os.getpid(), signal.SIGTERM)", 143, ""),
        ("os._exit(7)", 7, ""),
    ],
)
def test_however_a_script_ends_the_terminal_is_whole_and_the_status_the_scripts(
    end: str, status: int, said: str, tmp_path: Path
) -> None:
    work = f"{START}\ndef work():\n    wait_for('go')\n    {end}\n"
    with live(tmp_path, f"{work}dask.delayed(work)().compute(scheduler='threads')\n") as screen:
        screen.shows("script.py · running", "0 of 1 tasks")
        (tmp_path / "go").touch()
        screen.shows(f"status {status}", said)
        # A killed process leaves that to another one.
        until(lambda: scrolls_whole(screen) and "-----" not in screen.text(), screen.text)


def test_ctrl_c_reaches_the_script_and_leaves_the_terminal_whole(tmp_path: Path) -> None:
    source = f"""{START}
try:
    dask.delayed(wait_for)("go").compute(scheduler="threads")
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(5)
"""
    with live(tmp_path, source) as screen:
        screen.shows("script.py · running", "0 of 1 tasks")
        screen.run("send-keys", "C-c")
        screen.shows("interrupted", "script.py · interrupted", "cannot say why")
        # Python waits for the pool's thread.
        (tmp_path / "go").touch()
        screen.shows("status 5")
        assert scrolls_whole(screen)
        assert "-----" not in screen.text()


def test_a_script_reads_its_own_input_while_it_computes(tmp_path: Path) -> None:
    source = f"""{START}
thread = threading.Thread(target=lambda: dask.delayed(wait_for)("go").compute(scheduler="threads"))
thread.start()
wait_for("shown")
print("hello", input("name? "))
thread.join()
"""
    with live(tmp_path, source) as screen:
        screen.shows("script.py · running", "0 of 1 tasks")
        (tmp_path / "shown").touch()
        screen.shows("name?")
        screen.run("send-keys", "Ada", "Enter")
        screen.shows("name? Ada\nhello Ada\n", "script.py · running")
        (tmp_path / "go").touch()
        screen.shows("status 0")
        assert screen.text(scrolled=True).startswith(
            "name? Ada\nhello Ada\ntaskscope · script.py · finished · "
        )


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("TERM=dumb", "taskscope: --live needs a terminal on standard error; progress follows as lines"),
        ("PYTHONPATH=without", "live views in a terminal need rich: pip install 'taskscope[terminal]'"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_line(before: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "rich.py").write_text("raise ImportError('no rich')")
    with live(tmp_path, "print('the end')", 100, before) as screen:
        shown = screen.shows("status ")
        assert said in shown
        assert ("the end" in shown, "status 0" in shown) == (before == "TERM=dumb",) * 2


def test_beside_the_bar_each_printed_line_is_whole(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(f"""{START}
def work():
    wait_for("shown")
    for i in range(10): print("line", i)
    print("half a ", end="", flush=True)
    wait_for("go")
    print("line")
dask.delayed(work)().compute(scheduler="threads")
""")
    with Screen(tmp_path, shlex.join([*COMMAND, "run", "script.py"]), 80, 24) as screen:
        screen.shows("script.py · 0 of 1 tasks")
        (tmp_path / "shown").touch()
        screen.shows("line 9", "half a")
        (tmp_path / "go").touch()
        screen.shows("status 0")
        lines = screen.text(scrolled=True).partition("\ntaskscope · ")[0].splitlines()
    assert lines == [*(f"line {i}" for i in range(10)), "half a line"]
