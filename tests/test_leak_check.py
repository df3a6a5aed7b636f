"""The leak check itself: each seeded leak must fail its own test, and only that one."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

SEEDED = """
import os, subprocess, sys, threading
import dask, pytest
from dask.callbacks import Callback

release = threading.Event()

def test_leaves_nothing():
    thread = threading.Thread(target=lambda: None)
    thread.start()
    with open(os.devnull):
        pass

def test_dask_keeps_its_pool():
    dask.delayed(lambda: 1)().compute(scheduler="threads")

def test_leaves_a_thread():
    threading.Thread(target=release.wait, name="left-over", daemon=True).start()

ORPHAN = (
    "import os, sys, time; has_parent = lambda: os.getppid() == int(sys.argv[1]); "
    "[time.sleep(0.1) for _ in iter(has_parent, False)]"
)

def test_leaves_a_child_process():
    subprocess.Popen([sys.executable, "-c", ORPHAN, str(os.getpid())])

def test_leaves_a_file_descriptor():
    os.open(os.devnull, os.O_RDONLY)

def test_leaves_a_dask_callback():
    Callback(pretask=print).register()

def test_holds_the_session():
    from taskscope import session
    session.current().hold("a careless owner")
"""


@pytest.fixture
def seeded_run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.RunResult:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(
        "from tests.support import leak_check\nfrom tests.support.leak_check import no_leaks\n"
        "leak_check.GRACE_S = 1.0"
    )
    pytester.makepyfile(SEEDED)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "ignore")


def test_every_seeded_leak_fails_its_test(seeded_run: pytest.RunResult) -> None:
    seeded_run.assert_outcomes(passed=7, errors=5)
    seeded_run.stdout.fnmatch_lines(
        [
            "*at teardown of test_leaves_a_thread*",
            "  threads: left-over (ident *)",
            "*at teardown of test_leaves_a_child_process*",
            "  child processes: pid * (* -c import os, sys, time*)",
            "*at teardown of test_leaves_a_file_descriptor*",
            "  file descriptors: * -> /dev/null",
            "*at teardown of test_leaves_a_dask_callback*",
            "  dask callbacks: *",
            "*at teardown of test_holds_the_session*",
            "*session holds: 'a careless owner'",
        ]
    )
