"""A script that is profiled does what it does without taskscope; output and exit status stay its own."""

from __future__ import annotations

import logging
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
import pytest

import taskscope
from tests.support.waiting import PATIENCE_S

SCRIPT = """
import sys, dask
print("args", sys.argv[1:], __name__)
print("sum", dask.delayed(sum)([1, 2, 3]).compute(scheduler="threads"))
"""


TASKSCOPE = str(Path(sys.executable).with_name("taskscope"))
"""The command as pip installs it: a script of its own."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "taskscope", *arguments]


def run(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(source)
    line = command("run", *options, str(script), "-D", "x")
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


def test_a_script_keeps_its_arguments_and_output_and_is_recorded(tmp_path: Path) -> None:
    done = run(tmp_path, SCRIPT, "-D", str(tmp_path / "a.taskscope"), "-T", str(tmp_path / "a.txt"))
    assert (done.returncode, done.stdout) == (0, "args ['-D', 'x'] __main__\nsum 6\n")
    recording = taskscope.load(tmp_path / "a.taskscope")
    assert [(r.label, r.status) for r in recording.runs] == [("script.py", "finished")]
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == f"{recording.summary()}\n"
    # After lines of progress, where the machine is slow.
    assert done.stderr.endswith(f"{recording.summary()}\n")


LINES = """
import sys, time, dask

def work():
    stop_s = time.thread_time() + 0.5
    while time.thread_time() < stop_s:
        pass

print(sys.argv[1:])
dask.delayed(work)().compute(scheduler="threads")
"""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--lines", "work", "--"),
            "Counted and timed, in " if sys.version_info >= (3, 12) else "Sampled, not counted: ",
        ),
        (("--lines", "-D", "a.txt"), "Sampled, not counted: "),
        (("--lines", "--"), "Sampled, not counted: "),
    ],
)
def test_lines_of_tasks_are_written_after_the_script_ended(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(LINES)
    done = subprocess.run(
        command("run", *options, "script.py", "-D", "x"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout) == (0, "['-D', 'x']\n")
    head, _, lines = done.stderr.partition(said)
    assert "taskscope · script.py · finished · threads · " in head
    assert lines.count("work · ") == 1
    assert [line for line in LINES.splitlines()[3:7] if line not in lines] == []


def test_a_function_that_no_sample_saw_is_named_and_the_script_is_as_it_was(tmp_path: Path) -> None:
    done = run(tmp_path, LINES, "--lines", "wrok", "--")
    assert (done.returncode, done.stdout) == (0, "['-D', 'x']\n")
    said = "unknown function 'wrok'; did you mean 'work'?"
    assert done.stderr.splitlines()[-1].startswith(said)


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('no')", 1, "no\n"),
        ("raise ValueError('mine')", 1, "ValueError: mine\n"),
    ],
)
def test_the_exit_status_is_that_of_the_script(end: str, status: int, said: str, tmp_path: Path) -> None:
    done = run(tmp_path, f"{SCRIPT}\n{end}\n", "-q", "-D", str(tmp_path / "a.taskscope"))
    plain = subprocess.run(
        [sys.executable, tmp_path / "script.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    assert (done.returncode, done.stderr.endswith(said)) == (status, True)
    assert [r.status for r in taskscope.load(tmp_path / "a.taskscope").runs] == ["finished"]


WAITING = """
import dask, time
def work():
    print("started", flush=True)
    while True: time.sleep(0.01)
dask.delayed(work)().compute(scheduler="synchronous")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_script_as_it_ends_python_and_leaves_a_recording(
    number: signal.Signals, tmp_path: Path
) -> None:
    script, file = tmp_path / "script.py", tmp_path / "a.taskscope"
    script.write_text(WAITING)
    ends: list[tuple[int, list[str]]] = []
    for line in ([sys.executable], [sys.executable, TASKSCOPE, "run", "-q", "-D", str(file)]):
        with subprocess.Popen(
            [*line, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            while len(ends) == 1 and number == signal.SIGTERM and not has_a_run(file):
                time.sleep(0.02)
            process.send_signal(number)
            _, said = process.communicate(timeout=PATIENCE_S)
        ends.append((process.returncode, said.splitlines()[-1:]))
    assert ends[0] == ends[1] == (-number, ["KeyboardInterrupt"] if number == signal.SIGINT else [])
    assert [r.status for r in taskscope.load(file).runs] == ["interrupted"]


def has_a_run(file: Path) -> bool:
    try:
        return len(taskscope.load(file).runs) > 0
    except OSError:
        return False


SHOW = "import sys; print(__name__, __file__, __package__, __spec__ and __spec__.name, sys.argv, sys.path)"


def test_a_program_sees_what_python_would_show_it(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    for name in ("__init__.py", "side.py"):
        (package / name).write_text("value = 1\n")
    (package / "__main__.py").write_text(f"from .side import value\n{SHOW}\nimport pickle, __main__\n")
    (package / "tool.py").write_text(f"{SHOW}\nsys.exit(4)")
    (tmp_path / "plain.py").write_text(SHOW)
    for line in (
        ["-m", "pack", "-m", "x", "-D", "y"],
        ["-m", "pack.tool", "--overwrite"],
        ["./plain.py", "-q", "-m", "z"],
        ["./plain.py", "--", "-D", "x"],
        ["-m", "pack", "--", "-D", "x", "--"],
        ["pack/../plain.py"],
        ["-m", "no_such"],
        ["-m", "pack.none"],
    ):
        plain, ours = (
            subprocess.run(
                [sys.executable, *first, *line],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE_S,
            )
            for first in ([], [TASKSCOPE, "run", "-q"])
        )
        assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)
        assert plain.stdout or "No module named" in plain.stderr


def test_a_terminal_shows_progress_and_what_is_left(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import dask, itertools, os, time\n"
        "begun = itertools.count()\n"
        "def work(i):\n"
        "    time.sleep(0.05)\n"
        "    while next(begun) >= 30 and not os.path.exists('go'): time.sleep(0.02)\n"
        "dask.compute(*[dask.delayed(work)(i) for i in range(40)], scheduler='threads', num_workers=2)\n"
        "print('the end')\n"
    )
    main, terminal = pty.openpty()
    process = subprocess.Popen(command("run", str(script)), cwd=tmp_path, stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(main, 4096):
            shown += part
            if shown.count(b" of 40 tasks") > 1 and b"left (up to " in shown:
                (tmp_path / "go").touch()
    except OSError:
        pass  # the terminal's other end is closed
    finally:
        os.close(main)
    assert process.wait(PATIENCE_S) == 0
    lines = [line for line in shown.decode().split("\r") if " tasks (" in line]
    assert len(lines) >= 2
    assert all(line.startswith("script.py · ") and " of 40 tasks (" in line for line in lines)
    assert any("left (up to " in line for line in lines)
    # The line was cleared before.
    assert re.search(r"\r +\rthe end\r\n", shown.decode())


SLOW = """
import dask, os, sys, time
def wait():
    while not os.path.exists("go"): time.sleep(0.02)
for i in range(2):
    dask.compute(*[dask.delayed(abs)(j) for j in range(2 + i)], dask.delayed(wait)(), scheduler="threads")
print("the end")
"""


def test_in_a_pipe_all_computes_are_one_bar_of_whole_lines_and_the_summary(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SLOW)
    line = command("run", "script.py")
    with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        # On a busy machine no task may have ended when the first line is written.
        first = next(line.decode() for line in process.stderr if b"2 of 3" in line)
        (tmp_path / "go").touch()
        out, rest = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (0, b"the end\n")
    assert first.startswith("script.py · 2 of 3 tasks (67%) · 1 running · ")
    assert "\r" not in rest.decode()
    summary = rest.decode().partition("taskscope · script.py · finished · ")[2]
    # Where the machine is slow there may be another line before the summary.
    assert "2 computes" in summary


def test_a_logger_gets_progress_and_summary_of_a_block(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.INFO, "mine"),
        taskscope.profile(label="sum", logger=logging.getLogger("mine")) as block,
    ):
        dask.get({"a": (sum, [1, 2])}, "a")
    lines = block.recording.summary().splitlines()
    assert caplog.messages[-len(lines) :] == lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to run: name a script, or a module after -m"),
        (["--lines", "work", "script.py"], "; what follows --lines are names of functions up to --\n"),
        (["no-such-script.py"], "cannot run 'no-such-script.py': there is no such file"),
        (["-D", "there.txt", __file__], "a file of that name exists; add --overwrite to replace it"),
        (["-D", "a.what", __file__], "cannot tell the format"),
    ],
)
def test_what_cannot_work_is_said_before_the_script_runs(
    options: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "there.txt").write_text("mine")
    done = subprocess.run(
        command("run", *options),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout, message in done.stderr) == (1, "", True)


THREADS = """
import concurrent.futures, dask, threading
begun, go = threading.Event(), threading.Event()
def later():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(begun.set)
        go.wait(60)
    print("sum", dask.get({"a": (sum, [1, 2])}, "a"))
print("sum", dask.get({"a": (sum, [1, 2, 3])}, "a", callbacks=[]))
threading.Thread(target=later, name="afterthought").start()
begun.wait(60)
threading.Thread(target=lambda: (threading.main_thread().join(), go.set()), daemon=True).start()
"""


def test_threads_that_outlive_the_program_end_as_ever_and_are_said_not_to_be_recorded(tmp_path: Path) -> None:
    done = run(tmp_path, THREADS, "-D", str(tmp_path / "a.taskscope"))
    assert (done.returncode, done.stdout) == (0, "sum 6\nsum 3\n")
    recording = taskscope.load(tmp_path / "a.taskscope")
    assert [run.status for run in recording.runs] == ["finished"]
    assert [message.text for message in recording.messages] == [
        "the thread 'afterthought' outlives the program; its later computes are not recorded"
    ]
    assert "'afterthought' outlives" in done.stderr
