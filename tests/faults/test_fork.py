from __future__ import annotations

import os
import threading

import pytest

from taskscope.recorder import Recorder
from tests.support.child_process import in_forked_child
from tests.support.run_writing import record_run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def test_a_child_forked_while_the_parent_reads_can_record_with_a_new_lock() -> None:
    recorder = Recorder()
    record_run(recorder, ["before"])
    locked, done = threading.Event(), threading.Event()

    def hold_the_lock() -> None:
        with recorder._lock:
            locked.set()
            done.wait()

    reader = threading.Thread(target=hold_the_lock)
    reader.start()
    locked.wait()

    def child() -> list[str]:
        recorder.renew_lock()
        record_run(recorder, ["in the child"])
        return recorder.snapshot().to_pandas("tasks")["key"].tolist()

    assert in_forked_child(child) == ["before", "in the child"]
    done.set()
    reader.join()
    assert recorder.snapshot().to_pandas("tasks")["key"].tolist() == ["before"]
