from __future__ import annotations

import numpy as np

from taskscope.analysis.display.page_tables import recorded_frames, rows_of
from taskscope.record import Recorder
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import DIAMOND, begin_run, end_run, record_run, write_task
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row
from tests.support.wire_decoder import PageReader


def test_a_recording_of_very_many_long_names_is_sent_in_several_messages() -> None:
    n = 12_000
    recording = recording_of([Row(key=f"load{i:06}_{'p' * 500}", start_s=i, stop_s=i + 1) for i in range(n)])
    reader = PageReader()
    told = [reader.read([frames]) for frames in recorded_frames(recording)]
    assert [row[0] for said in told for row in said["groups"]] == list(range(n))
    assert sum(said["count"] for said in told) == n
    assert len(told) > 2


def test_rows_are_known_by_their_tasks_and_dependencies_by_their_keys(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    record_run(recorder, ["before"])
    log = begin_run(recorder, DIAMOND, data={"data": 8.0})
    first = log.start + 10
    write_task(log, ("x", 1), first + 1, first + 2)
    write_task(log, ("x", 0), first, first + 3, thread=2)
    write_task(log, "sum", first + 3, first + 4)
    end_run(log, stop=first + 5)
    while recorder.pull():
        pass
    recording = recorder.snapshot()
    told = PageReader().read(recorded_frames(recording))
    names = [row.key for row in told["rows"]]
    assert sorted(names) == ["('x', 0)", "('x', 1)", "before", "sum"]
    graph = recording.graphs[1]
    texts = graph.keys.to_text([recording.groups[g].name for g in graph.group.tolist()]).tolist()
    found = rows_of(recording, 1, np.arange(len(texts), dtype=np.int32))
    assert {texts[task]: names[row] for task, row in found.items()} == {name: name for name in names[1:]}
    n_before = len(recording.graphs[0].group)
    edges = {(row["key"] - n_before, row["dependency"] - n_before) for row in told["tables"]["dependencies"]}
    assert edges == set(zip(graph.edge_sources().tolist(), graph.edges.tolist(), strict=True))
