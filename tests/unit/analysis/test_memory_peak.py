"""What the bytes at the peak of memory were: of recordings that are spelled out, and of real ones."""

from __future__ import annotations

import math
import mmap
from dataclasses import replace

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taskscope
from taskscope.analysis.memory import MemoryPeak
from taskscope.errors import UnknownNameError
from taskscope.model.tables.workers import WorkerSample
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row

MB = 1e6
NAN = math.nan


def sample(time_s: float, rss_bytes: float, peak_bytes: float = NAN) -> tuple[float, ...]:
    return (time_s, NAN, rss_bytes, 1, 0, NAN, peak_bytes)


def planted() -> Recording:
    """Return twenty seconds in which `load` and `blow` take turns: `blow` has 200 MB besides its result."""
    rows = [
        Row(key=f"load-{i}", start_s=2.0 * i + 0.5, stop_s=2.0 * i + 1.5, size_bytes=1e6) for i in range(10)
    ]
    rows += [
        Row(key=f"blow-{i}", start_s=2.0 * i + 1.6, stop_s=2.0 * i + 2.2, size_bytes=2e6) for i in range(9)
    ]
    samples = []
    for step in range(81):
        time_s = 0.25 * step
        held = sum(row.size_bytes for row in rows if row.stop_s <= time_s)
        had = sum(
            200 * MB for row in rows if str(row.key).startswith("blow") and row.start_s <= time_s < row.stop_s
        )
        samples.append(sample(time_s, 100 * MB + held + had))
    return recording_of(rows, [run_of(n_tasks=len(rows), stop_s=20.2)], resources=samples)


def as_text(peak: MemoryPeak) -> dict[str, int]:
    """Return the parts in whole megabytes."""
    return {f"{part.kind} {part.prefix}": round(part.nbytes / MB) for part in peak.parts}


def test_a_peak_is_made_up_of_results_of_what_had_been_there_and_of_the_rest() -> None:
    peak = planted().memory_peak()
    assert as_text(peak) == {"results blow": 16, "results load": 9, "base None": 100, "rest None": 200}
    assert (peak.worker, peak.peak_bytes, peak.time_s, peak.is_exact) == (None, 325 * MB, 17.75, False)
    assert (peak.reason, peak.notes) == (None, ())


def test_a_peak_prints_and_is_a_table() -> None:
    peak = planted().memory_peak()
    assert str(peak).splitlines() == [
        "peak memory · 325 MB (the largest sample)",
        "",
        "  tasks and everything else  200 MB  62%",
        "  before the first task      100 MB  31%",
        "  results in memory: blow     16 MB   5%",
        "  results in memory: load      9 MB   3%",
    ]
    frame = peak.to_pandas()
    assert frame["kind"].tolist() == ["results", "results", "base", "rest"]
    assert peak.to_dict()["parts"] == frame.astype(object).where(frame.notna(), None).to_dict("records")
    assert peak.words() == (
        "200 MB tasks and everything else, 100 MB before the first task, 25 MB results in memory"
    )


def test_results_are_held_until_the_next_compute_begins() -> None:
    rows = [Row(key="a-0", stop_s=1.0, size_bytes=50 * MB), Row(key="b-0", run=1, start_s=4.0, stop_s=5.0)]
    runs = [run_of(0, n_tasks=1, stop_s=1.0), run_of(1, n_tasks=1, start_s=3.0, stop_s=5.0)]
    levels = [(0.0, 100 * MB), (2.0, 190 * MB), (4.5, 180 * MB)]
    peaks = [
        recording_of(rows, runs, resources=[sample(*of) for of in levels[:n]]).memory_peak()
        for n in (1, 2, 3)
    ]
    assert list(map(as_text, peaks[:2])) == [
        {"base None": 100, "rest None": 0},
        {"results a": 50, "base None": 100, "rest None": 40},
    ]
    later = [*levels[:1], (4.5, 180 * MB)]
    peak = recording_of(rows, runs, resources=[sample(*of) for of in later]).memory_peak()
    assert as_text(peak) == {"base None": 100, "rest None": 80}


def test_the_kernel_s_mark_between_two_samples_is_the_peak() -> None:
    samples = [sample(0.0, 100 * MB), sample(1.0, 110 * MB, 300 * MB), sample(2.0, 120 * MB, 130 * MB)]
    recording = recording_of([Row(start_s=0.5, stop_s=1.5)], resources=samples)
    peak = recording.memory_peak()
    assert (peak.peak_bytes, peak.is_exact, peak.time_s) == (300 * MB, True, 1.0)
    assert as_text(peak) == {"base None": 100, "rest None": 200}
    assert "peak memory    300 MB" in recording.summary()
    assert taskscope.compare(recording, recording).peak_rss_bytes.before == 300 * MB


def test_without_a_sample_before_the_first_task_its_memory_is_part_of_the_rest() -> None:
    recording = planted()
    late = replace(recording, resources=recording.resources.between(ZERO_S + 1.0, ZERO_S + 30.0))
    peak = late.memory_peak()
    assert as_text(peak) == {"results blow": 16, "results load": 9, "rest None": 300}
    assert peak.notes == ("no sample is from before the first task: that memory is part of the rest",)


def test_results_larger_than_the_process_are_cut_to_it_and_said() -> None:
    rows = [Row(key="view-0", start_s=0.5, stop_s=1.0, size_bytes=3e9)]
    samples = [sample(0.0, 100 * MB), *(sample(1.0 + i, 100 * MB) for i in range(9))]
    peak = recording_of(rows, [run_of(n_tasks=1, stop_s=11.0)], resources=samples).memory_peak()
    assert math.fsum(part.nbytes for part in peak.parts) == pytest.approx(peak.peak_bytes)
    at_the_end = replace(
        recording_of(rows, [run_of(n_tasks=1, stop_s=11.0)], resources=[*samples, sample(10.5, 101 * MB)])
    ).memory_peak()
    assert as_text(at_the_end) == {"results view": 101, "base None": 0, "rest None": 0}
    assert at_the_end.notes == (
        "results are measured larger than the process: some share memory, or are not in it",
    )


@pytest.mark.parametrize(
    ("recording", "reason"),
    [
        (recording_of([]), "no sample of memory was taken"),
        (recording_of([Row(stop_s=1.0)]), "no sample of memory was taken"),
        (
            recording_of([Row(stop_s=1.0)], [run_of(n_tasks=1, scheduler="distributed")]),
            "no worker reported its memory",
        ),
    ],
)
def test_where_nothing_can_be_said_there_is_a_reason(recording: Recording, reason: str) -> None:
    peak = recording.memory_peak()
    assert (peak.reason, peak.parts, peak.words()) == (reason, (), "")
    assert str(peak) == f"no peak of memory, because {reason}"


def of_workers() -> Recording:
    rows = [Row(key=f"blow-{i}", start_s=2.0 * i + 0.6, stop_s=2.0 * i + 1.2) for i in range(10)]
    recording = recording_of(rows, [run_of(n_tasks=10, stop_s=20.0, scheduler="distributed")])
    workers = []
    for step in range(41):
        time_s, has = 0.5 * step, 0.5 * step % 2 == 1.0
        for name, more in (("tcp://a", 0.0), ("1234", 300 * MB if has else 0.0)):
            rss = 100 * MB + time_s * MB + more
            workers.append(
                WorkerSample(ZERO_S + time_s, name, f"of {name}", 2, 1, 0.0, rss, time_s * MB, 0.0, 0.0, None)
            )
    return replace(recording, workers=tuple(workers))


def test_on_a_cluster_it_is_of_the_worker_with_the_highest_peak_or_of_the_one_asked_for() -> None:
    recording = of_workers()
    peak = recording.memory_peak()
    assert (peak.worker, peak.workers) == ("1234", {"1234": 419 * MB, "tcp://a": 120 * MB})
    # It has the name of the worker that the summary has.
    assert str(peak).startswith("peak memory of worker of 1234 · 419 MB")
    assert "peak memory 419 MB (worker of 1234)" in recording.summary()
    assert as_text(peak) == {"results None": 19, "base None": 100, "rest None": 300}
    other = recording.memory_peak("tcp://a")
    assert as_text(other) == {"results None": 20, "base None": 100, "rest None": 0}
    with pytest.raises(UnknownNameError, match=r"did you mean 'tcp://a'"):
        recording.memory_peak("tcp://b")
    with pytest.raises(UnknownNameError, match="these computes were on no cluster"):
        planted().memory_peak("tcp://b")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.floats(0.0, 9.0),
            st.floats(0.001, 1.0),
            st.sampled_from([NAN, 0.0, 1e6, 5e8]),
        ),
        min_size=1,
        max_size=12,
    ),
    st.lists(
        st.tuples(st.floats(0.0, 10.0), st.floats(0.0, 1e9), st.one_of(st.just(NAN), st.floats(0.0, 2e9))),
        min_size=1,
        max_size=25,
    ),
)
def test_parts_add_up_to_the_peak_and_none_is_negative(
    tasks: list[tuple[str, float, float, float]], samples: list[tuple[float, float, float]]
) -> None:
    rows = [
        Row(key=f"{prefix}-{i}", start_s=start_s, stop_s=start_s + takes_s, size_bytes=size)
        for i, (prefix, start_s, takes_s, size) in enumerate(tasks)
    ]
    runs = [run_of(n_tasks=len(rows), stop_s=10.0)]
    peak = recording_of(rows, runs, resources=[sample(*of) for of in sorted(samples)]).memory_peak()
    expected = max(np.fmax(rss, mark) for _, rss, mark in samples)
    assert peak.peak_bytes == expected
    assert math.fsum(part.nbytes for part in peak.parts) == pytest.approx(expected, abs=1.0)
    assert all(part.nbytes >= 0 for part in peak.parts)


def test_a_real_peak_has_the_array_that_a_task_had_besides_its_result() -> None:
    """Samples are taken at known moments, with one task at a time."""
    sampler = taskscope.session.current().sampler

    def small(i: int) -> int:
        sampler.sample()
        return i

    def blow(i: int) -> int:
        pages = mmap.mmap(-1, int(200 * MB))
        np.frombuffer(pages, np.uint8)[:: mmap.PAGESIZE] = 1
        sampler.sample()
        pages.close()
        sampler.sample()
        return i

    many = [dask.delayed(small)(i, dask_key_name=f"small-{i}") for i in range(3)]
    large = [dask.delayed(blow)(i, dask_key_name=f"blow-{i}") for i in range(3)]
    with taskscope.profile(display=False, dt=60.0) as run:
        dask.compute(*many, *large, scheduler="threads", num_workers=1)
    peak = run.recording.memory_peak()
    assert 150 * MB < peak.nbytes("rest") < 260 * MB
    assert peak.nbytes("base") > 20 * MB


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_a_failure_and_after_an_interrupt_a_peak_is_there(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error("no")

    with pytest.raises(error), taskscope.profile(display=False) as run:
        dask.delayed(fail)().compute(scheduler="threads")
    assert run.recording.memory_peak().reason is None


def test_the_summary_has_the_parts_of_a_peak_that_grew() -> None:
    (line,) = (line.strip() for line in planted().summary().splitlines() if "peak memory" in line)
    assert line == f"peak memory    325 MB (largest sample): {planted().memory_peak().words()}"
    small = recording_of([Row(stop_s=1.0)], resources=[sample(0.0, 1e9)])
    assert "  peak memory    1 GB (largest sample)\n" in small.summary()
