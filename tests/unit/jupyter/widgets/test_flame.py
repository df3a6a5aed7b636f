from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from dask import delayed

from taskscope import FlameWidget, ProgressWidget
from taskscope.session import current
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row
from tests.support.waiting import until

COLUMNS = ("parent", "function", "bin", "prefix", "node", "count", "seconds")


@pytest.fixture
def widget() -> Iterator[FlameWidget]:
    widget = FlameWidget()
    yield widget
    widget.close()


def test_a_recording_is_shown_as_columns_beside_its_names() -> None:
    stacks = stacks_of([Sample(("f", "g"), 3, 0.5), Sample((), 1, 0.25, prefix="y")])
    widget = FlameWidget(replace(recording_of([Row(key="x-1"), Row(key="y-1")]), stacks=stacks))
    assert (widget.n_samples, widget.sampled_s, widget.note) == (4, 0.75, None)
    data = dict(widget.data)
    columns = data.pop("columns")
    assert data == {
        "interval_s": 0.01,
        "bin_s": 1.0,
        "functions": [("f", "f.py", 1), ("g", "g.py", 1)],
        "prefixes": ["x", "y"],
        "n_left_out": 0,
        "lengths": {"start_s": 1, **dict.fromkeys(COLUMNS, 2)},
    }
    assert np.frombuffer(columns[:8], "f8").tolist() == [100.0]
    assert np.frombuffer(columns[8:24], "i4").tolist() == [-1, 0, 0, 1]
    assert np.frombuffer(columns[-8:], "f4").tolist() == [0.5, 0.25]
    widget.close()


def test_a_recording_without_samples_says_why() -> None:
    widget = FlameWidget(recording_of([Row(key="x-1")]))
    assert (widget.n_samples, widget.note) == (0, "nothing was sampled: profile with stacks=True")
    widget.close()


def test_samples_are_taken_as_long_as_a_widget_follows(widget: FlameWidget) -> None:
    assert current().sampler.interval_s == 0.01
    widget.close()
    assert not current().held
    other = ProgressWidget()
    assert current().sampler.interval_s is None
    other.close()


def test_traits_follow_the_samples_and_are_sent_again_only_with_news(widget: FlameWidget) -> None:
    recorder, enough = current().recorder, threading.Event()

    def sampled() -> None:
        enough.wait()

    def look() -> None:
        until(lambda: recorder.stacks.between(0, None).rows.count.sum() >= 3)
        enough.set()

    looking = threading.Thread(target=look)
    looking.start()
    delayed(sampled)().compute(scheduler="threads")
    looking.join()
    told: list[int] = []
    widget.observe(lambda change: told.append(change.new), "n_samples")
    now_s = recorder.now_s() + 10.0
    widget.refresh(now_s)
    seen = list(told)
    widget.refresh(now_s + 100.0)
    assert widget.n_samples >= 3
    assert widget.sampled_s > 0
    assert told == seen
    assert "sampled" in next(name for name, _, _ in widget.data["functions"])
    assert widget.source == {}
    widget.function = next(each for each in widget.data["functions"] if "sampled" in each[0])
    assert max(widget.source["lines"], key=lambda line: line[2] or 0.0)[1] == "        enough.wait()"
