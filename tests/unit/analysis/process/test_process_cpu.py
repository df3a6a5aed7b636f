"""What a process computed beside its tasks' own threads, from recordings that are spelled out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.analysis.process.running import running
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row


def sample(time_s: float, cpu_percent: float) -> tuple[float, ...]:
    return (time_s, cpu_percent, 1e8, 1, 0)


def planted() -> Recording:
    """Return `load`, and `dot`, whose thread waits for three others; the program takes a tenth of a core."""
    rows = [Row(key=f"load-{i}", start_s=3.0 * i, stop_s=3.0 * i + 1.0, cpu_s=0.5) for i in range(10)]
    rows += [Row(key=f"dot-{i}", start_s=3.0 * i + 1.0, stop_s=3.0 * i + 2.0, cpu_s=0.1) for i in range(10)]
    percents = [math.nan, *([60.0, 320.0, 10.0] * 10)]
    samples = [sample(float(i), percent) for i, percent in enumerate(percents)]
    return recording_of(rows, [run_of(n_tasks=20, stop_s=30.0)], resources=samples)


def test_what_is_used_beside_tasks_is_told_by_prefix() -> None:
    cpu = planted().process_cpu()
    assert [(of.prefix, round(of.tasks_s, 2), round(of.beside_s, 1)) for of in cpu.prefixes] == [
        ("dot", 1.0, 30.0),
        ("load", 5.0, 0.0),
    ]
    assert (round(cpu.process_s, 6), round(cpu.tasks_s, 6), round(cpu.rest_s, 1)) == (39.0, 6.0, 3.0)
    assert (cpu.reason, cpu.notes) == (None, ())
    dot = cpu.prefixes[0]
    assert (round(dot.low_s, 1), round(dot.high_s, 1)) == (30.0, 30.0)


def test_it_prints_and_is_a_table() -> None:
    cpu = planted().process_cpu()
    assert str(cpu).splitlines() == [
        "CPU time · 39 s of the process",
        "",
        "  dot         1 s in its tasks' threads, about 30 s beside them (30 s to 30 s)",
        "  load        5 s in its tasks' threads",
        "  with no tasks: 3 s",
    ]
    assert cpu.to_pandas().to_dict("records") == cpu.to_dict()["prefixes"]


def test_the_summary_says_what_the_cpu_time_of_tasks_is_not() -> None:
    assert [line.strip() for line in planted().summary().splitlines() if "CPU time" in line] == [
        (
            "CPU time       6 s in tasks' own threads of 39 s of the process; about 30 s in threads beside "
            "them (most: dot)"
        )
    ]


def test_with_few_samples_it_is_not_said_beside_which_tasks() -> None:
    samples = [sample(0.0, math.nan), sample(1.0, 300.0)]
    cpu = recording_of([Row(key="dot-0", cpu_s=0.5)], resources=samples).process_cpu()
    assert (cpu.process_s, cpu.tasks_s, cpu.rest_s) == (3.0, 0.5, 2.5)
    assert cpu.notes == (
        "cannot say beside which tasks, because there is only 1 sample; 8 are needed: a shorter dt has more",
    )


@pytest.mark.parametrize(
    ("recording", "reason"),
    [
        (recording_of([]), "no Dask computation was recorded"),
        (recording_of([Row()]), "no sample of the CPU was taken"),
        (
            recording_of([Row()], [run_of(n_tasks=1, scheduler="distributed")]),
            "tasks ran on workers of a cluster: their processes are not among those sampled",
        ),
    ],
)
def test_where_nothing_can_be_said_there_is_a_reason(recording: Recording, reason: str) -> None:
    cpu = recording.process_cpu()
    assert (cpu.reason, cpu.prefixes) == (reason, ())
    assert str(cpu) == f"cannot say what the process computed, because {reason}"


def test_tasks_of_unknown_cpu_time_are_said() -> None:
    recording = planted()
    blocks = tuple(replace(b, cpu_s=np.full(len(b), np.nan, np.float32)) for b in recording.blocks)
    assert replace(recording, blocks=blocks).process_cpu().notes == (
        "the CPU time of 20 tasks is not known: it counts as beside",
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b"]), st.floats(0.0, 9.0), st.floats(0.01, 3.0), st.floats(0.0, 3.0)
        ),
        min_size=1,
        max_size=12,
    ),
    st.lists(st.one_of(st.just(math.nan), st.floats(0.0, 800.0)), min_size=2, max_size=30),
)
def test_parts_add_up_to_the_process_unless_tasks_alone_are_more(
    tasks: list[tuple[str, float, float, float]], percents: list[float]
) -> None:
    rows = [
        Row(key=f"{prefix}-{i}", start_s=start_s, stop_s=start_s + takes_s, cpu_s=cpu_s)
        for i, (prefix, start_s, takes_s, cpu_s) in enumerate(tasks)
    ]
    samples = [sample(i * 12.0 / len(percents), percent) for i, percent in enumerate(percents)]
    cpu = recording_of(rows, [run_of(n_tasks=len(rows), stop_s=12.0)], resources=samples).process_cpu()
    if cpu.reason is None:
        whole = cpu.tasks_s + cpu.beside_s + cpu.rest_s
        assert whole == pytest.approx(max(cpu.process_s, cpu.tasks_s), abs=1e-6)
        assert all(0 <= of.low_s <= of.beside_s <= of.high_s for of in cpu.prefixes)


def test_seconds_and_cpu_time_between_samples_are_those_of_the_tasks() -> None:
    recording = planted()
    tasks = running(recording, recording.runs)
    times = ZERO_S + np.array([0.0, 0.5, 1.25, 40.0])
    assert sorted(tasks.prefixes) == ["dot", "load"]
    of = {prefix: place for place, prefix in enumerate(tasks.prefixes)}
    seconds, cpu = tasks.seconds_between(times), tasks.cpu_between(times)
    assert seconds[:, of["load"]].tolist() == pytest.approx([0.5, 0.5, 9.0])
    assert seconds[:, of["dot"]].tolist() == pytest.approx([0.0, 0.25, 9.75])
    assert cpu[:, of["dot"]].tolist() == pytest.approx([0.0, 0.025, 0.975], abs=1e-6)
    assert tasks.at(times)[:, of["load"]].tolist() == [1, 1, 0, 0]
