from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
import pytest

import taskscope
from taskscope.errors import TaskscopeError
from taskscope.profiling import block as block_module
from taskscope.session import current
from tests.support.waiting import PATIENCE_S


def compute(n: int = 2) -> object:
    return dask.delayed(sum)(range(n)).compute(scheduler="synchronous")


def runs(block: taskscope.profile) -> list[tuple[str, str | None]]:
    return [(run.status, run.label) for run in block.recording.runs]


def test_a_block_records_its_own_computes_and_no_others() -> None:
    compute()
    with taskscope.profile(label="a", display=False) as run:
        compute()
    compute()
    assert runs(run) == [("finished", "a")]


def test_a_recording_and_its_file_have_no_groups_and_threads_of_earlier_blocks(tmp_path: Path) -> None:
    earlier = dask.delayed(sum)([1], dask_key_name="secret-1")
    later = dask.delayed(sum)([1], dask_key_name="shown-1")
    with taskscope.profile(display=False) as before:
        dask.compute(earlier, scheduler="threads", num_workers=2)
    with taskscope.profile(display=False, save=tmp_path / "later.taskscope") as run:
        later.compute(scheduler="synchronous")
    loaded = taskscope.load(tmp_path / "later.taskscope")
    for recording in (run.recording, loaded):
        assert [group.prefix for group in recording.groups] == ["shown"]
        assert [lane.id for lane in recording.lanes] == [0]
        assert list(recording.table("tasks")["prefix"]) == ["shown"]
    assert [group.prefix for group in before.recording.groups] == ["secret"]
    assert list(before.recording.table("tasks")["prefix"]) == ["secret"]


def test_a_block_keeps_neither_its_exception_nor_what_the_frames_in_it_have() -> None:
    class Large:
        pass

    def fails() -> None:
        large = Large()
        freed.append(weakref.ref(large))
        compute()
        raise ValueError("no")

    freed: list[weakref.ref[Large]] = []
    with pytest.raises(ValueError, match="no") as raised, taskscope.profile(display=False) as run:
        fails()
    # What pytest has of it goes with its frames.
    del raised
    gc.collect()
    assert [run.recording.metadata["error"], [one() for one in freed]] == ["ValueError: no", [None]]


def test_inside_of_the_block_there_is_what_was_recorded_so_far() -> None:
    with taskscope.profile(display=False) as run:
        assert runs(run) == []
        compute()
        assert runs(run) == [("finished", None)]


def test_blocks_nest_and_the_outer_label_comes_back() -> None:
    with taskscope.profile(label="outer", display=False) as outer:
        compute()
        with taskscope.profile(label="inner", display=False) as inner:
            compute()
        compute()
    assert runs(inner) == [("finished", "inner")]
    assert runs(outer) == [("finished", "outer"), ("finished", "inner"), ("finished", "outer")]


def test_blocks_in_several_threads_each_get_their_computes() -> None:
    barrier = threading.Barrier(3)
    found: dict[int, list[tuple[str, str | None]]] = {}

    def work(number: int) -> None:
        with taskscope.profile(label=str(number), display=False) as run:
            barrier.wait(PATIENCE_S)
            compute()
            barrier.wait(PATIENCE_S)
        found[number] = [r for r in runs(run) if r[1] == str(number)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: [("finished", str(i))] for i in range(3)}


def test_the_exception_of_the_block_comes_through_untouched() -> None:
    error = KeyError("mine")
    run = taskscope.profile(display=False)
    with pytest.raises(KeyError) as raised, run:
        raise error
    assert raised.value is error
    assert run.recording.metadata["error"] == "KeyError: 'mine'"


def test_the_summary_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with taskscope.profile(label="a") as run:
        compute()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", run.recording.summary() + "\n")


def test_a_file_that_cannot_be_written_loses_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    with taskscope.profile(display=False, save=folder / "a.taskscope") as run:
        compute()
        # In one step, as the file may be there already.
        folder.rename(tmp_path / "elsewhere")
    text = (
        f"not saved: FileError: cannot write '{folder}/a.taskscope': the directory '{folder}' does not exist"
    )
    said = [m.text for m in run.recording.messages if m.text.startswith("not saved")]
    assert [one.partition("; make it")[0] for one in said] == [text]
    logged = [r.message for r in caplog.records if r.levelname == "ERROR"]
    assert [one.partition("; make it")[0] for one in logged] == [text]
    assert runs(run) == [("finished", None)]
    run.recording.save(tmp_path / "a.taskscope")
    assert runs_of(tmp_path / "a.taskscope") == 1


def runs_of(path: Path) -> int:
    return len(taskscope.load(path).runs)


def test_a_display_that_fails_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        encoding = "utf-8"

        def write(self, text: str) -> int:
            raise OSError("gone")

    monkeypatch.setattr(sys, "stderr", Broken())
    with taskscope.profile() as run:
        value = compute(4)
    assert (value, runs(run)) == (6, [("finished", None)])


def test_a_block_is_used_once_and_has_nothing_before() -> None:
    run = taskscope.profile(display=False)
    with pytest.raises(TaskscopeError, match="nothing is recorded yet"):
        _ = run.recording
    with run:
        pass
    with pytest.raises(TaskscopeError, match="make a new one for each block"), run:
        pass


def test_waiting_for_a_block_that_no_other_thread_completes_returns_the_rows_there_are() -> None:
    run = taskscope.profile(display=False)
    with pytest.raises(TaskscopeError, match="nothing is recorded yet"):
        run.wait()
    with run:
        compute()
        inside = run.wait().table("tasks")["key"]
    assert list(inside) == list(run.wait().table("tasks")["key"])
    interrupted = taskscope.profile(display=False)
    with suppress(KeyboardInterrupt), interrupted:
        raise KeyboardInterrupt
    assert interrupted.wait() is interrupted.recording
    assert run.recording.wait() is run.recording


def test_a_plain_script_loads_nothing_of_jupyter() -> None:
    script = (
        "import sys, dask, taskscope\n"
        "with taskscope.profile(): dask.delayed(sum)([1]).compute(scheduler='synchronous')\n"
        "print(sorted({'IPython', 'ipywidgets', 'bokeh', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert done.stderr.startswith("taskscope · finished · synchronous · 1 thread · 1 compute · 1 task\n")


def test_a_block_as_a_value_is_its_result_or_says_that_there_is_none_yet() -> None:
    block = taskscope.profile(display=False)
    shown = [repr(block), block._repr_mimebundle_()["text/plain"]]
    with block:
        compute()
        shown += [repr(block), block._repr_mimebundle_()["text/plain"]]
    assert shown == ["taskscope.profile: not started yet"] * 2 + ["taskscope.profile: not finished yet"] * 2
    assert str(block) == repr(block) == block.recording.summary()
    assert block._repr_mimebundle_() == block.recording._repr_mimebundle_()


def test_a_block_that_has_ended_is_not_waited_for() -> None:
    with taskscope.profile() as run:
        dask.delayed(len)("ab").compute(scheduler="sync")
    assert run.wait(PATIENCE_S) is run.recording
    assert run.recording.table("tasks")["prefix"].tolist() == ["len"]


def test_a_block_of_many_tasks_is_left_before_its_rows_are_taken_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(block_module, "_MANY_TASKS", 2)
    is_left, snapshot = threading.Event(), current().recorder.snapshot

    def after_the_block(*args: Any, **options: Any) -> Any:
        assert is_left.wait(PATIENCE_S)
        return snapshot(*args, **options)

    monkeypatch.setattr(current().recorder, "snapshot", after_the_block)
    with taskscope.profile(display=False, label="many") as run:
        dask.get({("t", i): (abs, -i) for i in range(3)}, [("t", i) for i in range(3)])
        dask.get({("t", i): (abs, -i) for i in range(3)}, [("t", i) for i in range(3)])
    is_left.set()
    dask.get({"later": (abs, -1)}, "later")
    recording = run.recording.wait()
    assert [(run.label, run.status) for run in recording.runs] == [("many", "finished")] * 2
    assert sorted(recording.table("tasks")["key"]) == sorted(2 * ["('t', 0)", "('t', 1)", "('t', 2)"])
    assert recording is run.recording
