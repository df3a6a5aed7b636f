"""What the tasks of each span took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from distributed import Client, span

import taskscope
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row
from tests.support.waiting import be_patient


def recording_in(spans: Mapping[str, str], *rows: Row, dropped: int = 0) -> Recording:
    runs = [run_of(n_tasks=len(rows), scheduler="distributed")]
    recording = recording_of(rows, runs, dropped=dropped)
    return replace(
        recording, groups=tuple(replace(group, span=spans.get(group.prefix)) for group in recording.groups)
    )


IN_SPANS = recording_in(
    {"read": "load", "decode": "load / decode", "fit": "train", "loaded": "loader"},
    Row(key="read-1", stop_s=1.0, cpu_s=0.5),
    Row(key="read-2", stop_s=2.0, status="erred"),
    Row(key="decode-1", stop_s=4.0, cpu_s=3.0),
    Row(key="fit-1", stop_s=0.5),
    Row(key="fit-2", stop_s=90.0, status="interrupted", observed_by="scheduler"),
    Row(key="loaded-1", stop_s=0.25, cpu_s=0.25),
    Row(key="other-1", stop_s=8.0, cpu_s=1.0),
    dropped=3,
)


COLUMNS = ["span", "n_tasks", "n_erred", "task_s", "cpu_s", "n_cpu_unknown"]


def test_each_span_has_its_tasks_with_those_of_spans_within_it() -> None:
    table = IN_SPANS.spans().table()
    assert list(table) == list(recording_in({}, Row()).spans().to_pandas()) == COLUMNS
    assert list(zip(*table.values(), strict=True)) == [
        ("load", 3, 1, 7.0, 3.5, 1),
        ("load / decode", 1, 0, 4.0, 3.0, 0),
        ("loader", 1, 0, 0.25, 0.25, 0),
        ("train", 1, 0, 0.5, None, 1),
    ]


def test_spans_print_as_a_table_in_which_a_sum_of_some_is_said_to_be_the_least() -> None:
    assert str(IN_SPANS.spans()).splitlines() == [
        "spans · 4",
        "",
        "  span           tasks  failed  time in tasks        CPU time",
        "  load               3       1            7 s  at least 3.5 s",
        "  load / decode      1       0            4 s             3 s",
        "  loader             1       0         250 ms          250 ms",
        "  train              1       0         500 ms               \N{EN DASH}",
        "",
        "  1 task in no span: 8 s",
        "  3 tasks no longer held, and in none of these sums",
    ]


@pytest.mark.parametrize(
    ("recording", "reason"),
    [
        (recording_of([Row()]), "nothing ran on a cluster"),
        (recording_in({}, Row()), "no task is in one, or the scheduler was not observed"),
    ],
)
def test_a_recording_without_spans_says_why(recording: Recording, reason: str) -> None:
    assert str(recording.spans()) == f"no spans, because {reason}"


def test_spans_of_a_cluster_are_those_that_its_scheduler_has(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch.setattr)
    with (
        Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client,
        taskscope.profile(display=False) as run,
    ):
        with span("load"):
            read = client.submit(bytes, 10, key="read-1")
            with span("decode"):
                client.submit(len, read, key="decode-1").result()
        client.submit(len, b"", key="other-1").result()
    spans = run.recording.spans().to_pandas()
    assert spans[["span", "n_tasks", "n_erred"]].values.tolist() == [
        ["load", 2, 0],
        ["load / decode", 1, 0],
    ]
    tasks = run.recording.to_pandas("tasks").set_index("key")
    took = tasks.stop_s - tasks.start_s
    assert spans.task_s.tolist() == pytest.approx([took["read-1"] + took["decode-1"], took["decode-1"]])
    assert "1 task in no span: " in str(run.recording.spans())
