from __future__ import annotations

import importlib.util
import linecache
from pathlib import Path
from types import ModuleType

import dask
import pytest

import taskscope

SOURCE = """
import threading, time
LOCK = threading.Lock()

def nap(number):
    time.sleep(0.2)
    return number

def in_turn(number):
    with LOCK:
        time.sleep(0.1)
    return number
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    path = tmp_path / "reads.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("reads", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(("name", "cause"), [("nap", "waiting"), ("in_turn", "lock")])
def test_a_file_has_the_findings_of_the_recording_without_the_source(
    module: ModuleType, tmp_path: Path, name: str, cause: str
) -> None:
    function = getattr(module, name)
    with taskscope.profile(display=False) as run:
        dask.compute(*[dask.delayed(function)(i) for i in range(8)], scheduler="threads", num_workers=4)
    live = run.recording.explain()
    run.recording.save(tmp_path / "reads.taskscope")
    Path(str(module.__file__)).unlink()
    linecache.clearcache()

    assert cause in [found.cause for found in live]
    assert taskscope.load(tmp_path / "reads.taskscope").explain().to_dict() == live.to_dict()
