from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal

import dask

import taskscope
from taskscope.analysis.quantities import format_duration
from taskscope.analysis.totals import measure_totals
from taskscope.model.tables.activities import Transfer
from taskscope.model.tables.records import Message, WorkerEvent
from taskscope.model.tables.workers import WorkerSample
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row


def test_the_summary_of_a_compute_that_failed() -> None:
    rows = [
        Row(key=("inc-1", 0), stop_s=1.0, cpu_s=0.5),
        Row(key="add-1", lane=1, stop_s=0.5, cpu_s=0.25, status="erred"),
    ]
    recording = recording_of(
        rows,
        [run_of(n_tasks=3, status="erred", error="ValueError: \u202eno")],
        resources=[(0.5, 50.0, 7e6, 1, 0.0)],
        messages=[Message(ZERO_S, "warning", "something was estimated")],
        metadata={"label": "rechunk", "dt_s": 0.25, "error": "ValueError: \u202eno"},
    )
    assert recording.summary().split("\n") == (
        [
            "taskscope · rechunk · failed · threads · 2 threads · 1 compute · 3 tasks",
            "",
            "  wall time      1 s",
            "  busy           75% of 2 threads, 1.5 s in tasks",
            "  CPU            750 ms in tasks",
            "  peak memory    7 MB (largest sample)",
            "",
            "  task type  tasks    time  share  median  longest  failed",
            "  inc            1     1 s    67%     1 s      1 s       0",
            "  add            1  500 ms    33%  500 ms   500 ms       1",
            "",
            "  error: ValueError: \\u202eno",
            "  1 task failed",
            "  1 task not started",
            "  warning: something was estimated",
        ]
    )


def test_the_summary_of_a_compute_on_a_cluster_says_what_its_workers_used_and_lost(tmp_path: Path) -> None:
    def sample(name: str, time_s: float, rss_bytes: float | None, spilled_bytes: float) -> WorkerSample:
        limit_bytes = 2e9
        return WorkerSample(
            time_s, f"tcp://{name}", name, 2, 1, 100.0, rss_bytes, 0.0, 0.0, spilled_bytes, limit_bytes
        )

    def moved(direction: Literal["incoming", "outgoing"], nbytes: float | None) -> Transfer:
        return Transfer("tcp://a", "tcp://b", direction, 0.0, 1.0, nbytes, None, 1, ())

    workers = (sample("a", 0.5, 1e9, 0.0), sample("b", 0.6, 1.09e9, 4e6), sample("b", 0.9, None, 0.0))
    transfers = (
        moved("incoming", 3e6),
        moved("outgoing", 3e6),
        moved("incoming", 1e6),
        moved("incoming", None),
    )
    recording = replace(
        recording_of(
            [Row(stop_s=1.0), Row(key="inc-2", stop_s=1.0, status="lost")],
            [run_of(n_tasks=2, stop_s=1.0, scheduler="distributed")],
            resources=[(0.5, 50.0, 9.7e7, 1, 0.0)],
            metadata={"dt_s": 0.25},
        ),
        workers=workers,
        transfers=transfers,
    )
    said = [line.strip() for line in recording.summary().splitlines() if "memory" in line]
    assert said[0] == "peak memory    97 MB in this process"
    assert said[1] == (
        "on workers     peak memory 1.09 GB of 2 GB (worker b), 4 MB transferred, up to 4 MB spilled by one, "
        "1 execution lost with a worker"
    )
    recording.to_html(tmp_path / "page.html")
    assert ">on workers&nbsp;peak memory 1.09 GB of 2 GB (worker b)</span>" in (
        tmp_path / "page.html"
    ).read_text("utf-8")


def test_the_summary_has_the_answer_of_explain_and_what_to_do() -> None:
    waits = [
        Row(key=("read-1", i), lane=i % 2, start_s=i // 2, stop_s=i // 2 + 1.0, cpu_s=0.25) for i in range(8)
    ]
    run = run_of(n_tasks=8, stop_s=4.0)
    recording = recording_of(waits, [run])
    answer, advice = recording.explain().answer, recording.explain()[0].advice
    assert answer.startswith("waiting: about 2 s of 4 s: ")
    assert f"  why            {answer}\n  what to do     {advice}\n" in recording.summary()
    # A person would not have felt it.
    short = [replace(row, start_s=row.start_s / 64, stop_s=row.stop_s / 64, cpu_s=1 / 256) for row in waits]
    assert "waiting" not in recording_of(short, [run_of(n_tasks=8, stop_s=4.0 / 64)]).summary()


def test_the_summary_of_a_cell_without_dask_says_so_and_what_went_wrong() -> None:
    assert recording_of([]).summary() == "taskscope · no Dask computation ran here"
    messages = [Message(ZERO_S, "warning", "not saved: no room")]
    assert recording_of([], messages=messages, metadata={"error": "ValueError: no"}).summary().split(
        "\n"
    ) == (
        [
            "taskscope · no Dask computation ran here",
            "",
            "  error: ValueError: no",
            "  warning: not saved: no room",
        ]
    )


def test_of_workers_what_went_wrong_is_said_and_of_the_rest_how_many() -> None:
    def message(text: str, event: WorkerEvent, *, is_bad: bool = False) -> Message:
        return Message(ZERO_S, "warning" if is_bad else "info", text, "tcp://10.0.0.1:1", event)

    messages = [
        message("worker 3 came", "came"),
        *(message(f"worker {i} died", "died", is_bad=True) for i in range(12)),
        message("worker 4 came", "came"),
        message("worker 3 was retired", "retired"),
    ]
    said = recording_of([], messages=messages).summary().splitlines()
    assert said[2:] == [
        *(f"  warning: worker {i} died" for i in range(10)),
        "  warning: 2 more such things happened to workers: see recording.messages",
        "  info: workers: 2 came, 1 retired",
    ]


def test_what_was_dropped_is_said() -> None:
    recording = recording_of([Row(stop_s=1.0)], [run_of(n_tasks=1_000)], dropped=999)
    assert "  only 1 of 1,000 tasks are kept; times above are of these" in recording.summary().splitlines()


def test_more_prefixes_than_fit_are_summed_up() -> None:
    rows = [Row(key=f"{chr(97 + i)}{chr(97 + i)}x", start_s=0.0, stop_s=1.0 + (i < 20)) for i in range(23)]
    lines = recording_of(rows).summary().splitlines()
    assert lines[-1].split() == ["3", "more", "3", "3", "s", "7%", "–", "1", "s"]
    assert lines[6].startswith("  why            nothing to gain here that is worth 5 % of the wall time. ")


def test_on_a_cluster_threads_are_counted_as_what_they_are() -> None:
    lines = (
        recording_of([Row(stop_s=1.0)], [run_of(n_tasks=1, scheduler="distributed")]).summary().split("\n")
    )
    assert (lines[0], lines[3]) == (
        "taskscope · finished · distributed · 2 worker threads · 1 compute · 1 task",
        "  busy           50% of 2 worker threads, 1 s in tasks",
    )


def test_the_wall_time_of_a_block_is_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    before_s = time.perf_counter()
    with taskscope.profile(display=False, save=tmp_path / "a.taskscope") as run:
        dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
        between = threading.Event()
        between.wait(0.3)
    took_s = time.perf_counter() - before_s
    recording = run.recording
    wall_s = measure_totals(recording).makespan_s
    assert wall_s is not None
    assert 0.3 < wall_s < took_s
    assert f"  wall time      {format_duration(wall_s)}" in recording.summary()
    assert taskscope.load(tmp_path / "a.taskscope").metadata["wall_s"] == wall_s
