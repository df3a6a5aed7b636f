from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import taskscope
from taskscope import session as session_module
from taskscope.jupyter.feed import feed as feed_module
from taskscope.model.forklock import ForkLock
from taskscope.record import Recorder
from taskscope.sources.cluster.adapter import methods
from tests.support.child_process import in_forked_child
from tests.support.recordings.run_writing import record_run

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


@pytest.mark.parametrize(
    ("lock", "use"),
    [
        (session_module._current._lock, session_module.current),
        (feed_module._current._lock, feed_module.current),
        (methods._lock, lambda: methods.release(object())),  # type: ignore[arg-type]  # any observer
    ],
    ids=["session", "feed", "clients"],
)
def test_a_child_forked_while_a_thread_holds_a_lock_does_not_wait_for_it(
    lock: ForkLock, use: Callable[[], object]
) -> None:
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            locked.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait()
    try:
        assert in_forked_child(lambda: [use() is None, "it did not wait"][-1]) == "it did not wait"
    finally:
        done.set()
        holder.join()


OF_ONE_PROCESS = {
    "cli/terminal.py": "a program's own terminal, which its children have nothing to show on",
    "jupyter/widgets/base.py": "a kernel's comms, which its children have none of",
    "sources/cluster/adapter/remote.py": "of a worker, which a function sent there makes it in",
    "sources/local/shipped.py": "of one run, which nobody but the process that computes it reads",
}
"""Modules with a lock that no forked child takes, and why."""


def test_every_lock_is_a_new_one_in_a_child_or_it_is_said_why_none_is_needed() -> None:
    source = Path(taskscope.__file__).parent
    locked = {
        str(path.relative_to(source)): text
        for path in source.rglob("*.py")
        if re.search(r"threading\.R?Lock\(\)", text := path.read_text(encoding="utf-8"))
    }
    renewed = {name for name, text in locked.items() if re.search(r"def _?(forget|renew)", text)}
    assert set(locked) - renewed == set(OF_ONE_PROCESS)
