"""How fast results went between workers."""

from __future__ import annotations

import math
from dataclasses import replace

from taskscope.model.tables.activities import Transfer
from taskscope.model.tables.workers import WorkerSample
from taskscope.recording import Recording
from taskscope.report.page import performance_html
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row

A, B, C = (f"tcp://{name}:1" for name in "abc")


def sent(
    sender: str, receiver: str, start_s: float, stop_s: float, nbytes: float | None, *, log: str = "incoming"
) -> Transfer:
    ours, peer = (receiver, sender) if log == "incoming" else (sender, receiver)
    start, stop = ZERO_S + start_s, ZERO_S + stop_s
    return Transfer(ours, peer or None, log, start, stop, nbytes, None, 1, ())  # type: ignore[arg-type]  # a word


def sample(address: str, name: str) -> WorkerSample:
    return WorkerSample(ZERO_S, address, name, 1, 0, 0.0, 1.0, 0.0, 1.0, 0.0, None)


def transferred(*transfers: Transfer, scheduler: str = "distributed") -> Recording:
    row = Row(key="x-1")
    recording = recording_of([row], [run_of(n_tasks=1, scheduler=scheduler)])
    return replace(recording, transfers=transfers, workers=(sample(A, "0"), sample(B, "1")))


def pairs_of(recording: Recording) -> list[tuple[object, ...]]:
    return list(recording.bandwidth().to_pandas().itertuples(index=False, name=None))


def test_each_pair_has_its_bytes_and_its_time_and_that_of_transfers_at_the_same_time_once() -> None:
    recording = transferred(
        sent(A, B, 0.0, 2.0, 100.0),
        sent(A, B, 1.0, 3.0, 300.0),
        sent(A, B, 1.5, 2.0, 100.0),
        sent(A, B, 2.5, 4.0, 0.0),
        sent(A, B, 5.0, 6.0, 500.0),
        sent(B, A, 0.0, 4.0, 40.0),
    )
    assert pairs_of(recording) == [
        (A, B, 5, 0, 1_000.0, 7.0, 5.0, 1_000 / 7, 200.0),
        (B, A, 1, 0, 40.0, 4.0, 4.0, 10.0, 10.0),
    ]
    assert recording.bandwidth().reason is None


def test_what_both_ends_logged_counts_once_and_what_only_the_sender_logged_counts_too() -> None:
    recording = transferred(
        sent(A, B, 0.0, 1.0, 10.0),
        sent(A, B, 0.1, 0.9, 10.0, log="outgoing"),
        sent(B, C, 0.0, 2.0, 6.0, log="outgoing"),
    )
    assert pairs_of(recording) == [
        (A, B, 1, 0, 10.0, 1.0, 1.0, 10.0, 10.0),
        (B, C, 1, 0, 6.0, 2.0, 2.0, 3.0, 3.0),
    ]


def test_what_a_client_fetched_is_between_no_workers() -> None:
    told = transferred(sent(A, "", 0.0, 1.0, 10.0, log="outgoing")).bandwidth()
    assert str(told) == (
        "cannot say how fast results went between workers, because no result went from one worker to another"
    )


def test_transfers_of_unknown_size_are_counted_and_have_no_rate() -> None:
    recording = transferred(sent(A, B, 0.0, 1.0, None), sent(B, A, 0.0, 1.0, 8.0), sent(B, A, 0.0, 1.0, None))
    known, unknown = pairs_of(recording)
    assert known == (B, A, 2, 1, 8.0, 1.0, 1.0, 8.0, 8.0)
    assert unknown[:7] == (A, B, 1, 1, 0.0, 0.0, 0.0)
    assert all(isinstance(rate, float) and math.isnan(rate) for rate in unknown[7:])
    assert str(recording.bandwidth()).endswith("2 transfers of unknown size left out")


def test_it_prints_with_the_names_of_workers_and_its_rates() -> None:
    told = transferred(sent(A, B, 0.0, 0.5, 5e6), sent(B, C, 0.0, 1.0, None)).bandwidth()
    assert str(told).splitlines() == [
        "bandwidth · 5 MB in 2 transfers",
        "",
        "  from      to         transfers  bytes  a transfer     rate",
        "  worker 0  worker 1           1   5 MB      500 ms  10 MB/s",
        "  worker 1  tcp://c:1          1      –           –        –",
        "",
        "  1 transfer of unknown size left out",
    ]
    assert repr(told) == str(told)


def test_of_many_pairs_the_text_has_those_with_the_most_bytes_and_says_how_many_there_are_more() -> None:
    told = transferred(*(sent(f"tcp://w{i}:1", B, 0.0, 1.0, 100.0 + i) for i in range(25))).bandwidth()
    lines = str(told).splitlines()
    assert lines[3].split()[:2] == ["tcp://w24:1", "worker"]
    assert lines[-1] == "  5 more rows are in to_pandas()"
    assert len(told.to_pandas()) == 25


def test_a_table_has_the_same_columns_without_rows() -> None:
    columns = [*("sender", "receiver", "n_transfers", "n_unsized", "nbytes", "seconds", "busy_s")]
    columns += ["bytes_per_s", "together_bytes_per_s"]
    assert list(transferred().bandwidth().to_pandas().columns) == columns


def test_without_a_cluster_or_with_the_end_of_a_file_missing_it_says_so() -> None:
    local = transferred(scheduler="threads")
    assert str(local.bandwidth()).endswith("because nothing ran on a cluster")
    cut = replace(transferred(), unknown=frozenset({"transfers"}))
    assert str(cut.bandwidth()).endswith("because the file ends before its transfers")


def test_a_performance_report_has_the_pairs() -> None:
    page = performance_html(transferred(sent(A, B, 0.0, 0.5, 5e6)), None)
    assert "bandwidth · 5 MB in 1 transfer" in page
