"""Which task and source line had allocated what was there at the peak, with the real memray."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dask
import memray
import numpy as np
import pytest

import taskscope
from taskscope.errors import MissingDependencyError
from taskscope.recording import Recording
from taskscope.session import current

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no memray for Windows")

LARGE, SMALL = 80_000_000, 3_000_000
NOT_RECORDED = "memory is not recorded by task and line"


@pytest.fixture(scope="module", autouse=True)
def _first_tracker(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have the pipe made that memray makes once in a process, and keeps."""
    with memray.Tracker(tmp_path_factory.mktemp("first") / "allocations.bin"):
        pass


def large(_i: int) -> Any:
    return np.ones(LARGE // 8)


def small(_i: int) -> bytearray:
    return bytearray(SMALL)


def count(*values: object) -> int:
    return len(values)


LINE_OF = {"large": large.__code__.co_firstlineno + 1, "small": small.__code__.co_firstlineno + 1}


def graph() -> Any:
    parts = [dask.delayed(large)(i, dask_key_name=f"large-{i}") for i in range(2)]
    parts += [dask.delayed(small)(i, dask_key_name=f"small-{i}") for i in range(3)]
    return dask.delayed(count)(*parts)


def recorded(scheduler: str, **options: Any) -> Recording:
    with taskscope.profile(memory=True, display=False, **options) as run:
        assert graph().compute(scheduler=scheduler) == 5
    return run.recording


def of_large(recording: Recording) -> int:
    return sum(row.nbytes for row in recording.peak_lines if row.prefix == "large")


def messages(recording: Recording) -> list[str]:
    return [message.text for message in recording.messages]


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_nine_tenths_of_the_bytes_at_the_peak_have_their_task_and_line(scheduler: str) -> None:
    recording = recorded(scheduler)
    allocated = recording.memory_peak().allocated
    table = allocated.to_pandas()
    found = {
        (line.key, line.prefix, Path(str(line.file)).name, line.function, line.line, line.source)
        for line in table[(table.nbytes >= SMALL) & table.key.notna()].itertuples()
    }
    assert found == {
        (
            f"{name}-{i}", name, Path(__file__).name, name, LINE_OF[name],
            f"    return {'np.ones(LARGE // 8)' if name == 'large' else 'bytearray(SMALL)'}",
        )
        for name, n in (("large", 2), ("small", 3))
        for i in range(n)
    }  # fmt: skip
    by_task = table.groupby("key").nbytes.sum()
    assert (by_task[by_task > 1e6] / 1e6).round().to_dict() == {
        **{f"large-{i}": 80 for i in range(2)},
        **{f"small-{i}": 3 for i in range(3)},
    }
    located = table[table.key.notna() & table.line.notna()].nbytes.sum()
    assert located > 0.9 * table.nbytes.sum()
    assert messages(recording) == []


def test_it_is_in_the_text_the_summary_a_saved_file_and_the_table(tmp_path: Path) -> None:
    live = recorded("synchronous", save=str(tmp_path / "a.taskscope"))
    loaded = taskscope.load(tmp_path / "a.taskscope")
    peak = loaded.memory_peak()
    where = f"{Path(__file__).name}:{LINE_OF['large']}"
    assert (loaded.peak_lines, str(peak)) == (live.peak_lines, str(live.memory_peak()))
    assert f"large      {where}" in str(peak)
    assert f"160 MB by {where} (tasks: large)" in loaded.summary()
    table = loaded.to_pandas("peak_lines")
    assert table[table.prefix == "large"].nbytes.sum() >= 2 * LARGE
    assert len(peak.allocated.to_pandas()) == len(table)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
def test_lines_are_counted_beside_it() -> None:
    recording = recorded("synchronous", lines=[small])
    assert sum(line.hits for line in recording.measured_lines) == 3
    assert of_large(recording) >= 2 * LARGE


def test_it_is_not_recorded_unless_it_is_asked_for() -> None:
    script = (
        "import sys, dask, taskscope\n"
        "with taskscope.profile(display=False) as run:\n"
        "    dask.delayed(sum)([1]).compute(scheduler='synchronous')\n"
        "print('memray' in sys.modules, run.recording.memory_peak().allocated)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert printed == "False not recorded by task and line: use memory=True, or %%profile --memory\n"


def test_of_a_process_pool_it_says_that_it_is_not_recorded() -> None:
    recording = recorded("processes")
    why = "tasks of other processes allocate it there; use threads, or synchronous"
    assert messages(recording) == [f"{NOT_RECORDED}: {why}"]
    assert recording.peak_lines == ()


def test_where_memray_records_already_a_message_says_so(tmp_path: Path) -> None:
    with memray.Tracker(tmp_path / "theirs.bin"):
        recording = recorded("synchronous")
    why = "memray records already in this process, which can have one recorder of it: end it first"
    assert messages(recording) == [f"{NOT_RECORDED}: {why}"]
    assert recording.peak_lines == ()
    with memray.FileReader(tmp_path / "theirs.bin") as theirs:
        assert theirs.metadata.peak_memory >= 2 * LARGE


def test_of_blocks_within_each_other_the_one_that_ends_last_has_it() -> None:
    with taskscope.profile(memory=True, display=False) as outer:
        inner = recorded("synchronous")
    text = f"{NOT_RECORDED} for each of several blocks: the one that ends last has it"
    assert (messages(inner), inner.peak_lines) == ([text], ())
    assert of_large(outer.recording) >= 2 * LARGE
    # The next one begins anew.
    assert messages(recorded("synchronous")) == []


def test_without_memray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "memray", None)
    with pytest.raises(MissingDependencyError, match=r"memory=True needs memray; .*'taskscope\[memory\]'"):
        taskscope.profile(memory=True)
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(MissingDependencyError, match="for Linux and macOS only"):
        taskscope.profile(memory=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_goes_on_without_it() -> None:
    with taskscope.profile(memory=True, display=False) as run:
        child = os.fork()
        if not child:
            is_left = not current().source.memory.is_recording
            os._exit(0 if is_left and graph().compute(scheduler="synchronous") == 5 else 1)
        assert os.waitpid(child, 0)[1] == 0
        graph().compute(scheduler="synchronous")
    assert of_large(run.recording) >= 2 * LARGE


def test_what_memray_could_not_write_is_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: object, **__: object) -> list[object]:
        return []

    whole = memray.FileReader

    class Reader:
        def __init__(self, path: Path) -> None:
            self.metadata = whole(path).metadata

        __enter__ = lambda self: self  # noqa: E731 - as short as it can be
        __exit__ = get_high_watermark_allocation_records = nothing

    monkeypatch.setattr(memray, "FileReader", Reader)
    (text,) = messages(recorded("synchronous"))
    assert "the disk may be full" in text


def test_more_rows_than_are_kept_are_added_up_over_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskscope.sources.local.memory._MAX_ROWS", 3)
    rows = [row for row in recorded("synchronous").peak_lines if row.nbytes >= SMALL]
    assert [(row.key, row.prefix, row.line, round(row.nbytes / 1e6)) for row in rows[:4]] == [
        *((row.key, "large", LINE_OF["large"], 80) for row in rows[:2]),
        (rows[2].key, "small", LINE_OF["small"], 3),
        (None, "small", LINE_OF["small"], 6),
    ]
